//! Stacked shares over time.

use std::fmt::Write;

use maud::Markup;

use super::frame::{self, AxisLabels, Figure, Look, NARROW, WIDE};
use super::scale;
use super::text::escape;
use crate::metric::{Grid, Series};

/// A plot of stacked series.
pub(super) struct StackPlot<'a> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) note: String,
    /// JSON pointer to the series in the embedded summary.
    pub(super) path: String,
    pub(super) quantity: &'a str,
    pub(super) grid: Grid,
    /// Series from the bottom up.
    pub(super) series: &'a [Series],
}

impl StackPlot<'_> {
    /// Returns the figure in both sizes.
    pub(super) fn render(&self) -> Markup {
        let edges = self.edges();
        let widths = (0..self.grid.bins).map(|bin| hours(self.grid.width_of(bin)));
        let top = edges.last().map_or(&[][..], Vec::as_slice);
        let total = widths.zip(top).map(|(width, value)| width * value).sum();
        let legend = self.drawn().rev().map(|(index, one)| {
            (index % 8, one.name.as_str(), format!("mean {}", frame::with_unit(one.average, "%")))
        });
        let figure = Figure {
            id: self.id.clone(),
            title: self.title.clone(),
            note: self.note.clone(),
            path: self.path.clone(),
            total,
            unit: "% h".to_owned(),
            legend: legend.collect(),
            hover: true,
        };
        let drawings: String = [WIDE, NARROW].iter().map(|look| self.draw(look, &edges)).collect();
        figure.around(drawings)
    }

    /// Returns the visible series with their positions. A queue has the same color in every plot.
    fn drawn(&self) -> impl DoubleEndedIterator<Item = (usize, &Series)> {
        self.series.iter().enumerate().filter(|(_, one)| one.total > 0.0)
    }

    /// Returns the upper edge of each series per bin, preceded by the baseline.
    fn edges(&self) -> Vec<Vec<f64>> {
        let mut edges = vec![vec![0.0; self.grid.bins]];
        for one in self.series {
            let below = &edges[edges.len() - 1];
            edges.push(below.iter().zip(&one.values).map(|(below, value)| below + value).collect());
        }
        edges
    }

    fn draw(&self, look: &Look, edges: &[Vec<f64>]) -> String {
        let highest = edges.last().map_or(0.0, |top| top.iter().copied().fold(0.0, f64::max));
        let count = if look.width < 500.0 { 4 } else { 5 };
        let y = scale::amounts(highest.max(10.0), count);
        let (x, time_unit) = scale::time(self.grid.end_ms, look.ticks);
        let mut marks = String::new();
        let mut names = Vec::new();
        for (index, one) in self.drawn() {
            let colour = index % 8;
            let (below, above) = (&edges[index], &edges[index + 1]);
            let _ = write!(
                marks,
                "<path class=\"band f{colour}\" d=\"{}\"><title>{}: mean {:.1} %</title></path>",
                self.band(look, below, above, (x.end, y.end)),
                escape(&one.name),
                one.average,
            );
            let last = below.last().zip(above.last()).map_or(0.0, |(b, a)| f64::midpoint(*b, *a));
            names.push((colour, one.name.as_str(), look.y(last, y.end)));
        }
        if look.direct_labels {
            names.reverse(); // From the top down.
            marks.push_str(&frame::direct_labels(look, names));
        }
        let labels =
            AxisLabels { x: frame::time_label(time_unit), y: format!("{} (%)", self.quantity) };
        let series = self.drawn();
        let means: Vec<String> =
            series.map(|(_, one)| format!("{} mean {:.1} %", one.name, one.average)).collect();
        let description = format!("{}: {}", self.title, means.join(", "));
        frame::svg(look, &description, &labels, (&x, &y), &marks)
    }

    /// Returns the outline of a band: along its upper edge, and back along its lower edge.
    fn band(
        &self,
        look: &Look,
        below: &[f64],
        above: &[f64],
        (x_end, y_end): (f64, f64),
    ) -> String {
        let mut path = String::new();
        let edge = |path: &mut String, value: f64, ends: [u64; 2]| {
            let at = look.y(value, y_end);
            let [from, to] = ends.map(|ms| look.x(hours(ms) * 3_600_000.0, x_end));
            let first = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{first}{from:.1} {at:.1}H{to:.1}");
        };
        for (bin, value) in above.iter().enumerate() {
            let from_ms = self.grid.start_of(bin);
            edge(&mut path, *value, [from_ms, from_ms + self.grid.width_of(bin)]);
        }
        for (bin, value) in below.iter().enumerate().rev() {
            let from_ms = self.grid.start_of(bin);
            edge(&mut path, *value, [from_ms + self.grid.width_of(bin), from_ms]);
        }
        if !path.is_empty() {
            path.push('Z');
        }
        path
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place on a plot")]
fn hours(ms: u64) -> f64 {
    ms as f64 / 3_600_000.0
}
