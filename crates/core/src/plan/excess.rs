//! Who uses more than a file would allow: nothing is stopped for it by itself, and nothing starts there
//! before others end.

use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Books, Level};
use crate::id::{LevelId, PartitionId};
use crate::name::Name;
use crate::resource::{Quantity, Resources};

/// Whose use it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// The queue's, a tenant's if it has one.
    Queue,
    /// A user's, in the queue and below.
    User,
    /// A group's, in the queue and below.
    Group,
}

/// More than is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// In which partition.
    pub partition: Name,
    /// Whose use.
    pub holder: Holder,
    /// Who: the path of the queue, the tenant that has it, or the name of the user or group.
    pub name: Name,
    /// The tenant whose queue it is, if it is one's.
    pub tenant: Option<Name>,
    /// The queue at which the limit is.
    pub queue: Name,
    /// Of what.
    pub of: ExcessAmount,
}

/// Of what there is too much, and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExcessAmount {
    /// A resource type.
    Resource {
        /// Which.
        resource: Name,
        /// Used.
        used: Quantity,
        /// Allowed.
        limit: Quantity,
        /// Above it.
        excess: Quantity,
    },
    /// Applications that run.
    Applications {
        /// Running.
        used: u64,
        /// Allowed.
        limit: u64,
    },
}

/// All who use more than is allowed after a change, and did not by the same limit before.
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

/// The same level before, if it was there.
fn known_level<'books>(
    before: &'books Books,
    (partition, id): (PartitionId, LevelId),
    level: Level<'_>,
) -> Option<Level<'books>> {
    let trackers = &before.partitions().get(&partition)?.trackers;
    let known = trackers.find_level(id)?;
    (known.queue == level.queue && known.tracker == level.tracker).then_some(known)
}

/// Who it is that may use more than is allowed.
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
