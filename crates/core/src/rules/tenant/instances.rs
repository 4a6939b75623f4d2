//! Resource type that counts tasks: each ask of a tenant counts once in it, so that a quota can limit the number of
//! running tasks. Source: tenants §1.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{Application, Books, Tenants};
use crate::config::tenant::{INSTANCES, Oversized, TenantSubject};
use crate::event::{AllocationEvent, Event};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::rejection::{Rejection, TenantRejection};
use crate::resource::{Amounts, Quantity};
use crate::rules::lifecycle::Lifecycle;
use crate::time::Timestamp;

use super::Lowering;

/// Returns the current tenants of a partition. `None` if tenants are not enabled.
pub(super) fn here(books: &Books, partition: PartitionId) -> Option<Lowering<'_>> {
    let row = books.partition(partition);
    let config = row.settings.tenants.as_deref()?;
    Some(Lowering { books, partition, config, tenants: &row.tenants, by_file: false })
}

/// Returns the amounts that a request of an application counts as.
pub(in crate::rules) fn counted<'amounts>(
    books: &Books,
    application: ApplicationId,
    amounts: Cow<'amounts, Amounts>,
) -> Cow<'amounts, Amounts> {
    let row = books.application(application);
    if here(books, row.partition).is_none_or(|here| !here.counts(row.queue)) {
        return amounts;
    }
    let mut amounts = amounts.into_owned();
    amounts.set(INSTANCES, Quantity::of(1));
    Cow::Owned(amounts)
}

/// Rejects amounts that name the type that counts tasks, where tasks are counted automatically.
pub(in crate::rules) fn are_named(
    books: &Books,
    partition: PartitionId,
    what: &'static str,
    amounts: &Amounts,
) -> Result<(), Rejection> {
    if amounts.get(INSTANCES).is_none() || here(books, partition).is_none() {
        return Ok(());
    }
    let partition = books.partition(partition).name.clone();
    Err(TenantRejection::Instances { what, partition }.into())
}

/// Rejects an ask that exceeds a quota of its tenant or an ancestor, because it could never run. Source: tenants TR-14.
pub(in crate::rules) fn fits_quota(
    books: &Books,
    application: ApplicationId,
    key: &Name,
    amounts: &Amounts,
) -> Result<(), Rejection> {
    let row = books.application(application);
    let tenants: &Tenants = &books.partition(row.partition).tenants;
    fits_limits(books, row, key, amounts)?;
    let mark = books.queue(row.queue).settings.tenant.as_ref();
    let Some(tenant) = mark.and_then(|mark| tenants.get(&mark.tenant)) else { return Ok(()) };
    if tenants.oversized_of(&tenant.settings) == Oversized::Park {
        return Ok(());
    }
    for (_, queue) in books.up(row.queue) {
        let (Some(mark), Some(max)) = (&queue.settings.tenant, &queue.settings.max) else {
            continue;
        };
        for (resource, asked) in amounts.iter().filter(|(_, asked)| *asked > Quantity::ZERO) {
            if let Some(most) = max.get(resource).filter(|most| asked > *most) {
                let (key, tenant, resource) = (key.clone(), mark.tenant.clone(), resource.clone());
                let refused = TenantRejection::ExceedsQuota { key, tenant, resource, asked, most };
                return Err(refused.into());
            }
        }
    }
    Ok(())
}

/// Rejects an ask that exceeds the quota of a tenant which is a limit. Checks the limits of the user and of the charged
/// group, in the queue and its ancestors.
///
/// Costs the tenants that are limits in these queues.
fn fits_limits(
    books: &Books,
    row: &Application,
    key: &Name,
    amounts: &Amounts,
) -> Result<(), Rejection> {
    let Some(here) = here(books, row.partition) else { return Ok(()) };
    let tenants = here.tenants;
    for (_, queue) in books.up(row.queue) {
        let mine = tenants.limits_in(&queue.path).into_iter().filter(|(name, tenant, subject)| {
            tenants.oversized_of(&tenant.settings) != Oversized::Park
                && !here.config.is_exempt(name)
                && is_of(books, row, subject)
        });
        for (name, tenant, _) in mine {
            let quota = tenants.quota_of(&tenant.settings);
            for (resource, asked) in amounts.iter().filter(|(_, asked)| *asked > Quantity::ZERO) {
                if let Some(most) = quota.get(resource).filter(|most| asked > *most) {
                    let (key, tenant, resource) = (key.clone(), name.clone(), resource.clone());
                    let refused =
                        TenantRejection::ExceedsQuota { key, tenant, resource, asked, most };
                    return Err(refused.into());
                }
            }
        }
    }
    Ok(())
}

/// Returns whether an application belongs to this user, or is charged to this group. For an application that is not
/// linked yet, checks the group that it will be charged to.
fn is_of(books: &Books, row: &Application, subject: &TenantSubject) -> bool {
    let group = match subject {
        TenantSubject::User(user) => return row.user == *user,
        TenantSubject::Group(group) => group,
    };
    let trackers = &books.partition(row.partition).trackers;
    match row.link.and_then(|link| link.group.level()) {
        Some(level) => trackers.tracker(trackers.level(level).tracker).name == *group,
        None if row.lacks_group() => {
            trackers.group_for(&books.path_of(row.queue), &row.groups).as_ref() == Some(group)
        }
        None => false,
    }
}

/// Recounts asks and allocations whose size changes with the new tenants: in queues in which a first tenant becomes a
/// limit, or the last one is removed. Stops nothing.
pub(super) fn recount(
    books: &Books,
    now: Timestamp,
    after: &Lowering<'_>,
    events: &mut Vec<Event>,
) {
    let Some(before) = here(books, after.partition) else { return };
    let mut lives: BTreeMap<ApplicationId, Lifecycle<'_>> = BTreeMap::new();
    for (id, row) in books.allocations().iter() {
        let application = books.application(row.application);
        if application.partition != after.partition {
            continue;
        }
        let counts = after.counts(application.queue);
        if before.counts(application.queue) == counts {
            continue;
        }
        if row.is_swapping() {
            // The old size fitted the placeholder. The new size must be checked again.
            let life = lives.entry(row.application);
            let life = life.or_insert_with(|| Lifecycle::of(books, now, row.application));
            life.drop_swap(id, events);
        }
        let amounts = books.types().amounts(books.resources_of(id));
        let plain = amounts.iter().filter(|(name, _)| **name != *INSTANCES);
        let mut resources: Amounts = plain.map(|(name, one)| (name.clone(), one)).collect();
        if counts {
            resources.set(INSTANCES, Quantity::of(1));
        }
        events.push(Event::Allocation(AllocationEvent::Resized { allocation: id, resources }));
    }
}
