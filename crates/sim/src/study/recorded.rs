//! Behavior of the real `CapacityScheduler` in the same scenes: curves from recorded histories.
//!
//! `recorded.json` is derived from `conformance/yarn/scenes.jsonl`. A test derives the file again, and compares the
//! result.

use headroom_core::userlimit::Formula;
use serde::{Deserialize, Serialize};

use super::play::Point;
use super::scene::{Scene, Settings};
use super::zone::DeadZone;

/// The curves, without derived values.
const CURVES: &str = include_str!("recorded.json");

/// A recorded history in the format of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the case.
    pub case: String,
    /// Version of `CapacityScheduler`.
    pub version: String,
    /// End of the last step in ms. A round of the monitor takes its configured time, and heartbeats between two
    /// rounds take a second.
    pub end_ms: u64,
    /// Values of the recorded queue at each change.
    pub points: Vec<Point>,
}

/// Behavior of the real scheduler in a scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Name of the case in `conformance/yarn/scenes.jsonl`.
    pub case: String,
    /// Version of `CapacityScheduler`.
    pub version: String,
    /// End of the curve in ms.
    pub end_ms: u64,
    /// Final usage of the recorded queue in GiB.
    pub used: i64,
    /// Final usage of all other queues in GiB.
    pub others: i64,
    /// Number of preempted containers.
    pub stopped: u64,
    /// Times in which there was demand, and nothing could start.
    pub dead_zones: Vec<DeadZone>,
    /// Values of the queue at each change.
    pub points: Vec<Point>,
}

/// Returns all curves.
///
/// # Panics
/// Never: the file is part of the program.
pub(super) fn curves() -> Vec<Curve> {
    serde_json::from_str(CURVES).expect("it was written by a test of ours")
}

/// Returns the recordings of a scene, the older version first.
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
