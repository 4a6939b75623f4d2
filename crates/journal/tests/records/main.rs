//! Records as bytes: old ones stay readable, damaged ones are refused.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod damage;
mod golden;
mod samples;
