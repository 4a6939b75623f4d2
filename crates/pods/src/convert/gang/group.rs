//! Task groups of an application.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::convert::amounts::{Amounts, PODS, convert, core_name};
use crate::convert::json::Fields;
use crate::convert::text::cut;
use crate::object::{Affinity, List, Text, Toleration, TopologySpreadConstraint};
use crate::quantity::Quantity;

use super::fault::GroupFault;

/// Longest part of a group name in the name of a placeholder, in bytes.
pub(super) const GROUP_NAME_MAX: usize = 20;

/// Members of a gang that are placed alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGroup {
    /// Name of the group, unique in its application.
    pub name: Text,
    /// Number of members that must have a node before any member starts. At least 1.
    pub min_member: u32,
    /// Amounts of one member, by the names of Kubernetes, as written.
    pub min_resource: Vec<(Text, GroupQuantity)>,
    /// Labels of the placeholders.
    pub labels: Vec<(Text, Text)>,
    /// Annotations of the placeholders.
    pub annotations: Vec<(Text, Text)>,
    /// Labels that the nodes must have.
    pub node_selector: Vec<(Text, Text)>,
    /// Other fields of the pod specification, as JSON: tolerations, affinity, and spread constraints.
    pub pod_fields: Vec<(&'static str, Value)>,
}

/// An amount of a task group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupQuantity {
    /// Text in the annotation.
    pub text: Text,
    /// Value of the text.
    pub quantity: Quantity,
}

/// Reads the task groups of an annotation. One fault voids the whole list.
///
/// # Errors
///
/// Returns the first fault.
pub fn parse_groups(text: &str) -> Result<Vec<TaskGroup>, GroupFault> {
    let groups: Option<Vec<Option<Fields>>> =
        serde_json::from_str(text).map_err(|error| GroupFault::NoArray(error.to_string()))?;
    let groups = groups.unwrap_or_default().into_iter();
    let groups: Vec<TaskGroup> = groups
        .map(|fields| parse_group(fields.unwrap_or_default()))
        .collect::<Result<_, GroupFault>>()?;
    let mut names = BTreeSet::new();
    if let Some(again) = groups.iter().find(|group| !names.insert(&group.name)) {
        return Err(GroupFault::DuplicateName { group: again.name.clone() });
    }
    placeholder_ask(&groups)?;
    Ok(groups)
}

/// Returns the amounts of all placeholders of these groups.
///
/// # Errors
///
/// Returns a fault if an amount does not fit 64 bits.
pub fn placeholder_ask(groups: &[TaskGroup]) -> Result<Amounts, GroupFault> {
    let mut total = Amounts::default();
    for group in groups {
        let members = i64::from(group.min_member);
        let mut add = |name: &str, amount: i64| {
            let resource = || Text::from(name);
            let scaled = amount.checked_mul(members);
            let scaled = scaled.ok_or_else(|| GroupFault::Overflow {
                group: group.name.clone(),
                resource: resource(),
            })?;
            let sum = total.get(name).unwrap_or(0).checked_add(scaled);
            total.set(name, sum.ok_or_else(|| GroupFault::SumOverflow { resource: resource() })?);
            Ok(())
        };
        for (name, amount) in &group.min_resource {
            let (name, amount) = convert(name, amount.quantity);
            add(name, amount)?;
        }
        add(PODS, 1)?;
    }
    Ok(total)
}

fn parse_group(fields: Fields) -> Result<TaskGroup, GroupFault> {
    let mut draft = Draft::default();
    for (key, value) in fields.0 {
        draft.read(&key, value)?;
    }
    draft.finish()
}

