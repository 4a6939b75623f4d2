//! Tenants: units of isolation with a quota, as the queue file and commands describe them. Source: tenants
//! §1, §9.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Millis;

/// The type in which each ask of a tenant counts once, so that a quota can bound how many run at once.
/// No node has it and no ask names it.
pub const INSTANCES: &str = "instances";

/// The leaf of a tenant that has others below it: its own tasks run there. No tenant is called so.
pub const OWN_LEAF: &str = "own";

/// What the queue file says of the tenants of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantsConfig {
    /// The path of the queue below which they have their queues, lower case.
    pub root: Name,
    /// Tenants without a quota, in the order of their names; what they use is counted all the same.
    pub exempt: Vec<Name>,
    /// What holds for tenants that do not say otherwise, until a command changes it.
    pub defaults: TenantDefaults,
    /// How long nothing starts after a restart, unless all nodes are known earlier.
    pub recovery_timeout: Millis,
    /// How often what is counted is compared with what runs.
    pub verify_interval: Millis,
    /// For how long answers to requests are stored for repeated requests.
    pub idempotency_ttl: Millis,
    /// For how many days the audit is stored.
    pub audit_retention_days: u32,
    /// Whether tasks of a tenant below its guarantee may have tasks of tenants above theirs stopped.
    #[cfg_attr(feature = "snapshot", serde(default = "yes"))]
    pub reclaim: bool,
}

/// What a snapshot means that says nothing.
#[cfg(feature = "snapshot")]
const fn yes() -> bool {
    true
}

impl TenantsConfig {
    /// Where they have their queues unless the file says otherwise.
    pub const ROOT: &str = "root.tenants";

    /// Whether a tenant has no quota, whatever its settings say.
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

/// What holds for tenants that do not say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantDefaults {
    /// What each may use at once; a type that is not named is unlimited, one with zero forbidden.
    pub quota: Amounts,
    /// How many tasks of each may wait; none is unlimited.
    pub max_waiting: Option<u64>,
    /// In which order tasks start.
    pub waiting: WaitingPolicy,
    /// What becomes of tasks that run when a quota is lowered below their use.
    pub on_lower: OnLower,
    /// What becomes of an ask that is larger than the quota.
    pub oversized: Oversized,
}

/// The settings of one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantSettings {
    /// What people call it.
    pub display_name: Name,
    /// What it stands for.
    pub kind: TenantKind,
    /// The tenant whose quota holds for it too.
    pub parent: Option<Name>,
    /// Whether nothing of it starts, nor of those below.
    pub suspended: bool,
    /// What it may use at once; none is as by default. A type that is not named is unlimited, one with
    /// zero forbidden.
    pub quota: Option<Amounts>,
    /// What it can always get back.
    pub guaranteed: Amounts,
    /// How many of its tasks may wait; none is as by default.
    pub max_waiting: Option<u64>,
    /// How many of its applications may run at once; 0 = unlimited.
    pub max_applications: u64,
    /// Whether the quotas of the tenants right below it may not sum up to more than its own.
    pub strict_sum: bool,
    /// In which order its tasks start; none is as by default.
    pub waiting: Option<WaitingPolicy>,
    /// What becomes of tasks that run when its quota is lowered below its use; none is as by default.
    pub on_lower: Option<OnLower>,
    /// What becomes of an ask that is larger than its quota; none is as by default.
    pub oversized: Option<Oversized>,
    /// What it is in the partition.
    pub mapping: TenantMapping,
    /// Free keys and values.
    pub labels: BTreeMap<Name, Name>,
}

/// What a tenant stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TenantKind {
    /// One who submits.
    User,
    /// What several work on.
    #[default]
    Project,
    /// Several projects or users.
    Department,
}

/// What a tenant is in its partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TenantMapping {
    /// A queue of its own.
    #[default]
    Queue,
    /// A limit of a user or group in a queue that others use too.
    Limit {
        /// Its path, lower case.
        queue: Name,
        /// Who is limited there.
        subject: TenantSubject,
    },
}

/// Who a tenant is in a queue that others use too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum TenantSubject {
    /// The user of this name.
    User(Name),
    /// The group of this name.
    Group(Name),
}

/// In which order the tasks of a tenant start, and who may overtake. Absent values mean the same as
/// in leaves whose properties do not set them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct WaitingPolicy {
    /// The order.
    pub strategy: WaitingStrategy,
    /// After how long a task counts as more urgent.
    pub aging_interval: Option<Millis>,
    /// By how much.
    pub aging_step: Option<u32>,
    /// By how much at most.
    pub aging_max: Option<u32>,
    /// How often the first may be overtaken.
    pub max_overtakes: Option<u32>,
    /// How long it may be overtaken.
    pub max_head_wait: Option<Millis>,
    /// How long a task may wait; the client that submits tasks withdraws those that waited longer.
    pub max_wait: Option<Millis>,
}

/// In which order the tasks of a tenant start. Source: tenants §8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum WaitingStrategy {
    /// The oldest first; nobody overtakes.
    #[default]
    Fifo,
    /// The oldest first; one that fits may overtake one that does not.
    FifoBackfill,
    /// The highest priority first, which rises with time.
    Priority,
    /// The one that has least time left first.
    Urgency,
}

impl WaitingStrategy {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::FifoBackfill => "fifo-backfill",
            Self::Priority => "priority",
            Self::Urgency => "urgency",
        }
    }
}

/// What becomes of tasks that run when the quota of their tenant is lowered below its use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum OnLower {
    /// They go on; nothing starts that asks for what is exceeded.
    #[default]
    Block,
    /// After a while, room is asked back.
    Preempt {
        /// How long they go on.
        grace: Millis,
    },
    /// The quota is not lowered.
    Refuse,
}

impl OnLower {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Preempt { .. } => "preempt",
            Self::Refuse => "refuse",
        }
    }
}

/// What becomes of an ask that is larger than the quota of its tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum Oversized {
    /// It is refused.
    #[default]
    Reject,
    /// It waits until the quota is raised.
    Park,
}

impl Oversized {
    /// The word for it in a queue file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Park => "park",
        }
    }
}
