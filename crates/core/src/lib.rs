//! The deterministic core of Headroom: given the books, the time and a command, it says
//! what happens next.
#![cfg_attr(not(test), warn(clippy::float_arithmetic))]
#![no_std]

extern crate alloc;

pub mod books;
mod command;
pub mod config;
mod event;
pub mod id;
mod invariant;
mod name;
mod ordered;
mod rejection;
pub mod resource;
mod rules;
mod schedule;
mod table;
#[cfg(feature = "testkit")]
pub mod testkit;
mod time;
mod wait;

pub use command::{AddNode, Ask, Command, Submit};
pub use event::{Event, Termination};
pub use invariant::Violation;
pub use name::Name;
pub use ordered::OrderedMap;
pub use rejection::Rejection;
pub use rules::decide;
pub use schedule::{ClassId, Note, Scheduler, Step};
pub use table::Table;
pub use time::{Millis, Timestamp};
pub use wait::{Blocker, Wait};
