//! One partition: a cluster with its own queue tree, nodes, and trackers.

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
use crate::userlimit::Decimal;

use super::away::Away;
use super::link::TrackerLink;
use super::question::{OpenQuestions, Questions};
use super::recovery::Recovery;
use super::rejected::Rejected;
use super::spent_keys::SpentKeys;
use super::tasks::Tasks;
use super::tenant::Tenants;
use super::tracker::Trackers;

/// Policies of a partition.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct PartitionSettings {
    /// Order in which nodes are tried.
    pub node_sort: NodeSortConfig,
    /// Enabled kinds of preemption.
    pub preemption: PreemptionConfig,
    /// Limits that apply to a user whom a limit names.
    pub limit_precedence: LimitPrecedence,
    /// Rules that select the queue of an application. Empty: applications use the requested queue.
    pub placement_rules: Arc<[RuleConfig]>,
    /// Resolver of the groups of users, as configured.
    pub user_group_resolver: Name,
    /// Tenant configuration. `None` if tenants are not enabled.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub tenants: Option<Arc<TenantsConfig>>,
    /// Placement of the placeholders of gangs.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub gang_placement: GangPlacement,
    /// Waiting time of an ask after which queues hold capacity for it. Zero disables holds.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub starvation_after: Millis,
    /// Largest fraction of the nodes that is reserved. `None`: reservations are not limited.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub reservation_share: Option<Decimal>,
}

/// Omits absent settings, so that digests of events without them never change.
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
            reservation_share,
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
        if let Some(share) = reservation_share {
            shown.field("reservation_share", share);
        }
        shown.finish()
    }
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Partition {
    /// Name as configured.
    pub name: Name,
    /// Time of its creation.
    pub since: Timestamp,
    /// Policies.
    pub settings: PartitionSettings,
    /// Placement rules, compiled from the settings.
    #[cfg_attr(feature = "snapshot", serde(skip, default = "nothing_written"))]
    pub rules: Arc<Rules>,
    /// Questions that its RM answers. `None` if it answers none.
    pub questions: Option<Questions>,
    /// Questions that its RM has not answered yet.
    pub open_questions: OpenQuestions,
    /// Queue `root`, whose maximum is the sum of the nodes.
    pub root: QueueId,
    /// Usage and limits of users and groups.
    pub trackers: Trackers,
    /// Queues by path.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub queues: OrderedMap<Name, QueueId>,
    /// Number of queues that placement rules created.
    pub queues_made: u32,
    /// Number of queues with a fraction of their parent. Derived from their settings.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) capacities: u32,
    /// Nodes by node id.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub nodes: OrderedMap<Name, NodeId>,
    /// Unfinished applications by application ID.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub applications: OrderedMap<Name, ApplicationId>,
    /// Stored ended applications by application ID and the number of their submission. Derived from the applications.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub ended: OrderedMap<(Name, u64), ApplicationId>,
    /// Rejected applications by a number in order of time, at most the newest [`Rejected::REMEMBERED`].
    pub rejected: OrderedMap<u64, Rejected>,
    /// Asks and allocations by allocation key.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    pub allocations: OrderedMap<Name, AllocationId>,
    /// Foreign allocations by key.
    pub foreign: OrderedMap<Name, Foreign>,
    /// Number of waiting asks.
    pub ask_count: u64,
    /// Number of allocations.
    pub allocation_count: u64,
    /// Number of members that are replacing placeholders.
    pub swap_count: u64,
    /// Number of allocations that are placeholders.
    pub placeholder_count: u64,
    /// Number of asks with a reserved node.
    pub reservation_count: u64,
    /// Tenants of the partition.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub tenants: Tenants,
    /// Recovery state, while nodes have not reported.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub recovery: Option<Recovery>,
    /// Disconnected resource manager. `None` while it is connected.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub away: Option<Away>,
    /// Tasks. Derived from the applications.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub tasks: Tasks,
    /// Idempotency keys of tasks that are no longer stored.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub spent_keys: SpentKeys,
}

#[cfg(feature = "snapshot")]
fn nothing_written() -> Arc<Rules> {
    Arc::new(Rules::in_force(Arc::default()))
}

/// A foreign allocation, which the core does not schedule.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Foreign {
    /// Node of the allocation. The node might be removed.
    pub node: NodeId,
    /// Amounts, without types of amount zero.
    pub resources: Resources,
    /// Whether it could be preempted. No rule preempts foreign allocations today.
    pub preemptable: bool,
}

impl Partition {
    /// Returns the stored ended application with this ID that was submitted last.
    pub fn ended_named(&self, name: &Name) -> Option<ApplicationId> {
        let from = (name.clone(), 0);
        let all = self.ended.iter_from(&from).take_while(|((of, _), _)| of == name);
        all.last().map(|(_, id)| *id)
    }

    /// Returns the parent of the queues of tenants. `None` if tenants are not enabled.
    pub fn tenants_root(&self) -> Option<QueueId> {
        let tenants = self.settings.tenants.as_ref()?;
        self.queues.get(&*tenants.root).copied()
    }

    /// Largest number of queues that placement rules can create in a partition, so that a client cannot exhaust memory
    /// with new queue names. The recovery queue can be one more.
    pub const QUEUES_MADE_MAX: u32 = 65_536;

    /// Returns the number of group levels from the leaf that do not apply to an application. If limits that name the
    /// user have precedence over group limits, these are the levels up to the highest queue with such a limit.
    #[inline]
    pub(crate) fn group_levels_skipped(&self, link: TrackerLink) -> usize {
        match self.settings.limit_precedence {
            LimitPrecedence::Both => 0,
            LimitPrecedence::User => self.trackers.named_up_to(link.user),
        }
    }
}
