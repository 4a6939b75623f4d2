//! A curve over time.

use serde::{Deserialize, Serialize};

use super::grid::{Grid, Integral};
use super::statistics::{ratio, round, to_float};
use super::types::HOUR_MS;

/// A curve on the grid of the run: the time-weighted mean of each bin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Subject of the curve: a type, a queue, `pending`.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// Mean over the run. For a percentage of a changing total, this is the percentage of the sums, not the mean of the
    /// percentages.
    pub average: f64,
    /// Σ value × width of its bin, in unit × hours.
    pub total: f64,
    /// One value per bin, with six decimals.
    pub values: Vec<f64>,
}

impl Series {
    /// Returns the means of an exact integral. `divisor` is the number of core units per unit.
    pub(super) fn exact(name: &str, unit: &str, integral: &Integral, divisor: i128) -> Self {
        let grid = integral.grid();
        let values = integral
            .bins()
            .into_iter()
            .enumerate()
            .map(|(bin, sum)| round(ratio(sum, i128::from(grid.width_of(bin)) * divisor)))
            .collect();
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            average: round(ratio(integral.total(), i128::from(grid.end_ms) * divisor)),
            total: round(ratio(integral.total(), HOUR_MS * divisor)),
            values,
        }
    }

    /// Returns `part` as a percentage of `whole` for each bin. 0 for bins where `whole` is 0.
    pub(super) fn percent(name: &str, part: &Integral, whole: &Integral) -> Self {
        let values = part
            .bins()
            .into_iter()
            .zip(whole.bins())
            .map(|(part, whole)| round(100.0 * ratio(part, whole)))
            .collect();
        let average = round(100.0 * ratio(part.total(), whole.total()));
        Self::of_values(name, "%", part.grid(), values, average)
    }

    /// Returns a curve of values that are known only per bin.
    pub(super) fn of_values(
        name: &str,
        unit: &str,
        grid: Grid,
        values: Vec<f64>,
        average: f64,
    ) -> Self {
        let total = total_hours(grid, &values);
        Self { name: name.to_owned(), unit: unit.to_owned(), average, total: round(total), values }
    }
}

/// Returns Σ value × width of its bin, in unit × hours.
pub(crate) fn total_hours(grid: Grid, values: &[f64]) -> f64 {
    let of_bin = |(bin, value): (usize, &f64)| value * to_float(grid.width_of(bin)) / 3_600_000.0;
    values.iter().enumerate().map(of_bin).sum()
}
