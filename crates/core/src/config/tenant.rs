//! Tenants: units of isolation with a quota, as in the queue file and in commands. Source: tenants §1, §9.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Millis;

/// Resource type in which each ask of a tenant counts once, so that a quota can limit the number of running tasks. No
/// node has it, and no ask can name it.
pub const INSTANCES: &str = "instances";

/// Name of the leaf for the own tasks of a tenant with children. No tenant can have this name.
pub const OWN_LEAF: &str = "own";

/// Tenant configuration of a partition in the queue file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantsConfig {
    /// Path of the parent of the queues of tenants, in lower case.
    pub root: Name,
    /// Tenants without a quota, in the order of their names. Their usage is still counted.
    pub exempt: Vec<Name>,
    /// Initial defaults for tenants, until a command changes them.
    pub defaults: TenantDefaults,
    /// Largest duration of recovery after a restart.
    pub recovery_timeout: Millis,
    /// Interval at which counters are compared with allocations.
    pub verify_interval: Millis,
    /// Time for which the answers to requests are stored for repetitions.
    pub idempotency_ttl: Millis,
    /// Number of days for which the audit log is stored.
    pub audit_retention_days: u32,
    /// Whether tasks of a tenant below its guarantee can preempt tasks of tenants above theirs.
    #[cfg_attr(feature = "snapshot", serde(default = "yes"))]
    pub reclaim: bool,
}

/// Default of `reclaim` for snapshots without the field.
#[cfg(feature = "snapshot")]
const fn yes() -> bool {
    true
}

impl TenantsConfig {
    /// Default parent of the queues of tenants.
    pub const ROOT: &str = "root.tenants";

    /// Returns whether a tenant has no quota, regardless of its settings.
    pub fn is_exempt(&self, tenant: &str) -> bool {
        self.exempt.iter().any(|name| *name == *tenant)
    }
}

impl Default for TenantsConfig {
    fn default() -> Self {
        Self {
            root: Name::new(Self::ROOT),
            exempt: Vec::new(),
            defaults: TenantDefaults::default(),
            recovery_timeout: Millis::from_secs(60),
            verify_interval: Millis::from_secs(60),
            idempotency_ttl: Millis::from_secs(86_400),
            audit_retention_days: 30,
            reclaim: true,
        }
    }
}

/// Defaults for tenants that do not set a value of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantDefaults {
    /// Quota of each tenant. A type that is not named is unlimited, and zero forbids a type.
    pub quota: Amounts,
    /// Limit on waiting tasks of each tenant. `None` is unlimited.
    pub max_waiting: Option<u64>,
    /// Order in which tasks start.
    pub waiting: WaitingPolicy,
    /// Behavior for running tasks after a quota was lowered below the usage.
    pub on_lower: OnLower,
    /// Behavior for an ask that exceeds the quota.
    pub oversized: Oversized,
}

/// Settings of one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantSettings {
    /// Display name.
    pub display_name: Name,
    /// Kind of the tenant.
    pub kind: TenantKind,
    /// Parent, whose quota also applies.
    pub parent: Option<Name>,
    /// Whether nothing starts in the tenant and its descendants.
    pub suspended: bool,
    /// Quota. `None` for the default. A type that is not named is unlimited, and zero forbids a type.
    pub quota: Option<Amounts>,
    /// Guarantee.
    pub guaranteed: Amounts,
    /// Limit on waiting tasks. `None` for the default.
    pub max_waiting: Option<u64>,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Whether the sum of the quotas of its children is limited by its own quota.
    pub strict_sum: bool,
    /// Order in which its tasks start. `None` for the default.
    pub waiting: Option<WaitingPolicy>,
    /// Behavior for running tasks after its quota was lowered below its usage. `None` for the default.
    pub on_lower: Option<OnLower>,
    /// Behavior for an ask that exceeds its quota. `None` for the default.
    pub oversized: Option<Oversized>,
    /// Representation in the partition.
    pub mapping: TenantMapping,
    /// Labels: arbitrary keys and values.
    pub labels: BTreeMap<Name, Name>,
}

/// Kind of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TenantKind {
    /// A user.
    User,
    /// A project.
    #[default]
    Project,
    /// A department with several projects or users.
    Department,
}

/// Representation of a tenant in its partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TenantMapping {
    /// A queue of its own.
    #[default]
    Queue,
    /// A limit of a user or group in a queue that others use too.
    Limit {
        /// Path of the queue in lower case.
        queue: Name,
        /// User or group of the limit.
        subject: TenantSubject,
    },
}

/// User or group that a tenant is in a shared queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TenantSubject {
    /// The user with this name.
    User(Name),
    /// The group with this name.
    Group(Name),
}

/// Order in which the tasks of a tenant start, and limits on overtaking. Absent values have the same defaults as queue
/// properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct WaitingPolicy {
    /// Order of the tasks.
    pub strategy: WaitingStrategy,
    /// Waiting time after which a task gains priority.
    pub aging_interval: Option<Millis>,
    /// Gained priority for each interval.
    pub aging_step: Option<u32>,
    /// Largest gained priority.
    pub aging_max: Option<u32>,
    /// Largest number of times that the head of line is overtaken.
    pub max_overtakes: Option<u32>,
    /// Waiting time after which the head of line is no longer overtaken.
    pub max_head_wait: Option<Millis>,
    /// Largest waiting time of a task. The client that submits tasks withdraws those that waited longer.
    pub max_wait: Option<Millis>,
}

/// Order in which the tasks of a tenant start. Source: tenants §8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum WaitingStrategy {
    /// Oldest first, without overtaking.
    #[default]
    Fifo,
    /// Oldest first. A task that fits can overtake one that does not.
    FifoBackfill,
    /// Highest priority first, which increases with time.
    Priority,
    /// Least remaining time first.
    Urgency,
}

impl WaitingStrategy {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::FifoBackfill => "fifo-backfill",
            Self::Priority => "priority",
            Self::Urgency => "urgency",
        }
    }
}

/// Behavior for running tasks after the quota of their tenant was lowered below its usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum OnLower {
    /// Running tasks continue. Nothing starts that requests an exceeded type.
    #[default]
    Block,
    /// Tasks are evicted after a grace period.
    Preempt {
        /// Grace period.
        grace: Millis,
    },
    /// The quota is not lowered.
    Refuse,
}

impl OnLower {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Preempt { .. } => "preempt",
            Self::Refuse => "refuse",
        }
    }
}

/// Behavior for an ask that exceeds the quota of its tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum Oversized {
    /// The ask is refused.
    #[default]
    Reject,
    /// The ask waits until the quota is raised.
    Park,
}

impl Oversized {
    /// Returns the word in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Park => "park",
        }
    }
}
