//! Checks `nodelabels`: invalid labels, and labels to which a queue has no access. User headroom §10 (C18).

use headroom_core::config::NodeLabelsConfig;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{Queue, Text};

/// Longest label in bytes, as in Kubernetes.
const LABEL_MAX: usize = 63;

/// Checks all queues of a tree.
pub(super) fn check(root: &Queue, report: &mut Report) {
    below(root, (None, None), report);
    for child in &root.children {
        said_of_root_alone(child, report);
    }
}

/// Warns about `exclusive` and `lends` outside root, because both keys apply to a whole partition.
fn said_of_root_alone(queue: &Queue, report: &mut Report) {
    if let Some(block) = &queue.node_labels {
        for (key, labels) in [("exclusive", &block.exclusive), ("lends", &block.lends)] {
            let Some(first) = labels.first() else { continue };
            let message = format!("`{key}` has an effect only in the root queue");
            let warning = Diagnostic::warning(Code::NoEffect, first.span, message);
            report.push(
                warning.help("move the key to `nodelabels` of the root queue, or remove the key"),
            );
        }
    }
    for child in &queue.children {
        said_of_root_alone(child, report);
    }
}

/// Settings of the ancestors: the accessible labels, and the default.
type Above<'a> = (Option<&'a [Text]>, Option<&'a Text>);

fn below<'a>(queue: &'a Queue, above: Above<'a>, report: &mut Report) {
    let mut here = above;
    if let Some(block) = &queue.node_labels {
        let labels = block.accessible.as_deref();
        for label in labels.into_iter().flatten() {
            check_accessible(label, above.0, report);
        }
        let apart = block.exclusive.iter().chain(&block.lends);
        for label in apart.filter(|one| one.value != NodeLabelsConfig::ANY) {
            check_name(label, report);
        }
        if let Some(label) = block.default.as_ref().filter(|label| !label.value.is_empty()) {
            check_name(label, report);
        }
        for (label, _) in &block.capacities {
            check_name(label, report);
        }
        here = (labels.or(above.0), block.default.as_ref().or(above.1));
        for (label, _) in &block.capacities {
            if here.0.is_some_and(|labels| !allows(labels, &label.value)) {
                let message = format!(
                    "the queue has a fraction of label `{}`, but no access to this label",
                    label.value
                );
                let warning = Diagnostic::warning(Code::NoEffect, label.span, message);
                report.push(warning.help("add the label to `accessible`, or remove the fraction"));
            }
        }
        if let (Some(labels), Some(default)) = here
            && !default.value.is_empty()
            && !allows(labels, &default.value)
        {
            let message = format!(
                "`{}` is the default label, but the queue has no access to this label",
                default.value
            );
            let fault = Diagnostic::error(Code::NodeLabelAccess, default.span, message).help(
                "add the label to `accessible`, or set `default` to '' for nodes without a label",
            );
            report.push(fault);
        }
    }
    for child in &queue.children {
        below(child, here, report);
    }
}

fn check_accessible(label: &Text, above: Option<&[Text]>, report: &mut Report) {
    if label.value != NodeLabelsConfig::ANY {
        check_name(label, report);
    }
    if let Some(above) = above.filter(|above| !allows(above, &label.value)) {
        let message = format!("a queue above has no access to label `{}`", label.value);
        let mut fault = Diagnostic::error(Code::NodeLabelAccess, label.span, message)
            .help("remove the label, or add the label to `accessible` of the queue above");
        if let Some(first) = above.first() {
            fault = fault.also(first.span, "`accessible` of the queue above");
        }
        report.push(fault);
    }
}

/// Returns whether a list has a label, or all labels.
fn allows(labels: &[Text], label: &str) -> bool {
    labels.iter().any(|one| one.value == label || one.value == NodeLabelsConfig::ANY)
}

/// Returns whether a text is a valid label.
pub(crate) fn is_label(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    begins && text.len() <= LABEL_MAX && text.bytes().all(legal)
}

fn check_name(label: &Text, report: &mut Report) {
    let text = &label.value;
    if is_label(text) {
        return;
    }
    let message = format!("`{text}` is not a valid name for a node label");
    let fault = Diagnostic::error(Code::NodeLabelName, label.span, message).help(
        "a label has at most 63 characters, begins with a letter or digit, and continues with \
         letters, digits and - _ .; '*' alone means all labels",
    );
    report.push(fault);
}
