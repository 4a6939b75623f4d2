//! Checks fractions of the nodes of labels: `nodelabels.<label>`, in addition to `capacity` and with its mode. User
//! headroom §4 and §10 (C18).

use std::collections::BTreeMap;

use crate::capacity::{Mode, mode, of_label};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{Capacity, LabelPart, Queue, Text};

use super::{check_block, is_whole};

/// Checks the labels of a queue, and the sums over its children.
pub(super) fn check_queue(queue: &Queue, is_root: bool, report: &mut Report) {
    for (label, block) in capacities(queue) {
        if is_root {
            let message =
                format!("the root queue must not have a fraction of label `{}`", label.value);
            let fault = Diagnostic::error(Code::CapacityRoot, label.span, message);
            report.push(fault.help("remove the fraction; root has all nodes of every label"));
            continue;
        }
        let name = format!("label `{}` of queue `{}`", label.value, queue.name.value);
        match queue.capacity.as_deref().map(|plain| (plain, mode(plain))) {
            None => report.push(no_capacity(label, queue)),
            Some((plain, Some(Mode::Absolute))) => report.push(absolute(label, plain, &name)),
            // A missing mode is already reported.
            Some((_, None)) => {}
            Some((plain, Some(_))) => check_block(&of_label(block, Some(plain)), &name, report),
        }
    }
    check_sums(queue, report);
}

fn capacities(queue: &Queue) -> &[(Text, LabelPart)] {
    queue.node_labels.as_deref().map_or(&[], |labels| &labels.capacities)
}

fn no_capacity(label: &Text, queue: &Queue) -> Diagnostic {
    let message = format!(
        "queue `{}` has a fraction of label `{}`, but no `capacity`",
        queue.name.value, label.value
    );
    Diagnostic::error(Code::NodeLabelCapacity, label.span, message).help(format!(
        "set `capacity` for the queue, whose mode also applies to labels, or set amounts of \
         vcore@{0} and memory@{0} in `resources`",
        label.value
    ))
}

fn absolute(label: &Text, plain: &Capacity, name: &str) -> Diagnostic {
    let message =
        format!("{name} has a fraction, but `capacity` of the queue has `mode: absolute`");
    Diagnostic::error(Code::NodeLabelCapacity, label.span, message)
        .also(plain.span, "by amounts")
        .help(format!(
            "set amounts of vcore@{0} and memory@{0} in `resources.guaranteed` and `resources.max`",
            label.value
        ))
}

/// Checks that the percentages of a label add up to 100.
fn check_sums(parent: &Queue, report: &mut Report) {
    let mut labels: BTreeMap<&str, (Span, Vec<&Text>)> = BTreeMap::new();
    for child in &parent.children {
        let by_percent = child.capacity.as_deref().and_then(mode) == Some(Mode::Percent);
        for (label, block) in capacities(child).iter().filter(|_| by_percent) {
            let (_, values) = labels.entry(&label.value).or_insert((label.span, Vec::new()));
            values.extend(&block.value);
        }
    }
    for (label, (first, values)) in labels {
        let message = |sum| {
            let parent = &parent.name.value;
            format!(
                "the percentages of label `{label}` of the queues below `{parent}` add up to \
                 {sum}, but they must add up to 100"
            )
        };
        is_whole(&values, first, message, report);
    }
}
