//! Prediction for another quota of a tenant. Source: tenants §7.

use alloc::vec::Vec;

use crate::books::Books;
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::rules::lowered;

/// Effects of another quota of a tenant, with evictions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaReductionView {
    /// Amounts by which the tenant would exceed the quota, without those that are already being stopped.
    pub excess: Amounts,
    /// Allocations to evict, in this order.
    pub victims: Vec<VictimView>,
    /// Amounts that would still exceed the quota: of tasks that cannot be stopped, or that are guaranteed to a
    /// descendant.
    pub rest: Amounts,
}

/// An allocation that would be evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimView {
    /// Application of the allocation.
    pub application: Name,
    /// Allocation key.
    pub key: Name,
    /// Priority of the allocation.
    pub priority: i32,
    /// Amounts that it releases.
    pub resources: Amounts,
}

/// Predicts the effects of this quota of a tenant, regardless of its setting for lowered quotas. `None` if the tenant
/// does not exist. Changes nothing. Costs the allocations of the tenant, sorted.
pub fn lowering(
    books: &Books,
    partition: PartitionId,
    tenant: &Name,
    quota: &Amounts,
) -> Option<QuotaReductionView> {
    let eviction = lowered(books, partition, tenant, quota)?;
    let victims = eviction.victims.iter().map(|victim| {
        let row = books.allocation(*victim);
        VictimView {
            application: books.application(row.application).name.clone(),
            key: row.key.clone(),
            priority: row.priority,
            resources: books.types().amounts(books.resources_of(*victim)),
        }
    });
    Some(QuotaReductionView {
        excess: books.types().amounts(&eviction.excess),
        victims: victims.collect(),
        rest: books.types().amounts(&eviction.rest),
    })
}
