//! Simulation of user limits with other numbers. Changes nothing. Omitted values are those of the live queue.

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

/// Input of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulation {
    /// Capacity of the partition.
    pub total: Option<Amounts>,
    /// Guarantee of the queue (`Q`).
    pub guaranteed: Option<Amounts>,
    /// Maximum of the queue (`Qmax`).
    pub max: Option<Amounts>,
    /// Usage of all users (`U`). With given users, the default is their sum. A difference counts as the usage of one
    /// more inactive user.
    pub used: Option<Amounts>,
    /// Users. `None` for the users of the live queue.
    pub users: Option<Vec<SimulatedUser>>,
    /// Next ask of each user without a specific one (`r`).
    pub ask: Option<Amounts>,
    /// Rules that differ from the current ones.
    pub rules: UserLimitsConfig,
    /// Whether all users split the queue, and not only active users.
    pub among_all: bool,
}

/// A hypothetical user.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedUser {
    /// Name of the user.
    pub name: Name,
    /// Usage of the user.
    pub used: Amounts,
    /// Weight of the user. `None` for the configured weight of this name.
    pub weight: Option<Decimal>,
    /// Whether the user is an active user.
    pub active: bool,
    /// Next ask of the user (`r`). `None` for the ask of all users, or for that of this name in the live queue.
    pub ask: Option<Amounts>,
}

/// Result of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationView {
    /// Path of the queue.
    pub path: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Applied rules.
    pub rules: RulesView,
    /// Properties of the queue that the rules were applied to.
    pub leaf: LeafView,
    /// Whether all users split the queue.
    pub among_all: bool,
    /// Users in the given order. Users of the live queue are in the order of their names.
    pub users: Vec<SimulatedLimitView>,
}

/// Limit of one user, with all intermediate values. See [`LimitDerivation`].
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedLimitView {
    /// Name of the user.
    pub user: Name,
    /// Weight of the user.
    pub weight: Decimal,
    /// Whether the user is an active user.
    pub active: bool,
    /// Usage of the user.
    pub used: Amounts,
    /// Counted size of the next ask of the user (`r`).
    pub ask: Amounts,
    /// Value `q`.
    pub capacity: Amounts,
    /// Value `consumed`, for `yarn3` only.
    pub consumed: Option<Amounts>,
    /// Value `base`, or `B`.
    pub base: Amounts,
    /// Value `C`.
    pub whole: Amounts,
    /// Value `a`.
    pub equal: Amounts,
    /// Value `b`.
    pub floor: Amounts,
    /// Value `cap`. `None` if the factor is disabled.
    pub cap: Option<Amounts>,
    /// Value `soft`.
    pub soft: Amounts,
    /// Value `hard`.
    pub hard: Amounts,
    /// Value `limit`.
    pub limit: Amounts,
    /// Whether user limits would admit the ask, with the enforcements `progress`, `strict`, and `overshoot`.
    pub admitted: [bool; 3],
}

/// Reason why a simulation has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The request names too many resource types.
    #[error(
        "the request names {named} unknown resource types, but at most {most} are allowed. Use types of the cluster."
    )]
    Types {
        /// Number of unknown types.
        named: usize,
        /// Largest allowed number.
        most: usize,
    },
    /// The users use more than the queue.
    #[error(
        "`U` is {used} of {resource}, but the users use {by_users} together. Set `U` to at least \
         {by_users}, or omit `U`."
    )]
    UsedByUsers {
        /// Resource type.
        resource: Name,
        /// Given usage of the queue.
        used: i64,
        /// Sum of the usage of the users.
        by_users: i64,
    },
    /// The percentage does not allow the weight.
    #[error(
        "the weight of user `{user}` is {weight} and `p` is {percent}, but weight times `p` can be \
         at most 100. Lower the weight or `p`."
    )]
    Weight {
        /// Name of the user.
        user: Name,
        /// Weight of the user.
        weight: Decimal,
        /// Current percentage.
        percent: Decimal,
    },
    /// The smallest share is 0, which only the formula `smooth` allows.
    #[error("`p` is 0, which only the formula `smooth` allows. Set 1 to 100.")]
    NoFloor,
}

impl SimulationView {
    /// Returns the result for a queue. Users of the live queue that the caller is not allowed to see count, but are not
    /// shown.
    ///
    /// # Errors
    ///
    /// Fails if the numbers contradict each other or a rule of the queue file.
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

/// A user with counted amounts.
struct Somebody {
    name: Name,
    weight: Decimal,
    active: bool,
    used: Resources,
    ask: Resources,
    is_shown: bool,
}

/// Context of a simulation: the live queue, and the rules.
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

    /// Returns the given users, or those of the live queue.
    fn users(
        &self,
        simulation: &Simulation,
        sees: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Somebody>, SimulationError> {
        let Some(given) = &simulation.users else {
            let live = self.live(simulation, sees);
            // Errors must not reveal users that the caller is not allowed to see, such as a weight that is too large.
            for user in live.iter().filter(|user| user.is_shown) {
                weight_fits(&user.name, user.weight, self.sizes.rules.floor)?;
            }
            return Ok(live);
        };
        let of_all = simulation.ask.as_ref().map(|ask| self.resources(ask));
        given
            .iter()
            .map(|user| {
                // The configured weight of a user must not be revealed either, if the caller is not allowed to see the
                // user.
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

    /// Returns the users of the live queue, by name.
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

    /// Returns the next ask of the user with this name in the live queue.
    fn live_ask(&self, name: &str) -> Option<Resources> {
        let trackers = &self.books.partition(self.books.queue(self.queue).partition).trackers;
        let level = trackers.level_of(TrackerKind::User, name, self.queue)?;
        next_ask(self.books, &self.books.users_of(self.queue)?.user(level)?)
    }

    /// Returns the properties of the queue with these users.
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
            // The queue can have usage that belongs to no user row.
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
        // As in the live queue, a user who asks is active.
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

/// Registers all types that a simulation names.
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

/// Checks the rule of the queue file for weights.
fn weight_fits(user: &Name, weight: Decimal, percent: Decimal) -> Result<(), SimulationError> {
    let millionths = |decimal: Decimal| i128::from(decimal.millionths());
    let most = millionths(Decimal::HUNDRED) * millionths(Decimal::ONE);
    if millionths(weight) * millionths(percent) <= most {
        return Ok(());
    }
    Err(SimulationError::Weight { user: user.clone(), weight, percent })
}
