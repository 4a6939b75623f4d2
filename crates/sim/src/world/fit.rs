//! Whether a task can ever run: on some node, and within every maximum and limit.

use headroom_core::Name;
use headroom_core::books::Books;
use headroom_core::id::{ApplicationId, PartitionId};
use headroom_core::resource::{Amounts, Quantity};

use crate::nodes::NodeSpec;

/// Returns whether a task of this size fits on an empty node of this size.
pub(super) fn fits(node: &Amounts, task: &Amounts) -> bool {
    task.iter().all(|(name, needed)| needed <= node.get(name).unwrap_or(Quantity::ZERO))
}

/// Returns whether a job with this label, or without a label, can use a node.
pub(super) fn is_open(
    books: &Books,
    partition: PartitionId,
    node: &NodeSpec,
    label: Option<&Name>,
) -> bool {
    match (label, &node.label) {
        (Some(_), of) => of.as_ref() == label,
        (None, Some(of)) => !books.is_exclusive(partition, of),
        (None, None) => true,
    }
}

/// Returns the sentence that no node is large enough for a task.
pub(super) fn too_large(task: &Amounts, label: Option<&Name>) -> String {
    match label {
        None => format!("a task needs {task}, but no single node has as much"),
        Some(label) => {
            format!("a task needs {task}, but no single node with label {label} has as much")
        }
    }
}

/// Returns why a gang with this total size and number of tasks can never be complete on these nodes. `None` if the gang
/// can be complete. The submission already checked its queues.
pub(super) fn impossible_gang(
    books: &Books,
    nodes: &[&NodeSpec],
    application: ApplicationId,
    (whole, tasks): (&Amounts, u64),
) -> Option<String> {
    let task: Amounts = whole
        .iter()
        .map(|(name, sum)| (name.clone(), Quantity::of(sum.get() / tasks.max(1).cast_signed())))
        .collect();
    let room: u64 = nodes.iter().map(|node| times_that_fit(&node.resources, &task, tasks)).sum();
    if room < tasks {
        return Some(format!(
            "the {tasks} tasks of the job start together, but the whole cluster has capacity for \
             only {room} of {task}"
        ));
    }
    let row = books.application(application);
    let Ok(wanted) = books.types().resolve(whole) else { return None };
    let trackers = &books.partition(row.partition).trackers;
    for (_, level) in books.limiting_levels(application) {
        if let Some(max) = level.max()
            && !max.allows(&wanted)
        {
            let max = books.types().amounts(max);
            let name = &trackers.tracker(level.tracker).name;
            let queue = &books.queue(level.queue).path;
            return Some(format!(
                "the tasks of the job start together and need {whole}, but {name} can use at most \
                 {max} in {queue}"
            ));
        }
    }
    None
}

/// Returns how many equal tasks fit on an empty node, at most `most`.
fn times_that_fit(node: &Amounts, task: &Amounts, most: u64) -> u64 {
    let of_type = |(name, needed): (&Name, Quantity)| {
        let has = node.get(name).unwrap_or(Quantity::ZERO).get().max(0).cast_unsigned();
        has.checked_div(needed.get().max(0).cast_unsigned()).unwrap_or(most)
    };
    task.iter().map(of_type).min().unwrap_or(most).min(most)
}
