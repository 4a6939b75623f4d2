//! The books: every fact that decisions are made from.
//!
//! [`Books::apply`] is the only way in; everything else reads. Cloning the books is cheap,
//! and a clone never changes.

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

/// What time alone changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The state of an application ends.
    Application(ApplicationId),
    /// The placeholders of an application have waited long enough.
    Placeholders(ApplicationId),
    /// An empty queue that nothing keeps is cleaned away.
    Queue(QueueId),
    /// The lifetime of an application is over.
    Lifetime(ApplicationId),
    /// The last application of a queue that the queue file stops has ended.
    Stop(QueueId),
    /// A task has waited for as long as it may.
    Wait(ApplicationId),
    /// It is not waited any longer for nodes that have not reported.
    Recovery(PartitionId),
}

/// The state of all partitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    types: ResourceTypes,
    partitions: BTreeMap<PartitionId, Partition>,
    queues: Table<QueueId, Queue>,
    nodes: Table<NodeId, Node>,
    applications: Table<ApplicationId, Application>,
    allocations: Table<AllocationId, Allocation>,
    shapes: Shapes,
    /// What time alone changes, the earliest first.
    timers: OrderedMap<(Timestamp, Timer), ()>,
    /// Identifies the queue file in force.
    checksum: Name,
    partitions_made: u32,
    submissions: u64,
    asks: i64,
    rejections: u64,
    /// Whether the RM of any partition answers questions.
    asking: bool,
    /// How many questions were put.
    questions: u64,
    /// Counts events, except tries in vain to stop something, and holds: as long as it is the same, so is
    /// what such a try would find.
    changes: u64,
    /// Who shares the leaves with user limits; follows from everything else.
    sharing: Sharing,
    /// Which applications were activated, by leaf; follows from everything else.
    activation: Activation,
    /// Which queues hold room, and for which ask; follows from the asks.
    holds: BTreeMap<QueueId, AllocationId>,
}

impl Books {
    /// Resource types met so far.
    pub const fn types(&self) -> &ResourceTypes {
        &self.types
    }

    /// Identifies the queue file in force; empty if there is none, or it had no text.
    pub const fn checksum(&self) -> &Name {
        &self.checksum
    }

    /// Counts events, except those of tries in vain to stop something for an ask, and those of holds.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// All partitions, in order of creation.
    pub const fn partitions(&self) -> &BTreeMap<PartitionId, Partition> {
        &self.partitions
    }

    /// The partition of this name, in any case.
    pub fn partition_named(&self, name: &str) -> Option<PartitionId> {
        let same = |partition: &Partition| partition.name.eq_ignore_ascii_case(name);
        self.partitions.iter().find(|(_, partition)| same(partition)).map(|(id, _)| *id)
    }

    /// One partition.
    #[inline]
    pub fn partition(&self, partition: PartitionId) -> &Partition {
        &self.partitions[&partition]
    }

    /// All queues.
    pub const fn queues(&self) -> &Table<QueueId, Queue> {
        &self.queues
    }

    /// One queue.
    #[inline]
    pub fn queue(&self, queue: QueueId) -> &Queue {
        &self.queues[queue]
    }

    /// All nodes.
    pub const fn nodes(&self) -> &Table<NodeId, Node> {
        &self.nodes
    }

    /// One node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    /// All applications, ended ones included until they expire.
    pub const fn applications(&self) -> &Table<ApplicationId, Application> {
        &self.applications
    }

    /// One application.
    #[inline]
    pub fn application(&self, application: ApplicationId) -> &Application {
        &self.applications[application]
    }

    /// All asks and allocations.
    pub const fn allocations(&self) -> &Table<AllocationId, Allocation> {
        &self.allocations
    }

    /// One ask or allocation.
    #[inline]
    pub fn allocation(&self, allocation: AllocationId) -> &Allocation {
        &self.allocations[allocation]
    }

    /// The distinct resource vectors of asks and allocations.
    pub const fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// How much an ask wants, or an allocation has.
    #[inline]
    pub fn resources_of(&self, allocation: AllocationId) -> &Resources {
        self.shapes.get(self.allocations[allocation].shape)
    }

