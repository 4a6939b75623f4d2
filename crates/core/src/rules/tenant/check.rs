//! Checks of tenant settings.

use alloc::string::ToString as _;
use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Application, Books, LimitSubject, Partition, QueueState, Tenants};
use crate::config::legal::{RECOVERY_QUEUE, is_queue_name};
use crate::config::tenant::{
    INSTANCES, OWN_LEAF, OnLower, TenantMapping, TenantSubject, WaitingStrategy,
};
use crate::config::{PartitionConfig, TenantDefaults, TenantSettings, TenantsConfig};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::rejection::{Rejection, TenantRejection};
use crate::resource::{Amounts, Quantity, Resources};
use crate::rules::configure::{Target, limits_of};
use crate::rules::{ID_BYTES_MAX, few, short, within};

use super::Lowering;
use super::materialize::subject_of;

/// Rejects a name that is not valid for a tenant or its queue.
pub(super) fn name(tenant: &Name) -> Result<(), TenantRejection> {
    let lower = !tenant.bytes().any(|byte| byte.is_ascii_uppercase());
    let legal = is_queue_name(tenant) && lower;
    if legal && *tenant != *OWN_LEAF && *tenant != *RECOVERY_QUEUE {
        return Ok(());
    }
    let end = tenant.char_indices().nth(80).map_or(tenant.len(), |(end, _)| end);
    Err(TenantRejection::Name { tenant: Name::new(&tenant[..end]) })
}

/// Rejects a command that expects another version of the tenant.
pub(super) fn version(
    tenants: &Tenants,
    tenant: &Name,
    expects: Option<u64>,
) -> Result<(), TenantRejection> {
    let Some(expected) = expects else { return Ok(()) };
    let version = tenants.get(tenant).map_or(0, |known| known.version);
    let tenant = tenant.clone();
    match (expected, version) {
        (0, 0) => Ok(()),
        (0, _) => Err(TenantRejection::Exists { tenant, version }),
        _ if expected == version => Ok(()),
        _ => Err(TenantRejection::Version { tenant, version, expected }),
    }
}

/// Rejects settings that are invalid regardless of the usage.
pub(super) fn may_be_set(
    row: &Partition,
    tenant: &Name,
    settings: &TenantSettings,
) -> Result<(), Rejection> {
    let tenants = &row.tenants;
    let known = tenants.get(tenant);
    if known.is_some_and(|known| known.draining) {
        return Err(TenantRejection::Draining { tenant: tenant.clone() }.into());
    }
    if known.is_none() && tenants.len() >= Tenants::MAX {
        let (partition, count) = (row.name.clone(), tenants.len());
        return Err(TenantRejection::Many { partition, count }.into());
    }
    texts(settings)?;
    if let Some(quota) = &settings.quota {
        amounts("quota", tenant, quota)?;
    }
    amounts("guarantee", tenant, &settings.guaranteed)?;
    mode(tenants, tenant, settings)?;
    let Some(parent) = &settings.parent else { return Ok(()) };
    above(tenants, tenant, parent)
}

/// Largest number of labels of a tenant.
const LABELS_MAX: usize = 64;
/// Largest length of the key of a label in bytes.
const LABEL_KEY_BYTES_MAX: usize = 63;

fn texts(settings: &TenantSettings) -> Result<(), Rejection> {
    short("display name", &settings.display_name)?;
    few("labels of the tenant", settings.labels.len(), LABELS_MAX)?;
    for (key, value) in &settings.labels {
        within("label key of the tenant", key, LABEL_KEY_BYTES_MAX)?;
        within("label value of the tenant", value, ID_BYTES_MAX)?;
    }
    if let TenantMapping::Limit { queue, subject } = &settings.mapping {
        short("queue", queue)?;
        let (TenantSubject::User(name) | TenantSubject::Group(name)) = subject;
        crate::rules::named("user or group", name)?;
    }
    Ok(())
}

/// Rejects invalid defaults.
pub(super) fn defaults(defaults: &TenantDefaults) -> Result<(), TenantRejection> {
    amounts("quota", &Name::new("the defaults"), &defaults.quota)
}

fn amounts(what: &'static str, whose: &Name, amounts: &Amounts) -> Result<(), TenantRejection> {
    for (resource, amount) in amounts.iter() {
        let (whose, resource) = (whose.clone(), resource.clone());
        if resource.is_empty() {
            return Err(TenantRejection::Type { what, whose, resource });
        }
        if amount < Quantity::ZERO {
            return Err(TenantRejection::Amount { what, whose, resource, amount });
        }
    }
    Ok(())
}

