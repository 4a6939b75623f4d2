//! Views of tenants: quota, usage, and pending amounts. Source: tenants §3.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Application, Books, Partition};
use crate::config::TenantsConfig;
use crate::config::tenant::{TenantMapping, TenantSubject};
use crate::id::{ApplicationId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::Timestamp;

/// Quota, usage, and pending amounts of a tenant with its descendants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantView {
    /// Effective quota: its own or the default. A type that is not named is unlimited.
    pub quota: Amounts,
    /// Usage of its tasks.
    pub used: Amounts,
    /// Sum of the pending amounts of its tasks.
    pub pending: Amounts,
    /// Number of tasks with a waiting ask.
    pub waiting: u64,
    /// Submission time of the oldest of them.
    pub oldest: Option<Timestamp>,
}

impl TenantView {
    /// Returns the remaining quota by type. Negative if the usage exceeds it.
    pub fn free(&self) -> Amounts {
        let left = |(resource, quota): (&Name, Quantity)| {
            (resource.clone(), quota.minus(self.used.get(resource).unwrap_or_default()))
        };
        self.quota.iter().map(left).collect()
    }

    /// Returns the usage above the quota by type. Empty if there is none.
    pub fn excess(&self) -> Amounts {
        let free = self.free();
        let over = free.iter().filter(|(_, left)| *left < Quantity::ZERO);
        over.map(|(resource, left)| (resource.clone(), Quantity::ZERO.minus(left))).collect()
    }

    /// Returns whether this quota has less left of some type than another one.
    pub fn leaves_less_than(&self, other: &Self) -> bool {
        let others = other.free();
        self.free()
            .iter()
            .any(|(resource, left)| others.get(resource).is_none_or(|other| left < other))
    }
}

/// Returns the partition with tenants, and its tenant configuration. `None` if no partition has tenants.
pub fn tenants(books: &Books) -> Option<(PartitionId, &Partition, &TenantsConfig)> {
    books.partitions().keys().find_map(|id| {
        let row = books.partition(*id);
        Some((*id, row, row.settings.tenants.as_deref()?))
    })
}

/// Returns the quota, usage, and pending amounts of a tenant, without the number of waiting tasks and their age. `None`
/// if the tenant does not exist. Constant cost. For a tenant that is a limit, pending amounts are not reported.
pub fn tenant_use(books: &Books, partition: PartitionId, tenant: &Name) -> Option<TenantView> {
    let row = books.partition(partition);
    let config = row.settings.tenants.as_deref()?;
    let known = row.tenants.get(tenant)?;
    let mut view = TenantView::default();
    if !config.is_exempt(tenant) {
        view.quota = row.tenants.quota_of(&known.settings).clone();
    }
    let (used, pending) = match &known.settings.mapping {
        TenantMapping::Queue => {
            let path = row.tenants.path_of(&config.root, tenant)?;
            let queue = books.queue(*row.queues.get(&*path)?);
            (queue.allocated.clone(), queue.pending.clone())
        }
        TenantMapping::Limit { queue, subject } => {
            (used_by(row, *row.queues.get(&**queue)?, subject), Resources::new())
        }
    };
    view.used = books.types().amounts(&used);
    view.pending = books.types().amounts(&pending.pruned());
    Some(view)
}

/// Returns the complete view of a tenant. `None` if it does not exist. Costs its queues and their waiting applications.
/// For a tenant that is a limit, costs the applications of its partition.
pub fn tenant(books: &Books, partition: PartitionId, tenant: &Name) -> Option<TenantView> {
    let mut view = tenant_use(books, partition, tenant)?;
    let row = books.partition(partition);
    match &row.tenants.get(tenant)?.settings.mapping {
        TenantMapping::Queue => {
            let path = row.tenants.path_of(&row.settings.tenants.as_deref()?.root, tenant)?;
            for leaf in leaves(books, *row.queues.get(&*path)?) {
                view.wait_in(books.applications_in(leaf).map(|(_, application)| application));
            }
        }
        TenantMapping::Limit { queue, subject } => {
            let queue = row.queues.get(&**queue).copied()?;
            let all: Vec<&Application> =
                limited(books, row, queue, subject).map(|(_, one)| one).collect();
            view.wait_in(all.iter().copied());
            let mut pending = Resources::new();
            for one in all {
                pending.add(&one.pending);
            }
            view.pending = books.types().amounts(&pending.pruned());
        }
    }
    Some(view)
}

impl TenantView {
    fn wait_in<'books>(&mut self, applications: impl Iterator<Item = &'books Application>) {
        for one in applications.filter(|one| one.ask_count > 0) {
            self.waiting += 1;
            let oldest = self.oldest.get_or_insert(one.submitted);
            *oldest = one.submitted.min(*oldest);
        }
    }
}

/// Returns a leaf itself, or the leaves in the subtree of a queue.
fn leaves(books: &Books, queue: QueueId) -> Vec<QueueId> {
    let (mut leaves, mut left) = (Vec::new(), vec![queue]);
    while let Some(queue) = left.pop() {
        if books.queue(queue).leaf {
            leaves.push(queue);
        }
        left.extend(books.children(queue).map(|(id, _)| id));
    }
    leaves
}

/// Returns the usage of a user or group in a queue.
fn used_by(row: &Partition, queue: QueueId, subject: &TenantSubject) -> Resources {
    let (kind, name) = match subject {
        TenantSubject::User(name) => (TrackerKind::User, name),
        TenantSubject::Group(name) => (TrackerKind::Group, name),
    };
    let level = row.trackers.level_of(kind, name, queue);
    level.map(|level| row.trackers.level(level).used().clone()).unwrap_or_default()
}

/// Returns the applications in a queue and its descendants that belong to a user or are charged to a group.
fn limited<'books>(
    books: &'books Books,
    row: &'books Partition,
    queue: QueueId,
    subject: &'books TenantSubject,
) -> impl Iterator<Item = (ApplicationId, &'books Application)> {
    let is_his = move |application: &Application| match subject {
        TenantSubject::User(name) => application.user == *name,
        TenantSubject::Group(name) => {
            let level = application.link.and_then(|link| link.group.level());
            let trackers = &row.trackers;
            level.is_some_and(|level| trackers.tracker(trackers.level(level).tracker).name == *name)
        }
    };
    let all = row.applications.iter().map(|(_, id)| (*id, books.application(*id)));
    all.filter(move |(_, one)| is_his(one) && books.up(one.queue).any(|(id, _)| id == queue))
}
