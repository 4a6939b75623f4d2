//! Converts tenants to queues and limits, based only on their settings. A command about a tenant and a queue file
//! therefore have the same result. Source: tenants §4, decision page 28.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec::Vec;

use crate::books::{
    Books, LimitSettings, LimitSubject, QueueSettings, Tenant, TenantQueue, Tenants,
};
use crate::config::property::{
    AGING_INTERVAL, AGING_MAX, AGING_STEP, MAX_HEAD_WAIT, MAX_OVERTAKES, QUOTA_PREEMPTION_DELAY,
    SORT_POLICY, duration_text,
};
use crate::config::tenant::{
    INSTANCES, OWN_LEAF, OnLower, TenantSubject, WaitingPolicy, WaitingStrategy,
};
use crate::config::{ApplicationOrder, Properties, QueueConfig, TenantsConfig};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Quantity};
use crate::rules::configure::{Above, Target, queue_settings};
use crate::time::Millis;

/// Target tenants of a partition, together with its current queues.
#[derive(Clone, Copy)]
pub(in crate::rules) struct Lowering<'a> {
    pub(in crate::rules) books: &'a Books,
    pub(in crate::rules) partition: PartitionId,
    pub(in crate::rules) config: &'a TenantsConfig,
    pub(in crate::rules) tenants: &'a Tenants,
    /// Whether a queue file causes the change. A queue file does not turn leaves of tenants into parents, or the
    /// reverse.
    pub(in crate::rules) by_file: bool,
}

/// Target queue of a tenant, without inherited settings.
pub(in crate::rules) struct Piece {
    parent: Name,
    path: Name,
    config: QueueConfig,
    tenant: TenantQueue,
    draining: bool,
}

impl<'a> Lowering<'a> {
    /// Returns all tenants with a queue, parents before children.
    pub(in crate::rules) fn all(&self) -> Vec<Name> {
        let tops = self.tenants.below(None);
        tops.flat_map(|top| self.tenants.with_below(top)).collect()
    }

    /// Returns the queues of these tenants, parents before children if `tenants` has that order.
    pub(in crate::rules) fn pieces(&self, tenants: &[Name]) -> Vec<Piece> {
        tenants.iter().flat_map(|tenant| self.pieces_of(tenant)).collect()
    }

    fn pieces_of(&self, tenant: &Name) -> Vec<Piece> {
        let root = &self.config.root;
        let (Some(row), Some(path)) =
            (self.tenants.get(tenant), self.tenants.path_of(root, tenant))
        else {
            return Vec::new();
        };
        let (parent, _) = path.rsplit_once('.').unwrap_or_default();
        let splits = self.splits(tenant);
        let mark = TenantQueue { tenant: tenant.clone(), suspended: row.settings.suspended };
        let mut config = self.queue(tenant, row);
        config.parent = splits;
        let mut own = None;
        if splits {
            let mut leaf = QueueConfig { name: Name::new(OWN_LEAF), ..QueueConfig::default() };
            core::mem::swap(&mut leaf.properties, &mut config.properties);
            if let Some(delay) = leaf.properties.remove(QUOTA_PREEMPTION_DELAY) {
                config.properties.insert(Name::new(QUOTA_PREEMPTION_DELAY), delay);
            }
            own = Some(Piece {
                parent: path.clone(),
                path: Name::from(format!("{path}.{OWN_LEAF}")),
                config: leaf,
                tenant: mark.clone(),
                draining: row.draining,
            });
        }
        let first =
            Piece { parent: Name::new(parent), path, config, tenant: mark, draining: row.draining };
        core::iter::once(first).chain(own).collect()
    }

    /// Returns whether the queue of a tenant is a parent: the tenant has children, or had some and its own tasks are
    /// still in a separate leaf.
    fn splits(&self, tenant: &Name) -> bool {
        if self.tenants.has_below(tenant) {
            return true;
        }
        let row = self.books.partition(self.partition);
        let path = row.tenants.path_of(&self.config.root, tenant);
        let own = path.and_then(|path| row.queues.get(&*format!("{path}.{OWN_LEAF}")));
        own.is_some_and(|own| self.by_file || self.books.queue(*own).applications > 0)
    }

    /// Returns the queue of a tenant that contains all its tasks.
    fn queue(&self, tenant: &Name, row: &Tenant) -> QueueConfig {
        let settings = &row.settings;
        let quota = self.tenants.quota_of(settings);
        let mut properties = waiting(self.tenants.waiting_of(settings));
        // Always set, because the inherited value is meant for the parent. Zero disables quota preemption.
        let delay = match self.tenants.on_lower_of(settings) {
            OnLower::Preempt { grace } => grace.max(Millis::new(1)),
            OnLower::Block | OnLower::Refuse => Millis::ZERO,
        };
        properties.insert(Name::new(QUOTA_PREEMPTION_DELAY), span(delay));
        QueueConfig {
            name: tenant.clone(),
            max: if self.config.is_exempt(tenant) { Amounts::EMPTY } else { binding(quota) },
            guaranteed: settings.guaranteed.clone(),
            max_applications: settings.max_applications,
            properties,
            ..QueueConfig::default()
        }
    }

