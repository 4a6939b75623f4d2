//! Tenants: commands and queue files about them, and the resulting changes of queues and limits, in one decision.
//! Source: tenants §4, §7, decision page 28.

mod check;
mod evict;
mod instances;
mod materialize;

pub(super) use check::{Reconfigured, reconfigured, root};
pub(super) use evict::look as look_at_quotas;
pub(crate) use evict::lowered;
pub(super) use instances::{are_named, counted, fits_quota};
pub(super) use materialize::Lowering;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Books, Partition, QueueState, Tenants};
use crate::command::SetTenant;
use crate::config::tenant::{OWN_LEAF, TenantMapping};
use crate::config::{TenantDefaults, TenantsConfig};
use crate::event::{AskEvent, Event, QueueEvent, TenantDrift, TenantEvent};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::rejection::{Rejection, TenantRejection};
use crate::time::Timestamp;

use super::configure::{of_known, of_new, replace_limits};
use super::{Naming, partition_named, types_fit};

/// Records that counters of tenants differ from the sums of their tasks.
pub(super) fn report_drift(
    books: &Books,
    partition: &Name,
    drift: &[TenantDrift],
) -> Result<Vec<Event>, Rejection> {
    let (partition, _) = switched_on(books, partition)?;
    let report = || Event::Tenant(TenantEvent::DriftFound { partition, drift: drift.to_vec() });
    Ok((!drift.is_empty()).then(report).into_iter().collect())
}

/// Creates a tenant, or replaces its settings.
pub(super) fn set(
    books: &Books,
    now: Timestamp,
    command: &SetTenant,
) -> Result<Vec<Event>, Rejection> {
    let (partition, config) = switched_on(books, &command.partition)?;
    let row = books.partition(partition);
    let (tenant, before) = (&command.tenant, &row.tenants);
    check::name(tenant)?;
    check::version(before, tenant, command.expects)?;
    let mut settings = command.settings.clone();
    if let TenantMapping::Limit { queue, .. } = &mut settings.mapping {
        *queue = Name::from(queue.to_lowercase());
    }
    let known = before.get(tenant);
    if known.is_some_and(|known| *known.settings == settings) {
        return Ok(Vec::new());
    }
    check::may_be_set(row, tenant, &settings)?;
    for amounts in settings.quota.iter().chain([&settings.guaranteed]) {
        types_fit(books, &Naming::of_client("the tenant"), amounts)?;
    }
    let mut after = before.clone();
    after.set(tenant, &settings);
    let change = Change { books, now, partition, config, after: &after };
    check::limit(&change.lowering(), tenant)?;
    check::quotas(&change.lowering(), tenant)?;
    check::not_lowered(&change.lowering(), tenant)?;
    check::tasks(&change.lowering(), tenant)?;
    let mut events = vec![Event::Tenant(TenantEvent::Set {
        partition,
        tenant: tenant.clone(),
        settings: Box::new(settings.clone()),
    })];
    let mut touched: BTreeSet<Name> = settings.parent.iter().cloned().collect();
    touched.extend(known.and_then(|known| known.settings.parent.clone()));
    touched.extend(before.with_below(tenant));
    if settings.suspended {
        events.extend(unreserved(books, row, config, tenant));
    }
    change.follow(&touched, &mut events)?;
    Ok(events)
}

/// Removes a tenant at once, or after its last task ends.
pub(super) fn remove(
    books: &Books,
    now: Timestamp,
    (partition, tenant): (&Name, &Name),
    drain: bool,
    expects: Option<u64>,
) -> Result<Vec<Event>, Rejection> {
    let (partition, config) = switched_on(books, partition)?;
    let row = books.partition(partition);
    let Some(known) = row.tenants.get(tenant) else {
        let (tenant, partition) = (tenant.clone(), row.name.clone());
        return Err(TenantRejection::Unknown { tenant, partition }.into());
    };
    check::version(&row.tenants, tenant, expects)?;
    let what = "be deleted";
    let count = row.tenants.below(Some(tenant)).count();
    if count > 0 {
        return Err(TenantRejection::HasBelow { tenant: tenant.clone(), count, what }.into());
    }
    let here = Lowering { books, partition, config, tenants: &row.tenants, by_file: false };
    let count = check::tasks_of(&here, tenant);
    if count == 0 {
        return gone(books, now, partition, &[tenant.clone()].into());
    }
    if !drain || known.settings.mapping != TenantMapping::Queue {
        return Err(TenantRejection::HasTasks { tenant: tenant.clone(), count, what }.into());
    }
    if known.draining {
        return Ok(Vec::new());
    }
    let mut events =
        vec![Event::Tenant(TenantEvent::Draining { partition, tenant: tenant.clone() })];
    for (path, queue) in queues_of(books, row, config, tenant) {
        // A queue that the queue file stopped drains already.
        if books.queue(queue).state == QueueState::Active {
            events.push(Event::Queue(QueueEvent::Moved {
                partition,
                queue: path,
                state: QueueState::Draining,
            }));
        }
    }
    Ok(events)
}

