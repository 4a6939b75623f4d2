//! Differences between counted and actual usage of tenants. Source: tenants §2.6.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::event::TenantDrift;
use crate::id::QueueId;
use crate::resource::Resources;

/// Returns all differences, by tenant and type.
///
/// Adds up every allocation, so call it from a timer and not in a step. A tenant that is a limit has no counter of its
/// own. The checks of the books cover the counter of its user or group.
pub fn tenant_drift(books: &Books) -> Vec<TenantDrift> {
    let Some((partition, row, _)) = super::tenants(books) else { return Vec::new() };
    if row.tenants.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<QueueId, Resources> = BTreeMap::new();
    for (id, allocation) in books.allocations().iter().filter(|(_, one)| one.is_allocated()) {
        let application = books.application(allocation.application);
        if application.partition == partition {
            found.entry(application.queue).or_default().add(books.resources_of(id));
        }
    }
    let mut sums: BTreeMap<QueueId, Resources> = BTreeMap::new();
    for (leaf, sum) in &found {
        for (queue, _) in books.up(*leaf) {
            sums.entry(queue).or_default().add(sum);
        }
    }
    let nothing = Resources::new();
    let mut drift = Vec::new();
    for (id, queue) in books.queues().iter().filter(|(_, queue)| queue.partition == partition) {
        let Some(mark) = &queue.settings.tenant else { continue };
        let sum = sums.get(&id).unwrap_or(&nothing);
        let mut types: Vec<_> =
            queue.allocated.iter().chain(sum.iter()).map(|(of, _)| of).collect();
        types.sort_unstable();
        types.dedup();
        for resource in types {
            let (counted, found) =
                (queue.allocated.get_or_zero(resource), sum.get_or_zero(resource));
            if counted != found {
                let (tenant, resource) =
                    (mark.tenant.clone(), books.types().name(resource).clone());
                drift.push(TenantDrift { tenant, resource, counted, found });
            }
        }
    }
    drift.sort_by(|one, other| (&one.tenant, &one.resource).cmp(&(&other.tenant, &other.resource)));
    drift
}
