//! Typed, checked configuration: the content of a valid queue file.
//!
//! `headroom-config` creates these types from text. The core relies on the rules of the file (names, quantities,
//! hierarchy) and never parses its text.

mod access;
mod application_limits;
mod capacity;
pub mod expression;
pub mod legal;
mod life;
mod limit;
mod node_labels;
mod partition;
mod placement;
mod properties;
pub mod property;
mod queue;
mod queue_preemption;
pub mod tenant;
mod user_limits;

pub use access::{AccessList, AccessListError};
pub use application_limits::{
    ApplicationLimitsConfig, at_root as application_limits_at_root,
    inherited as inherited_application_limits,
};
pub use capacity::{CapacityConfig, CapacityShare, LabelCapacity};
pub use life::{LifetimesConfig, QueueStart};
pub use limit::LimitConfig;
pub use node_labels::NodeLabelsConfig;
pub use partition::{
    GangPlacement, LimitPrecedence, NodeOrder, NodeSortConfig, PartitionConfig, PreemptionConfig,
    RESERVATION_SHARE, STARVATION_AFTER,
};
pub use placement::{FilterConfig, RuleConfig};
pub use property::{
    ApplicationOrder, OvertakingLimits, PreemptionPolicy, PriorityPolicy, Properties,
    PropertyValues,
};
pub use queue::{QueueConfig, TemplateConfig};
pub use queue_preemption::{QueuePreemptionConfig, WithinQueue};
pub use tenant::{TenantDefaults, TenantSettings, TenantsConfig};
pub use user_limits::{UserFactor, UserLimitsConfig, inherited as inherited_user_limits};

use alloc::vec::Vec;

use crate::name::Name;

/// Content of one queue file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// Partitions in the order of the file. Their names differ when case is ignored.
    pub partitions: Vec<PartitionConfig>,
    /// Checksum of the text of the file. Empty if there was none. Files with equal checksums have equal content.
    pub checksum: Name,
}
