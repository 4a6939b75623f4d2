//! Why asks wait, as it is told.

use crate::books::{Books, Queue};
use crate::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use crate::rules::activation;
use crate::wait::{Blocker, Looked, Wait, standstill};

use super::class::{ClassId, ClassKey, Standing};
use super::judge::{held_back, may_not_start, queues};
use super::lane::Lane;
use super::nodes::Unsuited;
use super::swap::blocker;
use super::{Scheduler, questions, reserve, turns};

impl Scheduler {
    /// Why an ask waits; none if it was placed, or is to be judged first.
    pub fn wait_of(&self, books: &Books, ask: AllocationId) -> Option<Wait> {
        // While the rules are new, everything is to be judged first.
        let class = self.class_of(books, ask)?;
        let class_row = self.classes.rows.get(class)?;
        let partition = books.queue(class_row.key.leaf).partition;
        if let Some(blocker) = standstill(books, partition) {
            return Some(Wait { blocker, shortfall: None });
        }
        if let Some(wait) = shut(books, class_row.key.leaf) {
            return Some(wait);
        }
        if class_row.key.waits() {
            return activation::held_back(books, books.allocation(ask).application);
        }
        if let Some(wait) = self.behind_head(books, class, ask) {
            return Some(wait);
        }
        let known = class_row.wait.and_then(|wait| self.detailed(books, class, wait));
        // Whoever is not to go on before others have their share is not looked at.
        let turn = || class_row.wait.is_none().then(|| out_of_turn(books, class_row.key));
        known.or_else(|| turn().flatten()).or_else(|| not_looked_at(books, class_row.key))
    }

    /// The ask by which a class is judged, if the class still is there.
    pub fn first_of(&self, class: ClassId) -> Option<AllocationId> {
        self.classes.rows.get(class).filter(|_| !self.stale)?;
        Some(self.first_ask(class).1)
    }

    /// The applications whose asks a class has, in the order of their leaf; one that asks for
    /// the same in two ways occurs twice.
    pub fn applications_of(&self, class: ClassId) -> impl Iterator<Item = ApplicationId> {
        let row = self.classes.rows.get(class).filter(|_| !self.stale);
        let bundles = row.into_iter().flat_map(|row| &row.bundles);
        bundles.map(|(_, bundle)| self.classes.bundles[*bundle].application)
    }

    /// The class of an ask that waits.
    pub fn class_of(&self, books: &Books, ask: AllocationId) -> Option<ClassId> {
        let row = books.allocations().get(ask).filter(|row| row.is_pending() && !self.stale)?;
        let waiting = self.applications.get(row.application.index())?;
        let bundle = waiting.bundle(row.shape, Lane::of(books, ask, row))?;
        Some(self.classes.bundles[bundle].class)
    }

    /// A wait as it is now; none if the class is to be judged. A class is not judged again while
    /// something holds it back, so more may be in use than when it was parked, and an earlier
    /// check may fail first; of what the nodes have too little is only found out for who asks.
    fn detailed(&self, books: &Books, class: ClassId, wait: Wait) -> Option<Wait> {
        let key = self.classes.rows[class].key;
        if let Blocker::AwaitingRm(_) = wait.blocker {
            return Some(wait); // Whatever else would hold it back is looked at afterwards.
        }
        if let Blocker::BackOff(_) = wait.blocker {
            return may_not_start(books, key).or(Some(wait));
        }
        if let Some(wait) = held_back(books, key).or_else(|| turns::held_back(books, key)) {
            return Some(wait);
        }
        let wait = match key.lane {
            Lane::PinnedSwap(ask) => Wait { blocker: blocker(books, &self.places, ask), ..wait },
            _ => self.as_refused(books, key, wait),
        };
        match wait.blocker {
            Blocker::Nodes(_) | Blocker::RequiredNode(_) if matches!(key.lane, Lane::Kept(_)) => {
                Some(reserve::shown(books, key, wait))
            }
            Blocker::Nodes(partition) => Some(self.without_node(books, partition, key)),
            // These give way by nothing else.
            Blocker::RequiredNode(_)
            | Blocker::RequiredNodeSize(_)
            | Blocker::NodeAbsent(_)
            | Blocker::Placeholders(..)
            | Blocker::AwaitingRm(_)
            | Blocker::NodeConstraint(_)
            | Blocker::BackOff(_) => Some(wait),
            // Looked at above: it gave way, or another check fails first.
            Blocker::QueueState(_)
            | Blocker::QueueMax(_)
            | Blocker::QueueApplications(_)
            | Blocker::Limit(..)
            | Blocker::LimitApplications(..)
            | Blocker::UserCap(..)
            | Blocker::UserShare(..)
            | Blocker::ParallelApplications(_)
            | Blocker::ParallelOfUser(..)
            | Blocker::DriverQueue(_)
            | Blocker::DriverUser(..)
            | Blocker::NodesReserved(_)
            | Blocker::NodeBlocked(_)
            | Blocker::NoSuchLabel(_)
            | Blocker::KeptNode(_)
            | Blocker::Preempting(_)
            | Blocker::Order(..)
            | Blocker::BehindHead(..)
            | Blocker::RmBusy(_)
            | Blocker::RmAway(_)
            | Blocker::NoNodes(_) => None,
        }
    }
}

