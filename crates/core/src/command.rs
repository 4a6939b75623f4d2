//! Requests: what a client, the RM or the clock asks of the core.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::books::{
    Away, GangStyle, NodeAttributes, NodeVerdict, Questions, TaskRequest, TaskSettings,
};
use crate::config::{Configuration, TenantDefaults, TenantSettings};
use crate::event::{TenantDrift, Termination};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::{Millis, Timestamp};

/// One request. It carries names; whatever it breaks, it breaks as a whole: either all of
/// its events happen or none.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Take a queue file into force, as a whole or not at all. Partitions, queues and limits
    /// that it does not name any more go, as soon as nothing runs in them.
    Configure(Box<Configuration>),
    /// A node joins.
    AddNode(AddNode),
    /// A node has another size from now on; nothing is evicted.
    ResizeNode {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
        /// The new size.
        capacity: Amounts,
    },
    /// Drain a node, or take it back into use. Repeating it changes nothing.
    SetSchedulable {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
        /// Whether asks may be placed on it.
        schedulable: bool,
    },
    /// A node leaves; what runs on it is released.
    RemoveNode {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
    },
    /// An application is submitted.
    Submit(Submit),
    /// An application is not to be submitted, since who submits it could not be found out. It is
    /// rejected, and remembered as that.
    RejectApplication(Box<RejectApplication>),
    /// An application asks for room on one node.
    Ask(Ask),
    /// Something is given back: an allocation, a waiting ask, or all of an application.
    Release {
        /// Partition name.
        partition: Name,
        /// Application id.
        application: Name,
        /// Allocation key; none means everything that the application has and asks for.
        key: Option<Name>,
        /// Why.
        termination: Termination,
    },
    /// An application goes, with everything that it has and asks for.
    RemoveApplication {
        /// Partition name.
        partition: Name,
        /// Application id.
        application: Name,
    },
    /// Something runs on a node that the core does not schedule, or has another size by now: it
    /// takes room on the node, and belongs to no queue, application or user.
    SetForeign(SetForeign),
    /// Something that the core does not schedule is gone from its node.
    ReleaseForeign {
        /// Partition name.
        partition: Name,
        /// Its key.
        key: Name,
    },
    /// The RM says which questions it answers; none if it never does.
    SetQuestions {
        /// Partition name.
        partition: Name,
        /// What it answers; none if nothing.
        questions: Option<Questions>,
    },
    /// The resource manager of a partition is away, or is back: nothing starts there in between.
    SetManagerAway {
        /// Partition name.
        partition: Name,
        /// Who is away; none if it is back.
        away: Option<Away>,
    },
    /// The RM answers a question.
    Verdicts(Verdicts),
    /// Something that the core does not know of has changed what the RM would answer about a node.
    /// All verdicts on the node are void.
    VoidVerdicts {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
    },
    /// Look for queues that use more than their maximum and whose time is over, and ask for
    /// room back; every second, as the reference does.
    ScanQuotas {
        /// Partition name.
        partition: Name,
    },
    /// Tell the RM which asks more nodes would help; every second, as the reference does.
    ScanOutstanding {
        /// Partition name.
        partition: Name,
    },
    /// Time has passed: fire the timers that are due.
    Tick,
    /// Make a tenant, or say something else of one.
    SetTenant(Box<SetTenant>),
    /// Have a tenant go.
    RemoveTenant {
        /// Partition name.
        partition: Name,
        /// Its name.
        tenant: Name,
        /// Whether it goes with its last task if it has any; otherwise the command is refused then.
        drain: bool,
        /// The version that it must have, if any.
        expects: Option<u64>,
    },
    /// Say what holds for tenants that do not say otherwise.
    SetTenantDefaults {
        /// Partition name.
        partition: Name,
        /// All that is to hold.
        defaults: Box<TenantDefaults>,
        /// The version that the defaults must have, if any.
        expects: Option<u64>,
    },
    /// The scheduler was away, or the RM: nothing starts in a partition with tenants before its nodes have
    /// reported, each by [`Command::AddNode`], or the time for that is over.
    Recover {
        /// Partition name.
        partition: Name,
    },
    /// The counters of tenants were compared with what their tasks have, and they differ. The
    /// comparison runs in parallel with the scheduler.
    ReportDrift {
        /// Partition name.
        partition: Name,
        /// What disagrees, by tenant and type.
        drift: Vec<TenantDrift>,
    },
    /// A task of a tenant is submitted, with all that it asks for. One that cannot be taken in is
    /// rejected as a whole, which is remembered as of other applications.
    SubmitTask(Box<SubmitTask>),
    /// Something happens to a task.
    ChangeTask {
        /// Partition name.
        partition: Name,
        /// Its id.
        task: Name,
        /// What.
        change: TaskChange,
    },
}

