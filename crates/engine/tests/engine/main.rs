//! The engine over a journal in memory and one in files: what it answers is durable, what it
//! recovers is what was there.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod audited;
mod cluster;
mod failing;
mod faults;
mod following;
mod health;
mod race;
mod recovery;
mod serving;
mod trail;
mod trail_crash;
mod trail_ledger;
mod trail_scene;
