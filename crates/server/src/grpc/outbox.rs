//! Message queues to an RM.

use headroom_api::si::headroom::scheduler_message::Content;
use headroom_api::si::v1::{AllocationResponse, ApplicationResponse, NodeResponse};
use tonic::Status;

use super::message_queue::{MessageQueue, Overflow};
use super::session_queue::SessionQueue;

/// A message to an RM, of any kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OutboundMessage {
    /// A message about applications.
    Application(ApplicationResponse),
    /// A message about allocations.
    Allocation(AllocationResponse),
    /// A message about nodes.
    Node(NodeResponse),
    /// A message that only the session profile has.
    Session(Content),
}

/// Message queues to an RM, by profile.
#[derive(Debug)]
pub(super) enum Outbox {
    /// A queue for each of the three streams.
    Compat(StreamQueues),
    /// One queue.
    Session(SessionQueue),
}

/// The queues for the three streams of the published interface.
#[derive(Debug)]
pub(super) struct StreamQueues {
    pub(super) applications: MessageQueue<ApplicationResponse>,
    pub(super) allocations: MessageQueue<AllocationResponse>,
    pub(super) nodes: MessageQueue<NodeResponse>,
}

impl Outbox {
    /// Returns the queues of the published interface.
    pub(super) fn compat(held_max: usize) -> Self {
        Self::Compat(StreamQueues {
            applications: MessageQueue::new(held_max),
            allocations: MessageQueue::new(held_max),
            nodes: MessageQueue::new(held_max),
        })
    }

    /// Returns the queue of the session profile.
    pub(super) fn session(held_max: usize) -> Self {
        Self::Session(SessionQueue::new(held_max))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the queue is full.
    pub(super) fn push(&self, say: OutboundMessage) -> Result<(), Overflow> {
        match (self, say) {
            (Self::Compat(lanes), OutboundMessage::Application(one)) => {
                lanes.applications.push(one)
            }
            (Self::Compat(lanes), OutboundMessage::Allocation(one)) => lanes.allocations.push(one),
            (Self::Compat(lanes), OutboundMessage::Node(one)) => lanes.nodes.push(one),
            // The published interface has no such message.
            (Self::Compat(_), OutboundMessage::Session(_)) => Ok(()),
            (Self::Session(line), say) => line.push(match say {
                OutboundMessage::Application(one) => Content::Application(one),
                OutboundMessage::Allocation(one) => Content::Allocation(one),
                OutboundMessage::Node(one) => Content::Node(one),
                OutboundMessage::Session(content) => content,
            }),
        }
    }

    /// Stores that all messages of the RM up to this number are reported.
    pub(super) fn note_applied(&self, seq: u64) {
        if let Self::Session(line) = self {
            line.note_applied(seq);
        }
    }

    /// Ends the queues with this reason.
    pub(super) fn end(&self, why: &Status) {
        match self {
            Self::Compat(StreamQueues { applications, allocations, nodes }) => {
                applications.end(why.clone());
                allocations.end(why.clone());
                nodes.end(why.clone());
            }
            Self::Session(line) => line.end(why.clone()),
        }
    }
}