/// A task of a tenant is submitted: an application with all its asks, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmitTask {
    /// Its application; its id is that of the task, and a tenant is named.
    pub submit: Submit,
    /// What each member asks for: room on one node. The members are equal and start together, so one ask stands
    /// for all of them. Partition and application are those of the task, and it has no node.
    ///
    /// Its key is that of an only member. Several members have the keys `KEY.1`, `KEY.2` and so on.
    pub ask: Ask,
    /// The other settings of the task. `members` is the number of members; 0 stands for 1.
    pub settings: TaskSettings,
}

impl SubmitTask {
    /// The largest number of members of a task: all of them are placed in one step.
    pub const MEMBERS_MAX: u32 = 1_000;

    /// Returns the number of members, at least 1.
    pub fn members(&self) -> u32 {
        self.settings.members.max(1)
    }

    /// Returns the asks of all members, in order.
    pub fn asks(&self) -> impl Iterator<Item = Ask> {
        let members = self.members();
        (1..=members).map(move |number| match members {
            1 => self.ask.clone(),
            _ => Ask { key: member_key(&self.ask.key, number), ..self.ask.clone() },
        })
    }
}

/// Returns the allocation key of one of several members; the first has number 1.
pub fn member_key(key: &Name, number: u32) -> Name {
    Name::from(alloc::format!("{key}.{number}"))
}

/// What may happen to a task by a request. Source: tenants §3.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskChange {
    /// The client that runs it confirms that it runs.
    Confirm,
    /// It has ended by itself, well or badly; or what was to be stopped has stopped.
    End {
        /// Whether well.
        succeeded: bool,
        /// The request, so that a repeat is known.
        request: TaskRequest,
    },
    /// It is not wanted any more.
    Cancel,
    /// Each of its members has another size: as an ask, or as an allocation if there is room.
    Resize {
        /// The size of each.
        resources: Amounts,
    },
    /// It is more urgent, or less, while it waits.
    Rank {
        /// Its priority from now on, if that changes.
        priority: Option<i32>,
        /// When it is to be done, if that changes.
        deadline: Option<Timestamp>,
    },
    /// The client that runs it reports what it really uses, which decides nothing.
    Measure {
        /// What all of its members use together.
        resources: Amounts,
    },
}

/// All settings of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetTenant {
    /// Partition name.
    pub partition: Name,
    /// Its name, unique in the partition: lower case, legal for a queue.
    pub tenant: Name,
    /// The new settings.
    pub settings: TenantSettings,
    /// The version that it must have, if any; 0 if there must be none of this name.
    pub expects: Option<u64>,
    /// Whether it may move below a tenant that then has more than its quota. Nothing asks for it as long as
    /// a tenant moves without tasks alone.
    pub force: bool,
}

/// The answer of the RM to [`crate::AskEvent::Asked`]. One that comes late or twice changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Partition name.
    pub partition: Name,
    /// Allocation key of the ask.
    pub key: Name,
    /// The number of the question, [`crate::books::Question::number`].
    pub question: u64,
    /// Node ids, each with its verdict. A node that was asked about and is not named does not suit
    /// the ask: its reason is `no answer`.
    pub verdicts: Vec<(Name, NodeVerdict)>,
}

