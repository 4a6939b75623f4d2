//! Reading the protobuf JSON of the reference's interface.

use anyhow::{Context as _, Result};
use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};
use serde_json::Value;

/// The elements of a list; none if it is missing.
pub(super) fn list<'a>(message: &'a Value, field: &str) -> &'a [Value] {
    message.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a field; empty if it is missing, as protobuf has it.
pub(super) fn text<'a>(message: &'a Value, field: &str) -> &'a str {
    message.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The same as a name.
pub(super) fn name(message: &Value, field: &str) -> Name {
    Name::new(text(message, field))
}

/// Whether a flag is set.
pub(super) fn flag(message: &Value, field: &str) -> bool {
    message.get(field).and_then(Value::as_bool).unwrap_or_default()
}

/// The texts by key of a field; none if it is missing.
pub(super) fn pairs<'a>(
    message: &'a Value,
    field: &str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = message.get(field).and_then(Value::as_object);
    let pairs = map.into_iter().flatten();
    pairs.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

/// The amounts of a `Resource`; empty if it is missing.
///
/// # Errors
/// When an amount is no 64-bit number.
pub(super) fn amounts(message: &Value, field: &str) -> Result<Amounts> {
    let map = message.get(field).and_then(|resource| resource.get("resources"));
    let map = map.and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .map(|(name, quantity)| {
            let amount = number(quantity.get("value"))
                .with_context(|| format!("{field}: {name} must be a 64-bit number"))?;
            Ok((Name::new(name), Quantity::of(amount)))
        })
        .collect()
}

/// A 64-bit number, which protobuf JSON writes as a text; a missing one is 0.
pub(super) fn number(value: Option<&Value>) -> Option<i64> {
    match value {
        None => Some(0),
        Some(Value::String(text)) => text.parse().ok(),
        Some(value) => value.as_i64(),
    }
}

/// The name of a partition without the resource manager in front; `default` if it is empty.
pub(super) fn partition(name: &str) -> Name {
    let bare = name.rsplit_once(']').map_or(name, |(_, bare)| bare);
    Name::new(if bare.is_empty() { "default" } else { bare })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_texts_or_numbers_and_a_missing_one_is_zero() {
        let of = |value: Value| {
            amounts(&json!({"size": {"resources": {"a": value}}}), "size").ok()?.get("a")
        };
        for (value, expected) in [
            (json!({"value": "12"}), Some(12)),
            (json!({"value": 7}), Some(7)),
            (json!({}), Some(0)),
            (json!({"value": "x"}), None),
        ] {
            assert_eq!(of(value.clone()), expected.map(Quantity::of), "{value}");
        }
        assert!(amounts(&json!({}), "size").unwrap().is_empty());
    }

    #[test]
    fn partitions_lose_their_resource_manager() {
        for (name, expected) in [("", "default"), ("[rm]gpu", "gpu"), ("gpu", "gpu")] {
            assert_eq!(partition(name), expected, "{name:?}");
        }
    }
}
