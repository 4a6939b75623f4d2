//! What user limits would be with other numbers; nothing happens by it. What is not given is as in
//! the live queue.

use alloc::vec::Vec;

use crate::books::tracker::TrackerKind;
use crate::books::{Books, LeafUsers, Sizes};
use crate::config::UserLimitsConfig;
use crate::id::QueueId;
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceTypes, Resources};
use crate::userlimit::{
    Among, Decimal, Enforcement, Formula, Leaf, LimitDerivation, Rules, ShareQuery,
};

use super::user_limits::{LeafView, RulesView, next_ask, within_cluster};

/// What would be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulation {
    /// All that the partition has.
    pub total: Option<Amounts>,
    /// Guaranteed to the queue (`Q`).
    pub guaranteed: Option<Amounts>,
    /// What it may have at most (`Qmax`).
    pub max: Option<Amounts>,
    /// What all its users use (`U`); where users are given, what they use together. What it is more
    /// than that is one more user's, who is not active.
    pub used: Option<Amounts>,
    /// The users; absent: those who are there.
    pub users: Option<Vec<SimulatedUser>>,
    /// The next ask of each user for whom no other is given (`r`).
    pub ask: Option<Amounts>,
    /// The rules, where they are others.
    pub rules: UserLimitsConfig,
    /// Whether all users split the queue, and not only the active ones.
    pub among_all: bool,
}

/// A user who would be there.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedUser {
    /// The name of the user.
    pub name: Name,
    /// What the user uses.
    pub used: Amounts,
    /// The weight of the user; absent: as configured for this name.
    pub weight: Option<Decimal>,
    /// Whether the user counts among those who split the queue.
    pub active: bool,
    /// The next ask of the user (`r`); absent: that of all, or as it is for this name.
    pub ask: Option<Amounts>,
}

/// What follows.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationView {
    /// Path of the queue.
    pub path: Name,
    /// Name of its partition.
    pub partition: Name,
    /// The rules that were applied.
    pub rules: RulesView,
    /// What they were applied to.
    pub leaf: LeafView,
    /// Whether all users split the queue.
    pub among_all: bool,
    /// The users, in the order in which they were given; those who are there by name.
    pub users: Vec<SimulatedLimitView>,
}

/// What one user may have, and each value on the way there. See [`LimitDerivation`].
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedLimitView {
    /// The name of the user.
    pub user: Name,
    /// The weight of the user.
    pub weight: Decimal,
    /// Whether the user counts among those who split the queue.
    pub active: bool,
    /// What the user uses.
    pub used: Amounts,
    /// What the next ask of the user counts as (`r`).
    pub ask: Amounts,
    /// `q`.
    pub capacity: Amounts,
    /// `consumed`; with `yarn3` alone.
    pub consumed: Option<Amounts>,
    /// `base`, or `B`.
    pub base: Amounts,
    /// `C`.
    pub whole: Amounts,
    /// `a`.
    pub equal: Amounts,
    /// `b`.
    pub floor: Amounts,
    /// `cap`; none: the factor is off.
    pub cap: Option<Amounts>,
    /// `soft`.
    pub soft: Amounts,
    /// `hard`.
    pub hard: Amounts,
    /// `limit`.
    pub limit: Amounts,
    /// Whether the ask would be admitted as far as user limits go: under `progress`, `strict` and
    /// `overshoot`.
    pub admitted: [bool; 3],
}

/// Why there is nothing to tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// More resource types than there can be.
    #[error(
        "the request names {named} unknown resource types, but at most {most} are allowed. Use types of the cluster."
    )]
    Types {
        /// How many are named.
        named: usize,
        /// How many may be.
        most: usize,
    },
    /// The users use more than the queue.
    #[error(
        "`U` is {used} of {resource}, but the users use {by_users} together. Set `U` to at least \
         {by_users}, or omit `U`."
    )]
    UsedByUsers {
        /// The type.
        resource: Name,
        /// What is given for the queue.
        used: i64,
        /// What is given for its users.
        by_users: i64,
    },
    /// A weight that the percentage does not allow.
    #[error(
        "the weight of user `{user}` is {weight} and `p` is {percent}, but weight times `p` can be \
         at most 100. Lower the weight or `p`."
    )]
    Weight {
        /// Whose.
        user: Name,
        /// The weight.
        weight: Decimal,
        /// The percentage in force.
        percent: Decimal,
    },
    /// The least that a share may be is nothing, with a formula that needs it.
    #[error("`p` is 0, which only the formula `smooth` allows. Set 1 to 100.")]
    NoFloor,
}

