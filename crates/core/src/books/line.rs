//! Where a new ask stands among those of its application that are as urgent and as old.
//!
//! The reference appends an ask that belongs at the end of the application's list, and puts
//! any other in front of its equals (decision K-18). The list holds allocations too, until they
//! are released.

use smallvec::SmallVec;

use crate::time::Timestamp;

/// What is known of the list: for each priority how many asks and allocations have it, and
/// when the newest was made; the lowest priority first.
///
/// The newest is not forgotten while others of its priority are left. It is off only for asks
/// that say when they were made, and only moves one among its equals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(SmallVec<[(i32, u32, Timestamp); 1]>);

impl Line {
    /// Whether something stands behind an ask with this priority, made at this time.
    pub(super) fn goes_on_behind(&self, priority: i32, created: Timestamp) -> bool {
        self.0.first().is_some_and(|(lowest, _, newest)| {
            *lowest < priority || (*lowest == priority && created < *newest)
        })
    }

    pub(super) fn add(&mut self, priority: i32, created: Timestamp) {
        match self.0.binary_search_by_key(&priority, |(one, ..)| *one) {
            Ok(place) => {
                let (_, count, newest) = &mut self.0[place];
                *count += 1;
                *newest = created.max(*newest);
            }
            Err(place) => self.0.insert(place, (priority, 1, created)),
        }
    }

    pub(super) fn remove(&mut self, priority: i32) {
        if let Ok(place) = self.0.binary_search_by_key(&priority, |(one, ..)| *one) {
            self.0[place].1 -= 1;
            if self.0[place].1 == 0 {
                self.0.remove(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_goes_to_the_end_unless_something_stands_behind_it() {
        let at = Timestamp::from_millis;
        let mut line = Line::default();
        assert!(!line.goes_on_behind(0, at(5)));
        line.add(0, at(5));
        line.add(3, at(9));
        for (priority, created, expected) in
            [(0, 5, false), (0, 6, false), (0, 4, true), (1, 9, true), (-1, 1, false)]
        {
            let found = line.goes_on_behind(priority, at(created));
            assert_eq!(found, expected, "priority {priority}, made at {created}");
        }
        line.remove(0);
        assert!(!line.goes_on_behind(3, at(9)));
        assert!(line.goes_on_behind(3, at(8)));
    }
}
