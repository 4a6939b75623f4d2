//! The report for the terminal: plain text, at most 100 columns wide.

use std::fmt::Write;
use std::time::Duration;

use super::header::RunHeader;
use super::{pretty, words};
use crate::metric::{Scope, Summary, Waits};

/// Columns of the terminal.
const WIDTH: usize = 100;

/// Maximum number of lines in a list. Further lines are only counted.
const ROWS_MAX: usize = 20;

/// Returns the report as text. Includes the speed if `real`, the real duration of the run, is given.
pub fn render(header: &RunHeader, summary: &Summary, real: Option<Duration>) -> String {
    let mut text = String::new();
    for line in answer(summary) {
        push(&mut text, &line);
    }
    for line in refusals(summary) {
        push(&mut text, &line);
    }
    text.push('\n');
    reasons(&mut text, summary);
    for line in recorded(summary) {
        push(&mut text, &line);
    }
    facts(&mut text, summary);
    let users: Vec<&Scope> = summary.users.iter().collect();
    scopes(&mut text, summary, "user", &users);
    let queues: Vec<&Scope> = summary.queues.iter().map(|queue| &queue.scope).collect();
    scopes(&mut text, summary, "queue", &queues);
    for remark in &header.remarks {
        push(&mut text, &format!("note: {remark}"));
    }
    for (name, value) in &header.checks {
        push(&mut text, &format!("{name}: {value}"));
    }
    let speed = real.map_or_else(String::new, |real| speed(summary.decisions, real));
    let (decisions, digest) = (pretty::count(summary.decisions), &summary.digest);
    push(&mut text, &format!("{decisions} decisions{speed}, digest {digest}"));
    push(&mut text, &format!("seed {}, repeat with:", header.seed));
    // Never truncated, so that it can be copied.
    let _ = writeln!(text, "  {}", one_line(&header.command));
    text
}

/// Returns a summary of the waits and their reasons in a few sentences.
pub(super) fn answer(summary: &Summary) -> Vec<String> {
    let (jobs, waits) = (&summary.run.jobs, &summary.run.waits);
    let mut lines = Vec::new();
    if waits.jobs == 0 {
        lines.push(format!("None of the {} jobs started.", pretty::count(jobs.total)));
    } else {
        let started = format!(
            "Of {} {} started",
            pretty::counted(jobs.total, "job"),
            pretty::count(waits.jobs)
        );
        let longest = pretty::duration(waits.max_ms);
        let p95 = pretty::duration(waits.p95_ms);
        lines.push(match (waits.p50_ms, waits.p95_ms, waits.max_ms) {
            (_, _, 0) => format!("{started}, and none of these waited."),
            (_, 0, _) => format!(
                "{started}. Fewer than one in 20 waited, and the longest wait was \
                                  {longest}."
            ),
            (0, _, _) => format!(
                "{started}. Half of these did not wait, 95 % waited at most {p95}, and the longest \
                 wait was {longest}."
            ),
            (p50, _, _) => format!(
                "{started}. Half of these waited at most {}, 95 % at most {p95}, and the longest \
                 wait was {longest}.",
                pretty::duration(p50)
            ),
        });
    }
    let worst = summary.users.iter().filter(|user| user.waits.mean_ms > 0);
    if let Some(user) = worst.max_by_key(|user| user.waits.mean_ms) {
        lines.push(format!(
            "User {} had the longest mean wait: {} over {}{}.",
            user.name,
            pretty::duration(user.waits.mean_ms),
            pretty::counted(user.waits.jobs, "job"),
            main_reason(summary, user)
                .map_or_else(String::new, |why| format!(", mostly for {why}")),
        ));
    }
    let open = &summary.run.still_waiting;
    if open.jobs > 0 {
        lines.push(format!(
            "Waiting at the end: {}; longest wait: {}.",
            pretty::counted(open.jobs, "job"),
            pretty::duration(open.max_ms),
        ));
    }
    if jobs.impossible + jobs.rejected > 0 {
        lines.push(format!(
            "{} can never start (too large), and {} rejected.",
            pretty::counted(jobs.impossible, "job"),
            pretty::count(jobs.rejected),
        ));
    }
    if jobs.expired > 0 {
        lines.push(format!(
            "Stopped because the lifetime ended: {}.",
            pretty::counted(jobs.expired, "job")
        ));
    }
    lines
}

/// Maximum number of reasons of refusals that are shown.
const REFUSALS_MAX: usize = 5;

/// Maximum number of characters of a reason.
const REASON_MAX: usize = 400;

