//! Messages between the state machine of pods and the core, which speaks the scheduler interface.

mod inbound;
mod outbound;

pub(crate) use inbound::{Received, received};
pub(crate) use outbound::{register, requests};
