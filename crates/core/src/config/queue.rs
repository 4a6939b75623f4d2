//! A queue of the queue file, with everything below it.

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
    /// Lower case; 1 to 64 legal characters.
    pub name: Name,
    /// A parent even without children.
    pub parent: bool,
    /// In file order; names differ.
    pub children: Vec<QueueConfig>,
    /// Types named cannot be exceeded; a maximum without any amount above zero is none at all.
    pub max: Amounts,
    /// What the queue can always get back.
    pub guaranteed: Amounts,
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
    /// Own properties as written.
    pub properties: Properties,
    /// Who may administer, as written.
    pub admin_acl: String,
    /// Who may submit, as written.
    pub submit_acl: String,
    /// Settings of dynamic leaves below.
    pub template: Option<TemplateConfig>,
    /// Limits of users and groups here and below, in file order.
    pub limits: Vec<LimitConfig>,
    /// How the users of the leaves here and below share them, as written; none is as above.
    pub user_limits: Option<UserLimitsConfig>,
    /// How many applications there may be here and below, and what drivers may have, as written.
    pub application_limits: Option<ApplicationLimitsConfig>,
    /// What part of its parent it is guaranteed and may use; none: what `guaranteed` and `max` say.
    pub capacity: Option<CapacityConfig>,
    /// The same for the nodes of labels, each once, in the order of labels; only with `capacity`.
    pub label_capacities: Vec<LabelCapacity>,
    /// Who may be stopped for whom here and below, as written.
    pub preemption: QueuePreemptionConfig,
    /// Whether it runs; none is as its parent.
    pub start: Option<QueueStart>,
    /// How long applications here and below may live, as written.
    pub lifetimes: LifetimesConfig,
    /// To which labels of nodes it and those below have access, as written.
    pub node_labels: Option<NodeLabelsConfig>,
}

impl QueueConfig {
    /// Whether the queue holds queues and not applications.
    pub fn is_parent(&self) -> bool {
        self.parent || !self.children.is_empty()
    }
}

/// What a dynamic leaf starts with.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TemplateConfig {
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
    /// Properties of the leaf.
    pub properties: Properties,
    /// Maximum of the leaf.
    pub max: Amounts,
    /// Guarantee of the leaf.
    pub guaranteed: Amounts,
    /// How its users share the leaf, over what is in force above it.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub user_limits: Option<UserLimitsConfig>,
    /// How many applications the leaf may have, and what their drivers may have.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub application_limits: Option<ApplicationLimitsConfig>,
    /// What part of its parent the leaf is guaranteed, by weight, and may use.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub capacity: Option<CapacityConfig>,
}

/// Absent settings are not shown, so a digest of events without them never changes.
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
