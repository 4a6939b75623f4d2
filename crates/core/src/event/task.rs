//! What happens to tasks of tenants.

use alloc::vec::Vec;

use crate::books::{TaskOutcome, TaskRequest, TaskSettings};
use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::{Amounts, Quantity};

/// A step of a task that its asks and allocations do not show. Source: tenants §1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// The client that runs it confirms that it runs.
    Confirmed,
    /// It is to stop, since somebody does not want it any more.
    Cancelling,
    /// It failed and waits again. What it had is released, and it asks again.
    Restarted {
        /// The request that reported it.
        request: TaskRequest,
    },
    /// It was evicted and waits again. What it had is released, and it asks again.
    Requeued {
        /// The request that reported it.
        request: TaskRequest,
    },
    /// The time that it may wait is over, and it waits no more.
    Waited,
    /// The client that runs it reports what it really uses. Nothing is decided by it.
    Measured {
        /// What all of its members use together.
        resources: Amounts,
    },
    /// It has ended.
    Ended {
        /// How.
        outcome: TaskOutcome,
        /// The request that ended it; empty where nobody asked for it.
        request: TaskRequest,
    },
}

/// Why a task waits, as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// A short code that does not change.
    pub code: Name,
    /// The tenant or queue that holds it back; empty where none does.
    pub scope: Name,
    /// Each type of which too little is left there.
    pub types: Vec<ThrottledType>,
}

/// A type of which too little is left for a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThrottledType {
    /// Its name.
    pub resource: Name,
    /// What is used.
    pub used: Quantity,
    /// What the task needs.
    pub asked: Quantity,
    /// What there may be.
    pub limit: Quantity,
}

/// What happened to a task of a tenant, beyond what happens to its application.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskEvent {
    /// An application that was just added is a task of a tenant. Its asks follow.
    Added { application: ApplicationId, settings: TaskSettings },
    /// A task has to wait, for a reason that differs from the last reported one, if any.
    Throttled { application: ApplicationId, reason: Throttled },
    /// A task took a step.
    Moved { application: ApplicationId, step: TaskStep },
}