impl SimulationView {
    /// What would be in a queue. Users of the live queue whom the caller does not see are not
    /// shown, but they count.
    ///
    /// # Errors
    /// When the numbers contradict each other, or a rule of the queue file.
    pub fn of(
        books: &Books,
        queue: QueueId,
        simulation: &Simulation,
        sees: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SimulationError> {
        let mut setting = Setting::new(books, queue, simulation)?;
        let users = setting.users(simulation, sees)?;
        let leaf = setting.leaf(simulation, &users)?;
        let named = |of: &Resources| setting.types.amounts(of);
        let of_all: Decimal = users.iter().fold(Decimal::ZERO, |sum, one| sum.plus(one.weight));
        let among = if simulation.among_all { Among::All(of_all) } else { Among::Active };
        let shown = users.iter().filter(|user| user.is_shown);
        let limits = shown.map(|user| setting.limit(&leaf, user, among)).collect();
        let row = books.queue(queue);
        let sizes = (&setting.sizes.increment, &setting.sizes.largest);
        Ok(Self {
            path: row.path.clone(),
            partition: books.partition(row.partition).name.clone(),
            rules: RulesView::new(&setting.sizes.rules, sizes, named),
            leaf: LeafView::new(&leaf, named),
            among_all: simulation.among_all,
            users: limits,
        })
    }
}

/// A user as counted.
struct Somebody {
    name: Name,
    weight: Decimal,
    active: bool,
    used: Resources,
    ask: Resources,
    is_shown: bool,
}

/// What a simulation goes by: the live queue, and rules over those in force.
struct Setting<'a> {
    books: &'a Books,
    queue: QueueId,
    config: UserLimitsConfig,
    sizes: Sizes,
    types: ResourceTypes,
}

impl<'a> Setting<'a> {
    fn new(
        books: &'a Books,
        queue: QueueId,
        simulation: &Simulation,
    ) -> Result<Self, SimulationError> {
        let mut types = books.types().clone();
        meet(&mut types, simulation)?;
        let live = books.queue(queue).settings.user_limits.as_deref();
        let config =
            live.map_or_else(|| simulation.rules.clone(), |live| simulation.rules.over(live));
        let sizes = Sizes::of(&config, |amounts| types.intern_all(amounts));
        let Rules { formula, floor, .. } = sizes.rules;
        if formula != Formula::Smooth && floor == Decimal::ZERO {
            return Err(SimulationError::NoFloor);
        }
        Ok(Self { books, queue, config, sizes, types })
    }

    fn resources(&self, amounts: &Amounts) -> Resources {
        self.types.resolve(amounts).expect("all types of the request were met")
    }

