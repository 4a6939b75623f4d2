//! Lets people and programs in over REST and gRPC, and serves the UI.
//!
//! ```text
//! listen ── TLS, limits ──▶ auth ── who is it, may he ──▶ rest   ── convert ──▶ engine
//!                                                     └─▶ grpc   ── convert ──┘
//! ```
//!
//! Everything here translates: from the wire to commands of the core, and from views of the books
//! and notices of the engine to the wire. Nothing here decides.

mod about;
mod caller;
pub mod convert;
pub mod grpc;
mod live;
pub mod metrics;
pub mod mount;
pub mod native;
pub mod page;
mod paths;
mod queue_file;
pub mod rest;
mod service;

pub use about::{About, NoRandomNumbers};
pub use caller::Caller;
pub use live::{Live, OpenStream, RequestKind, Requests, StreamKind};
pub use queue_file::{Applied, InForce, QueueFile, QueueFileError};
pub use service::{Parts, Service};
