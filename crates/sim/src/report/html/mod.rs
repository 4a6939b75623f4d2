//! The report as one self-contained HTML file, which needs no network, font, or program.
//!
//! Every plot is an inline SVG in two sizes, and the style sheet selects the visible size. `data-total` of a plot is
//! the sum of its marks. `data-path` is the JSON pointer to the same number in the embedded summary `#summary`. A test
//! compares both numbers in a browser. The script only shows values at the pointer, so the report is readable without
//! scripts.

mod bars;
pub mod compare;
mod frame;
mod histogram;
mod lines;
mod scale;
pub mod scenes;
pub mod sheet;
mod stack;
mod tables;
mod text;

use lines::{Line, LinePlot, Remark};
use maud::{DOCTYPE, Markup, html};
use stack::StackPlot;
use text::{Text, drawn, json_in_script};

use super::json::Document;
use super::{pretty, table};
use crate::metric::{Series, Summary};

/// Maximum number of resource types with a plot of shares. The style sheet switches between this many.
const STACKS_MAX: usize = 8;

/// Returns the page.
pub fn page(document: &Document) -> String {
    let summary = &document.summary;
    let json = serde_json::to_string(summary).expect("text keys and finite numbers");
    let main = html! {
        (header(document))
        (headline(summary))
        (bars::render(summary))
        (over_time(summary))
        (shares(summary))
        (extra(document))
        (tables::users(summary))
        (tables::groups(summary))
        (tables::queues(summary))
        (remarks(document))
    };
    let scripts = html! { (data(&json)) (read_out()) };
    whole((&document.header.title, "simulation"), "", &main, &scripts)
}

/// Returns a whole page with a title, a kind, and additional styles.
fn whole((title, kind): (&str, &str), styles: &str, main: &Markup, scripts: &Markup) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8"; "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta name="color-scheme" content="light dark"; "\n"
                link rel="icon" href="data:,"; "\n"
                title { (Text(title)) " – Headroom " (Text(kind)) } "\n"
                style { "\n" (drawn(include_str!("style.css"))) (drawn(styles)) }
            }
            "\n"
            body { main { "\n" (main) } "\n" (scripts) }
        }
        "\n"
    };
    page.into_string()
}

/// Returns all numbers of a page, for programs.
fn data(json: &str) -> Markup {
    html! {
        script type="application/json" id="summary" { (drawn(json_in_script(json))) } "\n"
    }
}

/// Returns the script that shows values at the pointer.
fn read_out() -> Markup {
    html! { script { "\n" (drawn(include_str!("script.js"))) } "\n" }
}

/// Returns a command with each word in its own element, to avoid line breaks inside `--option`.
fn command(line: &str) -> Markup {
    html! {
        code {
            @for (number, word) in line.split(' ').enumerate() {
                @if number > 0 { " " }
                span { (Text(word)) }
            }
        }
    }
}

/// Returns sentences as paragraphs.
fn paragraphs(lines: &[String]) -> Markup {
    html! { @for line in lines { p { (Text(line)) } } }
}

fn header(document: &Document) -> Markup {
    let (header, summary) = (&document.header, &document.summary);
    let versions = header.versions.iter();
    let versions: Vec<String> =
        versions.map(|(name, version)| format!("{name} {version}")).collect();
    html! {
        header {
            p class="kind" { "Headroom simulation" } h1 { (Text(&header.title)) } "\n"
            div class="answer" {
                (paragraphs(&table::answer(summary)))
                (list(&table::refusals(summary)))
                (list(&table::recorded(summary)))
            }
            "\n"
            dl class="repeat" {
                div { dt { "command" } dd { (command(&header.command)) } }
                div { dt { "seed" } dd { code { (header.seed) } } }
                div { dt { "versions" } dd { (Text(&versions.join(", "))) } }
                div {
                    dt { "digest" }
                    dd {
                        code { (Text(&summary.digest)) } " "
                        span class="quiet" {
                            "over " (pretty::count(summary.decisions))
                            " decisions; the same command always results in the same digest"
                        }
                    }
                }
            }
            "\n"
        }
        "\n"
    }
}

/// Returns sentences as a list. Empty without sentences.
fn list(lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            ul { @for line in lines { li { (Text(line)) } } } "\n"
        }
    }
}

