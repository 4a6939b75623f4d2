//! The study for the terminal: plain text, at most 100 columns wide. The results are first.

use std::fmt::Write;

pub(crate) use super::findings::{ends, stuck};
use super::{Cell, Next, Outcome, Recorded, Row1, Row2, Row3, Run, Study};

/// Columns of the terminal.
const WIDTH: usize = 100;

/// Returns the study as text.
pub fn render(study: &Study) -> String {
    let mut text = String::new();
    for line in &study.findings {
        wrap(&mut text, line, "  ");
    }
    text.push('\n');
    for scene in &study.scenes {
        wrap(&mut text, &format!("Scene {}. {}", scene.id, scene.title), "  ");
        wrap(&mut text, scene.story, "  ");
        let mut rows = vec![RUN_COLUMNS.map(str::to_owned).to_vec()];
        rows.extend(scene.runs.iter().map(run_cells));
        rows.extend(scene.recorded.iter().map(recorded_cells));
        table(&mut text, &rows);
    }
    wrap(&mut text, "Remedies that help, and remedies that do not", "  ");
    let mut rows =
        vec![["scene", "rules", "ends at", "stopped", "dead zone"].map(str::to_owned).to_vec()];
    for one in &study.variants {
        let (run, scene) = (&one.run, one.scene.to_owned());
        let stopped = run.stopped.containers.to_string();
        let zone = stuck(&run.dead_zones);
        rows.push(vec![scene, one.title.to_owned(), ends(&run.end), stopped, zone]);
    }
    table(&mut text, &rows);
    wrap(&mut text, "A factor that leaves one user half of the cluster", "  ");
    let mut rows = vec![
        ["scene", "formula", "factor 100", "stopped", "factor 1.67", "stopped"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for one in &study.smaller_factor {
        let of =
            |ending: &super::Ending| [ends(&ending.end), ending.stopped.containers.to_string()];
        let mut row = vec![one.scene.to_owned(), one.formula.to_owned()];
        row.extend(of(&one.large));
        row.extend(of(&one.small));
        rows.push(row);
    }
    table(&mut text, &rows);
    arithmetic(&mut text, study);
    text
}

/// Columns of the runs of a scene.
const RUN_COLUMNS: [&str; 7] =
    ["formula", "taken by", "ends at", "stopped", "GiB", "GiB·s", "dead zone"];

fn run_cells(run: &Run) -> Vec<String> {
    let who = match run.preemption {
        "monitor" => "YARN’s monitor",
        "balance" => "Headroom, balance",
        _ => "Headroom",
    };
    vec![
        run.formula.to_owned(),
        who.to_owned(),
        ends(&run.end),
        run.stopped.containers.to_string(),
        run.stopped.amount.to_string(),
        run.stopped.work.to_string(),
        stuck(&run.dead_zones),
    ]
}

fn recorded_cells(one: &Recorded) -> Vec<String> {
    let (unsaid, a, b) = ("–".to_owned(), one.others, one.used);
    let ends = if a == 0 { format!("A {b}") } else { format!("A {a}, B {b}") };
    vec![
        format!("real {}", one.version),
        "YARN’s monitor".to_owned(),
        ends,
        one.stopped.to_string(),
        unsaid.clone(),
        unsaid,
        stuck(&one.dead_zones),
    ]
}

fn arithmetic(text: &mut String, study: &Study) {
    for (title, rows) in tables(study) {
        wrap(text, &title, "  ");
        table(text, &rows);
    }
    let monitor = &study.monitor;
    let ignored = monitor.ignored_up_to.iter();
    let ignored: Vec<String> =
        ignored.map(|one| format!("{} (dead zone {})", one.up_to, one.dead_zone)).collect();
    wrap(
        text,
        &format!(
            "By default, YARN’s monitor takes {} of these {} in the first round. The monitor \
             takes nothing from a queue that uses up to {} with a guarantee of {}. In these runs, as in the recorded \
             histories, the monitor takes everything above {} at once.",
            monitor.first_round,
            monitor.need,
            ignored.join(" or "),
            monitor.guaranteed,
            monitor.ignored_up_to[0].up_to,
        ),
        "",
    );
}

/// Returns the three tables: titles and rows. The first row of each has the columns.
pub(crate) fn tables(study: &Study) -> Vec<(String, Vec<Vec<String>>)> {
    let of = |columns: &[&str], rows: Vec<Vec<String>>| {
        let mut all = vec![columns.iter().map(|one| (*one).to_owned()).collect()];
        all.extend(rows);
        all
    };
    let tables = &study.tables;
    vec![
        (
            "Scene 1 as arithmetic: limits by what one user uses".to_owned(),
            of(&COLUMNS_1, tables.scene_1.iter().map(cells_1).collect()),
        ),
        (
            "Scene 2 as arithmetic: the amount freed for B by its usage, with the ask as the \
             required resource"
                .to_owned(),
            of(&COLUMNS_2, tables.scene_2.iter().map(cells_2).collect()),
        ),
        (
            "Scene 3 as arithmetic: limits of three users by their usage".to_owned(),
            of(&COLUMNS_3, tables.scene_3.iter().map(cells_3).collect()),
        ),
    ]
}

const COLUMNS_1: [&str; 11] = [
    "used", "yarn27", "capped", "left", "yarn3", "capped", "left", "smooth", "capped", "left",
    "next 8?",
];

fn cells_1(row: &Row1) -> Vec<String> {
    let mut cells = vec![row.used.to_string()];
    for Cell { raw, capped, headroom } in [row.yarn27, row.yarn3, row.smooth] {
        cells.extend([raw, capped, headroom].map(|one| one.to_string()));
    }
    cells.push(
        match row.next {
            Next::Yes => "yes",
            Next::NoQueueMax => "no: queue maximum",
            Next::NoUserLimit => "no: user limit",
        }
        .to_owned(),
    );
    cells
}

const COLUMNS_2: [&str; 9] = [
    "B uses",
    "limit",
    "demand 2.7",
    "3 (p 30)",
    "3 (p 100)",
    "ideal 2.7",
    "ideal 3",
    "whole asks",
    "frees",
];

fn cells_2(row: &Row2) -> Vec<String> {
    let outcome = match row.outcome {
        Outcome::Starts(1) => "1 container".to_owned(),
        Outcome::Starts(count) => format!("{count} containers"),
        Outcome::Stuck => "stuck (2a)".to_owned(),
        Outcome::End => "end".to_owned(),
    };
    let ideal = |[a, b]: [i64; 2]| format!("{a} / {b}");
    vec![
        row.used.to_string(),
        row.yarn27_limit.to_string(),
        row.yarn27_demand.to_string(),
        row.yarn3_demand_p30.to_string(),
        row.yarn3_demand_p100.to_string(),
        ideal(row.ideal_2_7),
        ideal(row.ideal_3),
        row.whole_asks.to_string(),
        format!("{}: {outcome}", row.frees),
    ]
}

const COLUMNS_3: [&str; 9] =
    ["users", "used", "limit", "headroom", "demand", "smooth", "whole asks", "strict", "progress"];

fn cells_3(row: &Row3) -> Vec<String> {
    let list = |of: [i64; 3]| of.map(|one| one.to_string()).join(", ");
    let who = |of: [bool; 3]| match of.iter().filter(|one| **one).count() {
        0 => "none continues".to_owned(),
        3 => "all continue".to_owned(),
        count => format!("{count} continue"),
    };
    vec![
        list(row.users),
        row.used.to_string(),
        row.limit.to_string(),
        list(row.headroom),
        row.demand.to_string(),
        row.smooth_share.to_string(),
        row.whole_asks.to_string(),
        who(row.strict),
        who(row.progress),
    ]
}

/// Writes rows in columns as wide as their widest cell. The first row is above a line.
fn table(text: &mut String, rows: &[Vec<String>]) {
    let count = rows.first().map_or(0, Vec::len);
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    for (place, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "  {cell:<width$}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
        if place == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(text, "  {}", rule.join("  "));
        }
    }
    text.push('\n');
}

/// Writes a text in lines that fit, with later lines indented.
fn wrap(text: &mut String, words: &str, indent: &str) {
    let mut line = String::new();
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            indent.clone_into(&mut line);
            line.push_str(word);
        } else {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    let _ = writeln!(text, "{line}");
}
