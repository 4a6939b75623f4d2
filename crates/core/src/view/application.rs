//! Views of applications with their asks and allocations.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::books::{
    Allocation, Application, ApplicationState, Books, Rejected, StopRequest, TaskGroup,
};
use crate::id::{AllocationId, ApplicationId, PartitionId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

use super::spent::SpentView;

/// An accepted application.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationView {
    /// Application id.
    pub application: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Path of the queue.
    pub queue: Name,
    /// User that is charged.
    pub user: Name,
    /// Groups of the user at submission.
    pub groups: Arc<[Name]>,
    /// Time of submission, or the creation time of its oldest ask if that is earlier.
    pub submitted: Timestamp,
    /// Time at which it last became Running.
    pub started: Option<Timestamp>,
    /// Time of its end. `None` while it is unfinished.
    pub finished: Option<Timestamp>,
    /// Current state.
    pub state: ApplicationState,
    /// States so far, oldest first.
    pub state_log: Vec<(Timestamp, ApplicationState)>,
    /// Current usage without placeholders.
    pub used: Amounts,
    /// Current usage of placeholders.
    pub placeholders: Amounts,
    /// Largest simultaneous usage of each type, of placeholders alone or of all other allocations. Updated at each
    /// placement.
    pub max_used: Amounts,
    /// Accumulated usage of released allocations. Empty after the application ended.
    pub spent: SpentView,
    /// Pending amounts.
    pub pending: Amounts,
    /// Highest priority of its asks. `None` without asks.
    pub highest_priority: Option<i32>,
    /// Asks by key.
    pub requests: Vec<AskView>,
    /// Allocations by key.
    pub allocations: Vec<AllocationView>,
    /// Keys of its asks with a reserved node.
    pub reservations: Vec<Name>,
    /// Task groups by name.
    pub task_groups: Vec<TaskGroupView>,
    /// End of its back-off, until which its asks are not checked.
    pub backed_off: Option<Timestamp>,
    /// End of its lifetime. `None` if it is not ahead.
    pub lives_until: Option<Timestamp>,
}

/// A task group of a gang.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskGroupView {
    /// Name of the task group.
    pub name: Name,
    /// Size of its first placeholder.
    pub size: Amounts,
    /// Number of placeholders so far.
    pub count: u64,
    /// Number of placeholders that members replaced.
    pub replaced: u64,
    /// Number of placeholders that ended without a replacement.
    pub timed_out: u64,
}

/// A waiting ask.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct AskView {
    /// Allocation key.
    pub key: Name,
    /// Application id.
    pub application: Name,
    /// Creation time.
    pub requested: Timestamp,
    /// Requested amounts.
    pub resources: Amounts,
    /// Priority. A higher number is scheduled first.
    pub priority: i32,
    /// Whether it is the originator of its application.
    pub originator: bool,
    /// Whether it is a placeholder.
    pub placeholder: bool,
    /// Task group of a placeholder or member.
    pub task_group: Option<Name>,
    /// Name of the required node.
    pub required_node: Option<Name>,
    /// Whether allocations were preempted for it.
    pub preemption_triggered: bool,
    /// Whether the RM was informed that more nodes would help it.
    pub scale_up_asked: bool,
}

/// A current allocation.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct AllocationView {
    /// Allocation key.
    pub key: Name,
    /// Application id.
    pub application: Name,
    /// Creation time of its ask.
    pub requested: Timestamp,
    /// Time of its placement.
    pub placed: Timestamp,
    /// Amounts of the allocation.
    pub resources: Amounts,
    /// Priority of its ask.
    pub priority: i32,
    /// Node ID.
    pub node: Name,
    /// Whether it is the originator of its application.
    pub originator: bool,
    /// Whether it is a placeholder.
    pub placeholder: bool,
    /// Whether it replaced a placeholder.
    pub took_place: bool,
    /// Task group of a placeholder or member.
    pub task_group: Option<Name>,
    /// Whether the RM was asked to stop it because of preemption.
    pub preempted: bool,
}

/// A rejected application.
#[derive(Clone, Debug, PartialEq)]
pub struct RejectedView {
    /// Application id.
    pub application: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Requested queue.
    pub queue: Name,
    /// User who submitted.
    pub user: Name,
    /// Groups of the user at submission.
    pub groups: Arc<[Name]>,
    /// Time of the rejection.
    pub at: Timestamp,
    /// Short code of the rule.
    pub code: Name,
    /// Reason, as a sentence.
    pub message: Name,
}

