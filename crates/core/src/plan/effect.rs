//! Effects of a queue file on asks and applications, in addition to effects that would happen anyway.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Allocation, Books};
use crate::event::{AllocationEvent, AskEvent, Event, PreemptionCause};
use crate::id::{AllocationId, ApplicationId};
use crate::name::Name;
use crate::placement::{Request, place};
use crate::resource::Amounts;
use crate::schedule::Scheduler;
use crate::time::{Millis, Timestamp};
use crate::wait::WaitCode;

use super::Reach;
use super::course::Course;

/// The first entries of a kind, and their total number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// Total number.
    pub total: usize,
    /// First entries.
    pub first: Vec<T>,
}

/// Effects on asks and applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Asks that start and would not start otherwise.
    pub starts: Listed<AskInPlan>,
    /// Asks that would start otherwise and do not, each with its wait reason.
    pub held: Listed<AskChange>,
    /// Asks that wait in both cases, for a different reason.
    pub waits_otherwise: Listed<AskChange>,
    /// Asks that become impossible, because they exceed a limit.
    pub impossible: Listed<AskChange>,
    /// Asks that are withdrawn.
    pub withdrawn: Listed<AskInPlan>,
    /// Allocations that are released.
    pub released: Listed<AskInPlan>,
    /// Applications that placement rules would send to another queue if they were submitted again.
    pub placed_otherwise: Listed<Moved>,
    /// Allocations that would be preempted until the horizon.
    pub evictions: Listed<Eviction>,
    /// Asks that lose their reservation.
    pub reservations_dropped: Listed<AskInPlan>,
}

/// An ask or an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskInPlan {
    /// Partition of the ask.
    pub partition: Name,
    /// Application of the ask.
    pub application: Name,
    /// Allocation key.
    pub key: Name,
    /// Leaf of its application.
    pub queue: Name,
    /// User that is charged.
    pub user: Name,
    /// Amounts of the ask.
    pub resources: Amounts,
}

/// An ask whose wait reason changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskChange {
    /// Ask that changes.
    pub ask: AskInPlan,
    /// Code and sentence of the wait without the file. `None` if it would not wait.
    pub before: Option<(&'static str, Name)>,
    /// Code and sentence of the wait with the file. `None` if it does not wait.
    pub after: Option<(&'static str, Name)>,
}

/// An application that placement rules would send to another queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Partition of the application.
    pub partition: Name,
    /// Application ID.
    pub application: Name,
    /// User who submitted.
    pub user: Name,
    /// Current queue, which the current rules select too.
    pub queue: Name,
    /// New queue. `None` if the application would be rejected.
    pub other: Option<Name>,
    /// Reason of the rejection.
    pub why: Option<Name>,
}

/// An allocation that would be preempted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// Time until the preemption.
    pub after: Millis,
    /// Allocation that would be preempted.
    pub victim: AskInPlan,
    /// Cause of the preemption.
    pub cause: For,
}

/// Cause of a preemption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum For {
    /// An ask: of a queue below its guarantee, of a user below their share, or with a required node.
    Ask(AskInPlan),
    /// The maximum of this queue.
    Maximum(Name),
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { total: 0, first: Vec::new() }
    }
}

impl<T> Listed<T> {
    fn of(
        reach: Reach,
        all: impl IntoIterator<Item = AllocationId>,
        one: impl Fn(AllocationId) -> T,
    ) -> Self {
        let mut listed = Self::default();
        for id in all {
            listed.total += 1;
            if listed.first.len() < reach.listed {
                listed.first.push(one(id));
            }
        }
        listed
    }
}

