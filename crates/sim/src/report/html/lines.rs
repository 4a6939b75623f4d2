//! Step curves over time: each value holds for its whole bin.

use std::fmt::Write;

use maud::Markup;

use super::frame::{self, AxisLabels, Figure, Look, NARROW, WIDE};
use super::scale;
use super::text::escape;
use crate::metric::{Grid, Series};
use crate::report::Curves;

/// One curve. A value applies from its time in ms to the time of the next value, or to the end.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) steps: Vec<(u64, f64)>,
    /// Mean over the run.
    pub(super) mean: f64,
}

/// A plot of curves.
pub(super) struct LinePlot<'a> {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) note: String,
    /// JSON pointer to the series in the embedded summary. Empty if the summary does not contain the series.
    pub(super) path: String,
    /// Quantity on the vertical axis.
    pub(super) quantity: &'a str,
    pub(super) unit: &'a str,
    pub(super) end_ms: u64,
    pub(super) lines: Vec<Line<'a>>,
    /// Name and value of a dashed horizontal line across the plot.
    pub(super) level: Option<(&'a str, f64)>,
    /// Smallest end of the vertical axis.
    pub(super) at_least: f64,
    /// Whether the area below the first curve is tinted.
    pub(super) area: bool,
    /// Shaded time spans: start and end in ms, and a description.
    pub(super) bands: Vec<(u64, u64, String)>,
    /// Remark on each curve in the legend.
    pub(super) remark: Remark,
}

/// Remark on a curve in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// Mean of the curve over the run.
    Mean,
    /// Last value of the curve.
    Last,
}

impl<'a> Line<'a> {
    /// Returns the curve of a series.
    pub(super) fn of(series: &'a Series, grid: Grid) -> Self {
        let steps = series.values.iter().enumerate();
        Self {
            name: &series.name,
            mean: series.average,
            steps: steps.map(|(bin, value)| (grid.start_of(bin), *value)).collect(),
        }
    }

    /// Returns a curve of steps in a run that ends at `end_ms`.
    pub(super) fn of_steps(name: &'a str, steps: &[(u64, f64)], end_ms: u64) -> Self {
        let mut line = Self { name, steps: steps.to_vec(), mean: 0.0 };
        line.mean = line.total(end_ms) / crate::report::pretty::hours(end_ms.max(1));
        line
    }

    /// Returns each value with the start and end of its time span in ms.
    fn spans(&self, end_ms: u64) -> impl Iterator<Item = (u64, u64, f64)> {
        self.steps.iter().enumerate().map(move |(index, (from_ms, value))| {
            let to_ms = self.steps.get(index + 1).map_or(end_ms, |next| next.0);
            (*from_ms, to_ms.max(*from_ms), *value)
        })
    }

    /// Returns Σ value × time, in unit × hours.
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    fn total(&self, end_ms: u64) -> f64 {
        let spans = self.spans(end_ms);
        spans.map(|(from_ms, to_ms, value)| value * (to_ms - from_ms) as f64 / 3_600_000.0).sum()
    }
}

impl<'a> LinePlot<'a> {
    /// Returns a plot of an extra set of curves.
    pub(super) fn of_curves(index: usize, curves: &'a Curves, end_ms: u64) -> Self {
        let lines = curves.curves.iter().map(|(name, steps)| Line::of_steps(name, steps, end_ms));
        Self {
            id: format!("curves-{index}"),
            title: curves.title.clone(),
            note: String::new(),
            path: String::new(),
            quantity: &curves.quantity,
            unit: &curves.unit,
            end_ms,
            lines: lines.collect(),
            level: None,
            at_least: 0.0,
            area: false,
            bands: Vec::new(),
            remark: Remark::Mean,
        }
    }

    /// Returns the figure in both sizes.
    pub(super) fn render(&self) -> Markup {
        self.render_in(&[WIDE, NARROW])
    }

    /// Returns the figure in these sizes.
    pub(super) fn render_in(&self, looks: &[Look]) -> Markup {
        let total: f64 = self.lines.iter().map(|line| line.total(self.end_ms)).sum();
        let mut legend: Vec<(usize, &str, String)> = self
            .lines
            .iter()
            .enumerate()
            .map(|(index, line)| (index % 8, line.name, self.remark_on(line)))
            .collect();
        if let Some((name, value)) = self.level {
            legend.push((8, name, frame::with_unit(value, self.unit)));
        }
        let figure = Figure {
            id: self.id.clone(),
            title: self.title.clone(),
            note: self.note.clone(),
            path: self.path.clone(),
            total,
            unit: format!("{} h", self.unit),
            legend,
            hover: !self.path.is_empty(),
        };
        let drawings: String = looks.iter().map(|look| self.draw(look)).collect();
        figure.around(drawings)
    }