/// Returns why jobs were rejected or can never start, with a line for each reason.
pub(super) fn refusals(summary: &Summary) -> Vec<String> {
    let shown = summary.refusals.iter().take(REFUSALS_MAX);
    let mut lines: Vec<String> = shown
        .map(|one| {
            let mut reason: String = one.reason.chars().take(REASON_MAX).collect();
            if reason.len() < one.reason.len() {
                reason.push('…');
            }
            let jobs = match one.jobs {
                1 => format!("job {}", one.first),
                jobs => format!("{}, the first {}", pretty::counted(jobs, "job"), one.first),
            };
            format!("{} ({jobs}): {reason}", one.state)
        })
        .collect();
    let more = summary.refusals.len().saturating_sub(REFUSALS_MAX);
    if more > 0 {
        lines.push(format!("… and {}", pretty::counted(more as u64, "other reason")));
    }
    lines
}

/// Returns the recorded and the simulated waits as sentences. Empty if the workload has no recorded waits.
pub(super) fn recorded(summary: &Summary) -> Vec<String> {
    let Some(found) = &summary.recorded else { return Vec::new() };
    let of = |waits: &Waits| {
        let [mean, p50, p95, max] =
            [waits.mean_ms, waits.p50_ms, waits.p95_ms, waits.max_ms].map(pretty::duration);
        format!("mean {mean}, p50 {p50}, p95 {p95}, longest {max}")
    };
    let jobs = pretty::counted(found.recorded.jobs, "job");
    let mut lines = vec![
        format!("Recorded waits of {jobs}: {}.", of(&found.recorded)),
        format!("Simulated waits of the same: {}.", of(&found.simulated)),
    ];
    lines.extend(found.remarks.iter().cloned());
    lines
}

/// Returns the main reason of the waits of these jobs. `None` if no job waited.
pub(super) fn main_reason(summary: &Summary, scope: &Scope) -> Option<String> {
    let first = scope.waited_for.first()?;
    let blocker = summary.blockers.get(first.blocker)?;
    Some(words::blocker(&blocker.code, &blocker.subject))
}

/// Returns that reason in a few words, for a narrow column.
pub(super) fn short_reason(summary: &Summary, scope: &Scope) -> Option<String> {
    let blocker = summary.blockers.get(scope.waited_for.first()?.blocker)?;
    Some(words::short(&blocker.code, &blocker.subject))
}

fn reasons(text: &mut String, summary: &Summary) {
    let total_ms: u64 = summary.blockers.iter().map(|one| one.wait_ms).sum();
    if total_ms == 0 {
        push(text, "No job waited.");
        text.push('\n');
        return;
    }
    push(text, &format!("Wait reasons ({} in total):", pretty::waiting(total_ms)));
    for blocker in summary.blockers.iter().take(ROWS_MAX) {
        let percent = 100.0 * pretty::hours(blocker.wait_ms) / pretty::hours(total_ms);
        push(
            text,
            &format!(
                "{:>10.1} h {:>7} {:>12}  {}",
                // One unit for all rows, so that they can be compared.
                pretty::hours(blocker.wait_ms),
                pretty::percent(percent),
                pretty::counted(blocker.jobs, "job"),
                words::blocker(&blocker.code, &blocker.subject),
            ),
        );
    }
    rest(text, summary.blockers.len(), "reasons");
    text.push('\n');
}

fn facts(text: &mut String, summary: &Summary) {
    push(
        text,
        &format!(
            "Run {}, makespan {}, mean slowdown {:.2}, fairness between users {} (Jain, 1 = equal)",
            pretty::duration(summary.end_ms),
            pretty::duration(summary.makespan_ms),
            summary.run.slowdowns.mean,
            summary.jain.map_or_else(|| "-".to_owned(), |jain| format!("{jain:.3}")),
        ),
    );
    for one in summary.types.iter().filter(|one| one.capacity_hours > 0.0) {
        let reserved = match one.reserved_hours {
            0.0 => String::new(),
            _ => format!(", {} reserved by placeholders", pretty::percent(one.reserved_percent)),
        };
        push(
            text,
            &format!(
                "{:>18}: {:>7} used of {}{reserved}, {} free but unusable for waiting tasks",
                one.name,
                pretty::percent(one.used_percent),
                pretty::resource_hours(one.capacity_hours, &one.unit),
                pretty::percent(one.unusable_percent),
            ),
        );
    }
    let run = &summary.run;
    if run.preemptions + run.node_losses > 0 {
        let lost: Vec<String> = summary
            .types
            .iter()
            .filter_map(|one| Some((run.lost_hours.get(&one.name)?, one)))
            .map(|(hours, one)| pretty::resource_hours(*hours, &one.unit))
            .collect();
        push(
            text,
            &format!(
                "{} preemptions and {} tasks lost with their node cost {}",
                pretty::count(run.preemptions),
                pretty::count(run.node_losses),
                lost.join(", "),
            ),
        );
    }
    for line in gangs(summary).into_iter().chain(faults(summary)) {
        push(text, &line);
    }
    text.push('\n');
}

