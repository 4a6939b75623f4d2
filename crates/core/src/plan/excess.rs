//! Usage that exceeds the limits of a queue file. It causes no preemption by itself, and nothing starts there until
//! other allocations end.

use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Books, Level};
use crate::id::{LevelId, PartitionId};
use crate::name::Name;
use crate::resource::{Quantity, Resources};

/// Kind of the holder of the usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A queue, or its tenant.
    Queue,
    /// A user in the queue and its descendants.
    User,
    /// A group in the queue and its descendants.
    Group,
}

/// Usage that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Partition of the limit.
    pub partition: Name,
    /// Kind of the holder.
    pub holder: Holder,
    /// Name of the holder: the path of the queue, its tenant, or the user or group.
    pub name: Name,
    /// Tenant of the queue, if it has one.
    pub tenant: Option<Name>,
    /// Queue of the limit.
    pub queue: Name,
    /// Exceeded amounts.
    pub of: ExcessAmount,
}

/// Exceeded amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExcessAmount {
    /// Amount of a resource type.
    Resource {
        /// Resource type.
        resource: Name,
        /// Current usage.
        used: Quantity,
        /// Limit.
        limit: Quantity,
        /// Usage above the limit.
        excess: Quantity,
    },
    /// Number of running applications.
    Applications {
        /// Number of running applications.
        used: u64,
        /// Limit.
        limit: u64,
    },
}

/// Returns all usage that exceeds a limit after a change, and did not exceed the same limit before.
pub(super) fn all(before: &Books, after: &Books) -> Vec<Excess> {
    let mut found = Vec::new();
    for (id, row) in after.queues().iter().filter(|(_, row)| row.parent.is_some()) {
        let known = before.queues().get(id);
        let say = Say {
            books: after,
            partition: row.partition,
            holder: Holder::Queue,
            name: &row.path,
            tenant: row.settings.tenant.as_ref().map(|tenant| &tenant.tenant),
            queue: &row.path,
        };
        let max = known.and_then(|known| known.max.as_ref());
        say.resources(&row.allocated, [max, row.max.as_ref()], &mut found);
        let max = known.map_or(0, |known| known.settings.max_applications);
        say.applications(row.running, [max, row.settings.max_applications], &mut found);
    }
    for (partition, row) in after.partitions() {
        for (id, level) in row.trackers.levels().filter(|(_, level)| level.is_limited()) {
            let tracker = row.trackers.tracker(level.tracker);
            let say = Say {
                books: after,
                partition: *partition,
                holder: match tracker.kind {
                    TrackerKind::User => Holder::User,
                    TrackerKind::Group => Holder::Group,
                },
                name: &tracker.name,
                tenant: None,
                queue: &after.queue(level.queue).path,
            };
            let known = known_level(before, (*partition, id), level);
            let max = known.and_then(Level::max);
            say.resources(&level.used(), [max, level.max()], &mut found);
            let max = known.map_or(0, |known| known.max_applications());
            say.applications(level.running, [max, level.max_applications()], &mut found);
        }
    }
    let key = |one: &Excess| (one.partition.clone(), one.queue.clone(), one.holder);
    found.sort_by_key(key);
    found
}

/// Returns the same level before the change, if it existed.
fn known_level<'books>(
    before: &'books Books,
    (partition, id): (PartitionId, LevelId),
    level: Level<'_>,
) -> Option<Level<'books>> {
    let trackers = &before.partitions().get(&partition)?.trackers;
    let known = trackers.find_level(id)?;
    (known.queue == level.queue && known.tracker == level.tracker).then_some(known)
}

/// A holder whose usage is compared with limits.
#[derive(Clone, Copy)]
struct Say<'all> {
    books: &'all Books,
    partition: PartitionId,
    holder: Holder,
    name: &'all Name,
    tenant: Option<&'all Name>,
    queue: &'all Name,
}

impl Say<'_> {
    fn of(self, of: ExcessAmount) -> Excess {
        Excess {
            partition: self.books.partition(self.partition).name.clone(),
            holder: self.holder,
            name: self.name.clone(),
            tenant: self.tenant.cloned(),
            queue: self.queue.clone(),
            of,
        }
    }

    fn resources(
        self,
        used: &Resources,
        [before, after]: [Option<&Resources>; 2],
        found: &mut Vec<Excess>,
    ) {
        for (resource, limit) in after.into_iter().flat_map(Resources::iter) {
            let used = used.get_or_zero(resource);
            let same = before.and_then(|before| before.get(resource)) == Some(limit);
            if used > limit && !same {
                let resource = self.books.types().name(resource).clone();
                let excess = used.minus(limit);
                found.push(self.of(ExcessAmount::Resource { resource, used, limit, excess }));
            }
        }
    }

    fn applications(self, used: u64, [before, limit]: [u64; 2], found: &mut Vec<Excess>) {
        if limit > 0 && used > limit && before != limit {
            found.push(self.of(ExcessAmount::Applications { used, limit }));
        }
    }
}
