//! A partition of the queue file.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;
use crate::time::Millis;
use crate::userlimit::Decimal;

use super::{
    ApplicationLimitsConfig, QueueConfig, QueuePreemptionConfig, RuleConfig, TenantsConfig,
    UserLimitsConfig,
};

/// One partition: its queue tree and its policies.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionConfig {
    /// Name as configured. Any spelling of "default", and an empty name, becomes `default`.
    pub name: Name,
    /// Queue `root`, which is always a parent.
    pub root: QueueConfig,
    /// Placement rules in the order of the file. Empty means one implicit rule `provided`.
    pub placement_rules: Vec<RuleConfig>,
    /// Order in which nodes are tried.
    pub node_sort: NodeSortConfig,
    /// Enabled kinds of preemption.
    pub preemption: PreemptionConfig,
    /// Limits that apply to a user whom a limit names.
    pub limit_precedence: LimitPrecedence,
    /// Configured `usergroupresolver.type`.
    pub user_group_resolver: String,
    /// User limits for leaves, unless a queue sets its own. The root inherits them.
    pub user_limits: Option<UserLimitsConfig>,
    /// Limits on applications and drivers. The root inherits them.
    pub application_limits: Option<ApplicationLimitsConfig>,
    /// Tenant configuration. `None` if tenants are not enabled.
    pub tenants: Option<TenantsConfig>,
    /// Placement of the placeholders of gangs.
    pub gang_placement: GangPlacement,
    /// Waiting time of an ask after which queues hold capacity for it. Zero disables holds.
    pub starvation_after: Millis,
    /// Largest fraction of the nodes that is reserved. `None`: reservations are not limited, as in YuniKorn.
    pub reservation_share: Option<Decimal>,
}

/// Default waiting time of an ask after which queues hold capacity for it, in a partition with tenants. Source:
/// no-starvation, table of keys.
pub const STARVATION_AFTER: Millis = Millis::from_secs(5 * 60);

/// Default of the largest fraction of reserved nodes, in a partition with tenants. Source: no-starvation NS-12.
pub const RESERVATION_SHARE: Decimal = Decimal::TENTH;

impl PartitionConfig {
    /// Creates a partition with this name and queue tree, and defaults for everything else.
    pub fn new(name: impl Into<Name>, root: QueueConfig) -> Self {
        Self {
            name: name.into(),
            root,
            placement_rules: Vec::new(),
            node_sort: NodeSortConfig::default(),
            preemption: PreemptionConfig::default(),
            limit_precedence: LimitPrecedence::default(),
            user_group_resolver: String::new(),
            user_limits: None,
            application_limits: None,
            tenants: None,
            gang_placement: GangPlacement::default(),
            starvation_after: Millis::ZERO,
            reservation_share: None,
        }
    }
}

/// Limits that apply to a user whom a limit names. Source: decision L-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitPrecedence {
    /// Limits of the user and of the group. The tighter one decides.
    #[default]
    Both,
    /// Limits of the user. Group limits at that queue and its descendants count the usage, but do not limit the user.
    User,
}

impl LimitPrecedence {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::User => "user",
        }
    }
}

/// Placement of the placeholders of gangs. Source: no-starvation NS-30.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GangPlacement {
    /// One by one, as capacity becomes free. Two gangs can wait for each other until one times out.
    #[default]
    Members,
    /// All in one step, or none. At most one gang of a partition reserves free capacity step by step.
    Whole,
}

impl GangPlacement {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Members => "members",
            Self::Whole => "whole",
        }
    }
}

/// Order in which nodes are tried.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeSortConfig {
    /// Policy of the order.
    pub order: NodeOrder,
    /// Weight of each named type in the score of a node, not negative. Empty means `vcore` and `memory` with weight 1.
    /// Otherwise, a type that is not named does not count, as in YuniKorn (whose guide wrongly documents a default of
    /// 1).
    pub weights: Vec<(Name, f64)>,
}

/// Policy for the order of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeOrder {
    /// Nodes with the lowest usage first.
    #[default]
    Fair,
    /// Nodes with the highest usage first.
    BinPacking,
}

impl NodeOrder {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::BinPacking => "binpacking",
        }
    }
}

/// Enabled kinds of preemption.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::struct_excessive_bools, reason = "switches of the file, each by its name")]
pub struct PreemptionConfig {
    /// Whether asks preempt usage beyond the guarantees of other queues.
    pub enabled: bool,
    /// Whether usage beyond a lowered maximum is preempted.
    pub quota_enabled: bool,
    /// Whether no queue falls below its guarantee in a type that the ask needs, and no superfluous victim is stopped.
    /// Source: decision D-3.
    pub strict_guarantee: bool,
    /// Whether queues preempt up to their ideal assignment if that exceeds their guarantee, unless a queue sets its own
    /// value. Source: decision L-12.
    pub balance: bool,
    /// Whether users of a leaf below their fair share preempt users above theirs, unless the queue sets its own value.
    /// Source: user-headroom §6.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub intra_queue_enabled: bool,
    /// Whether preemption is only reported, and nothing is stopped. Source: user-headroom §10, C24.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub observe_only: bool,
}

impl PreemptionConfig {
    /// Returns the part that the root inherits.
    pub fn of_root(&self) -> QueuePreemptionConfig {
        let balance = self.balance.then_some(true);
        QueuePreemptionConfig { balance, ..QueuePreemptionConfig::default() }
    }
}

/// Omits default values, so that digests of events without them never change.
impl fmt::Debug for PreemptionConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            enabled,
            quota_enabled,
            strict_guarantee,
            balance,
            intra_queue_enabled,
            observe_only,
        } = self;
        let mut shown = out.debug_struct("PreemptionConfig");
        shown
            .field("enabled", enabled)
            .field("quota_enabled", quota_enabled)
            .field("strict_guarantee", strict_guarantee)
            .field("balance", balance);
        for (name, is) in
            [("intra_queue_enabled", intra_queue_enabled), ("observe_only", observe_only)]
        {
            if *is {
                shown.field(name, is);
            }
        }
        shown.finish()
    }
}

impl Default for PreemptionConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            quota_enabled: false,
            strict_guarantee: true,
            balance: false,
            intra_queue_enabled: false,
            observe_only: false,
        }
    }
}