/// A task group while its fields are read.
#[derive(Default)]
struct Draft {
    name: Text,
    min_member: i64,
    min_resource: Option<Vec<(Text, GroupQuantity)>>,
    labels: Vec<(Text, Text)>,
    annotations: Vec<(Text, Text)>,
    node_selector: Vec<(Text, Text)>,
    pod_fields: Vec<(&'static str, Value)>,
}

impl Draft {
    /// Reads a field. Keys are in any case, unknown keys are skipped, and null is absent.
    fn read(&mut self, key: &str, value: Value) -> Result<(), GroupFault> {
        if value.is_null() {
            return Ok(());
        }
        let wrong = |field: &'static str| GroupFault::WrongShape { field };
        match key.to_ascii_lowercase().as_str() {
            "name" => self.name = read_text(value).ok_or_else(|| wrong("name"))?,
            "minmember" => {
                let members = value.as_i64().filter(|members| i32::try_from(*members).is_ok());
                self.min_member = members.ok_or_else(|| wrong("minMember"))?;
            }
            "minresource" => self.min_resource = Some(read_quantities(value)?),
            "labels" => self.labels = read_texts(value).ok_or_else(|| wrong("labels"))?,
            "annotations" => {
                self.annotations = read_texts(value).ok_or_else(|| wrong("annotations"))?;
            }
            "nodeselector" => {
                self.node_selector = read_texts(value).ok_or_else(|| wrong("nodeSelector"))?;
            }
            "tolerations" => self.read_field::<List<Toleration>>("tolerations", value)?,
            // A list is a fault, although the decoder would read it as the fields in their order.
            "affinity" if !value.is_object() => return Err(wrong("affinity")),
            "affinity" => self.read_field::<Affinity>("affinity", value)?,
            "topologyspreadconstraints" => {
                let field = "topologySpreadConstraints";
                self.read_field::<List<TopologySpreadConstraint>>(field, value)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps a field of the pod specification if its shape is right.
    fn read_field<T: for<'de> serde::Deserialize<'de>>(
        &mut self,
        field: &'static str,
        value: Value,
    ) -> Result<(), GroupFault> {
        let has_lists = value.as_array().is_some_and(|items| items.iter().any(Value::is_array));
        if has_lists || T::deserialize(&value).is_err() {
            return Err(GroupFault::WrongShape { field });
        }
        self.pod_fields.retain(|(other, _)| *other != field);
        self.pod_fields.push((field, value));
        Ok(())
    }

    fn finish(self) -> Result<TaskGroup, GroupFault> {
        if self.name.is_empty() {
            return Err(GroupFault::NoName);
        }
        let group = self.name;
        if !fits_pod_name(cut(&group, GROUP_NAME_MAX)) {
            return Err(GroupFault::UnfitName { group });
        }
        let Some(min_resource) = self.min_resource else {
            return Err(GroupFault::NoResource { group });
        };
        let min_member = u32::try_from(self.min_member).ok().filter(|members| *members > 0);
        let Some(min_member) = min_member else { return Err(GroupFault::NoMember { group }) };
        check_quantities(&group, &min_resource)?;
        Ok(TaskGroup {
            name: group,
            min_member,
            min_resource,
            labels: self.labels,
            annotations: self.annotations,
            node_selector: self.node_selector,
            pod_fields: self.pod_fields,
        })
    }
}

/// Checks the amounts of a group: each resource once, none below zero, and each within 64 bits.
fn check_quantities(group: &Text, quantities: &[(Text, GroupQuantity)]) -> Result<(), GroupFault> {
    let mut names = BTreeSet::from([PODS]);
    for (resource, GroupQuantity { text, quantity }) in quantities {
        let at = || (group.clone(), resource.clone());
        if resource.is_empty() {
            return Err(GroupFault::EmptyResource { group: group.clone() });
        }
        if quantity.is_negative() {
            let (group, resource) = at();
            return Err(GroupFault::Negative { group, resource });
        }
        if is_saturated(resource, text, *quantity) {
            let (group, resource) = at();
            return Err(GroupFault::Overflow { group, resource });
        }
        if !names.insert(core_name(resource)) {
            let (group, resource) = at();
            return Err(GroupFault::DuplicateResource { group, resource });
        }
    }
    Ok(())
}

/// Spelling of the greatest amount. A quantity saturates, so only its text tells a greater one.
const GREATEST: &str = "9223372036854775807";

/// Returns whether the amount is beyond 64 bits in the unit of the core, which is a thousandth for CPU.
fn is_saturated(resource: &str, text: &str, quantity: Quantity) -> bool {
    let is_cpu = core_name(resource) != resource;
    let max = if is_cpu { i64::MAX / 1000 } else { i64::MAX };
    quantity.value() > max || quantity.value() == i64::MAX && text != GREATEST
}

/// Returns whether a group name can be part of the name of a pod.
fn fits_pod_name(name: &str) -> bool {
    let valid = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    // The name stands between hyphens, which must not touch a dot.
    name.bytes().all(valid)
        && format!("x-{name}-x")
            .split('.')
            .all(|part| !part.is_empty() && !part.starts_with('-') && !part.ends_with('-'))
}

fn read_text(value: Value) -> Option<Text> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Null => Some(Text::default()),
        _ => None,
    }
}

fn read_texts(value: Value) -> Option<Vec<(Text, Text)>> {
    let Value::Object(texts) = value else { return None };
    texts.into_iter().map(|(key, value)| Some((key.into(), read_text(value)?))).collect()
}

fn read_quantities(value: Value) -> Result<Vec<(Text, GroupQuantity)>, GroupFault> {
    let Value::Object(quantities) = value else {
        return Err(GroupFault::WrongShape { field: "minResource" });
    };
    let read = |(resource, value): (String, Value)| {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Null => "0".to_owned(),
            _ => return Err(GroupFault::WrongShape { field: "minResource" }),
        };
        match text.parse() {
            Ok(quantity) => Ok((resource.into(), GroupQuantity { text: text.into(), quantity })),
            Err(_) => Err(GroupFault::NoQuantity { resource: resource.into(), text: text.into() }),
        }
    };
    quantities.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::fits_pod_name;

    #[test]
    fn a_group_name_fits_the_name_of_a_pod() {
        for (name, fits) in [
            ("w", true),
            ("a-b", true),
            ("-a-", true),
            ("a.b", true),
            ("7", true),
            ("a_b", false),
            ("W", false),
            (".a", false),
            ("a.", false),
            ("a..b", false),
            ("a.-b", false),
            ("a-.b", false),
            ("é", false),
        ] {
            assert_eq!(fits_pod_name(name), fits, "{name}");
        }
    }
}
