//! Whose turn it is where the users of a leaf share it.
//!
//! In a leaf with user limits a group of equal asks does not show its first ask. It shows the first
//! one whose user is not above their share. If all users are above theirs and shares are to make
//! progress, the least served user goes on: the others wait for nobody. So no room is left unused
//! that somebody of the leaf can use.
//!
//! Who is next is found in a tree of all who want the same, by what they used when they were last
//! looked at. Mostly they only get more, so it knows at least when it cannot be somebody's turn; whose
//! turn it may be is looked at again. A change costs its depth, however many share the leaf.

mod pick;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::books::{Books, LeafUser, TrackerLink};
use crate::id::{ApplicationId, LevelId, PartitionId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources, Shortfall};
use crate::userlimit::{Decimal, Enforcement, Leaf};
use crate::wait::{Blocker, CheckResult, Wait};

use super::Scheduler;
use super::before_event::BeforeEvent;
use super::class::ClassKey;
use super::class_list::ClassPosition;
use super::min_tree::{EntryId, Measure, MinTree};
use super::park::GroupKey;
use super::reservation_candidates::CandidateKey;

use pick::FairShareLeaf;

/// How well a user is served: their largest share of what the leaf is guaranteed, by their weight,
/// in millionths. The least is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WeightedShare(u64);

impl WeightedShare {
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

/// How many types a measure distinguishes.
const TYPES: usize = 4;

/// At most what the user of a class has, as far as it says whose turn it is. The measure is updated
/// only when the user is checked, or may have less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UsageLowerBound {
    /// By type, in the order of [`FairShareCandidates::types`].
    used: [i64; TYPES],
    /// At least the weight of the user.
    weight: Decimal,
    served: WeightedShare,
    /// Whether the user was ever checked; if not, the user may have nothing.
    known: bool,
}

impl UsageLowerBound {
    /// Of somebody who was not looked at yet.
    const UNKNOWN: Self =
        Self { used: [0; TYPES], weight: Decimal::ZERO, served: WeightedShare(0), known: false };

    fn of(leaf: &Leaf, user: &LeafUser<'_>, types: &Types) -> Self {
        let mut used = [0; TYPES];
        for (place, resource) in types.iter().enumerate() {
            used[place] = user.used_of(*resource).get();
        }
        Self { used, weight: user.weight, served: WeightedShare::of(leaf, user), known: true }
    }
}

/// A user who uses less, weighs more and is served less has an earlier turn.
impl Measure for UsageLowerBound {
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
pub(super) struct FairShareCandidates {
    /// In the order of the leaf, each with what its user has.
    pub(super) ranking: MinTree<ClassPosition, UsageLowerBound>,
    types: Types,
}

impl FairShareCandidates {
    /// Add a class; its user is checked when it may be that user's turn.
    pub(super) fn insert(&mut self, place: ClassPosition) -> EntryId {
        self.ranking.insert(place, UsageLowerBound::UNKNOWN)
    }

    /// Have these types say whose turn it is.
    fn tell_by(&mut self, types: Types) {
        if self.types != types {
            self.types = types;
            self.ranking.set_all(&UsageLowerBound::UNKNOWN);
        }
    }
}

/// Which leaves have to find out whose turn it is, and their groups that are open.
#[derive(Clone, Debug, Default)]
pub(super) struct FairShareIndex {
    open: BTreeMap<QueueId, BTreeSet<GroupKey>>,
    /// The same for the classes that wait for a reservation.
    candidates: BTreeMap<QueueId, BTreeSet<CandidateKey>>,
    /// In these it may be another's turn; the same may be there twice.
    moved: Vec<QueueId>,
    /// Who may use less by now, or weigh more, than is known.
    eased: Vec<(QueueId, LevelId)>,
}

impl FairShareIndex {
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

    /// The same for a group that waits for a reservation.
    pub(super) fn candidates_changed(
        &mut self,
        key: CandidateKey,
        open: bool,
        is_listed: &mut bool,
    ) {
        let (leaf, _) = key.list();
        if core::mem::replace(is_listed, open) != open {
            note(&mut self.candidates, leaf, key, open);
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
        self.pick_users(books);
        self.follow_lines(books);
        self.tree.refresh(books);
    }

    /// The user of an application uses something else, or waits for something else. In that user's
    /// leaves it may be another user's turn.
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
            let partition = books.queue(leaf).partition;
            for (level, _) in users.users() {
                self.parked.turns.eased.push((leaf, level));
                let blocker = Blocker::CapTooSmall(partition, level);
                self.parked.open(&mut self.tree, blocker, |_| true);
            }
        }
    }

    /// The cluster has another size: it may be another's turn everywhere, and caps may be others.
    pub(super) fn all_turns_moved(&mut self, books: &Books) {
        for (leaf, users) in books.leaves_with_users() {
            self.parked.turns.moved(leaf);
            let partition = books.queue(leaf).partition;
            for (level, _) in users.users() {
                for blocker in
                    [Blocker::UserCap(partition, level), Blocker::CapTooSmall(partition, level)]
                {
                    self.parked.open(&mut self.tree, blocker, |_| true);
                }
            }
        }
    }

