//! `/headroom/v1`, the probes and the page, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

#[path = "../../../sim/tests/browser/mod.rs"]
#[allow(dead_code, reason = "the reports of the simulator are looked at in other ways")]
mod browser;
mod conventions;
mod events;
mod explain;
mod page;
mod plan;
mod reasons;
mod server;
mod stream;
mod summary;
