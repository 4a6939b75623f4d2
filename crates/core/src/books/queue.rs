//! One queue: its settings, its use, and its place in the tree.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::config::legal::RECOVERY_QUEUE;
use crate::config::{
    AccessList, ApplicationLimitsConfig, CapacityConfig, LabelCapacity, LifetimesConfig,
    NodeLabelsConfig, PreemptionPolicy, Properties, PropertyValues, QueuePreemptionConfig,
    TemplateConfig, UserLimitsConfig,
};
use crate::id::{ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Beyond, Quantity, ResourceType, Resources, Shortfall};
use crate::time::{Millis, Timestamp};

use super::priority::ShownPriorities;

/// What the queue file says of one queue, properties inherited and read.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct QueueSettings {
    /// Types named cannot be exceeded; none = unlimited. Never set on root.
    pub max: Option<Amounts>,
    /// What the queue can always get back; none = nothing.
    pub guaranteed: Option<Amounts>,
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
    /// The properties in force, as text: own ones over inherited ones.
    pub properties: Properties,
    /// What the properties mean.
    pub values: PropertyValues,
    /// Who may submit here and below.
    pub submit_acl: AccessList,
    /// Who may administer, and so submit, here and below.
    pub admin_acl: AccessList,
    /// What a leaf made below by a placement rule starts with; an own one, or the parent's.
    pub template: Option<Arc<TemplateConfig>>,
    /// How users share the leaves here and below: own ones over inherited ones. None: they have no
    /// limits but those of `limits`.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub user_limits: Option<Arc<UserLimitsConfig>>,
    /// How many applications there may be here and below, and what the drivers of a leaf may have.
    /// The numbers are own ones; the limits of users and drivers are inherited.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub application_limits: Option<Arc<ApplicationLimitsConfig>>,
    /// What part of its parent it is guaranteed and may use; none: what `guaranteed` and `max` say.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub capacity: Option<CapacityConfig>,
    /// The same of the nodes of labels, in the order of labels.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub label_capacities: Vec<LabelCapacity>,
    /// Who may be stopped for whom here and below: own ones over inherited ones.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub preemption: QueuePreemptionConfig,
    /// Whether the queue file says that it is stopped, or a queue above it.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub stopped: bool,
    /// How long applications here and below may live, where the queue file has the queue.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub lifetimes: LifetimesConfig,
    /// To which labels of nodes it has access: own keys over inherited ones. None: to all.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub node_labels: Option<Arc<NodeLabelsConfig>>,
    /// Which tenant it belongs to; none for queues that the file or a rule made.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub tenant: Option<TenantQueue>,
}

/// The settings of a queue that belongs to a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantQueue {
    /// Whose it is.
    pub tenant: Name,
    /// Whether the tenant is suspended: nothing starts here and below.
    pub suspended: bool,
}

impl QueueSettings {
    /// What part of its parent's nodes of a label it has; with no label that of the others.
    pub(crate) fn capacity_at(&self, label: Option<&str>) -> Option<CapacityConfig> {
        match label {
            None => self.capacity,
            Some(label) => LabelCapacity::at(label, &self.label_capacities, self.capacity),
        }
    }
}

/// Absent settings are not shown, so a digest of events without them never changes.
impl fmt::Debug for QueueSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            max,
            guaranteed,
            max_applications,
            properties,
            values,
            submit_acl,
            admin_acl,
            template,
            user_limits,
            application_limits,
            capacity,
            label_capacities,
            preemption,
            stopped,
            lifetimes,
            node_labels,
            tenant,
        } = self;
        let mut shown = out.debug_struct("QueueSettings");
        shown
            .field("max", max)
            .field("guaranteed", guaranteed)
            .field("max_applications", max_applications)
            .field("properties", properties)
            .field("values", values)
            .field("submit_acl", submit_acl)
            .field("admin_acl", admin_acl)
            .field("template", template);
        if let Some(user_limits) = user_limits {
            shown.field("user_limits", user_limits);
        }
        if let Some(application_limits) = application_limits {
            shown.field("application_limits", application_limits);
        }
        if let Some(capacity) = capacity {
            shown.field("capacity", capacity);
        }
        if !label_capacities.is_empty() {
            shown.field("label_capacities", label_capacities);
        }
        if !preemption.says_nothing() {
            shown.field("preemption", preemption);
        }
        if *stopped {
            shown.field("stopped", stopped);
        }
        if !lifetimes.says_nothing() {
            shown.field("lifetimes", lifetimes);
        }
        if let Some(node_labels) = node_labels {
            shown.field("node_labels", node_labels);
        }
        if let Some(tenant) = tenant {
            shown.field("tenant", tenant);
        }
        shown.finish()
    }
}

