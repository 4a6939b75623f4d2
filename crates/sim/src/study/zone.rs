//! Dead zones: something waits and is wanted, and nothing starts.

use serde::Serialize;

use super::play::Point;

/// A time in which a queue has less than it is to have, waits and has a demand, and nothing of it
/// starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeadZone {
    /// Since when, ms.
    pub from_ms: u64,
    /// Until when, ms.
    pub to_ms: u64,
    /// What the queue uses meanwhile, GiB.
    pub used: i64,
    /// What preemption takes it to want, GiB.
    pub demand: i64,
}

/// When a queue counts as stuck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stuck {
    /// What it is guaranteed, GiB.
    pub(super) guaranteed: i64,
    /// What it is to have by the law in force where that is more, GiB.
    pub(super) promised: i64,
    /// What each of its asks needs, GiB.
    pub(super) ask: i64,
    /// Whether nothing is taken for it beyond its guarantee, whatever its demand.
    pub(super) within_guarantee: bool,
    /// Nothing starts for longer than preemption takes to make room, ms.
    pub(super) patience_ms: u64,
}

impl Stuck {
    /// The dead zones of a curve that ends at this time.
    pub(super) fn zones(&self, points: &[Point], end_ms: u64) -> Vec<DeadZone> {
        let Some(first) = points.first() else { return Vec::new() };
        let starts = points.windows(2).filter(|pair| pair[1].used > pair[0].used);
        let mut bounds = vec![first.at_ms];
        bounds.extend(starts.map(|pair| pair[1].at_ms));
        bounds.push(end_ms);
        bounds.windows(2).filter_map(|pair| self.zone(points, pair[0], pair[1])).collect()
    }

    /// Nothing started between these times: was it stuck?
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
