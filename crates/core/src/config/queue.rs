//! A queue of the queue file, with its descendants.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;
use crate::resource::Amounts;

use super::{
    ApplicationLimitsConfig, CapacityConfig, LabelCapacity, LifetimesConfig, LimitConfig,
    NodeLabelsConfig, Properties, QueuePreemptionConfig, QueueStart, UserLimitsConfig,
};

/// One configured queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueConfig {
    /// Name in lower case, with 1 to 64 valid characters.
    pub name: Name,
    /// Whether it is a parent even without children.
    pub parent: bool,
    /// Children in the order of the file, with distinct names.
    pub children: Vec<QueueConfig>,
    /// Maximum. Types that it names cannot be exceeded. Without a positive amount, there is no maximum.
    pub max: Amounts,
    /// Guarantee.
    pub guaranteed: Amounts,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Own properties as configured.
    pub properties: Properties,
    /// Access list of administrators, as configured.
    pub admin_acl: String,
    /// Access list of submitters, as configured.
    pub submit_acl: String,
    /// Settings of dynamic leaves in its subtree.
    pub template: Option<TemplateConfig>,
    /// Limits of users and groups in the queue and its descendants, in the order of the file.
    pub limits: Vec<LimitConfig>,
    /// Configured user limits of the leaves in its subtree. `None` is inherited.
    pub user_limits: Option<UserLimitsConfig>,
    /// Configured limits on applications and drivers of the queue and its descendants.
    pub application_limits: Option<ApplicationLimitsConfig>,
    /// Fraction of the parent that it is guaranteed and can use. `None` if `guaranteed` and `max` apply.
    pub capacity: Option<CapacityConfig>,
    /// Fractions on nodes with labels, in the order of labels and without duplicates. Only with `capacity`.
    pub label_capacities: Vec<LabelCapacity>,
    /// Configured preemption settings of the queue and its descendants.
    pub preemption: QueuePreemptionConfig,
    /// Configured state. `None` for that of its parent.
    pub start: Option<QueueStart>,
    /// Configured lifetimes of applications in the queue and its descendants.
    pub lifetimes: LifetimesConfig,
    /// Configured node labels of the queue and its descendants.
    pub node_labels: Option<NodeLabelsConfig>,
}

impl QueueConfig {
    /// Returns whether the queue is a parent, which has child queues and no applications.
    pub fn is_parent(&self) -> bool {
        self.parent || !self.children.is_empty()
    }
}

/// Initial settings of a dynamic leaf.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TemplateConfig {
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Properties of the leaf.
    pub properties: Properties,
    /// Maximum of the leaf.
    pub max: Amounts,
    /// Guarantee of the leaf.
    pub guaranteed: Amounts,
    /// User limits of the leaf, which override inherited ones.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub user_limits: Option<UserLimitsConfig>,
    /// Limits on applications and drivers of the leaf.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub application_limits: Option<ApplicationLimitsConfig>,
    /// Fraction of the parent by weight that the leaf is guaranteed and can use.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub capacity: Option<CapacityConfig>,
}

/// Omits absent settings, so that digests of events without them never change.
impl fmt::Debug for TemplateConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            max_applications,
            properties,
            max,
            guaranteed,
            user_limits,
            application_limits,
            capacity,
        } = self;
        let mut shown = out.debug_struct("TemplateConfig");
        shown
            .field("max_applications", max_applications)
            .field("properties", properties)
            .field("max", max)
            .field("guaranteed", guaranteed);
        if let Some(user_limits) = user_limits {
            shown.field("user_limits", user_limits);
        }
        if let Some(application_limits) = application_limits {
            shown.field("application_limits", application_limits);
        }
        if let Some(capacity) = capacity {
            shown.field("capacity", capacity);
        }
        shown.finish()
    }
}
