//! Tables of limits and demands by usage, computed with the formulas of the core. Source: user-headroom §7.1 to §7.3.
//! The ask is the required resource (user-headroom §11, M-1).

use headroom_core::resource::{Quantity, ResourceType, Resources};
use headroom_core::userlimit::{
    Among, Bound, Decimal, Enforcement, Formula, Leaf, Limit, Remaining, Rules, ShareQuery,
};
use serde::Serialize;

use super::monitor::{Monitor, Side, whole_asks};
use super::scene::{LARGE_FACTOR, Scene, Settings, TOTAL};

/// All three tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tables {
    /// Scene 1: one user in one queue.
    pub scene_1: Vec<Row1>,
    /// Scene 2: one user in two queues.
    pub scene_2: Vec<Row2>,
    /// Scene 3: three users in one queue.
    pub scene_3: Vec<Row3>,
}

/// Scene 1 at one usage, in GiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row1 {
    /// Usage of the user. No other user uses anything.
    pub used: i64,
    /// Values by the formula of `CapacityScheduler` 2.7.
    pub yarn27: Cell,
    /// Values by the formula of `CapacityScheduler` 3.
    pub yarn3: Cell,
    /// Values by the formula of Headroom.
    pub smooth: Cell,
    /// Whether the next container starts.
    pub next: Next,
}

/// Values by one formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The share by the formula, before any bound.
    pub raw: i64,
    /// The limit: at most what the factor allows, and the total.
    pub capped: i64,
    /// Headroom: the smaller rest of the limit and of the queue's maximum.
    pub headroom: i64,
}

/// Whether a container starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    /// The container starts with every formula.
    Yes,
    /// The queue would exceed its maximum.
    NoQueueMax,
    /// The user waits with some formula.
    NoUserLimit,
}

/// Scene 2 where A uses what B does not, in GiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row2 {
    /// Usage of B.
    pub used: i64,
    /// Limit of its user by `yarn27`.
    pub yarn27_limit: i64,
    /// Demand of B that the monitor assumes, by `yarn27`.
    pub yarn27_demand: i64,
    /// Demand by `yarn3`, with `minimumuserlimitpercent` 30.
    pub yarn3_demand_p30: i64,
    /// Demand by `yarn3`, with `minimumuserlimitpercent` 100.
    pub yarn3_demand_p100: i64,
    /// Ideal amounts of A and B by the monitor of 2.7.3, with the demand by `yarn27`.
    pub ideal_2_7: [i64; 2],
    /// Ideal amounts of A and B by the monitor of version 3, with the demand by `yarn27`.
    pub ideal_3: [i64; 2],
    /// Amount that 2.7.3 preempts from A.
    pub frees: i64,
    /// Result of the preemption.
    pub outcome: Outcome,
    /// Demand of B that Headroom assumes: whole asks up to its guarantee.
    pub whole_asks: i64,
}

/// Result of a preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// This number of containers starts.
    Starts(i64),
    /// The amount is less than a container, and B is below its guarantee.
    Stuck,
    /// The amount is less than a container, and B is above its guarantee.
    End,
}

/// Scene 3 where three users use these amounts of B, in GiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row3 {
    /// Usage of each user.
    pub users: [i64; 3],
    /// Usage of B.
    pub used: i64,
    /// Limit of each user by `yarn27`.
    pub limit: i64,
    /// Headroom of each user by `yarn27`.
    pub headroom: [i64; 3],
    /// Demand of B that the monitor assumes.
    pub demand: i64,
    /// Share of each user by `smooth`.
    pub smooth_share: i64,
    /// Whether each user can start another container, by `smooth` with `progress`.
    pub progress: [bool; 3],
    /// Whether each user can start another container, by `smooth` with `strict`.
    pub strict: [bool; 3],
    /// Demand of B that Headroom assumes.
    pub whole_asks: i64,
}

/// Usage of the users in the rows of scene 3.
const USERS: [[i64; 3]; 6] =
    [[0, 0, 0], [8, 8, 8], [16, 8, 8], [16, 16, 8], [16, 16, 16], [24, 16, 16]];

/// Number of waiting asks of B in scene 2 while it has no allocation.
const ASKS: u64 = 10;

/// Computes the tables.
pub fn tables() -> Tables {
    let scene = |id| *Scene::of(id).expect("it is one of the scenes");
    let (one, two, three) = (scene("1"), scene("2a"), scene("3"));
    Tables {
        scene_1: (0..=12).map(|count| row_1(&one, count * one.ask)).collect(),
        scene_2: [0, 24, 32, 40, 48].map(|used| row_2(&two, used)).to_vec(),
        scene_3: USERS.map(|users| row_3(&three, users)).to_vec(),
    }
}

/// State of a leaf, and its rules.
struct Case {
    rules: Rules,
    leaf: Leaf,
    ask: Resources,
}

