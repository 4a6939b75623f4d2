//! Whose turn it is where the users of a leaf share it.
//!
//! In a leaf with user limits a group of equal asks does not show the first of them, but the first
//! whose user is not above his share. Where nobody's is, and shares are to make progress, the one
//! goes on who is served least: the others wait for nobody. So room that somebody of the leaf can use
//! is never left.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::{Books, LeafUser, LeafUsers, Link};
use crate::id::{ApplicationId, PartitionId, QueueId, ShapeId};
use crate::resource::{Quantity, ResourceType, Resources, Shortfall};
use crate::userlimit::{Among, Decimal, Enforcement, Leaf, Limit, Part};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::class::{ClassKey, Classes, Head};
use super::index::Seen;
use super::keep::KeepKey;
use super::members::Place;
use super::park::GroupKey;

/// How well a user is served: his largest share of what the leaf is guaranteed, by his weight, in
/// millionths. The least is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Served(u64);

impl Served {
    pub(super) fn of(leaf: &Leaf, user: &LeafUser) -> Self {
        let shares = leaf.guaranteed.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let shares = shares.map(|(resource, amount)| {
            let used = i128::from(user.used.get_or_zero(resource).get()) * 1_000_000_000_000;
            let part = i128::from(amount.get()) * i128::from(user.weight.millionths());
            used.checked_div(part).unwrap_or(i128::MAX)
        });
        Self(u64::try_from(shares.max().unwrap_or(0).max(0)).unwrap_or(u64::MAX))
    }
}

/// Which leaves have to find out whose turn it is, and their groups that are open.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: BTreeMap<QueueId, BTreeSet<GroupKey>>,
    /// The same of those for which a node is to be kept.
    keeping: BTreeMap<QueueId, BTreeSet<KeepKey>>,
    moved: BTreeSet<QueueId>,
}

impl Turns {
    /// A group has other members, or is open or closed from now on.
    pub(super) fn changed(&mut self, key: GroupKey, open: bool) {
        if note(&mut self.open, key.leaf, key, open) {
            self.moved.insert(key.leaf);
        }
    }

    /// The same of a group for which a node is to be kept.
    pub(super) fn keeping_changed(&mut self, key: KeepKey, open: bool) {
        let (leaf, _) = key.list();
        if note(&mut self.keeping, leaf, key, open) {
            self.moved.insert(leaf);
        }
    }
}

/// Note whether a group of a leaf is open, and say so again.
fn note<K: Ord>(
    groups: &mut BTreeMap<QueueId, BTreeSet<K>>,
    leaf: QueueId,
    key: K,
    open: bool,
) -> bool {
    if open {
        groups.entry(leaf).or_default().insert(key);
    } else if let Some(of_leaf) = groups.get_mut(&leaf) {
        of_leaf.remove(&key);
        if of_leaf.is_empty() {
            groups.remove(&leaf);
        }
    }
    open
}

impl Scheduler {
    /// Bring everything that orders what is ready up to date.
    pub(super) fn refresh(&mut self, books: &Books) {
        self.take_turns(books);
        self.tree.refresh(books);
    }

    /// The user of an application uses something else, or waits for something else: in his leaves it
    /// may be another's turn.
    pub(super) fn turns_moved(&mut self, books: &Books, application: ApplicationId) {
        if !books.has_user_limits() {
            return;
        }
        let row = books.application(application);
        self.parked.turns.moved.insert(row.queue);
        if let Some(link) = row.link {
            self.parked.turns.moved.extend(books.other_leaves_of(row.partition, link.user));
        }
    }

    /// The cluster has another size: it may be another's turn everywhere, and caps may be others.
    pub(super) fn all_turns_moved(&mut self, books: &Books) {
        for (leaf, users) in books.leaves_with_users() {
            self.parked.turns.moved.insert(leaf);
            let partition = books.queue(leaf).partition;
            for (level, _) in users.users() {
                let blocker = Blocker::UserCap(partition, level);
                self.parked.open(&mut self.tree, blocker, |_| true);
            }
        }
    }

    /// Less is charged to its user: he may be within his cap again.
    pub(super) fn cap_gave_way(&mut self, books: &Books, partition: PartitionId, seen: &Seen) {
        let (Some(leaf), Some(level)) = (seen.queue, seen.levels.first()) else { return };
        if books.users_of(leaf).is_some() {
            // Whether he is, is told apart by the ask: those who are not are held back again.
            let blocker = Blocker::UserCap(partition, *level);
            self.parked.open(&mut self.tree, blocker, |_| true);
        }
    }