/// Returns all effects. Both courses are at rest, and continue to the horizon.
pub(super) fn all(
    books: &Books,
    [anyway, changed]: [&mut Course; 2],
    configured: &Books,
    reach: Reach,
) -> Effects {
    let sorted = Sorted::of(
        books,
        [&anyway.copy, &changed.copy].map(|copy| &copy.books),
        [&anyway.copy, &changed.copy].map(|copy| &copy.scheduler),
    );
    let shown = |id| shown(books, id);
    let change = |id| sorted.change(id);
    let list = |all: &[AllocationId]| Listed::of(reach, all.iter().copied(), shown);
    let changes = |all: &[AllocationId]| Listed::of(reach, all.iter().copied(), change);
    let dropped = |course: &Course| -> BTreeSet<AllocationId> {
        let asks = course.happened.iter().filter_map(|(_, event)| {
            if let Event::Ask(AskEvent::Unreserved { ask }) = event { Some(*ask) } else { None }
        });
        asks.filter(|ask| is_reserved(books, *ask) && !is_reserved(&course.copy.books, *ask))
            .collect()
    };
    let without: Vec<AllocationId> =
        dropped(changed).difference(&dropped(anyway)).copied().collect();
    let mut effects = Effects {
        starts: list(&sorted.starts),
        held: changes(&sorted.held),
        waits_otherwise: changes(&sorted.otherwise),
        impossible: changes(&sorted.impossible),
        withdrawn: list(&sorted.withdrawn),
        released: list(&sorted.released),
        placed_otherwise: placed_otherwise(books, configured, reach),
        evictions: Listed::default(),
        reservations_dropped: list(&without),
    };
    anyway.pass_time(reach.horizon, reach.steps);
    changed.pass_time(reach.horizon, reach.steps);
    let evictions = |course: &Course| -> BTreeMap<AllocationId, (Timestamp, PreemptionCause)> {
        let stopped = course.happened.iter().filter_map(|(at, event)| {
            let Event::Allocation(AllocationEvent::Preempted { victim, cause }) = event else {
                return None;
            };
            Some((*victim, (*at, *cause)))
        });
        stopped.collect()
    };
    let (known, found) = (evictions(anyway), evictions(changed));
    let added = found.keys().filter(|victim| !known.contains_key(victim)).copied();
    let (books, begun) = (&changed.copy.books, changed.begun);
    effects.evictions = Listed::of(reach, added, |victim| {
        let (at, cause) = found[&victim];
        let cause = match cause {
            PreemptionCause::Guarantee(ask)
            | PreemptionCause::Share(ask)
            | PreemptionCause::Priority(ask)
            | PreemptionCause::RequiredNode(ask) => For::Ask(self::shown(books, ask)),
            PreemptionCause::Quota(queue) => For::Maximum(books.queue(queue).path.clone()),
        };
        Eviction { after: at.since(begun), victim: self::shown(books, victim), cause }
    });
    effects
}

fn is_reserved(books: &Books, ask: AllocationId) -> bool {
    books.allocations().get(ask).is_some_and(|row| row.reservation().is_some())
}

/// Returns the names and amounts of an ask or allocation.
fn shown(books: &Books, id: AllocationId) -> AskInPlan {
    let row = books.allocation(id);
    let application = books.application(row.application);
    AskInPlan {
        partition: books.partition(application.partition).name.clone(),
        application: application.name.clone(),
        key: row.key.clone(),
        queue: application.queue_path.clone(),
        user: application.user.clone(),
        resources: books.types().amounts(books.resources_of(id)),
    }
}

/// Asks and allocations by effect, each kind in the order of IDs.
struct Sorted<'all> {
    before: &'all Books,
    sides: [(&'all Books, &'all Scheduler); 2],
    starts: Vec<AllocationId>,
    held: Vec<AllocationId>,
    otherwise: Vec<AllocationId>,
    impossible: Vec<AllocationId>,
    withdrawn: Vec<AllocationId>,
    released: Vec<AllocationId>,
}

