//! The engine over a journal in memory and one in files: what it answers is durable, what it
//! recovers is what was there.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod cluster;
mod failing;
mod following;
mod recovery;
mod serving;
