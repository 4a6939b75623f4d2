//! Updates a leaf after its users were charged, or after their asks changed.
//!
//! Most changes concern an active user who stays active. The account of the user stores the usage up to which that is
//! certain, so a smaller charge changes nothing here.

use alloc::borrow::Cow;

use crate::books::Shapes;
use crate::books::tracker::{Level, Trackers};
use crate::id::{LevelId, ShapeId};
use crate::resource::{PackedDelta, PackedLimit, Resources};
use crate::userlimit::{Decimal, Formula, Leaf, MinimumShare, Rules};

use super::rows::Found;
use super::{LeafShares, counted};

/// Change of a user of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// An ask of this shape, and whether it waits now.
    pub ask: Option<(ShapeId, bool)>,
    /// Change of the usage, which can be negative. `None` if it did not change.
    pub used: Option<&'a Resources>,
    /// Whether the user certainly stays as active as before, as [`Trackers::charge`] reports.
    pub calm: bool,
}

/// Result of an update of the row of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowUpdate {
    /// The row is up to date, and its user is as active as before.
    Unchanged,
    /// The row is up to date, and its user became active or inactive.
    ActivityChanged,
    /// The user has no usage and no asks, so the row was removed.
    Gone,
    /// The user has no row, and nothing changed.
    Unknown,
}

impl LeafShares {
    /// Updates the row of a user and the sums of the leaf with `change` and the usage in these trackers.
    #[inline]
    pub fn follow(
        &mut self,
        (trackers, shapes): (&mut Trackers, &Shapes),
        level: LevelId,
        change: Change<'_>,
    ) -> RowUpdate {
        let Some(found) = self.rows.find(trackers, level) else { return RowUpdate::Unknown };
        if let Some((shape, waits)) = change.ask {
            let seat = found.seat;
            let calm = change.calm || (change.used.is_none() && trackers.stays_active(level));
            let row = self.rows.at_mut(seat);
            let first = row.first();
            row.count(shape, waits);
            // The stored bound is valid for the first shape that the user waits for.
            if calm && row.first() == first {
                debug_assert!(
                    self.is_right_about(trackers, shapes, level),
                    "the user stays active"
                );
                return RowUpdate::Unchanged;
            }
        } else if change.calm {
            debug_assert!(self.is_right_about(trackers, shapes, level), "the user stays active");
            return RowUpdate::Unchanged;
        }
        self.look_at(trackers, shapes, level, change.used)
    }

    /// Updates the row of a user after the waiting asks were counted.
    fn look_at(
        &mut self,
        trackers: &mut Trackers,
        shapes: &Shapes,
        level: LevelId,
        more: Option<&Resources>,
    ) -> RowUpdate {
        let found = self.rows.find(trackers, level).expect("the user has a row");
        let (seat, was_active, weight) = (found.seat, found.row.active, found.row.weight);
        let calm = self.calm(trackers, shapes, level, &found);
        // A stored bound implies that the user is active.
        let active = calm.is_some() || self.is_active((trackers, shapes), level, &found);
        let idles = found.tally.is_zero() && found.row.waits.is_empty();
        let used = || trackers.find_level(level).map(Level::used).unwrap_or_default();
        if let Some(more) = more {
            if self.rules.formula == Formula::Yarn3 {
                let used = used();
                self.outline.dominate(&self.rules, &used.minus(more).pruned(), &used);
            }
            if !was_active {
                self.use_inactively(more);
            }
        }
        if was_active != active {
            self.rows.at_mut(seat).active = active;
            self.outline.turn(active, weight, &used());
            self.settle();
        }
        let gone = idles && used().is_empty();
        trackers.set_active_up_to(level, calm);
        if gone {
            self.rows.remove(level);
            return RowUpdate::Gone;
        }
        if was_active == active { RowUpdate::Unchanged } else { RowUpdate::ActivityChanged }
    }

