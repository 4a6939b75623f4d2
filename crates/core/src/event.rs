//! Facts: what happened. The books change by these alone, and replaying them rebuilds the books.
//!
//! An event that makes a row carries names; one that changes a row carries its id. Ids depend
//! only on the history, so a replay gives every row the same one.
//!
//! Events are grouped by what they happened to. A listener matches without `_`: it names each group
//! that does not concern it, so a new event of a group that does is an error until it is decided.

mod allocation;
mod application;
mod ask;
mod cause;
mod drift;
mod foreign;
mod node;
mod partition;
mod queue;
mod task;
mod tenant;
mod traits;
mod tried;
pub use allocation::AllocationEvent;
pub use application::ApplicationEvent;
pub use ask::AskEvent;
pub use cause::{PreemptionCause, Termination};
pub use drift::TenantDrift;
pub use foreign::ForeignEvent;
pub use node::NodeEvent;
pub use partition::PartitionEvent;
pub use queue::QueueEvent;
pub use task::{TaskEvent, TaskStep, Throttled, ThrottledType};
pub use tenant::TenantEvent;
pub use traits::AskTraits;

use crate::name::Name;

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A queue file is in force.
    Configured {
        /// Identifies its text; empty if there was none.
        checksum: Name,
    },
    /// What happened to a partition as a whole.
    Partition(PartitionEvent),
    /// What happened to a queue.
    Queue(QueueEvent),
    /// What happened to a node.
    Node(NodeEvent),
    /// What happened to an application.
    Application(ApplicationEvent),
    /// What happened to a task of a tenant, beyond what happens to its application.
    Task(TaskEvent),
    /// What happened to an ask that waits.
    Ask(AskEvent),
    /// What happened to an allocation, or to the placeholder and the member of a swap.
    Allocation(AllocationEvent),
    /// What something that the core does not schedule takes of a node.
    Foreign(ForeignEvent),
    /// What happened to a tenant.
    Tenant(TenantEvent),
}