    /// What starts together with an ask, itself included: all members of its task.
    pub fn total_request(&self, ask: AllocationId) -> Cow<'_, Resources> {
        let row = &self.allocations[ask];
        self.shapes.times(row.shape, self.members_of(row.application))
    }

    /// What of it counts for a node: what it [wants or has](Self::resources_of), without what counts for
    /// queues alone.
    #[inline]
    pub fn node_request(&self, allocation: AllocationId) -> &Resources {
        self.shapes.on_node(self.allocations[allocation].shape)
    }

    /// Whether an ask of this shape may have a node, as far as its label and its block list go.
    #[inline]
    pub fn suits(&self, shape: ShapeId, node: NodeId) -> bool {
        self.shapes.suits(shape, node, &self.nodes[node])
    }

    /// Whether an ask may run on a node, regardless of room. The node is the one that the ask
    /// requires by name, or it suits the ask's requirements for nodes.
    #[inline]
    pub fn may_run_on(&self, ask: AllocationId, node: NodeId) -> bool {
        let row = &self.allocations[ask];
        match row.required_node() {
            Some(name) => *name == self.nodes[node].name,
            None => self.suits(row.shape, node),
        }
    }

    /// What an ask says of nodes; none where it says nothing.
    pub fn node_selector_of(&self, allocation: AllocationId) -> Option<&NodeSelector> {
        self.shapes.wish(self.allocations[allocation].shape)
    }

    /// When the next timer fires.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.first().map(|((at, _), ())| *at)
    }

    /// Returns all timers with the times at which they fire, the earliest first.
    pub fn timers(&self) -> impl Iterator<Item = (Timestamp, Timer)> {
        self.timers.iter().map(|((at, timer), ())| (*at, *timer))
    }

    /// Timers that have fired by now, the earliest first.
    pub fn timers_due(&self, now: Timestamp) -> impl Iterator<Item = Timer> {
        self.timers.iter().take_while(move |((at, _), ())| *at <= now).map(|((_, one), ())| *one)
    }

    /// Whether this timer is set for then.
    pub(crate) fn has_timer(&self, at: Timestamp, timer: Timer) -> bool {
        self.timers.get(&(at, timer)).is_some()
    }

    /// The queue at this path of a partition, in any case.
    pub fn queue_at(&self, partition: PartitionId, path: &str) -> Option<QueueId> {
        let queues = &self.partition(partition).queues;
        queues.get(path).or_else(|| queues.get(&*path.to_lowercase())).copied()
    }

    /// A queue and those above it, up to the root.
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

    /// The queues from the root to this one.
    pub fn path_of(&self, queue: QueueId) -> Vec<QueueId> {
        let mut path: Vec<QueueId> = self.up(queue).map(|(id, _)| id).collect();
        path.reverse();
        path
    }

    /// The maximum in force at a queue, the cluster's size included: on each type the lowest
    /// on its path. None if neither a queue nor a node sets any.
    pub fn effective_max(&self, queue: QueueId) -> Option<Resources> {
        self.lowest_max(queue, true)
    }

    /// The configured maximum in force at a queue, whatever the size of the cluster.
    pub fn configured_max(&self, queue: QueueId) -> Option<Resources> {
        self.lowest_max(queue, false)
    }

    fn lowest_max(&self, queue: QueueId, cluster: bool) -> Option<Resources> {
        self.up(queue)
            .filter(|(_, queue)| cluster || queue.parent.is_some())
            .fold(None, |lowest, (_, queue)| Resources::min_of(lowest.as_ref(), queue.max.as_ref()))
    }

    /// What a queue may still use, the cluster's size included: on each type the least of what
    /// is left on its path. An absent type is unlimited; amounts may be negative.
    pub fn headroom(&self, queue: QueueId) -> Option<Resources> {
        self.up(queue)
            .fold(None, |least, (_, queue)| Resources::min_of(least.as_ref(), queue.left.as_ref()))
    }

    /// The denominator of a queue's fair share where it has no guarantee: the size of the
    /// cluster, overwritten by each maximum on the way down, be it larger. None without nodes.
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

    /// The guarantee in force at a queue: on each type the lowest that its path names.
    pub fn effective_guaranteed(&self, queue: QueueId) -> Resources {
        self.up(queue)
            .filter_map(|(_, queue)| queue.guaranteed.as_ref())
            .fold(Resources::new(), |lowest, guaranteed| lowest.minimum(guaranteed))
    }

    /// What an application may still use by the limits of its user and group: on each type the
    /// least of what is left at any level. None before it is linked, and where nothing limits.
    pub fn user_headroom(&self, application: ApplicationId) -> Option<Resources> {
        self.limiting_levels(application).fold(None, |least, (_, level)| {
            Resources::min_of(least.as_ref(), level.left().as_ref())
        })
    }

    /// The levels of the trackers that count for an application: its user's, then its group's,
    /// each from the leaf up. None before it is linked.
    pub fn levels_of(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let row = &self.applications[application];
        let trackers = &self.partition(row.partition).trackers;
        row.link.into_iter().flat_map(TrackerLink::levels).flat_map(|level| trackers.up(level))
    }

    /// Those of [`Books::levels_of`] whose limits hold the application back. These are all of them,
    /// unless in the partition limits that name a user go before those of the group.
    pub fn limiting_levels(
        &self,
        application: ApplicationId,
    ) -> impl Iterator<Item = (LevelId, Level<'_>)> {
        let row = &self.applications[application];
        let partition = self.partition(row.partition);
        row.link.into_iter().flat_map(|link| {
            let lifted = partition.lifted(link);
            let trackers = &partition.trackers;
            let group = link.group.level().into_iter().flat_map(|level| trackers.up(level));
            trackers.up(link.user).chain(group.skip(lifted))
        })
    }

    /// The shape of an ask of this size, for a test that makes none.
    #[cfg(test)]
    pub(crate) fn shape_of(&mut self, size: &Resources) -> ShapeId {
        self.shapes.acquire((size.clone(), None), None, &self.nodes)
    }

    /// Rows for a test to spoil.
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

/// Rows for a test to spoil.
#[cfg(test)]
pub(crate) struct RowsMut<'books> {
    pub(crate) queues: &'books mut Table<QueueId, Queue>,
    pub(crate) nodes: &'books mut Table<NodeId, Node>,
    pub(crate) allocations: &'books mut Table<AllocationId, Allocation>,
}
