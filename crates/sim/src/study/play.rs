//! Simulates a scene with the real core, second by second.

use std::collections::BTreeSet;

use headroom_core::Timestamp;
use headroom_core::books::{Books, LeafUser, LeafUsers};
use headroom_core::id::{AllocationId, QueueId};
use headroom_core::resource::{Amounts, Quantity, Resources};
use headroom_core::view::{UserLimitView, UserLimitsView};
use serde::{Deserialize, Serialize};

use crate::world::RunError;

use super::cluster::{Cluster, gib};
use super::monitor::{Side, whole_asks};
use super::scene::{GIB, Law, Scene, Settings, TOTAL};
use super::zone::DeadZone;

/// Time between two steps in ms.
const TICK_MS: u64 = 1_000;

/// Time between two rounds of the monitor in ms (`monitoring_interval`).
const ROUND_MS: u64 = 3_000;

/// Run of a scene with one set of rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// `yarn27`, `yarn3` or `smooth`.
    pub formula: &'static str,
    /// `overshoot`, `strict` or `progress`.
    pub enforcement: &'static str,
    /// Kind of preemption: `monitor`, `whole-asks`, or `balance`.
    pub preemption: &'static str,
    /// `userlimitfactor`.
    pub factor: &'static str,
    /// Final usage.
    pub end: End,
    /// Preempted allocations.
    pub stopped: Lost,
    /// Times in which there was demand, and nothing could start.
    pub dead_zones: Vec<DeadZone>,
    /// Values of the recorded queue at each change.
    pub points: Vec<Point>,
    /// Queue file of the run.
    pub queue_file: String,
}

/// Final usage in GiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// Each queue with usage, in the order of the file.
    pub queues: Vec<Share>,
    /// Each user of the recorded queue, by name.
    pub users: Vec<Share>,
    /// Free amount.
    pub free: i64,
}

/// Usage of a queue or a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Name of the queue or user.
    pub name: String,
    /// Usage in GiB.
    pub used: i64,
}

/// Preempted allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Number of containers.
    pub containers: u64,
    /// Sum of their amounts in GiB.
    pub amount: i64,
    /// Work of the stopped containers, which must be repeated, in GiB × seconds.
    pub work: i64,
}

/// Values of a queue at a moment. Amounts are in GiB.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Time in ms.
    pub at_ms: u64,
    /// Usage of the queue.
    pub used: i64,
    /// Usage of all other queues.
    pub others: i64,
    /// Limit of one user.
    pub limit: i64,
    /// Headroom of the user with the largest one.
    pub headroom: i64,
    /// Demand of the queue that preemption assumes.
    pub demand: i64,
    /// Number of waiting asks.
    pub waiting: u64,
    /// Number of containers preempted so far.
    pub stopped: u64,
    /// Users of the queue, by name.
    pub users: Vec<UserPoint>,
}

/// Values of a user of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPoint {
    /// The name of the user.
    pub name: String,
    /// The usage of the user.
    pub used: i64,
    /// The limit of the user.
    pub limit: i64,
    /// Unused rest of the limit.
    pub headroom: i64,
}

/// Simulates a scene with these rules.
///
/// # Errors
/// If the core refuses a command, which is a bug.
pub fn play(scene: &Scene, settings: Settings) -> Result<Run, RunError> {
    let queue_file = scene.queue_file(&settings);
    let mut play = Play {
        cluster: Cluster::new(&queue_file)?,
        scene,
        settings,
        announced: BTreeSet::new(),
        points: Vec::new(),
    };
    let mut at_ms = 0;
    while at_ms <= scene.end_ms {
        play.second(at_ms)?;
        at_ms += TICK_MS;
    }
    let dead_zones = scene.stuck(&settings).zones(&play.points, scene.end_ms);
    let stopped = play.cluster.stopped;
    Ok(Run {
        formula: settings.formula.word(),
        enforcement: settings.enforcement.word(),
        preemption: settings.law.name(),
        factor: settings.factor,
        end: play.end(),
        stopped: Lost {
            containers: stopped.containers,
            amount: stopped.amount,
            work: stopped.work / 1_000,
        },
        dead_zones,
        points: play.points,
        queue_file,
    })
}

/// State of a run.
struct Play<'a> {
    cluster: Cluster,
    scene: &'a Scene,
    settings: Settings,
    /// Allocations that the monitor announced in the previous round.
    announced: BTreeSet<AllocationId>,
    points: Vec<Point>,
}

