//! The books: all facts on which decisions are based.
//!
//! [`Books::apply`] is the only way to change them. A clone is cheap and independent.

mod activation;
mod allocation;
mod application;
mod apply;
mod ask_order;
mod attributes;
mod away;
mod by_priority;
mod capacity;
mod deadline;
mod gang;
mod hold;
mod lifetime;
mod link;
mod lists;
mod measured;
mod meter;
mod node;
mod node_selector;
mod partition;
mod priority;
mod question;
mod queue;
mod quota_clock;
mod recovery;
mod rejected;
mod reservation;
mod shape;
mod spent_keys;
#[cfg(feature = "snapshot")]
mod stored;
mod task;
mod tasks;
mod tenant;
pub mod tracker;
mod usage;
mod users;

pub use activation::{LeafDrivers, UserDrivers};
pub use allocation::{Allocation, PreemptionTry, Reservation};
pub use application::{Application, ApplicationState, REMEMBERED_FOR, StateLog};
pub use attributes::NodeAttributes;
pub use away::Away;
pub use deadline::Deadline;
pub(crate) use gang::GangSize;
pub use gang::{Gang, GangSettings, GangStyle, PLACEHOLDER_TIMEOUT, StopRequest, TaskGroup};
pub use hold::Hold;
pub use lifetime::Lifetime;
pub use link::{GroupLink, TrackerLink};
pub use measured::{Measured, MeasuredSum};
pub use meter::{Meter, Metered};
pub use node::Node;
pub use node_selector::NodeSelector;
pub use partition::{Foreign, Partition, PartitionSettings};
pub use question::{
    NodeVerdict, OpenQuestions, Question, QuestionMode, QuestionSubject, Questions, Removal,
    Verdict,
};
pub use queue::{Queue, QueueSettings, QueueState, TenantQueue};
pub use recovery::Recovery;
pub use rejected::Rejected;
pub use shape::Shapes;
pub use spent_keys::SpentKeys;
pub use task::{Task, TaskEnd, TaskOutcome, TaskRequest, TaskSettings, TaskState};
pub use tasks::Tasks;
pub use tenant::{Tenant, Tenants};
pub use tracker::{Level, Limit, LimitSettings, LimitSubject, TrackerError};
pub use usage::{Spent, Usage};
pub(crate) use users::Sizes;
pub use users::{Change, LeafShares, LeafUser, LeafUsers, RowUpdate};

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::id::{
    AllocationId, ApplicationId, Id, LevelId, NodeId, PartitionId, QueueId, ShapeId, Slot,
};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{ResourceTypes, Resources};
use crate::table::Table;
use crate::time::Timestamp;

use activation::Activation;
use users::Sharing;

/// Effect of time on the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The state of an application ends.
    Application(ApplicationId),
    /// The placeholder timeout of an application ends.
    Placeholders(ApplicationId),
    /// An empty queue is removed.
    Queue(QueueId),
    /// The lifetime of an application ends.
    Lifetime(ApplicationId),
    /// A queue that the queue file stops becomes Stopped, because its last application ended.
    Stop(QueueId),
    /// The waiting time of a task ends.
    Wait(ApplicationId),
    /// Recovery ends although nodes have not reported.
    Recovery(PartitionId),
}

/// State of all partitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    types: ResourceTypes,
    partitions: BTreeMap<PartitionId, Partition>,
    queues: Table<QueueId, Queue>,
    nodes: Table<NodeId, Node>,
    applications: Table<ApplicationId, Application>,
    allocations: Table<AllocationId, Allocation>,
    shapes: Shapes,
    /// Timers, earliest first.
    timers: OrderedMap<(Timestamp, Timer), ()>,
    /// Checksum of the current queue file.
    checksum: Name,
    partitions_made: u32,
    submissions: u64,
    asks: i64,
    rejections: u64,
    /// Whether the RM of any partition answers questions.
    asking: bool,
    /// Number of questions so far.
    questions: u64,
    /// Number of events, without failed preemption attempts and holds. While it does not change, a preemption attempt
    /// has the same result.
    changes: u64,
    /// Users of leaves with user limits. Derived from all other data.
    sharing: Sharing,
    /// Activated applications by leaf. Derived from all other data.
    activation: Activation,
    /// Queues that hold capacity, with their asks. Derived from the asks.
    holds: BTreeMap<QueueId, AllocationId>,
}

impl Books {
    /// Returns the known resource types.
    pub const fn types(&self) -> &ResourceTypes {
        &self.types
    }

    /// Returns the checksum of the current queue file. Empty if there is none, or if it had no text.
    pub const fn checksum(&self) -> &Name {
        &self.checksum
    }

