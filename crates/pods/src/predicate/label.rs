//! Whether labels satisfy selectors, and whether texts are keys or values of labels.

use crate::object::{
    LabelOperator, LabelRequirement, LabelSelector, Labels, List, Node, NodeSelector,
    NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm, Text,
};

/// Field of a node that selectors can name.
pub(super) const NAME_FIELD: &str = "metadata.name";

/// Longest name of a key, and longest value, in bytes.
const MAX_LABEL: usize = 63;

/// Longest domain of a key, in bytes.
const MAX_DOMAIN: usize = 253;

/// Returns whether the labels satisfy the selector. A selector with a faulty requirement selects nothing.
pub(super) fn selects(selector: &LabelSelector, labels: &Labels) -> bool {
    let has = |(key, value): (&Text, &Text)| labels.get(key) == Some(value);
    selector.match_labels.iter().all(has)
        && selector.match_expressions.iter().all(|requirement| holds(requirement, labels))
}

/// Returns whether the labels satisfy the selector. An absent selector selects nothing.
pub(super) fn selects_some(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selects(selector, labels))
}

/// Returns whether a selector has no conditions.
pub(super) fn is_everything(selector: &LabelSelector) -> bool {
    selector.match_labels.is_empty() && selector.match_expressions.is_empty()
}

fn holds(requirement: &LabelRequirement, labels: &Labels) -> bool {
    let LabelRequirement { key, operator, values } = requirement;
    let value = labels.get(key);
    match operator {
        LabelOperator::In => value.is_some_and(|value| values.contains(value)),
        LabelOperator::NotIn => {
            !values.is_empty() && value.is_none_or(|value| !values.contains(value))
        }
        LabelOperator::Exists => values.is_empty() && value.is_some(),
        LabelOperator::DoesNotExist => values.is_empty() && value.is_none(),
        LabelOperator::Unknown => false,
    }
}

/// Returns whether one term selects the node. Without terms, no node is selected.
pub(super) fn selects_node(selector: &NodeSelector, node: &Node) -> bool {
    let Node { metadata, .. } = node;
    selects_labels(selector, &metadata.labels, Some(&metadata.name))
}

/// Returns whether one term selects a node with these labels. Without a name, conditions on fields hold.
pub(super) fn selects_labels(selector: &NodeSelector, labels: &Labels, name: Option<&str>) -> bool {
    selector.node_selector_terms.iter().any(|term| term_selects(term, labels, name))
}

fn term_selects(term: &NodeSelectorTerm, labels: &Labels, name: Option<&str>) -> bool {
    let NodeSelectorTerm { match_expressions, match_fields } = term;
    // A term without conditions selects nothing.
    let has_conditions = !match_expressions.is_empty() || !match_fields.is_empty();
    has_conditions
        && match_expressions.iter().all(|requirement| label_holds(requirement, labels))
        && match_fields.iter().all(|requirement| field_holds(requirement, name))
}

/// Returns whether a requirement holds. A requirement that Kubernetes cannot parse never holds.
fn label_holds(requirement: &NodeSelectorRequirement, labels: &Labels) -> bool {
    let NodeSelectorRequirement { key, operator, values } = requirement;
    if !is_label_key(key) || !values.iter().all(|value| is_label_value(value)) {
        return false;
    }
    let value = labels.get(key);
    let number = |holds: fn(i64, i64) -> bool| {
        let ([limit], Some(value)) = (&**values, value) else { return false };
        let (Some(limit), Some(value)) = (parse_integer(limit), parse_integer(value)) else {
            return false;
        };
        holds(value, limit)
    };
    match operator {
        NodeSelectorOperator::In => value.is_some_and(|value| values.contains(value)),
        NodeSelectorOperator::NotIn => {
            !values.is_empty() && value.is_none_or(|value| !values.contains(value))
        }
        NodeSelectorOperator::Exists => values.is_empty() && value.is_some(),
        NodeSelectorOperator::DoesNotExist => values.is_empty() && value.is_none(),
        NodeSelectorOperator::Gt => number(|value, limit| value > limit),
        NodeSelectorOperator::Lt => number(|value, limit| value < limit),
        NodeSelectorOperator::Unknown => false,
    }
}

fn field_holds(requirement: &NodeSelectorRequirement, name: Option<&str>) -> bool {
    let NodeSelectorRequirement { key, operator, values } = requirement;
    let [value] = &**values else { return false };
    let is_equal = name.map(|name| value.as_str() == if *key == NAME_FIELD { name } else { "" });
    match operator {
        NodeSelectorOperator::In => is_equal.unwrap_or(true),
        NodeSelectorOperator::NotIn => !is_equal.unwrap_or(false),
        NodeSelectorOperator::Exists
        | NodeSelectorOperator::DoesNotExist
        | NodeSelectorOperator::Gt
        | NodeSelectorOperator::Lt
        | NodeSelectorOperator::Unknown => false,
    }
}

/// Returns whether labels have one of the values of a key. Without values, or with a faulty one, the result is false.
pub(super) fn has_one_of(labels: &Labels, key: &str, values: &List<Text>) -> bool {
    is_label_key(key)
        && values.iter().all(|value| is_label_value(value))
        && labels.get(key).is_some_and(|value| values.contains(value))
}

/// Reads a decimal integer with an optional sign.
fn parse_integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Returns whether a text can be the value of a label.
fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_label_name(text)
}

/// Returns whether a text can be the key of a label: a name, optionally after a domain and a slash.
pub(super) fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        None => is_label_name(text),
        Some((domain, name)) => is_label_name(name) && is_domain(domain),
    }
}

fn is_label_name(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MAX_LABEL
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_domain(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        let is_inner = |byte: &u8| is_end(Some(byte)) || *byte == b'-';
        is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(is_inner)
    };
    text.len() <= MAX_DOMAIN && text.split('.').all(is_part)
}
