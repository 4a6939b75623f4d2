//! Expression to result.
//!
//! Functions: `has`, `size`, `quantity`, `semver`, `startsWith`, `endsWith`, `contains`, `compareTo`, `isLessThan`,
//! and `isGreaterThan`.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::object::{Attribute, Device, Text};
use crate::quantity::Quantity;

use super::Fault;
use super::parse::{Expression, Operator};

/// A value.
#[derive(Clone, Debug, PartialEq)]
enum Value<'a> {
    Bool(bool),
    Int(i64),
    String(Cow<'a, str>),
    Quantity(Quantity),
    Version(Version),
    List(Vec<Self>),
    Device,
    Attributes,
    Capacities,
    AttributesOf(String),
    CapacitiesOf(String),
}

impl Value<'_> {
    fn truth(&self) -> Result<bool, Fault> {
        if let Self::Bool(truth) = self { Ok(*truth) } else { Err(Fault::WrongType) }
    }

    fn int(&self) -> Result<i64, Fault> {
        if let Self::Int(number) = self { Ok(*number) } else { Err(Fault::WrongType) }
    }

    fn text(&self) -> Result<&str, Fault> {
        if let Self::String(text) = self { Ok(text) } else { Err(Fault::WrongType) }
    }

    /// Returns the number of characters of a text, or of items of a list.
    fn size(&self) -> Result<i64, Fault> {
        let size =
            if let Self::List(items) = self { items.len() } else { self.text()?.chars().count() };
        i64::try_from(size).map_err(|_| Fault::Range)
    }
}

/// A semantic version. The part after the numbers is compared as text.
#[derive(Clone, Debug, PartialEq)]
struct Version {
    numbers: [u64; 3],
    prerelease: String,
}

impl Version {
    fn parse(text: &str) -> Result<Self, Fault> {
        let core = text.split('+').next().unwrap_or_default();
        let (core, prerelease) = core.split_once('-').unwrap_or((core, ""));
        let mut parts = core.split('.').map(str::parse);
        let mut number = || parts.next().and_then(Result::ok).ok_or(Fault::WrongType);
        let numbers = [number()?, number()?, number()?];
        Ok(Self { numbers, prerelease: prerelease.to_owned() })
    }

    fn compare(&self, other: &Self) -> Ordering {
        // A version before a release is less than the release.
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| self.prerelease.is_empty().cmp(&other.prerelease.is_empty()))
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

struct Scope<'a> {
    driver: &'a Text,
    device: &'a Device,
}

/// Returns whether the expression is true for the device.
pub(super) fn holds(
    expression: &Expression,
    driver: &Text,
    device: &Device,
) -> Result<bool, Fault> {
    Scope { driver, device }.truth(expression)
}

impl<'a> Scope<'a> {
    fn truth(&self, expression: &'a Expression) -> Result<bool, Fault> {
        self.value(expression)?.truth()
    }

    fn value(&self, expression: &'a Expression) -> Result<Value<'a>, Fault> {
        match expression {
            Expression::Bool(truth) => Ok(Value::Bool(*truth)),
            Expression::Int(number) => Ok(Value::Int(*number)),
            Expression::String(text) => Ok(Value::String(Cow::Borrowed(text))),
            Expression::List(items) => {
                let values: Result<_, _> = items.iter().map(|item| self.value(item)).collect();
                values.map(Value::List)
            }
            Expression::Name(name) if name == "device" => Ok(Value::Device),
            Expression::Name(name) => Err(Fault::Unknown(name.clone())),
            Expression::Member(object, name) => self.member(self.value(object)?, name),
            Expression::Index(object, key) => self.entry(self.value(object)?, &self.value(key)?),
            Expression::Call { receiver, name, arguments } => {
                self.call(receiver.as_deref(), name, arguments)
            }
            Expression::Not(operand) => Ok(Value::Bool(!self.truth(operand)?)),
            Expression::Negate(operand) => {
                let number = self.value(operand)?.int()?;
                number.checked_neg().map(Value::Int).ok_or(Fault::Range)
            }
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expression::Choose(condition, yes, no) => {
                self.value(if self.truth(condition)? { yes } else { no })
            }
        }
    }

    /// Returns an item of a list, or an entry of a map.
    fn entry(&self, object: Value<'a>, key: &Value<'a>) -> Result<Value<'a>, Fault> {
        if let Value::List(items) = object {
            let index = key.int()?;
            let item = usize::try_from(index).ok().and_then(|it| items.into_iter().nth(it));
            return item.ok_or_else(|| Fault::NoKey(index.to_string()));
        }
        let name = key.text()?;
        if object == Value::Attributes {
            Ok(Value::AttributesOf(name.to_owned()))
        } else if object == Value::Capacities {
            Ok(Value::CapacitiesOf(name.to_owned()))
        } else {
            self.member(object, name)
        }
    }

