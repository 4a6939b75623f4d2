//! The scenes of user limits as one page. Each scene has three formulas side by side, the behavior of the real
//! `CapacityScheduler`, and the underlying arithmetic.

use maud::{Markup, html};

use super::frame;
use super::lines::{Line, LinePlot, Remark};
use super::tables::Table;
use super::text::{Text, drawn, escape};
use crate::study::text::{ends, stuck, tables};
use crate::study::{DeadZone, Played, Point, Run, Study};

/// Name of the curve of all other queues.
const OTHERS: &str = "other queues";

/// A curve of a plot: its name, and its value at a moment.
type Curve = (&'static str, fn(&Point) -> i64);

/// Curves of a plot, in the order of their colors.
const CURVES: [Curve; 5] = [
    ("used", |point| point.used),
    ("limit", |point| point.limit),
    ("headroom", |point| point.headroom),
    ("demand", |point| point.demand),
    (OTHERS, |point| point.others),
];

/// Returns the page.
///
/// # Panics
/// Never: all keys of the document are texts.
pub fn page(study: &Study) -> String {
    let main = html! {
        (header(study))
        @for scene in &study.scenes { (of_scene(scene)) }
        (variants(study))
        (factors(study))
        (arithmetic(study))
        (remarks())
    };
    let json = serde_json::to_string(study).expect("text keys and whole numbers");
    let title = ("Scenes of user limits", "simulation");
    super::whole(title, include_str!("scenes.css"), &main, &super::data(&json))
}

fn header(study: &Study) -> Markup {
    html! {
        header {
            p class="kind" { "Headroom simulation" } h1 { "Scenes of user limits" } "\n"
            div class="answer" { (super::paragraphs(&study.findings)) } "\n"
            dl class="repeat" {
                div { dt { "command" } dd { code { "headroom simulate scenes" } } }
                div {
                    dt { "cluster" }
                    dd { "one node of 100 GiB; all amounts are GiB of memory" }
                }
                div {
                    dt { "formulas" }
                    dd {
                        "yarn27 and yarn3 run with enforcement overshoot and YARN’s preemption \
                         monitor. smooth runs with enforcement progress and Headroom’s preemption. \
                         A factor of 100 limits no user."
                    }
                }
            }
            "\n"
            p class="contents" {
                @for scene in &study.scenes {
                    a href={ "#scene-" (scene.id) } { "Scene " (scene.id) } " "
                }
                a href="#variants" { "Remedies" } " "
                a href="#factors" { "A smaller factor" } " "
                a href="#table-1" { "Arithmetic" }
            }
        }
        "\n"
    }
}

fn of_scene(scene: &Played) -> Markup {
    let id = scene.id;
    let runs = scene.runs.iter().map(|run| {
        let plot = Plot {
            id: format!("run-{id}-{}", run.formula),
            title: run.formula.to_owned(),
            note: note(run),
            points: &run.points,
            zones: &run.dead_zones,
            end_ms: scene.end_ms,
        };
        plot.render(scene)
    });
    let recorded = scene.recorded.iter().map(|one| {
        let plot = Plot {
            id: format!("real-{id}-{}", one.version.replace('.', "-")),
            title: format!("CapacityScheduler {}", one.version),
            note: format!("Recorded: {}. {} stopped.", one.case, one.stopped),
            points: &one.points,
            zones: &one.dead_zones,
            end_ms: one.end_ms,
        };
        plot.render(scene)
    });
    html! {
        section class="scene" id={ "scene-" (id) } aria-labelledby={ "scene-" (id) "-title" } {
            h2 id={ "scene-" (id) "-title" } { "Scene " (id) ". " (Text(scene.title)) } "\n"
            p class="quiet" { (Text(scene.story)) } "\n"
            div class="multiples" { "\n" @for plot in runs { (plot) } } "\n"
            @if !scene.recorded.is_empty() {
                h3 { "The real CapacityScheduler" }
                div class="multiples" { "\n" @for plot in recorded { (plot) } } "\n"
            }
            @if let Some(run) = scene.runs.last() {
                details {
                    summary { "Queue file of smooth" }
                    // Consecutive blanks are preserved.
                    pre { (drawn(escape(&run.queue_file).replace("  ", "\u{a0} "))) }
                }
                "\n"
            }
        }
        "\n"
    }
}

/// Returns the result of a run as a sentence.
fn note(run: &Run) -> String {
    let who = match run.preemption {
        "monitor" => "YARN’s monitor",
        "balance" => "Headroom with balance",
        _ => "Headroom",
    };
    let lost = &run.stopped;
    if lost.containers == 0 {
        return format!("{}. Nothing is stopped.", ends(&run.end));
    }
    format!(
        "{}. {who} stops {} containers ({} GiB), and {} GiB·s of work are lost.",
        ends(&run.end),
        lost.containers,
        lost.amount,
        lost.work,
    )
}

/// One small plot.
struct Plot<'a> {
    id: String,
    title: String,
    note: String,
    points: &'a [Point],
    zones: &'a [DeadZone],
    end_ms: u64,
}