/// Rejects an invalid parent of a tenant.
fn above(tenants: &Tenants, tenant: &Name, parent: &Name) -> Result<(), Rejection> {
    let (tenant, parent) = (tenant.clone(), parent.clone());
    let Some(row) = tenants.get(&parent) else {
        return Err(TenantRejection::UnknownParent { tenant, parent }.into());
    };
    if parent == tenant || tenants.up(&parent).any(|(name, _)| *name == tenant) {
        return Err(TenantRejection::Cycle { tenant, parent }.into());
    }
    if row.draining {
        return Err(TenantRejection::Draining { tenant: parent }.into());
    }
    if let TenantMapping::Limit { queue, .. } = &row.settings.mapping {
        let (queue, what) = (queue.clone(), "the tenant would have child tenants");
        return Err(TenantRejection::Mode { tenant: parent, queue, what }.into());
    }
    let levels = tenants.up(&parent).count() + height(tenants, &tenant);
    if levels > Tenants::LEVELS_MAX {
        return Err(TenantRejection::Depth { tenant, levels }.into());
    }
    Ok(())
}

/// Returns the number of levels of a tenant and its descendants.
fn height(tenants: &Tenants, tenant: &Name) -> usize {
    let from = tenants.up(tenant).count();
    let all = tenants.with_below(tenant).into_iter();
    all.map(|below| (tenants.up(&below).count() + 1).saturating_sub(from)).max().unwrap_or(1).max(1)
}

/// Rejects settings that a tenant which is a limit does not support.
fn mode(
    tenants: &Tenants,
    tenant: &Name,
    settings: &TenantSettings,
) -> Result<(), TenantRejection> {
    let TenantMapping::Limit { queue, .. } = &settings.mapping else { return Ok(()) };
    let cannot = [
        (settings.parent.is_some(), "the tenant has a parent"),
        (tenants.has_below(tenant), "the tenant has child tenants"),
        (settings.suspended, "the tenant is suspended"),
        (!settings.guaranteed.is_empty(), "the tenant has a guarantee"),
        (settings.strict_sum, "the tenant sets `strictSum`"),
        (settings.max_waiting.is_some(), "the tenant sets `maxWaiting`"),
        (
            settings.waiting.as_ref().is_some_and(|one| one.strategy != WaitingStrategy::Fifo),
            "the tenant sets `strategy` of its waiting tasks",
        ),
        (
            matches!(settings.on_lower, Some(OnLower::Preempt { .. })),
            "the tenant sets `onLower: preempt`",
        ),
    ];
    match cannot.into_iter().find(|(is, _)| *is) {
        None => Ok(()),
        Some((_, what)) => {
            Err(TenantRejection::Mode { tenant: tenant.clone(), queue: queue.clone(), what })
        }
    }
}

/// Rejects quotas that contradict those of the parent or the children.
pub(super) fn quotas(lowering: &Lowering<'_>, tenant: &Name) -> Result<(), TenantRejection> {
    let Some(row) = lowering.tenants.get(tenant) else { return Ok(()) };
    let quota = lowering.tenants.quota_of(&row.settings);
    let exempt = lowering.config.is_exempt(tenant);
    for (resource, guaranteed) in row.settings.guaranteed.iter().filter(|_| !exempt) {
        if let Some(quota) = quota.get(resource).filter(|quota| guaranteed > *quota) {
            let (tenant, resource) = (tenant.clone(), resource.clone());
            return Err(TenantRejection::Guarantee { tenant, resource, guaranteed, quota });
        }
    }
    for one in core::iter::once(tenant).chain(&row.settings.parent) {
        shared_out(lowering, one)?;
    }
    Ok(())
}

/// Rejects children whose quotas exceed the quota of a parent that sets `strictSum`.
fn shared_out(lowering: &Lowering<'_>, parent: &Name) -> Result<(), TenantRejection> {
    let Lowering { tenants, config, .. } = lowering;
    let Some(row) = tenants.get(parent).filter(|row| row.settings.strict_sum) else {
        return Ok(());
    };
    for (resource, quota) in tenants.quota_of(&row.settings).iter() {
        let mut sum = 0_i128;
        for below in tenants.below(Some(parent)) {
            let of = tenants.get(below).filter(|_| !config.is_exempt(below));
            let Some(one) = of.and_then(|row| tenants.quota_of(&row.settings).get(resource)) else {
                let (tenant, parent, resource) = (below.clone(), parent.clone(), resource.clone());
                return Err(TenantRejection::Unlimited { tenant, parent, resource, quota });
            };
            sum += i128::from(one.get());
        }
        if sum > i128::from(quota.get()) {
            let (parent, resource) = (parent.clone(), resource.clone());
            let sum = Quantity::of(i64::try_from(sum).unwrap_or(i64::MAX));
            return Err(TenantRejection::Sum { parent, resource, sum, quota });
        }
    }
    Ok(())
}

