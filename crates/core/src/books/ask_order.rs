//! Position of a new ask among asks of its application with the same priority and age.
//!
//! YuniKorn appends an ask that belongs to the end of the list of the application, and inserts any other ask before its
//! equals (decision K-18). The list also contains allocations until they are released.

use crate::time::Timestamp;

use super::by_priority::ByPriority;

/// Summary of the list: for each priority, the number of asks and allocations, and the creation time of the newest.
///
/// That time remains until the last entry of its priority is removed. It can be outdated only for asks that specify
/// their creation time, which only affects the order among equals.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct AskOrder(ByPriority<(u32, Timestamp)>);

impl AskOrder {
    /// Returns whether an entry follows an ask with this priority and creation time.
    pub(super) fn goes_on_behind(&self, priority: i32, created: Timestamp) -> bool {
        self.0.lowest().is_some_and(|(lowest, (_, newest))| {
            lowest < priority || (lowest == priority && created < newest)
        })
    }

    pub(super) fn add(&mut self, priority: i32, created: Timestamp) {
        let (count, newest) = self.0.get(priority).unwrap_or((0, created));
        self.0.set(priority, (count + 1, created.max(newest)));
    }

    pub(super) fn remove(&mut self, priority: i32) {
        match self.0.get(priority) {
            Some((count, newest)) if count > 1 => self.0.set(priority, (count - 1, newest)),
            _ => self.0.remove(priority),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_goes_to_the_end_unless_something_stands_behind_it() {
        let at = Timestamp::from_millis;
        let mut line = AskOrder::default();
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