impl Plot<'_> {
    #[expect(clippy::cast_precision_loss, reason = "amounts up to a few hundred GiB")]
    fn render(self, scene: &Played) -> Markup {
        let curves = CURVES.map(|(name, value)| {
            let steps: Vec<(u64, f64)> =
                self.points.iter().map(|point| (point.at_ms, value(point) as f64)).collect();
            (name, steps)
        });
        // The curve of other queues is omitted if they use nothing.
        let is_shown = |(name, steps): &&(&str, Vec<(u64, f64)>)| {
            *name != OTHERS || steps.iter().any(|step| step.1 > 0.0)
        };
        let shown = curves.iter().filter(is_shown);
        let lines = shown.map(|(name, steps)| Line::of_steps(name, steps, self.end_ms));
        let bands = self.zones.iter().map(|zone| {
            (zone.from_ms, zone.to_ms, format!("dead zone: {}", stuck(std::slice::from_ref(zone))))
        });
        let plot = LinePlot {
            id: self.id,
            title: self.title,
            note: match self.zones {
                [] => self.note,
                zones => format!("{} Dead zone {}.", self.note, stuck(zones)),
            },
            path: String::new(),
            quantity: &format!("queue {}", scene.queue.to_uppercase()),
            unit: "GiB",
            end_ms: self.end_ms,
            lines: lines.collect(),
            level: Some(("guaranteed", scene.guaranteed as f64)),
            at_least: 100.0,
            area: false,
            bands: bands.collect(),
            remark: Remark::Last,
        };
        plot.render_in(&[frame::SMALL])
    }
}

fn variants(study: &Study) -> Markup {
    let row = |one: &crate::study::Variant| {
        vec![
            one.scene.to_owned(),
            one.title.to_owned(),
            ends(&one.run.end),
            one.run.stopped.containers.to_string(),
            one.run.stopped.amount.to_string(),
            one.run.stopped.work.to_string(),
            stuck(&one.run.dead_zones),
        ]
    };
    let columns = ["scene", "rules", "ends at", "stopped", "GiB", "GiB·s lost", "dead zone"];
    Table {
        id: "variants",
        title: "Remedies that help, and remedies that do not",
        note: "Whole asks end the dead zone of 2a with every formula. With balance, the queues \
               meet in the middle. With strict limits, nothing starts on an idle cluster.",
        columns: columns.map(str::to_owned).to_vec(),
        rows: study.variants.iter().map(row).collect(),
    }
    .render()
}

