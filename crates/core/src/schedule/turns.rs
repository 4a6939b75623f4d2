//! Whose turn it is where the users of a leaf share it.
//!
//! In a leaf with user limits a group of equal asks does not show the first of them, but the first
//! whose user is not above his share. Where nobody's is, and shares are to make progress, the one
//! goes on who is served least: the others wait for nobody. So room that somebody of the leaf can use
//! is never left.
//!
//! Who is next is found in a tree of all who want the same, by what they used when they were last
//! looked at. Mostly they only get more, so it knows at least when it cannot be somebody's turn; whose
//! turn it may be is looked at again. A change costs its depth, however many share the leaf.

mod choice;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::{Books, LeafUser, Link};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources, Shortfall};
use crate::userlimit::{Decimal, Enforcement, Leaf};
use crate::wait::{Blocker, Looked, Wait};

use super::Scheduler;
use super::class::ClassKey;
use super::keep::KeepKey;
use super::members::Place;
use super::park::GroupKey;
use super::ranking::{Measure, Ranking, Seat};
use super::seen::Seen;

use choice::Turn;

/// How well a user is served: his largest share of what the leaf is guaranteed, by his weight, in
/// millionths. The least is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Served(u64);

impl Served {
    pub(super) fn of(leaf: &Leaf, user: &LeafUser<'_>) -> Self {
        let shares = leaf.guaranteed.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let shares = shares.map(|(resource, amount)| {
            let used = user.used_of(resource).get();
            Self::share(used, amount.get(), user.weight)
        });
        Self(shares.max().unwrap_or(0))
    }

    /// In one type, of which something is guaranteed.
    fn share(used: i64, guaranteed: i64, weight: Decimal) -> u64 {
        if weight == Decimal::ONE
            && let Some(product) = used.checked_mul(1_000_000)
        {
            return u64::try_from(product / guaranteed).unwrap_or(0);
        }
        let used = i128::from(used) * 1_000_000_000_000;
        let part = i128::from(guaranteed) * i128::from(weight.millionths());
        let share = used.checked_div(part).unwrap_or(i128::MAX).max(0);
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// How many types are told apart in a measure.
const TYPES: usize = 4;

/// At most what the user of a class has, as far as it says whose turn it is: the measure follows
/// only when he was looked at, or may have less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Use {
    /// By type, in the order of [`Waiters::types`].
    used: [i64; TYPES],
    /// At least what he weighs.
    weight: Decimal,
    served: Served,
    /// Whether he was ever looked at; if not, he may have nothing.
    known: bool,
}

impl Use {
    /// Of somebody who was not looked at yet.
    const UNKNOWN: Self =
        Self { used: [0; TYPES], weight: Decimal::ZERO, served: Served(0), known: false };

    fn of(leaf: &Leaf, user: &LeafUser<'_>, types: &Types) -> Self {
        let mut used = [0; TYPES];
        for (place, resource) in types.iter().enumerate() {
            used[place] = user.used_of(*resource).get();
        }
        Self { used, weight: user.weight, served: Served::of(leaf, user), known: true }
    }
}

/// Whoever uses less, weighs more and is served less comes to his turn before.
impl Measure for Use {
    fn lower(&mut self, other: &Self) {
        for (mine, other) in self.used.iter_mut().zip(&other.used) {
            *mine = (*mine).min(*other);
        }
        self.weight = self.weight.max(other.weight);
        self.served = self.served.min(other.served);
        self.known &= other.known;
    }
}

/// The types that say whose turn it is; where there are more, the first of them.
type Types = SmallVec<[ResourceType; TYPES]>;

/// Classes whose users take turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiters {
    /// In the order of the leaf, each with what its user has.
    pub(super) ranking: Ranking<Place, Use>,
    types: Types,
}

impl Waiters {
    /// Add a class; its user is looked at when it may be his turn.
    pub(super) fn insert(&mut self, place: Place) -> Seat {
        self.ranking.insert(place, Use::UNKNOWN)
    }

