//! Changes of tasks of tenants.

use alloc::vec::Vec;

use crate::books::{TaskOutcome, TaskRequest, TaskSettings};
use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::{Amounts, Quantity};

/// Step of a task that its asks and allocations do not show. Source: tenants §1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// The client confirmed that the task runs.
    Confirmed,
    /// The task was canceled and must stop.
    Cancelling,
    /// The task failed and waits again. Its allocations were released, and it requests them again.
    Restarted {
        /// Request that reported the failure.
        request: TaskRequest,
    },
    /// The task was evicted and waits again. Its allocations were released, and it requests them again.
    Requeued {
        /// Request that reported the stop.
        request: TaskRequest,
    },
    /// The time limit for waiting passed, and the task no longer waits.
    Waited,
    /// The client measured the usage of the task. It does not affect scheduling.
    Measured {
        /// Measured usage of all members together.
        resources: Amounts,
    },
    /// The task ended.
    Ended {
        /// Outcome of the task.
        outcome: TaskOutcome,
        /// Request that ended the task. Empty if no request ended it.
        request: TaskRequest,
    },
}

/// Reason why a task waits, as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Short, stable code.
    pub code: Name,
    /// Tenant or queue that blocks the task. Empty if none.
    pub scope: Name,
    /// Resource types that are short.
    pub types: Vec<ThrottledType>,
}

/// Resource type that is short for a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThrottledType {
    /// Name of the resource type.
    pub resource: Name,
    /// Current usage.
    pub used: Quantity,
    /// Amount that the task needs.
    pub asked: Quantity,
    /// Limit or quota.
    pub limit: Quantity,
}

/// A change of a task of a tenant, in addition to the changes of its application.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskEvent {
    /// An application that was just added is a task of a tenant. The events of its asks follow.
    Added { application: ApplicationId, settings: TaskSettings },
    /// A task waits for a reason that differs from the last reported reason.
    Throttled { application: ApplicationId, reason: Throttled },
    /// A task made a step.
    Moved { application: ApplicationId, step: TaskStep },
}
