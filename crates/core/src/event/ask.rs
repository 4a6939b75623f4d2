//! What happened to an ask that waits.

use alloc::vec::Vec;

use crate::books::{NodeVerdict, QuestionSubject};
use crate::event::{AskTraits, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// What happened to an ask that waits.
#[derive(Clone, Debug, PartialEq)]
pub enum AskEvent {
    /// An application asks for room on one node.
    Added {
        application: ApplicationId,
        key: Name,
        /// What is needed.
        resources: Amounts,
        /// Higher goes first.
        priority: i32,
        /// When it was made.
        created: Timestamp,
        /// What else is special about it.
        traits: AskTraits,
    },
    /// A waiting ask was withdrawn.
    Removed { ask: AllocationId, termination: Termination },
    /// An ask was given room on a node, and is an allocation now.
    Placed { ask: AllocationId, node: NodeId },
    /// A node is reserved for an ask, so that others cannot use it.
    Reserved { ask: AllocationId, node: NodeId },
    /// The node reserved for an ask is free for others again.
    Unreserved {
        /// For which ask it was reserved.
        ask: AllocationId,
    },
    /// Queues hold room for an ask that has waited too long, from its leaf up to this queue.
    Held {
        ask: AllocationId,
        /// The highest queue that holds room for it.
        top: QueueId,
    },
    /// Queues hold no more room for an ask, although it still waits.
    HoldEnded { ask: AllocationId },
    /// The RM is asked about nodes and an ask, which waits for the answer.
    Asked {
        ask: AllocationId,
        /// What is asked: about [`crate::books::Question::NODES_MAX`] nodes or fewer, or removals.
        subject: QuestionSubject,
    },
    /// The RM has answered the question about an ask.
    Answered {
        ask: AllocationId,
        /// The nodes that it was asked about and that still exist, each with its verdict.
        verdicts: Vec<(NodeId, NodeVerdict)>,
    },
    /// Others were asked to stop for an ask; this happens once to each.
    PreemptionTriggered { ask: AllocationId },
    /// Nothing could be stopped for an ask; it is tried again after a while.
    PreemptionTried { ask: AllocationId },
    /// The RM was informed that more nodes would help an ask; this happens once for each.
    ScaleUpAsked { ask: AllocationId },
}
