//! The wire contract of Headroom.
//!
//! - [`wsv1`]: bodies of `/ws/v1`, as clients of `YuniKorn` know them.
//! - [`headroomv1`]: bodies of `/headroom/v1`, our own.
//! - [`si`]: the scheduler interface, `si.v1` and our session beside it.
//! - [`routes`]: every route of both, as one table; [`openapi()`] is the document made from it.
//! - `client`, with the feature of that name: a typed client for these routes.
//!
//! Nothing here knows the core: whoever serves converts. So the wire stays as it is while the
//! core is reworked, and the core is never bent to suit a message.

#[cfg(feature = "client")]
pub mod client;
mod codec;
pub mod headroomv1;
mod openapi;
pub mod routes;
pub mod si;
pub mod wsv1;

pub use openapi::openapi;
