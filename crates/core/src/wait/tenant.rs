//! Wait reasons of tasks in terms of tenants. Source: tenants §3.1.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Books, Queue};
use crate::config::tenant::{INSTANCES, TenantSubject};
use crate::id::{AllocationId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, Resources};

use super::{Blocker, Compared, Wait, WaitCode};

/// Tenant bound that a task fails, with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantReason {
    /// Tenant that is suspended or whose quota is too small: the tenant of the task or an ancestor.
    pub scope: Name,
    /// Resource types that are short.
    pub types: Vec<TenantShort>,
}

/// Resource type that is short in a tenant quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantShort {
    /// Name of the resource type.
    pub resource: Name,
    /// Usage of the tenant.
    pub used: Quantity,
    /// Amount that the task needs.
    pub asked: Quantity,
    /// Quota of the tenant.
    pub limit: Quantity,
    /// Amount by which the task would exceed the quota.
    pub short: Quantity,
}

impl Wait {
    /// Returns the tenant bound that the ask fails. `None` if another bound blocks the ask, such as a lack of nodes.
    pub fn tenant_reason(&self, books: &Books, ask: AllocationId) -> Option<TenantReason> {
        if let Blocker::QueueState(queue) = self.blocker {
            let mark = books.queue(queue).settings.tenant.as_ref()?;
            let scope = mark.suspended.then(|| mark.tenant.clone())?;
            return Some(TenantReason { scope, types: Vec::new() });
        }
        let quota = Quota::of(books, self.blocker)?;
        let wanted = books.total_request(ask);
        let wanted = wanted.iter().filter(|(_, asked)| *asked > Quantity::ZERO);
        let types = wanted.filter_map(|(resource, asked)| {
            let (limit, used) = (quota.max.get(resource)?, quota.used.get_or_zero(resource));
            let short = used.plus(asked).minus(limit);
            let resource = books.types().name(resource).clone();
            (short > Quantity::ZERO).then_some(TenantShort { resource, used, asked, limit, short })
        });
        Some(TenantReason { scope: quota.tenant.clone(), types: types.collect() })
    }
}

/// Returns the code of a quota that blocks asks of a leaf. `None` if no tenant sets the bound.
///
/// It follows from the state of the tenant alone, so that every ask of a leaf has the same code.
pub(super) fn code(books: &Books, blocker: Blocker, leaf: QueueId) -> Option<WaitCode> {
    let quota = Quota::of(books, blocker)?;
    let mut types = quota.max.iter();
    if types.any(|(resource, limit)| quota.used.get_or_zero(resource) > limit) {
        return Some(WaitCode::OverQuotaAfterLowering);
    }
    if quota.is_of_ancestor(books, leaf) {
        return Some(WaitCode::AncestorQuota);
    }
    let instances = books.types().find(INSTANCES);
    let most = instances.and_then(|one| Some((quota.max.get(one)?, quota.used.get_or_zero(one))));
    let is_last = most.is_some_and(|(limit, used)| used >= limit);
    Some(if is_last { WaitCode::TenantInstances } else { WaitCode::TenantQuota })
}

/// The quota of a tenant, as a bound of asks.
struct Quota<'a> {
    tenant: &'a Name,
    /// The queue of the tenant; none where the tenant is a limit.
    queue: Option<QueueId>,
    used: Cow<'a, Resources>,
    max: &'a Resources,
}

impl Blocker {
    /// Returns the tenant whose quota is compared with what the ask needs; none where anything else is.
    pub fn tenant(self, books: &Books) -> Option<&Name> {
        Quota::of(books, self).map(|quota| quota.tenant)
    }
}

impl<'a> Quota<'a> {
    /// The quota that a reason compares; none where it compares something else.
    fn of(books: &'a Books, blocker: Blocker) -> Option<Self> {
        if let Compared::Queue(queue) = blocker.compared() {
            let row = books.queue(queue);
            let tenant = tenant_of(row)?;
            let used = Cow::Borrowed(&row.allocated);
            return Some(Self { tenant, queue: Some(queue), used, max: row.max.as_ref()? });
        }
        let Compared::Limit(partition, level) = blocker.compared() else { return None };
        let row = books.partition(partition);
        let level = row.trackers.level(level);
        let tracker = row.trackers.tracker(level.tracker);
        let tenant = row.tenants.limited(
            &books.queue(level.queue).path,
            &match tracker.kind {
                TrackerKind::User => TenantSubject::User(tracker.name.clone()),
                TrackerKind::Group => TenantSubject::Group(tracker.name.clone()),
            },
        )?;
        Some(Self { tenant, queue: None, used: Cow::Owned(level.used()), max: level.max()? })
    }

    /// Whether it is the quota of a tenant above the one of this leaf.
    fn is_of_ancestor(&self, books: &Books, leaf: QueueId) -> bool {
        self.queue.is_some() && tenant_of(books.queue(leaf)) != Some(self.tenant)
    }
}

fn tenant_of(row: &Queue) -> Option<&Name> {
    row.settings.tenant.as_ref().map(|mark| &mark.tenant)
}