/// Rejects a quota that is lower than the usage, for a tenant that sets `onLower: refuse`. Source: tenants §7.
pub(super) fn not_lowered(lowering: &Lowering<'_>, tenant: &Name) -> Result<(), TenantRejection> {
    let Lowering { tenants, books, config, .. } = lowering;
    let before = &books.partition(lowering.partition).tenants;
    let (Some(row), Some(known)) = (tenants.get(tenant), before.get(tenant)) else {
        return Ok(());
    };
    let refuses = tenants.on_lower_of(&row.settings) == OnLower::Refuse;
    if !refuses || config.is_exempt(tenant) {
        return Ok(());
    }
    let used = used_by(lowering, tenant).unwrap_or_default();
    let quota_before = before.quota_of(&known.settings);
    for (resource, quota) in tenants.quota_of(&row.settings).iter() {
        // A change of another setting does not lower a quota that was already exceeded.
        let lowered = quota_before.get(resource).is_none_or(|before| quota < before);
        let found = books.types().find(resource);
        let used = found.map_or(Quantity::ZERO, |found| used.get_or_zero(found));
        if lowered && quota < used {
            let (tenant, resource) = (tenant.clone(), resource.clone());
            return Err(TenantRejection::BelowUse { tenant, resource, used, quota });
        }
    }
    Ok(())
}

/// Returns the current usage of a tenant. `None` if no queue or limit counts it.
pub(super) fn used_by(lowering: &Lowering<'_>, tenant: &Name) -> Option<Resources> {
    let row = lowering.books.partition(lowering.partition);
    match &row.tenants.get(tenant)?.settings.mapping {
        TenantMapping::Queue => {
            let path = row.tenants.path_of(&lowering.config.root, tenant)?;
            let queue = row.queues.get(&*path)?;
            Some(lowering.books.queue(*queue).allocated.clone())
        }
        TenantMapping::Limit { queue, subject } => {
            let queue = row.queues.get(&**queue)?;
            let (kind, name) = match subject {
                TenantSubject::User(name) => (TrackerKind::User, name),
                TenantSubject::Group(name) => (TrackerKind::Group, name),
            };
            let level = row.trackers.level_of(kind, name, *queue)?;
            Some(row.trackers.level(level).used().clone())
        }
    }
}

/// Returns the number of unfinished tasks of a tenant and its descendants.
pub(super) fn tasks_of(lowering: &Lowering<'_>, tenant: &Name) -> u64 {
    let row = lowering.books.partition(lowering.partition);
    let Some(known) = row.tenants.get(tenant) else { return 0 };
    match &known.settings.mapping {
        TenantMapping::Queue => {
            let path = row.tenants.path_of(&lowering.config.root, tenant);
            let queue = path.and_then(|path| row.queues.get(&*path));
            queue.map_or(0, |queue| lowering.books.queue(*queue).applications)
        }
        TenantMapping::Limit { queue, subject } => {
            let Some(queue) = row.queues.get(&**queue) else { return 0 };
            limited(lowering.books, row, *queue, subject)
        }
    }
}

/// Returns the number of applications in a queue and its descendants that belong to a user or are charged to a group.
fn limited(books: &Books, row: &Partition, queue: QueueId, subject: &TenantSubject) -> u64 {
    let is_his = |application: &Application| match subject {
        TenantSubject::User(name) => application.user == *name,
        TenantSubject::Group(name) => {
            let level = application.link.and_then(|link| link.group.level());
            let trackers = &row.trackers;
            let of = |level| &trackers.tracker(trackers.level(level).tracker).name;
            level.is_some_and(|level| of(level) == name)
        }
    };
    let all = row.applications.iter().map(|(_, id)| books.application(*id));
    let here = all.filter(|one| books.up(one.queue).any(|(id, _)| id == queue));
    here.filter(|one| is_his(one)).count() as u64
}

