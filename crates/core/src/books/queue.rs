//! One queue: its settings, its usage, and its position in the tree.

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

/// Settings of one queue from the queue file, with inherited and parsed properties.
#[derive(Clone, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct QueueSettings {
    /// Maximum. Types that it names cannot be exceeded. `None` is unlimited. Never set on the root.
    pub max: Option<Amounts>,
    /// Guarantee. `None` guarantees nothing.
    pub guaranteed: Option<Amounts>,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
    /// Effective properties as text: own properties override inherited ones.
    pub properties: Properties,
    /// Parsed properties.
    pub values: PropertyValues,
    /// Users and groups that can submit to this queue and its descendants.
    pub submit_acl: AccessList,
    /// Users and groups that can administer this queue and its descendants, which includes submission.
    pub admin_acl: AccessList,
    /// Initial settings of descendants that a placement rule creates: the own template, or that of the parent.
    pub template: Option<Arc<TemplateConfig>>,
    /// User limits of this queue and the leaves in its subtree: own settings override inherited ones. `None` if users
    /// have only the limits in `limits`.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub user_limits: Option<Arc<UserLimitsConfig>>,
    /// Limits on applications of this queue and its descendants, and on the drivers of a leaf. The numbers are not
    /// inherited. The limits of users and drivers are.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub application_limits: Option<Arc<ApplicationLimitsConfig>>,
    /// Fraction of the parent that the queue is guaranteed and can use. `None` if `guaranteed` and `max` apply.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub capacity: Option<CapacityConfig>,
    /// Fractions on nodes with labels, in the order of the labels.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub label_capacities: Vec<LabelCapacity>,
    /// Preemption settings of this queue and its descendants: own settings override inherited ones.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub preemption: QueuePreemptionConfig,
    /// Whether the queue file stops the queue or an ancestor.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub stopped: bool,
    /// Lifetimes of applications in this queue and its descendants, if the queue file defines the queue.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub lifetimes: LifetimesConfig,
    /// Node labels to which the queue has access: own keys override inherited ones. `None` allows all labels.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub node_labels: Option<Arc<NodeLabelsConfig>>,
    /// Tenant of the queue. `None` for queues of the queue file or of a placement rule.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub tenant: Option<TenantQueue>,
}

/// Settings of a queue that belongs to a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TenantQueue {
    /// Name of the tenant.
    pub tenant: Name,
    /// Whether the tenant is suspended, so that nothing starts in this queue and its descendants.
    pub suspended: bool,
}

impl QueueSettings {
    /// Returns the fraction of the parent on nodes with a label, or on nodes without an exclusive label if `label` is
    /// `None`.
    pub(crate) fn capacity_at(&self, label: Option<&str>) -> Option<CapacityConfig> {
        match label {
            None => self.capacity,
            Some(label) => LabelCapacity::at(label, &self.label_capacities, self.capacity),
        }
    }
}

/// Omits absent settings, so that digests of events without them never change.
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

/// State of a queue, which determines whether it accepts applications and allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueState {
    /// Accepts applications.
    #[default]
    Active,
    /// Accepts no applications, also in its descendants. Existing applications continue. After its last application
    /// ends, a queue that the queue file stops becomes Stopped, and a queue that the file does not name is removed.
    Draining,
    /// Accepts no applications, and nothing starts in it or in its descendants.
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
    /// Partition of the queue.
    pub partition: PartitionId,
    /// Name in lower case, unique among its siblings. `root` for the root.
    pub name: Name,
    /// Path in lower case, beginning with `root`.
    pub path: Name,
    /// Parent. `None` for the root.
    pub parent: Option<QueueId>,
    /// Number of ancestors. 0 for the root.
    pub depth: u32,
    /// Whether it is a leaf, which holds applications and no child queues.
    pub leaf: bool,
    /// Whether the queue file defines it. Otherwise, a placement rule created it, and it is removed when it is empty.
    pub managed: bool,
    /// State of the queue.
    pub state: QueueState,
    /// Current settings.
    pub settings: Arc<QueueSettings>,
    /// Effective maximum: the configured one, or its fraction of the maximum of the parent. For the root, the sum of
    /// the nodes. `None` is unlimited, except for the root, where it means no capacity.
    pub max: Option<Resources>,
    /// Remaining amounts of `max`, in its types only. Can be negative. Stored in addition to `allocated`, so that a
    /// check is one comparison.
    pub left: Option<Resources>,
    /// Effective guarantee: the configured one, or its fraction.
    pub guaranteed: Option<Resources>,
    /// Limit on applications that its fraction implies, if the file sets no number: for a leaf with `capacity`, or for
    /// any leaf if the file limits all leaves.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub derived_applications: Option<u64>,
    /// Usage of the queue and its descendants, without types of amount zero.
    pub allocated: Resources,
    /// Pending amounts of the queue and its descendants, without types of amount zero. A sum beyond 64 bits is
    /// [`Quantity::MAX`].
    pub pending: Resources,
    /// Overflow of the pending sums. Without it, large asks of one user could make the sums of other users uncountable.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) pending_beyond: Beyond,
    /// Part of the usage that the RM is stopping because of preemption, without types of amount zero.
    pub preempting: Resources,
    /// Number of Running applications in the queue and its descendants.
    pub running: u64,
    /// Number of applications in the queue and its descendants with an allocation before they are Running. Their gang
    /// is or was incomplete, and they count as running.
    pub allocating: u64,
    /// Number of unfinished applications in the queue and its descendants.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub applications: u64,
    /// Number of active applications among them.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub activated: u64,
    /// Number of applications of this leaf that have not started.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub waiting: u64,
    /// Time at which quota preemption begins, because the usage exceeds the maximum. `None` if no timer runs.
    pub quota_preemption_at: Option<Timestamp>,
    /// Priorities that its applications or children show.
    pub(super) priorities: ShownPriorities,
    /// Number of children.
    pub child_count: u32,
    /// Time of its removal, if it is empty and removable.
    pub(super) removable_at: Option<Timestamp>,
    /// First child, in order of creation.
    pub(super) first_child: Option<QueueId>,
    pub(super) last_child: Option<QueueId>,
    pub(super) next_sibling: Option<QueueId>,
    #[cfg_attr(feature = "snapshot", serde(skip))]
    pub(super) previous_sibling: Option<QueueId>,
    /// First application, in order of submission.
    pub(super) first_application: Option<ApplicationId>,
    pub(super) last_application: Option<ApplicationId>,
    /// Time from which it is to be Stopped: it drains, and its last application has ended.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(super) stops_at: Option<Timestamp>,
}

