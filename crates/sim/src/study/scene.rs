//! The scenes of user limits: users, asks, and their times. Source: user-headroom §7.

use std::fmt::Write;

use headroom_core::userlimit::{Enforcement, Formula};

use super::monitor::{Monitor, Side};
use super::zone::Stuck;

/// One GiB in bytes. All amounts of the scenes are whole GiB.
pub const GIB: i64 = 1 << 30;

/// Total of the cluster in every scene, in GiB, on one node.
pub const TOTAL: i64 = 100;

/// One scene.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Number of the scene.
    pub id: &'static str,
    /// Title of the scene.
    pub title: &'static str,
    /// Events of the scene.
    pub story: &'static str,
    /// Leaf queues below root, each with its guarantee in GiB.
    pub guarantees: &'static [(&'static str, i64)],
    /// Applications of the scene.
    pub actors: &'static [Actor],
    /// Queue whose values are recorded.
    pub queue: &'static str,
    /// Size of the queue's asks in GiB.
    pub ask: i64,
    /// Step of limits in GiB (`minimumallocation`).
    pub step: i64,
    /// `minimumuserlimitpercent`.
    pub percent: u32,
    /// Whether the applications of a queue are served in fair order. Otherwise the oldest is first.
    pub fair: bool,
    /// Whether only one container starts in a second, so that each step of the limit is visible.
    pub one_a_second: bool,
    /// Time in ms at which the first application releases this number of containers, and does not request these
    /// containers again.
    pub gives_back: Option<(u64, usize)>,
    /// End of the scene in ms.
    pub end_ms: u64,
    /// Name of the corresponding recorded history.
    pub recorded: Option<&'static str>,
}

/// An application with its asks.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// User of the application.
    pub user: &'static str,
    /// Queue of the application.
    pub queue: &'static str,
    /// Number of containers.
    pub count: u32,
    /// Size of each container in GiB.
    pub size: i64,
    /// Time of the submission in ms.
    pub at_ms: u64,
}

/// Kind of preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// The monitor of `CapacityScheduler`, in the version of the formula.
    Monitor,
    /// Headroom's preemption: whole asks, for guarantees.
    WholeAsks,
    /// Headroom's preemption up to a queue's fraction of the available amount (`preemption.balance`).
    Balance,
}

impl Law {
    /// Returns the name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::WholeAsks => "whole-asks",
            Self::Balance => "balance",
        }
    }
}

/// Rules of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Formula of user limits.
    pub formula: Formula,
    /// Enforcement of user limits.
    pub enforcement: Enforcement,
    /// Kind of preemption.
    pub law: Law,
    /// `userlimitfactor`.
    pub factor: &'static str,
}

/// A factor so large that it has no effect.
pub const LARGE_FACTOR: &str = "100";

/// A factor with which the guarantee of 30 allows half of the cluster.
pub const SMALL_FACTOR: &str = "1.67";

impl Settings {
    /// Returns the usual settings of a formula: a formula of `CapacityScheduler` has its enforcement and its monitor,
    /// and the formula of Headroom has Headroom's.
    pub const fn usual(formula: Formula) -> Self {
        let (enforcement, law) = match formula {
            Formula::Yarn27 | Formula::Yarn3 => (Enforcement::Overshoot, Law::Monitor),
            Formula::Smooth => (Enforcement::Progress, Law::WholeAsks),
        };
        Self { formula, enforcement, law, factor: LARGE_FACTOR }
    }

    /// Returns the monitor of the version with this formula.
    pub fn monitor(&self) -> Monitor {
        Monitor::at_once(self.formula == Formula::Yarn3)
    }
}

/// All formulas, in the order of the columns.
pub const FORMULAS: [Formula; 3] = [Formula::Yarn27, Formula::Yarn3, Formula::Smooth];

const TWO_QUEUES: &[(&str, i64)] = &[("a", 30), ("b", 30), ("c", 40)];

/// A uses the whole cluster in containers of 2 GiB, and asks for more.
const EVERYTHING: Actor = Actor { user: "ann", queue: "a", count: 70, size: 2, at_ms: 0 };

/// Submission time of the second queue's application in ms.
const LATER_MS: u64 = 10_000;

const fn later(user: &'static str, count: u32) -> Actor {
    Actor { user, queue: "b", count, size: 8, at_ms: LATER_MS }
}

/// Common settings of the scenes with two queues.
const TWO: Scene = Scene {
    id: "",
    title: "",
    story: "",
    guarantees: TWO_QUEUES,
    actors: &[EVERYTHING, later("ann", 10)],
    queue: "b",
    ask: 8,
    step: 1,
    percent: 30,
    fair: false,
    one_a_second: false,
    gives_back: None,
    end_ms: 120_000,
    recorded: None,
};

