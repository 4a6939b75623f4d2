//! Order of the users in a shared leaf, computed from nothing: active users, their use, and the sums of all users. It
//! shares only the formulas with the real scheduler.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Allocation, Application, Books, LeafUsers};
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, LevelId, QueueId};
use crate::resource::{Quantity, Resources};
use crate::time::Timestamp;
use crate::userlimit::{Among, Decimal, Enforcement, Formula, Leaf, Rules, ShareQuery};

use super::{Whose, applications_in_order, in_order, pending};

/// Function that the last pass applies to an application and its asks that are eligible now.
type Look<'a> = &'a dyn Fn(ApplicationId, Whose<'_>) -> Option<Vec<Event>>;

pub(super) fn takes_turns(books: &Books, leaf: QueueId) -> bool {
    books.users_of(leaf).is_some()
}

/// Checks the asks of a leaf. In a shared leaf, the asks of users within their share precede. If the policy favors
/// progress, the other asks follow, in the order of the least served user.
pub(super) fn in_turn(
    books: &Books,
    now: Timestamp,
    leaf: QueueId,
    look: Look<'_>,
) -> Option<Vec<Event>> {
    let applications = applications_in_order(books, now, leaf);
    let Some(rules) = books.users_of(leaf) else {
        return applications.into_iter().find_map(|id| look(id, &|_, _| true));
    };
    let state = State::of(books, leaf, rules);
    // An ask with a reserved node is checked for any share of its user.
    let within = |id, ask: &Allocation| {
        ask.reservation().is_some() || state.is_turn(books, books.allocation(id).application, id)
    };
    let first = applications.iter().find_map(|id| look(*id, &within));
    if first.is_some() || rules.rules().enforcement != Enforcement::Progress {
        return first;
    }
    let mut beyond = Vec::new();
    for (place, application) in applications.iter().enumerate() {
        let Some(link) = books.application(*application).link else { continue };
        for (number, (ask, row)) in in_order(books, *application).into_iter().enumerate() {
            if !within(ask, row) {
                beyond.push(((state.served(link.user), place, number), *application, ask));
            }
        }
    }
    beyond.sort_by_key(|(key, ..)| *key);
    beyond.into_iter().find_map(|(_, application, ask)| look(application, &|id, _| id == ask))
}

/// Whether this amount exceeds the maximum of the user in the leaf.
pub(super) fn is_capped(books: &Books, row: &Application, wanted: &Resources) -> bool {
    let (Some(rules), Some(link)) = (books.users_of(row.queue), row.link) else { return false };
    rules.rules().enforcement == Enforcement::Progress
        && State::of(books, row.queue, rules).is_capped(link.user, wanted)
}

/// Whether this amount exceeds the maximum that the user can ever have in the leaf, for any use by others.
pub(super) fn is_beyond_cap(books: &Books, row: &Application, wanted: &Resources) -> bool {
    let (Some(rules), Some(link)) = (books.users_of(row.queue), row.link) else { return false };
    if rules.rules().enforcement != Enforcement::Progress
        || rules.rules().formula != Formula::Smooth
    {
        return false;
    }
    let mut state = State::of(books, row.queue, rules);
    if let Some(user) = state.users.get_mut(&link.user) {
        user.used = Resources::new();
    }
    state.is_capped(link.user, wanted)
}

/// Returns the leaf as these rules see it, with its active users if it is shared.
pub(super) fn leaf_and_active(
    books: &Books,
    leaf: QueueId,
    rules: &Rules,
) -> (Leaf, BTreeSet<LevelId>) {
    match books.users_of(leaf) {
        Some(users) => {
            let state = State::of(books, leaf, users);
            (state.leaf, state.active)
        }
        None => (plain(books, leaf, rules), BTreeSet::new()),
    }
}

/// Returns a leaf without its users.
fn plain(books: &Books, leaf: QueueId, rules: &Rules) -> Leaf {
    let row = books.queue(leaf);
    let total = books.queue(books.partition(row.partition).root).max.clone();
    let below_root = books.up(leaf).filter(|(_, queue)| queue.parent.is_some());
    let maxima = below_root.filter_map(|(_, queue)| queue.max.as_ref());
    let mut max = maxima.fold(Resources::new(), |least, max| least.minimum(max));
    let total = total.unwrap_or_default();
    if rules.formula != Formula::Smooth {
        max = max.minimum(&total);
    }
    Leaf {
        total,
        guaranteed: row.guaranteed.clone().unwrap_or_default(),
        max,
        used: row.allocated.clone(),
        sections: Some(books.sections_of(row.partition).into()),
        ..Leaf::default()
    }
}

/// State of a leaf and its users, recomputed.
struct State<'books> {
    rules: LeafUsers<'books>,
    leaf: Leaf,
    users: BTreeMap<LevelId, Counted>,
    active: BTreeSet<LevelId>,
}

