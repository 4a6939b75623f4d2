//! Why a task of a tenant waits, as its tenant sees it. Tenants §3.1.

use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Books, Queue};
use crate::codes::codes;
use crate::config::tenant::{INSTANCES, TenantMapping, TenantSubject};
use crate::id::{AllocationId, LevelId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, Resources};

use super::{Blocker, Compared, Wait};

codes! {
    /// What of a tenant holds a task back. A code does not change.
    TenantCode {
        /// The quota of a tenant above its own.
        AncestorQuota = "ANCESTOR_QUOTA",
        /// A quota that was lowered below what is used.
        OverQuotaAfterLowering = "OVER_QUOTA_AFTER_LOWERING",
        /// How many tasks its tenant may run.
        TenantInstances = "TENANT_INSTANCES",
        /// The quota of its tenant.
        TenantQuota = "TENANT_QUOTA",
        /// A tenant that is suspended.
        TenantSuspended = "TENANT_SUSPENDED",
    }
}

/// What of a tenant holds a task back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantReason {
    /// A short code that does not change.
    pub code: TenantCode,
    /// The tenant whose quota is too small, or that is suspended: its own, or one above it.
    pub scope: Name,
    /// Each type of which too little is left.
    pub types: Vec<TenantShort>,
}

/// A type of which a tenant has too little left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantShort {
    /// Its name.
    pub resource: Name,
    /// What the tenant uses.
    pub used: Quantity,
    /// What the task needs.
    pub asked: Quantity,
    /// The quota.
    pub limit: Quantity,
    /// By how much the task would be above it.
    pub short: Quantity,
}

impl Wait {
    /// Returns the code under which an ask waits, as reported for a task of a tenant. An impossible
    /// task has the code of its blocker. A quota has the code of a tenant quota, whatever queue or
    /// limit enforces it.
    pub fn code_of_task(&self, books: &Books, ask: AllocationId) -> &'static str {
        let own = self.blocker.code(books);
        if self.blocker.row().is_permanent {
            return own;
        }
        self.tenant_reason(books, ask).map_or(own, |reason| reason.code.as_str())
    }

    /// What of a tenant holds an ask back; none where something else does, as the lack of a node.
    pub fn tenant_reason(&self, books: &Books, ask: AllocationId) -> Option<TenantReason> {
        if let Blocker::QueueState(queue) = self.blocker {
            let mark = books.queue(queue).settings.tenant.as_ref()?;
            let scope = mark.suspended.then(|| mark.tenant.clone())?;
            return Some(TenantReason {
                code: TenantCode::TenantSuspended,
                scope,
                types: Vec::new(),
            });
        }
        if let Compared::Queue(queue) = self.blocker.compared() {
            return of_queue(books, queue, ask);
        }
        if let Compared::Limit(partition, level) = self.blocker.compared() {
            return of_limit(books, (partition, level), ask);
        }
        None
    }
}

fn of_queue(books: &Books, queue: QueueId, ask: AllocationId) -> Option<TenantReason> {
    let row = books.queue(queue);
    let scope = tenant_of(row)?.clone();
    let leaf = books.application(books.allocation(ask).application).queue;
    let own = tenant_of(books.queue(leaf)) == Some(&scope);
    Some(reason(books, (scope, own), (&row.allocated, row.max.as_ref()?), ask))
}

fn tenant_of(row: &Queue) -> Option<&Name> {
    row.settings.tenant.as_ref().map(|mark| &mark.tenant)
}

/// The tenant that is the limit at a level, if one is.
fn of_limit(
    books: &Books,
    (partition, level): (PartitionId, LevelId),
    ask: AllocationId,
) -> Option<TenantReason> {
    let row = books.partition(partition);
    let level = row.trackers.level(level);
    let path = &books.queue(level.queue).path;
    if !row.tenants.is_shared(path) {
        return None;
    }
    let tracker = row.trackers.tracker(level.tracker);
    let mut all = row.tenants.iter();
    let (scope, _) = all.find(|(_, one)| match &one.settings.mapping {
        TenantMapping::Limit { queue, subject } if queue == path => match subject {
            TenantSubject::User(name) => tracker.kind == TrackerKind::User && tracker.name == *name,
            TenantSubject::Group(name) => {
                tracker.kind == TrackerKind::Group && tracker.name == *name
            }
        },
        TenantMapping::Queue | TenantMapping::Limit { .. } => false,
    })?;
    Some(reason(books, (scope.clone(), true), (&level.used(), level.max()?), ask))
}

fn reason(
    books: &Books,
    (scope, own): (Name, bool),
    (used, max): (&Resources, &Resources),
    ask: AllocationId,
) -> TenantReason {
    let wanted = books.total_request(ask);
    let wanted = wanted.iter().filter(|(_, asked)| *asked > Quantity::ZERO);
    let types: Vec<TenantShort> = wanted
        .filter_map(|(resource, asked)| {
            let (limit, used) = (max.get(resource)?, used.get_or_zero(resource));
            let short = used.plus(asked).minus(limit);
            let resource = books.types().name(resource).clone();
            (short > Quantity::ZERO).then_some(TenantShort { resource, used, asked, limit, short })
        })
        .collect();
    let code = if types.iter().any(|one| one.used > one.limit) {
        TenantCode::OverQuotaAfterLowering
    } else if !own {
        TenantCode::AncestorQuota
    } else if types.iter().all(|one| *one.resource == *INSTANCES) {
        TenantCode::TenantInstances
    } else {
        TenantCode::TenantQuota
    };
    TenantReason { code, scope, types }
}