impl<'all> Sorted<'all> {
    fn of(
        before: &'all Books,
        [anyway, changed]: [&'all Books; 2],
        [known, found]: [&'all Scheduler; 2],
    ) -> Self {
        let mut sorted = Self {
            before,
            sides: [(anyway, known), (changed, found)],
            starts: Vec::new(),
            held: Vec::new(),
            otherwise: Vec::new(),
            impossible: Vec::new(),
            withdrawn: Vec::new(),
            released: Vec::new(),
        };
        for (id, row) in before.allocations().iter() {
            let at = |books: &Books| books.allocations().get(id).map(Allocation::is_pending);
            let (is_pending, found) = (row.is_pending(), at(changed));
            let too_large = || is_too_large(changed, id) && !is_too_large(before, id);
            if is_pending && found == Some(true) && too_large() {
                sorted.impossible.push(id);
            }
            let into = match (is_pending, at(anyway), found) {
                (true, Some(true), Some(false)) => &mut sorted.starts,
                (true, Some(_), None) => &mut sorted.withdrawn,
                (false, Some(_), None) => &mut sorted.released,
                (true, Some(false), Some(true)) => &mut sorted.held,
                (true, Some(true), Some(true)) if sorted.code(0, id) != sorted.code(1, id) => {
                    &mut sorted.otherwise
                }
                _ => continue,
            };
            into.push(id);
        }
        sorted
    }

    fn code(&self, side: usize, id: AllocationId) -> Option<WaitCode> {
        let (books, scheduler) = self.sides[side];
        scheduler.wait_of(books, id).map(|wait| wait.code(books, id))
    }

    fn why(&self, side: usize, id: AllocationId) -> Option<(&'static str, Name)> {
        let (books, scheduler) = self.sides[side];
        let wait = scheduler.wait_of(books, id)?;
        Some((wait.code(books, id).as_str(), wait.sentence(books, id).into()))
    }

    fn change(&self, id: AllocationId) -> AskChange {
        let (before, after) = (self.why(0, id), self.why(1, id));
        AskChange { ask: shown(self.before, id), before, after }
    }
}

/// Returns whether an ask exceeds a maximum of its queue, or a limit of its user or group.
fn is_too_large(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let size = books.resources_of(ask);
    let queue = books.application(row.application).queue;
    let by_queue = books.configured_max(queue).is_some_and(|max| !max.allows(size));
    let mut levels = books.limiting_levels(row.application);
    by_queue || levels.any(|(_, level)| level.max().is_some_and(|max| !max.allows(size)))
}

/// Returns the applications that placement rules would send to another queue.
///
/// The books do not store the queue that an application requested. The rules are therefore evaluated as if it had
/// requested its current queue. Applications that the current rules send elsewhere are omitted.
fn placed_otherwise(before: &Books, after: &Books, reach: Reach) -> Listed<Moved> {
    let mut listed = Listed::default();
    for row in before.partitions().values() {
        let Some(then) = after.partition_named(&row.name) else { continue };
        let now = before.partition_named(&row.name).unwrap_or(then);
        for (name, id) in row.applications.iter() {
            let application = before.application(*id);
            let Some((other, why)) = elsewhere((before, now), (after, then), *id) else { continue };
            listed.total += 1;
            if listed.first.len() < reach.listed {
                listed.first.push(Moved {
                    partition: row.name.clone(),
                    application: name.clone(),
                    user: application.user.clone(),
                    queue: application.queue_path.clone(),
                    other,
                    why,
                });
            }
        }
    }
    listed
}

type In<'books> = (&'books Books, crate::id::PartitionId);

/// Returns the other queue to which an application would be sent, or the reason why it would be rejected. `None` if it
/// stays.
fn elsewhere(
    (before, now): In<'_>,
    (after, then): In<'_>,
    id: ApplicationId,
) -> Option<(Option<Name>, Option<Name>)> {
    let application = before.application(id);
    let request = Request {
        queue: &application.queue_path,
        user: &application.user,
        groups: &application.groups,
        tags: &[],
        forced: false,
    };
    let today = place(before, now, &request).ok()?;
    if today.path != application.queue_path {
        return None;
    }
    match place(after, then, &request) {
        Ok(placed) if placed.path == today.path => None,
        Ok(placed) => Some((Some(placed.path), None)),
        Err(refused) => Some((None, Some(alloc::format!("{refused}").into()))),
    }
}
