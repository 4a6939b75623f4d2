//! Rows of the users of a leaf, in the order of their levels. A hint at the level finds each row without a search.

use smallvec::SmallVec;

use crate::books::tracker::Trackers;
use crate::id::{Id, LevelId, ShapeId, UserRowId};
use crate::ordered::OrderedMap;
use crate::resource::PackedUsage;
use crate::table::Table;
use crate::userlimit::Decimal;

/// Row of one user who uses a leaf or waits there. The trackers have the usage.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UserRow {
    /// Number of waiting asks by shape.
    pub(super) waits: SmallVec<[(ShapeId, u32); 1]>,
    /// Weight of the user.
    pub(super) weight: Decimal,
    /// Whether the user is an active user, who shares the leaf.
    pub(super) active: bool,
}

/// All rows of a leaf.
///
/// The position of a row depends on the order of insertion, so comparisons ignore it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    table: Table<UserRowId, (LevelId, UserRow)>,
    by_level: OrderedMap<LevelId, UserRowId>,
}

/// A row that was found.
pub(super) struct Found<'rows, 'charged> {
    pub(super) seat: u32,
    pub(super) row: &'rows UserRow,
    /// Usage of its user of the first eight types.
    pub(super) tally: &'charged PackedUsage,
    /// Whether that usage is plain.
    pub(super) plain: bool,
}

impl Rows {
    /// Returns the row of a level, if it exists.
    #[inline]
    pub(super) fn find<'charged>(
        &self,
        trackers: &'charged Trackers,
        level: LevelId,
    ) -> Option<Found<'_, 'charged>> {
        if let Some((seat, tally, plain)) = trackers.seat(level)
            && let Some((of, row)) = self.table.at(seat)
            && *of == level
        {
            return Some(Found { seat, row, tally, plain });
        }
        self.search(trackers, level)
    }

    /// Returns the row of a level without a valid hint.
    #[cold]
    fn search<'charged>(
        &self,
        trackers: &'charged Trackers,
        level: LevelId,
    ) -> Option<Found<'_, 'charged>> {
        let id = *self.by_level.get(&level)?;
        let (_, tally, plain) = trackers.seat(level).unwrap_or((0, &PackedUsage::ZERO, true));
        Some(Found { seat: id.slot().number(), row: &self.table[id].1, tally, plain })
    }

    /// Returns whether the hint of a level is valid.
    pub(super) fn is_seated(&self, trackers: &Trackers, level: LevelId) -> bool {
        let seat = trackers.seat(level).and_then(|(seat, ..)| self.table.at(seat));
        seat.is_some_and(|(of, _)| *of == level)
    }

    /// Returns a row by its position, for a change.
    pub(super) fn at_mut(&mut self, seat: u32) -> &mut UserRow {
        &mut self.table.at_mut(seat).expect("a row was found there").1
    }

    /// Returns whether a level has a row.
    pub(super) fn has(&self, level: LevelId) -> bool {
        self.by_level.get(&level).is_some()
    }

    /// Inserts the row of a level without one. Returns its position.
    pub(super) fn insert(&mut self, level: LevelId, row: UserRow) -> u32 {
        let id = self.table.insert((level, row));
        self.by_level.insert(level, id);
        id.slot().number()
    }

    /// Removes the row of a level, if it exists.
    pub(super) fn remove(&mut self, level: LevelId) {
        if let Some(id) = self.by_level.remove(&level) {
            self.table.remove(id);
        }
    }

    /// Returns the levels with rows, in order.
    pub(super) fn levels(&self) -> impl Iterator<Item = LevelId> {
        self.by_level.iter().map(|(level, _)| *level)
    }

    fn iter(&self) -> impl Iterator<Item = &(LevelId, UserRow)> {
        self.by_level.iter().map(|(_, id)| &self.table[*id])
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.by_level.len() == other.by_level.len() && self.iter().eq(other.iter())
    }
}

impl UserRow {
    /// Returns the first shape that the user waits for.
    #[inline]
    pub(super) fn first(&self) -> Option<ShapeId> {
        self.waits.first().map(|(shape, _)| *shape)
    }

    /// Records whether an ask of this shape waits.
    #[inline]
    pub(super) fn count(&mut self, shape: ShapeId, waits: bool) {
        match (self.waits.binary_search_by_key(&shape, |(shape, _)| *shape), waits) {
            (Ok(place), true) => self.waits[place].1 += 1,
            (Err(place), true) => self.waits.insert(place, (shape, 1)),
            (Ok(place), false) if self.waits[place].1 > 1 => self.waits[place].1 -= 1,
            (Ok(place), false) => drop(self.waits.remove(place)),
            (Err(_), false) => unreachable!("what waits was counted when it came"),
        }
    }
}
