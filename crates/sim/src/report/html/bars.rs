//! Why they waited: one bar per blocker, as a list that needs no drawing.

use std::fmt::Write;

use super::text::escape;
use crate::metric::Summary;
use crate::report::{pretty, words};

/// Bars shown; the rest is one bar.
const BARS_MAX: usize = 15;

/// The bars, longest first.
pub(super) fn render(summary: &Summary) -> String {
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
    let mut html = format!(
        "<section id=\"why\" aria-labelledby=\"why-title\"><h2 id=\"why-title\">Why they waited</h2>\n\
         <p class=\"quiet\">Time that jobs waited, added up, by what they waited for \
         ({} h in all). A job is held back by one thing at a time.</p>\n",
        pretty::number(total),
    );
    if bars.is_empty() {
        html.push_str("<p>No job waited.</p></section>\n");
        return html;
    }
    let _ = writeln!(
        html,
        "<ol class=\"bars\" data-path=\"/waiting_hours\" data-total=\"{total:.6}\" data-unit=\"h\">"
    );
    for (words, wait_ms, jobs) in bars {
        let hours = pretty::hours(wait_ms);
        let jobs =
            jobs.map_or_else(String::new, |jobs| format!(", {}", pretty::counted(jobs, "job")));
        let _ = writeln!(
            html,
            "<li><span class=\"what\">{}</span> <span class=\"much\"><b>{}</b> \
             <span class=\"quiet\">{}{jobs}</span></span>\
             <span class=\"bar\" style=\"width:{:.2}%\"></span></li>",
            escape(&words),
            pretty::waiting(wait_ms),
            pretty::percent(100.0 * hours / total),
            100.0 * hours / longest,
        );
    }
    html.push_str("</ol></section>\n");
    html
}
