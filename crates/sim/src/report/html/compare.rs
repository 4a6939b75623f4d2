//! Two runs on one page: what the comparison comes to, the curves of both, and the waits of each user and queue.

use std::fmt::Write;

use super::lines::{Line, LinePlot, Remark};
use super::tables::Table;
use super::text::escape;
use crate::metric::{Grid, Series};
use crate::report::compare::{Section, sections};
use crate::report::json::Document;
use crate::report::verdict::verdict;

/// The page.
pub fn page(before: &Document, after: &Document) -> String {
    let mut html = super::head("Two runs compared", "simulation", "");
    html.push_str(&header(before, after));
    html.push_str(&curves(before, after));
    for (number, section) in sections(&before.summary, &after.summary).iter().enumerate() {
        html.push_str(&table(number, section));
    }
    html.push_str("</main>\n</body></html>\n");
    html
}

fn header(before: &Document, after: &Document) -> String {
    let mut html = "<header><p class=\"kind\">Headroom simulation</p><h1>Two runs compared</h1>\n\
                    <div class=\"answer\">"
        .to_owned();
    for line in verdict(before, after) {
        let _ = write!(html, "<p>{}</p>", escape(&line));
    }
    html.push_str("</div>\n<dl class=\"repeat\">");
    for (name, document) in [("before", before), ("after", after)] {
        let words = document.header.command.split(' ');
        let words: Vec<String> =
            words.map(|word| format!("<span>{}</span>", escape(word))).collect();
        let _ = write!(
            html,
            "<div><dt>{name}</dt><dd>{}<br><code>{}</code></dd></div>",
            escape(&document.header.title),
            words.join(" ")
        );
    }
    html.push_str("</dl>\n</header>\n");
    html
}

/// The curves of both runs, each pair on one plot.
fn curves(before: &Document, after: &Document) -> String {
    let (old, new) = (&before.summary, &after.summary);
    let end_ms = old.end_ms.max(new.end_ms);
    let mut html =
        "<section aria-labelledby=\"time-title\"><h2 id=\"time-title\">Over time</h2>\n".to_owned();
    let mut plot = |id: String,
                    title: String,
                    quantity: &str,
                    unit: &str,
                    one: (&Series, Grid),
                    other: (&Series, Grid)| {
        let line = |name, (series, grid): (&Series, Grid)| {
            let of = Line::of(series, grid);
            Line { name, steps: of.steps, mean: of.mean }
        };
        let plot = LinePlot {
            id,
            title,
            note: String::new(),
            path: String::new(),
            quantity,
            unit,
            end_ms,
            lines: vec![line("before", one), line("after", other)],
            level: None,
            at_least: 1.0,
            area: false,
            bands: Vec::new(),
            remark: Remark::Mean,
        };
        html.push_str(&plot.render());
    };
    let find = |all: &[Series], name: &str| all.iter().find(|one| one.name == name).cloned();
    for (id, title, all, others) in [
        ("waiting", "Tasks that wait", &old.series.tasks, &new.series.tasks),
        ("waiting-jobs", "Jobs that wait", &old.series.jobs, &new.series.jobs),
    ] {
        if let (Some(one), Some(other)) = (find(all, "pending"), find(others, "pending")) {
            let unit = one.unit.clone();
            let quantity = format!("number of {unit}");
            plot(
                id.to_owned(),
                title.to_owned(),
                &quantity,
                &unit,
                (&one, old.grid),
                (&other, new.grid),
            );
        }
    }
    for (number, one) in old.series.utilisation.iter().enumerate() {
        if let Some(other) = find(&new.series.utilisation, &one.name) {
            let title = format!("Use of {}", one.name);
            plot(
                format!("use-{number}"),
                title,
                "share of capacity",
                "%",
                (one, old.grid),
                (&other, new.grid),
            );
        }
    }
    html.push_str("</section>\n");
    html
}

fn table(number: usize, section: &Section) -> String {
    let id = format!("section-{number}");
    let title = escape(&section.title);
    let note = match section.more {
        0 => String::new(),
        more => format!("{more} more changed less."),
    };
    let columns = ["name", "before", "after", "change", "change in %"];
    let rows = section.cells().map(|cells| cells.to_vec()).collect();
    let table = Table {
        id: &id,
        title: &title,
        note: &note,
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    };
    table.render()
}
