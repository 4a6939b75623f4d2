//! Rejections of commands about tasks.

use super::RefusalCode;
use crate::name::Name;
use crate::resource::{Quantity, format_quantities};

/// Reason why a command about a task of a tenant was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskRejection {
    /// The task does not exist.
    #[error(
        "task {task} does not exist in partition {partition}: the task was never submitted, or \
         ended too long ago. Check the task ID."
    )]
    Unknown {
        /// Requested task ID.
        task: Name,
        /// Partition that was searched.
        partition: Name,
    },
    /// Another task or application already has the ID.
    #[error(
        "in partition {partition}, {what} already has the ID {task}. Choose another ID, or omit the \
         ID."
    )]
    Exists {
        /// Task ID.
        task: Name,
        /// Name of the partition.
        partition: Name,
        /// Holder of the ID, as a noun phrase.
        what: &'static str,
    },
    /// The idempotency key belongs to another task.
    #[error(
        "tenant {tenant} already submitted task {task} with the idempotency key {key:?}. Choose \
         another key for another task."
    )]
    KeyTaken {
        /// Name of the tenant.
        tenant: Name,
        /// Task ID.
        task: Name,
        /// Idempotency key.
        key: Name,
    },
    /// The task of the idempotency key has ended and is no longer stored.
    #[error(
        "tenant {tenant} used the idempotency key {key:?} for a task that has ended and is no \
         longer stored. Choose another key for another task."
    )]
    KeySpent {
        /// Name of the tenant.
        tenant: Name,
        /// Idempotency key.
        key: Name,
    },
    /// The tenant has the largest number of idempotency keys of ended tasks.
    #[error(
        "tenant {tenant} has {most} idempotency keys of ended tasks, which is the limit. Wait \
         until the oldest keys expire, submit without a key, or lower `tenants.idempotencyttl`."
    )]
    ManyKeys {
        /// Name of the tenant.
        tenant: Name,
        /// Largest allowed number of keys.
        most: u32,
    },
    /// A different request already released the task with the same idempotency key.
    #[error(
        "task {task} was already released with the idempotency key {key:?} by a different request. \
         Choose another key."
    )]
    OtherUnderKey {
        /// Task ID.
        task: Name,
        /// Idempotency key.
        key: Name,
    },
    /// The number of members is 0 or too large.
    #[error(
        "task {task} has {members} members, but 1 to {most} are allowed. Change the number of members, or submit several tasks."
    )]
    Members {
        /// Task ID.
        task: Name,
        /// Number of members.
        members: usize,
        /// Largest allowed number of members.
        most: usize,
    },
    /// The task has several members, but its ask has a trait that only a single member can have.
    #[error(
        "task {task} has several members, but its ask is a placeholder, an originator, in a task \
         group, or bound to one node. Only a task with one member can have such an ask. Submit the \
         task with one member."
    )]
    Unlike {
        /// Task ID.
        task: Name,
    },
    /// The task requests more than any machine has.
    #[error(
        "task {task} requests {amount} {resource} for each member, but at most {most} is allowed. Request less.",
        amount = format_quantities(resource, [*amount, *most])[0],
        most = format_quantities(resource, [*amount, *most])[1]
    )]
    Amount {
        /// Task ID.
        task: Name,
        /// Resource type.
        resource: Name,
        /// Requested amount for each member.
        amount: Quantity,
        /// Largest allowed amount.
        most: Quantity,
    },
    /// The state of the task does not allow the action.
    #[error(
        "task {task} is {is} and cannot be {what}. Only tasks that are {where_it_can} can be {what}."
    )]
    State {
        /// Task ID.
        task: Name,
        /// Current state.
        is: &'static str,
        /// Refused action, as a past participle.
        what: &'static str,
        /// States that allow the action.
        where_it_can: &'static str,
    },
    /// The measured usage is negative.
    #[error(
        "the measured usage of task {task} is {amount} {resource}, but no amount can be negative. \
         Send the measured amount, or omit {resource}.",
        amount = format_quantities(resource, [*amount])[0]
    )]
    BelowZero {
        /// Task ID.
        task: Name,
        /// Resource type.
        resource: Name,
        /// Reported amount.
        amount: Quantity,
    },
    /// An ask was added to an application that is a task.
    #[error(
        "ask {key} is for {task}, but a task of a tenant cannot add asks. Resize the task, or \
         submit another task."
    )]
    Ask {
        /// Allocation key of the ask.
        key: Name,
        /// Task ID.
        task: Name,
    },
    /// A quota of the tenant or of an ancestor does not allow the task to grow.
    #[error(
        "task {task} needs {more} more {resource}, but {scope} uses {used} of its quota of {limit}. The task keeps its size. Release resources, or raise the quota.",
        more = format_quantities(resource, [*more, *used, *limit])[0],
        used = format_quantities(resource, [*more, *used, *limit])[1],
        limit = format_quantities(resource, [*more, *used, *limit])[2]
    )]
    Quota {
        /// Task ID.
        task: Name,
        /// Tenant or queue whose quota is too small.
        scope: Name,
        /// Resource type.
        resource: Name,
        /// Current usage.
        used: Quantity,
        /// Additional amount.
        more: Quantity,
        /// Quota.
        limit: Quantity,
    },
    /// The node of the task does not have enough free capacity for it to grow.
    #[error(
        "task {task} needs {more} more {resource} on node {node}, but the node has {free} free. The task keeps its size. Release resources on this node.",
        more = format_quantities(resource, [*more, *free])[0],
        free = format_quantities(resource, [*more, *free])[1]
    )]
    NoRoom {
        /// Task ID.
        task: Name,
        /// Node ID.
        node: Name,
        /// Resource type.
        resource: Name,
        /// Additional amount.
        more: Quantity,
        /// Free amount of the node.
        free: Quantity,
    },
}

impl TaskRejection {
    /// Returns a short, stable code for programs and logs.
    pub const fn code(&self) -> RefusalCode {
        match self {
            Self::Unknown { .. } => RefusalCode::UnknownTask,
            Self::Exists { .. } => RefusalCode::TaskExists,
            Self::KeyTaken { .. } => RefusalCode::KeyTaken,
            Self::KeySpent { .. } => RefusalCode::KeySpent,
            Self::ManyKeys { .. } => RefusalCode::ManyKeys,
            Self::OtherUnderKey { .. } => RefusalCode::IdempotencyMismatch,
            Self::Amount { .. } => RefusalCode::TaskAmount,
            Self::Members { .. } => RefusalCode::TaskMembers,
            Self::Unlike { .. } => RefusalCode::TaskMembersUnlike,
            Self::State { .. } => RefusalCode::TaskState,
            Self::BelowZero { .. } => RefusalCode::MeasuredBelowZero,
            Self::Ask { .. } => RefusalCode::TaskAsk,
            Self::Quota { .. } => RefusalCode::Quota,
            Self::NoRoom { .. } => RefusalCode::NodeResources,
        }
    }
}
