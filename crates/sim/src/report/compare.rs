//! `headroom simulate compare`: the effects of a changed configuration.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::json::{self, Document, ReadError};
use super::{pretty, verdict, words};
use crate::metric::{Scope, Summary};

/// Reason why two reports could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A file is not a report of Headroom.
    #[error("cannot compare {}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the file is not a report.
        #[source]
        source: ReadError,
    },
}

/// Compares two JSON reports. Returns text of at most 100 columns.
///
/// # Errors
/// A [`CompareError`] with the file and the problem.
pub fn files(before: &Path, after: &Path) -> Result<String, CompareError> {
    Ok(documents(&load(before)?, &load(after)?))
}

fn load(path: &Path) -> Result<Document, CompareError> {
    let text = fs::read_to_string(path)
        .map_err(|source| CompareError::Open { path: path.to_owned(), source })?;
    json::read(&text).map_err(|source| CompareError::Read { path: path.to_owned(), source })
}

/// Compares two JSON reports. Returns an HTML page.
///
/// # Errors
/// The same as [`files`].
pub fn page_of_files(before: &Path, after: &Path) -> Result<String, CompareError> {
    Ok(super::html::compare::page(&load(before)?, &load(after)?))
}

/// Compares two reports: first a summary, and then the figures.
pub fn documents(before: &Document, after: &Document) -> String {
    let mut text = verdict::lines(before, after);
    text.push_str(&summaries(&before.summary, &after.summary));
    text
}

/// Compares the results of two runs. Returns lines of at most 100 columns.
pub fn summaries(old: &Summary, new: &Summary) -> String {
    let mut text = String::new();
    for section in sections(old, new) {
        section.write(&mut text);
    }
    let lines = text.lines().map(|line| pretty::plain(line.trim_end()) + "\n");
    lines.collect()
}

/// Compares the results of two runs by subject. Omits sections without rows.
pub fn sections(old: &Summary, new: &Summary) -> Vec<Section> {
    let queues = |summary: &Summary| -> Vec<Scope> {
        summary.queues.iter().map(|queue| queue.scope.clone()).collect()
    };
    let mut all = vec![run(old, new)];
    all.extend(waits("queue", &queues(old), &queues(new)));
    all.extend(waits("user", &old.users, &new.users));
    all.extend(waits("group", &old.groups, &new.groups));
    all.push(blockers(old, new));
    all.retain(|section| !section.rows.is_empty());
    all
}

/// Related values, before and after.
#[derive(Debug)]
pub struct Section {
    /// Subject of the values.
    pub title: String,
    rows: Vec<Row>,
    /// Number of further rows, which changed less.
    pub more: usize,
}

/// Maximum number of rows in a section. If a section has more rows, those with the largest changes are shown.
const ROWS_MAX: usize = 30;

/// One compared value.
#[derive(Debug)]
struct Row {
    name: String,
    before: f64,
    after: f64,
    show: fn(f64) -> String,
}

fn run(old: &Summary, new: &Summary) -> Section {
    let of = |name: &str, value: fn(&Summary) -> f64, show: fn(f64) -> String| Row {
        name: name.to_owned(),
        before: value(old),
        after: value(new),
        show,
    };
    let mut rows = vec![
        of("finished jobs", |run| float(run.run.jobs.finished), whole),
        of("waiting jobs", |run| float(run.run.jobs.waiting), whole),
        of("impossible jobs", |run| float(run.run.jobs.impossible), whole),
        of("rejected jobs", |run| float(run.run.jobs.rejected), whole),
        of("mean wait", |run| float(run.run.waits.mean_ms), time),
        of("p50 wait", |run| float(run.run.waits.p50_ms), time),
        of("p95 wait", |run| float(run.run.waits.p95_ms), time),
        of("longest wait", |run| float(run.run.waits.max_ms), time),
        of("mean slowdown", |run| run.run.slowdowns.mean, pretty::number),
        of("makespan", |run| float(run.makespan_ms), time),
        of("Jain's index", |run| run.jain.unwrap_or(0.0), |one| format!("{one:.3}")),
        of("preemptions", |run| float(run.run.preemptions), whole),
        of("lost tasks", |run| float(run.run.node_losses), whole),
    ];
    if old.gangs.is_some() || new.gangs.is_some() {
        let gangs = |run: &Summary| run.gangs.unwrap_or_default();
        rows.extend([
            Row {
                name: "complete gangs".to_owned(),
                before: float(gangs(old).counts.complete),
                after: float(gangs(new).counts.complete),
                show: whole,
            },
            Row {
                name: "mean time until a gang is complete".to_owned(),
                before: float(gangs(old).until_complete.mean_ms),
                after: float(gangs(new).until_complete.mean_ms),
                show: time,
            },
        ]);
    }
    let used = |summary: &Summary| -> BTreeMap<String, f64> {
        let types = summary.types.iter();
        types.map(|one| (one.name.clone(), one.used_percent)).collect()
    };
    for (name, (before, after)) in pairs(used(old), used(new)) {
        rows.push(Row { name: format!("{name} used"), before, after, show: pretty::percent });
    }
    Section::of("run", rows)
}

