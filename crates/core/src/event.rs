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

/// A fact that changed the books.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A queue file was applied.
    Configured {
        /// Checksum of the text of the queue file. Empty if the configuration had no text.
        checksum: Name,
    },
    /// A change of a partition as a whole.
    Partition(PartitionEvent),
    /// A change of a queue.
    Queue(QueueEvent),
    /// A change of a node.
    Node(NodeEvent),
    /// A change of an application.
    Application(ApplicationEvent),
    /// A change of a task of a tenant, in addition to the changes of its application.
    Task(TaskEvent),
    /// A change of a waiting ask.
    Ask(AskEvent),
    /// A change of an allocation, or a step of a placeholder replacement.
    Allocation(AllocationEvent),
    /// A change of a foreign allocation, which the core does not schedule.
    Foreign(ForeignEvent),
    /// A change of a tenant.
    Tenant(TenantEvent),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_settings_do_not_enlarge_every_event() {
        assert!(size_of::<Event>() <= 144, "an event has {} bytes", size_of::<Event>());
    }
}
