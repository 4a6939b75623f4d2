//! The scenes of user limits as one study. The real core simulates each scene with each formula. The study also has the
//! arithmetic, the recorded behavior of the real `CapacityScheduler`, and remedies.
//!
//! With the formulas of `CapacityScheduler`, its [`monitor`] preempts. With the formula of Headroom, Headroom's own
//! preemption does. The study therefore shows both the dead zones and their remedy. Its result is deterministic,
//! because the study has no input.

mod cluster;
mod findings;
pub mod monitor;
mod play;
mod recorded;
pub mod scene;
mod table;
pub mod text;
mod zone;

use headroom_core::userlimit::{Enforcement, Formula};
use serde::Serialize;

use crate::world::RunError;

use monitor::Monitor;
use scene::{FORMULAS, IDLE, LARGE_FACTOR, Law, SCENES, SMALL_FACTOR, Scene, Settings, TOTAL};

pub use play::{End, Lost, Point, Run, Share, UserPoint, play};
pub use recorded::{Curve, Recorded};
pub use table::{Cell, Next, Outcome, Row1, Row2, Row3, Tables, tables};
pub use zone::DeadZone;

/// Identifies the document. The number changes with incompatible changes.
pub const FORMAT: &str = "headroom-scenes/1";

/// The whole study. All amounts are GiB of memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Unit of all amounts.
    pub unit: &'static str,
    /// Total of the cluster.
    pub total: i64,
    /// Results as sentences.
    pub findings: Vec<String>,
    /// Each scene with each formula.
    pub scenes: Vec<Played>,
    /// Remedies for scenes that get stuck, and settings that aggravate the problem.
    pub variants: Vec<Variant>,
    /// Scenes 2a and 3 with two factors: one limits a user to half of the cluster, and the other has no effect.
    pub smaller_factor: Vec<Factors>,
    /// The arithmetic.
    pub tables: Tables,
    /// Amounts that the monitor of `CapacityScheduler` preempts in a round by default.
    pub monitor: Rounds,
}

/// A scene with each formula, and the recorded behavior of `CapacityScheduler`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Played {
    /// Number of the scene.
    pub id: &'static str,
    /// Title of the scene.
    pub title: &'static str,
    /// Events of the scene.
    pub story: &'static str,
    /// Queue whose values are recorded.
    pub queue: &'static str,
    /// Guarantee of the queue.
    pub guaranteed: i64,
    /// Size of each of its asks.
    pub ask: i64,
    /// End of the scene in ms.
    pub end_ms: u64,
    /// Runs with `yarn27`, `yarn3`, and `smooth`.
    pub runs: Vec<Run>,
    /// Recordings with `CapacityScheduler` 2.7.3 and 3.4.3.
    pub recorded: Vec<Recorded>,
}

/// A scene with other settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// Number of the scene.
    pub scene: &'static str,
    /// Difference to the scene.
    pub title: &'static str,
    /// Run with these settings.
    pub run: Run,
}

/// Results of a scene with two factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Factors {
    /// Number of the scene.
    pub scene: &'static str,
    /// Formula of the runs.
    pub formula: &'static str,
    /// Result with a factor that has no effect.
    pub large: Ending,
    /// Result with a factor that limits one user to half of the cluster.
    pub small: Ending,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ending {
    /// `userlimitfactor`.
    pub factor: &'static str,
    /// Final usage.
    pub end: End,
    /// Preempted allocations.
    pub stopped: Lost,
}

/// Amounts that the monitor of `CapacityScheduler` preempts in a round by default, in scene 2a.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rounds {
    /// Amount to preempt from A in total.
    pub need: i64,
    /// Amount that the first round preempts.
    pub first_round: i64,
    /// Guarantee of A.
    pub guaranteed: i64,
    /// Usage of A up to which the monitor preempts nothing from A, by dead zone.
    pub ignored_up_to: Vec<Ignored>,
}

/// A dead zone of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// `max_ignored_over_capacity`.
    pub dead_zone: &'static str,
    /// Usage up to which nothing is preempted from a queue.
    pub up_to: i64,
}