    /// Less is charged to its user, who may be within the cap again.
    pub(super) fn cap_gave_way(
        &mut self,
        books: &Books,
        partition: PartitionId,
        seen: &BeforeEvent,
    ) {
        let (Some(leaf), Some(level)) = (seen.queue, seen.levels.first()) else { return };
        if books.users_of(leaf).is_some() {
            // The cap depends on the ask: asks that still exceed it are held back again.
            let blocker = Blocker::UserCap(partition, *level);
            self.parked.open(&mut self.tree, blocker, |_| true);
        }
    }

    /// Have every leaf whose users take turns see whose it is, where that may have changed.
    #[inline]
    pub(super) fn pick_users(&mut self, books: &Books) {
        while let Some((leaf, level)) = self.parked.turns.eased.pop() {
            self.measure(books, leaf, level);
        }
        while let Some(leaf) = self.parked.turns.moved.pop() {
            self.take_turn(books, leaf);
        }
    }

    fn take_turn(&mut self, books: &Books, leaf: QueueId) {
        let Some(users) = books.users_of(leaf) else { return };
        let turn = FairShareLeaf { books, users, leaf: users.outline() };
        let classes = &self.classes;
        let open = self.parked.turns.open.get(&leaf).into_iter().flatten();
        for key in open.copied().collect::<SmallVec<[_; 2]>>() {
            let members = self.parked.members_mut(key).expect("what is open has members");
            let next = turn.choose(classes, key.shape, &mut members.waiters);
            members.expose(&mut self.tree, (key.leaf, key.pass), next);
        }
        let open = self.parked.turns.candidates.get(&leaf).into_iter().flatten();
        for key in open.copied().collect::<SmallVec<[_; 2]>>() {
            let members =
                self.reservation_candidates.members_mut(key).expect("what is open has members");
            let next = turn.choose(classes, key.shape, &mut members.waiters);
            members.expose(&mut self.tree, key.list(), next);
        }
    }

    /// Record what a user has now, wherever that user may have a turn.
    fn measure(&mut self, books: &Books, leaf: QueueId, level: LevelId) {
        let Some(users) = books.users_of(leaf) else { return };
        let Some(user) = users.user(level) else { return };
        let measure = |of: &mut FairShareCandidates, seat| {
            let measure = UsageLowerBound::of(users.outline(), &user, &of.types);
            of.ranking.set_at(seat, measure);
        };
        for class in self.classes.of_user(&self.applications, leaf, level) {
            let row = &self.classes.rows[class];
            let group = row.group().filter(|key| key.shared && row.head.is_some());
            if let Some(members) = group.and_then(|key| self.parked.members_mut(key)) {
                measure(&mut members.waiters, row.seat);
            }
            let candidate =
                Some(CandidateKey::of(row.key)).filter(|_| row.key.shared && row.keeps.is_some());
            if let Some(members) =
                candidate.and_then(|key| self.reservation_candidates.members_mut(key))
            {
                measure(&mut members.waiters, row.candidate_seat);
            }
        }
    }
}

/// How far an ask would take its user beyond the user's cap; none where it would not.
pub(super) fn capped(
    books: &Books,
    leaf: QueueId,
    link: TrackerLink,
    ask: &Resources,
) -> Option<Wait> {
    cap_of(books, leaf, link, ask)?.wait()
}

/// Whether an ask would take its user beyond the user's own cap, if there is one.
pub(super) fn cap_of(
    books: &Books,
    leaf: QueueId,
    link: TrackerLink,
    ask: &Resources,
) -> Option<CheckResult> {
    let users = books.users_of(leaf)?;
    if users.rules().enforcement != Enforcement::Progress {
        return None; // It is part of the limit then.
    }
    let (user, counted) = (users.user(link.user)?, users.counted(ask));
    let blocker = Blocker::UserCap(books.queue(leaf).partition, link.user);
    if !users.exceeds_cap(&user, &counted) {
        return Some(CheckResult::passed(blocker));
    }
    let cap = users.cap(user.weight, &counted);
    let shortfall = cap.minus_existing(&user.used()).shortfall_of_limit(&counted);
    Some(CheckResult::of(blocker, true, shortfall))
}

const NOTHING: Resources = Resources::new();

/// Why a class is not looked at before it is the turn of its user; none where it is.
pub(super) fn wait_for_turn(books: &Books, key: ClassKey) -> Option<Wait> {
    share_of(books, key)?.wait()
}

/// Whether it is the turn of the user of a class; none where shares have to make progress, and nobody waits for it.
pub(super) fn share_of(books: &Books, key: ClassKey) -> Option<CheckResult> {
    let level = key.sharer()?;
    let users = books.users_of(key.leaf)?;
    if users.rules().enforcement == Enforcement::Progress {
        return None;
    }
    let blocker = Blocker::UserShare(books.queue(key.leaf).partition, level);
    let passed = Some(CheckResult::passed(blocker));
    let Some(user) = users.user(level) else { return passed };
    let turn = FairShareLeaf { books, users, leaf: users.outline() };
    let ask = turn.ask(key.shape);
    if users.fast_admits(&user, &ask) {
        return passed;
    }
    let limit = turn.limit(user.weight, &ask);
    if turn.is(&limit, &user.used(), &ask) {
        return passed;
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
    Some(CheckResult::of(blocker, true, shortfall))
}
