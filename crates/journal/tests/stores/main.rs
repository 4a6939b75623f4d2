//! What every store owes, and what the one in files owes on a bad disk.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod faults;
mod flips;
mod kit;
mod owes;
mod repair;