impl Scheduler {
    /// Why a partition has no node for a class, or not for all that starts together, where that is so.
    pub(super) fn without_node(
        &self,
        books: &Books,
        partition: PartitionId,
        key: ClassKey,
    ) -> Wait {
        let (nodes, shape) = (&self.nodes[&partition], key.shape);
        let of = |blocker| Wait { blocker, shortfall: None };
        if key.members() > 1 && nodes.has_room_for(books, shape, 1) {
            return of(Blocker::Nodes(partition)); // For some of them, and not for all.
        }
        match nodes.lacks_suiting(books, shape) {
            Some(Unsuited::Label) => of(Blocker::NoSuchLabel(partition)),
            Some(Unsuited::Blocked) => of(Blocker::NodeBlocked(partition)),
            None if nodes.is_kept_from(books, shape) => of(Blocker::NodesReserved(partition)),
            None => {
                let shortfall = nodes.shortfall(books, shape);
                Wait { blocker: Blocker::Nodes(partition), shortfall }
            }
        }
    }
}

/// Why a class waits that is not looked at before it is the turn of its user; none where it is.
fn out_of_turn(books: &Books, key: ClassKey) -> Option<Wait> {
    let turn = turns::held_back(books, key)?;
    if let Lane::Asking(ask) = key.lane
        && questions::awaits_rm(books, ask)
    {
        return Some(Wait { blocker: Blocker::AwaitingRm(ask), shortfall: None });
    }
    Some(held_back(books, key).unwrap_or(turn))
}

/// Why a class waits that is to be judged: where the RM has enough to answer, or nodes to report, that may take
/// a while.
fn not_looked_at(books: &Books, key: ClassKey) -> Option<Wait> {
    let partition = books.queue(key.leaf).partition;
    let busy = Wait { blocker: Blocker::RmBusy(partition), shortfall: None };
    let enough = books.has_asked_enough(partition) || books.is_held(partition);
    enough.then(|| held_back(books, key).or_else(|| too_large(books, key)).unwrap_or(busy))
}

/// The queue that has no room for a class of which it is not known yet which group counts, as it was never looked at.
fn too_large(books: &Books, key: ClassKey) -> Option<Wait> {
    let unknown = key.standing == Standing::Unlinked && !key.lane.is_swap();
    unknown.then(|| queues(books, key.leaf, &key.needs(books))).flatten()
}

/// The queue that keeps a leaf from being offered room at all: itself, if it is a leaf no more,
/// one above that became a leaf, one that is stopped, or whose tenant is suspended.
pub(super) fn shut(books: &Books, leaf: QueueId) -> Option<Wait> {
    states(books, leaf).find_map(Looked::wait)
}

/// Whether the queues from a leaf up are offered room, or keep what is below from it.
pub(super) fn states(books: &Books, leaf: QueueId) -> impl Iterator<Item = Looked> {
    let shut = move |id: QueueId, queue: &Queue| !queue.offers_room() || queue.leaf != (id == leaf);
    books
        .up(leaf)
        .map(move |(id, queue)| Looked::of(Blocker::QueueState(id), shut(id, queue), None))
}