/// Returns the most important numbers.
fn headline(summary: &Summary) -> Markup {
    let run = &summary.run;
    let started = |ms: u64| {
        if run.waits.jobs == 0 { "–".to_owned() } else { pretty::duration(ms) }
    };
    let mut cards = vec![
        (
            "jobs finished",
            format!("{} of {}", pretty::count(run.jobs.finished), pretty::count(run.jobs.total)),
            jobs_rest(summary),
        ),
        ("median wait", started(run.waits.p50_ms), format!("mean {}", started(run.waits.mean_ms))),
        (
            "95 % waited at most",
            started(run.waits.p95_ms),
            format!("longest {}", started(run.waits.max_ms)),
        ),
        (
            "mean slowdown",
            format!("{:.2}", run.slowdowns.mean),
            format!("(wait + run) / run, at least 10 s; p95 {:.1}", run.slowdowns.p95),
        ),
    ];
    if let Some(most) = most_used(summary) {
        let used = pretty::resource_hours(most.used_hours, &most.unit);
        cards.push((
            "busiest resource",
            pretty::percent(most.used_percent),
            match most.reserved_hours {
                0.0 => format!("of {}: {used}", most.name),
                _ => format!(
                    "of {}: {used}, and {} reserved by placeholders",
                    most.name,
                    pretty::percent(most.reserved_percent)
                ),
            },
        ));
    }
    cards.push((
        "fairness between users",
        summary.jain.map_or_else(|| "–".to_owned(), |jain| format!("{jain:.2}")),
        "Jain’s index of dominant-share hours; 1 = all equal".to_owned(),
    ));
    cards.push((
        "makespan",
        pretty::duration(summary.makespan_ms),
        format!("run of {}", pretty::duration(summary.end_ms)),
    ));
    cards.push(("preemptions", pretty::count(run.preemptions), lost(summary)));
    if let Some(gangs) = &summary.gangs {
        let note = table::gangs(summary).unwrap_or_default();
        cards.push(("gangs complete", pretty::count(gangs.counts.complete), note));
    }
    if let Some(faults) = &summary.faults {
        let note = table::faults(summary).join(" ");
        cards.push(("faults", pretty::count(faults.total()), note));
    }
    html! {
        section aria-label="Headline numbers" {
            dl class="cards" {
                "\n"
                @for (name, value, note) in &cards {
                    div {
                        dt { (name) }
                        dd { b { (Text(value)) } span class="quiet" { (Text(note)) } }
                    }
                    "\n"
                }
            }
        }
        "\n"
    }
}

fn jobs_rest(summary: &Summary) -> String {
    let jobs = &summary.run.jobs;
    let parts = [
        (jobs.running, "running"),
        (jobs.waiting, "waiting"),
        (jobs.impossible, "impossible"),
        (jobs.rejected, "rejected"),
        (jobs.expired, "expired"),
    ];
    let some = parts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> =
        some.map(|(count, state)| format!("{} {state}", pretty::count(*count))).collect();
    if texts.is_empty() { "none remaining".to_owned() } else { texts.join(", ") }
}

fn lost(summary: &Summary) -> String {
    let run = &summary.run;
    let types = summary.types.iter();
    let mut parts: Vec<String> = types
        .filter_map(|one| {
            let lost = run.lost_hours.get(&one.name).filter(|hours| **hours > 0.0)?;
            Some(pretty::resource_hours(*lost, &one.unit))
        })
        .collect();
    if run.node_losses > 0 {
        parts.insert(
            0,
            format!("{} lost with their node", pretty::counted(run.node_losses, "task")),
        );
    }
    if parts.is_empty() {
        return "no work lost".to_owned();
    }
    format!("work lost: {}", parts.join(", "))
}

/// Returns the type with the highest usage. At equal usage, returns the first type by name.
fn most_used(summary: &Summary) -> Option<&crate::metric::TypeSummary> {
    let types = summary.types.iter().filter(|one| one.capacity_hours > 0.0);
    types.reduce(|most, one| if one.used_percent > most.used_percent { one } else { most })
}

fn over_time(summary: &Summary) -> Markup {
    let plot = |id: &str, title: &str, note: &str, quantity, unit, series: &[Series], at_least| {
        let plot = LinePlot {
            id: id.to_owned(),
            title: title.to_owned(),
            note: note.to_owned(),
            path: format!("/series/{id}"),
            quantity,
            unit,
            end_ms: summary.end_ms,
            lines: series.iter().map(|one| Line::of(one, summary.grid)).collect(),
            level: None,
            at_least,
            area: false,
            bands: Vec::new(),
            remark: Remark::Mean,
        };
        plot.render()
    };
    let series = &summary.series;
    let utilisation = plot(
        "utilisation",
        "Utilization of the cluster",
        "Usage of running tasks, in percent of the capacity of the nodes, for each resource type.",
        "share of capacity",
        "%",
        &series.utilisation,
        10.0,
    );
    let tasks = plot(
        "tasks",
        "Tasks waiting and running",
        "A task waits from the submission of its job until the task starts. A preempted task waits \
         again.",
        "number of tasks",
        "tasks",
        &series.tasks,
        1.0,
    );
    let unusable = plot(
        "unusable",
        "Free amounts that no waiting task can use",
        "Free amounts on nodes where no waiting task fits. The fraction is high if free amounts \
         are fragmented, or have the wrong resource type.",
        "share of capacity",
        "%",
        &series.unusable,
        10.0,
    );
    html! {
        section aria-labelledby="time-title" {
            h2 id="time-title" { "Over time" } "\n"
            (utilisation) (tasks) (unusable) (histogram::render(summary))
        }
        "\n"
    }
}