fn factors(study: &Study) -> Markup {
    let row = |one: &crate::study::Factors| {
        vec![
            one.scene.to_owned(),
            one.formula.to_owned(),
            ends(&one.large.end),
            one.large.stopped.containers.to_string(),
            ends(&one.small.end),
            one.small.stopped.containers.to_string(),
        ]
    };
    let columns = ["scene", "formula", "factor 100", "stopped", "factor 1.67", "stopped"];
    Table {
        id: "factors",
        title: "A smaller factor",
        note: "With 1.67 and a guarantee of 30, one user can use 50 of 100. No user takes the whole \
               cluster first, so users can reach equal shares. Brackets show the usage of each \
               user of B.",
        columns: columns.map(str::to_owned).to_vec(),
        rows: study.smaller_factor.iter().map(row).collect(),
    }
    .render()
}

fn arithmetic(study: &Study) -> Markup {
    let mut shown = Vec::new();
    for (number, (title, mut rows)) in tables(study).into_iter().enumerate() {
        let columns = rows.remove(0);
        let id = format!("table-{}", number + 1);
        let note = match number {
            0 => {
                "The limit of each formula, the limit capped by the factor and the capacity, and \
                 the remaining amount. yarn3 grows only because one container can exceed the limit."
            }
            1 => {
                "A uses what B leaves. The first columns show the limit by yarn27, and the demand by \
                 yarn27 and by yarn3 with a minimum of 30 and of 100 percent. The next columns \
                 show the entitlements of A and B by the monitors of 2.7.3 and of version 3. The \
                 last columns show the demand of B by Headroom and the amount that 2.7.3 frees. The \
                 real schedulers count the minimum allocation instead of the ask, so their demand \
                 above the guarantee is one step."
            }
            _ => {
                "The first columns show the limit by yarn27 for each of three users, the remaining \
                 amount, and the demand of all users. The last columns show the share by smooth, the \
                 whole asks, and the users that continue by enforcement."
            }
        };
        shown.push(Table { id: &id, title: &title, note, columns, rows }.render());
    }
    let monitor = &study.monitor;
    let ignored = monitor.ignored_up_to.iter();
    let ignored: Vec<String> =
        ignored.map(|one| format!("{} (dead zone {})", one.up_to, one.dead_zone)).collect();
    html! {
        @for table in shown { (table) }
        p class="quiet" {
            "By default, YARN’s monitor takes " (monitor.first_round) " of these " (monitor.need)
            " in the first round: at most a fifth of a tenth of the cluster. The monitor takes \
             nothing from a queue that uses up \
             to " (Text(&ignored.join(" or "))) " with a guarantee of " (monitor.guaranteed)
            ". In these runs and in the recorded histories, the monitor takes everything at once, \
             with a dead zone of 0.1 and a round every 3 s."
        }
        "\n"
    }
}

fn remarks() -> Markup {
    html! {
        section aria-labelledby="note-title" {
            h2 id="note-title" { "Remarks" } "\n"
            ul { @for note in NOTES { li { (note) } } }
        }
        "\n"
    }
}

/// Notes on all scenes.
const NOTES: [&str; 8] = [
    "Shaded areas are dead zones. There, the queue has less than its entitlement and has waiting \
     asks with a demand, but no ask of the queue starts.",
    "The number next to each curve is its final value.",
    "Limit and headroom belong to one user. With several users, they belong to the user with the \
     most headroom.",
    "Demand is the amount that preemption assumes the queue needs. In YARN, this is the part of the \
     waiting amounts within the user limits. In Headroom, this is whole asks up to the entitlement \
     of the queue.",
    "Lost work is the work of stopped containers: GiB times seconds. The containers are requested \
     again.",
    "The real schedulers use the minimum allocation to count a demand. The climb of 2b occurs only \
     if the minimum allocation is as large as a container. With 30 percent, 3.4.3 frees 10 for the \
     first container and nothing more. 3.4.3 withholds freed amounts from A while B cannot use \
     these amounts, but 2.7.3 and Headroom’s scheduler do not.",
    "In the recorded scene 3, the oldest application is served first, so users have 16, 8, and 0. \
     In 2.7.3, B continues after A has no more asks.",
    "Headroom waits 30 s before it preempts, and YARN’s monitor waits two rounds.",
];
