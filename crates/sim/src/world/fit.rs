//! Whether a task could ever run: on some node, under every maximum and limit.

use headroom_core::Name;
use headroom_core::books::Books;
use headroom_core::id::{ApplicationId, PartitionId};
use headroom_core::resource::{Amounts, Quantity};

use crate::nodes::NodeSpec;

/// Whether a node of this size has room for a task of this size.
pub(super) fn fits(node: &Amounts, task: &Amounts) -> bool {
    task.iter().all(|(name, needed)| needed <= node.get(name).unwrap_or(Quantity::ZERO))
}

/// Whether a node is for those who wish for this label, or for none.
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

/// That no node has room for a task.
pub(super) fn too_large(task: &Amounts, label: Option<&Name>) -> String {
    match label {
        None => format!("a task needs {task}, but no single node has as much"),
        Some(label) => {
            format!("a task needs {task}, but no single node with label {label} has as much")
        }
    }
}

/// Why a gang of so many tasks, and of this size in all, can never be complete on these nodes,
/// whatever is released; none if it can. Its queues were asked at its submission.
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

/// How many such tasks fit on an empty node; no more than `most`.
fn times_that_fit(node: &Amounts, task: &Amounts, most: u64) -> u64 {
    let of_type = |(name, needed): (&Name, Quantity)| {
        let has = node.get(name).unwrap_or(Quantity::ZERO).get().max(0).cast_unsigned();
        has.checked_div(needed.get().max(0).cast_unsigned()).unwrap_or(most)
    };
    task.iter().map(of_type).min().unwrap_or(most).min(most)
}