/// Rejects a change that the unfinished tasks do not allow.
pub(super) fn tasks(lowering: &Lowering<'_>, tenant: &Name) -> Result<(), TenantRejection> {
    let Lowering { books, tenants, config, .. } = lowering;
    let row = books.partition(lowering.partition);
    let Some(after) = tenants.get(tenant) else { return Ok(()) };
    if let Some(known) = row.tenants.get(tenant) {
        let count = tasks_of(lowering, tenant);
        let tenant = tenant.clone();
        if count > 0 && known.settings.mapping != after.settings.mapping {
            let what = "change its queue or limit";
            return Err(TenantRejection::HasTasks { tenant, count, what });
        }
        if count > 0 && known.settings.parent != after.settings.parent {
            let what = "be moved";
            return Err(TenantRejection::HasTasks { tenant, count, what });
        }
    }
    let Some(parent) = &after.settings.parent else { return Ok(()) };
    let path = row.tenants.path_of(&config.root, parent);
    let Some(queue) = path.and_then(|path| row.queues.get(&*path)) else { return Ok(()) };
    let queue = books.queue(*queue);
    if queue.leaf && queue.applications > 0 {
        let (tenant, count) = (parent.clone(), queue.applications);
        let what = "have child tenants";
        return Err(TenantRejection::HasTasks { tenant, count, what });
    }
    Ok(())
}

/// Rejects a limit of a tenant that is not possible in its queue.
pub(super) fn limit(lowering: &Lowering<'_>, tenant: &Name) -> Result<(), TenantRejection> {
    let row = lowering.books.partition(lowering.partition);
    let Some(after) = lowering.tenants.get(tenant) else { return Ok(()) };
    let TenantMapping::Limit { queue, subject } = &after.settings.mapping else { return Ok(()) };
    let id = row.queues.get(&**queue).copied();
    let id = id.filter(|id| {
        let row = lowering.books.queue(*id);
        // A queue that drains without being stopped is no longer in the queue file.
        let is_gone = row.state == QueueState::Draining && !row.settings.stopped;
        row.managed && row.settings.tenant.is_none() && !is_gone
    });
    let Some(id) = id else {
        let (tenant, partition) = (tenant.clone(), row.name.clone());
        return Err(TenantRejection::UnknownQueue { tenant, queue: queue.clone(), partition });
    };
    let here = Lowering { tenants: &row.tenants, ..*lowering };
    let limits = row.trackers.limits_at(id);
    let of_file = limits.len().saturating_sub(here.limits_in(queue).len());
    let mut named = limits[..of_file].iter().map(|limit| &limit.subject);
    let subject_here = subject_of(subject);
    let holder = if named.any(|one| *one == subject_here) {
        Some(Name::new("the queue file"))
    } else {
        let others = lowering.tenants.iter().filter(|(name, _)| *name != tenant);
        let mut same = others.filter(|(_, row)| row.settings.mapping == after.settings.mapping);
        same.next().map(|(name, _)| Name::from(alloc::format!("tenant {name}")))
    };
    holder.map_or(Ok(()), |holder| Err(taken(tenant, queue, &subject_here, holder)))
}

fn taken(tenant: &Name, queue: &Name, subject: &LimitSubject, holder: Name) -> TenantRejection {
    let subject = match subject {
        LimitSubject::User(name) => alloc::format!("user {name}"),
        LimitSubject::Group(name) => alloc::format!("group {name}"),
        LimitSubject::AnyUser => "every other user".to_string(),
        LimitSubject::AnyGroup => "every other group".to_string(),
    };
    let (tenant, queue) = (tenant.clone(), queue.clone());
    TenantRejection::LimitTaken { tenant, queue, subject: subject.into(), holder }
}

/// Tenants of a partition with another queue file.
pub(in crate::rules) struct Reconfigured<'a> {
    pub(in crate::rules) config: Option<&'a TenantsConfig>,
    pub(in crate::rules) tenants: Tenants,
    /// New defaults. `None` if the file does not change them.
    pub(in crate::rules) defaults: Option<&'a TenantDefaults>,
}

