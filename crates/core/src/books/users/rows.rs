//! The rows of the users of a leaf: in order of their levels, and each found at once by the seat that
//! is noted at its level.

use smallvec::SmallVec;

use crate::books::tracker::Trackers;
use crate::id::{Id, LevelId, ShapeId, UserRowId};
use crate::ordered::OrderedMap;
use crate::resource::PackedUsage;
use crate::table::Table;
use crate::userlimit::Decimal;

/// The row of one user of a leaf, who uses something there or waits for something. The usage itself
/// is what is charged at the user's level.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UserRow {
    /// How many asks of each shape wait, by shape.
    pub(super) waits: SmallVec<[(ShapeId, u32); 1]>,
    /// The weight of the user.
    pub(super) weight: Decimal,
    /// Whether the user counts among those who split the leaf.
    pub(super) active: bool,
}

/// All rows of a leaf.
///
/// The seat of a user depends on the order of arrival, so comparisons of rows ignore it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    table: Table<UserRowId, (LevelId, UserRow)>,
    by_level: OrderedMap<LevelId, UserRowId>,
}

/// A row that was found.
pub(super) struct Found<'rows, 'charged> {
    pub(super) seat: u32,
    pub(super) row: &'rows UserRow,
    /// What its user uses of the first eight types.
    pub(super) tally: &'charged PackedUsage,
    /// Whether that is plain.
    pub(super) plain: bool,
}

impl Rows {
    /// The row of a level, if it has one.
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

    /// The same where nothing is noted.
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

    /// Whether the row of a level is found without a search.
    pub(super) fn is_seated(&self, trackers: &Trackers, level: LevelId) -> bool {
        let seat = trackers.seat(level).and_then(|(seat, ..)| self.table.at(seat));
        seat.is_some_and(|(of, _)| *of == level)
    }

    /// A row by its seat, for change.
    pub(super) fn at_mut(&mut self, seat: u32) -> &mut UserRow {
        &mut self.table.at_mut(seat).expect("a row was found there").1
    }

    /// Whether a level has a row.
    pub(super) fn has(&self, level: LevelId) -> bool {
        self.by_level.get(&level).is_some()
    }

    /// Add the row of a level that has none. Its seat.
    pub(super) fn insert(&mut self, level: LevelId, row: UserRow) -> u32 {
        let id = self.table.insert((level, row));
        self.by_level.insert(level, id);
        id.slot().number()
    }

    /// Take the row of a level out, if it has one.
    pub(super) fn remove(&mut self, level: LevelId) {
        if let Some(id) = self.by_level.remove(&level) {
            self.table.remove(id);
        }
    }

    /// The levels that have rows, in order.
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
    /// The first shape that the user waits for.
    #[inline]
    pub(super) fn first(&self) -> Option<ShapeId> {
        self.waits.first().map(|(shape, _)| *shape)
    }

    /// An ask of this shape waits from now on, or does no more.
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
