//! One partition: a cluster with its own queue tree, nodes and trackers.

use alloc::sync::Arc;
use core::fmt;

use crate::config::{
    GangPlacement, LimitPrecedence, NodeSortConfig, PreemptionConfig, RuleConfig, TenantsConfig,
};
use crate::id::{AllocationId, ApplicationId, NodeId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::placement::Rules;
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::away::Away;
use super::link::TrackerLink;
use super::question::{OpenQuestions, Questions};
use super::recovery::Recovery;
use super::rejected::Rejected;
use super::spent_keys::SpentKeys;
use super::tasks::Tasks;
use super::tenant::Tenants;
use super::tracker::Trackers;

/// The policies of a partition.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct PartitionSettings {
    /// In which order nodes are tried.
    pub node_sort: NodeSortConfig,
    /// Which kinds of preemption are on.
    pub preemption: PreemptionConfig,
    /// Which limits hold back a user whom a limit names.
    pub limit_precedence: LimitPrecedence,
    /// How applications find their queue; empty means by the queue that they ask for.
    pub placement_rules: Arc<[RuleConfig]>,
    /// How users find their groups, as written.
    pub user_group_resolver: Name,
    /// What the queue file says of its tenants; none where it has none.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub tenants: Option<Arc<TenantsConfig>>,
    /// How the placeholders of gangs are placed.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub gang_placement: GangPlacement,
    /// How long an ask waits until queues hold room for it; zero for ever.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub starvation_after: Millis,
}

/// Absent settings are not shown, so a digest of events without them never changes.
impl fmt::Debug for PartitionSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            node_sort,
            preemption,
            limit_precedence,
            placement_rules,
            user_group_resolver,
            tenants,
            gang_placement,
            starvation_after,
        } = self;
        let mut shown = out.debug_struct("PartitionSettings");
        shown
            .field("node_sort", node_sort)
            .field("preemption", preemption)
            .field("limit_precedence", limit_precedence)
            .field("placement_rules", placement_rules)
            .field("user_group_resolver", user_group_resolver);
        if let Some(tenants) = tenants {
            shown.field("tenants", tenants);
        }
        if *gang_placement != GangPlacement::Members {
            shown.field("gang_placement", gang_placement);
        }
        if *starvation_after != Millis::ZERO {
            shown.field("starvation_after", starvation_after);
        }
        shown.finish()
    }
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Partition {
    /// Its name as configured.
    pub name: Name,
    /// Since when it exists.
    pub since: Timestamp,
    /// Its policies.
    pub settings: PartitionSettings,
    /// Its placement rules, built once from the settings.
    #[cfg_attr(feature = "snapshot", serde(skip, default = "nothing_written"))]
    pub rules: Arc<Rules>,
    /// What its RM answers; none if nothing.
    pub questions: Option<Questions>,
    /// What it has not answered yet.
    pub open_questions: OpenQuestions,
    /// The queue `root`; its maximum is the sum of the nodes.
    pub root: QueueId,
    /// Usage and limits of users and groups.
    pub trackers: Trackers,
    /// Queues by path.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub queues: OrderedMap<Name, QueueId>,
    /// How many of them placement rules made.
    pub queues_made: u32,
    /// How many queues have a part of their parent; follows from their settings.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) capacities: u32,
    /// Nodes by node id.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub nodes: OrderedMap<Name, NodeId>,
    /// Applications that have not ended, by application id.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub applications: OrderedMap<Name, ApplicationId>,
    /// Applications that have ended and are remembered, by application id and the number of their submission; follows
    /// from the applications.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub ended: OrderedMap<(Name, u64), ApplicationId>,
    /// Applications that were refused, by a number in order of time; the newest
    /// [`Rejected::REMEMBERED`] at most.
    pub rejected: OrderedMap<u64, Rejected>,
    /// Asks and allocations by key.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub allocations: OrderedMap<Name, AllocationId>,
    /// What runs on nodes and the core does not schedule, by key.
    pub foreign: OrderedMap<Name, Foreign>,
    /// Asks that wait.
    pub ask_count: u64,
    /// Allocations in force.
    pub allocation_count: u64,
    /// How many members are about to take the place of placeholders.
    pub swap_count: u64,
    /// How many allocations are placeholders.
    pub placeholder_count: u64,
    /// How many asks have a reserved node.
    pub reservation_count: u64,
    /// Its tenants.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub tenants: Tenants,
    /// That nothing starts before its nodes have reported, while that is so.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub recovery: Option<Recovery>,
    /// That its resource manager is away, while that is so.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub away: Option<Away>,
    /// Its tasks; follows from the applications.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub tasks: Tasks,
    /// Idempotency keys of tasks that are no longer remembered.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub spent_keys: SpentKeys,
}

#[cfg(feature = "snapshot")]
fn nothing_written() -> Arc<Rules> {
    Arc::new(Rules::in_force(Arc::default()))
}

/// Something that runs on a node and that the core does not schedule.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Foreign {
    /// Where it runs; the node may be gone.
    pub node: NodeId,
    /// How much it takes; no type with amount zero.
    pub resources: Resources,
    /// Whether it may be taken back; nothing does so today.
    pub preemptable: bool,
}

impl Partition {
    /// The application of this id that was submitted last of those that have ended and are remembered.
    pub fn ended_named(&self, name: &Name) -> Option<ApplicationId> {
        let from = (name.clone(), 0);
        let all = self.ended.iter_from(&from).take_while(|((of, _), _)| of == name);
        all.last().map(|(_, id)| *id)
    }

    /// The queue below which tenants have theirs, if the partition has tenants.
    pub fn tenants_root(&self) -> Option<QueueId> {
        let tenants = self.settings.tenants.as_ref()?;
        self.queues.get(&*tenants.root).copied()
    }

    /// How many queues made by placement rules there can be at once. So a client that submits to
    /// ever new ones cannot take all memory. The recovery queue may be one more.
    pub const QUEUES_MADE_MAX: u32 = 65_536;

    /// How many levels of the group do not hold an application back, counted from its leaf. Where
    /// limits that name the user go before those of the group, those at and below the highest queue
    /// that has one.
    #[inline]
    pub(crate) fn lifted(&self, link: TrackerLink) -> usize {
        match self.settings.limit_precedence {
            LimitPrecedence::Both => 0,
            LimitPrecedence::User => self.trackers.named_up_to(link.user),
        }
    }
}
