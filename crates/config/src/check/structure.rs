//! Checks the shape of the tree: one root, valid names, and unique names among children.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{At, Partition, Queue};

use super::Tree;
use super::names::{QUEUE_NAME_MAX, RECOVERY_QUEUE, is_queue_name};

/// Returns the effective name. Any spelling of *default*, and an empty name, are `default`.
pub(crate) fn name_of_partition(written: &str) -> &str {
    if written.is_empty() || written.eq_ignore_ascii_case("default") { "default" } else { written }
}

/// Moves the queues of a partition below one root, and its limits into that root.
pub(super) fn rooted(mut partition: Partition, report: &mut Report) -> Option<Tree> {
    let Some(mut top) = partition.queues.take() else {
        let message =
            format!("partition `{}` has no `queues`", name_of_partition(&partition.name.value));
        let fault = Diagnostic::error(Code::QueuesMissing, partition.name.span, message)
            .help("set `queues: []` to have only a root queue");
        report.push(fault);
        return None;
    };
    let only = match top.value.as_mut_slice() {
        [only] if only.name.value.eq_ignore_ascii_case("root") => Some(std::mem::take(only)),
        _ => None,
    };
    let root_name = |span| At { value: "root".to_owned(), span };
    let mut root = match only {
        Some(only) => Queue { name: root_name(only.name.span), parent: true, ..only },
        None => Queue {
            name: root_name(top.span),
            parent: true,
            children: top.value,
            ..Queue::default()
        },
    };
    move_limits(&mut partition, &mut root, report);
    Some(Tree { partition, root })
}

/// Moves the limits of a partition to its root.
fn move_limits(partition: &mut Partition, root: &mut Queue, report: &mut Report) {
    let own = std::mem::take(&mut partition.limits);
    if own.value.is_empty() {
        return;
    }
    if root.limits.value.is_empty() {
        root.limits = own;
    } else if root.limits.value != own.value {
        let message = "the limits of the partition differ from those of its root queue";
        let fault = Diagnostic::error(Code::LimitRootDiffers, own.span, message)
            .label("limits of the partition")
            .also(root.limits.span, "limits of the root queue")
            .help("remove one of the two; both apply to the root queue");
        report.push(fault);
    }
}

/// Checks the names of all queues. Also checks that root has no resources, because the nodes provide its capacity.
pub(super) fn check(root: &Queue, report: &mut Report) {
    for (key, written) in [("max", &root.resources.max), ("guaranteed", &root.resources.guaranteed)]
    {
        if let Some(pairs) = written {
            let message = format!("the root queue must not have `resources.{key}`");
            let fault = Diagnostic::error(Code::RootResources, pairs.span, message)
                .help(format!("remove `resources.{key}`; the nodes provide the capacity of root"));
            report.push(fault);
        }
    }
    for key in &root.resources.nulls {
        let message = format!("`{}` of the root queue is empty and ignored", key.value);
        report
            .push(Diagnostic::warning(Code::YamlLenient, key.span, message).help("remove the key"));
    }
    for child in &root.children {
        if child.name.value.eq_ignore_ascii_case(RECOVERY_QUEUE) {
            let message = format!("`{RECOVERY_QUEUE}` is reserved for the recovery queue");
            let fault = Diagnostic::error(Code::QueueReserved, child.name.span, message).help(
                "choose another name; after a restart, applications that no placement rule places \
                       go to the recovery queue",
            );
            report.push(fault);
        }
    }
    check_children(root, "root", report);
}

fn check_children(queue: &Queue, path: &str, report: &mut Report) {
    let mut seen = BTreeMap::new();
    for child in &queue.children {
        let name = child.name.value.to_lowercase();
        let span = child.name.span;
        if !is_queue_name(&child.name.value) {
            report.push(bad_name(child, path));
        } else if let Some(first) = seen.get(&name) {
            let message = format!("queue `{path}` has two child queues with the name `{name}`");
            let fault = Diagnostic::error(Code::QueueDuplicate, span, message)
                .label("second entry")
                .also(*first, "first entry")
                .help("rename one of the queues; queue names ignore case");
            report.push(fault);
        } else {
            seen.insert(name.clone(), span);
        }
        check_children(child, &format!("{path}.{name}"), report);
    }
}

fn bad_name(queue: &Queue, path: &str) -> Diagnostic {
    let name = &queue.name.value;
    let length = name.chars().count();
    let message = if name.is_empty() {
        format!("a queue below `{path}` has no name")
    } else if length > QUEUE_NAME_MAX {
        format!("the queue name has {length} characters, but at most {QUEUE_NAME_MAX} are allowed")
    } else {
        format!("`{name}` is not a valid queue name")
    };
    let help = format!(
        "a name has 1 to {QUEUE_NAME_MAX} characters: ASCII letters, digits and _ : # / @ -"
    );
    Diagnostic::error(Code::QueueName, queue.name.span, message).help(help)
}