/// Returns the tenants of a partition with another queue file, or the reason why the file is rejected.
pub(in crate::rules) fn reconfigured<'a>(
    books: &Books,
    id: PartitionId,
    partition: &'a PartitionConfig,
    targets: &[Target<'_>],
) -> Result<Reconfigured<'a>, Rejection> {
    let row = books.partition(id);
    let (before, after) = (row.settings.tenants.as_deref(), partition.tenants.as_ref());
    let mut tenants = row.tenants.clone();
    let fault = |what| {
        let (partition, count) = (row.name.clone(), row.tenants.len());
        Err(TenantRejection::InForce { partition, count, what }.into())
    };
    let Some(config) = after else {
        if !tenants.is_empty() {
            return fault("disables tenants");
        }
        return Ok(Reconfigured { config: None, tenants, defaults: None });
    };
    if !tenants.is_empty() && before.is_some_and(|before| before.root != config.root) {
        return fault("changes `rootqueue`");
    }
    root(&row.name, config, targets)?;
    if before.is_none_or(|before| before.root != config.root) {
        is_free(books, id, config)?;
    }
    defaults(&config.defaults)?;
    let fresh = before.is_none_or(|before| before.defaults != config.defaults);
    let sets_defaults =
        (fresh && *tenants.defaults() != config.defaults) || tenants.defaults_version() == 0;
    if sets_defaults {
        tenants.set_defaults(&config.defaults);
    }
    let lowering = Lowering { books, partition: id, config, tenants: &tenants, by_file: true };
    for (tenant, known) in tenants.iter() {
        quotas(&lowering, tenant)?;
        not_lowered(&lowering, tenant)?;
        if let TenantMapping::Limit { queue, subject } = &known.settings.mapping {
            still_limited(row, targets, tenant, (queue, subject))?;
        }
    }
    let defaults = sets_defaults.then_some(&config.defaults);
    Ok(Reconfigured { config: Some(config), tenants, defaults })
}

/// Rejects a root queue that cannot contain only queues of tenants.
pub(in crate::rules) fn root(
    partition: &Name,
    config: &TenantsConfig,
    targets: &[Target<'_>],
) -> Result<(), TenantRejection> {
    let fault = |what| {
        let (partition, queue) = (partition.clone(), config.root.clone());
        Err(TenantRejection::Root { partition, queue, what })
    };
    let Some(root) = targets.iter().find(|target| target.path == config.root) else {
        return fault("the queue file does not define the queue. Add the queue");
    };
    if root.parent.is_none() {
        return fault("this is the root queue. Set `rootqueue` to a queue below root");
    }
    if root.is_leaf() {
        return fault("the queue file makes the queue a leaf. Set `parent: true`");
    }
    if targets.iter().any(|target| target.parent.as_ref() == Some(&config.root)) {
        return fault(
            "the queue file defines child queues. Remove these child queues from the file",
        );
    }
    Ok(())
}

/// Rejects a file that enables tenants if existing objects prevent it.
fn is_free(books: &Books, id: PartitionId, config: &TenantsConfig) -> Result<(), TenantRejection> {
    let row = books.partition(id);
    let known = row.queues.get(&*config.root).map(|queue| books.queue(*queue));
    if known.is_some_and(|queue| queue.child_count > 0) {
        return Err(super::root_fault(
            row,
            &config.root,
            "the queue already has child queues. Reload the queue file after these child queues \
             are removed",
        ));
    }
    let Some(instances) = books.types().find(INSTANCES) else { return Ok(()) };
    let has = |amounts: &Resources| amounts.get(instances).is_some();
    let nodes = row.nodes.iter().any(|(_, node)| has(&books.node(*node).capacity));
    let foreign = row.foreign.iter().any(|(_, one)| has(&one.resources));
    let asks = row.allocations.iter().any(|(_, ask)| has(books.resources_of(*ask)));
    if nodes || foreign || asks {
        let what = "a node, an allocation, or an ask in the partition";
        return Err(TenantRejection::Instances { what, partition: row.name.clone() });
    }
    Ok(())
}

/// Rejects a file with which a tenant could no longer be a limit.
fn still_limited(
    row: &Partition,
    targets: &[Target<'_>],
    tenant: &Name,
    (queue, subject): (&Name, &TenantSubject),
) -> Result<(), TenantRejection> {
    let Some(target) = targets.iter().find(|target| target.path == *queue) else {
        let (tenant, partition) = (tenant.clone(), row.name.clone());
        return Err(TenantRejection::UnknownQueue { tenant, queue: queue.clone(), partition });
    };
    let subject = subject_of(subject);
    let named: Vec<_> = limits_of(target.queue);
    if named.iter().any(|limit| limit.subject == subject) {
        return Err(taken(tenant, queue, &subject, Name::new("the queue file")));
    }
    Ok(())
}
