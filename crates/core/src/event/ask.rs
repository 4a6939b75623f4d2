//! Changes of a waiting ask.

use alloc::vec::Vec;

use crate::books::{NodeVerdict, QuestionSubject};
use crate::event::{AskTraits, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// A change of a waiting ask.
#[derive(Clone, Debug, PartialEq)]
pub enum AskEvent {
    /// An application requested amounts on one node.
    Added {
        application: ApplicationId,
        key: Name,
        /// Requested amounts.
        resources: Amounts,
        /// Priority. A higher number is scheduled first.
        priority: i32,
        /// Creation time.
        created: Timestamp,
        /// Optional traits of the ask.
        traits: AskTraits,
    },
    /// A waiting ask was withdrawn.
    Removed { ask: AllocationId, termination: Termination },
    /// An ask was placed on a node and became an allocation.
    Placed { ask: AllocationId, node: NodeId },
    /// A node was reserved for an ask, so that other asks cannot use it.
    Reserved { ask: AllocationId, node: NodeId },
    /// The reservation of a node for an ask ended.
    Unreserved {
        /// Ask that had the reservation.
        ask: AllocationId,
    },
    /// A hold began: queues from the leaf to `top` hold capacity for an ask that waited too long.
    Held {
        ask: AllocationId,
        /// Highest queue of the hold.
        top: QueueId,
    },
    /// A hold ended, although its ask still waits.
    HoldEnded { ask: AllocationId },
    /// The RM was asked about nodes for an ask, which waits for the answer.
    Asked {
        ask: AllocationId,
        /// Subject of the question: at most [`crate::books::Question::NODES_MAX`] nodes, or removals.
        subject: QuestionSubject,
    },
    /// The RM answered the question about an ask.
    Answered {
        ask: AllocationId,
        /// Nodes of the question that still exist, with their verdicts.
        verdicts: Vec<(NodeId, NodeVerdict)>,
    },
    /// Allocations were preempted for an ask. Happens at most once for each ask.
    PreemptionTriggered { ask: AllocationId },
    /// No victim was found for an ask. Preemption is tried again later.
    PreemptionTried { ask: AllocationId },
    /// The RM was informed that more nodes would help an ask. Happens at most once for each ask.
    ScaleUpAsked { ask: AllocationId },
}
