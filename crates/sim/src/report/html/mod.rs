//! The report as one HTML file that needs nothing else: no network, font or program.
//!
//! Every plot is an inline SVG in two sizes, chosen by the style sheet. A plot states in
//! `data-total` what its marks add up to, and in `data-path` (a JSON pointer) where the same
//! number stands in the summary that is embedded as `#summary`; a test compares the two in a
//! browser. The script only adds a read-out under the pointer; everything is readable without.

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

use std::fmt::Write;

use lines::{Line, LinePlot, Remark};
use stack::StackPlot;
use text::{escape, json_in_script};

use super::json::Document;
use super::{pretty, table};
use crate::metric::{Series, Summary};

/// Resource types with a plot of shares; the style sheet switches between so many.
const STACKS_MAX: usize = 8;

/// The page.
pub fn page(document: &Document) -> String {
    let summary = &document.summary;
    let json = serde_json::to_string(summary).expect("text keys and finite numbers");
    let mut html = head(&document.header.title, "simulation", "");
    html.push_str(&header(document));
    html.push_str(&headline(summary));
    html.push_str(&bars::render(summary));
    html.push_str(&over_time(summary));
    html.push_str(&shares(summary));
    html.push_str(&extra(document));
    html.push_str(&tables::users(summary));
    html.push_str(&tables::groups(summary));
    html.push_str(&tables::queues(summary));
    html.push_str(&remarks(document));
    let _ = write!(
        html,
        "</main>\n<script type=\"application/json\" id=\"summary\">{}</script>\n\
         <script>\n{}</script>\n</body></html>\n",
        json_in_script(&json),
        include_str!("script.js"),
    );
    html
}

/// The beginning of a page, with more styles of its own.
fn head(title: &str, kind: &str, styles: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{} – Headroom {kind}</title>\n<style>\n{}{styles}</style></head>\n<body><main>\n",
        escape(title),
        include_str!("style.css"),
    )
}

fn header(document: &Document) -> String {
    let (header, summary) = (&document.header, &document.summary);
    let versions = header.versions.iter();
    let versions: Vec<String> =
        versions.map(|(name, version)| format!("{name} {version}")).collect();
    // Each word in an element of its own, so that a line does not end inside of `--option`.
    let words = header.command.split(' ');
    let words: Vec<String> = words.map(|word| format!("<span>{}</span>", escape(word))).collect();
    let mut html = format!(
        "<header><p class=\"kind\">Headroom simulation</p><h1>{}</h1>\n<div class=\"answer\">",
        escape(&header.title),
    );
    for line in table::answer(summary) {
        let _ = write!(html, "<p>{}</p>", escape(&line));
    }
    html.push_str(&list(&table::refusals(summary)));
    html.push_str(&list(&table::recorded(summary)));
    let _ = write!(
        html,
        "</div>\n<dl class=\"repeat\"><div><dt>command</dt><dd><code>{}</code></dd></div>\
         <div><dt>seed</dt><dd><code>{}</code></dd></div>\
         <div><dt>versions</dt><dd>{}</dd></div>\
         <div><dt>digest</dt><dd><code>{}</code> <span class=\"quiet\">over {} decisions; the same \
         command gives the same digest</span></dd></div></dl>\n</header>\n",
        words.join(" "),
        header.seed,
        escape(&versions.join(", ")),
        escape(&summary.digest),
        pretty::count(summary.decisions),
    );
    html
}

/// Sentences as a list; nothing where there are none.
fn list(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: Vec<_> = lines.iter().map(|line| escape(line)).collect();
    format!("<ul><li>{}</li></ul>\n", items.join("</li><li>"))
}

