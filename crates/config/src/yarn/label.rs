//! Fractions of the nodes of labels: `accessible-node-labels.<label>.*`.

use std::collections::BTreeMap;

use crate::check::node_labels;
use crate::raw::NodeLabels;

use super::capacity::{self, Mode};
use super::known;
use super::note::Kind;
use super::number::{self, Amounts, Number};
use super::properties::Property;
use super::scope::Scope;
use super::write::Pairs;

/// Capacities of a queue on the nodes of labels.
#[derive(Default)]
pub(super) struct Labels {
    /// `value` and `maximum` by label.
    pub(super) parts: BTreeMap<String, Pairs>,
    /// Guaranteed amounts, with the label in their types.
    pub(super) guaranteed: Amounts,
    pub(super) max: Amounts,
}

const ANOTHER: &str = "the value and the capacity of the queue have different units, so the queue \
                       has no guarantee on nodes with this label";

/// Reads the capacities. `mode` is the unit of the queue's capacity.
pub(super) fn of_queue(scope: &Scope<'_>, mode: Mode) -> Labels {
    let mut labels = Labels::default();
    for (property, name) in all(scope) {
        match name.rsplit_once('.').filter(|(label, _)| is_label(label)) {
            Some((label, "capacity")) => share(scope, (property, label), mode, &mut labels),
            Some((label, "maximum-capacity")) => {
                maximum(scope, (property, label), mode, &mut labels);
            }
            _ => known::of_label(scope, property, &name),
        }
    }
    labels
}

/// Returns the properties of labels, with the rest of their names. Marks these properties as read.
fn all<'p>(scope: &Scope<'p>) -> Vec<(&'p Property, String)> {
    let below = scope.below("accessible-node-labels");
    let all = below.all().into_iter();
    all.filter_map(|(_, name)| Some((below.get(&name)?, name))).collect()
}

/// Returns whether a queue file accepts this label.
fn is_label(text: &str) -> bool {
    node_labels::is_label(text) && !NodeLabels::has_key(text)
}

/// Reports label properties of root, which has all nodes of every label.
pub(super) fn of_root(scope: &Scope<'_>) {
    for (property, name) in all(scope) {
        let last = name.rsplit_once('.').map_or("", |(_, last)| last);
        if !matches!(last, "capacity" | "maximum-capacity") {
            known::of_label(scope, property, &name);
        } else if !capacity::is_of_root(property) {
            let why = "root has all nodes of every label, and the fraction cannot be set";
            scope.tell(Kind::NoEquivalent, property, why, "limit the queues below root");
        }
    }
}

fn share(scope: &Scope<'_>, (property, label): (&Property, &str), mode: Mode, labels: &mut Labels) {
    let text = &property.value;
    if let Some(found) = number::absolute(text) {
        match found {
            Ok(amounts) if mode == Mode::Absolute => {
                labels.guaranteed.extend(at_label(amounts, label));
            }
            Ok(_) => scope.tell(Kind::NoEquivalent, property, ANOTHER, ""),
            Err(why) => scope.tell(Kind::NoEquivalent, property, &why, ""),
        }
        return;
    }
    let weight = text.strip_suffix('w');
    let fits = match mode {
        Mode::Percent => weight.is_none(),
        Mode::Weight => weight.is_some(),
        Mode::Absolute | Mode::Silent | Mode::Lost => false,
    };
    let Some(number) = Number::read(weight.unwrap_or(text)).filter(|one| !one.is_negative) else {
        let why = "the value is neither a percentage nor a weight";
        return scope.tell(
            Kind::NoEquivalent,
            property,
            why,
            "correct the value in the queue file",
        );
    };
    if fits {
        labels.parts.entry(label.to_owned()).or_default().push("value", number.to_string());
    } else if number.to_string() != "0" {
        scope.tell(Kind::NoEquivalent, property, ANOTHER, "");
    }
}

fn maximum(
    scope: &Scope<'_>,
    (property, label): (&Property, &str),
    mode: Mode,
    labels: &mut Labels,
) {
    match number::absolute(&property.value) {
        Some(Ok(amounts)) => return labels.max.extend(at_label(amounts, label)),
        Some(Err(why)) => return scope.tell(Kind::NoEquivalent, property, &why, ""),
        None => {}
    }
    let Some(number) = Number::read(&property.value) else {
        let why = "the value is not a percentage";
        return scope.tell(
            Kind::NoEquivalent,
            property,
            why,
            "correct the value in the queue file",
        );
    };
    // A negative value counts as absent, and 100 is the default.
    if number.is_negative || number.to_string() == "100" {
        return;
    }
    if matches!(mode, Mode::Percent | Mode::Weight) {
        labels.parts.entry(label.to_owned()).or_default().push("maximum", number.to_string());
    } else {
        let why = "the capacity of the queue is an amount, so its maximum must be an amount too";
        scope.tell(Kind::NoEquivalent, property, why, "set `resources.max`");
    }
}

/// Returns amounts with a label in their types. Zeros are omitted, because they have no effect in YARN.
fn at_label(amounts: Amounts, label: &str) -> impl Iterator<Item = (String, String)> {
    let nonzero = amounts.into_iter().filter(|(_, amount)| !amount.starts_with('0'));
    nonzero.map(move |(kind, amount)| (format!("{kind}@{label}"), amount))
}