/// All scenes in order.
pub const SCENES: [Scene; 5] = [
    Scene {
        id: "1",
        title: "One user, one queue, one application",
        story: "Queue A has a guarantee of 40 of 100, and no other user submits anything. Ann \
                requests 13 containers of 8. One container starts every second.",
        guarantees: &[("a", 40), ("b", 60)],
        actors: &[Actor { user: "ann", queue: "a", count: 13, size: 8, at_ms: 0 }],
        queue: "a",
        one_a_second: true,
        end_ms: 16_000,
        recorded: Some("scene1-p30-f100"),
        ..TWO
    },
    Scene {
        id: "2a",
        title: "One user, two queues: stuck below the guarantee",
        story: "A and B have a guarantee of 30 each, and C with 40 is idle. A uses the whole \
                cluster in containers of 2 and requests more. After 10 s, Ann requests ten \
                containers of 8 in B.",
        recorded: Some("scene2a-p30"),
        ..TWO
    },
    Scene {
        id: "2b",
        title: "One user, two queues: one container more",
        story: "As 2a, but after 60 s, A releases four containers of 2, so that one container of B \
                can start above its guarantee.",
        gives_back: Some((60_000, 4)),
        recorded: Some("scene2b-p30"),
        ..TWO
    },
    Scene {
        id: "2b-large-step",
        title: "One user, two queues: the climb with a large minimum allocation",
        story: "As 2a, with a minimum allocation of 8. A runs in containers of 8, one of which \
                starts every second, and Ann submits in B after 15 s. The monitor uses the minimum \
                allocation, so a demand is a whole container.",
        actors: &[
            Actor { count: 20, size: 8, ..EVERYTHING },
            Actor { at_ms: 15_000, ..later("ann", 10) },
        ],
        one_a_second: true,
        step: 8,
        percent: 100,
        recorded: Some("scene2b-step8-p100"),
        ..TWO
    },
    Scene {
        id: "3",
        title: "Three users in one queue",
        story: "A uses the whole cluster. After 10 s, Bob, Cid, and Dan each request ten \
                containers of 8 in B, which has a guarantee of 30. The users are served in turn.",
        actors: &[EVERYTHING, later("bob", 10), later("cid", 10), later("dan", 10)],
        fair: true,
        recorded: Some("scene3-p30"),
        ..TWO
    },
];

/// Three users in a queue of an idle cluster.
pub const IDLE: Scene = Scene {
    id: "3-idle",
    title: "Three users on an idle cluster",
    story: "Scene 3 without A, on an empty cluster.",
    actors: &[later("bob", 10), later("cid", 10), later("dan", 10)],
    fair: true,
    ..TWO
};

impl Scene {
    /// Returns the scene with this number.
    pub fn of(id: &str) -> Option<&'static Self> {
        SCENES.iter().find(|scene| scene.id == id)
    }

    /// Returns the guarantee of the recorded queue in GiB.
    pub fn guaranteed(&self) -> i64 {
        let all = self.guarantees.iter().filter(|(name, _)| *name == self.queue);
        all.map(|(_, amount)| *amount).sum()
    }

    /// Returns the amount in GiB that these rules promise to the recorded queue. This is its guarantee. If preemption
    /// exceeds guarantees, it is the queue's fraction of the cluster among all queues with asks.
    pub(super) fn promised(&self, settings: &Settings) -> i64 {
        let is_beyond = match settings.law {
            Law::Monitor => !settings.monitor().within_guarantee,
            Law::WholeAsks => false,
            Law::Balance => true,
        };
        if !is_beyond {
            return self.guaranteed();
        }
        let side = |(name, guaranteed): &(&str, i64)| {
            let asks = self.actors.iter().any(|actor| actor.queue == *name);
            Side { guaranteed: *guaranteed, used: 0, demand: if asks { TOTAL } else { 0 } }
        };
        let sides: Vec<Side> = self.guarantees.iter().map(side).collect();
        let parts = Monitor::at_once(false).ideal(TOTAL, &sides);
        let part = self.guarantees.iter().zip(parts).find(|((name, _), _)| *name == self.queue);
        part.map_or(0, |(_, part)| part).max(self.guaranteed())
    }

    /// Returns when the recorded queue counts as stuck by these rules.
    pub(super) fn stuck(&self, settings: &Settings) -> Stuck {
        let is_monitor = settings.law == Law::Monitor;
        Stuck {
            guaranteed: self.guaranteed(),
            promised: self.promised(settings),
            ask: self.ask,
            within_guarantee: is_monitor && settings.monitor().within_guarantee,
            // The monitor needs two rounds of 3 s. Headroom waits for 30 s before it preempts.
            patience_ms: if is_monitor { 12_000 } else { 40_000 },
        }
    }

    /// Returns the queue file of the scene.
    pub fn queue_file(&self, settings: &Settings) -> String {
        let mut text = format!(
            "partitions:\n- name: default\n  preemption: {{enabled: {}, balance: {}}}\n  userlimits:\n    \
             formula: {}\n    enforcement: {}\n    minimumuserlimitpercent: {}\n    \
             userlimitfactor: {}\n    minimumallocation: {{memory: {}Gi}}\n  queues:\n  - name: root\n    \
             submitacl: \"*\"\n    queues:\n",
            settings.law != Law::Monitor,
            settings.law == Law::Balance,
            settings.formula.word(),
            settings.enforcement.word(),
            self.percent,
            settings.factor,
            self.step,
        );
        for (name, guaranteed) in self.guarantees {
            let _ = writeln!(
                text,
                "    - name: {name}\n      resources: {{guaranteed: {{memory: {guaranteed}Gi}}}}"
            );
            if self.fair {
                text.push_str("      properties: {application.sort.policy: fair}\n");
            }
        }
        text
    }
}