    fn member(&self, object: Value<'a>, name: &str) -> Result<Value<'a>, Fault> {
        let missing = || Fault::NoKey(name.to_owned());
        match object {
            Value::Device => match name {
                "driver" => Ok(Value::String(self.driver.to_string().into())),
                "attributes" => Ok(Value::Attributes),
                "capacity" => Ok(Value::Capacities),
                "allowMultipleAllocations" => {
                    Ok(Value::Bool(self.device.allow_multiple_allocations == Some(true)))
                }
                other => Err(Fault::Unknown(other.to_owned())),
            },
            Value::AttributesOf(domain) => {
                match self.find(&self.device.attributes, &domain, name).ok_or_else(missing)? {
                    Attribute::String(text) => Ok(Value::String(text.to_string().into())),
                    Attribute::Int(number) => Ok(Value::Int(*number)),
                    Attribute::Bool(truth) => Ok(Value::Bool(*truth)),
                    Attribute::Version(text) => Version::parse(text).map(Value::Version),
                    Attribute::None => Err(missing()),
                }
            }
            Value::CapacitiesOf(domain) => {
                let capacity = self.find(&self.device.capacity, &domain, name);
                Ok(Value::Quantity(capacity.ok_or_else(missing)?.value))
            }
            Value::Bool(_)
            | Value::Int(_)
            | Value::String(_)
            | Value::Quantity(_)
            | Value::Version(_)
            | Value::List(_)
            | Value::Attributes
            | Value::Capacities => Err(Fault::WrongType),
        }
    }

    /// Returns an entry of the device. A name without domain is in the domain of the driver.
    fn find<'m, V>(
        &self,
        map: &'m crate::object::Map<V>,
        domain: &str,
        name: &str,
    ) -> Option<&'m V> {
        let qualified = map.get(&format!("{domain}/{name}"));
        qualified.or_else(|| if *self.driver == *domain { map.get(name) } else { None })
    }

    fn has(&self, object: Value<'a>, name: &str) -> Result<bool, Fault> {
        match self.member(object, name) {
            Ok(_) => Ok(true),
            Err(Fault::NoKey(_)) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    fn call(
        &self,
        receiver: Option<&'a Expression>,
        name: &str,
        arguments: &'a [Expression],
    ) -> Result<Value<'a>, Fault> {
        if let ("has", None, [Expression::Member(object, name)]) = (name, receiver, arguments) {
            return self.has(self.value(object)?, name).map(Value::Bool);
        }
        let operands = receiver.into_iter().chain(arguments);
        let values = operands.map(|operand| self.value(operand)).collect::<Result<Vec<_>, _>>()?;
        match (name, values.as_slice()) {
            ("size", [value]) => value.size().map(Value::Int),
            ("quantity", [text]) => {
                text.text()?.parse().map(Value::Quantity).map_err(|_| Fault::WrongType)
            }
            ("semver", [text]) => Version::parse(text.text()?).map(Value::Version),
            ("startsWith", [text, part]) => Ok(Value::Bool(text.text()?.starts_with(part.text()?))),
            ("endsWith", [text, part]) => Ok(Value::Bool(text.text()?.ends_with(part.text()?))),
            ("contains", [text, part]) => Ok(Value::Bool(text.text()?.contains(part.text()?))),
            ("compareTo", [one, two]) => Ok(Value::Int(compare(one, two)? as i64)),
            ("isLessThan", [one, two]) => Ok(Value::Bool(compare(one, two)?.is_lt())),
            ("isGreaterThan", [one, two]) => Ok(Value::Bool(compare(one, two)?.is_gt())),
            _ => Err(Fault::Unknown(name.to_owned())),
        }
    }

    fn binary(
        &self,
        operator: Operator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Result<Value<'a>, Fault> {
        let values = || Ok((self.value(left)?, self.value(right)?));
        let ordering = |holds: fn(Ordering) -> bool| {
            let (one, two) = values()?;
            compare(&one, &two).map(|ordering| Value::Bool(holds(ordering)))
        };
        let number = |result: fn(i64, i64) -> Option<i64>| {
            let (one, two) = values()?;
            result(one.int()?, two.int()?).map(Value::Int).ok_or(Fault::Range)
        };
        match operator {
            Operator::And => self.decided(left, right, false),
            Operator::Or => self.decided(left, right, true),
            Operator::Equal => values().map(|(one, two)| Value::Bool(one == two)),
            Operator::Unequal => values().map(|(one, two)| Value::Bool(one != two)),
            Operator::Less => ordering(Ordering::is_lt),
            Operator::LessOrEqual => ordering(Ordering::is_le),
            Operator::Greater => ordering(Ordering::is_gt),
            Operator::GreaterOrEqual => ordering(Ordering::is_ge),
            Operator::In => {
                let (value, object) = values()?;
                self.contains(object, &value).map(Value::Bool)
            }
            Operator::Add => number(i64::checked_add),
            Operator::Subtract => number(i64::checked_sub),
            Operator::Multiply => number(i64::checked_mul),
            Operator::Divide => number(i64::checked_div),
            Operator::Remainder => number(i64::checked_rem),
        }
    }

    /// Returns whether a list has the value, or a map has the key.
    fn contains(&self, object: Value<'a>, value: &Value<'a>) -> Result<bool, Fault> {
        if let Value::List(items) = object {
            return Ok(items.contains(value));
        }
        let key = value.text()?;
        // Every domain can be read; it has no entries if the device has none.
        let has_all_keys = object == Value::Attributes || object == Value::Capacities;
        if has_all_keys { Ok(true) } else { self.has(object, key) }
    }

    /// Evaluates both sides. If one of them is `decisive`, that is the result, also if the other is a fault.
    fn decided(
        &self,
        left: &'a Expression,
        right: &'a Expression,
        decisive: bool,
    ) -> Result<Value<'a>, Fault> {
        let one = self.truth(left);
        if one == Ok(decisive) {
            return Ok(Value::Bool(decisive));
        }
        let two = self.truth(right);
        if two == Ok(decisive) {
            return Ok(Value::Bool(decisive));
        }
        one.and(two).map(Value::Bool)
    }
}

fn compare(one: &Value<'_>, two: &Value<'_>) -> Result<Ordering, Fault> {
    if let (Value::Bool(one), Value::Bool(two)) = (one, two) {
        Ok(one.cmp(two))
    } else if let (Value::Quantity(one), Value::Quantity(two)) = (one, two) {
        Ok(one.cmp(two))
    } else if let (Value::Version(one), Value::Version(two)) = (one, two) {
        Ok(one.compare(two))
    } else if let Value::Int(one) = one {
        Ok(one.cmp(&two.int()?))
    } else {
        Ok(one.text()?.cmp(two.text()?))
    }
}
