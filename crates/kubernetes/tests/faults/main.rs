//! How watches and writes bear faults of the API server, which a stand-in shows, and what keeps volumes from being
//! assumed.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

#[path = "../support/mod.rs"]
mod support;

mod assume;
mod connection;
mod watch;
mod write;