impl Case {
    /// Returns the queue of a scene with equal, active users and their usage.
    fn new(scene: &Scene, formula: Formula, percent: u32, users: &[i64]) -> Self {
        let guaranteed = scene.guarantees.iter().find(|(name, _)| *name == scene.queue);
        let used = memory(users.iter().sum());
        let count = u32::try_from(users.len()).unwrap_or(u32::MAX);
        let rules = Rules {
            formula,
            enforcement: Settings::usual(formula).enforcement,
            floor: Decimal::whole(percent),
            factor: Decimal::parse(LARGE_FACTOR),
            step: memory(scene.step),
            ..Rules::default()
        };
        let leaf = Leaf {
            total: memory(TOTAL),
            guaranteed: memory(guaranteed.map_or(0, |(_, amount)| *amount)),
            max: memory(TOTAL),
            used: used.clone(),
            used_active: used.clone(),
            active: u64::from(count),
            active_weight: Decimal::whole(count),
            dominant: used,
            sections: None,
        };
        Self { rules, leaf, ask: memory(scene.ask) }
    }

    fn limit(&self) -> Limit {
        let part = ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &self.ask };
        self.rules.limit(&self.leaf, part)
    }

    /// Returns the headroom of a user with this usage. `free` is the amount that other users leave.
    fn headroom(&self, used: i64, free: i64) -> i64 {
        let room = Remaining { bound: Bound::PartitionFree, left: memory(free) };
        let headroom =
            self.rules.headroom(&self.leaf, (&self.limit(), &memory(used)), &[room], &memory(free));
        amount(&headroom.amounts)
    }

    fn admits(&self, enforcement: Enforcement, used: i64) -> bool {
        let rules = Rules { enforcement, ..self.rules.clone() };
        rules.admits(&self.leaf, &self.limit(), &memory(used), &self.ask)
    }
}

fn row_1(scene: &Scene, used: i64) -> Row1 {
    let case = |formula| Case::new(scene, formula, scene.percent, &[used]);
    let cell = |formula| {
        let case = case(formula);
        let limit = case.limit();
        Cell {
            raw: amount(&limit.soft),
            capped: amount(&limit.limit).min(TOTAL),
            headroom: case.headroom(used, TOTAL - used),
        }
    };
    let admits = |formula| {
        let case = case(formula);
        case.admits(case.rules.enforcement, used)
    };
    let next = if used + scene.ask > TOTAL {
        Next::NoQueueMax
    } else if super::scene::FORMULAS.into_iter().all(admits) {
        Next::Yes
    } else {
        Next::NoUserLimit
    };
    Row1 {
        used,
        yarn27: cell(Formula::Yarn27),
        yarn3: cell(Formula::Yarn3),
        smooth: cell(Formula::Smooth),
        next,
    }
}

fn row_2(scene: &Scene, used: i64) -> Row2 {
    let waiting = ASKS - u64::try_from(used / scene.ask).unwrap_or(0);
    let pending = i64::try_from(waiting).unwrap_or(i64::MAX) * scene.ask;
    // Allowed amount of the waiting asks of B. Nothing is free, so only its limit counts.
    let demand = |formula, percent| {
        let case = Case::new(scene, formula, percent, &[used]);
        case.headroom(used, TOTAL).min(pending)
    };
    let yarn27_demand = demand(Formula::Yarn27, scene.percent);
    let of = |name: &str| scene.guarantees.iter().find(|(queue, _)| *queue == name);
    let guaranteed = |name: &str| of(name).map_or(0, |(_, amount)| *amount);
    let a = Side {
        guaranteed: guaranteed("a"),
        used: TOTAL - used,
        // It asks for one more container.
        demand: scene.actors[0].size,
    };
    let b = Side { guaranteed: guaranteed("b"), used, demand: yarn27_demand };
    let ideal = |within| {
        let parts = Monitor::at_once(within).ideal(TOTAL, &[a, b]);
        [parts[0], parts[1]]
    };
    let frees = (a.used - ideal(false)[0]).max(0);
    let outcome = match frees / scene.ask {
        0 if used < b.guaranteed => Outcome::Stuck,
        0 => Outcome::End,
        count => Outcome::Starts(count),
    };
    Row2 {
        used,
        yarn27_limit: amount(
            &Case::new(scene, Formula::Yarn27, scene.percent, &[used]).limit().limit,
        ),
        yarn27_demand,
        yarn3_demand_p30: demand(Formula::Yarn3, 30),
        yarn3_demand_p100: demand(Formula::Yarn3, 100),
        ideal_2_7: ideal(false),
        ideal_3: ideal(true),
        frees,
        outcome,
        whole_asks: whole_asks(used, b.guaranteed, scene.ask, waiting),
    }
}

fn row_3(scene: &Scene, users: [i64; 3]) -> Row3 {
    let yarn27 = Case::new(scene, Formula::Yarn27, scene.percent, &users);
    let smooth = Case::new(scene, Formula::Smooth, scene.percent, &users);
    let used = users.iter().sum();
    let headroom = users.map(|used| yarn27.headroom(used, TOTAL));
    Row3 {
        users,
        used,
        limit: amount(&yarn27.limit().limit),
        headroom,
        demand: headroom.iter().sum(),
        smooth_share: amount(&smooth.limit().soft),
        progress: users.map(|used| smooth.admits(Enforcement::Progress, used)),
        strict: users.map(|used| smooth.admits(Enforcement::Strict, used)),
        whole_asks: whole_asks(used, amount(&smooth.leaf.guaranteed), scene.ask, ASKS),
    }
}

/// Returns an amount of memory.
fn memory(amount: i64) -> Resources {
    let mut resources = Resources::new();
    resources.set(ResourceType::MEMORY, Quantity::of(amount));
    resources
}

fn amount(of: &Resources) -> i64 {
    of.get_or_zero(ResourceType::MEMORY).get()
}
