//! Sockets, limits, names and TLS: over real sockets.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

#[path = "../gate/mod.rs"]
mod support;

mod limits;
mod names;
mod process;
mod room;
mod tls;
