//! The wire contract of Headroom.
//!
//! - [`wsv1`]: bodies of `/ws/v1`, compatible with clients of `YuniKorn`.
//! - [`headroomv1`]: bodies of `/headroom/v1`, the API of Headroom itself.
//! - [`si`]: the scheduler interface: `si.v1` and the session of Headroom.
//! - [`routes`]: the table of all routes. [`openapi()`] is generated from it.
//! - `client`, with the feature of that name: a typed client for these routes.
//!
//! This crate does not depend on the core. The server converts between both, so changes of the
//! core do not change the wire format.

#![warn(missing_docs)]

#[cfg(feature = "client")]
pub mod client;
mod codec;
pub mod headroomv1;
mod openapi;
pub mod routes;
pub mod si;
pub mod wsv1;

pub use openapi::openapi;
