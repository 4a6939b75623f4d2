//! The scheduler interface over real sockets. Each test says which item of the list in scheduler
//! interface §13 it holds; item 1, the published names and numbers, is in the tests of the api
//! crate, and read here by reflection.

#![allow(clippy::unwrap_used, reason = "tests")]

mod arbitrary;
mod callbacks;
mod constraints;
mod gang;
mod ordering;
mod preemption;
mod race;
mod recovery;
mod registration;
mod requests;
mod scenes;
mod services;
mod session;
mod states;
mod streams;
mod support;
mod tenants;
mod victims;