impl ApplicationView {
    /// Returns the view of one application. Costs its asks and allocations.
    pub fn of(books: &Books, application: ApplicationId) -> Self {
        let row = books.application(application);
        let amounts = |resources| books.types().amounts(resources);
        let (mut requests, mut allocations) = (Vec::new(), Vec::new());
        let mut reservations = Vec::new();
        for (id, one) in books.allocations_of(application) {
            match AllocationView::of(books, id) {
                // A member that is replacing a placeholder is neither an ask nor an allocation.
                Some(placed) => allocations.extend(one.is_allocated().then_some(placed)),
                None => requests.push(AskView::new(books, id, one)),
            }
            if one.reservation().is_some() {
                reservations.push(one.key.clone());
            }
        }
        reservations.sort();
        requests.sort_by(|one, other| one.key.cmp(&other.key));
        allocations.sort_by(|one, other| one.key.cmp(&other.key));
        Self {
            application: row.name.clone(),
            partition: books.partition(row.partition).name.clone(),
            queue: row.queue_path.clone(),
            user: row.user.clone(),
            groups: row.groups.clone(),
            submitted: row.submitted,
            started: row.started,
            finished: (!row.state.is_active()).then_some(row.state_since),
            state: row.state,
            state_log: row.state_log.iter().collect(),
            used: amounts(&row.real()),
            placeholders: amounts(row.placeholders().0),
            max_used: amounts(&row.peak),
            spent: SpentView::of(books, row),
            pending: amounts(&row.pending),
            highest_priority: row.priority(),
            requests,
            allocations,
            reservations,
            task_groups: TaskGroupView::all(books, row),
            backed_off: row.backed_off,
            lives_until: row.lifetime.ends_at,
        }
    }

    /// Returns the unfinished applications of a partition, by ID.
    pub fn active(books: &Books, partition: PartitionId) -> Vec<Self> {
        let applications = &books.partition(partition).applications;
        applications.iter().map(|(_, id)| Self::of(books, *id)).collect()
    }

    /// Returns the stored ended applications of a partition, by ID. Costs the applications of all partitions.
    pub fn completed(books: &Books, partition: PartitionId) -> Vec<Self> {
        let mut ended: Vec<Self> = books
            .applications()
            .iter()
            .filter(|(_, row)| row.partition == partition && !row.state.is_active())
            .map(|(id, _)| Self::of(books, id))
            .collect();
        ended.sort_by(|one, other| {
            (&one.application, one.finished).cmp(&(&other.application, other.finished))
        });
        ended
    }
}

impl TaskGroupView {
    fn all(books: &Books, application: &Application) -> Vec<Self> {
        let groups = application.gang.iter().flat_map(|gang| &gang.groups);
        let view = |group: &TaskGroup| Self {
            name: group.name.clone(),
            size: books.plain(application.partition, &group.size),
            count: group.count,
            replaced: group.replaced,
            timed_out: group.timed_out,
        };
        let mut all: Vec<Self> = groups.map(view).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
}

impl AskView {
    fn new(books: &Books, id: AllocationId, row: &Allocation) -> Self {
        Self {
            key: row.key.clone(),
            application: books.application(row.application).name.clone(),
            requested: row.created,
            resources: books.plain_size_of(id),
            priority: row.priority,
            originator: row.originator,
            placeholder: row.placeholder,
            task_group: row.task_group().cloned(),
            required_node: row.required_node().cloned(),
            preemption_triggered: row.preemption_triggered,
            scale_up_asked: row.scale_up_asked,
        }
    }
}

impl AllocationView {
    /// Returns the view of one allocation. `None` for a waiting ask.
    pub fn of(books: &Books, allocation: AllocationId) -> Option<Self> {
        let row = books.allocation(allocation);
        Some(Self {
            node: books.node(row.node?).name.clone(),
            key: row.key.clone(),
            application: books.application(row.application).name.clone(),
            requested: row.created,
            placed: row.placed,
            resources: books.plain_size_of(allocation),
            priority: row.priority,
            originator: row.originator,
            placeholder: row.placeholder,
            took_place: row.took_place,
            task_group: row.task_group().cloned(),
            preempted: row.mark == StopRequest::Preempted,
        })
    }
}

impl RejectedView {
    /// Returns the stored rejected applications of a partition, by ID. Those with the same ID are oldest first.
    pub fn all(books: &Books, partition: PartitionId) -> Vec<Self> {
        let row = books.partition(partition);
        let view = |rejected: &Rejected| Self {
            application: rejected.application.clone(),
            partition: row.name.clone(),
            queue: rejected.queue.clone(),
            user: rejected.user.clone(),
            groups: rejected.groups.clone(),
            at: rejected.at,
            code: rejected.code.clone(),
            message: rejected.message.clone(),
        };
        let mut all: Vec<Self> = row.rejected.iter().map(|(_, one)| view(one)).collect();
        all.sort_by(|one, other| one.application.cmp(&other.application));
        all
    }
}
