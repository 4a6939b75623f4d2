//! Commands: requests of a client, the RM, or the clock to the core.

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

/// One request. It refers to rows by name. A command is atomic: either all its events happen or none.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Applies a queue file as a whole. Partitions, queues, and limits that the file no longer names are removed when
    /// nothing runs in them.
    Configure(Box<Configuration>),
    /// Registers a node.
    AddNode(AddNode),
    /// Sets the capacity of a node. Evicts nothing.
    ResizeNode {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
        /// New capacity.
        capacity: Amounts,
    },
    /// Drains a node, or makes it schedulable again. A repetition changes nothing.
    SetSchedulable {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
        /// Whether the scheduler can place asks on the node.
        schedulable: bool,
    },
    /// Removes a node. Its allocations are released.
    RemoveNode {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
    },
    /// Submits an application.
    Submit(Submit),
    /// Records an application as rejected, because its submitter could not be determined.
    RejectApplication(Box<RejectApplication>),
    /// Adds an ask to an application, or changes an existing ask or allocation.
    Ask(Ask),
    /// Releases an allocation, a waiting ask, or everything of an application.
    Release {
        /// Partition name.
        partition: Name,
        /// Application id.
        application: Name,
        /// Allocation key. `None` releases all asks and allocations of the application.
        key: Option<Name>,
        /// Cause of the release.
        termination: Termination,
    },
    /// Removes an application with all its asks and allocations.
    RemoveApplication {
        /// Partition name.
        partition: Name,
        /// Application id.
        application: Name,
    },
    /// Adds or resizes an allocation that the core does not schedule. It uses capacity of the node, and belongs to no
    /// queue, application, or user.
    SetForeign(SetForeign),
    /// Removes an allocation that the core does not schedule.
    ReleaseForeign {
        /// Partition name.
        partition: Name,
        /// Key of the foreign allocation.
        key: Name,
    },
    /// Sets the questions that the RM answers.
    SetQuestions {
        /// Partition name.
        partition: Name,
        /// Questions that the RM answers. `None` if it answers none.
        questions: Option<Questions>,
    },
    /// Records that the resource manager of a partition disconnected or reconnected. Nothing starts in between.
    SetManagerAway {
        /// Partition name.
        partition: Name,
        /// Disconnected resource manager. `None` after it reconnected.
        away: Option<Away>,
    },
    /// Records the answer of the RM to a question.
    Verdicts(Verdicts),
    /// Voids all verdicts on a node, because a change outside the core could alter the answers of the RM.
    VoidVerdicts {
        /// Partition name.
        partition: Name,
        /// Node id.
        node: Name,
    },
    /// Preempts in queues that use more than their maximum after their delay. Sent every second, as in YuniKorn.
    ScanQuotas {
        /// Partition name.
        partition: Name,
    },
    /// Reports to the RM which asks more nodes would help. Sent every second, as in YuniKorn.
    ScanOutstanding {
        /// Partition name.
        partition: Name,
    },
    /// Fires the timers that are due.
    Tick,
    /// Creates a tenant, or replaces its settings.
    SetTenant(Box<SetTenant>),
    /// Removes a tenant.
    RemoveTenant {
        /// Partition name.
        partition: Name,
        /// Name of the tenant.
        tenant: Name,
        /// Whether a tenant with tasks is removed after its last task ends. Otherwise, the command is refused for a
        /// tenant with tasks.
        drain: bool,
        /// Expected version of the tenant. `None` if any version is accepted.
        expects: Option<u64>,
    },
    /// Sets the defaults for tenants that do not set a value of their own.
    SetTenantDefaults {
        /// Partition name.
        partition: Name,
        /// All defaults.
        defaults: Box<TenantDefaults>,
        /// Expected version of the defaults. `None` if any version is accepted.
        expects: Option<u64>,
    },
    /// Starts recovery after a restart of the scheduler or the RM. In a partition with tenants, nothing starts until
    /// every node has reported by [`Command::AddNode`], or the recovery timeout ends.
    Recover {
        /// Partition name.
        partition: Name,
    },
    /// Records that counters of tenants differ from the sums of their tasks. The comparison runs in parallel with the
    /// scheduler.
    ReportDrift {
        /// Partition name.
        partition: Name,
        /// Differences, by tenant and type.
        drift: Vec<TenantDrift>,
    },
    /// Submits a task of a tenant with all its asks. An invalid task is rejected as a whole, and stored as a rejected
    /// application.
    SubmitTask(Box<SubmitTask>),
    /// Changes a task.
    ChangeTask {
        /// Partition name.
        partition: Name,
        /// ID of the task.
        task: Name,
        /// Change of the task.
        change: TaskChange,
    },
}

