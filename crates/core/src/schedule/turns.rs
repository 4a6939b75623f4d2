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

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::{Books, LeafUser, LeafUsers, Link};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::resource::{Quantity, ResourceType, Resources, Shortfall};
use crate::userlimit::{Among, Calculator, Decimal, Enforcement, Leaf, Limit, Part};
use crate::wait::{Blocker, Wait};

use super::Scheduler;
use super::class::{ClassKey, Classes, Head};
use super::keep::KeepKey;
use super::members::Place;
use super::park::GroupKey;
use super::ranking::{Measure, Ranking, Seat};
use super::seen::Seen;

/// How well a user is served: his largest share of what the leaf is guaranteed, by his weight, in
/// millionths. The least is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Served(u64);

impl Served {
    pub(super) fn of(leaf: &Leaf, user: &LeafUser) -> Self {
        let shares = leaf.guaranteed.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let shares = shares.map(|(resource, amount)| {
            let used = user.used.get_or_zero(resource).get();
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

    fn of(leaf: &Leaf, user: &LeafUser, types: &Types) -> Self {
        let mut used = [0; TYPES];
        for (place, resource) in types.iter().enumerate() {
            used[place] = user.used.get_or_zero(*resource).get();
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
#[derive(Debug, Default)]
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
            self.ranking.set_all(Use::UNKNOWN);
        }
    }
}

/// Which leaves have to find out whose turn it is, and their groups that are open.
#[derive(Debug, Default)]
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
            for leaf in books.other_leaves_of(row.partition, link.user) {
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
        let turn = Turn { books, users, leaf: users.state() };
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
            let measure = Use::of(users.state(), user, &of.types);
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

/// What somebody of this weight may have.
struct Bound {
    weight: Decimal,
    /// By type, in the order of [`Waiters::types`].
    most: [i64; TYPES],
    /// In full, where these types do not say all.
    limit: Option<Limit>,
}

/// A leaf whose users take turns.
struct Turn<'a> {
    books: &'a Books,
    users: &'a LeafUsers,
    leaf: &'a Leaf,
}

/// Whose turn it may be for an ask.
struct Choice<'a> {
    turn: &'a Turn<'a>,
    ask: &'a Resources,
    types: &'a Types,
    /// By weight. Mostly all weigh the same.
    bounds: SmallVec<[Bound; 1]>,
}

impl Choice<'_> {
    fn bound(&mut self, weight: Decimal) -> &Bound {
        let known = self.bounds.iter().position(|one| one.weight == weight);
        let place = known.unwrap_or_else(|| {
            self.bounds.push(self.turn.bound(weight, self.ask, self.types));
            self.bounds.len() - 1
        });
        &self.bounds[place]
    }

    /// Whether it may be the turn of somebody who has this at least.
    fn may_be(&mut self, of: &Use) -> bool {
        if !of.known {
            return true;
        }
        let (turn, ask, types) = (self.turn, self.ask, self.types);
        let bound = self.bound(of.weight);
        let by_type = turn.users.rules().calculator == Calculator::Componentwise;
        match &bound.limit {
            Some(limit) if !by_type => {
                let used = types.iter().zip(of.used).map(|(resource, used)| (*resource, used));
                let used: Resources =
                    used.map(|(resource, used)| (resource, Quantity::of(used))).collect();
                turn.is(limit, &used, ask)
            }
            _ => of.used.iter().zip(&bound.most).all(|(used, most)| used <= most),
        }
    }

    /// Whether it is the turn of a user.
    fn is(&mut self, user: &LeafUser) -> bool {
        let (turn, ask, types) = (self.turn, self.ask, self.types);
        let bound = self.bound(user.weight);
        match &bound.limit {
            Some(limit) => turn.is(limit, &user.used, ask),
            None => types
                .iter()
                .zip(bound.most)
                .all(|(resource, most)| user.used.get_or_zero(*resource).get() <= most),
        }
    }
}

impl Turn<'_> {
    fn ask(&self, shape: ShapeId) -> Cow<'_, Resources> {
        self.users.counted(self.books.shapes().get(shape))
    }

    fn limit(&self, weight: Decimal, ask: &Resources) -> Limit {
        self.users.rules().limit(self.leaf, self.part(weight, ask))
    }

    fn part<'ask>(&self, weight: Decimal, ask: &'ask Resources) -> Part<'ask> {
        Part { weight, among: Among::Active, ask }
    }

    fn is(&self, limit: &Limit, used: &Resources, ask: &Resources) -> bool {
        self.users.rules().is_turn(self.leaf, limit, used, ask)
    }

    fn user(&self, key: ClassKey) -> &LeafUser {
        let level = key.sharer().expect("who shares is tied to a user");
        self.users.user(level).expect("who waits has a row")
    }

    /// Whether shares alone say whose turn it is, type by type.
    fn is_by_share(&self) -> bool {
        let rules = self.users.rules();
        rules.is_by_type() && rules.enforcement == Enforcement::Progress
    }

    /// The types that say whose turn it is, and whether those are all.
    fn types(&self, ask: &Resources) -> (Types, bool) {
        let by_type = self.users.rules().calculator == Calculator::Componentwise;
        let of = if by_type { ask } else { &self.leaf.total };
        let is_split = |resource| !self.is_by_share() || self.leaf.guaranteed.has(resource);
        let some =
            of.iter().filter(|(resource, amount)| *amount > Quantity::ZERO && is_split(*resource));
        let mut some = some.map(|(resource, _)| resource);
        let types = some.by_ref().take(TYPES).collect();
        (types, some.next().is_none())
    }

    fn bound(&self, weight: Decimal, ask: &Resources, types: &Types) -> Bound {
        let (rules, mut most) = (self.users.rules(), [i64::MAX; TYPES]);
        if self.is_by_share() {
            for (most, resource) in most.iter_mut().zip(types) {
                let share = rules.share_of(self.leaf, self.part(weight, ask), *resource);
                *most = share.unwrap_or(i64::MAX);
            }
            let is_all = types.len() < TYPES || self.types(ask).1;
            return Bound { weight, most, limit: (!is_all).then(|| self.limit(weight, ask)) };
        }
        let limit = self.limit(weight, ask);
        for (most, resource) in most.iter_mut().zip(types) {
            let asked = ask.get_or_zero(*resource).get();
            *most = match (rules.enforcement, limit.soft.get(*resource), limit.limit.get(*resource))
            {
                (Enforcement::Progress, Some(soft), _) => soft.get(),
                (Enforcement::Overshoot, _, Some(limit)) => limit.get(),
                // Who has as much as there may be at all has it with the ask, too.
                (Enforcement::Strict, _, Some(limit)) if limit.get() < i64::MAX => {
                    limit.get().saturating_sub(asked)
                }
                _ => i64::MAX,
            };
        }
        Bound { weight, most, limit: Some(limit) }
    }

    /// Who is next of those who want this.
    fn choose(&self, classes: &Classes, shape: ShapeId, of: &mut Waiters) -> Option<Place> {
        let ask = self.ask(shape);
        of.tell_by(self.types(&ask).0);
        debug_assert!(self.knows(classes, of), "what is known of somebody is no more than he has");
        let Waiters { ranking, types } = of;
        let mut choice = Choice { turn: self, ask: &ask, types, bounds: SmallVec::new() };
        let mut next = ranking.first_seat(|of| choice.may_be(of));
        while let Some(seat) = next {
            let (place, measure) = ranking.at(seat);
            let user = self.user(classes.rows[place.1].key);
            if choice.is(user) {
                return Some(place.clone());
            }
            // He may have more by now than when he was last looked at.
            let now = Use::of(self.leaf, user, types);
            if *measure != now {
                ranking.set_at(seat, now);
            }
            next = ranking.first_behind(seat, |of| choice.may_be(of));
        }
        if self.users.rules().enforcement != Enforcement::Progress {
            return None;
        }
        self.least_served(classes, ranking, types)
    }

    /// Whether nobody has less than is known of him.
    fn knows(&self, classes: &Classes, of: &Waiters) -> bool {
        of.ranking.entries().all(|(place, known)| {
            let now = Use::of(self.leaf, self.user(classes.rows[place.1].key), &of.types);
            let mut lowest = *known;
            lowest.lower(&now);
            !known.known || lowest == *known
        })
    }

    /// The first of those who are served least.
    fn least_served(
        &self,
        classes: &Classes,
        ranking: &mut Ranking<Place, Use>,
        types: &Types,
    ) -> Option<Place> {
        loop {
            let least = ranking.lowest()?.served;
            let seat = ranking.first_seat(|of| of.served <= least)?;
            let (place, _) = ranking.at(seat);
            let now = Use::of(self.leaf, self.user(classes.rows[place.1].key), types);
            if now.served <= least {
                let (head, class) = place;
                return Some((Head { beyond: Some(least), ..head.clone() }, *class));
            }
            ranking.set_at(seat, now);
        }
    }
}

/// How far an ask would take its user beyond his cap; none where it would not.
pub(super) fn capped(books: &Books, leaf: QueueId, link: Link, ask: &Resources) -> Option<Wait> {
    let users = books.users_of(leaf)?;
    if users.rules().enforcement != Enforcement::Progress {
        return None; // It is part of the limit then.
    }
    let (user, state) = (users.user(link.user)?, users.state());
    let (rules, counted) = (users.rules(), users.counted(ask));
    rules.exceeds_cap(state, user.weight, &user.used, &counted).then(|| {
        let cap = rules.cap(state, user.weight, &counted);
        Wait {
            blocker: Blocker::UserCap(books.queue(leaf).partition, link.user),
            shortfall: cap.minus_existing(&user.used).shortfall_of_limit(&counted),
        }
    })
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
    let (user, turn) = (users.user(level)?, Turn { books, users, leaf: users.state() });
    let ask = turn.ask(key.shape);
    let limit = turn.limit(user.weight, &ask);
    if turn.is(&limit, &user.used, &ask) {
        return None;
    }
    let strict = users.rules().enforcement == Enforcement::Strict;
    let (most, with) = (&limit.limit, if strict { &*ask } else { &NOTHING });
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
