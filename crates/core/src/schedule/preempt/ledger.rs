//! Hypothetical usage and remaining guarantees of queues after some allocations end and others start. Stores a
//! difference for each relevant queue and does not copy the books.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{LevelId, QueueId};
use crate::resource::{Quantity, Resources};

use super::entitlement::{Entitlement, Share, Shares};

/// Position of a queue in a ledger.
pub(super) type Place = usize;

/// Queues that are relevant for one ask.
#[derive(Debug)]
pub(super) struct Ledger<'books> {
    books: &'books Books,
    /// Parents before their children.
    rows: Vec<Row<'books>>,
    places: BTreeMap<QueueId, Place>,
    /// Users of the leaf of the ask, if users preempt each other. Each user is a child of the leaf in the ledger, and
    /// its guarantee is the fair share of the user.
    users: BTreeMap<LevelId, Place>,
    /// Promised amounts of queues that replace their guarantees.
    promised: BTreeMap<QueueId, Resources>,
    /// The leaf of the ask, or its user.
    pub(super) asking: Place,
    /// Whether that row has its own guarantee.
    asks_with_guarantee: bool,
}

/// One queue.
#[derive(Debug)]
struct Row<'books> {
    parent: Option<Place>,
    /// Guarantee. `None` if there is none.
    guaranteed: Option<Cow<'books, Resources>>,
    max: Option<&'books Resources>,
    /// Allocated amounts minus those that the RM is already stopping, with the changes of the ledger.
    used: Resources,
    /// Usage before the changes of the ledger.
    used_before: Resources,
    /// Whether it is the leaf of the ask or an ancestor.
    above_ask: bool,
}

impl<'books> Ledger<'books> {
    /// Creates a ledger with the queues on the path of the leaf, and with its users if they preempt each other.
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

    /// Adds the users of the leaf of the ask as its children.
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

    /// Returns the position of a user of the leaf of the ask, if users preempt each other.
    pub(super) fn place_of_user(&self, level: LevelId) -> Option<Place> {
        self.users.get(&level).copied()
    }

    /// Returns the position of a queue, and adds the queue and its ancestors if they are missing.
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

    /// Returns the promise to a queue: its guarantee or its ideal assignment.
    pub(super) fn promise_to(&self, queue: QueueId) -> Option<&Resources> {
        let promised = self.promised.get(&queue);
        promised.or_else(|| self.books.queue(queue).guaranteed.as_ref())
    }

    /// Returns a queue and its ancestors.
    fn up(&self, place: Place) -> impl Iterator<Item = &Row<'books>> {
        let mut next = Some(place);
        core::iter::from_fn(move || {
            let row = &self.rows[next?];
            next = row.parent;
            Some(row)
        })
    }

    /// Adds usage to a leaf and its ancestors.
    pub(super) fn add(&mut self, leaf: Place, size: &Resources) {
        self.each_up(leaf, |row| row.used.add(size));
    }

    /// Subtracts usage from a leaf and its ancestors.
    pub(super) fn take(&mut self, leaf: Place, size: &Resources) {
        self.each_up(leaf, |row| row.used.subtract(size));
    }

    /// Adds usage to a leaf and its ancestors, also to the usage before the changes.
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

    /// Returns the remaining part of the effective guarantee of a queue. Negative if more is used. `None` if no
    /// guarantee is effective. Source: scheduling §11.3, `rem`.
    pub(super) fn remaining(&self, place: Place) -> Option<Resources> {
        let row = &self.rows[place];
        let above = row.parent.and_then(|parent| self.remaining(parent));
        let Some(guaranteed) = &row.guaranteed else {
            return above.filter(|above| !above.is_empty());
        };
        let own = guaranteed.minus_existing(&row.used);
        if place == self.asking {
            // Its own guarantee precedes those of its ancestors in the same type. Other types are inherited.
            return Some(above.map_or(own.clone(), |above| own.merge_missing(&above)));
        }
        if row.above_ask && self.asks_with_guarantee {
            return None; // What all below share does not shield one from the other.
        }
        Resources::min_of(Some(&own), above.as_ref())
    }

    /// Returns whether a queue uses more than its guarantee in a type of `ask`, or has no guarantee.
    pub(super) fn exceeds_guarantee(&self, place: Place, ask: &Resources) -> bool {
        self.remaining(place).is_none_or(|left| has_negative_of(&left, ask))
    }

    /// Returns whether no queue falls below its guarantee, in a type of `ask`, when `leaf` releases `size`. A queue
    /// that is already below must not fall further. The usage must already include the ask.
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

    /// Returns the queues on the path of the ask that exceed their maximum in a type of `ask`, with the excess in these
    /// types. The usage must already include the ask.
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

    /// Returns whether a queue is `above` itself or one of its descendants.
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

/// Returns whether each type of `ask` in `left` was positive before the ask was subtracted.
pub(super) fn was_positive_before(left: &Resources, ask: &Resources) -> bool {
    let needed = ask.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
    let mut named = needed.filter_map(|(resource, amount)| Some(left.get(resource)?.plus(amount)));
    named.all(|before| before > Quantity::ZERO)
}

/// Returns whether `left` is negative in a type of `ask`.
pub(super) fn has_negative_of(left: &Resources, ask: &Resources) -> bool {
    ask.iter().any(|(resource, _)| left.get_or_zero(resource).get() < 0)
}
