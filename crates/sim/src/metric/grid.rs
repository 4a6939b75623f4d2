//! The time grid of curves, and exact integration over its bins.

use serde::{Deserialize, Serialize};

/// Maximum number of points of a curve, because a plot cannot show more.
const BINS_MAX: u64 = 400;

/// Equal bins over `[0, end_ms)`. Only the last can be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// End of the run in ms.
    pub end_ms: u64,
    /// Width of every bin except the last, in ms.
    pub width_ms: u64,
    /// Number of bins, at most 400. Zero for a run without duration.
    pub bins: usize,
}

impl Grid {
    /// Returns the finest grid of whole milliseconds with at most 400 bins.
    #[must_use]
    pub fn over(end_ms: u64) -> Self {
        let width_ms = end_ms.div_ceil(BINS_MAX).max(1);
        let bins = usize::try_from(end_ms.div_ceil(width_ms)).expect("at most 400");
        Self { end_ms, width_ms, bins }
    }

    /// Returns the start of this bin in ms.
    pub fn start_of(&self, bin: usize) -> u64 {
        self.width_ms * bin as u64
    }

    /// Returns the width of this bin in ms.
    pub fn width_of(&self, bin: usize) -> u64 {
        (self.end_ms - self.start_of(bin)).min(self.width_ms)
    }

    /// Returns the middle of this bin in ms, at which states are sampled.
    pub fn middle_of(&self, bin: usize) -> u64 {
        self.start_of(bin) + self.width_of(bin) / 2
    }

    /// Returns the first bin whose middle is not before `at_ms`. `None` if no bin qualifies.
    pub(super) fn first_sample_from(&self, at_ms: u64) -> Option<usize> {
        let near = usize::try_from(at_ms / self.width_ms).unwrap_or(usize::MAX);
        if near >= self.bins {
            return None;
        }
        let bin = if self.middle_of(near) >= at_ms { near } else { near + 1 };
        (bin < self.bins).then_some(bin)
    }
}

/// A step function of time, which is collected as intervals and integrated exactly per bin.
#[derive(Clone, Debug)]
pub(super) struct Integral {
    grid: Grid,
    /// Amount × ms of intervals that cover only a part of the bin.
    partial: Vec<i128>,
    /// Change of the amount that covers whole bins, at the start of the bin.
    change: Vec<i128>,
    total: i128,
}

impl Integral {
    pub(super) fn on(grid: Grid) -> Self {
        Self { grid, partial: vec![0; grid.bins], change: vec![0; grid.bins + 1], total: 0 }
    }

    /// Adds `amount` over `[from_ms, to_ms)`, truncated at the end of the run.
    pub(super) fn add(&mut self, from_ms: u64, to_ms: u64, amount: i64) {
        let to_ms = to_ms.min(self.grid.end_ms);
        if from_ms >= to_ms {
            return;
        }
        let amount = i128::from(amount);
        let width = self.grid.width_ms;
        let [first, last] = [from_ms / width, (to_ms - 1) / width]
            .map(|bin| usize::try_from(bin).expect("a bin of the grid"));
        let length = i128::from(to_ms - from_ms);
        self.total += amount * length;
        if first == last {
            self.partial[first] += amount * length;
            return;
        }
        self.partial[first] += amount * i128::from(self.grid.start_of(first + 1) - from_ms);
        self.partial[last] += amount * i128::from(to_ms - self.grid.start_of(last));
        self.change[first + 1] += amount;
        self.change[last] -= amount;
    }

    /// Returns amount × ms over the whole run.
    pub(super) fn total(&self) -> i128 {
        self.total
    }

    /// Returns amount × ms of every bin. The sum of all bins is the total.
    pub(super) fn bins(&self) -> Vec<i128> {
        let mut level = 0;
        (0..self.grid.bins)
            .map(|bin| {
                level += self.change[bin];
                level * i128::from(self.grid.width_of(bin)) + self.partial[bin]
            })
            .collect()
    }

    pub(super) fn grid(&self) -> Grid {
        self.grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_covers_the_run_with_at_most_400_bins() {
        for (end_ms, width_ms, bins, last) in [
            (0, 1, 0, None),
            (1, 1, 1, Some(1)),
            (400, 1, 400, Some(1)),
            (401, 2, 201, Some(1)),
            (1_000, 3, 334, Some(1)),
        ] {
            let grid = Grid::over(end_ms);
            assert_eq!((grid.width_ms, grid.bins), (width_ms, bins), "{end_ms} ms");
            let last_width = bins.checked_sub(1).map(|bin| grid.width_of(bin));
            assert_eq!(last_width, last, "{end_ms} ms");
        }
    }

    #[test]
    fn bins_hold_the_exact_integral_and_sum_to_the_total() {
        let mut state = 12_345_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for end_ms in [1, 7, 399, 400, 1_003, 2_000] {
            let mut integral = Integral::on(Grid::over(end_ms));
            let mut levels = vec![0_i128; usize::try_from(end_ms).unwrap()];
            for _ in 0..50 {
                let (from, length, amount) = (draw(end_ms + 5), draw(end_ms), draw(9));
                let amount = i64::try_from(amount).unwrap() - 3;
                integral.add(from, from + length, amount);
                for at in from..(from + length).min(end_ms) {
                    levels[usize::try_from(at).unwrap()] += i128::from(amount);
                }
            }
            let width = usize::try_from(integral.grid.width_ms).unwrap();
            let expected: Vec<i128> = levels.chunks(width).map(|bin| bin.iter().sum()).collect();
            assert_eq!(integral.bins(), expected, "run of {end_ms} ms");
            assert_eq!(integral.total(), expected.iter().sum(), "run of {end_ms} ms");
        }
    }

    #[test]
    fn the_first_sample_is_not_before_the_moment() {
        let grid = Grid::over(4_003);
        for at_ms in 0..4_100 {
            let expected = (0..grid.bins).find(|bin| grid.middle_of(*bin) >= at_ms);
            assert_eq!(grid.first_sample_from(at_ms), expected, "{at_ms} ms");
        }
    }
}
