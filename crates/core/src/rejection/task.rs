//! Why a command about a task was not carried out.

use super::RefusalCode;
use crate::name::Name;
use crate::resource::{Quantity, format_quantities};

/// Why a command about a task of a tenant was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskRejection {
    /// No such task.
    #[error(
        "task {task} does not exist in partition {partition}: the task was never submitted, or \
         ended too long ago. Check the task ID."
    )]
    Unknown {
        /// As asked for.
        task: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// Its id is that of another.
    #[error(
        "the task ID {task} belongs to {what} in partition {partition}. Choose another ID, or omit \
         the ID."
    )]
    Exists {
        /// The id.
        task: Name,
        /// The partition.
        partition: Name,
        /// What the other is.
        what: &'static str,
    },
    /// The key of its request is that of another.
    #[error(
        "tenant {tenant} already submitted task {task} with the idempotency key {key:?}. Choose \
         another key for another task."
    )]
    KeyTaken {
        /// The tenant.
        tenant: Name,
        /// The task.
        task: Name,
        /// The key.
        key: Name,
    },
    /// The task of its key has ended, and is no longer remembered.
    #[error(
        "tenant {tenant} used the idempotency key {key:?} for a task that has ended and is no \
         longer stored. Choose another key for another task."
    )]
    KeySpent {
        /// The tenant.
        tenant: Name,
        /// The key.
        key: Name,
    },
    /// The tenant has used as many keys as are remembered.
    #[error(
        "tenant {tenant} has {most} idempotency keys of ended tasks, which is the limit. Wait \
         until the oldest keys expire, submit without a key, or lower `tenants.idempotencyttl`."
    )]
    ManyKeys {
        /// The tenant.
        tenant: Name,
        /// The most.
        most: u32,
    },
    /// A different request for it used the key before.
    #[error(
        "task {task} was already released with the idempotency key {key:?} by a different request. \
         Choose another key."
    )]
    OtherUnderKey {
        /// The task.
        task: Name,
        /// The key.
        key: Name,
    },
    /// It says nothing of what it needs, or too much.
    #[error(
        "task {task} has {members} members, but 1 to {most} are allowed. Change the number of members, or submit several tasks."
    )]
    Members {
        /// Its id.
        task: Name,
        /// How many it has.
        members: usize,
        /// How many it may have.
        most: usize,
    },
    /// The task has several members, but its ask has a trait that only one of them can have.
    #[error(
        "task {task} has several members, but its ask is a placeholder, an originator, in a task \
         group, or bound to one node. Only a task with one member can have such an ask. Submit the \
         task with one member."
    )]
    Unlike {
        /// Its id.
        task: Name,
    },
    /// It asks for more than any machine has.
    #[error(
        "task {task} requests {amount} {resource} for each member, but at most {most} is allowed. Request less.",
        amount = format_quantities(resource, [*amount, *most])[0],
        most = format_quantities(resource, [*amount, *most])[1]
    )]
    Amount {
        /// Its id.
        task: Name,
        /// Resource type.
        resource: Name,
        /// As asked for.
        amount: Quantity,
        /// The most.
        most: Quantity,
    },
    /// It does not stand where this can happen.
    #[error(
        "task {task} is {is} and cannot be {what}. Only tasks that are {where_it_can} can be {what}."
    )]
    State {
        /// Its id.
        task: Name,
        /// Where it stands.
        is: &'static str,
        /// What was to happen.
        what: &'static str,
        /// Where it would have to stand.
        where_it_can: &'static str,
    },
    /// Its reported use is less than nothing.
    #[error(
        "the measured usage of task {task} is {amount} {resource}, but no amount can be negative. \
         Send the measured amount, or omit {resource}.",
        amount = format_quantities(resource, [*amount])[0]
    )]
    BelowZero {
        /// Its id.
        task: Name,
        /// Resource type.
        resource: Name,
        /// The reported amount.
        amount: Quantity,
    },
    /// An ask for an application that is a task.
    #[error(
        "ask {key} is for {task}, but a task of a tenant cannot add asks. Resize the task, or \
         submit another task."
    )]
    Ask {
        /// Its key.
        key: Name,
        /// The task.
        task: Name,
    },
    /// The quota of its tenant, or of one above it, has not enough left for it to grow.
    #[error(
        "task {task} needs {more} more {resource}, but {scope} uses {used} of its quota of {limit}. The task keeps its size. Release resources, or raise the quota.",
        more = format_quantities(resource, [*more, *used, *limit])[0],
        used = format_quantities(resource, [*more, *used, *limit])[1],
        limit = format_quantities(resource, [*more, *used, *limit])[2]
    )]
    Quota {
        /// Its id.
        task: Name,
        /// What has not enough left.
        scope: Name,
        /// Resource type.
        resource: Name,
        /// What is used.
        used: Quantity,
        /// What it would need more.
        more: Quantity,
        /// What there may be.
        limit: Quantity,
    },
    /// The node that it runs on has not enough left for it to grow.
    #[error(
        "task {task} needs {more} more {resource} on node {node}, but the node has {free} free. The task keeps its size. Release resources on this node.",
        more = format_quantities(resource, [*more, *free])[0],
        free = format_quantities(resource, [*more, *free])[1]
    )]
    NoRoom {
        /// Its id.
        task: Name,
        /// The node.
        node: Name,
        /// Resource type.
        resource: Name,
        /// What it would need more.
        more: Quantity,
        /// What the node has left.
        free: Quantity,
    },
}

impl TaskRejection {
    /// A short code that does not change, for programs and logs.
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
