//! Usage before a change, and after the scheduler came to rest.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::books::tracker::TrackerKind;
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};

/// Usage before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Queues whose usage or pending amounts change, by partition and path. Always includes the roots.
    pub queues: Vec<QueueUsage>,
    /// Users whose usage changes, by partition and name.
    pub users: Vec<UserUsage>,
    /// Evenness of the usage of the users before and after, in thousandths: Jain's index of their dominant shares.
    /// 1,000 if all shares are equal. `None` without usage.
    ///
    /// Source: Jain, Chiu, Hawe, "A Quantitative Measure of Fairness", DEC-TR-301, 1984.
    pub evenness: [Option<u64>; 2],
}

/// One queue before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUsage {
    /// Partition of the queue.
    pub partition: Name,
    /// Path of the queue.
    pub queue: Name,
    /// Usage of the queue and its descendants.
    pub used: [Amounts; 2],
    /// Pending amounts of the queue and its descendants.
    pub pending: [Amounts; 2],
    /// Largest fraction of its guarantee that it uses, in thousandths. `None` without a guarantee.
    pub of_guarantee: [Option<u64>; 2],
}

/// One user before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserUsage {
    /// Partition of the user.
    pub partition: Name,
    /// Name of the user.
    pub user: Name,
    /// Usage in all queues.
    pub used: [Amounts; 2],
}

impl Settled {
    pub(super) fn of(before: &Books, after: &Books) -> Self {
        let sides = [before, after];
        let mut settled = Self { queues: Vec::new(), users: Vec::new(), evenness: [None; 2] };
        let names = sides.map(|books| books.partitions().values().map(|row| row.name.clone()));
        let names: BTreeSet<Name> = names.into_iter().flatten().collect();
        for name in &names {
            settled.queues_of(name, sides);
            settled.users_of(name, sides);
        }
        settled.evenness = sides.map(evenness);
        settled
    }

    fn queues_of(&mut self, partition: &Name, sides: [&Books; 2]) {
        let paths = sides.map(|books| {
            let partition = books.partition_named(partition).map(|id| books.partition(id));
            partition.into_iter().flat_map(|row| row.queues.iter()).map(|(path, _)| path.clone())
        });
        let paths: BTreeSet<Name> = paths.into_iter().flatten().collect();
        for path in paths {
            let [before, after] = sides.map(|books| {
                let partition = books.partition_named(partition)?;
                let row = books.queue(books.queue_at(partition, &path)?);
                let amounts = |resources: &Resources| books.types().amounts(resources);
                let guaranteed = row.guaranteed.as_ref();
                let part = guaranteed.and_then(|guaranteed| part(&row.allocated, guaranteed));
                Some((amounts(&row.allocated), amounts(&row.pending), part))
            });
            if before == after && path != "root" {
                continue;
            }
            let (used, pending, part) = before.unwrap_or_default();
            let after = after.unwrap_or_default();
            self.queues.push(QueueUsage {
                partition: partition.clone(),
                queue: path,
                used: [used, after.0],
                pending: [pending, after.1],
                of_guarantee: [part, after.2],
            });
        }
    }

    fn users_of(&mut self, partition: &Name, sides: [&Books; 2]) {
        let [before, mut after] = sides.map(|books| users(books, partition));
        for (user, used) in before {
            let then = after.remove(&user).unwrap_or_default();
            if used != then {
                let partition = partition.clone();
                self.users.push(UserUsage { partition, user, used: [used, then] });
            }
        }
        for (user, then) in after.into_iter().filter(|(_, then)| !then.is_empty()) {
            let used = [Amounts::EMPTY, then];
            self.users.push(UserUsage { partition: partition.clone(), user, used });
        }
    }
}

/// Returns the usage of each user of a partition.
fn users(books: &Books, partition: &Name) -> BTreeMap<Name, Amounts> {
    let Some(id) = books.partition_named(partition) else { return BTreeMap::new() };
    let trackers = &books.partition(id).trackers;
    let used = trackers.names(TrackerKind::User).iter().map(|(name, tracker)| {
        let used = trackers.level(trackers.tracker(*tracker).root).used();
        (name.clone(), books.types().amounts(&used))
    });
    used.collect()
}

/// Returns the largest fraction over all types, in thousandths. `None` if the whole is empty.
fn part(used: &Resources, of: &Resources) -> Option<u64> {
    let parts = of.iter().filter(|(_, whole)| *whole > Quantity::ZERO).map(|(resource, whole)| {
        let used = i128::from(used.get_or_zero(resource).get().max(0));
        u64::try_from(used * 1_000 / i128::from(whole.get())).unwrap_or(u64::MAX)
    });
    parts.max()
}

/// Returns Jain's index of the dominant shares of all users with usage, in thousandths.
fn evenness(books: &Books) -> Option<u64> {
    let (mut count, mut sum, mut squares) = (0_u128, 0_u128, 0_u128);
    for row in books.partitions().values() {
        let Some(whole) = books.queue(row.root).max.as_ref() else { continue };
        for (_, tracker) in row.trackers.names(TrackerKind::User).iter() {
            let used = row.trackers.level(row.trackers.tracker(*tracker).root).used();
            let share = u128::from(part(&used, whole).unwrap_or_default().min(SHARE_MAX));
            if !used.is_empty() {
                (count, sum) = (count + 1, sum + share);
                squares += share * share;
            }
        }
    }
    let index = (sum * sum * 1_000).checked_div(count * squares)?;
    u64::try_from(index).ok()
}

/// Upper bound of a share in thousandths, so that squares do not overflow.
const SHARE_MAX: u64 = 1_000_000_000;