    fn remark_on(&self, line: &Line<'_>) -> String {
        match self.remark {
            Remark::Mean => format!("mean {}", frame::with_unit(line.mean, self.unit)),
            Remark::Last => {
                let last = line.steps.last().map_or(0.0, |step| step.1);
                frame::with_unit(last, self.unit)
            }
        }
    }

    /// Returns the shaded time spans.
    fn shades(&self, look: &Look, end: f64) -> String {
        let (top, bottom) = look.vertical();
        self.bands.iter().fold(String::new(), |mut marks, (from_ms, to_ms, what)| {
            #[expect(clippy::cast_precision_loss, reason = "a place on a plot")]
            let [from, to] = [*from_ms, *to_ms].map(|ms| look.x(ms as f64, end));
            let _ = write!(
                marks,
                "<rect class=\"shade\" x=\"{from:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{:.1}\">\
                 <title>{}</title></rect>",
                to - from,
                bottom - top,
                escape(what),
            );
            marks
        })
    }

    fn draw(&self, look: &Look) -> String {
        let values = self.lines.iter().flat_map(|line| line.steps.iter().map(|step| step.1));
        let level = self.level.map_or(0.0, |(_, value)| value);
        let max = values.fold(self.at_least.max(level), f64::max);
        let y = scale::amounts(max, if look.width < 500.0 { 4 } else { 5 });
        let (x, time_unit) = scale::time(self.end_ms, look.ticks);
        let mut marks = self.shades(look, x.end);
        let mut names = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let colour = index % 8;
            let path = path(look, line, self.end_ms, (x.end, y.end));
            if self.area && index == 0 && !path.is_empty() {
                let (left, _) = look.horizontal();
                let (_, bottom) = look.vertical();
                let _ = write!(
                    marks,
                    "<path class=\"area f{colour}\" d=\"{path}V{bottom}H{left}Z\"/>",
                );
            }
            let _ = write!(
                marks,
                "<path class=\"line l{colour}\" d=\"{path}\"><title>{}: {}</title></path>",
                escape(line.name),
                escape(&self.remark_on(line)),
            );
            let last = line.steps.last().map_or(0.0, |step| step.1);
            names.push((colour, line.name, look.y(last, y.end)));
        }
        if let Some((name, value)) = self.level {
            let ((left, right), at) = (look.horizontal(), look.y(value, y.end));
            let _ = write!(
                marks,
                "<path class=\"level\" d=\"M{left} {at:.1}H{right}\"><title>{}</title></path>",
                escape(name),
            );
        }
        if look.direct_labels && names.len() > 1 {
            marks.push_str(&frame::direct_labels(look, names));
        }
        let labels = AxisLabels {
            x: frame::time_label(time_unit),
            y: format!("{} ({})", self.quantity, self.unit),
        };
        frame::svg(look, &self.describe(), &labels, (&x, &y), &marks)
    }

    fn describe(&self) -> String {
        let lines = self.lines.iter();
        let means: Vec<String> =
            lines.map(|line| format!("{} {}", line.name, self.remark_on(line))).collect();
        format!("{}: {}", self.title, means.join(", "))
    }
}

/// Returns the steps as path data. Neighbors with equal values become one stroke.
fn path(look: &Look, line: &Line<'_>, end_ms: u64, (x_end, y_end): (f64, f64)) -> String {
    let mut path = String::new();
    let mut drawn: Option<String> = None;
    for (from_ms, _, value) in line.spans(end_ms) {
        let height = format!("{:.1}", look.y(value, y_end));
        if drawn.as_ref() == Some(&height) {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a place on a plot")]
        let at = look.x(from_ms as f64, x_end);
        let _ = match drawn {
            None => write!(path, "M{at:.1} {height}"),
            Some(_) => write!(path, "H{at:.1}V{height}"),
        };
        drawn = Some(height);
    }
    if drawn.is_some() {
        let (_, right) = look.horizontal();
        let _ = write!(path, "H{right:.1}");
    }
    path
}
