//! Judges histories: plays each step of a recorded one against the core and compares what the
//! resource manager is told, what the step answers, and the state in snapshots.
//!
//! - `history` is a history for a home that can play only the beginning of it.
//! - `driver` plays, `requests` makes commands of the recorded requests, `told` and
//!   `print` put what came of them into the form of the record, `compare` finds differences.
//! - Not compared: texts for people; `requests[].schedulingAttempted`, which says which asks
//!   the reference looked at on its way (ours looks at classes, and at each once); the message
//!   of a release.
//! - Parts that the record marks `unstable` are left out. A history that drives the reference
//!   into an oddity which Headroom repairs is compared up to the step that the record names
//!   (decision C-5). Where two partitions share the reference's trackers, only users and groups
//!   are left out from there.

mod compare;
mod driver;
mod history;
mod print;
mod requests;
mod told;
mod wire;

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use self::compare::{Difference, differences};
use self::driver::Driver;
pub use self::driver::{Home, Outcome, is_result};
pub use self::history::{History, Played};
pub use self::print::snapshot;
pub use self::told::{Placed, Told};
use self::wire::{list, text};
use super::case::text_of;
use super::{Judge, Verdict};

/// The histories about limits and queues that need neither gangs nor preemption.
pub(super) const LIMITS: &str = "limits";

/// What a history of [`LIMITS`] must have one of.
const ABOUT_LIMITS: [&str; 11] = [
    "max-applications",
    "group-limit",
    "user-limit",
    "wildcard-limit",
    "config-reload",
    "user-tracking",
    "template",
    "dynamic-queue",
    "namespace-quota",
    "placement",
    "multi-partition",
];

/// What a history of [`LIMITS`] must have none of.
const BEYOND_LIMITS: [&str; 10] = [
    "gang-soft",
    "gang-hard",
    "placeholder-replace",
    "placeholder-timeout",
    "reservation",
    "preemption",
    "quota-preemption",
    "required-node",
    "unschedulable-backoff",
    "preemption-policy",
];

/// Oddities of the reference that Headroom repairs. Decisions D-1, D-4, D-5, D-7, D-8, D-16.
const REPAIRED: [&str; 6] = [
    "fair-max-misaligned",
    "stale-node-score",
    "running-count",
    "preemption-final-cut",
    "quota-victim-order",
    "quota-share-of-unused",
];

/// The parts of a snapshot in the order of their weight.
const PARTS: [&str; 6] = ["queues", "applications", "nodes", "users", "groups", "partitions"];

/// Judges histories by a home of the core; one is equal when every step is.
pub(super) struct Replay<'begin> {
    /// A new home, to which this queue file is given at registration.
    pub(super) begin: &'begin dyn Fn(&str) -> Box<dyn Home>,
}

impl Judge for Replay<'_> {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        verdict(&mut *(self.begin)(text_of(case, "config")?), case)
    }

    fn subset(&self, case: &Value, file: &str) -> Option<&'static str> {
        Scenario.subset(case, file)
    }
}

fn verdict(home: &mut dyn Home, case: &Value) -> Result<Verdict> {
    let scope = Scope::of(case);
    for (number, step) in steps(case)?.iter().enumerate().take(scope.end) {
        let outcome = home.step(step).with_context(|| format!("step {number}"))?;
        if let Some(first) = scope.compare(number, step, &outcome).first() {
            return Ok(Verdict::Differs { step: number, what: first.to_string() });
        }
    }
    Ok(Verdict::Equal)
}

/// The core alone, to which this queue file is given at registration.
pub fn core_alone(config: &str) -> Box<dyn Home> {
    Box::new(Driver::new(config))
}

/// Judges histories by the core alone.
pub(super) struct Scenario;

impl Judge for Scenario {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        verdict(&mut Driver::new(text_of(case, "config")?), case)
    }

    fn subset(&self, case: &Value, _file: &str) -> Option<&'static str> {
        let covers: Vec<&str> = list(case, "covers").iter().filter_map(Value::as_str).collect();
        let has = |tags: &[&str]| tags.iter().any(|tag| covers.contains(tag));
        (has(&ABOUT_LIMITS) && !has(&BEYOND_LIMITS)).then_some(LIMITS)
    }

    /// Every step: what went in, what came out, and where that is not the record. Stops at
    /// what cannot be done yet.
    fn show(&self, case: &Value) -> Result<String> {
        let mut driver = Driver::new(text_of(case, "config")?);
        let scope = Scope::of(case);
        let mut page = text_of(case, "config")?.to_owned();
        for (number, step) in steps(case)?.iter().enumerate() {
            if number == scope.end {
                page += "-- not compared from here on --\n";
            }
            let outcome = match driver.step(step) {
                Ok(outcome) => outcome,
                Err(error) => {
                    let _ = writeln!(page, "{number}: {}\n  {error:#}", input_of(step));
                    break;
                }
            };
            let _ = writeln!(page, "{number}: {}", input_of(step));
            if outcome.responses != json!({}) {
                let _ = writeln!(page, "  ours     {}", outcome.responses);
            }
            if let Some(recorded) = step.get("responses") {
                let _ = writeln!(page, "  recorded {recorded}");
            }
            for difference in scope.compare(number, step, &outcome) {
                let _ = writeln!(page, "  DIFFERS  {difference}");
            }
        }
        Ok(page)
    }
}

