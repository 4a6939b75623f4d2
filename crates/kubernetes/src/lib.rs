//! The Kubernetes scheduler.
//!
//! It watches the API server, tells the core about pods and nodes, and writes what the core decides.
//!
//! - [`client`] sends requests to the API server.
//! - [`watch`] lists the objects of one kind, and follows their changes.
//! - [`observe`] watches all kinds that the scheduler reads.
//! - [`volumes`] has volumes and claims, with those that binds in progress use.
//! - [`act`] performs the writes.
//! - [`queue`] has the values that go between these and the loop of the scheduler.

pub mod act;
pub mod client;
pub mod observe;
pub mod queue;
pub mod volumes;
pub mod watch;

mod devices;
mod dump;
mod home;
mod link;
mod log_settings;
mod revisit;
mod run;
mod verdicts;
mod wait_reports;

pub use run::{Options, RunError, run};