    /// Returns the usage up to which a user certainly stays active: as long as limits and cap allow the first waiting
    /// ask. `None` if the user is not certainly active now, if another leaf matters, or if the bound would prove
    /// nothing.
    fn calm(
        &self,
        trackers: &Trackers,
        shapes: &Shapes,
        level: LevelId,
        of: &Found<'_, '_>,
    ) -> Option<PackedLimit> {
        let (shape, cap) = (of.row.first()?, self.sure.cap()?);
        if of.row.weight != Decimal::ONE || !of.plain {
            return None;
        }
        let (ask, limits) = (shapes.get(shape), trackers.limits_alone(level)?);
        let mut calm = limits.before(&PackedDelta::of(ask)?);
        calm.lower_to(&cap.before(&PackedDelta::of(&counted(self.measure(), ask))?));
        Some(calm).filter(|calm| calm.is_above(of.tally))
    }

    /// Returns whether a user with a stored bound is active when everything is recomputed.
    fn is_right_about(&self, trackers: &Trackers, shapes: &Shapes, level: LevelId) -> bool {
        let found = self.rows.find(trackers, level);
        found.is_some_and(|found| {
            let calm = self.calm(trackers, shapes, level, &found);
            found.row.active
                && calm.as_ref() == trackers.active_up_to(level)
                && found.row.waits.iter().any(|(shape, _)| {
                    self.allows_exactly(trackers, level, &found, shapes.get(*shape))
                })
        })
    }

    /// Returns whether a user has waiting asks. With `smooth`, the cap and the limits of the user must also allow one.
    #[inline]
    fn is_active(
        &self,
        (trackers, shapes): (&Trackers, &Shapes),
        level: LevelId,
        of: &Found<'_, '_>,
    ) -> bool {
        let mut waits = of.row.waits.iter();
        if self.rules.formula != Formula::Smooth {
            return !of.row.waits.is_empty();
        }
        waits.any(|(shape, _)| {
            let ask = shapes.get(*shape);
            self.surely_allows(trackers, level, of, ask)
                || self.allows_exactly(trackers, level, of, ask)
        })
    }

    /// Returns whether stored bounds prove that the cap and the limits of a user allow an ask. If not, they can still
    /// allow it.
    #[inline]
    fn surely_allows(
        &self,
        trackers: &Trackers,
        level: LevelId,
        of: &Found<'_, '_>,
        ask: &Resources,
    ) -> bool {
        let counted = counted(self.measure(), ask);
        let (Some(step), true) = (PackedDelta::of(ask), of.plain) else { return false };
        trackers.surely_allow(level, &step)
            && match &counted {
                Cow::Borrowed(_) => self.is_within_cap(of.row.weight, of.tally, &step),
                Cow::Owned(counted) => PackedDelta::of(counted)
                    .is_some_and(|step| self.is_within_cap(of.row.weight, of.tally, &step)),
            }
    }

    #[cold]
    fn allows_exactly(
        &self,
        trackers: &Trackers,
        level: LevelId,
        of: &Found<'_, '_>,
        ask: &Resources,
    ) -> bool {
        let counted = counted(self.measure(), ask);
        let used = trackers.find_level(level).map(Level::used).unwrap_or_default();
        trackers.refusing(level, 0, ask).is_none()
            && !self.rules.exceeds_cap(&self.outline, of.row.weight, &used, &counted)
    }

    /// Recomputes the bounds after the active users, the usage of inactive users, or the leaf changed.
    pub(super) fn settle(&mut self) {
        self.sure = MinimumShare::of(&self.rules, &self.outline);
    }

    /// Adds usage of inactive users.
    pub(super) fn use_inactively(&mut self, more: &Resources) {
        if !more.is_empty() {
            self.outline.used.add(more);
            self.outline.used.prune();
            self.settle();
        }
    }
}

impl Leaf {
    /// Updates the sums after a user with this weight and usage became active or inactive. The stored usage is that of
    /// the inactive users.
    fn turn(&mut self, active: bool, weight: Decimal, used: &Resources) {
        if active {
            self.active += 1;
            self.active_weight = self.active_weight.plus(weight);
            self.used.subtract(used);
        } else {
            self.active -= 1;
            self.active_weight = self.active_weight.minus(weight);
            self.used.add(used);
        }
        self.used.prune();
    }

    /// Updates the dominant sums after the usage of a user changed.
    pub(super) fn dominate(&mut self, rules: &Rules, before: &Resources, used: &Resources) {
        let [before, after] = [before, used].map(|used| rules.dominant(self, used));
        self.dominant.subtract(&before);
        self.dominant.add(&after);
        self.dominant.prune();
    }
}