    /// Returns the number of events, without failed preemption attempts and holds.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns all partitions, in order of creation.
    pub const fn partitions(&self) -> &BTreeMap<PartitionId, Partition> {
        &self.partitions
    }

    /// Returns the partition with this name, ignoring case.
    pub fn partition_named(&self, name: &str) -> Option<PartitionId> {
        let same = |partition: &Partition| partition.name.eq_ignore_ascii_case(name);
        self.partitions.iter().find(|(_, partition)| same(partition)).map(|(id, _)| *id)
    }

    /// Returns a partition.
    #[inline]
    pub fn partition(&self, partition: PartitionId) -> &Partition {
        &self.partitions[&partition]
    }

    /// Returns all queues.
    pub const fn queues(&self) -> &Table<QueueId, Queue> {
        &self.queues
    }

    /// Returns a queue.
    #[inline]
    pub fn queue(&self, queue: QueueId) -> &Queue {
        &self.queues[queue]
    }

    /// Returns all nodes.
    pub const fn nodes(&self) -> &Table<NodeId, Node> {
        &self.nodes
    }

    /// Returns a node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    /// Returns all applications, including ended ones until they expire.
    pub const fn applications(&self) -> &Table<ApplicationId, Application> {
        &self.applications
    }

    /// Returns an application.
    #[inline]
    pub fn application(&self, application: ApplicationId) -> &Application {
        &self.applications[application]
    }

    /// Returns all asks and allocations.
    pub const fn allocations(&self) -> &Table<AllocationId, Allocation> {
        &self.allocations
    }

    /// Returns an ask or allocation.
    #[inline]
    pub fn allocation(&self, allocation: AllocationId) -> &Allocation {
        &self.allocations[allocation]
    }

    /// Returns the distinct shapes of asks and allocations.
    pub const fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Returns the amounts of an ask or allocation.
    #[inline]
    pub fn resources_of(&self, allocation: AllocationId) -> &Resources {
        self.shapes.get(self.allocations[allocation].shape)
    }

