//! The seed's scenes: who asks for what, when. Source: user-headroom §7.

use std::fmt::Write;

use headroom_core::userlimit::{Enforcement, Formula};

use super::monitor::{Monitor, Side};
use super::zone::Stuck;

/// One GiB in bytes; all amounts of the scenes are whole GiB.
pub const GIB: i64 = 1 << 30;

/// What the cluster of every scene has, GiB, on one node.
pub const TOTAL: i64 = 100;

/// One scene.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Its number in the seed.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What happens.
    pub story: &'static str,
    /// Leaf queues below root, with what each is guaranteed, GiB.
    pub guarantees: &'static [(&'static str, i64)],
    /// Who asks.
    pub actors: &'static [Actor],
    /// The queue that is looked at.
    pub queue: &'static str,
    /// What its asks need, GiB.
    pub ask: i64,
    /// Limits are multiples of it, GiB (`minimumallocation`).
    pub step: i64,
    /// `minimumuserlimitpercent`.
    pub percent: u32,
    /// Whether the applications of a queue take turns; else the oldest goes first.
    pub fair: bool,
    /// Whether only one container starts in a second, so that each step of the limit shows.
    pub one_a_second: bool,
    /// The first application gives so many containers back at this time, ms, and does not ask for
    /// them again.
    pub gives_back: Option<(u64, usize)>,
    /// When it is over, ms.
    pub end_ms: u64,
    /// The recorded history that is like it.
    pub recorded: Option<&'static str>,
}

/// An application and what it asks for.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// Whose.
    pub user: &'static str,
    /// In which queue.
    pub queue: &'static str,
    /// How many containers.
    pub count: u32,
    /// How large each is, GiB.
    pub size: i64,
    /// When, ms.
    pub at_ms: u64,
}

/// Who takes room back, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// The monitor of `CapacityScheduler`, in the version of the formula.
    Monitor,
    /// Headroom's preemption: whole asks, for guarantees.
    WholeAsks,
    /// The same up to a queue's part of what is there (`preemption.balance`).
    Balance,
}

impl Law {
    /// How documents call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::WholeAsks => "whole-asks",
            Self::Balance => "balance",
        }
    }
}

/// By which rules a scene is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What users split.
    pub formula: Formula,
    /// When an ask is beyond the limit of its user.
    pub enforcement: Enforcement,
    /// Who takes room back.
    pub law: Law,
    /// `userlimitfactor`.
    pub factor: &'static str,
}

/// So large that it never bounds.
pub const LARGE_FACTOR: &str = "100";

/// With it, the guarantee of 30 times the factor is half of the cluster.
pub const SMALL_FACTOR: &str = "1.67";

impl Settings {
    /// A formula as it comes: those of `CapacityScheduler` with its enforcement and its monitor, ours
    /// with ours.
    pub const fn usual(formula: Formula) -> Self {
        let (enforcement, law) = match formula {
            Formula::Yarn27 | Formula::Yarn3 => (Enforcement::Overshoot, Law::Monitor),
            Formula::Smooth => (Enforcement::Progress, Law::WholeAsks),
        };
        Self { formula, enforcement, law, factor: LARGE_FACTOR }
    }

    /// The monitor of the version that the formula is of.
    pub fn monitor(&self) -> Monitor {
        Monitor::at_once(self.formula == Formula::Yarn3)
    }
}

/// All three, in the order of the columns.
pub const FORMULAS: [Formula; 3] = [Formula::Yarn27, Formula::Yarn3, Formula::Smooth];

const TWO_QUEUES: &[(&str, i64)] = &[("a", 30), ("b", 30), ("c", 40)];

/// A has the whole cluster in containers of 2, and wants more.
const EVERYTHING: Actor = Actor { user: "ann", queue: "a", count: 70, size: 2, at_ms: 0 };

/// When the second queue comes, ms.
const LATER_MS: u64 = 10_000;

const fn later(user: &'static str, count: u32) -> Actor {
    Actor { user, queue: "b", count, size: 8, at_ms: LATER_MS }
}

/// What the scenes with two queues have in common.
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

/// The scenes, in the order of the seed.
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
    /// The scene of this number.
    pub fn of(id: &str) -> Option<&'static Self> {
        SCENES.iter().find(|scene| scene.id == id)
    }

    /// What the queue that is looked at is guaranteed, GiB.
    pub fn guaranteed(&self) -> i64 {
        let all = self.guarantees.iter().filter(|(name, _)| *name == self.queue);
        all.map(|(_, amount)| *amount).sum()
    }

    /// What that queue is to have by these rules, GiB: its guarantee, or, where the law goes beyond it,
    /// its part of the cluster among all queues that ask for something.
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

    /// When the queue that is looked at is stuck by these rules.
    pub(super) fn stuck(&self, settings: &Settings) -> Stuck {
        let is_monitor = settings.law == Law::Monitor;
        Stuck {
            guaranteed: self.guaranteed(),
            promised: self.promised(settings),
            ask: self.ask,
            within_guarantee: is_monitor && settings.monitor().within_guarantee,
            // The monitor needs two rounds of 3 s; Headroom waits for 30 s before it stops anybody.
            patience_ms: if is_monitor { 12_000 } else { 40_000 },
        }
    }

    /// The queue file by which it is played.
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