/// Removes tenants with their queues and limits.
pub(super) fn gone(
    books: &Books,
    now: Timestamp,
    partition: PartitionId,
    tenants: &BTreeSet<Name>,
) -> Result<Vec<Event>, Rejection> {
    let row = books.partition(partition);
    let Some(config) = row.settings.tenants.as_deref() else { return Ok(Vec::new()) };
    let (mut after, mut touched) = (row.tenants.clone(), tenants.clone());
    for tenant in tenants {
        let known = after.get(tenant);
        touched.extend(known.and_then(|known| known.settings.parent.clone()));
        after.remove(tenant);
    }
    let mut events: Vec<Event> = tenants
        .iter()
        .map(|tenant| Event::Tenant(TenantEvent::Removed { partition, tenant: tenant.clone() }))
        .collect();
    Change { books, now, partition, config, after: &after }.follow(&touched, &mut events)?;
    Ok(events)
}

/// Sets the defaults for tenants that do not set a value of their own.
pub(super) fn set_defaults(
    books: &Books,
    now: Timestamp,
    partition: &Name,
    defaults: &TenantDefaults,
    expects: Option<u64>,
) -> Result<Vec<Event>, Rejection> {
    let (partition, config) = switched_on(books, partition)?;
    let before = &books.partition(partition).tenants;
    let version = before.defaults_version();
    if let Some(expected) = expects.filter(|expected| *expected != version) {
        return Err(TenantRejection::DefaultsVersion { version, expected }.into());
    }
    if before.defaults() == defaults {
        return Ok(Vec::new());
    }
    check::defaults(defaults)?;
    types_fit(books, &Naming::of_client("the tenant defaults"), &defaults.quota)?;
    let mut after = before.clone();
    after.set_defaults(defaults);
    let change = Change { books, now, partition, config, after: &after };
    for (tenant, _) in after.iter() {
        check::quotas(&change.lowering(), tenant)?;
        check::not_lowered(&change.lowering(), tenant)?;
    }
    let defaults = Box::new(defaults.clone());
    let mut events = vec![Event::Tenant(TenantEvent::DefaultsSet { partition, defaults })];
    let touched = after.iter().map(|(name, _)| name.clone()).collect();
    change.follow(&touched, &mut events)?;
    Ok(events)
}

/// Returns the partition with this name and its tenant configuration.
fn switched_on<'a>(
    books: &'a Books,
    partition: &Name,
) -> Result<(PartitionId, &'a TenantsConfig), Rejection> {
    let id = partition_named(books, partition)?;
    let row = books.partition(id);
    match row.settings.tenants.as_deref() {
        Some(config) => Ok((id, config)),
        None => Err(TenantRejection::Off { partition: row.name.clone() }.into()),
    }
}

fn root_fault(row: &Partition, queue: &Name, what: &'static str) -> TenantRejection {
    TenantRejection::Root { partition: row.name.clone(), queue: queue.clone(), what }
}

/// Returns the current queues of a tenant: its own queue, and the separate leaf for its tasks if it has children.
fn queues_of(
    books: &Books,
    row: &Partition,
    config: &TenantsConfig,
    tenant: &Name,
) -> Vec<(Name, QueueId)> {
    let Some(path) = row.tenants.path_of(&config.root, tenant) else { return Vec::new() };
    let own = Name::from(alloc::format!("{path}.{OWN_LEAF}"));
    let is_there = |path: Name| row.queues.get(&*path).map(|id| (path, *id));
    let mine = |(_, id): &(Name, QueueId)| {
        let mark = books.queue(*id).settings.tenant.as_ref();
        mark.is_some_and(|mark| mark.tenant == *tenant)
    };
    [path, own].into_iter().filter_map(is_there).filter(mine).collect()
}

