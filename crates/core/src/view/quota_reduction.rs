//! What another quota of a tenant would come to. Tenants §7.

use alloc::vec::Vec;

use crate::books::Books;
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::rules::lowered;

/// What another quota of a tenant would come to, were it in force and tasks stopped for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaReductionView {
    /// By how much the tenant would be above it, without what is being stopped already.
    pub excess: Amounts,
    /// What would be stopped, in this order.
    pub victims: Vec<VictimView>,
    /// What would be above it then: of tasks that may not be stopped, or that a tenant below is
    /// guaranteed.
    pub rest: Amounts,
}

/// An allocation that would be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimView {
    /// Its application.
    pub application: Name,
    /// Its key.
    pub key: Name,
    /// How urgent it is.
    pub priority: i32,
    /// What it gives back.
    pub resources: Amounts,
}

/// What this quota of a tenant would come to, whatever the tenant says of being lowered; none if there
/// is no such tenant. Nothing is changed. Costs the allocations of the tenant, sorted.
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
