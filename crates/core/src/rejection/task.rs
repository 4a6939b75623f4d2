//! Why a command about a task was not carried out.

use super::RefusalCode;
use crate::name::Name;
use crate::resource::{Quantity, figures};

/// Why a command about a task of a tenant was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskRejection {
    /// No such task.
    #[error(
        "task {task} does not exist in partition {partition}; it was never submitted, or ended too long ago"
    )]
    Unknown {
        /// As asked for.
        task: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// Its id is that of another.
    #[error("{task} is the id of {what} in partition {partition}; choose another id, or none")]
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
        "tenant {tenant} has submitted task {task} under the key {key:?}; choose another key for another task"
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
        "tenant {tenant} submitted a task under the key {key:?} that has ended and is no longer remembered; choose another key for another task"
    )]
    KeySpent {
        /// The tenant.
        tenant: Name,
        /// The key.
        key: Name,
    },
    /// The tenant has used as many keys as are remembered.
    #[error(
        "tenant {tenant} has used {most} keys whose tasks have ended, the most that are remembered; wait until the first are no longer valid, submit without a key, or lower `tenants.idempotencyttl`"
    )]
    ManyKeys {
        /// The tenant.
        tenant: Name,
        /// The most.
        most: u32,
    },
    /// Something else was said of it under the key.
    #[error(
        "task {task} was released under the key {key:?} by a request that said something else; choose another key"
    )]
    OtherUnderKey {
        /// The task.
        task: Name,
        /// The key.
        key: Name,
    },
    /// It says nothing of what it needs, or too much.
    #[error(
        "task {task} has {members} members; it has 1 to {most}, so submit the others as tasks of their own"
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
        "task {task} has several members, but its ask is a placeholder, an originator, of a task group, or bound to one node, which only one member can be; submit it as one member"
    )]
    Unlike {
        /// Its id.
        task: Name,
    },
    /// It asks for more than any machine has.
    #[error(
        "task {task} asks for {amount} {resource} a member; no member may ask for more than {most}",
        amount = figures(resource, [*amount, *most])[0],
        most = figures(resource, [*amount, *most])[1]
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
    #[error("task {task} is {is} and cannot be {what}; that is for tasks that are {where_it_can}")]
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
    /// It is said to use less than nothing.
    #[error(
        "task {task} is said to use {amount} {resource}, which is less than 0; say what was measured, or leave the type out",
        amount = figures(resource, [*amount])[0]
    )]
    BelowZero {
        /// Its id.
        task: Name,
        /// Resource type.
        resource: Name,
        /// What was said.
        amount: Quantity,
    },
    /// An ask for an application that is a task.
    #[error(
        "ask {key} is for {task}, which is a task of a tenant and asks for nothing but what it was submitted with; submit another task, or resize this one"
    )]
    Ask {
        /// Its key.
        key: Name,
        /// The task.
        task: Name,
    },
    /// The quota of its tenant, or of one above it, has not enough left for it to grow.
    #[error(
        "task {task} would need {more} {resource} more, and {scope} uses {used} of {limit}; release something first, or raise the quota. The task keeps its size",
        more = figures(resource, [*more, *used, *limit])[0],
        used = figures(resource, [*more, *used, *limit])[1],
        limit = figures(resource, [*more, *used, *limit])[2]
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
        "task {task} would need {more} {resource} more on node {node}, which has {free} left; release something there first. The task keeps its size",
        more = figures(resource, [*more, *free])[0],
        free = figures(resource, [*more, *free])[1]
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
