//! Conversion between the wire and the core. This module performs no I/O and makes no decisions: it only converts names
//! and units, and handles absent fields.
//!
//! [`si`] is the scheduler interface. The other modules create bodies of the REST API from views of the core, with one
//! file for each kind of object.

pub(crate) mod allocation;
pub(crate) mod application;
pub(crate) mod ask;
pub(crate) mod cluster;
pub(crate) mod config;
pub mod diagnostic;
pub(crate) mod event;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod node;
pub(crate) mod node_utilization;
pub(crate) mod partition;
pub(crate) mod placement;
pub mod plan;
pub(crate) mod queue;
pub mod si;
pub(crate) mod usage;
pub(crate) mod user_limits;
pub(crate) mod validation;
pub(crate) mod value;
pub(crate) mod yaml;