    /// Returns the amounts of everything that starts together with an ask: all members of its task.
    pub fn total_request(&self, ask: AllocationId) -> Cow<'_, Resources> {
        let row = &self.allocations[ask];
        self.shapes.times(row.shape, self.members_of(row.application))
    }

    /// Returns the amounts of an ask or allocation that count for a node: its [resources](Self::resources_of) without
    /// types that count only for queues.
    #[inline]
    pub fn node_request(&self, allocation: AllocationId) -> &Resources {
        self.shapes.on_node(self.allocations[allocation].shape)
    }

    /// Returns whether the label and the block list of a shape allow a node.
    #[inline]
    pub fn suits(&self, shape: ShapeId, node: NodeId) -> bool {
        self.shapes.suits(shape, node, &self.nodes[node])
    }

    /// Returns whether an ask can run on a node, regardless of free capacity. The node must be the required one, or
    /// match the node selector of the ask.
    #[inline]
    pub fn may_run_on(&self, ask: AllocationId, node: NodeId) -> bool {
        let row = &self.allocations[ask];
        match row.required_node() {
            Some(name) => *name == self.nodes[node].name,
            None => self.suits(row.shape, node),
        }
    }

    /// Returns the node selector of an ask. `None` if it has none.
    pub fn node_selector_of(&self, allocation: AllocationId) -> Option<&NodeSelector> {
        self.shapes.wish(self.allocations[allocation].shape)
    }

    /// Returns the time at which the next timer fires.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.first().map(|((at, _), ())| *at)
    }

    /// Returns all timers with their times, earliest first.
    pub fn timers(&self) -> impl Iterator<Item = (Timestamp, Timer)> {
        self.timers.iter().map(|((at, timer), ())| (*at, *timer))
    }

    /// Returns the timers that are due, earliest first.
    pub fn timers_due(&self, now: Timestamp) -> impl Iterator<Item = Timer> {
        self.timers.iter().take_while(move |((at, _), ())| *at <= now).map(|((_, one), ())| *one)
    }

    /// Returns whether this timer is set for this time.
    pub(crate) fn has_timer(&self, at: Timestamp, timer: Timer) -> bool {
        self.timers.get(&(at, timer)).is_some()
    }

    /// Returns the queue at this path of a partition, ignoring case.
    pub fn queue_at(&self, partition: PartitionId, path: &str) -> Option<QueueId> {
        let queues = &self.partition(partition).queues;
        queues.get(path).or_else(|| queues.get(&*path.to_lowercase())).copied()
    }

    /// Returns a queue and its ancestors, up to the root.
    #[inline]
    pub fn up(&self, queue: QueueId) -> impl Iterator<Item = (QueueId, &Queue)> {
        let mut next = Some(queue);
        core::iter::from_fn(move || {
            let id = next?;
            let queue = &self.queues[id];
            next = queue.parent;
            Some((id, queue))
        })
    }

    /// Returns the queues from the root to this one.
    pub fn path_of(&self, queue: QueueId) -> Vec<QueueId> {
        let mut path: Vec<QueueId> = self.up(queue).map(|(id, _)| id).collect();
        path.reverse();
        path
    }

    /// Returns the effective maximum of a queue with the capacity of the cluster: for each type, the lowest on its
    /// path. `None` if neither a queue nor a node sets any.
    pub fn effective_max(&self, queue: QueueId) -> Option<Resources> {
        self.lowest_max(queue, true)
    }

    /// Returns the effective configured maximum of a queue, without the capacity of the cluster.
    pub fn configured_max(&self, queue: QueueId) -> Option<Resources> {
        self.lowest_max(queue, false)
    }

    fn lowest_max(&self, queue: QueueId, cluster: bool) -> Option<Resources> {
        self.up(queue)
            .filter(|(_, queue)| cluster || queue.parent.is_some())
            .fold(None, |lowest, (_, queue)| Resources::min_of(lowest.as_ref(), queue.max.as_ref()))
    }

    /// Returns the headroom of a queue with the capacity of the cluster: for each type, the least that is left on its
    /// path. A missing type is unlimited, and amounts can be negative.
    pub fn headroom(&self, queue: QueueId) -> Option<Resources> {
        self.up(queue)
            .fold(None, |least, (_, queue)| Resources::min_of(least.as_ref(), queue.left.as_ref()))
    }

    /// Returns the denominator of the fair share of a queue without a guarantee: the capacity of the cluster,
    /// overwritten by each maximum on the path, even if that is larger. `None` without nodes.
    pub fn fair_max(&self, queue: QueueId) -> Option<Resources> {
        let path = self.path_of(queue);
        let mut fair = self.queues[path[0]].max.clone()?;
        for below in &path[1..] {
            if let Some(max) = &self.queues[*below].max {
                fair.overwrite(max);
            }
        }
        Some(fair)
    }

    /// Returns the effective guarantee of a queue: for each type, the lowest on its path.
    pub fn effective_guaranteed(&self, queue: QueueId) -> Resources {
        self.up(queue)
            .filter_map(|(_, queue)| queue.guaranteed.as_ref())
            .fold(Resources::new(), |lowest, guaranteed| lowest.minimum(guaranteed))
    }

    /// Returns the headroom of an application in the limits of its user and group: for each type, the least that is
    /// left at any level. `None` before it is linked, and without limits.
    pub fn user_headroom(&self, application: ApplicationId) -> Option<Resources> {
        self.limiting_levels(application).fold(None, |least, (_, level)| {
            Resources::min_of(least.as_ref(), level.left().as_ref())
        })
    }

    /// Returns the levels of the trackers that count an application: of its user, then of its group, each from the leaf
    /// to the root. Empty before it is linked.
    pub fn levels_of(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let row = &self.applications[application];
        let trackers = &self.partition(row.partition).trackers;
        row.link.into_iter().flat_map(TrackerLink::levels).flat_map(|level| trackers.up(level))
    }

    /// Returns those of [`Books::levels_of`] whose limits apply to the application: all of them, unless limits that
    /// name a user have precedence over group limits in the partition.
    pub fn limiting_levels(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let row = &self.applications[application];
        let partition = self.partition(row.partition);
        row.link.into_iter().flat_map(|link| {
            let skipped = partition.group_levels_skipped(link);
            let trackers = &partition.trackers;
            let group = link.group.level().into_iter().flat_map(|level| trackers.up(level));
            trackers.up(link.user).chain(group.skip(skipped))
        })
    }

    /// Returns a shape of this size, for tests.
    #[cfg(test)]
    pub(crate) fn shape_of(&mut self, size: &Resources) -> ShapeId {
        self.shapes.acquire((size.clone(), None), None, &self.nodes)
    }

    /// Returns mutable rows, for tests that damage them.
    #[cfg(test)]
    pub(crate) const fn rows_mut(&mut self) -> RowsMut<'_> {
        RowsMut {
            queues: &mut self.queues,
            nodes: &mut self.nodes,
            allocations: &mut self.allocations,
        }
    }

    pub(crate) fn next_partition_id(&self) -> PartitionId {
        PartitionId::from_slot(Slot::new(self.partitions_made, 0))
    }
}

/// Mutable rows, for tests that damage them.
#[cfg(test)]
pub(crate) struct RowsMut<'books> {
    pub(crate) queues: &'books mut Table<QueueId, Queue>,
    pub(crate) nodes: &'books mut Table<NodeId, Node>,
    pub(crate) allocations: &'books mut Table<AllocationId, Allocation>,
}