/// Other settings, and their effect: scene, title, settings.
const VARIANTS: [(&Scene, &str, Settings); 9] = [
    (
        &SCENES[1],
        "yarn27, Headroom’s preemption",
        Settings { law: Law::WholeAsks, ..Settings::usual(Formula::Yarn27) },
    ),
    (
        &SCENES[1],
        "yarn3, Headroom’s preemption",
        Settings { law: Law::WholeAsks, ..Settings::usual(Formula::Yarn3) },
    ),
    (
        &SCENES[1],
        "yarn27, balance: true",
        Settings { law: Law::Balance, ..Settings::usual(Formula::Yarn27) },
    ),
    (
        &SCENES[1],
        "yarn3, balance: true",
        Settings { law: Law::Balance, ..Settings::usual(Formula::Yarn3) },
    ),
    (
        &SCENES[1],
        "smooth, balance: true",
        Settings { law: Law::Balance, ..Settings::usual(Formula::Smooth) },
    ),
    (
        &SCENES[4],
        "smooth, balance: true",
        Settings { law: Law::Balance, ..Settings::usual(Formula::Smooth) },
    ),
    (
        &IDLE,
        "yarn27, strict",
        Settings { enforcement: Enforcement::Strict, ..Settings::usual(Formula::Yarn27) },
    ),
    (
        &IDLE,
        "smooth, strict",
        Settings { enforcement: Enforcement::Strict, ..Settings::usual(Formula::Smooth) },
    ),
    (&IDLE, "smooth, progress", Settings::usual(Formula::Smooth)),
];

impl Study {
    /// Simulates all scenes.
    ///
    /// # Errors
    /// If the core refuses a command, which is a bug.
    pub fn new() -> Result<Self, RunError> {
        let curves = recorded::curves();
        let scenes = SCENES.iter().map(|scene| Played::new(scene, &curves));
        let scenes = scenes.collect::<Result<Vec<Played>, RunError>>()?;
        let variants = VARIANTS.into_iter().map(|(scene, title, settings)| {
            Ok(Variant { scene: scene.id, title, run: play(scene, settings)? })
        });
        let variants = variants.collect::<Result<Vec<Variant>, RunError>>()?;
        let both = [&SCENES[1], &SCENES[4]].into_iter();
        let both = both.flat_map(|scene| FORMULAS.map(|formula| Factors::new(scene, formula)));
        let smaller_factor = both.collect::<Result<Vec<Factors>, RunError>>()?;
        let mut study = Self {
            format: FORMAT,
            unit: "GiB",
            total: TOTAL,
            findings: Vec::new(),
            scenes,
            variants,
            smaller_factor,
            tables: tables(),
            monitor: Rounds::new(),
        };
        study.findings = findings::findings(&study);
        Ok(study)
    }

    /// Returns the study as JSON with a final newline. Keys are in the order of the types.
    ///
    /// # Panics
    /// Never: all keys are texts.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("text keys and whole numbers");
        text.push('\n');
        text
    }
}

impl Played {
    fn new(scene: &Scene, curves: &[Curve]) -> Result<Self, RunError> {
        let runs = FORMULAS.into_iter().map(|formula| play(scene, Settings::usual(formula)));
        Ok(Self {
            id: scene.id,
            title: scene.title,
            story: scene.story,
            queue: scene.queue,
            guaranteed: scene.guaranteed(),
            ask: scene.ask,
            end_ms: scene.end_ms,
            runs: runs.collect::<Result<_, _>>()?,
            recorded: recorded::of(scene, curves),
        })
    }
}

impl Factors {
    fn new(scene: &Scene, formula: Formula) -> Result<Self, RunError> {
        let ending = |factor| -> Result<Ending, RunError> {
            let run = play(scene, Settings { factor, ..Settings::usual(formula) })?;
            Ok(Ending { factor, end: run.end, stopped: run.stopped })
        };
        Ok(Self {
            scene: scene.id,
            formula: formula.word(),
            large: ending(LARGE_FACTOR)?,
            small: ending(SMALL_FACTOR)?,
        })
    }
}

impl Rounds {
    fn new() -> Self {
        let monitor = Monitor::by_default();
        let two = &SCENES[1];
        let need = tables().scene_2.first().map_or(0, |row| row.frees);
        let guaranteed = two.guaranteed();
        let ignored = ["0.1", "0.2"].into_iter().map(|text| {
            let dead_zone = headroom_core::userlimit::Decimal::parse(text).unwrap_or_default();
            let up_to = Monitor { dead_zone, ..monitor }.ignored_up_to(guaranteed);
            Ignored { dead_zone: text, up_to }
        });
        Self {
            need,
            first_round: monitor.this_round(TOTAL, &[need]).into_iter().sum(),
            guaranteed,
            ignored_up_to: ignored.collect(),
        }
    }
}
