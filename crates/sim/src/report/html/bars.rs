//! Reasons of waits: a list with one bar per blocker.

use maud::{Markup, html};

use super::text::Text;
use crate::metric::Summary;
use crate::report::{pretty, words};

/// Maximum number of bars. The remaining blockers share one bar.
const BARS_MAX: usize = 15;

/// Returns the bars, the longest first.
pub(super) fn render(summary: &Summary) -> Markup {
    let mut bars: Vec<(String, u64, Option<u64>)> = summary
        .blockers
        .iter()
        .take(BARS_MAX)
        .map(|one| {
            let words = words::blocker(&one.code, &one.subject);
            (words, one.wait_ms, Some(one.jobs))
        })
        .collect();
    let rest = summary.blockers.iter().skip(BARS_MAX);
    let others = rest.clone().count();
    if others > 0 {
        let wait_ms = rest.map(|one| one.wait_ms).sum();
        bars.push((format!("{others} other reasons"), wait_ms, None));
    }
    let total = pretty::hours(bars.iter().map(|bar| bar.1).sum());
    let longest = pretty::hours(bars.iter().map(|bar| bar.1).max().unwrap_or(0));
    html! {
        section id="why" aria-labelledby="why-title" {
            h2 id="why-title" { "Wait reasons" } "\n"
            p class="quiet" {
                "Total wait of all jobs, by wait reason (" (pretty::number(total))
                " h in total). A job has one wait reason at a time."
            }
            "\n"
            @if bars.is_empty() {
                p { "No job waited." }
            } @else {
                ol class="bars" data-path="/waiting_hours" data-total=(format!("{total:.6}")) data-unit="h" {
                    "\n"
                    @for (words, wait_ms, jobs) in &bars {
                        (bar(words, *wait_ms, *jobs, (total, longest)))
                    }
                }
            }
        }
        "\n"
    }
}

fn bar(words: &str, wait_ms: u64, jobs: Option<u64>, (total, longest): (f64, f64)) -> Markup {
    let hours = pretty::hours(wait_ms);
    html! {
        li {
            span class="what" { (Text(words)) } " "
            span class="much" {
                b { (pretty::waiting(wait_ms)) } " "
                span class="quiet" {
                    (pretty::percent(100.0 * hours / total))
                    @if let Some(jobs) = jobs { ", " (pretty::counted(jobs, "job")) }
                }
            }
            span class="bar" style=(format!("width:{:.2}%", 100.0 * hours / longest)) {}
        }
        "\n"
    }
}
