//! What the real `CapacityScheduler` did in the same scenes: curves taken from the recorded histories.
//!
//! `recorded.json` follows from `conformance/yarn/scenes.jsonl`; a test computes it again and compares.

use headroom_core::userlimit::Formula;
use serde::{Deserialize, Serialize};

use super::play::Point;
use super::scene::{Scene, Settings};
use super::zone::DeadZone;

/// The curves, without what follows from them.
const CURVES: &str = include_str!("recorded.json");

/// A recorded history, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the case.
    pub case: String,
    /// Version of `CapacityScheduler`.
    pub version: String,
    /// When the last step was over, ms. A round of the monitor takes the time that it was given, and
    /// heartbeats between two rounds a second.
    pub end_ms: u64,
    /// The queue that is looked at, whenever it changed.
    pub points: Vec<Point>,
}

/// What the real one did in a scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Name of the case in `conformance/yarn/scenes.jsonl`.
    pub case: String,
    /// Version of `CapacityScheduler`.
    pub version: String,
    /// When its curve ends, ms.
    pub end_ms: u64,
    /// What the queue that is looked at had in the end, GiB.
    pub used: i64,
    /// What all others had, GiB.
    pub others: i64,
    /// How many containers were stopped.
    pub stopped: u64,
    /// When something was wanted and nothing could start.
    pub dead_zones: Vec<DeadZone>,
    /// The queue, whenever it changed.
    pub points: Vec<Point>,
}

/// All curves.
///
/// # Panics
/// Never: the file is ours.
pub(super) fn curves() -> Vec<Curve> {
    serde_json::from_str(CURVES).expect("it was written by a test of ours")
}

/// Those that are like a scene, the older version first.
pub(super) fn of(scene: &Scene, curves: &[Curve]) -> Vec<Recorded> {
    let mut like: Vec<&Curve> =
        curves.iter().filter(|curve| Some(curve.case.as_str()) == scene.recorded).collect();
    like.sort_by(|one, other| one.version.cmp(&other.version));
    like.into_iter().map(|curve| Recorded::of(scene, curve)).collect()
}

impl Recorded {
    fn of(scene: &Scene, curve: &Curve) -> Self {
        let is_2 = curve.version.starts_with('2');
        let formula = if is_2 { Formula::Yarn27 } else { Formula::Yarn3 };
        let stuck = scene.stuck(&Settings::usual(formula));
        let last = curve.points.last();
        Self {
            case: curve.case.clone(),
            version: curve.version.clone(),
            end_ms: curve.end_ms,
            used: last.map_or(0, |point| point.used),
            others: last.map_or(0, |point| point.others),
            stopped: last.map_or(0, |point| point.stopped),
            dead_zones: stuck.zones(&curve.points, curve.end_ms),
            points: curve.points.clone(),
        }
    }
}
