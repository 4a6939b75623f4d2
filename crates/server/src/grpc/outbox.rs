//! Where messages to an RM wait until they are sent.

use headroom_api::si::headroom::scheduler_message::Content;
use headroom_api::si::v1::{AllocationResponse, ApplicationResponse, NodeResponse};
use tonic::Status;

use super::lane::{Lane, Overflow};
use super::line::Line;

/// A message to an RM in answer to a request, of any kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Say {
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
    Compat(Lanes),
    /// One line.
    Session(Line),
}

/// The three streams of the published interface.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) applications: Lane<ApplicationResponse>,
    pub(super) allocations: Lane<AllocationResponse>,
    pub(super) nodes: Lane<NodeResponse>,
}

impl Outbox {
    /// For the published interface.
    pub(super) fn compat(held_max: usize) -> Self {
        Self::Compat(Lanes {
            applications: Lane::new(held_max),
            allocations: Lane::new(held_max),
            nodes: Lane::new(held_max),
        })
    }

    /// For the session profile.
    pub(super) fn session(held_max: usize) -> Self {
        Self::Session(Line::new(held_max))
    }

    /// Send a message.
    ///
    /// # Errors
    /// When too many are held.
    pub(super) fn push(&self, say: Say) -> Result<(), Overflow> {
        match (self, say) {
            (Self::Compat(lanes), Say::Application(one)) => lanes.applications.push(one),
            (Self::Compat(lanes), Say::Allocation(one)) => lanes.allocations.push(one),
            (Self::Compat(lanes), Say::Node(one)) => lanes.nodes.push(one),
            // Nobody asked for it.
            (Self::Compat(_), Say::Session(_)) => Ok(()),
            (Self::Session(line), say) => line.push(match say {
                Say::Application(one) => Content::Application(one),
                Say::Allocation(one) => Content::Allocation(one),
                Say::Node(one) => Content::Node(one),
                Say::Session(content) => content,
            }),
        }
    }

    /// The message of this number, and all before, are told.
    pub(super) fn note_applied(&self, seq: u64) {
        if let Self::Session(line) = self {
            line.note_applied(seq);
        }
    }

    /// Nothing more is sent, for this reason.
    pub(super) fn end(&self, why: &Status) {
        match self {
            Self::Compat(Lanes { applications, allocations, nodes }) => {
                applications.end(why.clone());
                allocations.end(why.clone());
                nodes.end(why.clone());
            }
            Self::Session(line) => line.end(why.clone()),
        }
    }
}
