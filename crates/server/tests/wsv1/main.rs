//! `/ws/v1` and `/debug` over real sockets: the checklist of the REST API's page, item by item.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

#[path = "../support/mod.rs"]
mod support;

mod bodies;
mod bytes;
mod configuration;
mod debug;
mod events;
mod large;
mod refusals;
mod simulation;
mod transport;
mod user_limits;
mod visibility;
mod web_ui;
