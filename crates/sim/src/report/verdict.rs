//! Summary of a comparison of two runs as sentences: whether the runs can be compared, and which waits became shorter
//! or longer.

use std::collections::BTreeMap;

use super::json::Document;
use super::{pretty, table};
use crate::metric::{Scope, Summary};

/// Denominator of the smallest fraction of a wait that counts as a change: 1/20. `DIFFERENCE_MS` is the smallest change.
const PART: u64 = 20;
const DIFFERENCE_MS: u64 = 1_000;

/// Maximum number of names in a sentence.
const NAMED: usize = 3;

/// Returns the differences between the inputs of two runs, except the queue file. Empty without differences.
pub(super) fn differences(before: &Document, after: &Document) -> Vec<String> {
    let (old, new) = (&before.header, &after.header);
    let mut differences = Vec::new();
    let known: BTreeMap<&str, _> = new.inputs.iter().map(|one| (one.name.as_str(), one)).collect();
    for one in old.inputs.iter().filter(|one| one.name != "queue file") {
        let Some(other) = known.get(one.name.as_str()) else { continue };
        if one.fingerprint == other.fingerprint {
            continue;
        }
        differences.push(if one.what == other.what {
            format!("different {}: both runs have {}, but with other content", one.name, one.what)
        } else {
            format!("different {}: {} before, {} after", one.name, one.what, other.what)
        });
    }
    if old.seed != new.seed {
        differences.push(format!("different seed: {} before, {} after", old.seed, new.seed));
    }
    if (old.inputs.is_empty() || new.inputs.is_empty()) && old.title != new.title {
        differences.push(format!("different title: {:?} before, {:?} after", old.title, new.title));
    }
    differences
}

/// Returns whether the queue files are the same. `None` if a report has no fingerprint.
fn same_queue_file(before: &Document, after: &Document) -> Option<bool> {
    let of = |document: &Document| {
        let mut inputs = document.header.inputs.iter();
        inputs.find(|one| one.name == "queue file").map(|one| one.fingerprint.clone())
    };
    Some(of(before)? == of(after)?)
}

/// Returns the summary of a comparison: first whether the runs differ in more than the queue file.
pub(super) fn verdict(before: &Document, after: &Document) -> Vec<String> {
    let (old, new) = (&before.summary, &after.summary);
    let mut lines = Vec::new();
    let differences = differences(before, after);
    if !differences.is_empty() {
        lines.push(format!(
            "The runs differ in more than the queue file, so the figures do not show the effect of \
             the queue file alone: {}.",
            differences.join("; ")
        ));
    }
    if old.digest == new.digest {
        lines.push("Both runs made the same decisions.".to_owned());
        return lines;
    }
    lines.push(match (same_queue_file(before, after), differences.is_empty()) {
        (Some(true), true) => {
            "The runs made different decisions from the same inputs, so the programs differ."
                .to_owned()
        }
        (Some(false), true) => {
            "The runs made different decisions. Only the queue files differ.".to_owned()
        }
        _ => "The runs made different decisions.".to_owned(),
    });
    lines.push(overall(old, new));
    lines.extend(sides("user", &old.users, &new.users));
    let leaves = |summary: &Summary| -> Vec<Scope> {
        let leaves = summary.queues.iter().filter(|queue| queue.leaf);
        leaves.map(|queue| queue.scope.clone()).collect()
    };
    lines.extend(sides("queue", &leaves(old), &leaves(new)));
    lines
}

fn overall(old: &Summary, new: &Summary) -> String {
    let (before, after) = (&old.run, &new.run);
    let times = |one: u64, other: u64| {
        format!("{} before, {} after", pretty::duration(one), pretty::duration(other))
    };
    let mut text = format!(
        "All jobs that started: mean wait {}; p50 {}; p95 {}.",
        times(before.waits.mean_ms, after.waits.mean_ms),
        times(before.waits.p50_ms, after.waits.p50_ms),
        times(before.waits.p95_ms, after.waits.p95_ms),
    );
    if before.waits.jobs != after.waits.jobs {
        let [before, after] = [before, after].map(|one| pretty::count(one.waits.jobs));
        text += " ";
        text += &before;
        text += " started before, ";
        text += &after;
        text += " after. The waits exclude jobs that never started.";
    }
    text
}

/// Returns up to three sentences: whose mean waits became shorter, whose became longer, and whose did not change.
fn sides(kind: &str, old: &[Scope], new: &[Scope]) -> Vec<String> {
    let after: BTreeMap<&str, &Scope> = new.iter().map(|one| (one.name.as_str(), one)).collect();
    let mut changed: Vec<(i128, &Scope, &Scope)> = Vec::new();
    let mut alike = 0;
    for one in old.iter().filter(|one| one.waits.jobs > 0) {
        let Some(other) = after.get(one.name.as_str()).filter(|other| other.waits.jobs > 0) else {
            continue;
        };
        let (before_ms, after_ms) = (one.waits.mean_ms, other.waits.mean_ms);
        let change_ms = before_ms.abs_diff(after_ms);
        if change_ms < DIFFERENCE_MS || change_ms.saturating_mul(PART) < before_ms {
            alike += 1;
        } else {
            changed.push((i128::from(after_ms) - i128::from(before_ms), one, other));
        }
    }
    changed.sort_by_key(|(change, one, _)| (*change, one.name.clone()));
    let (gain, lose): (Vec<_>, Vec<_>) = changed.into_iter().partition(|(change, ..)| *change < 0);
    let mut lines = Vec::new();
    let lose: Vec<_> = lose.into_iter().rev().collect();
    for (word, side) in [("shorter", gain), ("longer", lose)] {
        if side.is_empty() {
            continue;
        }
        let named: Vec<String> =
            side.iter().take(NAMED).map(|(_, one, other)| described(one, other)).collect();
        let count = pretty::counted(side.len() as u64, kind);
        let most = if side.len() > 1 { ", most for" } else { ":" };
        lines.push(format!("Waits are {word} for {count}{most} {}.", named.join(", ")));
    }
    if alike > 0 && !lines.is_empty() {
        lines.push(format!("Waits of {} are unchanged.", pretty::counted(alike, kind)));
    }
    lines
}

/// Returns the change of the waits of a scope.
fn described(before: &Scope, after: &Scope) -> String {
    let times =
        |one: u64, other: u64| format!("{} → {}", pretty::duration(one), pretty::duration(other));
    let (old, new) = (&before.waits, &after.waits);
    format!(
        "{} (mean {}, p50 {}, p95 {})",
        before.name,
        times(old.mean_ms, new.mean_ms),
        times(old.p50_ms, new.p50_ms),
        times(old.p95_ms, new.p95_ms)
    )
}

/// Returns the sentences in lines of the terminal.
pub(super) fn lines(before: &Document, after: &Document) -> String {
    let mut text = String::new();
    for line in verdict(before, after) {
        table::push(&mut text, &line);
    }
    text
}