fn steps(case: &Value) -> Result<&Vec<Value>> {
    case.get("steps").and_then(Value::as_array).context("the field \"steps\" must be a list")
}

/// The input of a step in a line.
fn input_of(step: &Value) -> String {
    let outputs = ["responses", "snapshot", "cycles", "settled", "unstable"];
    let fields = step.as_object().into_iter().flatten();
    let inputs = fields.filter(|(key, _)| !outputs.contains(&key.as_str()));
    let parts: Vec<String> = inputs
        .map(|(key, value)| match value.as_str() {
            Some(text) => format!("{key}\n{text}"),
            None => format!("{key} {value}"),
        })
        .collect();
    if parts.is_empty() { "snapshot".to_owned() } else { parts.join(", ") }
}

/// How much of a history is compared.
struct Scope {
    /// The first step that is not.
    end: usize,
    /// The step from which users and groups are not.
    without_usage: usize,
}

impl Scope {
    fn of(case: &Value) -> Self {
        let mut scope = Self { end: usize::MAX, without_usage: usize::MAX };
        let first = |entry: &Value| {
            let step = entry["firstStep"].as_u64();
            step.and_then(|step| usize::try_from(step).ok()).unwrap_or_default()
        };
        for quirk in list(case, "quirks") {
            if REPAIRED.contains(&text(quirk, "quirk")) {
                scope.end = scope.end.min(first(quirk));
            }
        }
        let partitions = list(case, "covers").iter().any(|tag| tag == "multi-partition");
        for entry in list(case, "referenceInvariants") {
            // Ours hold, all of them; what they lead to differs with them.
            if partitions && text(entry, "broken") == "user-usage-sum" {
                scope.without_usage = scope.without_usage.min(first(entry));
            } else {
                scope.end = scope.end.min(first(entry));
            }
        }
        scope
    }

    /// What differs in one step, the weightier first.
    fn compare(&self, number: usize, step: &Value, outcome: &Outcome) -> Vec<Difference> {
        let unstable: Vec<&str> = list(step, "unstable").iter().filter_map(Value::as_str).collect();
        let empty = json!({});
        let mut found = Vec::new();
        if !unstable.contains(&"responses") {
            let recorded = step.get("responses").unwrap_or(&empty);
            let mut ours = outcome.responses.clone();
            if let (None, Some(ours)) = (recorded.get("newOrder"), ours.as_object_mut()) {
                ours.remove("newOrder"); // Not recorded where it was not determined.
            }
            found.extend(differences("responses", &ours, recorded));
        }
        if let Some(ours) = &outcome.result {
            let recorded = match &step["result"] {
                Value::Object(result) => json!({"ok": result.get("ok")}),
                other => other.clone(),
            };
            found.extend(differences("result", ours, &recorded));
        }
        let (Some(ours), Some(recorded)) = (&outcome.snapshot, step.get("snapshot")) else {
            return found;
        };
        let mut ours = ours.clone();
        for part in &unstable {
            if let Some(part) = part.strip_suffix(".details") {
                drop_details(&mut ours[part]);
            }
        }
        let skipped = |part: &str| {
            let usage = matches!(part, "users" | "groups") && number >= self.without_usage;
            usage || unstable.contains(&part)
        };
        for part in PARTS.into_iter().filter(|part| !skipped(part)) {
            found.extend(differences(part, &ours[part], &recorded[part]));
        }
        found
    }
}

/// Take away the lists that the record leaves out where they are not stable.
fn drop_details(part: &mut Value) {
    match part {
        Value::Array(list) => list.iter_mut().for_each(drop_details),
        Value::Object(map) => {
            for key in ["allocations", "reservations", "requests"] {
                map.remove(key);
            }
            map.values_mut().for_each(drop_details);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