/// Whether a queue takes in applications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueState {
    /// It does.
    #[default]
    Active,
    /// It does not, nor queues below; what is there goes on. When the last application has ended,
    /// a queue that the queue file stops is Stopped, and one that it does not name goes.
    Draining,
    /// It does not, and nothing below it is offered room.
    Stopped,
}

impl fmt::Display for QueueState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// One queue.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Queue {
    /// Its partition.
    pub partition: PartitionId,
    /// Lower case, unique among its siblings; `root` for the root.
    pub name: Name,
    /// Lower case, from `root` on.
    pub path: Name,
    /// None for the root.
    pub parent: Option<QueueId>,
    /// Queues above it; 0 for the root.
    pub depth: u32,
    /// Whether it holds applications, and not queues.
    pub leaf: bool,
    /// Whether it comes from the queue file; others were made by a placement rule and go
    /// when they are empty.
    pub managed: bool,
    /// Whether it takes in applications.
    pub state: QueueState,
    /// Settings in force.
    pub settings: Arc<QueueSettings>,
    /// What cannot be exceeded: as configured, or as its part of what its parent may use comes to;
    /// for the root the sum of its nodes. None is unlimited, for the root nothing.
    pub max: Option<Resources>,
    /// What is left of `max`, in its types only; may be negative. Stored next to `allocated` so
    /// that a check is one comparison.
    pub left: Option<Resources>,
    /// What the queue can always get back: as configured, or as its part comes to.
    pub guaranteed: Option<Resources>,
    /// How many applications it takes in by its part, where the file has no number for it: a leaf
    /// with `capacity`, or any where the file has a number for all.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub derived_applications: Option<u64>,
    /// Allocated here and below; no type with amount zero.
    pub allocated: Resources,
    /// Asked for here and below and not allocated; no type with amount zero. A sum beyond 64 bits shows as
    /// [`Quantity::MAX`].
    pub pending: Resources,
    /// What of the pending sums is beyond that, so that nobody's asks make those of others too large to count.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) pending_beyond: Beyond,
    /// Of what is allocated, what the RM was asked to stop for the sake of others; no type with
    /// amount zero.
    pub preempting: Resources,
    /// Applications in state Running here and below.
    pub running: u64,
    /// Applications here and below that have got something before they run: their gang is on the
    /// way, or was, and they count as if they ran.
    pub allocating: u64,
    /// Applications here and below that have not ended.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub applications: u64,
    /// How many of them were activated.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub activated: u64,
    /// How many applications of this leaf have not started.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub waiting: u64,
    /// When room is taken back because it uses more than its maximum, if it does.
    pub quota_preemption_at: Option<Timestamp>,
    /// The priorities that applications, or queues below, show here.
    pub(super) priorities: ShownPriorities,
    /// How many queues are right below it.
    pub child_count: u32,
    /// When it is cleaned away, if it is empty and nothing keeps it.
    pub(super) removable_at: Option<Timestamp>,
    /// The first queue below, in order of creation.
    pub(super) first_child: Option<QueueId>,
    pub(super) last_child: Option<QueueId>,
    pub(super) next_sibling: Option<QueueId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_sibling: Option<QueueId>,
    /// The first application, in order of submission.
    pub(super) first_application: Option<ApplicationId>,
    pub(super) last_application: Option<ApplicationId>,
    /// Since when it is to be Stopped: it drains, and its last application has ended.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(super) stops_at: Option<Timestamp>,
}

impl Queue {
    /// The first type in which a request exceeds what is left here; none if it fits.
    #[inline]
    pub fn shortfall(&self, request: &Resources) -> Option<Shortfall> {
        let left = self.left.as_ref()?;
        if left.allows(request) { None } else { left.shortfall_of_limit(request) }
    }

    /// What it uses, less what the RM is stopping already.
    pub fn used_after_preemption(&self) -> Resources {
        self.allocated.minus_existing(&self.preempting)
    }

    /// Whether nothing of it is stopped for other queues.
    pub fn is_preemption_disabled(&self) -> bool {
        let policy = self.settings.values.preemption_policy;
        policy == PreemptionPolicy::Disabled || self.settings.preemption.is_disabled()
    }

    /// Whether it belongs to a tenant that is suspended.
    pub fn is_suspended(&self) -> bool {
        self.settings.tenant.as_ref().is_some_and(|tenant| tenant.suspended)
    }