    /// Have these types say whose turn it is.
    fn tell_by(&mut self, types: Types) {
        if self.types != types {
            self.types = types;
            self.ranking.set_all(&Use::UNKNOWN);
        }
    }
}

/// Which leaves have to find out whose turn it is, and their groups that are open.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    open: BTreeMap<QueueId, BTreeSet<GroupKey>>,
    /// The same of those for which a node is to be kept.
    keeping: BTreeMap<QueueId, BTreeSet<KeepKey>>,
    /// In these it may be another's turn; the same may be there twice.
    moved: Vec<QueueId>,
    /// Who may use less by now, or weigh more, than is known.
    eased: Vec<(QueueId, LevelId)>,
}

impl Turns {
    /// A group has other members, or is open or closed from now on; `is_listed` is whether it is
    /// known as open.
    pub(super) fn changed(&mut self, key: GroupKey, open: bool, is_listed: &mut bool) {
        if core::mem::replace(is_listed, open) != open {
            note(&mut self.open, key.leaf, key, open);
        }
        if open {
            self.moved(key.leaf);
        }
    }

    /// The same of a group for which a node is to be kept.
    pub(super) fn keeping_changed(&mut self, key: KeepKey, open: bool, is_listed: &mut bool) {
        let (leaf, _) = key.list();
        if core::mem::replace(is_listed, open) != open {
            note(&mut self.keeping, leaf, key, open);
        }
        if open {
            self.moved(leaf);
        }
    }

    /// In this leaf it may be another's turn.
    fn moved(&mut self, leaf: QueueId) {
        if self.moved.last() != Some(&leaf) {
            self.moved.push(leaf);
        }
    }
}

/// Note whether a group of a leaf is open.
fn note<K: Ord>(groups: &mut BTreeMap<QueueId, BTreeSet<K>>, leaf: QueueId, key: K, open: bool) {
    if open {
        groups.entry(leaf).or_default().insert(key);
    } else if let Some(of_leaf) = groups.get_mut(&leaf) {
        of_leaf.remove(&key);
        if of_leaf.is_empty() {
            groups.remove(&leaf);
        }
    }
}

impl Scheduler {
    /// Bring everything that orders what is ready up to date.
    pub(super) fn refresh(&mut self, books: &Books) {
        self.take_turns(books);
        self.follow_lines(books);
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
        self.parked.turns.moved(row.queue);
        if let Some(link) = row.link {
            for leaf in books.other_leaves_of(row.queue, link.user) {
                self.activation_moved(leaf);
                self.parked.turns.moved(leaf);
            }
        }
    }

    /// The user of an application may use less than is known.
    pub(super) fn turns_eased(&mut self, books: &Books, application: ApplicationId) {
        let row = books.application(application);
        if let (leaf, Some(link)) = (row.queue, row.link)
            && books.users_of(leaf).is_some()
        {
            self.parked.turns.eased.push((leaf, link.user));
        }
    }

