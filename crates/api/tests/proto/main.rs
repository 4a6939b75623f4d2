//! The scheduler interface, message by message: names, numbers, types, reserved ones.
//!
//! The tables are transcribed from the published interface and from the description of our
//! session, and compared with the descriptors that servers hand out; so a slip in a `.proto`
//! file fails here.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod conversation;
mod published;
mod session;
mod shape;