impl Queue {
    /// Returns the first type in which a request exceeds the remaining amounts. `None` if the request fits.
    #[inline]
    pub fn shortfall(&self, request: &Resources) -> Option<Shortfall> {
        let left = self.left.as_ref()?;
        if left.allows(request) { None } else { left.shortfall_of_limit(request) }
    }

    /// Returns the usage minus the amounts that the RM is already stopping.
    pub fn used_after_preemption(&self) -> Resources {
        self.allocated.minus_existing(&self.preempting)
    }

    /// Returns whether its allocations are protected from preemption by other queues.
    pub fn is_preemption_disabled(&self) -> bool {
        let policy = self.settings.values.preemption_policy;
        policy == PreemptionPolicy::Disabled || self.settings.preemption.is_disabled()
    }

    /// Returns whether it belongs to a suspended tenant.
    pub fn is_suspended(&self) -> bool {
        self.settings.tenant.as_ref().is_some_and(|tenant| tenant.suspended)
    }

    /// Returns whether its own state allows allocations in it and its descendants: it is not stopped, and its tenant is
    /// not suspended.
    pub fn accepts_allocations(&self) -> bool {
        self.state != QueueState::Stopped && !self.is_suspended()
    }

    /// Returns whether it has no unfinished application.
    pub const fn has_no_application(&self) -> bool {
        self.first_application.is_none()
    }

    /// Returns whether it is removable without its children: it has no application, and a placement rule created it or
    /// it drains.
    pub fn is_passing(&self) -> bool {
        self.parent.is_some()
            && self.has_no_application()
            && (!self.managed || (self.state == QueueState::Draining && !self.settings.stopped))
    }

    /// Returns whether the queue file stops it and its last application has ended, so that it can become Stopped.
    pub fn has_drained(&self) -> bool {
        self.managed
            && self.settings.stopped
            && self.state == QueueState::Draining
            && self.applications == 0
    }

    /// Returns whether it is the recovery queue.
    pub(crate) fn is_recovery(&self) -> bool {
        self.depth == 1 && self.name == RECOVERY_QUEUE
    }

    /// Returns whether it is removable and has no children.
    pub fn is_removable(&self) -> bool {
        self.is_passing() && self.child_count == 0
    }

    /// Returns the time from which it is to be Stopped, because the queue file stops it and its last application has
    /// ended.
    pub const fn stops_at(&self) -> Option<Timestamp> {
        self.stops_at
    }

    /// Returns whether one more application can become Running here.
    pub fn allows_application(&self) -> bool {
        let max = self.settings.max_applications;
        max == 0 || self.running + self.allocating < max
    }

    /// Starts the quota preemption timer if the charged amount exceeds the maximum. Only allocations of the RM can do
    /// that.
    pub(super) fn watch_quota(&mut self, now: Timestamp, charged: &Resources) {
        let delay = self.settings.values.quota_preemption_delay;
        let exceeds = |left: &Resources| {
            charged.iter().any(|(resource, _)| left.get_or_zero(resource) < Quantity::ZERO)
        };
        // An allocation that the RM reports is no lowered quota of a tenant. Source: tenants §5, TS-14.
        if self.managed
            && self.settings.tenant.is_none()
            && self.quota_preemption_at.is_none()
            && delay > Millis::ZERO
            && self.left.as_ref().is_some_and(exceeds)
        {
            self.quota_preemption_at = Some(now + delay);
        }
    }

    /// Returns whether the quota preemption timer runs although the usage is within the maximum again. The next queue
    /// file then stops the timer, regardless of the file sets.
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

    /// Returns whether a pending sum is less than its exact value, or would be after a restart.
    #[cfg(feature = "snapshot")]
    pub(crate) fn has_largest_pending(&self) -> bool {
        self.pending.iter().any(|(_, amount)| amount == Quantity::MAX)
    }

    /// Returns the exact pending sums of the types with [`Quantity::MAX`].
    pub(crate) fn largest_pending(&self) -> alloc::collections::BTreeMap<ResourceType, i128> {
        self.pending_beyond.largest(&self.pending)
    }
}

#[cfg(feature = "testkit")]
impl super::Books {
    /// Changes the usage of a queue without an allocation, to test how damaged books are found.
    pub fn miscount(&mut self, queue: QueueId, resource: ResourceType, by: Quantity) {
        let allocated = &mut self.queues[queue].allocated;
        allocated.set(resource, allocated.get_or_zero(resource).plus(by));
    }
}
