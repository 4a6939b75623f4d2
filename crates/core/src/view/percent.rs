//! Usage as a percentage of a capacity.
#![expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "dashboards compare these numbers with the reference's, which go through floating point; no decision reads them"
)]

use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;

/// Percentage of each type, in the order of names. Can exceed 100.
pub type Percents = Vec<(Name, i32)>;

/// Returns the percentage of the capacity in use, for types in both vectors. Without usage, it is 0. With usage but
/// without positive capacity, it is 100. Truncated, and at most the largest 32-bit number.
pub(super) fn percents(capacity: &Amounts, used: &Amounts) -> Percents {
    used.iter()
        .filter_map(|(name, used)| {
            let capacity = capacity.get(name)?.get();
            Some((name.clone(), percent(capacity, used.get())))
        })
        .collect()
}

pub(super) fn percent(capacity: i64, used: i64) -> i32 {
    match (used, capacity) {
        (..=0, _) => 0,
        (_, ..=0) => 100,
        // The cast saturates, so a ratio beyond the range becomes the largest number.
        _ => (used as f64 / capacity as f64 * 100.0) as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_those_of_the_reference() {
        for (capacity, used, expected) in [
            (100, 61, 61),
            (50, 61, 122),
            (5000, 2900, 57), // 58 but for the rounding of 0.58
            (3, 1, 33),
            (10, 0, 0),
            (10, -1, 0),
            (0, 1, 100),
            (1, i64::MAX, i32::MAX),
        ] {
            assert_eq!(percent(capacity, used), expected, "{used} of {capacity}");
        }
    }

    #[test]
    fn types_that_one_side_lacks_are_left_out() {
        let (capacity, used) = (Amounts::from([("a", 10), ("b", 1)]), [("a", 5), ("c", 1)].into());
        assert_eq!(percents(&capacity, &used), [(Name::new("a"), 50)]);
    }
}
