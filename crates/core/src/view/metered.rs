//! Usage of tenants and their tasks: over time, as allocated, and now, as measured. Source: tenants §2.6.

use alloc::collections::BTreeMap;

use crate::books::{Books, MeasuredSum, Meter};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType};
use crate::time::Timestamp;

/// Returns the usage of the tasks of these tenants up to now, in core units times whole seconds. Saturates at the
/// largest amount.
pub fn tenant_seconds(
    books: &Books,
    partition: PartitionId,
    tenants: &[Name],
    now: Timestamp,
) -> Amounts {
    let known = &books.partition(partition).tenants;
    seconds(books, tenants.iter().filter_map(|tenant| known.meter_of(tenant)), now)
}

/// Returns the usage of one application since its submission. Empty for an application without a tenant.
pub fn task_seconds(books: &Books, application: ApplicationId, now: Timestamp) -> Amounts {
    let metered = books.application(application).metered.as_deref();
    seconds(books, metered.iter().map(|metered| &metered.meter), now)
}

/// Returns the measured usage of the tasks of these tenants, and the number of measured tasks. Saturates at the largest
/// amount. Source: tenants TR-17.
pub fn tenant_measured(books: &Books, partition: PartitionId, tenants: &[Name]) -> (Amounts, u64) {
    let known = &books.partition(partition).tasks;
    let all = || tenants.iter().filter_map(|tenant| known.measured_of(tenant));
    let amounts = sums(books, all().flat_map(MeasuredSum::sums), 1);
    (amounts, all().map(MeasuredSum::tasks).sum())
}

fn seconds<'books>(
    books: &Books,
    meters: impl Iterator<Item = &'books Meter>,
    now: Timestamp,
) -> Amounts {
    sums(books, meters.flat_map(|meter| meter.spent(now)), 1_000)
}

/// Returns the sum by type, divided by `unit`.
fn sums(books: &Books, all: impl Iterator<Item = (ResourceType, i128)>, unit: i128) -> Amounts {
    let mut sums: BTreeMap<ResourceType, i128> = BTreeMap::new();
    for (resource, amount) in all {
        let sum = sums.entry(resource).or_default();
        *sum = sum.saturating_add(amount);
    }
    let whole = |sum: i128| Quantity::of(i64::try_from(sum / unit).unwrap_or(i64::MAX));
    let name = |resource| books.types().name(resource).clone();
    sums.into_iter().map(|(resource, sum)| (name(resource), whole(sum))).collect()
}
