//! Histogram of the waits of jobs.

use std::fmt::Write;

use maud::Markup;

use super::frame::{self, AxisLabels, Figure, Look, NARROW, WIDE_BARE};
use super::scale::{self, Axis};
use crate::metric::Summary;
use crate::report::pretty;

/// Names of the marked percentiles.
const MARKED: [&str; 2] = ["half", "95 %"];

/// Returns the distribution of waits.
pub(super) fn render(summary: &Summary) -> Markup {
    let total: u64 = summary.wait_histogram.iter().map(|bucket| bucket.jobs).sum();
    let figure = Figure {
        id: "waits".to_owned(),
        title: "Waits of jobs".to_owned(),
        note: "Started jobs, by their wait. Each column covers about three times the span of the \
               previous column."
            .to_owned(),
        path: "/run/waits/jobs".to_owned(),
        total: float(total),
        unit: "jobs".to_owned(),
        legend: Vec::new(),
        hover: false,
    };
    let drawings: String = [WIDE_BARE, NARROW].iter().map(|look| draw(summary, look)).collect();
    figure.around(drawings)
}

fn draw(summary: &Summary, look: &Look) -> String {
    let buckets = &summary.wait_histogram;
    let columns = float(buckets.len().max(1) as u64);
    let largest = buckets.iter().map(|bucket| bucket.jobs).max().unwrap_or(0);
    let is_narrow = look.width < 500.0;
    // Space above the columns for the marks of the percentiles.
    let y = scale::amounts(1.2 * float(largest), if is_narrow { 4 } else { 5 });
    let mut marks = String::new();
    for (index, bucket) in buckets.iter().enumerate() {
        let left = look.x(float(index as u64), columns);
        let right = look.x(float(index as u64 + 1), columns);
        let top = look.y(float(bucket.jobs), y.end);
        let to = bucket
            .to_ms
            .map_or_else(|| "and more".to_owned(), |to| format!("to {}", pretty::duration(to)));
        let _ = write!(
            marks,
            "<rect class=\"f0\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{} {to}: {} jobs</title></rect>",
            left + 1.5,
            right - left - 3.0,
            look.vertical().1 - top,
            pretty::duration(bucket.from_ms),
            pretty::count(bucket.jobs),
        );
        if !is_narrow && bucket.jobs > 0 {
            let _ = write!(
                marks,
                "<text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                f64::midpoint(left, right),
                top - 5.0,
                pretty::count(bucket.jobs),
            );
        }
    }
    let waits = &summary.run.waits;
    for (index, (name, ms)) in MARKED.iter().zip([waits.p50_ms, waits.p95_ms]).enumerate() {
        marks.push_str(&marker(summary, look, name, ms, index));
    }
    // On a wide plot every edge has a label, and on a narrow one every third.
    let every = if is_narrow { 3 } else { 1 };
    let edges = buckets.iter().enumerate().step_by(every);
    let x = Axis {
        end: columns,
        ticks: edges
            .map(|(index, bucket)| (float(index as u64), pretty::duration(bucket.from_ms)))
            .collect(),
    };
    let labels = AxisLabels {
        x: "wait of the job (s, min, h, d; logarithmic)".to_owned(),
        y: "started jobs (jobs)".to_owned(),
    };
    let description = format!(
        "Distribution of waits: half of the {} started jobs waited at most {}, and 95 % at most {}",
        waits.jobs,
        pretty::duration(waits.p50_ms),
        pretty::duration(waits.p95_ms),
    );
    frame::svg(look, &description, &labels, (&x, &y), &marks)
}

/// Returns a dashed line at a percentile, with its value.
fn marker(summary: &Summary, look: &Look, name: &str, ms: u64, index: usize) -> String {
    let buckets = &summary.wait_histogram;
    let Some(column) = buckets.iter().rposition(|bucket| bucket.from_ms <= ms) else {
        return String::new();
    };
    let bucket = &buckets[column];
    let width_ms = bucket.to_ms.map_or(1, |to| to - bucket.from_ms);
    let inside = (float(ms - bucket.from_ms) / float(width_ms)).min(1.0);
    let at = look.x(float(column as u64) + inside, float(buckets.len() as u64));
    let ((left, right), (top, bottom)) = (look.horizontal(), look.vertical());
    let height = top + 8.0 + 17.0 * float(index as u64);
    // The text is on the side with more space.
    let (anchor, shift) = if at - left > right - at { ("end", -6.0) } else { ("start", 6.0) };
    format!(
        "<path class=\"level\" d=\"M{at:.1} {top}V{bottom}\"/>\
         <text class=\"label halo {anchor}\" x=\"{:.1}\" y=\"{height:.1}\">{name} waited ≤ {}</text>",
        at + shift,
        pretty::duration(ms),
    )
}

#[expect(clippy::cast_precision_loss, reason = "a place on a plot")]
fn float(value: u64) -> f64 {
    value as f64
}
