//! What queues would use, and what would be left of their guarantees, if some allocations went
//! and some came: a difference for each queue that matters, and no copy of the books.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{LevelId, QueueId};
use crate::resource::{Quantity, Resources};

use super::entitlement::{Entitlement, Share, Shares};

/// The position of a queue in a ledger.
pub(super) type Place = usize;

/// The queues that matter for one ask.
#[derive(Debug)]
pub(super) struct Ledger<'books> {
    books: &'books Books,
    /// Parents before their children.
    rows: Vec<Row<'books>>,
    places: BTreeMap<QueueId, Place>,
    /// The users of the leaf that asks, where they take from each other. They stand below it as
    /// queues below theirs, and the guarantee of each is that user's share.
    users: BTreeMap<LevelId, Place>,
    /// What queues are promised instead of their guarantee.
    promised: BTreeMap<QueueId, Resources>,
    /// The leaf that asks, or its user.
    pub(super) asking: Place,
    /// Whether that has a guarantee of its own.
    asks_with_guarantee: bool,
}

/// One queue.
#[derive(Debug)]
struct Row<'books> {
    parent: Option<Place>,
    /// None if nothing is guaranteed.
    guaranteed: Option<Cow<'books, Resources>>,
    max: Option<&'books Resources>,
    /// Allocated, less what the RM is stopping already, and as changed here.
    used: Resources,
    /// What it used before anything changed here.
    used_before: Resources,
    /// Whether it is the leaf that asks, or above it.
    above_ask: bool,
}

impl<'books> Ledger<'books> {
    /// The queues on the path of a leaf that asks, and its users where they take from each other.
    pub(super) fn of(books: &'books Books, leaf: QueueId, claim: Entitlement) -> Self {
        let mut ledger = Self {
            books,
            rows: Vec::new(),
            places: BTreeMap::new(),
            users: BTreeMap::new(),
            promised: BTreeMap::new(),
            asking: 0,
            asks_with_guarantee: false,
        };
        let shares = match claim {
            Entitlement::Guarantee | Entitlement::Priority => None,
            Entitlement::IdealAssignment(parts) => {
                ledger.promised = parts;
                None
            }
            Entitlement::Share(shares) => Some(shares),
        };
        ledger.asking = ledger.place_of(leaf);
        ledger.rows.iter_mut().for_each(|row| row.above_ask = true);
        if let Some(Shares { asking, users }) = shares {
            ledger.take_in(users);
            ledger.asking = ledger.users.get(&asking).copied().unwrap_or(ledger.asking);
            ledger.rows[ledger.asking].above_ask = true;
        }
        ledger.asks_with_guarantee = ledger.rows[ledger.asking].guaranteed.is_some();
        ledger
    }

    /// Have the users of the leaf that asks stand below it.
    fn take_in(&mut self, users: BTreeMap<LevelId, Share>) {
        for (level, Share { keeps, used }) in users {
            self.users.insert(level, self.rows.len());
            self.rows.push(Row {
                parent: Some(self.asking),
                guaranteed: Some(keeps).filter(|one| !one.is_empty()).map(Cow::Owned),
                max: None,
                used_before: used.clone(),
                used,
                above_ask: false,
            });
        }
    }

    /// The position of a user of the leaf that asks, where its users take from each other.
    pub(super) fn place_of_user(&self, level: LevelId) -> Option<Place> {
        self.users.get(&level).copied()
    }

    /// The position of a queue, which is taken in with those above it where it is missing.
    pub(super) fn place_of(&mut self, queue: QueueId) -> Place {
        if let Some(place) = self.places.get(&queue) {
            return *place;
        }
        let books = self.books;
        let row = books.queue(queue);
        let parent = row.parent.map(|parent| self.place_of(parent));
        let used = row.used_after_preemption();
        let promised = self.promised.get(&queue).cloned().map(Cow::Owned);
        let promised = promised.or_else(|| row.guaranteed.as_ref().map(Cow::Borrowed));
        self.rows.push(Row {
            parent,
            guaranteed: promised.filter(|one| !one.is_empty()),
            max: row.max.as_ref(),
            used_before: used.clone(),
            used,
            above_ask: false,
        });
        self.places.insert(queue, self.rows.len() - 1);
        self.rows.len() - 1
    }

    /// What a queue is promised: its guarantee, or its part of what there is.
    pub(super) fn promise_to(&self, queue: QueueId) -> Option<&Resources> {
        let promised = self.promised.get(&queue);
        promised.or_else(|| self.books.queue(queue).guaranteed.as_ref())
    }

