//! Dead zones: asks wait, there is demand, and nothing starts.

use serde::Serialize;

use super::play::Point;

/// A time span in which no ask of a queue starts, although the queue has waiting asks, a demand, and less than its
/// promised amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeadZone {
    /// Start in ms.
    pub from_ms: u64,
    /// End in ms.
    pub to_ms: u64,
    /// Usage of the queue meanwhile, in GiB.
    pub used: i64,
    /// Demand that preemption assumes, in GiB.
    pub demand: i64,
}

/// Conditions under which a queue counts as stuck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stuck {
    /// Guarantee of the queue in GiB.
    pub(super) guaranteed: i64,
    /// Amount in GiB that preemption promises the queue, if that is more.
    pub(super) promised: i64,
    /// Size of each of its asks in GiB.
    pub(super) ask: i64,
    /// Whether preemption stops at the guarantee of the queue, whatever the demand.
    pub(super) within_guarantee: bool,
    /// Time without a start that is longer than preemption needs, in ms.
    pub(super) patience_ms: u64,
}

impl Stuck {
    /// Returns the dead zones of a curve that ends at this time.
    pub(super) fn zones(&self, points: &[Point], end_ms: u64) -> Vec<DeadZone> {
        let Some(first) = points.first() else { return Vec::new() };
        let starts = points.windows(2).filter(|pair| pair[1].used > pair[0].used);
        let mut bounds = vec![first.at_ms];
        bounds.extend(starts.map(|pair| pair[1].at_ms));
        bounds.push(end_ms);
        bounds.windows(2).filter_map(|pair| self.zone(points, pair[0], pair[1])).collect()
    }

    /// Returns the dead zone between two times without a start. `None` if the time span is not a dead zone.
    fn zone(&self, points: &[Point], from_ms: u64, to_ms: u64) -> Option<DeadZone> {
        if to_ms.saturating_sub(from_ms) <= self.patience_ms {
            return None;
        }
        let last = points.iter().rfind(|point| point.at_ms < to_ms)?;
        let left = (self.guaranteed - last.used).max(0);
        let demand = if self.within_guarantee { last.demand.min(left) } else { last.demand };
        let is_below = left > 0 || last.used + self.ask <= self.promised;
        let zone = DeadZone { from_ms, to_ms, used: last.used, demand };
        (is_below && last.waiting > 0 && demand > 0).then_some(zone)
    }
}
