//! The deterministic core of Headroom: given the books, the time and a command, it says
//! what happens next.
#![cfg_attr(not(test), warn(clippy::float_arithmetic))]
#![no_std]

extern crate alloc;

pub mod config;
pub mod id;
mod name;
pub mod resource;
mod time;

pub use name::Name;
pub use time::{Millis, Timestamp};
