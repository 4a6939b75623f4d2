//! Two runs on one page: a summary of the comparison, the curves of both, and the waits of each user and queue.

use maud::{Markup, html};

use super::lines::{Line, LinePlot, Remark};
use super::tables::Table;
use super::text::Text;
use crate::metric::{Grid, Series};
use crate::report::compare::{Section, sections};
use crate::report::json::Document;
use crate::report::verdict::verdict;

/// Returns the page.
pub fn page(before: &Document, after: &Document) -> String {
    let main = html! {
        (header(before, after))
        (curves(before, after))
        @for (number, section) in sections(&before.summary, &after.summary).iter().enumerate() {
            (table(number, section))
        }
    };
    super::whole(("Two runs compared", "simulation"), "", &main, &html! {})
}

fn header(before: &Document, after: &Document) -> Markup {
    html! {
        header {
            p class="kind" { "Headroom simulation" } h1 { "Two runs compared" } "\n"
            div class="answer" { (super::paragraphs(&verdict(before, after))) } "\n"
            dl class="repeat" {
                @for (name, document) in [("before", before), ("after", after)] {
                    div {
                        dt { (name) }
                        dd {
                            (Text(&document.header.title)) br;
                            (super::command(&document.header.command))
                        }
                    }
                }
            }
            "\n"
        }
        "\n"
    }
}

/// Returns the curves of both runs, with each pair on one plot.
fn curves(before: &Document, after: &Document) -> Markup {
    let (old, new) = (&before.summary, &after.summary);
    let end_ms = old.end_ms.max(new.end_ms);
    let mut plots = Vec::new();
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
        plots.push(plot.render());
    };
    let find = |all: &[Series], name: &str| all.iter().find(|one| one.name == name).cloned();
    for (id, title, all, others) in [
        ("waiting", "Waiting tasks", &old.series.tasks, &new.series.tasks),
        ("waiting-jobs", "Waiting jobs", &old.series.jobs, &new.series.jobs),
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
            let title = format!("Usage of {}", one.name);
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
    html! {
        section aria-labelledby="time-title" {
            h2 id="time-title" { "Over time" } "\n"
            @for plot in plots { (plot) }
        }
        "\n"
    }
}

fn table(number: usize, section: &Section) -> Markup {
    let id = format!("section-{number}");
    let note = match section.more {
        0 => String::new(),
        more => format!("Smaller changes that are not listed: {more}."),
    };
    let columns = ["name", "before", "after", "change", "change in %"];
    let rows = section.cells().map(|cells| cells.to_vec()).collect();
    let table = Table {
        id: &id,
        title: &section.title,
        note: &note,
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    };
    table.render()
}
