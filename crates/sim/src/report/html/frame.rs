//! Common parts of all plots: a figure, two sizes, axes with units, and a legend.

use std::fmt::Write;

use maud::{Markup, html};

use super::scale::Axis;
use super::text::{Text, cut_front, drawn, escape};
use crate::report::pretty;

/// Size of a plot in CSS pixels, and the margins around its area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Class of the `svg`. The style sheet selects the widths at which the `svg` is visible.
    pub(super) class: &'static str,
    pub(super) width: f64,
    pub(super) height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Maximum number of ticks of the horizontal axis.
    pub(super) ticks: u64,
    /// Whether names are shown at the ends of the curves.
    pub(super) direct_labels: bool,
}

/// Layout for screens from 960 px, and for paper.
pub(super) const WIDE: Look = Look {
    class: "wide",
    width: 1_000.0,
    height: 330.0,
    left: 58.0,
    right: 150.0,
    top: 34.0,
    bottom: 50.0,
    ticks: 12,
    direct_labels: true,
};

/// The same layout without names at the curves.
pub(super) const WIDE_BARE: Look = Look { right: 16.0, direct_labels: false, ..WIDE };

/// Layout for phones.
pub(super) const NARROW: Look = Look {
    class: "narrow",
    width: 340.0,
    height: 270.0,
    left: 44.0,
    right: 12.0,
    top: 32.0,
    bottom: 48.0,
    ticks: 6,
    direct_labels: false,
};

/// Layout for small multiples, at every screen width.
pub(super) const SMALL: Look =
    Look { class: "small", width: 300.0, height: 200.0, ticks: 5, ..NARROW };

impl Look {
    /// Returns the left and right edge of the area.
    pub(super) fn horizontal(&self) -> (f64, f64) {
        (self.left, self.width - self.right)
    }

    /// Returns the top and bottom of the area.
    pub(super) fn vertical(&self) -> (f64, f64) {
        (self.top, self.height - self.bottom)
    }

    /// Returns the horizontal position of `value` on an axis from 0 to `end`.
    pub(super) fn x(&self, value: f64, end: f64) -> f64 {
        let (left, right) = self.horizontal();
        left + (right - left) * value / end
    }

    /// Returns the vertical position of `value` on an axis from 0 to `end`.
    pub(super) fn y(&self, value: f64, end: f64) -> f64 {
        let (top, bottom) = self.vertical();
        bottom - (bottom - top) * value / end
    }
}

/// A figure around the drawings of one plot.
pub(super) struct Figure<'a> {
    /// Element ID. Never derived from a trace.
    pub(super) id: String,
    pub(super) title: String,
    /// One sentence about how to read the plot, as text without markup.
    pub(super) note: String,
    /// JSON pointer to the plotted numbers in the embedded summary.
    pub(super) path: String,
    /// Sum of the plotted values.
    pub(super) total: f64,
    /// Unit of the total.
    pub(super) unit: String,
    /// Names with color class and remark, in order.
    pub(super) legend: Vec<(usize, &'a str, String)>,
    /// Whether the script shows the values at the pointer.
    pub(super) hover: bool,
}

impl Figure<'_> {
    /// Returns the figure with these `svg` elements.
    pub(super) fn around(&self, drawings: String) -> Markup {
        let Self { id, title, note, path, total, unit, legend, hover } = self;
        html! {
            figure class="plot" id=(Text(id)) data-path=(Text(path)) data-total=(format!("{total:.6}"))
                data-unit=(Text(unit)) data-hover[*hover] {
                "\n" figcaption { h3 { (Text(title)) } p { (Text(note)) } } "\n"
                @if !legend.is_empty() {
                    ul class="legend" {
                        @for (colour, name, remark) in legend {
                            li {
                                span class={ "key k" (colour) } {} (Text(name)) " "
                                span class="quiet" { (Text(remark)) }
                            }
                        }
                    }
                    "\n"
                }
                (drawn(drawings))
            }
            "\n"
        }
    }
}

/// Labels of the two axes, each with its unit in parentheses.
pub(super) struct AxisLabels {
    pub(super) x: String,
    pub(super) y: String,
}

/// Returns an `svg` element with axes around these marks. `description` is for screen readers.
pub(super) fn svg(
    look: &Look,
    description: &str,
    labels: &AxisLabels,
    (x, y): (&Axis, &Axis),
    marks: &str,
) -> String {
    let ((left, right), (top, bottom)) = (look.horizontal(), look.vertical());
    let mut svg = format!(
        "<svg class=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" \
         data-left=\"{left}\" data-right=\"{right}\" data-top=\"{top}\" data-bottom=\"{bottom}\">\n",
        look.class,
        look.width,
        look.height,
        escape(description),
    );
    for (value, text) in &y.ticks {
        let at = look.y(*value, y.end);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/>\
             <text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
            left - 7.0,
            at + 4.0,
        );
    }
    svg.push_str(marks);
    for (value, text) in &x.ticks {
        let at = look.x(*value, x.end);
        let _ = write!(
            svg,
            "<path class=\"ruler\" d=\"M{at:.1} {bottom}v5\"/>\
             <text class=\"tick middle\" x=\"{at:.1}\" y=\"{:.1}\">{text}</text>",
            bottom + 19.0,
        );
    }
    let _ = write!(
        svg,
        "<path class=\"ruler\" d=\"M{left} {bottom}H{right}\"/>\
         <text class=\"axis axis-x middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
         <text class=\"axis axis-y\" x=\"4\" y=\"14\">{}</text>\n</svg>\n",
        f64::midpoint(left, right),
        look.height - 8.0,
        escape(&labels.x),
        escape(&labels.y),
    );
    svg
}

/// Returns names at the right edge, near these heights and without overlaps. At equal heights, the first name is at the
/// top.
pub(super) fn direct_labels(look: &Look, mut names: Vec<(usize, &str, f64)>) -> String {
    const LINE: f64 = 16.0;
    let (_, right) = look.horizontal();
    let (top, bottom) = look.vertical();
    // Names at the same height keep their order.
    names.sort_by(|left, right| left.2.total_cmp(&right.2));
    // Moves names down from the top, and then those beyond the bottom up again.
    let mut floor = top;
    for name in &mut names {
        name.2 = name.2.max(floor);
        floor = name.2 + LINE;
    }
    let mut ceiling = bottom;
    for name in names.iter_mut().rev() {
        name.2 = name.2.min(ceiling);
        ceiling = name.2 - LINE;
    }
    names.iter().fold(String::new(), |mut svg, (colour, name, at)| {
        let _ = write!(
            svg,
            "<rect class=\"f{colour}\" x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" rx=\"2\"/>\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            right + 8.0,
            at - 4.5,
            right + 21.0,
            at + 4.5,
            escape(&cut_front(name, 17)),
        );
        svg
    })
}

/// Returns the label of an axis of virtual time in this unit.
pub(super) fn time_label(unit: &str) -> String {
    format!("virtual time since the start ({unit})")
}

/// Returns a value with its unit, for legends and tool tips.
pub(super) fn with_unit(value: f64, unit: &str) -> String {
    format!("{}\u{a0}{unit}", pretty::number(value))
}
