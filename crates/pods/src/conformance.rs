//! Compares recorded answers of Kubernetes and of YuniKorn with those of Headroom.
//!
//! The recordings and their formats are in `conformance/kubernetes/`, and `cargo xtask conformance` compares them.

pub mod conversion;
mod decision;
pub mod predicate;

pub use decision::Decision;