    /// Adds the target queues with inherited settings, from existing queues or from earlier targets.
    pub(in crate::rules) fn targets<'pieces>(
        &self,
        pieces: &'pieces [Piece],
        targets: &mut Vec<Target<'pieces>>,
    ) -> Result<(), Rejection> {
        let mut places: BTreeMap<Name, usize> =
            targets.iter().enumerate().map(|(at, one)| (one.path.clone(), at)).collect();
        for piece in pieces {
            let settings = {
                let above: &QueueSettings = match places.get(&piece.parent) {
                    Some(at) => &targets[*at].settings,
                    None => self.settings_at(&piece.parent)?,
                };
                let mut settings = queue_settings(&piece.config, &piece.path, Above::Queue(above))?;
                settings.tenant = Some(piece.tenant.clone());
                settings
            };
            places.insert(piece.path.clone(), targets.len());
            targets.push(Target {
                queue: &piece.config,
                path: piece.path.clone(),
                parent: Some(piece.parent.clone()),
                settings,
                draining: piece.draining,
            });
        }
        Ok(())
    }

    fn settings_at(&self, path: &Name) -> Result<&'a QueueSettings, Rejection> {
        let row = self.books.partition(self.partition);
        let queue = row.queues.get(&**path).map(|id| &*self.books.queue(*id).settings);
        queue.ok_or_else(|| {
            super::root_fault(
                row,
                &self.config.root,
                "the queue does not exist. Reload the queue file",
            )
            .into()
        })
    }

    /// Returns the limits of tenants in a queue, in the order of their names. A tenant without any bound has no limit,
    /// because an empty limit is invalid.
    pub(in crate::rules) fn limits_in(&self, queue: &str) -> Vec<LimitSettings> {
        let here = self.tenants.limits_in(queue).into_iter();
        let here = here.map(|(tenant, row, subject)| self.limit(tenant, row, subject));
        here.filter(|limit| !limit.max.is_empty() || limit.max_applications > 0).collect()
    }

    fn limit(&self, tenant: &Name, row: &Tenant, subject: &TenantSubject) -> LimitSettings {
        let exempt = self.config.is_exempt(tenant);
        let quota = self.tenants.quota_of(&row.settings);
        LimitSettings {
            subject: subject_of(subject),
            max: if exempt { Amounts::EMPTY } else { binding(quota) },
            max_applications: row.settings.max_applications,
        }
    }

    /// Returns whether asks in a leaf count in the type that counts tasks: the leaf belongs to a tenant, or to a queue
    /// in which a tenant is a limit.
    pub(in crate::rules) fn counts(&self, leaf: QueueId) -> bool {
        let above = |path: &str| path == &*self.config.root || self.tenants.is_shared(path);
        let row = self.books.queue(leaf);
        self.tenants.is_shared(&row.path)
            || self.books.up(leaf).skip(1).any(|(_, queue)| above(&queue.path))
    }
}

/// Returns the user or group of a limit.
pub(in crate::rules) fn subject_of(subject: &TenantSubject) -> LimitSubject {
    match subject {
        TenantSubject::User(name) => LimitSubject::User(name.clone()),
        TenantSubject::Group(name) => LimitSubject::Group(name.clone()),
    }
}

/// Returns a quota as a maximum. A maximum without a positive amount would have no effect. So that a quota of zeros is
/// effective, the result also allows an unlimited amount of another type.
fn binding(quota: &Amounts) -> Amounts {
    let mut max = quota.clone();
    if !quota.is_empty() && !quota.is_strictly_positive() {
        let free =
            [INSTANCES, "vcore", "memory"].into_iter().find(|name| quota.get(name).is_none());
        max.set(free.unwrap_or("unlimited"), Quantity::MAX);
    }
    max
}

/// Returns the properties of a leaf for the order in which its tasks start.
fn waiting(policy: &WaitingPolicy) -> Properties {
    let order = match policy.strategy {
        WaitingStrategy::Fifo => ApplicationOrder::FifoStrict,
        WaitingStrategy::FifoBackfill => ApplicationOrder::FifoBackfill,
        WaitingStrategy::Priority => ApplicationOrder::Priority,
        WaitingStrategy::Urgency => ApplicationOrder::Urgency,
    };
    let number = |number: u32| Name::from(number.to_string());
    let properties = [
        (SORT_POLICY, Some(Name::new(order.word()))),
        (AGING_INTERVAL, policy.aging_interval.map(span)),
        (AGING_STEP, policy.aging_step.map(number)),
        (AGING_MAX, policy.aging_max.map(number)),
        (MAX_OVERTAKES, policy.max_overtakes.map(number)),
        (MAX_HEAD_WAIT, policy.max_head_wait.map(span)),
    ];
    properties.into_iter().filter_map(|(key, value)| Some((Name::new(key), value?))).collect()
}

/// Returns a time span in the format of properties.
fn span(span: Millis) -> Name {
    Name::from(duration_text(span))
}
