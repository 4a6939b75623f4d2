//! What Kubernetes objects mean to Headroom.
//!
//! Pure functions on plain data: no I/O, no clock, no client of an API server.
//!
//! - [`convert`] turns objects into messages to the core.
//! - [`object`] has the fields of Kubernetes objects that Headroom reads.
//! - [`quantity`] reads amounts such as `1500m` and `2Gi`.
//! - [`predicate`] decides which node takes which pod.
//! - [`shim`] is the state machine between Kubernetes and the core.

pub mod convert;
pub mod object;
pub mod predicate;
pub mod quantity;
pub mod shim;

#[cfg(feature = "conformance")]
pub mod conformance;