/// Submission of a task of a tenant: an application with all its asks, accepted or rejected as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmitTask {
    /// Application of the task. Its ID is the task ID, and `tenant` is not empty.
    pub submit: Submit,
    /// Ask of each member. The members are equal and start together, so one ask describes all of them.
    ///
    /// Partition and application are those of the task, and `node` is `None`. The key is used as it is for a single
    /// member. Several members have the keys `KEY.1`, `KEY.2`, and so on.
    pub ask: Ask,
    /// Other settings of the task. `members` is the number of members; 0 means 1.
    pub settings: TaskSettings,
}

impl SubmitTask {
    /// Largest number of members of a task. All members are placed in one step.
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

/// Returns the allocation key of one of several members. The first member has number 1.
pub fn member_key(key: &Name, number: u32) -> Name {
    Name::from(alloc::format!("{key}.{number}"))
}

/// Requested change of a task. Source: tenants §3.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskChange {
    /// The client confirms that the task runs.
    Confirm,
    /// The task ended by itself, or stopped after a request.
    End {
        /// Whether the task succeeded.
        succeeded: bool,
        /// Request that reported the end. Identifies a repetition.
        request: TaskRequest,
    },
    /// Cancels the task.
    Cancel,
    /// Resizes each member. A running task is resized only if the larger size fits.
    Resize {
        /// New size of each member.
        resources: Amounts,
    },
    /// Changes the urgency of a waiting task.
    Rank {
        /// New priority. `None` leaves the priority unchanged.
        priority: Option<i32>,
        /// New deadline. `None` leaves the deadline unchanged.
        deadline: Option<Timestamp>,
    },
    /// Records the usage that the client measured. It does not affect scheduling.
    Measure {
        /// Measured usage of all members together.
        resources: Amounts,
    },
}

/// All settings of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetTenant {
    /// Partition name.
    pub partition: Name,
    /// Name of the tenant, unique in the partition. Lower case, and valid as a queue name.
    pub tenant: Name,
    /// The new settings.
    pub settings: TenantSettings,
    /// Expected version of the tenant. 0 if no tenant of this name must exist. `None` if any version is accepted.
    pub expects: Option<u64>,
    /// Whether the tenant can move under a parent that then exceeds its quota. Unused, because only tenants without
    /// tasks can move.
    pub force: bool,
}

/// Answer of the RM to [`crate::AskEvent::Asked`]. A late or repeated answer changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Partition name.
    pub partition: Name,
    /// Allocation key of the ask.
    pub key: Name,
    /// Number of the question, [`crate::books::Question::number`].
    pub question: u64,
    /// Node IDs with their verdicts. A node of the question without a verdict counts as refused with the reason `no
    /// answer`.
    pub verdicts: Vec<(Name, NodeVerdict)>,
}

/// Allocation that the core does not schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetForeign {
    /// Partition name.
    pub partition: Name,
    /// Key, unique among the foreign allocations of the partition.
    pub key: Name,
    /// Node id.
    pub node: Name,
    /// Amounts that it uses, none negative.
    pub resources: Amounts,
    /// Whether it could be preempted. No rule preempts foreign allocations today.
    pub preemptable: bool,
}

