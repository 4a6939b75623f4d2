//! What the annotations of a namespace mean for the queue of its applications.

use std::fmt;

use serde_json::Value;

use crate::object::{Namespace, Text};
use crate::quantity::Quantity;

use super::amounts::Amounts;
use super::key;
use super::text::parse_integer;

/// Limits of the queue of a namespace. They take effect with the next application of the namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceLimits {
    /// Maximum of the queue.
    pub quota: Option<Amounts>,
    /// Guaranteed amounts of the queue.
    pub guaranteed: Option<Amounts>,
    /// Maximum number of running applications, as written.
    pub max_applications: Option<Text>,
    /// Parent of the queue.
    pub parent: Option<Text>,
}

/// An annotation that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredAnnotation {
    /// Key of the annotation.
    pub key: &'static str,
    /// What is wrong with the value.
    pub fault: QuotaFault,
}

impl fmt::Display for IgnoredAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "annotation {} is ignored: {}", self.key, self.fault)
    }
}

/// Why amounts in an annotation are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuotaFault {
    /// The value is no JSON object whose values are texts.
    NoObject,
    /// The value of a resource is no quantity.
    NoQuantity {
        /// Name of the resource.
        resource: Text,
    },
    /// The value of a resource is below zero.
    Negative {
        /// Name of the resource.
        resource: Text,
    },
    /// The number of applications is no integer of 64 bits that is at least zero.
    NoCount,
    /// Another annotation takes precedence.
    Superseded,
}

impl fmt::Display for QuotaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str(
                r#"the value is no JSON object of texts. Write an object such as {"cpu":"4"}."#,
            ),
            Self::NoQuantity { resource } => {
                write!(f, "the amount of {resource} is no quantity. Write an amount such as 4Gi.")
            }
            Self::Negative { resource } => {
                write!(f, "the amount of {resource} is below zero. Write at least 0.")
            }
            Self::NoCount => f.write_str(
                "the value is no number of applications. Write an integer of at least 0.",
            ),
            Self::Superseded => {
                write!(f, "{} takes precedence. Remove one of them.", key::NAMESPACE_QUOTA)
            }
        }
    }
}

/// Reads the annotations of a namespace. Returns the limits, and the annotations that are ignored.
pub fn namespace_limits(namespace: &Namespace) -> (NamespaceLimits, Vec<IgnoredAnnotation>) {
    let mut ignored = Vec::new();
    let text = |key: &str| namespace.metadata.annotations.get(key).filter(|text| !text.is_empty());
    let mut read = |key: &'static str, parse: fn(&str) -> Result<Option<Amounts>, QuotaFault>| {
        let amounts = parse(text(key)?);
        amounts.unwrap_or_else(|fault| {
            ignored.push(IgnoredAnnotation { key, fault });
            None
        })
    };
    let guaranteed = read(key::NAMESPACE_GUARANTEED, parse_amounts);
    let quota = if text(key::NAMESPACE_QUOTA).is_some() {
        read(key::NAMESPACE_QUOTA, parse_amounts)
    } else {
        old_quota(&text, &mut ignored)
    };
    if text(key::NAMESPACE_QUOTA).is_some() {
        let old = [key::NAMESPACE_CPU_OLD, key::NAMESPACE_MEMORY_OLD].into_iter();
        let superseded = |key| IgnoredAnnotation { key, fault: QuotaFault::Superseded };
        ignored.extend(old.filter(|key| text(key).is_some()).map(superseded));
    }
    let max_applications = text(key::NAMESPACE_MAX_APPS).filter(|text| {
        let valid = parse_integer(text).is_some_and(|count| count >= 0);
        if !valid {
            let fault = QuotaFault::NoCount;
            ignored.push(IgnoredAnnotation { key: key::NAMESPACE_MAX_APPS, fault });
        }
        valid
    });
    let limits = NamespaceLimits {
        quota,
        guaranteed,
        max_applications: max_applications.cloned(),
        parent: text(key::NAMESPACE_PARENT).cloned(),
    };
    (limits, ignored)
}

/// Reads the quota in the old form. A fault in one of the two annotations voids both.
fn old_quota<'a>(
    text: &impl Fn(&str) -> Option<&'a Text>,
    ignored: &mut Vec<IgnoredAnnotation>,
) -> Option<Amounts> {
    let mut quantities = Vec::new();
    for (key, resource) in [(key::NAMESPACE_CPU_OLD, "cpu"), (key::NAMESPACE_MEMORY_OLD, "memory")]
    {
        let Some(text) = text(key) else { continue };
        match parse_quantity(resource, text) {
            Ok(quantity) => quantities.push((resource, quantity)),
            Err(fault) => {
                ignored.push(IgnoredAnnotation { key, fault });
                return None;
            }
        }
    }
    unless_zero(quantities.into_iter().collect())
}

fn parse_quantity(resource: &str, text: &str) -> Result<Quantity, QuotaFault> {
    let quantity: Quantity =
        text.parse().map_err(|_| QuotaFault::NoQuantity { resource: resource.into() })?;
    if quantity.is_negative() {
        return Err(QuotaFault::Negative { resource: resource.into() });
    }
    Ok(quantity)
}

fn parse_amounts(text: &str) -> Result<Option<Amounts>, QuotaFault> {
    // Of equal keys, the last one wins, as the decoder of the map has it.
    let object = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        Ok(Value::Null) => return Ok(None),
        Ok(_) | Err(_) => return Err(QuotaFault::NoObject),
    };
    let mut quantities = Vec::with_capacity(object.len());
    for (resource, value) in &object {
        let text = match value {
            Value::String(text) => text.as_str(),
            Value::Null => "",
            _ => return Err(QuotaFault::NoObject),
        };
        quantities.push((resource.as_str(), parse_quantity(resource, text)?));
    }
    Ok(unless_zero(quantities.into_iter().collect()))
}

/// Returns amounts of which at least one is not zero. A queue without amounts is not limited.
fn unless_zero(amounts: Amounts) -> Option<Amounts> {
    let limits = amounts.iter().any(|(_, amount)| amount != 0);
    limits.then_some(amounts)
}

/// Encodes amounts as the core reads them in a tag. A zero has no value.
pub fn encode_amounts(amounts: &Amounts) -> String {
    let resources = amounts.iter().map(|(name, amount)| {
        let value = if amount == 0 {
            serde_json::json!({})
        } else {
            serde_json::json!({ "value": amount })
        };
        (name.to_owned(), value)
    });
    let resources: serde_json::Map<_, _> = resources.collect();
    serde_json::json!({ "resources": resources }).to_string()
}