    /// Those who are given, or those who are there.
    fn users(
        &self,
        simulation: &Simulation,
        sees: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Somebody>, SimulationError> {
        let Some(given) = &simulation.users else {
            let live = self.live(simulation, sees);
            // Nothing is reported of users who are not seen, not even a weight that is too large.
            for user in live.iter().filter(|user| user.is_shown) {
                weight_fits(&user.name, user.weight, self.sizes.rules.floor)?;
            }
            return Ok(live);
        };
        let of_all = simulation.ask.as_ref().map(|ask| self.resources(ask));
        given
            .iter()
            .map(|user| {
                // Nothing is reported of a user who is not seen in this way either.
                let is_known = sees(&user.name);
                let configured =
                    || if is_known { self.config.weight(&user.name) } else { Decimal::ONE };
                let own = user.ask.as_ref().map(|ask| self.resources(ask));
                let ask = own.or_else(|| of_all.clone());
                let ask = ask.or_else(|| if is_known { self.live_ask(&user.name) } else { None });
                let weight = user.weight.unwrap_or_else(configured);
                weight_fits(&user.name, weight, self.sizes.rules.floor)?;
                Ok(Somebody {
                    name: user.name.clone(),
                    weight,
                    active: user.active,
                    used: self.resources(&user.used),
                    ask: self.sizes.normalised(&ask.unwrap_or_default()),
                    is_shown: true,
                })
            })
            .collect()
    }

    /// The users of the live queue, by name.
    fn live(&self, simulation: &Simulation, sees: &dyn Fn(&str) -> bool) -> Vec<Somebody> {
        let of_all = simulation.ask.as_ref().map(|ask| self.resources(ask));
        let trackers = &self.books.partition(self.books.queue(self.queue).partition).trackers;
        let rows = self.books.users_of(self.queue).into_iter().flat_map(LeafUsers::users);
        let mut users: Vec<Somebody> = rows
            .map(|(level, user)| {
                let name = trackers.tracker(trackers.level(level).tracker).name.clone();
                let ask = of_all.clone().or_else(|| next_ask(self.books, &user));
                Somebody {
                    weight: self.config.weight(&name),
                    active: user.active,
                    used: user.used(),
                    ask: self.sizes.normalised(&ask.unwrap_or_default()),
                    is_shown: sees(&name),
                    name,
                }
            })
            .collect();
        users.sort_by(|one, other| one.name.cmp(&other.name));
        users
    }

    /// The next ask of the user of this name in the live queue.
    fn live_ask(&self, name: &str) -> Option<Resources> {
        let trackers = &self.books.partition(self.books.queue(self.queue).partition).trackers;
        let level = trackers.level_of(TrackerKind::User, name, self.queue)?;
        next_ask(self.books, &self.books.users_of(self.queue)?.user(level)?)
    }

    /// The queue with these users.
    fn leaf(
        &mut self,
        simulation: &Simulation,
        users: &[Somebody],
    ) -> Result<Leaf, SimulationError> {
        let live = self.books.leaf_alone(self.queue, self.sizes.rules.formula);
        let specified =
            |amounts: &Option<Amounts>| amounts.as_ref().map(|some| self.resources(some));
        let mut leaf = Leaf {
            total: specified(&simulation.total).unwrap_or(live.total),
            guaranteed: specified(&simulation.guaranteed).unwrap_or(live.guaranteed),
            max: specified(&simulation.max).unwrap_or(live.max),
            ..Leaf::default()
        };
        let mut by_users = Resources::new();
        for user in users {
            by_users.add(&user.used);
            leaf.dominant.add(&self.sizes.rules.dominant(&leaf, &user.used));
            if user.active {
                leaf = leaf.joined_by(user.weight, &user.used);
            }
        }
        leaf.used = match (specified(&simulation.used), &simulation.users) {
            (Some(used), _) => used,
            (None, Some(_)) => by_users.clone(),
            // What nobody's row has is there all the same.
            (None, None) => live.used.maximum(&by_users),
        };
        for (resource, by_users) in by_users.iter() {
            let used = leaf.used.get_or_zero(resource);
            if used < by_users {
                let resource = self.types.name(resource).clone();
                let (used, by_users) = (used.get(), by_users.get());
                return Err(SimulationError::UsedByUsers { resource, used, by_users });
            }
        }
        let others = leaf.used.minus(&by_users);
        leaf.dominant.add(&self.sizes.rules.dominant(&leaf, &others));
        for of in [&mut leaf.used, &mut leaf.used_active, &mut leaf.dominant] {
            of.prune();
        }
        Ok(leaf)
    }

    fn limit(&self, leaf: &Leaf, user: &Somebody, among: Among) -> SimulatedLimitView {
        let rules = &self.sizes.rules;
        let part = ShareQuery { weight: user.weight, among, ask: &user.ask };
        // As for the live queue: who asks is active.
        let joins = rules.formula == Formula::Smooth && !user.active && among == Among::Active;
        let joined = joins.then(|| leaf.joined_by(user.weight, &user.used));
        let leaf = joined.as_ref().unwrap_or(leaf);
        let LimitDerivation { capacity, consumed, base, whole, equal, floor, cap, limit } =
            rules.worked(leaf, part);
        let admits = |enforcement| {
            let rules = Rules { enforcement, ..rules.clone() };
            rules.admits(leaf, &limit, &user.used, &user.ask)
        };
        let admitted =
            [Enforcement::Progress, Enforcement::Strict, Enforcement::Overshoot].map(admits);
        let named = |of: &Resources| self.types.amounts(of);
        let shown = within_cluster(rules, leaf, &limit);
        SimulatedLimitView {
            user: user.name.clone(),
            weight: user.weight,
            active: user.active,
            used: named(&user.used),
            ask: named(&user.ask),
            capacity: named(&capacity),
            consumed: consumed.as_ref().map(named),
            base: named(&base),
            whole: named(&whole),
            equal: named(&equal),
            floor: named(&floor),
            cap: cap.as_ref().map(named),
            soft: named(&limit.soft),
            hard: named(&shown.hard),
            limit: named(&shown.limit),
            admitted,
        }
    }
}

/// Know all types that a simulation names.
fn meet(types: &mut ResourceTypes, simulation: &Simulation) -> Result<(), SimulationError> {
    let Simulation { total, guaranteed, max, used, users, ask, rules, .. } = simulation;
    let of_users = users.iter().flatten();
    let of_users = of_users.flat_map(|user| core::iter::once(&user.used).chain(&user.ask));
    let all = [total, guaranteed, max, used, ask].into_iter().flatten();
    let all: Vec<&Amounts> = all.chain(of_users).chain(rules.amounts()).collect();
    let mut unknown: Vec<&Name> = all
        .iter()
        .flat_map(|amounts| amounts.iter().map(|(name, _)| name))
        .filter(|name| types.find(name).is_none())
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    let most = ResourceTypes::NEW_AT_ONCE.min(ResourceTypes::LIMIT - types.len());
    if unknown.len() > most {
        return Err(SimulationError::Types { named: unknown.len(), most });
    }
    let new: Amounts = unknown.into_iter().map(|name| (name.clone(), Quantity::ZERO)).collect();
    types.intern_all(&new);
    Ok(())
}

/// The rule of the queue file.
fn weight_fits(user: &Name, weight: Decimal, percent: Decimal) -> Result<(), SimulationError> {
    let millionths = |decimal: Decimal| i128::from(decimal.millionths());
    let most = millionths(Decimal::HUNDRED) * millionths(Decimal::ONE);
    if millionths(weight) * millionths(percent) <= most {
        return Ok(());
    }
    Err(SimulationError::Weight { user: user.clone(), weight, percent })
}