    /// The leaf is guaranteed something else: all of its users are served otherwise.
    pub(super) fn turns_sized(&mut self, books: &Books, leaf: QueueId) {
        if let Some(users) = books.users_of(leaf) {
            self.parked.turns.moved(leaf);
            self.parked.turns.eased.extend(users.users().map(|(level, _)| (leaf, level)));
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
    #[inline]
    pub(super) fn take_turns(&mut self, books: &Books) {
        while let Some((leaf, level)) = self.parked.turns.eased.pop() {
            self.measure(books, leaf, level);
        }
        while let Some(leaf) = self.parked.turns.moved.pop() {
            self.take_turn(books, leaf);
        }
    }

    fn take_turn(&mut self, books: &Books, leaf: QueueId) {
        let Some(users) = books.users_of(leaf) else { return };
        let turn = Turn { books, users, leaf: users.outline() };
        let classes = &self.classes;
        let open = self.parked.turns.open.get(&leaf).into_iter().flatten();
        for key in open.copied().collect::<SmallVec<[_; 2]>>() {
            let members = self.parked.members_mut(key).expect("what is open has members");
            let next = turn.choose(classes, key.shape, &mut members.waiters);
            members.put_forward(&mut self.tree, (key.leaf, key.pass), next);
        }
        let open = self.parked.turns.keeping.get(&leaf).into_iter().flatten();
        for key in open.copied().collect::<SmallVec<[_; 2]>>() {
            let members = self.keeping.members_mut(key).expect("what is open has members");
            let next = turn.choose(classes, key.shape, &mut members.waiters);
            members.put_forward(&mut self.tree, key.list(), next);
        }
    }

    /// Note what a user has by now, wherever his turn may come.
    fn measure(&mut self, books: &Books, leaf: QueueId, level: LevelId) {
        let Some(users) = books.users_of(leaf) else { return };
        let Some(user) = users.user(level) else { return };
        let measure = |of: &mut Waiters, seat| {
            let measure = Use::of(users.outline(), &user, &of.types);
            of.ranking.set_at(seat, measure);
        };
        for class in self.classes.of_user(leaf, level) {
            let row = &self.classes.rows[class];
            let group = row.group().filter(|key| key.shared && row.head.is_some());
            if let Some(members) = group.and_then(|key| self.parked.members_mut(key)) {
                measure(&mut members.waiters, row.seat);
            }
            let kept = Some(KeepKey::of(row.key)).filter(|_| row.key.shared && row.keeps.is_some());
            if let Some(members) = kept.and_then(|key| self.keeping.members_mut(key)) {
                measure(&mut members.waiters, row.kept_seat);
            }
        }
    }
}

/// How far an ask would take its user beyond his cap; none where it would not.
pub(super) fn capped(books: &Books, leaf: QueueId, link: Link, ask: &Resources) -> Option<Wait> {
    cap_of(books, leaf, link, ask)?.wait()
}

/// Whether an ask would take its user beyond his cap, where he has one of his own.
pub(super) fn cap_of(books: &Books, leaf: QueueId, link: Link, ask: &Resources) -> Option<Looked> {
    let users = books.users_of(leaf)?;
    if users.rules().enforcement != Enforcement::Progress {
        return None; // It is part of the limit then.
    }
    let (user, counted) = (users.user(link.user)?, users.counted(ask));
    let blocker = Blocker::UserCap(books.queue(leaf).partition, link.user);
    if !users.exceeds_cap(&user, &counted) {
        return Some(Looked::passed(blocker));
    }
    let cap = users.cap(user.weight, &counted);
    let shortfall = cap.minus_existing(&user.used()).shortfall_of_limit(&counted);
    Some(Looked::of(blocker, true, shortfall))
}

const NOTHING: Resources = Resources::new();

/// Why a class is not looked at, where it is not before it is the turn of its user: shares need not
/// make progress there.
pub(super) fn held_back(books: &Books, key: ClassKey) -> Option<Wait> {
    let level = key.sharer()?;
    let users = books.users_of(key.leaf)?;
    if users.rules().enforcement == Enforcement::Progress {
        return None;
    }
    let (user, turn) = (users.user(level)?, Turn { books, users, leaf: users.outline() });
    let ask = turn.ask(key.shape);
    if users.surely_admits(&user, &ask) {
        return None;
    }
    let limit = turn.limit(user.weight, &ask);
    if turn.is(&limit, &user.used(), &ask) {
        return None;
    }
    let strict = users.rules().enforcement == Enforcement::Strict;
    let (most, with) = (&limit.limit, if strict { &*ask } else { &NOTHING });
    let beyond = |resource: ResourceType, needed: Quantity| Shortfall {
        resource,
        needed,
        available: most.get_or_zero(resource).minus(user.used_of(resource)),
    };
    let types = ask.iter().filter(|(resource, _)| most.has(*resource));
    let mut short = types.map(|(resource, amount)| beyond(resource, amount));
    let shortfall = short.find(|one| one.available < with.get_or_zero(one.resource));
    Some(Wait { blocker: Blocker::UserShare(books.queue(key.leaf).partition, level), shortfall })
}