#[derive(Default)]
struct Counted {
    used: Resources,
    waits: Vec<AllocationId>,
    weight: Decimal,
}

impl<'books> State<'books> {
    fn of(books: &'books Books, leaf: QueueId, rules: LeafUsers<'books>) -> Self {
        let row = books.queue(leaf);
        let config = row.settings.user_limits.as_ref().expect("the leaf has user limits");
        let mut users: BTreeMap<LevelId, Counted> = BTreeMap::new();
        for (id, application) in books.applications_in(leaf) {
            let Some(link) = application.link else { continue };
            let user = users.entry(link.user).or_default();
            user.weight = config.weight(&application.user);
            user.used.add(&application.allocated);
            if !super::activation::waits(books, application) {
                user.waits.extend(pending(books, id).map(|(ask, _)| ask));
            }
        }
        let leaf = plain(books, leaf, rules.rules());
        let mut state = Self { rules, leaf, users, active: BTreeSet::new() };
        state.count(books);
        state
    }

    /// Counts the active users and their use.
    fn count(&mut self, books: &Books) {
        let smooth = self.rules.rules().formula == Formula::Smooth;
        let mut sum = Leaf::default();
        for (level, user) in &self.users {
            let may = |ask: &AllocationId| {
                let application = books.application(books.allocation(*ask).application);
                let trackers = &books.partition(application.partition).trackers;
                let wanted = books.resources_of(*ask);
                let mut levels = trackers.up(*level);
                levels.all(|(_, one)| one.left().is_none_or(|left| left.allows(wanted)))
                    && !self.is_capped(*level, wanted)
            };
            if self.rules.rules().formula == Formula::Yarn3 {
                sum.dominant.add(&self.rules.rules().dominant(&self.leaf, &user.used));
            }
            if user.waits.iter().any(|ask| !smooth || may(ask)) {
                sum.active += 1;
                self.active.insert(*level);
                sum.active_weight = sum.active_weight.plus(user.weight);
                sum.used_active.add(&user.used);
            }
        }
        self.leaf.active = sum.active;
        self.leaf.active_weight = sum.active_weight;
        self.leaf.used_active = sum.used_active.pruned();
        self.leaf.dominant = sum.dominant.pruned();
    }

    fn is_turn(&self, books: &Books, application: ApplicationId, ask: AllocationId) -> bool {
        let Some(link) = books.application(application).link else { return true };
        let (user, wanted) =
            (&self.users[&link.user], self.rules.normalised(books.resources_of(ask)));
        let part = ShareQuery { weight: user.weight, among: Among::Active, ask: &wanted };
        let limit = self.rules.rules().limit(&self.leaf, part);
        self.rules.rules().is_turn(&self.leaf, &limit, &user.used, &wanted)
    }

    fn is_capped(&self, level: LevelId, wanted: &Resources) -> bool {
        let (user, wanted) = (&self.users[&level], self.rules.normalised(wanted));
        let cap = self.rules.rules().cap(&self.leaf, user.weight, &wanted);
        self.rules.rules().is_capped(&self.leaf, &cap, &user.used, &wanted)
    }

    /// Returns the largest share of the weighted guarantee, in millionths.
    fn served(&self, level: LevelId) -> u64 {
        let user = &self.users[&level];
        let types = self.leaf.guaranteed.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        let shares = types.map(|(resource, amount)| {
            let used = i128::from(user.used.get_or_zero(resource).get());
            let all = i128::from(amount.get()) * i128::from(user.weight.millionths());
            if all == 0 { i128::MAX } else { used * 1_000_000_000_000 / all }
        });
        u64::try_from(shares.max().unwrap_or(0).max(0)).unwrap_or(u64::MAX)
    }
}