    /// Have every leaf whose users take turns see whose it is, where that may have changed.
    pub(super) fn take_turns(&mut self, books: &Books) {
        while let Some(leaf) = self.parked.turns.moved.pop_first() {
            let Some(state) = books.shared_leaf(leaf) else { continue };
            let users = books.users_of(leaf).expect("it has user limits");
            let (turn, classes) = (Turn { books, users, leaf: &state }, &self.classes);
            let open = self.parked.turns.open.get(&leaf).into_iter().flatten();
            for key in open.copied().collect::<Vec<_>>() {
                let members = self.parked.members_mut(key).expect("what is open has members");
                let next = turn.choose(classes, &members.all);
                members.put_forward(&mut self.tree, (key.leaf, key.pass), next);
            }
            let open = self.parked.turns.keeping.get(&leaf).into_iter().flatten();
            for key in open.copied().collect::<Vec<_>>() {
                let members = self.keeping.members_mut(key).expect("what is open has members");
                let next = turn.choose(classes, &members.all);
                members.put_forward(&mut self.tree, key.list(), next);
            }
        }
    }
}

/// What those may have who want the same and have the same weight.
struct Bound {
    shape: ShapeId,
    weight: Decimal,
    ask: Resources,
    limit: Limit,
}

/// A leaf whose users take turns.
struct Turn<'a> {
    books: &'a Books,
    users: &'a LeafUsers,
    leaf: &'a Leaf,
}

impl Turn<'_> {
    fn ask(&self, key: ClassKey) -> Resources {
        self.users.normalised(self.books.shapes().get(key.shape))
    }

    fn limit(&self, user: &LeafUser, ask: &Resources) -> Limit {
        let part = Part { weight: user.weight, among: Among::Active, ask };
        self.users.rules().limit(self.leaf, part)
    }

    fn is(&self, user: &LeafUser, ask: &Resources) -> bool {
        self.users.rules().is_turn(self.leaf, &self.limit(user, ask), &user.used, ask)
    }

    fn user(&self, key: ClassKey) -> &LeafUser {
        let level = key.sharer().expect("who shares is tied to a user");
        self.users.user(level).expect("who waits has a row")
    }

    fn choose(&self, classes: &Classes, members: &BTreeSet<Place>) -> Option<Place> {
        let key = |place: &Place| classes.rows[place.1].key;
        // Mostly all want the same, and weigh the same.
        let mut bounds: SmallVec<[Bound; 1]> = SmallVec::new();
        let is_turn = |place: &&Place| {
            let key = key(place);
            let user = self.user(key);
            let same = |one: &Bound| one.shape == key.shape && one.weight == user.weight;
            let known = bounds.iter().position(same).unwrap_or_else(|| {
                let ask = self.ask(key);
                let limit = self.limit(user, &ask);
                bounds.push(Bound { shape: key.shape, weight: user.weight, ask, limit });
                bounds.len() - 1
            });
            let Bound { ask, limit, .. } = &bounds[known];
            self.users.rules().is_turn(self.leaf, limit, &user.used, ask)
        };
        if let Some(first) = members.iter().find(is_turn) {
            return Some(first.clone());
        }
        if self.users.rules().enforcement != Enforcement::Progress {
            return None;
        }
        let served = |place: &Place| {
            let beyond = Some(Served::of(self.leaf, self.user(key(place))));
            (Head { beyond, ..place.0.clone() }, place.1)
        };
        members.iter().map(served).min()
    }
}

/// How far an ask would take its user beyond his cap; none where it would not.
pub(super) fn capped(books: &Books, leaf: QueueId, link: Link, ask: &Resources) -> Option<Wait> {
    let users = books.users_of(leaf)?;
    if users.rules().enforcement != Enforcement::Progress {
        return None; // It is part of the limit then.
    }
    let (user, state) = (users.user(link.user)?, books.shared_leaf(leaf)?);
    let (rules, counted) = (users.rules(), users.normalised(ask));
    let cap = rules.cap(&state, user.weight, &counted);
    rules.is_capped(&state, &cap, &user.used, &counted).then(|| Wait {
        blocker: Blocker::UserCap(books.queue(leaf).partition, link.user),
        shortfall: cap.minus_existing(&user.used).shortfall_of_limit(&counted),
    })
}

/// Why a class is not looked at, where it is not before it is the turn of its user: shares need not
/// make progress there.
pub(super) fn held_back(books: &Books, key: ClassKey) -> Option<Wait> {
    let level = key.sharer()?;
    let users = books.users_of(key.leaf)?;
    if users.rules().enforcement == Enforcement::Progress {
        return None;
    }
    let leaf = books.shared_leaf(key.leaf)?;
    let (user, turn) = (users.user(level)?, Turn { books, users, leaf: &leaf });
    let ask = turn.ask(key);
    if turn.is(user, &ask) {
        return None;
    }
    let limit = turn.limit(user, &ask);
    let strict = users.rules().enforcement == Enforcement::Strict;
    let (most, with) = (&limit.limit, if strict { ask.clone() } else { Resources::new() });
    let beyond = |resource: ResourceType, needed: Quantity| Shortfall {
        resource,
        needed,
        available: most.get_or_zero(resource).minus(user.used.get_or_zero(resource)),
    };
    let types = ask.iter().filter(|(resource, _)| most.has(*resource));
    let mut short = types.map(|(resource, amount)| beyond(resource, amount));
    let shortfall = short.find(|one| one.available < with.get_or_zero(one.resource));
    Some(Wait { blocker: Blocker::UserShare(books.queue(key.leaf).partition, level), shortfall })
}
