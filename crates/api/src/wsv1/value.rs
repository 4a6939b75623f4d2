//! Values that several bodies share.

use std::collections::BTreeMap;
use std::num::ParseIntError;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Amounts by resource type: bytes of `memory` and `ephemeral-storage`, thousandths of a core of
/// `vcore`, and plain counts of other types. Types with amount 0 stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Resources(pub BTreeMap<String, i64>);

impl<Name: Into<String>> FromIterator<(Name, i64)> for Resources {
    fn from_iter<All: IntoIterator<Item = (Name, i64)>>(all: All) -> Self {
        Self(all.into_iter().map(|(name, amount)| (name.into(), amount)).collect())
    }
}

/// Whole percentages by resource type, rounded toward zero. They can exceed 100.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Percentages(pub BTreeMap<String, i64>);

impl<Name: Into<String>> FromIterator<(Name, i64)> for Percentages {
    fn from_iter<All: IntoIterator<Item = (Name, i64)>>(all: All) -> Self {
        Self(all.into_iter().map(|(name, percent)| (name.into(), percent)).collect())
    }
}

/// An integer that is sent as decimal text, such as `"5"` for 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[derive(ToSchema)]
#[schema(value_type = String, pattern = "^-?[0-9]+$", examples("5"))]
pub struct IntegerText(pub i64);

/// A text that is not a decimal integer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an integer from {} to {}", i64::MIN, i64::MAX)]
pub struct NotAnInteger {
    text: String,
    #[source]
    source: ParseIntError,
}

impl From<IntegerText> for String {
    fn from(integer: IntegerText) -> Self {
        integer.0.to_string()
    }
}

impl TryFrom<String> for IntegerText {
    type Error = NotAnInteger;

    fn try_from(text: String) -> Result<Self, NotAnInteger> {
        match text.parse() {
            Ok(integer) => Ok(Self(integer)),
            Err(source) => Err(NotAnInteger { text, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IntegerText;

    #[test]
    fn integers_in_text_keep_their_value() {
        for (text, expected) in [
            ("\"0\"", Some(0)),
            ("\"-1\"", Some(-1)),
            ("\"9223372036854775807\"", Some(i64::MAX)),
            ("\"9223372036854775808\"", None),
            ("\"\"", None),
            ("\"1.0\"", None),
            ("5", None),
        ] {
            let read: Option<IntegerText> = serde_json::from_str(text).ok();
            assert_eq!(read.map(|one| one.0), expected, "reading {text}");
            if let Some(read) = read {
                assert_eq!(serde_json::to_string(&read).unwrap(), text);
            }
        }
    }
}
