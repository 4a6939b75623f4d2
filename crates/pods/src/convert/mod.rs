//! What the core is sent about Kubernetes objects.
//!
//! The functions of this module are pure. They take a pod, a namespace, a node, or a config map, and return plain data.
//! The state machine in [`crate::shim`] decides when a message is sent.

pub mod amounts;
pub mod application;
pub mod ask;
pub mod event;
pub mod gang;
pub mod identity;
mod json;
pub mod key;
pub mod namespace;
pub mod node;
pub mod settings;
pub mod text;