/// Registration of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddNode {
    /// Partition name.
    pub partition: Name,
    /// Node ID, unique in its partition.
    pub node: Name,
    /// Capacity, with at least one amount above zero.
    pub capacity: Amounts,
    /// Whether the scheduler can place asks on the node at once.
    pub schedulable: bool,
    /// Attributes: arbitrary keys and values that never change.
    pub attributes: NodeAttributes,
}

/// Submission of an application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submit {
    /// Partition name.
    pub partition: Name,
    /// Application ID, unique among the applications that have not ended.
    pub application: Name,
    /// Requested queue, for placement rules. Can be empty.
    pub queue: Name,
    /// Tenant of the task. Empty if the application is no task.
    ///
    /// A task runs in the leaf of its tenant, regardless of placement rules and access lists. The sender of the command
    /// has already authorized the user.
    pub tenant: Name,
    /// User who submits. Not empty.
    pub user: Name,
    /// Resolved groups of the user.
    pub groups: Vec<Name>,
    /// Arbitrary keys and values. Placement rules and queue settings read some of them. Keys are compared in lower
    /// case, and the first of equal keys counts.
    pub tags: Vec<(Name, Name)>,
    /// Amounts that all members of the gang need together. Without an amount above zero, the application is no gang.
    ///
    /// For a task, `instances` can specify the number of members, so that their number counts against the quota at
    /// once.
    pub placeholder_ask: Amounts,
    /// Behavior when the gang is not complete in time.
    pub gang_style: GangStyle,
    /// Time that the gang has to become complete. Zero selects the default.
    pub placeholder_timeout: Millis,
}

/// Application to store as rejected without a submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectApplication {
    /// Partition name.
    pub partition: Name,
    /// Application id.
    pub application: Name,
    /// Requested queue. Can be empty.
    pub queue: Name,
    /// Short, stable code of the rule that rejects the application.
    pub code: Name,
    /// Reason, as a sentence.
    pub message: Name,
    /// User who submitted. Empty if it could not be determined.
    pub user: Name,
    /// Groups of the user, possibly only the first ones.
    pub groups: Vec<Name>,
    /// Requested tenant. Empty if none.
    pub tenant: Name,
    /// Whether it was submitted as a task of the tenant.
    pub of_task: bool,
}

/// Ask of an application for amounts on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct Ask {
    /// Partition name.
    pub partition: Name,
    /// Application id.
    pub application: Name,
    /// Allocation key, unique in the partition. A key that the application already uses identifies that ask or
    /// allocation. It gets this size and, if it has no node yet, this node.
    pub key: Name,
    /// Requested amounts, with at least one above zero.
    pub resources: Amounts,
    /// Node on which it already runs. `None` for an ask that the scheduler places.
    pub node: Option<Name>,
    /// Priority. A higher number is scheduled first.
    pub priority: i32,
    /// Creation time. `None` for now. Orders the asks of one application, and applications by their oldest ask.
    pub created: Option<Timestamp>,
    /// Whether it is the first ask of its application. An originator is preempted last.
    pub originator: bool,
    /// Whether it is a placeholder, which reserves capacity for a member of `task_group`. A placeholder needs a task
    /// group.
    pub placeholder: bool,
    /// Task group of a placeholder or member. Empty if none.
    pub task_group: Name,
    /// Required node. Empty if any node is acceptable.
    pub required_node: Name,
    /// Whether other allocations can be preempted for it.
    pub may_preempt: bool,
    /// Whether it is a preferred victim of preemption. Other allocations are preempted later, but not never.
    pub preemptable: bool,
    /// Node label that it selects. Empty for the default of its queue.
    pub node_label: Name,
    /// Nodes that it cannot use, at most [`Self::BLOCKED_NODES_MAX`].
    pub blocked_nodes: Vec<Name>,
}

impl Ask {
    /// Largest number of blocked nodes: enough for every bad node of a large cluster.
    pub const BLOCKED_NODES_MAX: usize = 1_000;
}