impl Play<'_> {
    fn second(&mut self, at_ms: u64) -> Result<(), RunError> {
        self.cluster.advance(Timestamp::from_millis(at_ms))?;
        let come = self.scene.actors.iter().filter(|actor| actor.at_ms == at_ms);
        come.into_iter().try_for_each(|actor| self.cluster.submit(actor))?;
        if let Some((_, count)) = self.scene.gives_back.filter(|(when, _)| *when == at_ms) {
            let leaf = self.cluster.leaf(self.scene.actors[0].queue);
            let newest = self.cluster.running(leaf);
            newest.into_iter().take(count).try_for_each(|id| self.cluster.give_back(id))?;
        }
        let is_round = self.settings.law == Law::Monitor && at_ms.is_multiple_of(ROUND_MS);
        // Nodes report a second after the monitor preempted allocations, so that the freed amount is visible.
        if !is_round || !self.round()? {
            self.cluster.settle(if self.scene.one_a_second { 1 } else { usize::MAX });
        }
        if let Some(point) = self.point(at_ms)
            && self.points.last().is_none_or(|last| Point { at_ms, ..last.clone() } != point)
        {
            self.points.push(point);
        }
        Ok(())
    }

    /// Performs a round of `CapacityScheduler`'s monitor. Preempts allocations that the previous round selected and
    /// that are still selected, and announces newly selected allocations. Returns whether an allocation was preempted.
    fn round(&mut self) -> Result<bool, RunError> {
        let monitor = self.settings.monitor();
        let names = self.scene.guarantees.iter().map(|(name, _)| *name);
        let leaves: Vec<QueueId> = names.map(|name| self.cluster.leaf(name)).collect();
        let sides: Vec<Side> = leaves.iter().map(|leaf| self.side(*leaf)).collect();
        let takes = monitor.round(TOTAL * GIB, &sides);
        let announced = std::mem::take(&mut self.announced);
        let before = self.cluster.stopped;
        for (leaf, takes) in leaves.into_iter().zip(takes) {
            let mut left = takes;
            for id in self.cluster.running(leaf) {
                if left <= 0 {
                    break;
                }
                left -= self.amount(self.cluster.books.resources_of(id));
                if announced.contains(&id) {
                    self.cluster.end_for_others(id)?;
                } else {
                    self.announced.insert(id);
                }
            }
        }
        Ok(self.cluster.stopped != before)
    }

    /// Returns the monitor's view of a queue, in bytes.
    fn side(&self, leaf: QueueId) -> Side {
        let books = &self.cluster.books;
        let queue = books.queue(leaf);
        let demand = books.demand_of(leaf);
        Side {
            guaranteed: queue.guaranteed.as_ref().map_or(0, |of| self.amount(of)),
            used: self.amount(&queue.allocated),
            demand: self.amount(&demand),
        }
    }

    fn amount(&self, of: &Resources) -> i64 {
        of.get_or_zero(self.cluster.memory()).get()
    }

    /// Returns the demand of the recorded queue that preemption assumes, in bytes.
    fn demand(&self, leaf: QueueId) -> i64 {
        let side = self.side(leaf);
        if self.settings.law == Law::Monitor {
            return side.demand;
        }
        let ask = self.scene.ask * GIB;
        whole_asks(side.used, self.scene.promised(&self.settings) * GIB, ask, self.allowed(leaf))
    }

    /// Returns how many waiting asks of a leaf the caps of their users allow.
    fn allowed(&self, leaf: QueueId) -> u64 {
        let Some(leaf) = self.cluster.books.users_of(leaf) else { return 0 };
        let (mut ask, size) = (Resources::new(), self.scene.ask * GIB);
        ask.set(self.cluster.memory(), Quantity::of(size));
        let of_user = |user: &LeafUser<'_>| {
            let waiting: u64 = user.waits().iter().map(|(_, count)| u64::from(*count)).sum();
            let cap = leaf.cap(user.weight, &ask);
            let left = (self.amount(&cap) - self.amount(&user.used())).max(0);
            waiting.min(u64::try_from(left / size).unwrap_or(0))
        };
        leaf.users().map(|(_, user)| of_user(&user)).sum()
    }

    fn point(&self, at_ms: u64) -> Option<Point> {
        let books = &self.cluster.books;
        let leaf = self.cluster.leaf(self.scene.queue);
        let users: Vec<UserPoint> = users(books, leaf);
        let limit = users.iter().map(|user| user.limit).max()?;
        let (_, partition) = books.partitions().first_key_value()?;
        let all = gib(self.amount(&books.queue(partition.root).allocated));
        let used = gib(self.amount(&books.queue(leaf).allocated));
        Some(Point {
            at_ms,
            used,
            others: all - used,
            limit,
            headroom: users.iter().map(|user| user.headroom).max().unwrap_or(0),
            demand: gib(self.demand(leaf)),
            waiting: self.waiting(leaf),
            stopped: self.cluster.stopped.containers,
            users,
        })
    }

    /// Returns the number of waiting asks of a leaf.
    fn waiting(&self, leaf: QueueId) -> u64 {
        let users = self.cluster.books.users_of(leaf);
        let users = users.into_iter().flat_map(LeafUsers::users);
        users.flat_map(|(_, user)| user.waits()).map(|(_, count)| u64::from(*count)).sum()
    }

    fn end(&self) -> End {
        let books = &self.cluster.books;
        let used = |name: &str| gib(self.amount(&books.queue(self.cluster.leaf(name)).allocated));
        let names = self.scene.guarantees.iter().map(|(name, _)| *name);
        let queues: Vec<Share> = names
            .map(|name| Share { name: name.to_owned(), used: used(name) })
            .filter(|share| share.used > 0)
            .collect();
        let users = users(books, self.cluster.leaf(self.scene.queue)).into_iter();
        End {
            free: TOTAL - queues.iter().map(|share| share.used).sum::<i64>(),
            users: users.map(|user| Share { name: user.name, used: user.used }).collect(),
            queues,
        }
    }
}

/// Returns the users of a leaf, by name.
fn users(books: &Books, leaf: QueueId) -> Vec<UserPoint> {
    let memory = |of: &Amounts| gib(of.get("memory").map_or(0, Quantity::get));
    let view = UserLimitsView::of(books, leaf);
    let users = view.into_iter().flat_map(|view| view.users);
    let point = |user: UserLimitView| UserPoint {
        name: user.user.to_string(),
        used: memory(&user.used),
        limit: memory(&user.limit),
        headroom: memory(&user.headroom),
    };
    users.map(point).collect()
}
