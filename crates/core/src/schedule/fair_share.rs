//! Fair-share pick: the next user in a leaf with user limits.
//!
//! In a leaf with user limits, a group of equal asks does not show its first ask. It shows the first ask whose user is
//! not above their fair share. If all users are above their shares and the enforcement is `progress`, the least served
//! user is picked. So no capacity stays unused that a user of the leaf could use.
//!
//! A tree of all candidates for the same amounts finds the next user, based on usage as of their last check. Usage
//! mostly increases, so these values are lower bounds and exclude most users. The remaining users are checked again. A
//! change costs the depth of the tree, regardless of the number of users in the leaf.

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

/// Service of a user: the largest fraction of the guarantee of the leaf that the user uses, divided by the weight, in
/// millionths. The user with the least value is next.
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

    /// Returns the weighted share in one type with a guarantee.
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

/// Number of types that a measure distinguishes.
const TYPES: usize = 4;

/// Lower bound of the usage of the user of a class. Updated only when the user is checked, or when their usage can have
/// decreased.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UsageLowerBound {
    /// Usage by type, in the order of [`FairShareCandidates::types`].
    used: [i64; TYPES],
    /// Upper bound of the weight of the user.
    weight: Decimal,
    served: WeightedShare,
    /// Whether the user was checked before. If not, all bounds are zero.
    known: bool,
}

impl UsageLowerBound {
    /// Bound for a user who was not checked before.
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

/// A user with less usage, a higher weight, or less service is picked earlier.
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

/// Types that determine the pick. If there are more, the first ones.
type Types = SmallVec<[ResourceType; TYPES]>;

/// Classes whose users are picked by fair share.
#[derive(Clone, Debug, Default)]
pub(super) struct FairShareCandidates {
    /// Classes in the order of the leaf, each with the usage of its user.
    pub(super) ranking: MinTree<ClassPosition, UsageLowerBound>,
    types: Types,
}

impl FairShareCandidates {
    /// Adds a class. Its user is checked when they can be next.
    pub(super) fn insert(&mut self, place: ClassPosition) -> EntryId {
        self.ranking.insert(place, UsageLowerBound::UNKNOWN)
    }

    /// Sets the types that determine the pick.
    fn tell_by(&mut self, types: Types) {
        if self.types != types {
            self.types = types;
            self.ranking.set_all(&UsageLowerBound::UNKNOWN);
        }
    }
}

/// Leaves whose pick is out of date, and their open groups.
#[derive(Clone, Debug, Default)]
pub(super) struct FairShareIndex {
    open: BTreeMap<QueueId, BTreeSet<GroupKey>>,
    /// Open groups of classes that wait for a reservation.
    candidates: BTreeMap<QueueId, BTreeSet<CandidateKey>>,
    /// Leaves whose pick can have changed. Can contain duplicates.
    moved: Vec<QueueId>,
    /// Users whose usage can have decreased, or whose weight can have increased.
    eased: Vec<(QueueId, LevelId)>,
}

impl FairShareIndex {
    /// Updates a group after its members changed or it opened or closed. `is_listed` stores whether the index has it as
    /// open.
    pub(super) fn changed(&mut self, key: GroupKey, open: bool, is_listed: &mut bool) {
        if core::mem::replace(is_listed, open) != open {
            note(&mut self.open, key.leaf, key, open);
        }
        if open {
            self.moved(key.leaf);
        }
    }

    /// Updates a group of reservation candidates in the same way.
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

    /// Marks the pick of a leaf as out of date.
    fn moved(&mut self, leaf: QueueId) {
        if self.moved.last() != Some(&leaf) {
            self.moved.push(leaf);
        }
    }
}

/// Records whether a group of a leaf is open.
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
    /// Updates the order of everything that is ready.
    pub(super) fn refresh(&mut self, books: &Books) {
        self.pick_users(books);
        self.follow_lines(books);
        self.tree.refresh(books);
    }

    /// Marks the picks in the leaf of an application as out of date, after the usage or the asks of its user changed.
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

    /// Records that the usage of the user of an application can have decreased.
    pub(super) fn turns_eased(&mut self, books: &Books, application: ApplicationId) {
        let row = books.application(application);
        if let (leaf, Some(link)) = (row.queue, row.link)
            && books.users_of(leaf).is_some()
        {
            self.parked.turns.eased.push((leaf, link.user));
        }
    }

    /// Updates the service of all users of a leaf after its guarantee changed.
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

    /// Marks all picks as out of date after the size of the cluster changed, which can also change the user caps.
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

    /// Wakes asks that failed the user cap, after the usage of their user decreased.
    pub(super) fn cap_gave_way(
        &mut self,
        books: &Books,
        partition: PartitionId,
        seen: &BeforeEvent,
    ) {
        let (Some(leaf), Some(level)) = (seen.queue, seen.levels.first()) else { return };
        if books.users_of(leaf).is_some() {
            // The cap depends on the ask, so asks that still exceed it are parked again.
            let blocker = Blocker::UserCap(partition, *level);
            self.parked.open(&mut self.tree, blocker, |_| true);
        }
    }

    /// Updates the pick of every leaf where it can have changed.
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

    /// Records the current usage of a user in every group in which the user can be picked.
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

/// Returns the wait for the user cap that an ask would exceed. `None` if it would not.
pub(super) fn capped(
    books: &Books,
    leaf: QueueId,
    link: TrackerLink,
    ask: &Resources,
) -> Option<Wait> {
    cap_of(books, leaf, link, ask)?.wait()
}

/// Checks an ask against the user cap of the leaf, if the leaf has user limits.
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

/// Returns the wait of a class whose user is not picked yet. `None` if the user can be picked.
pub(super) fn wait_for_turn(books: &Books, key: ClassKey) -> Option<Wait> {
    share_of(books, key)?.wait()
}

/// Checks a class against the fair share of its user. `None` if the enforcement is `progress`, because then no user
/// waits for others.
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