/// Returns events that end the reservations of a tenant and its descendants. None of their asks can start, and other
/// asks can need the capacity.
fn unreserved(books: &Books, row: &Partition, config: &TenantsConfig, tenant: &Name) -> Vec<Event> {
    let path = row.tenants.path_of(&config.root, tenant);
    let queue = path.and_then(|path| row.queues.get(&*path).copied());
    let (Some(queue), true) = (queue, row.reservation_count > 0) else { return Vec::new() };
    let reserved = row.allocations.iter().filter(|(_, ask)| {
        let ask = books.allocation(**ask);
        let leaf = books.application(ask.application).queue;
        ask.reservation().is_some() && books.up(leaf).any(|(id, _)| id == queue)
    });
    reserved.map(|(_, ask)| Event::Ask(AskEvent::Unreserved { ask: *ask })).collect()
}

/// Target tenants, and the current state.
struct Change<'a> {
    books: &'a Books,
    now: Timestamp,
    partition: PartitionId,
    config: &'a TenantsConfig,
    after: &'a Tenants,
}

impl<'a> Change<'a> {
    const fn lowering(&self) -> Lowering<'a> {
        let Self { books, partition, config, after, .. } = *self;
        Lowering { books, partition, config, tenants: after, by_file: false }
    }

    /// Adds the events that change the queues and limits of the `touched` tenants, and no others.
    fn follow(&self, touched: &BTreeSet<Name>, events: &mut Vec<Event>) -> Result<(), Rejection> {
        self.queues(touched, events)?;
        let row = self.books.partition(self.partition);
        let mut limited = BTreeSet::new();
        for tenants in [&row.tenants, self.after] {
            for row in touched.iter().filter_map(|tenant| tenants.get(tenant)) {
                if let TenantMapping::Limit { queue, .. } = &row.settings.mapping {
                    limited.insert(queue.clone());
                }
            }
        }
        if !limited.is_empty() {
            instances::recount(self.books, self.now, &self.lowering(), events);
        }
        for path in limited {
            self.limits(&path, events);
        }
        Ok(())
    }

    fn queues(&self, touched: &BTreeSet<Name>, events: &mut Vec<Event>) -> Result<(), Rejection> {
        let (row, lowering) = (self.books.partition(self.partition), self.lowering());
        // Parents before children.
        let mut order: Vec<(usize, &Name)> =
            touched.iter().map(|tenant| (self.after.up(tenant).count(), tenant)).collect();
        order.sort_unstable();
        let order: Vec<Name> = order.into_iter().map(|(_, tenant)| tenant.clone()).collect();
        let pieces = lowering.pieces(&order);
        let mut targets = Vec::new();
        lowering.targets(&pieces, &mut targets)?;
        let mut old: BTreeMap<Name, QueueId> =
            order.iter().flat_map(|one| queues_of(self.books, row, self.config, one)).collect();
        for target in &targets {
            old.remove(&target.path);
        }
        // Children before parents.
        events.extend(
            old.into_values().rev().map(|queue| Event::Queue(QueueEvent::Removed { queue })),
        );
        for target in &targets {
            let partition = self.partition;
            match (row.queues.get(&*target.path), &target.parent) {
                (Some(queue), _) => {
                    let queue = self.books.queue(*queue);
                    events.extend(of_known(partition, queue, target));
                    if !target.is_in_force(queue) {
                        events.push(target.changed(partition));
                    }
                }
                (None, Some(parent)) => {
                    events.push(target.added(partition, parent));
                    events.extend(of_new(partition, target));
                }
                (None, None) => {}
            }
        }
        Ok(())
    }

    /// Replaces the limits of a queue by those of the queue file, followed by those of tenants.
    fn limits(&self, path: &Name, events: &mut Vec<Event>) {
        let row = self.books.partition(self.partition);
        let Some(queue) = row.queues.get(&**path) else { return };
        let before = row.trackers.limits_at(*queue);
        let here = Lowering { tenants: &row.tenants, ..self.lowering() };
        let of_file = before.len().saturating_sub(here.limits_in(path).len());
        let mut limits = before[..of_file].to_vec();
        limits.extend(self.lowering().limits_in(path));
        replace_limits(self.books, (self.partition, *queue), limits, events);
    }
}