fn shares(summary: &Summary) -> Markup {
    let series = &summary.series;
    let first = most_used(summary).map(|one| one.name.as_str());
    let mut stacks: Vec<(&String, &Vec<Series>)> = series.queue_share.iter().collect();
    stacks.sort_by_key(|(name, _)| Some(name.as_str()) != first);
    stacks.truncate(STACKS_MAX);
    let plot = |index: usize, name: &str, stacked| {
        let plot = StackPlot {
            id: format!("stack-{index}"),
            title: format!("Share of {name} per queue"),
            note: "Leaf queues, with the highest usage at the bottom. The sum is the utilization."
                .to_owned(),
            path: format!("/series/queue_share/{}", pointer(name)),
            quantity: "share of the cluster",
            grid: summary.grid,
            series: stacked,
        };
        plot.render()
    };
    html! {
        section aria-labelledby="share-title" {
            h2 id="share-title" { "Usage by user" } "\n"
            div class="choice" {
                "\n"
                @for (index, (name, _)) in stacks.iter().enumerate() {
                    input type="radio" name="share" id={ "share-" (index) }
                        checked[Some(name.as_str()) == first];
                    label for={ "share-" (index) } { (Text(name)) } "\n"
                }
                @for (index, (name, stacked)) in stacks.iter().enumerate() {
                    (plot(index, name, stacked))
                }
            }
            "\n"
            (guarantees(summary))
        }
        "\n"
    }
}

/// Returns one small plot for each queue with a guarantee.
fn guarantees(summary: &Summary) -> Markup {
    let series = summary.series.guaranteed_share.iter().enumerate();
    let plots = series.filter_map(|(index, one)| {
        let queue = summary.queues.iter().find(|queue| queue.scope.name == one.name)?;
        let guarantee = queue.guarantee.as_ref()?;
        let mut line = Line::of(one, summary.grid);
        line.name = "share";
        let plot = LinePlot {
            id: format!("guarantee-{index}"),
            title: one.name.clone(),
            note: String::new(),
            path: format!("/series/guaranteed_share/{index}"),
            quantity: &format!("{} of the cluster", guarantee.resource),
            unit: "%",
            end_ms: summary.end_ms,
            lines: vec![line],
            level: Some(("guaranteed", guarantee.percent)),
            at_least: 1.0,
            area: true,
            bands: Vec::new(),
            remark: Remark::Mean,
        };
        Some(plot.render_in(&[frame::SMALL]))
    });
    html! {
        @if !summary.series.guaranteed_share.is_empty() {
            h3 { "Share against guarantee" }
            p class="quiet" {
                "Queues with the largest guarantees. Below the dashed line, a queue uses less than \
                 its guarantee, because it has too few jobs or too little free capacity."
            }
            "\n"
            div class="multiples" { "\n" @for plot in plots { (plot) } } "\n"
        }
    }
}

fn extra(document: &Document) -> Markup {
    let end_ms = document.summary.end_ms;
    html! {
        @if !document.curves.is_empty() {
            section aria-labelledby="limit-title" {
                h2 id="limit-title" { "Limits over time" } "\n"
                @for (index, curves) in document.curves.iter().enumerate() {
                    (LinePlot::of_curves(index, curves, end_ms).render())
                }
            }
            "\n"
        }
    }
}

fn remarks(document: &Document) -> Markup {
    let header = &document.header;
    html! {
        section aria-labelledby="note-title" {
            h2 id="note-title" { "Remarks" } "\n"
            ul {
                @for remark in &header.remarks { li { (Text(remark)) } }
                li {
                    "Percentiles are nearest-rank values: waits that occurred. The wait figures \
                     exclude jobs that never started. The totals of waiting jobs exclude \
                     impossible and rejected jobs."
                }
            }
            "\n"
            @if !header.checks.is_empty() {
                dl class="checks" {
                    @for (name, value) in &header.checks {
                        div { dt { (Text(name)) } dd { (Text(value)) } }
                    }
                }
                "\n"
            }
        }
        "\n"
    }
}

/// Returns one key of a JSON pointer.
fn pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
