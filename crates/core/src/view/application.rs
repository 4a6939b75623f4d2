//! An application with what it asks for and has.

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

/// An application that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationView {
    /// Application id.
    pub application: Name,
    /// Name of its partition.
    pub partition: Name,
    /// Path of its queue.
    pub queue: Name,
    /// Who is charged.
    pub user: Name,
    /// The user's groups at submission.
    pub groups: Arc<[Name]>,
    /// When it was submitted, or its oldest ask was made if that is earlier.
    pub submitted: Timestamp,
    /// When it last began to run.
    pub started: Option<Timestamp>,
    /// When it ended, if it has.
    pub finished: Option<Timestamp>,
    /// Where it stands.
    pub state: ApplicationState,
    /// The states that it was in, the oldest first.
    pub state_log: Vec<(Timestamp, ApplicationState)>,
    /// Allocated now, without placeholders.
    pub used: Amounts,
    /// Allocated to placeholders.
    pub placeholders: Amounts,
    /// The most that was allocated at once to placeholders alone, or to all others, type by
    /// type, as of its placements.
    pub max_used: Amounts,
    /// What it used with all that it gave back so far; nothing any more after it ended.
    pub spent: SpentView,
    /// Asked for.
    pub pending: Amounts,
    /// The highest priority that it asks with; none if it asks for nothing.
    pub highest_priority: Option<i32>,
    /// What it asks for, by key.
    pub requests: Vec<AskView>,
    /// What it has, by key.
    pub allocations: Vec<AllocationView>,
    /// Keys of its asks for which a node is reserved.
    pub reservations: Vec<Name>,
    /// Its task groups, by name.
    pub task_groups: Vec<TaskGroupView>,
    /// Until when none of its asks is looked at, because too many found no node.
    pub backed_off: Option<Timestamp>,
    /// When its lifetime is over, while that is ahead.
    pub lives_until: Option<Timestamp>,
}

/// A task group of a gang.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskGroupView {
    /// Its name.
    pub name: Name,
    /// The size of its first placeholder.
    pub size: Amounts,
    /// How many placeholders it ever had.
    pub count: u64,
    /// How many gave their place to a member.
    pub replaced: u64,
    /// How many went otherwise.
    pub timed_out: u64,
}

/// An ask that waits.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct AskView {
    /// Allocation key.
    pub key: Name,
    /// Application id.
    pub application: Name,
    /// When it was made.
    pub requested: Timestamp,
    /// How much.
    pub resources: Amounts,
    /// Higher goes first.
    pub priority: i32,
    /// Whether it is the first of its application.
    pub originator: bool,
    /// Whether it only holds room for a member of its task group.
    pub placeholder: bool,
    /// The task group that it holds room for, or takes room from.
    pub task_group: Option<Name>,
    /// The only node that it may run on.
    pub required_node: Option<Name>,
    /// Whether others were asked to stop for it.
    pub preemption_triggered: bool,
    /// Whether the RM got a report that more nodes would help it.
    pub scale_up_asked: bool,
}

/// An allocation in force.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct AllocationView {
    /// Allocation key.
    pub key: Name,
    /// Application id.
    pub application: Name,
    /// When it was asked for.
    pub requested: Timestamp,
    /// When it was placed.
    pub placed: Timestamp,
    /// How much.
    pub resources: Amounts,
    /// The priority that it was asked for with.
    pub priority: i32,
    /// Where: node id.
    pub node: Name,
    /// Whether it is the first of its application.
    pub originator: bool,
    /// Whether it only holds room for a member of its task group.
    pub placeholder: bool,
    /// Whether it took the place of a placeholder.
    pub took_place: bool,
    /// The task group that it holds room for, or took room from.
    pub task_group: Option<Name>,
    /// Whether the RM was asked to stop it for the sake of others.
    pub preempted: bool,
}

/// An application that was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RejectedView {
    /// Application id.
    pub application: Name,
    /// Name of its partition.
    pub partition: Name,
    /// The queue that was asked for.
    pub queue: Name,
    /// Who submitted it.
    pub user: Name,
    /// The user's groups at submission.
    pub groups: Arc<[Name]>,
    /// When.
    pub at: Timestamp,
    /// Which rule, as a short code.
    pub code: Name,
    /// Why, in a sentence.
    pub message: Name,
}

impl ApplicationView {
    /// One application. Costs what it asks for and has.
    pub fn of(books: &Books, application: ApplicationId) -> Self {
        let row = books.application(application);
        let amounts = |resources| books.types().amounts(resources);
        let (mut requests, mut allocations) = (Vec::new(), Vec::new());
        let mut reservations = Vec::new();
        for (id, one) in books.allocations_of(application) {
            match AllocationView::of(books, id) {
                // A member that is about to take a placeholder's place is neither yet.
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

    /// The applications of a partition that have not ended, by id.
    pub fn active(books: &Books, partition: PartitionId) -> Vec<Self> {
        let applications = &books.partition(partition).applications;
        applications.iter().map(|(_, id)| Self::of(books, *id)).collect()
    }

    /// The applications of a partition that have ended and are remembered, by id. Looks at
    /// the applications of all partitions.
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
    /// One allocation; none while it waits.
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
    /// The applications that a partition refused and remembers, by id; of one id the oldest
    /// first.
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