/// Returns the results of gangs as a sentence. `None` without gangs.
pub(super) fn gangs(summary: &Summary) -> Option<String> {
    let gangs = summary.gangs.as_ref()?;
    let (counts, until) = (&gangs.counts, &gangs.until_complete);
    let again = match counts.expired {
        0 => "all in time".to_owned(),
        expired => format!("{} not in time", pretty::count(expired)),
    };
    Some(format!(
        "{} submitted, {} complete (half within {}, 95 % within {}), {again}; {} replaced a \
         placeholder",
        pretty::counted(counts.submitted, "gang"),
        pretty::count(counts.complete),
        pretty::duration(until.p50_ms),
        pretty::duration(until.p95_ms),
        pretty::counted(counts.swaps, "task"),
    ))
}

/// Returns the injected faults in two lines. Empty without faults.
pub(super) fn faults(summary: &Summary) -> Vec<String> {
    let Some(faults) = &summary.faults else { return Vec::new() };
    let count = pretty::count;
    vec![
        format!(
            "{}: nodes lost {} (returned {}), drained {}, RM reconnected {}, core recovered {};",
            pretty::counted(faults.total(), "fault"),
            count(faults.nodes_lost),
            count(faults.nodes_back),
            count(faults.nodes_drained),
            count(faults.reconnects),
            count(faults.recoveries),
        ),
        format!(
            "confirmed late {}, very late {}, twice {}; unknown releases {}; rejected messages {}",
            count(faults.confirmed_late),
            count(faults.confirmed_very_late),
            count(faults.confirmed_twice),
            count(faults.unknown_releases),
            count(faults.refused),
        ),
    ]
}

fn scopes(text: &mut String, summary: &Summary, kind: &str, scopes: &[&Scope]) {
    let mut rows: Vec<&Scope> = scopes.iter().copied().filter(|one| one.jobs.total > 0).collect();
    if kind == "user" {
        // Jobs that never started are first, followed by the longest mean waits. Queues are in the order of the file.
        rows.sort_by_key(|one| std::cmp::Reverse((one.waits.jobs == 0, one.waits.mean_ms)));
    }
    push(
        text,
        &format!(
            "{kind:<26} {:>7} {:>11} {:>11} {:>11}  waited for",
            "jobs", "mean wait", "p95", "longest",
        ),
    );
    for one in rows.iter().take(ROWS_MAX) {
        // Jobs that never started have no wait yet, which is not a wait of zero.
        let wait = |ms| match one.waits.jobs {
            0 => "-".to_owned(),
            _ => pretty::duration(ms),
        };
        push(
            text,
            &format!(
                "{:<26} {:>7} {:>11} {:>11} {:>11}  {}",
                cut(&one_line(&one.name), 26),
                pretty::count(one.jobs.total),
                wait(one.waits.mean_ms),
                wait(one.waits.p95_ms),
                wait(one.waits.max_ms),
                short_reason(summary, one).unwrap_or_default(),
            ),
        );
    }
    rest(text, rows.len(), "rows");
    text.push('\n');
}

fn rest(text: &mut String, rows: usize, what: &str) {
    if let Some(more @ 1..) = rows.checked_sub(ROWS_MAX) {
        push(text, &format!("  … and {more} more {what}: see the HTML or JSON report"));
    }
}

fn speed(decisions: u64, real: Duration) -> String {
    let micros = u64::try_from(real.as_micros()).unwrap_or(u64::MAX);
    if micros == 0 {
        return String::new();
    }
    let per_second = pretty::hours(decisions) / pretty::hours(micros) * 1e6;
    format!(" ({} per second of real time)", pretty::number(per_second))
}

/// Adds a line. Wraps a line that is too long for the terminal.
pub(super) fn push(text: &mut String, line: &str) {
    let line = one_line(line);
    let mut wrapped = String::new();
    if line.starts_with(' ') || line.contains("  ") {
        // A row of a table would lose its columns, so it is truncated instead.
        wrapped = cut(&line, WIDTH);
    } else {
        let mut used = 0;
        for word in line.split(' ') {
            let word = cut(word, WIDTH);
            let length = word.chars().count();
            if used > 0 && used + 1 + length > WIDTH {
                wrapped.push('\n');
                used = 0;
            } else if used > 0 {
                wrapped.push(' ');
                used += 1;
            }
            wrapped.push_str(&word);
            used += length;
        }
    }
    text.push_str(&pretty::plain(&wrapped));
    text.push('\n');
}

/// Replaces control characters, because a name from a trace could otherwise control the terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { '?' } else { one }).collect()
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width - 1).collect();
    short.push('…');
    short
}
