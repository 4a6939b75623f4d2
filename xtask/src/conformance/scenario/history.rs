//! A recorded history, for a home that can play only the beginning of it.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::compare::{Difference, differences};
use super::wire::{list, text};
use super::{Home, Outcome, PARTS, Scope};

/// Number of differences of a step in a report.
const SHOWN: usize = 3;

/// A recorded history.
#[derive(Clone, Debug)]
pub struct History {
    name: String,
    value: Value,
    /// The step that `deviations.toml` lists.
    deviates: Option<usize>,
}

/// What came of the steps that were played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Played {
    /// All of them are as recorded.
    Equal,
    /// They differ first at the step that `deviations.toml` lists.
    Deviates,
    /// They differ from this step on, and are what the rule makes of the history.
    ByRule {
        /// Index of the first step that differs from the record.
        step: usize,
    },
    /// They differ first at this step.
    Differs {
        /// Index of the step.
        step: usize,
        /// The weightiest differences.
        what: String,
    },
}

impl History {
    pub(in crate::conformance) const fn new(
        name: String,
        value: Value,
        deviates: Option<usize>,
    ) -> Self {
        Self { name, value, deviates }
    }

    /// The name, as the report of the command has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The queue file of the registration.
    pub fn config(&self) -> &str {
        text(&self.value, "config")
    }

    /// All steps.
    pub fn steps(&self) -> &[Value] {
        list(&self.value, "steps")
    }

    /// What the history touches, as tags.
    pub fn covers(&self) -> impl Iterator<Item = &str> {
        list(&self.value, "covers").iter().filter_map(Value::as_str)
    }

    /// How many steps are compared: the record says where the reference goes wrong.
    pub fn compared(&self) -> usize {
        self.steps().len().min(Scope::of(&self.value).end)
    }

    /// Play the steps before `end`, and compare each. Where one differs from the record, this and all later steps
    /// must be what `ruled` answers, which plays the history as a rule changes it.
    ///
    /// # Errors
    /// A fault of the history, or of a home.
    pub fn play(&self, home: &mut dyn Home, ruled: &mut dyn Home, end: usize) -> Result<Played> {
        let scope = Scope::of(&self.value);
        let mut by_rule = None;
        for (step, recorded) in self.steps().iter().enumerate().take(scope.end.min(end)) {
            let outcome = home.step(recorded).with_context(|| format!("step {step}"))?;
            let expected = ruled.step(recorded).with_context(|| format!("step {step}"))?;
            let found = scope.compare(step, recorded, &outcome);
            if by_rule.is_none() {
                // A listed step may also be as recorded: with questions about victims, other victims are chosen. The
                // replays without them find an entry that is out of date.
                if found.is_empty() {
                    continue;
                }
                if self.deviates == Some(step) {
                    return Ok(Played::Deviates);
                }
            }
            let from_rule = between(&outcome, &expected);
            if !from_rule.is_empty() {
                let found = if by_rule.is_some() { from_rule } else { found };
                let shown = found.iter().take(SHOWN).map(ToString::to_string);
                return Ok(Played::Differs { step, what: shown.collect::<Vec<_>>().join("; ") });
            }
            by_rule = by_rule.or(Some(step));
        }
        Ok(by_rule.map_or(Played::Equal, |step| Played::ByRule { step }))
    }
}

/// What differs between two homes.
fn between(ours: &Outcome, other: &Outcome) -> Vec<Difference> {
    let mut found = differences("responses", &ours.responses, &other.responses);
    if ours.result != other.result {
        let of = |one: &Outcome| one.result.clone().unwrap_or_default();
        found.extend(differences("result", &of(ours), &of(other)));
    }
    if let (Some(ours), Some(other)) = (&ours.snapshot, &other.snapshot) {
        found.extend(PARTS.iter().flat_map(|part| differences(part, &ours[*part], &other[*part])));
    }
    found
}