    /// Whether it, and what is below it, is offered room: it is not stopped, nor is its tenant
    /// suspended.
    pub fn accepts_allocations(&self) -> bool {
        self.state != QueueState::Stopped && !self.is_suspended()
    }

    /// Whether it holds no application that has not ended.
    pub const fn has_no_application(&self) -> bool {
        self.first_application.is_none()
    }

    /// Whether nothing keeps it but what is below it: it holds no application, and was made by
    /// a rule or drains.
    pub fn is_passing(&self) -> bool {
        self.parent.is_some()
            && self.has_no_application()
            && (!self.managed || (self.state == QueueState::Draining && !self.settings.stopped))
    }

    /// Whether the queue file stops it and its last application has ended, so that nothing is left
    /// to wait for.
    pub fn has_drained(&self) -> bool {
        self.managed
            && self.settings.stopped
            && self.state == QueueState::Draining
            && self.applications == 0
    }

    /// Whether it is where what must not be lost goes.
    pub(crate) fn is_recovery(&self) -> bool {
        self.depth == 1 && self.name == RECOVERY_QUEUE
    }

    /// Whether nothing keeps it at all.
    pub fn is_removable(&self) -> bool {
        self.is_passing() && self.child_count == 0
    }

    /// Since when it is to be Stopped: the queue file stops it, and its last application has ended.
    pub const fn stops_at(&self) -> Option<Timestamp> {
        self.stops_at
    }

    /// Whether one more application may enter Running here.
    pub fn allows_application(&self) -> bool {
        let max = self.settings.max_applications;
        max == 0 || self.running + self.allocating < max
    }

    /// Start the clock of quota preemption if what was just charged exceeds the maximum, as only
    /// the RM can have it.
    pub(super) fn watch_quota(&mut self, now: Timestamp, charged: &Resources) {
        let delay = self.settings.values.quota_preemption_delay;
        let exceeds = |left: &Resources| {
            charged.iter().any(|(resource, _)| left.get_or_zero(resource) < Quantity::ZERO)
        };
        // What an RM reports is not what a tenant says becomes of a lowered quota. Tenants §5, TS-14.
        if self.managed
            && self.settings.tenant.is_none()
            && self.quota_preemption_at.is_none()
            && delay > Millis::ZERO
            && self.left.as_ref().is_some_and(exceeds)
        {
            self.quota_preemption_at = Some(now + delay);
        }
    }

    /// Whether the clock of quota preemption runs though the use is within the maximum again: the
    /// next queue file stops it, whatever it says.
    pub(crate) fn quota_clock_is_over(&self) -> bool {
        let within = |max: &Resources| max.is_at_least_existing(&self.allocated);
        self.quota_preemption_at.is_some() && self.max.as_ref().is_none_or(within)
    }

    pub(super) fn set_max(&mut self, max: Option<Resources>) {
        self.left = max.as_ref().map(|max| max.minus_existing(&self.allocated));
        self.max = max;
    }

    #[inline]
    pub(super) fn charge(&mut self, amount: &Resources) {
        self.allocated.add(amount);
        if let Some(left) = &mut self.left {
            left.subtract_existing(amount);
        }
    }

    #[inline]
    pub(super) fn refund(&mut self, amount: &Resources) {
        self.allocated.subtract(amount);
        self.allocated.prune();
        if let Some(left) = &mut self.left {
            left.add_existing(amount);
        }
    }

    #[inline]
    pub(super) fn pend(&mut self, amount: &Resources) {
        self.pending_beyond.add(&mut self.pending, amount);
    }

    #[inline]
    pub(super) fn unpend(&mut self, amount: &Resources) {
        self.pending_beyond.subtract(&mut self.pending, amount);
        self.pending.prune();
    }

    /// Whether some pending sum shows less than it is, or would after a restart.
    #[cfg(feature = "snapshot")]
    pub(crate) fn has_largest_pending(&self) -> bool {
        self.pending.iter().any(|(_, amount)| amount == Quantity::MAX)
    }

    /// Returns the exact pending sums of the types that show [`Quantity::MAX`].
    pub(crate) fn largest_pending(&self) -> alloc::collections::BTreeMap<ResourceType, i128> {
        self.pending_beyond.largest(&self.pending)
    }
}

#[cfg(feature = "testkit")]
impl super::Books {
    /// Count more of a queue as used than is, or less: books that are damaged, for those who look for damage.
    pub fn miscount(&mut self, queue: QueueId, resource: ResourceType, by: Quantity) {
        let allocated = &mut self.queues[queue].allocated;
        allocated.set(resource, allocated.get_or_zero(resource).plus(by));
    }
}