    /// A queue and those above it.
    fn up(&self, place: Place) -> impl Iterator<Item = &Row<'books>> {
        let mut next = Some(place);
        core::iter::from_fn(move || {
            let row = &self.rows[next?];
            next = row.parent;
            Some(row)
        })
    }

    /// Have a leaf use this much more.
    pub(super) fn add(&mut self, leaf: Place, size: &Resources) {
        self.each_up(leaf, |row| row.used.add(size));
    }

    /// Have a leaf use this much less.
    pub(super) fn take(&mut self, leaf: Place, size: &Resources) {
        self.each_up(leaf, |row| row.used.subtract(size));
    }

    /// Have a leaf use this much more, as if it always had.
    pub(super) fn promise(&mut self, leaf: Place, size: &Resources) {
        self.each_up(leaf, |row| {
            row.used.add(size);
            row.used_before.add(size);
        });
    }

    fn each_up(&mut self, leaf: Place, mut change: impl FnMut(&mut Row<'books>)) {
        let mut next = Some(leaf);
        while let Some(place) = next {
            let row = &mut self.rows[place];
            change(row);
            next = row.parent;
        }
    }

    /// What is left of the guarantee in force at a queue, below zero where more is used; none
    /// where none is in force. Scheduling §11.3, `rem`.
    pub(super) fn remaining(&self, place: Place) -> Option<Resources> {
        let row = &self.rows[place];
        let above = row.parent.and_then(|parent| self.remaining(parent));
        let Some(guaranteed) = &row.guaranteed else {
            return above.filter(|above| !above.is_empty());
        };
        let own = guaranteed.minus_existing(&row.used);
        if place == self.asking {
            // Its own guarantee goes before those above it; others are inherited.
            return Some(above.map_or(own.clone(), |above| own.merge_missing(&above)));
        }
        if row.above_ask && self.asks_with_guarantee {
            return None; // What all below share does not shield one from the other.
        }
        Resources::min_of(Some(&own), above.as_ref())
    }

    /// Whether a queue uses more than its guarantee of some type of `ask`, or has none.
    pub(super) fn exceeds_guarantee(&self, place: Place, ask: &Resources) -> bool {
        self.remaining(place).is_none_or(|left| has_negative_of(&left, ask))
    }

    /// Whether no queue falls below its guarantee, in a type of `ask`, when `leaf` gives this
    /// much back; what is below it already falls no deeper. The ask counts already.
    pub(super) fn may_give(&self, leaf: Place, size: &Resources, ask: &Resources) -> bool {
        self.up(leaf).all(|row| {
            let Some(guaranteed) = &row.guaranteed else { return true };
            ask.iter().all(|(resource, _)| {
                let (Some(given), Some(least)) = (size.get(resource), guaranteed.get(resource))
                else {
                    return true;
                };
                let least = least.min(row.used_before.get_or_zero(resource));
                row.used.get_or_zero(resource).minus(given) >= least
            })
        })
    }

    /// The queues on the path of the ask that use more than their maximum of some type of
    /// `ask`, the ask included: by how much, in these types only.
    pub(super) fn excesses(&self, ask: &Resources) -> Vec<(Place, Resources)> {
        let mut places = Vec::new();
        let mut next = Some(self.asking);
        while let Some(place) = next {
            let row = &self.rows[place];
            next = row.parent;
            let Some(max) = row.max else { continue };
            let over: Resources = ask
                .iter()
                .filter_map(|(resource, _)| {
                    let over = row.used.get_or_zero(resource).minus(max.get(resource)?);
                    (over.get() > 0).then_some((resource, over))
                })
                .collect();
            if !over.is_empty() {
                places.push((place, over));
            }
        }
        places
    }

    /// Whether a queue is at or above another.
    pub(super) fn is_below(&self, leaf: Place, above: Place) -> bool {
        let mut next = Some(leaf);
        while let Some(place) = next {
            if place == above {
                return true;
            }
            next = self.rows[place].parent;
        }
        false
    }
}

/// Whether something was left of each type of `ask` that is named here before that was taken.
pub(super) fn was_positive_before(left: &Resources, ask: &Resources) -> bool {
    let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
    let mut named = needed.filter_map(|(resource, amount)| Some(left.get(resource)?.plus(amount)));
    named.all(|before| before > Quantity::ZERO)
}

/// Whether some type of `ask` has an amount below zero here.
pub(super) fn has_negative_of(left: &Resources, ask: &Resources) -> bool {
    ask.iter().any(|(resource, _)| left.get_or_zero(resource).get() < 0)
}
