//! Tenants and their quotas over real sockets: the scenarios of the tenants' page, by its numbers.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

#[path = "../support/mod.rs"]
mod support;

mod audit;
mod check;
mod events;
mod ledger;
mod measured;
mod metrics;
mod quota;
mod releases;
mod restart;
mod rights;
mod said;
mod scene;
mod tasks;
mod together;
mod triggers;
mod usage;
mod versions;
mod walk;
