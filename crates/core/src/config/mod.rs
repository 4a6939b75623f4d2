//! The checked configuration as types: what a queue file says once it was found legal.
//!
//! `headroom-config` builds these from text; the core trusts the rules of the file
//! (names, quantities, hierarchy) to hold and never reads text itself.

mod limit;
mod partition;
mod placement;
mod property;
mod queue;

pub use limit::LimitConfig;
pub use partition::{
    LimitPrecedence, NodeOrder, NodeSortConfig, PartitionConfig, PreemptionConfig,
};
pub use placement::{FilterConfig, RuleConfig};
pub use property::{ApplicationOrder, Properties};
pub use queue::{QueueConfig, TemplateConfig};

use alloc::vec::Vec;

/// Everything one queue file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// In file order; names differ in lower case.
    pub partitions: Vec<PartitionConfig>,
}