/// The numbers that people ask for first.
fn headline(summary: &Summary) -> String {
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
            format!("of {}: {used}", most.name),
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
    let mut html = "<section aria-label=\"Headline numbers\"><dl class=\"cards\">\n".to_owned();
    for (name, value, note) in cards {
        let (name, value, note) = (escape(name), escape(&value), escape(&note));
        let _ = writeln!(
            html,
            "<div><dt>{name}</dt><dd><b>{value}</b><span class=\"quiet\">{note}</span></dd></div>"
        );
    }
    html.push_str("</dl></section>\n");
    html
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
    if texts.is_empty() { "none left over".to_owned() } else { texts.join(", ") }
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

/// The type that was used most; of equal ones the first by name.
fn most_used(summary: &Summary) -> Option<&crate::metric::TypeSummary> {
    let types = summary.types.iter().filter(|one| one.capacity_hours > 0.0);
    types.reduce(|most, one| if one.used_percent > most.used_percent { one } else { most })
}

fn over_time(summary: &Summary) -> String {
    let mut html =
        "<section aria-labelledby=\"time-title\"><h2 id=\"time-title\">Over time</h2>\n".to_owned();
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
    html.push_str(&plot(
        "utilisation",
        "How full the cluster was",
        "What running tasks held, in percent of what the nodes had, per resource type.",
        "share of capacity",
        "%",
        &series.utilisation,
        10.0,
    ));
    html.push_str(&plot(
        "tasks",
        "Tasks waiting and running",
        "A task waits from the submission of its job until it starts; a preempted one waits again.",
        "number of tasks",
        "tasks",
        &series.tasks,
        1.0,
    ));
    html.push_str(&plot(
        "unusable",
        "Free, but of no use to what waits",
        "Free amounts on nodes where no waiting task fits with all that it needs. The share is high \
         when what is free is in pieces, or is not of the kind they need.",
        "share of capacity",
        "%",
        &series.unusable,
        10.0,
    ));
    html.push_str(&histogram::render(summary));
    html.push_str("</section>\n");
    html
}

fn shares(summary: &Summary) -> String {
    let series = &summary.series;
    let mut html =
        "<section aria-labelledby=\"share-title\"><h2 id=\"share-title\">Who had the cluster</h2>\n".to_owned();
    let first = most_used(summary).map(|one| one.name.as_str());
    html.push_str("<div class=\"choice\">\n");
    let mut stacks: Vec<(&String, &Vec<Series>)> = series.queue_share.iter().collect();
    stacks.sort_by_key(|(name, _)| Some(name.as_str()) != first);
    stacks.truncate(STACKS_MAX);
    for (index, (name, _)) in stacks.iter().enumerate() {
        let checked = if Some(name.as_str()) == first { " checked" } else { "" };
        let _ = writeln!(
            html,
            "<input type=\"radio\" name=\"share\" id=\"share-{index}\"{checked}>\
             <label for=\"share-{index}\">{}</label>",
            escape(name),
        );
    }
    for (index, (name, stacked)) in stacks.into_iter().enumerate() {
        let plot = StackPlot {
            id: format!("stack-{index}"),
            title: format!("Share of {name} per queue"),
            note: "Leaf queues, the most used at the bottom; together they are the utilisation."
                .to_owned(),
            path: format!("/series/queue_share/{}", pointer(name)),
            quantity: "share of the cluster",
            grid: summary.grid,
            series: stacked,
        };
        html.push_str(&plot.render());
    }
    html.push_str("</div>\n");
    html.push_str(&guarantees(summary));
    html.push_str("</section>\n");
    html
}

/// One small plot per queue with a guarantee.
fn guarantees(summary: &Summary) -> String {
    if summary.series.guaranteed_share.is_empty() {
        return String::new();
    }
    let mut html = "<h3>Share against guarantee</h3><p class=\"quiet\">Queues with the largest \
                    guarantees. Below the dashed line a queue has less than it is guaranteed, \
                    for lack of jobs or of room.</p>\n<div class=\"multiples\">\n"
        .to_owned();
    for (index, one) in summary.series.guaranteed_share.iter().enumerate() {
        let queue = summary.queues.iter().find(|queue| queue.scope.name == one.name);
        let Some(guarantee) = queue.and_then(|queue| queue.guarantee.as_ref()) else {
            continue;
        };
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
        html.push_str(&plot.render_in(&[frame::SMALL]));
    }
    html.push_str("</div>\n");
    html
}

fn extra(document: &Document) -> String {
    if document.curves.is_empty() {
        return String::new();
    }
    let plots = document.curves.iter().enumerate();
    let plots: String = plots
        .map(|(index, curves)| LinePlot::of_curves(index, curves, document.summary.end_ms).render())
        .collect();
    format!(
        "<section aria-labelledby=\"limit-title\"><h2 id=\"limit-title\">Limits over time</h2>\n{plots}</section>\n"
    )
}

fn remarks(document: &Document) -> String {
    let header = &document.header;
    let mut html =
        "<section aria-labelledby=\"note-title\"><h2 id=\"note-title\">Remarks</h2>\n<ul>"
            .to_owned();
    for remark in &header.remarks {
        let _ = write!(html, "<li>{}</li>", escape(remark));
    }
    html.push_str(
        "<li>Percentiles are nearest-rank: a wait that occurred. Jobs that never started are not \
         in the wait figures; impossible and rejected jobs are in no waiting total.</li></ul>\n",
    );
    if !header.checks.is_empty() {
        html.push_str("<dl class=\"checks\">");
        for (name, value) in &header.checks {
            let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
        }
        html.push_str("</dl>\n");
    }
    html.push_str("</section>\n");
    html
}

/// One key of a JSON pointer.
fn pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
