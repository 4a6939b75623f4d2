//! Placement of tasks of tenants, and protection of their queues. Source: tenants §3, §4.

use crate::books::{Books, Queue, QueueSettings, QueueState};
use crate::command::Submit;
use crate::config::tenant::{OWN_LEAF, Oversized, TenantMapping, TenantSubject};
use crate::id::PartitionId;
use crate::name::Name;
use crate::placement::{Placed, Request, place};
use crate::resource::Quantity;

use super::Declined;

/// Returns the leaf for the tasks of a tenant. For a tenant that is a limit, placement rules select the leaf.
pub(super) fn of_tenant(
    books: &Books,
    partition: PartitionId,
    submit: &Submit,
    request: &Request<'_>,
) -> Result<Placed, Declined> {
    let row = books.partition(partition);
    let tenant = || submit.tenant.clone();
    let root = row.settings.tenants.as_deref().map(|config| &config.root);
    let known = root.zip(row.tenants.get(&submit.tenant));
    let Some((root, known)) = known else {
        return Err(Declined::NoTenant { tenant: tenant(), partition: row.name.clone() });
    };
    if known.draining {
        return Err(Declined::TenantDraining { tenant: tenant() });
    }
    if let TenantMapping::Limit { queue, subject } = &known.settings.mapping {
        let (is_his, who) = match subject {
            TenantSubject::User(user) => (submit.user == *user, user),
            TenantSubject::Group(group) => (submit.groups.contains(group), group),
        };
        if !is_his {
            let (user, who) = (submit.user.clone(), who.clone());
            return Err(Declined::NotOfTenant { tenant: tenant(), user, who });
        }
        let queue = if submit.queue.is_empty() { queue } else { &submit.queue };
        return Ok(place(books, partition, &Request { queue, ..*request })?);
    }
    let path = row.tenants.path_of(root, &submit.tenant).unwrap_or_default();
    let own = alloc::format!("{path}.{OWN_LEAF}");
    let leaf = |path: &str| row.queues.get(path).copied().filter(|id| books.queue(*id).leaf);
    let Some(nearest) = leaf(&path).or_else(|| leaf(&own)) else {
        return Err(Declined::NoTenant { tenant: tenant(), partition: row.name.clone() });
    };
    let queue = books.queue(nearest);
    let mut up = books.up(nearest).map(|(_, above)| above);
    if let Some(closed) = up.find(|above| above.state != QueueState::Active) {
        let stopped = books.up(nearest).filter(|(_, above)| above.settings.stopped).last();
        let by = stopped.map_or(&closed.path, |(_, above)| &above.path).clone();
        let (path, state) = (closed.path.clone(), closed.state);
        return Err(Declined::TenantClosed { tenant: tenant(), path, state, by });
    }
    if let Some(max) = row.tenants.max_waiting_of(&known.settings) {
        may_wait(queue, max, &submit.tenant)?;
    }
    let (path, spelled) = (queue.path.clone(), queue.path.clone());
    Ok(Placed { path, spelled, nearest, exists: true })
}

/// Rejects a task if the leaf has the largest number of waiting tasks. Source: tenants TR-24.
fn may_wait(leaf: &Queue, max: u64, tenant: &Name) -> Result<(), Declined> {
    let count = leaf.waiting;
    if count < max {
        return Ok(());
    }
    Err(Declined::WaitingListFull { tenant: tenant.clone(), count, max })
}

/// Returns whether the tenant of a leaf accepts tasks that exceed its quota and lets them wait.
pub(super) fn parks(books: &Books, partition: PartitionId, leaf: &QueueSettings) -> bool {
    let tenants = &books.partition(partition).tenants;
    let tenant = leaf.tenant.as_ref().and_then(|mark| tenants.get(&mark.tenant));
    tenant.is_some_and(|row| tenants.oversized_of(&row.settings) == Oversized::Park)
}

/// Rejects a gang that exceeds the quota of a tenant that is a limit. Source: tenants TR-14.
pub(super) fn fits_limit(
    books: &Books,
    partition: PartitionId,
    submit: &Submit,
) -> Result<(), Declined> {
    let row = books.partition(partition);
    let Some(known) = row.tenants.get(&submit.tenant) else { return Ok(()) };
    let exempt = row.settings.tenants.as_ref().is_some_and(|one| one.is_exempt(&submit.tenant));
    let parks = row.tenants.oversized_of(&known.settings) == Oversized::Park;
    if known.settings.mapping == TenantMapping::Queue || exempt || parks {
        return Ok(());
    }
    let quota = row.tenants.quota_of(&known.settings);
    let asked = submit.placeholder_ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
    for (resource, amount) in asked {
        if let Some(max) = quota.get(resource).filter(|max| amount > *max) {
            let (tenant, resource) = (submit.tenant.clone(), resource.clone());
            return Err(Declined::GangQuota { tenant, resource, amount, max });
        }
    }
    Ok(())
}

/// Rejects applications that placement rules or an RM would place into the queues of tenants.
pub(super) fn is_of_none(
    books: &Books,
    partition: PartitionId,
    placed: &Placed,
) -> Result<(), Declined> {
    let Some(root) = books.partition(partition).tenants_root() else { return Ok(()) };
    if books.up(placed.nearest).all(|(id, _)| id != root) {
        return Ok(());
    }
    Err(Declined::TenantQueue { path: placed.path.clone() })
}
