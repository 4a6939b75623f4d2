//! A partition of the queue file.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;
use crate::time::Millis;

use super::{
    ApplicationLimitsConfig, QueueConfig, QueuePreemptionConfig, RuleConfig, TenantsConfig,
    UserLimitsConfig,
};

/// One partition: its queue tree and its policies.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionConfig {
    /// As written; any spelling of "default", and an empty name, is `default`.
    pub name: Name,
    /// The queue called `root`; always a parent.
    pub root: QueueConfig,
    /// Placement rules in file order; empty means one implicit `provided` rule.
    pub placement_rules: Vec<RuleConfig>,
    /// In which order nodes are tried.
    pub node_sort: NodeSortConfig,
    /// Which kinds of preemption are on.
    pub preemption: PreemptionConfig,
    /// Which limits hold back a user whom a limit names.
    pub limit_precedence: LimitPrecedence,
    /// `usergroupresolver.type` as written.
    pub user_group_resolver: String,
    /// How the users of leaves share them unless a queue sets its own; the root inherits it.
    pub user_limits: Option<UserLimitsConfig>,
    /// How many applications there may be, and what drivers may have; the root inherits it.
    pub application_limits: Option<ApplicationLimitsConfig>,
    /// Its tenants; none where it has none.
    pub tenants: Option<TenantsConfig>,
    /// How the placeholders of gangs are placed.
    pub gang_placement: GangPlacement,
    /// How long an ask waits until queues hold room for it; zero for ever.
    pub starvation_after: Millis,
}

/// How long an ask of a partition with tenants waits until queues hold room for it, unless the queue file says
/// otherwise. Source: no-starvation, table of keys.
pub const STARVATION_AFTER: Millis = Millis::from_secs(5 * 60);

impl PartitionConfig {
    /// A partition of this name and queue tree, everything else as by default.
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
        }
    }
}

/// Which limits hold back a user whom a limit names. Source: decision L-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitPrecedence {
    /// The user's and the group's, whichever leaves less.
    #[default]
    Both,
    /// The user's; group limits of that queue and below count the use, and do not hold the user
    /// back.
    User,
}

impl LimitPrecedence {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::User => "user",
        }
    }
}

/// How the placeholders of gangs are placed. Source: no-starvation NS-30.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GangPlacement {
    /// One by one, as others make room. Two gangs may wait for each other until one times out.
    #[default]
    Members,
    /// All in one step, or none. At most one gang of a partition takes free capacity step by step.
    Whole,
}

impl GangPlacement {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Members => "members",
            Self::Whole => "whole",
        }
    }
}

/// In which order nodes are tried.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeSortConfig {
    /// The policy.
    pub order: NodeOrder,
    /// Weight of each named type in a node's score; not negative. Empty means
    /// `vcore` and `memory` with weight 1. Otherwise a type that is not named does not count
    /// (the reference's rule, whatever its guide says of a default of 1).
    pub weights: Vec<(Name, f64)>,
}

/// Which node comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeOrder {
    /// The emptiest first.
    #[default]
    Fair,
    /// The fullest first.
    BinPacking,
}

impl NodeOrder {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::BinPacking => "binpacking",
        }
    }
}

/// Which kinds of preemption are on.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::struct_excessive_bools, reason = "switches of the file, each by its name")]
pub struct PreemptionConfig {
    /// Take back what others use beyond their guarantee.
    pub enabled: bool,
    /// Take back what a queue uses beyond a lowered maximum.
    pub quota_enabled: bool,
    /// Never take a queue below its guarantee in a type that the ask needs, and let no victim
    /// go that turns out superfluous. Source: decision D-3.
    pub strict_guarantee: bool,
    /// Queues have others stopped up to their part of what is there, when that is more than their
    /// guarantee, unless they say otherwise. Source: decision L-12.
    pub balance: bool,
    /// Take from users above their share of a leaf for users of the same leaf below it, unless the
    /// queue says otherwise. Source: user-headroom §6.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub intra_queue_enabled: bool,
    /// Say who would be stopped for whom, and stop nobody. Source: user-headroom §10, C24.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub observe_only: bool,
}

impl PreemptionConfig {
    /// What the root inherits of it.
    pub fn of_root(&self) -> QueuePreemptionConfig {
        let balance = self.balance.then_some(true);
        QueuePreemptionConfig { balance, ..QueuePreemptionConfig::default() }
    }
}

/// What is as it always was is not shown: so a digest of events without it stays what it ever was.
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
