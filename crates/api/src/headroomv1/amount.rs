//! Amounts as clients write them, and as people read them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An amount. Clients send it as text with a unit, as in a queue file (`"100"`, `"500m"`,
/// `"200Gi"`, `"200G"`), or as a number in core units: thousandths of a core of `vcore`, bytes of
/// `memory`, and plain counts of other types. Responses always have the number, so clients can send
/// it back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Amount {
    /// A number in core units.
    Units(i64),
    /// Text with a unit.
    Text(String),
}

/// Amounts by resource type.
pub type Amounts = BTreeMap<String, Amount>;

/// Returns an amount in core units as people write it, which is also a valid input: the shortest
/// exact text, such as `100` and `500m` of `vcore`, or `200G` and `64Gi` of `memory`.
pub fn display_amount(resource: &str, units: i64) -> String {
    match resource {
        "vcore" if units % 1_000 == 0 => (units / 1_000).to_string(),
        "vcore" => format!("{units}m"),
        "memory" => SUFFIXES
            .into_iter()
            .filter(|(factor, _)| units != 0 && units % factor == 0)
            .map(|(factor, suffix)| format!("{}{suffix}", units / factor))
            .min_by_key(String::len)
            .unwrap_or_else(|| units.to_string()),
        _ => units.to_string(),
    }
}

/// Of two texts of one length the first counts.
const SUFFIXES: [(i64, &str); 11] = [
    (1, ""),
    (1_000, "k"),
    (1_000_000, "M"),
    (1_000_000_000, "G"),
    (1_000_000_000_000, "T"),
    (1_000_000_000_000_000, "P"),
    (1 << 10, "Ki"),
    (1 << 20, "Mi"),
    (1 << 30, "Gi"),
    (1 << 40, "Ti"),
    (1 << 50, "Pi"),
];

#[cfg(test)]
mod tests {
    use super::{Amount, display_amount};

    #[test]
    fn an_amount_is_shown_as_it_may_be_sent() {
        for (resource, units, expected) in [
            ("vcore", 100_000, "100"),
            ("vcore", 500, "500m"),
            ("vcore", 0, "0"),
            ("memory", 200_000_000_000, "200G"),
            ("memory", 64 << 30, "64Gi"),
            ("memory", 1_001, "1001"),
            ("memory", 0, "0"),
            ("nvidia.com/gpu", 8_000, "8000"),
        ] {
            assert_eq!(display_amount(resource, units), expected, "{resource} {units}");
        }
    }

    #[test]
    fn a_number_and_a_text_are_told_apart() {
        let read = |text| serde_json::from_str::<Amount>(text);
        assert_eq!(read("100").unwrap(), Amount::Units(100));
        assert_eq!(read("\"100\"").unwrap(), Amount::Text("100".into()));
        for other in ["1.5", "true"] {
            let refused = read(other).unwrap_err().to_string();
            assert_eq!(refused, "data did not match any variant of untagged enum Amount");
        }
    }
}
