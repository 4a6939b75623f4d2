//! How watches and writes bear faults of the API server, which a stand-in shows.

#[path = "../support/mod.rs"]
mod support;

mod watch;
mod write;
