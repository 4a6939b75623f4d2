//! From views of the core to bodies of the API, one file per noun. Nothing here asks or decides:
//! names, units and absent fields are settled, and that is all.

pub(crate) mod allocation;
pub(crate) mod application;
pub(crate) mod ask;
pub(crate) mod cluster;
pub(crate) mod config;
pub(crate) mod event;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod node;
pub(crate) mod node_utilization;
pub(crate) mod partition;
pub(crate) mod placement;
pub(crate) mod queue;
pub(crate) mod usage;
pub(crate) mod validation;
pub(crate) mod value;
pub(crate) mod yaml;
