//! Whose turn it is where the users of a leaf share it.
//!
//! In a leaf with user limits a group of equal asks does not show the first of them, but the first
//! whose user is not above his share. Where nobody's is, and shares are to make progress, the one
//! goes on who is served least: the others wait for nobody. So room that somebody of the leaf can use
//! is never left.
//!
//! Who is next is found in a tree of all who want the same, by what they use: a change costs its
//! depth, however many share the leaf.

use alloc::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use crate::books::{Books, LeafUser, LeafUsers, Link};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::resource::{Quantity, ResourceType, Resources, Shortfall};
use crate::userlimit::{Among, Decimal, Enforcement, Leaf, Limit, Part};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::class::{ClassKey, Classes, Head};
use super::keep::KeepKey;
use super::members::Place;
use super::park::GroupKey;
use super::ranking::{Measure, Ranking};
use super::seen::Seen;

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

/// What the user of a class has, as far as it says whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Use {
    used: Resources,
    weight: Decimal,
    served: Served,
    /// Whether it was looked up; if not, it may be anything.
    known: bool,
}

impl Use {
    /// To be looked up before it is next asked for.
    pub(super) const fn unknown() -> Self {
        Self { used: Resources::new(), weight: Decimal::ZERO, served: Served(0), known: false }
    }

    fn of(leaf: &Leaf, user: &LeafUser) -> Self {
        let served = Served::of(leaf, user);
        Self { used: user.used.clone(), weight: user.weight, served, known: true }
    }
}

/// Whoever uses less, weighs more and is served less comes to his turn before.
impl Measure for Use {
    fn lower(&mut self, other: &Self) {
        self.used = self.used.minimum_of_present(&other.used);
        self.weight = self.weight.max(other.weight);
        self.served = self.served.min(other.served);
        self.known &= other.known;
    }
}

/// Which leaves have to find out whose turn it is, and their groups that are open.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: BTreeMap<QueueId, BTreeSet<GroupKey>>,
    /// The same of those for which a node is to be kept.
    keeping: BTreeMap<QueueId, BTreeSet<KeepKey>>,
    /// With the users who have something else by now.
    moved: BTreeMap<QueueId, BTreeSet<LevelId>>,
}

impl Turns {
    /// A group has other members, or is open or closed from now on.
    pub(super) fn changed(&mut self, key: GroupKey, open: bool) {
        if note(&mut self.open, key.leaf, key, open) {
            self.moved(key.leaf);
        }
    }

    /// The same of a group for which a node is to be kept.
    pub(super) fn keeping_changed(&mut self, key: KeepKey, open: bool) {
        let (leaf, _) = key.list();
        if note(&mut self.keeping, leaf, key, open) {
            self.moved(leaf);
        }
    }

    /// In this leaf it may be another's turn.
    fn moved(&mut self, leaf: QueueId) -> &mut BTreeSet<LevelId> {
        self.moved.entry(leaf).or_default()
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
        self.activation_moved(row.queue);
        let moved = self.parked.turns.moved(row.queue);
        if let Some(link) = row.link {
            moved.insert(link.user);
            for leaf in books.other_leaves_of(row.partition, link.user) {
                self.parked.turns.moved(leaf);
            }
        }
    }

    /// The leaf is guaranteed something else: all of its users are served otherwise.
    pub(super) fn turns_sized(&mut self, books: &Books, leaf: QueueId) {
        if let Some(users) = books.users_of(leaf) {
            self.parked.turns.moved(leaf).extend(users.users().map(|(level, _)| level));
        }
    }

