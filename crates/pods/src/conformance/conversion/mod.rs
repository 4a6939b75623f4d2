//! Compares recorded conversions with those of Headroom.
//!
//! A case is one line of a file as JSON. Where the specification decides to differ, the decided result
//! counts.

mod configmap;
mod decision;
mod pod;
mod quantity;
mod render;
mod sequence;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::Decision;

/// Kind of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseKind {
    /// One pod, seen first.
    Pod,
    /// Notices of pods and nodes, step by step.
    Sequence,
    /// Readings of a quantity.
    Quantity,
    /// Settings of two config maps.
    ConfigMap,
}

impl CaseKind {
    /// Returns the kind by the field that only cases of the kind have.
    fn of(case: &Value) -> Option<Self> {
        let has = |path: &str| case.pointer(path).is_some();
        [
            ("/pod", Self::Pod),
            ("/steps", Self::Sequence),
            ("/text", Self::Quantity),
            ("/result/flat", Self::ConfigMap),
        ]
        .into_iter()
        .find_map(|(path, kind)| has(path).then_some(kind))
    }
}

/// A difference between a recorded and a computed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Part of the result, such as `ask.tags.foreign`.
    pub part: String,
    /// Recorded value, or nothing if it is absent.
    pub recorded: Option<Value>,
    /// Computed value, or nothing if it is absent.
    pub computed: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "absent".to_owned(),
        };
        let (recorded, computed) = (text(&self.recorded), text(&self.computed));
        write!(f, "{}: recorded {recorded}, computed {computed}", self.part)
    }
}

/// Result of one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Differences from the recorded result, or from the decided one.
    pub differences: Vec<Difference>,
    /// Decisions that changed the recorded result.
    pub decisions: BTreeSet<Decision>,
}

impl Comparison {
    /// Moves differences of numbers beyond 64 bits to the decisions.
    fn accept_saturation(&mut self) {
        let before = self.differences.len();
        self.differences
            .retain(|difference| !difference.computed.as_ref().is_some_and(decision::is_saturated));
        if self.differences.len() < before {
            self.decisions.insert(Decision::Saturation);
        }
    }
}

/// Compares one case.
///
/// # Errors
///
/// Returns a sentence if the case is unreadable.
pub fn compare(case: &Value) -> Result<Comparison, String> {
    let kind =
        CaseKind::of(case).ok_or("the case has none of pod, steps, text, and result.flat")?;
    let mut comparison = match kind {
        CaseKind::Pod => pod::compare(case)?,
        CaseKind::Sequence => sequence::compare(case)?,
        CaseKind::Quantity => quantity::compare(case)?,
        CaseKind::ConfigMap => configmap::compare(case)?,
    };
    comparison.accept_saturation();
    Ok(comparison)
}

/// Decodes a field of a case.
fn decode<T: for<'de> serde::Deserialize<'de>>(case: &Value, field: &str) -> Result<T, String> {
    T::deserialize(&case[field]).map_err(|error| format!("field {field} is unreadable: {error}"))
}

/// Adds the differences between two values, down to the parts that differ.
fn diff(part: &str, recorded: Option<&Value>, computed: Option<&Value>, out: &mut Vec<Difference>) {
    match (recorded, computed) {
        (None | Some(Value::Null), None | Some(Value::Null)) => {}
        // An absent list is empty.
        (Some(Value::Array(list)), None | Some(Value::Null))
        | (None | Some(Value::Null), Some(Value::Array(list)))
            if list.is_empty() => {}
        (Some(Value::Object(recorded)), Some(Value::Object(computed))) => {
            let keys =
                recorded.keys().chain(computed.keys().filter(|key| !recorded.contains_key(*key)));
            for key in keys {
                diff(&format!("{part}.{key}"), recorded.get(key), computed.get(key), out);
            }
        }
        (Some(Value::Array(recorded)), Some(Value::Array(computed))) => {
            for position in 0..recorded.len().max(computed.len()) {
                let part = format!("{part}[{position}]");
                diff(&part, recorded.get(position), computed.get(position), out);
            }
        }
        (recorded, computed) if recorded == computed => {}
        (recorded, computed) => out.push(Difference {
            part: part.to_owned(),
            recorded: recorded.cloned(),
            computed: computed.cloned(),
        }),
    }
}
