//! Largest users of the resources that an ask lacks.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::tracker::TrackerKind;
use crate::books::{Application, Books};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::wait::{Blocker, Compared};

use super::amount::Amount;

/// Largest number of reported holders.
pub const HOLDERS: usize = 5;

/// An application that uses resources of a failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Application that uses the resources.
    pub application: ApplicationId,
    /// Usage of the types that are short. Empty if applications are counted.
    pub used: Resources,
}

/// Returns the largest users of the resources of a check. They are ordered by the first type that is short, and then by
/// submission.
pub(super) fn of(books: &Books, blocker: Blocker, amounts: &[Amount]) -> Vec<Holder> {
    match blocker.compared() {
        Compared::Queue(queue) => {
            largest(books, amounts, below(books, queue), |row| row.allocated.clone())
        }
        Compared::RunningIn(queue) => {
            counted(below(books, queue).filter(|(_, row)| row.counted || row.allocating))
        }
        Compared::ActivatedIn(queue) => {
            counted(below(books, queue).filter(|(_, row)| row.driver.is_some()))
        }
        Compared::DriversIn(leaf) => {
            let drivers = |row: &Application| row.driver.as_deref().cloned().unwrap_or_default();
            largest(books, amounts, below(books, leaf), drivers)
        }
        Compared::Limit(partition, level)
        | Compared::Cap(partition, level)
        | Compared::Share(partition, level) => {
            let mine = of_level(books, partition, level);
            largest(books, amounts, mine, |row| row.allocated.clone())
        }
        Compared::RunningAt(partition, level) => {
            counted(of_level(books, partition, level).filter(|(_, row)| row.counted))
        }
        Compared::ActivatedOf(partition, level) => {
            let trackers = &books.partition(partition).trackers;
            let user = &trackers.tracker(trackers.level(level).tracker).name;
            let all = books.applications().iter().filter(move |(_, row)| {
                row.partition == partition && row.user == *user && row.driver.is_some()
            });
            counted(all)
        }
        Compared::DriversOf(partition, level) => {
            let drivers = |row: &Application| row.driver.as_deref().cloned().unwrap_or_default();
            largest(books, amounts, of_level(books, partition, level), drivers)
        }
        Compared::Free(node) => {
            let mut holders: Vec<Holder> = Vec::new();
            for (_, row) in books.allocations_on(node) {
                let used = books.shapes().on_node(row.shape);
                match holders.iter_mut().find(|one| one.application == row.application) {
                    Some(known) => known.used.add(used),
                    None => {
                        holders.push(Holder { application: row.application, used: used.clone() });
                    }
                }
            }
            first(books, amounts, holders)
        }
        Compared::Nothing | Compared::LeftByHead(_) | Compared::Size(_) | Compared::MostFree(_) => {
            Vec::new()
        }
    }
}

/// Returns the unfinished applications in a queue and its descendants.
fn below(books: &Books, queue: QueueId) -> impl Iterator<Item = (ApplicationId, &Application)> {
    let partition = books.queue(queue).partition;
    books.applications().iter().filter(move |(_, row)| {
        row.partition == partition
            && row.state.is_active()
            && books.up(row.queue).any(|(id, _)| id == queue)
    })
}

/// Returns the applications that are charged to a level.
fn of_level(
    books: &Books,
    partition: PartitionId,
    level: LevelId,
) -> impl Iterator<Item = (ApplicationId, &Application)> {
    let trackers = &books.partition(partition).trackers;
    let (queue, tracker) = (trackers.level(level).queue, trackers.level(level).tracker);
    let kind = trackers.tracker(tracker).kind;
    below(books, queue).filter(move |(_, row)| {
        row.link.is_some_and(|link| {
            let charged = match kind {
                TrackerKind::User => Some(link.user),
                TrackerKind::Group => link.group.level(),
            };
            let level = charged.and_then(|level| trackers.find_level(level));
            level.is_some_and(|level| level.tracker == tracker)
        })
    })
}

fn counted<'books>(all: impl Iterator<Item = (ApplicationId, &'books Application)>) -> Vec<Holder> {
    let mut all: Vec<(u64, ApplicationId)> = all.map(|(id, row)| (row.number, id)).collect();
    all.sort_unstable();
    let all = all.into_iter().take(HOLDERS);
    all.map(|(_, application)| Holder { application, used: Resources::new() }).collect()
}

fn largest<'books>(
    books: &Books,
    amounts: &[Amount],
    all: impl Iterator<Item = (ApplicationId, &'books Application)>,
    used: impl Fn(&Application) -> Resources,
) -> Vec<Holder> {
    let holders = all.map(|(application, row)| Holder { application, used: used(row) });
    first(books, amounts, holders.collect())
}

/// Returns the largest holders, with the relevant part of their usage.
fn first(books: &Books, amounts: &[Amount], mut holders: Vec<Holder>) -> Vec<Holder> {
    let types = || amounts.iter().filter_map(|one| one.resource);
    for holder in &mut holders {
        let used = types().map(|resource| (resource, holder.used.get_or_zero(resource)));
        holder.used = used.filter(|(_, used)| *used > Quantity::ZERO).collect();
    }
    holders.retain(|holder| !holder.used.is_empty());
    holders.sort_by_cached_key(|holder| {
        let used: Vec<_> = types().map(|one| Reverse(holder.used.get_or_zero(one))).collect();
        (used, books.application(holder.application).number)
    });
    holders.truncate(HOLDERS);
    holders
}
