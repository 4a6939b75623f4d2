//! Conditions on devices, in the part of the Common Expression Language that such conditions use.
//!
//! A condition reads `device.driver`, `device.attributes["<domain>"].<name>`, and
//! `device.capacity["<domain>"].<name>`. It has the operators of the language, lists, and the functions of
//! [`eval`]. Other functions and macros are faults. Parsing and evaluation are bounded by the length of the text.

mod eval;
mod parse;

use std::fmt;

use crate::object::{Device, Text};

use parse::Expression;

/// A condition on devices.
#[derive(Clone, Debug)]
pub(super) struct Condition(Expression);

/// Why a condition has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text is too long.
    TooLong,
    /// The text is too deeply nested.
    TooDeep,
    /// The text is no expression, from this byte on.
    Syntax(usize),
    /// A name or function is unknown.
    Unknown(String),
    /// A device has no such attribute or amount.
    NoKey(String),
    /// A value has the wrong type.
    WrongType,
    /// A number leaves the range of 64 bits, or is divided by zero.
    Range,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the text is too long"),
            Self::TooDeep => f.write_str("the text is too deeply nested"),
            Self::Syntax(position) => write!(f, "the text is wrong at byte {position}"),
            Self::Unknown(name) => write!(f, "{name} is unknown"),
            Self::NoKey(key) => write!(f, "no such key: {key}"),
            Self::WrongType => f.write_str("a value has the wrong type"),
            Self::Range => f.write_str("a number is out of range"),
        }
    }
}

impl Condition {
    /// Reads a condition.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        parse::parse(text).map(Self)
    }

    /// Returns whether the condition holds for a device of a driver.
    pub(super) fn holds(&self, driver: &Text, device: &Device) -> Result<bool, Fault> {
        eval::holds(&self.0, driver, device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Device {
        let text = r#"{"name":"d","attributes":{"model":{"string":"big"},"gpu.example.com/cores":{"int":8},
            "other.example.com/fast":{"bool":true},"rel":{"version":"1.10.0"}},
            "capacity":{"memory":{"value":"16Gi"}}}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn conditions_hold_or_not() {
        let domain = r#"device.attributes["gpu.example.com"]"#;
        for (condition, expected) in [
            (r#"device.driver == "gpu.example.com""#.to_owned(), true),
            (r"device.driver != 'gpu.example.com'".to_owned(), false),
            (format!(r#"{domain}.model == "big" && {domain}["cores"] >= 8"#), true),
            (format!("{domain}.cores + 2 * 3 == 14"), true),
            (format!("!({domain}.cores < 8) || false"), true),
            (format!(r#"{domain}.model in ["small", "big"]"#), true),
            (format!(r#""model" in {domain} && !("x" in {domain})"#), true),
            (format!("has({domain}.model) && !has({domain}.gone)"), true),
            (format!("has({domain}.gone) ? {domain}.gone == 1 : true"), true),
            (format!(r#"{domain}.model.startsWith("bi") && {domain}.model.size() == 3"#), true),
            (r#"device.attributes["other.example.com"].fast"#.to_owned(), true),
            (r#"device.attributes["none.example.com"].fast || true"#.to_owned(), true),
            (
                r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("16Gi")) == 0"#
                    .to_owned(),
                true,
            ),
            (
                r#"device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("20Gi"))"#
                    .to_owned(),
                false,
            ),
            (format!(r#"{domain}.rel.compareTo(semver("1.9.0")) > 0"#), true),
        ] {
            let parsed = Condition::parse(&condition).unwrap();
            let result = parsed.holds(&"gpu.example.com".into(), &device());
            assert_eq!(result, Ok(expected), "{condition}");
        }
    }

    #[test]
    fn a_missing_attribute_is_a_fault_unless_the_rest_decides() {
        let holds = |text: &str| {
            Condition::parse(text).unwrap().holds(&"gpu.example.com".into(), &device())
        };
        let missing = r#"device.attributes["gpu.example.com"].gone == "x""#;
        assert_eq!(holds(missing), Err(Fault::NoKey("gone".to_owned())));
        assert_eq!(holds(&format!("{missing} && device.driver == 'x'")), Ok(false));
        assert_eq!(holds(&format!("{missing} || device.driver != 'x'")), Ok(true));
        assert_eq!(holds("1"), Err(Fault::WrongType));
        assert_eq!(holds("9223372036854775807 + 1 == 0"), Err(Fault::Range));
        assert_eq!(holds("1 / 0 == 0"), Err(Fault::Range));
    }

    #[test]
    fn other_texts_are_faults() {
        for text in
            ["", "device.", "a b", "(true", "'x", "1 +", "true &", "[1, ", "?", "\"\\q\"", "é"]
        {
            assert!(Condition::parse(text).is_err(), "{text:?}");
        }
        assert!(matches!(Condition::parse(&"(".repeat(9000)), Err(Fault::TooDeep)));
        assert!(matches!(Condition::parse(&"!".repeat(9000)), Err(Fault::TooDeep)));
        assert!(matches!(Condition::parse(&"x".repeat(20_000)), Err(Fault::TooLong)));
        let chain = format!("true{}", " && true".repeat(1000));
        let deep =
            Condition::parse(&chain).map(|it| it.holds(&Text::default(), &Device::default()));
        assert!(matches!(deep, Err(Fault::TooDeep) | Ok(Ok(true))));
    }
}
