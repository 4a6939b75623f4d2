//! Where messages to an RM wait until they are sent.

use headroom_api::si::headroom::scheduler_message::Content;
use headroom_api::si::v1::{AllocationResponse, ApplicationResponse, NodeResponse};
use tonic::Status;

use super::message_queue::{MessageQueue, Overflow};
use super::session_queue::SessionQueue;

/// A message to an RM in answer to a request, of any kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OutboundMessage {
    /// About applications.
    Application(ApplicationResponse),
    /// About allocations.
    Allocation(AllocationResponse),
    /// About nodes.
    Node(NodeResponse),
    /// What only the session profile has.
    Session(Content),
}

/// Where messages to an RM wait, by profile.
#[derive(Debug)]
pub(super) enum Outbox {
    /// A lane for each of the three streams.
    Compat(StreamQueues),
    /// One line.
    Session(SessionQueue),
}

/// The three streams of the published interface.
#[derive(Debug)]
pub(super) struct StreamQueues {
    pub(super) applications: MessageQueue<ApplicationResponse>,
    pub(super) allocations: MessageQueue<AllocationResponse>,
    pub(super) nodes: MessageQueue<NodeResponse>,
}

impl Outbox {
    /// For the published interface.
    pub(super) fn compat(held_max: usize) -> Self {
        Self::Compat(StreamQueues {
            applications: MessageQueue::new(held_max),
            allocations: MessageQueue::new(held_max),
            nodes: MessageQueue::new(held_max),
        })
    }

    /// For the session profile.
    pub(super) fn session(held_max: usize) -> Self {
        Self::Session(SessionQueue::new(held_max))
    }

    /// Send a message.
    ///
    /// # Errors
    /// When too many are held.
    pub(super) fn push(&self, say: OutboundMessage) -> Result<(), Overflow> {
        match (self, say) {
            (Self::Compat(lanes), OutboundMessage::Application(one)) => {
                lanes.applications.push(one)
            }
            (Self::Compat(lanes), OutboundMessage::Allocation(one)) => lanes.allocations.push(one),
            (Self::Compat(lanes), OutboundMessage::Node(one)) => lanes.nodes.push(one),
            // Nobody asked for it.
            (Self::Compat(_), OutboundMessage::Session(_)) => Ok(()),
            (Self::Session(line), say) => line.push(match say {
                OutboundMessage::Application(one) => Content::Application(one),
                OutboundMessage::Allocation(one) => Content::Allocation(one),
                OutboundMessage::Node(one) => Content::Node(one),
                OutboundMessage::Session(content) => content,
            }),
        }
    }

    /// The message of this number, and all before, are reported.
    pub(super) fn note_applied(&self, seq: u64) {
        if let Self::Session(line) = self {
            line.note_applied(seq);
        }
    }

    /// Nothing more is sent, for this reason.
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