/// Something that runs on a node and that the core does not schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetForeign {
    /// Partition name.
    pub partition: Name,
    /// Its key, unique among those of the partition.
    pub key: Name,
    /// Node id.
    pub node: Name,
    /// How much it takes; no amount below zero.
    pub resources: Amounts,
    /// Whether it may be taken back; nothing does so today.
    pub preemptable: bool,
}

/// A node joins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddNode {
    /// Partition name.
    pub partition: Name,
    /// Node id, unique in its partition.
    pub node: Name,
    /// Its size; at least one amount above zero.
    pub capacity: Amounts,
    /// Whether asks may be placed on it at once.
    pub schedulable: bool,
    /// What else is known of it: free keys and values, which never change.
    pub attributes: NodeAttributes,
}

/// An application is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submit {
    /// Partition name.
    pub partition: Name,
    /// Application id, unique among those that have not ended.
    pub application: Name,
    /// The queue that was asked for, for placement rules to use; may be empty.
    pub queue: Name,
    /// The tenant whose task it is; empty for none. The task goes to the tenant's place for tasks,
    /// whatever rules and access lists say. The sender of the command has made sure that the user
    /// may do this.
    pub tenant: Name,
    /// Who submits; not empty.
    pub user: Name,
    /// The user's groups, as resolved.
    pub groups: Vec<Name>,
    /// Free keys and values, of which placement rules and queue settings read some. Keys are
    /// compared in lower case; of equal keys the first counts.
    pub tags: Vec<(Name, Name)>,
    /// What the members of its gang need together; without an amount above zero it is none. Of a task of
    /// a tenant it may name `instances`: how many members there are, so that their number is held
    /// against the quota at once.
    pub placeholder_ask: Amounts,
    /// What becomes of it when its gang is not complete in time.
    pub gang_style: GangStyle,
    /// How long its gang may take to become complete; zero for the default.
    pub placeholder_timeout: Millis,
}

/// An application is not submitted, but remembered as rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectApplication {
    /// Partition name.
    pub partition: Name,
    /// Application id.
    pub application: Name,
    /// The queue that was asked for; may be empty.
    pub queue: Name,
    /// The rule that refuses it, by a short code that does not change.
    pub code: Name,
    /// The reason, in a sentence.
    pub message: Name,
    /// Who submitted it; empty if that could not be found out.
    pub user: Name,
    /// The groups of the user, or the first of them.
    pub groups: Vec<Name>,
    /// The tenant for which it was submitted; empty for none.
    pub tenant: Name,
    /// Whether it was submitted as a task of the tenant.
    pub of_task: bool,
}

/// An application asks for room on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct Ask {
    /// Partition name.
    pub partition: Name,
    /// Application id.
    pub application: Name,
    /// Allocation key, unique in the partition. One that the application has already names that
    /// ask or allocation: it gets the size and, if it has none yet, the node given here.
    pub key: Name,
    /// What is needed; at least one amount above zero.
    pub resources: Amounts,
    /// Where it runs already; none for an ask that is to be placed.
    pub node: Option<Name>,
    /// Higher goes first.
    pub priority: i32,
    /// When it was made, if not now. Orders asks of one application, and an application by
    /// its oldest.
    pub created: Option<Timestamp>,
    /// Whether it is the first of its application, which is taken back last.
    pub originator: bool,
    /// Whether it only holds room for a member of its task group. It has one then.
    pub placeholder: bool,
    /// The task group that it holds room for, or takes room from; empty for none.
    pub task_group: Name,
    /// The only node that it may run on; empty for any.
    pub required_node: Name,
    /// Whether others may be stopped for it.
    pub may_preempt: bool,
    /// Whether it offers itself to be stopped for others. One that does not goes later, not
    /// never.
    pub preemptable: bool,
    /// The label of the nodes that it may have; empty for the default of its queue.
    pub node_label: Name,
    /// The nodes that it may not have, at most [`Self::BLOCKED_NODES_MAX`].
    pub blocked_nodes: Vec<Name>,
}

impl Ask {
    /// How many nodes an ask may leave out: enough for every bad node of a large cluster.
    pub const BLOCKED_NODES_MAX: usize = 1_000;
}