    /// The cluster has another size: it may be another's turn everywhere, and caps may be others.
    pub(super) fn all_turns_moved(&mut self, books: &Books) {
        for (leaf, users) in books.leaves_with_users() {
            self.parked.turns.moved(leaf);
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
        while let Some((leaf, moved)) = self.parked.turns.moved.pop_first() {
            let Some(state) = books.shared_leaf(leaf) else { continue };
            let users = books.users_of(leaf).expect("it has user limits");
            let turn = Turn { books, users, leaf: state };
            for level in moved {
                self.measure(&turn, leaf, level);
            }
            let classes = &self.classes;
            let open = self.parked.turns.open.get(&leaf).into_iter().flatten();
            for key in open.copied().collect::<SmallVec<[_; 4]>>() {
                let members = self.parked.members_mut(key).expect("what is open has members");
                let next = turn.choose(classes, key.shape, &mut members.by_use);
                members.put_forward(&mut self.tree, (key.leaf, key.pass), next);
            }
            let open = self.parked.turns.keeping.get(&leaf).into_iter().flatten();
            for key in open.copied().collect::<SmallVec<[_; 4]>>() {
                let members = self.keeping.members_mut(key).expect("what is open has members");
                let next = turn.choose(classes, key.shape, &mut members.by_use);
                members.put_forward(&mut self.tree, key.list(), next);
            }
        }
    }

    /// Note what a user has by now, wherever his turn may come.
    fn measure(&mut self, turn: &Turn<'_>, leaf: QueueId, level: LevelId) {
        let Some(user) = turn.users.user(level) else { return };
        let measure = Use::of(turn.leaf, user);
        for class in self.classes.of_user(leaf, level) {
            let row = &self.classes.rows[class];
            let members = row.group().and_then(|key| self.parked.members_mut(key));
            if let (Some(members), Some(head)) = (members, &row.head) {
                members.by_use.set(&(head.clone(), class), measure.clone());
            }
            let members = self.keeping.members_mut(KeepKey::of(row.key));
            if let (Some(members), Some(head)) = (members, &row.keeps) {
                members.by_use.set(&(head.clone(), class), measure.clone());
            }
        }
    }
}

/// What somebody of this weight may have.
struct Bound {
    weight: Decimal,
    limit: Limit,
}

/// A leaf whose users take turns.
struct Turn<'a> {
    books: &'a Books,
    users: &'a LeafUsers,
    leaf: &'a Leaf,
}

impl Turn<'_> {
    fn ask(&self, shape: ShapeId) -> Resources {
        self.users.normalised(self.books.shapes().get(shape))
    }

    fn limit(&self, weight: Decimal, ask: &Resources) -> Limit {
        let part = Part { weight, among: Among::Active, ask };
        self.users.rules().limit(self.leaf, part)
    }

    fn is(&self, limit: &Limit, used: &Resources, ask: &Resources) -> bool {
        self.users.rules().is_turn(self.leaf, limit, used, ask)
    }

    fn user(&self, key: ClassKey) -> &LeafUser {
        let level = key.sharer().expect("who shares is tied to a user");
        self.users.user(level).expect("who waits has a row")
    }

    /// Who is next of those who want this.
    fn choose(
        &self,
        classes: &Classes,
        shape: ShapeId,
        members: &mut Ranking<Place, Use>,
    ) -> Option<Place> {
        while let Some(new) = members.first(|of| !of.known).cloned() {
            let user = self.user(classes.rows[new.1].key);
            members.set(&new, Use::of(self.leaf, user));
        }
        let ask = self.ask(shape);
        // Mostly all weigh the same.
        let mut bounds: SmallVec<[Bound; 1]> = SmallVec::new();
        let is_turn = |of: &Use| {
            let known = bounds.iter().position(|one| one.weight == of.weight);
            let known = known.unwrap_or_else(|| {
                let limit = self.limit(of.weight, &ask);
                bounds.push(Bound { weight: of.weight, limit });
                bounds.len() - 1
            });
            self.is(&bounds[known].limit, &of.used, &ask)
        };
        if let Some(first) = members.first(is_turn) {
            return Some(first.clone());
        }
        if self.users.rules().enforcement != Enforcement::Progress {
            return None;
        }
        let least = members.lowest()?.served;
        let (head, class) = members.first(|of| of.served <= least)?;
        Some((Head { beyond: Some(least), ..head.clone() }, *class))
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
    let cap = rules.cap(state, user.weight, &counted);
    rules.is_capped(state, &cap, &user.used, &counted).then(|| Wait {
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
    let (user, turn) = (users.user(level)?, Turn { books, users, leaf });
    let ask = turn.ask(key.shape);
    let limit = turn.limit(user.weight, &ask);
    if turn.is(&limit, &user.used, &ask) {
        return None;
    }
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
