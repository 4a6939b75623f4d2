//! Metrics, over a real socket and through Prometheus' own tool.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod deploy;
mod drivers;
mod promtool;
mod scrape;
#[path = "../native/server.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;
mod users;
