//! What tenants and their tasks used over time. Tenants §2.6.

use alloc::collections::BTreeMap;

use crate::books::{Books, Meter};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType};
use crate::time::Timestamp;

/// What the tasks of these tenants used up to now, together: core units times whole seconds. What is more than
/// an amount can be is the largest that it can.
pub fn tenant_seconds(
    books: &Books,
    partition: PartitionId,
    tenants: &[Name],
    now: Timestamp,
) -> Amounts {
    let known = &books.partition(partition).tenants;
    seconds(books, tenants.iter().filter_map(|tenant| known.meter_of(tenant)), now)
}

/// The same of one application, since it was submitted; nothing if it is of no tenant.
pub fn task_seconds(books: &Books, application: ApplicationId, now: Timestamp) -> Amounts {
    let metered = books.application(application).metered.as_deref();
    seconds(books, metered.iter().map(|metered| &metered.meter), now)
}

/// What was measured of the tasks of these tenants, together, and of how many; what is more than an amount can be is
/// the largest that it can. Source: tenants TR-17.
pub fn tenant_measured(books: &Books, partition: PartitionId, tenants: &[Name]) -> (Amounts, u64) {
    let known = &books.partition(partition).tasks;
    let (mut sums, mut tasks) = (BTreeMap::<ResourceType, i128>::new(), 0);
    for measured in tenants.iter().filter_map(|tenant| known.measured_of(tenant)) {
        tasks += measured.tasks();
        for (resource, amount) in measured.sums() {
            *sums.entry(resource).or_default() += amount;
        }
    }
    let whole = |sum: i128| Quantity::of(i64::try_from(sum).unwrap_or(i64::MAX));
    let name = |resource| books.types().name(resource).clone();
    (sums.into_iter().map(|(resource, sum)| (name(resource), whole(sum))).collect(), tasks)
}

fn seconds<'books>(
    books: &Books,
    meters: impl Iterator<Item = &'books Meter>,
    now: Timestamp,
) -> Amounts {
    let mut sums: BTreeMap<ResourceType, i128> = BTreeMap::new();
    for (resource, spent) in meters.flat_map(|meter| meter.spent(now)) {
        let sum = sums.entry(resource).or_default();
        *sum = sum.saturating_add(spent);
    }
    let whole = |spent: i128| Quantity::of(i64::try_from(spent / 1_000).unwrap_or(i64::MAX));
    let names = |resource| books.types().name(resource).clone();
    sums.into_iter().map(|(resource, spent)| (names(resource), whole(spent))).collect()
}