fn waits(kind: &str, old: &[Scope], new: &[Scope]) -> Vec<Section> {
    let mut sections = Vec::new();
    let table = |scopes: &[Scope], value: fn(&Scope) -> f64| -> BTreeMap<String, f64> {
        let active = scopes.iter().filter(|one| one.jobs.total > 0);
        active.map(|one| (one.name.clone(), value(one))).collect()
    };
    for (title, value) in [
        ("mean wait", (|one| float(one.waits.mean_ms)) as fn(&Scope) -> f64),
        ("p50 wait", |one| float(one.waits.p50_ms)),
        ("p95 wait", |one| float(one.waits.p95_ms)),
    ] {
        let rows: Vec<Row> = pairs(table(old, value), table(new, value))
            .into_iter()
            .map(|(name, (before, after))| Row { name, before, after, show: time })
            .collect();
        sections.push(Section::of(&format!("{kind}: {title}"), rows));
    }
    sections
}

fn blockers(old: &Summary, new: &Summary) -> Section {
    let table = |summary: &Summary| -> BTreeMap<String, f64> {
        let all = summary.blockers.iter();
        all.map(|one| (words::blocker(&one.code, &one.subject), float(one.wait_ms))).collect()
    };
    let rows: Vec<Row> = pairs(table(old), table(new))
        .into_iter()
        .map(|(name, (before, after))| Row { name, before, after, show: time })
        .collect();
    Section::of("total wait, by wait reason", rows)
}

/// Returns the values of both sides by name. A missing value counts as zero.
fn pairs(old: BTreeMap<String, f64>, new: BTreeMap<String, f64>) -> BTreeMap<String, (f64, f64)> {
    let mut both: BTreeMap<String, (f64, f64)> =
        old.into_iter().map(|(name, before)| (name, (before, 0.0))).collect();
    for (name, after) in new {
        both.entry(name).or_default().1 = after;
    }
    both
}

impl Section {
    fn of(title: &str, mut rows: Vec<Row>) -> Self {
        let more = rows.len().saturating_sub(ROWS_MAX);
        if more > 0 {
            // Of many rows, those with the largest changes.
            let change = |row: &Row| (row.after - row.before).abs();
            rows.sort_by(|left, right| change(right).total_cmp(&change(left)));
            rows.truncate(ROWS_MAX);
        }
        Self { title: title.to_owned(), rows, more }
    }

    /// Returns the rows as text: name, before, after, change, and the change in percent.
    pub fn cells(&self) -> impl Iterator<Item = [String; 5]> {
        self.rows.iter().map(|row| {
            let change = row.after - row.before;
            // Differences in the last decimal are caused by rounding.
            let (change, part) = if change.abs() < 1e-6 {
                ("=".to_owned(), String::new())
            } else {
                let sign = if change > 0.0 { '+' } else { '-' };
                (format!("{sign}{}", (row.show)(change.abs())), relative(row.before, change))
            };
            [row.name.clone(), (row.show)(row.before), (row.show)(row.after), change, part]
        })
    }

    fn write(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\n{:<42} {:>14} {:>14} {:>15} {:>9}",
            self.title, "before", "after", "change", "%"
        );
        for [name, before, after, change, part] in self.cells() {
            let name = shorten(&name, 42);
            let _ = writeln!(text, "{name:<42} {before:>14} {after:>14} {change:>15} {part:>9}");
        }
        if self.more > 0 {
            let _ = writeln!(text, "… and {} more that changed less", self.more);
        }
    }
}

fn relative(before: f64, change: f64) -> String {
    if before == 0.0 {
        return "new".to_owned();
    }
    let percent = 100.0 * change / before;
    if percent.abs() >= 99_999.0 {
        return "> 99999".to_owned();
    }
    format!("{percent:+.1}")
}

/// Shortens a name in the middle, because queue paths differ at both ends.
fn shorten(name: &str, width: usize) -> String {
    let clean: Vec<char> =
        name.chars().map(|one| if one.is_control() { '?' } else { one }).collect();
    if clean.len() <= width {
        return clean.into_iter().collect();
    }
    let head = (width - 1) / 2;
    let tail = width - 1 - head;
    let (first, last) = (&clean[..head], &clean[clean.len() - tail..]);
    first.iter().chain(&['…']).chain(last).collect()
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn float(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from a u64")]
fn whole(value: f64) -> String {
    pretty::count(value as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from a u64")]
fn time(ms: f64) -> String {
    pretty::duration(ms as u64)
}
