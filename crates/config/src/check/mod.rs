//! The rules of a queue file, with one source file per family.
//!
//! Every rule checks the whole file and reports all its faults, so that one run shows all necessary corrections. A
//! value that another rule has rejected is not reported again: in comparisons, an invalid quantity counts as absent.

mod access;
mod application_limits;
mod applications;
mod capacity;
mod life;
mod limit_tree;
mod limits;
mod lines;
pub(crate) mod names;
pub(crate) mod node_labels;
mod nodes;
mod ordering;
mod placement;
mod placement_tree;
mod preemption;
mod properties;
mod resources;
mod structure;
mod template;
mod tenants;
mod user_limits;

use std::collections::BTreeMap;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{File, Queue, Rule};

pub(crate) use placement::unbuildable;
pub(crate) use resources::claims;
pub(crate) use structure::name_of_partition;
pub(crate) use template::is_absent;

/// A partition with its queues below one root.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The partition as written, without its queues and limits.
    pub(crate) partition: crate::raw::Partition,
    /// The queue called `root`, with the limits of the partition.
    pub(crate) root: Queue,
}

/// Checks every rule. Returns the partitions, each with its queues below one root.
pub(crate) fn check(file: File, report: &mut Report) -> Vec<Tree> {
    check_partition_names(&file, report);
    let mut trees = Vec::with_capacity(file.partitions.len());
    for partition in file.partitions {
        if let Some(tree) = structure::rooted(partition, report) {
            check_tree(&tree, report);
            trees.push(tree);
        }
    }
    tenants::check_once(&trees, report);
    trees
}

fn check_tree(tree: &Tree, report: &mut Report) {
    structure::check(&tree.root, report);
    limits::check_precedence(&tree.partition.limit_precedence, report);
    if let Some(starvation) = &tree.partition.starvation {
        limits::check_starvation(starvation.after.as_ref(), report);
    }
    if let Some(reservations) = &tree.partition.reservations {
        limits::check_reservations(reservations.share.as_ref(), report);
    }
    if let Some(gangs) = &tree.partition.gangs {
        limits::check_gang_placement(&gangs.placement, report);
    }
    each_queue(&tree.root, true, &mut |queue, is_root| {
        access::check(queue, report);
        limits::check(queue, is_root, report);
        properties::check(queue, report);
        ordering::check(queue, is_root, report);
        preemption::check(queue, report);
        template::check(queue, report);
        application_limits::check_queue(queue, is_root, report);
        capacity::check_queue(queue, is_root, report);
    });
    resources::check(&tree.root, report);
    let rules: &[Rule] = &tree.partition.rules;
    placement::check(rules, report);
    placement_tree::check(rules, &tree.root, report);
    nodes::check(&tree.partition, report);
    applications::check(&tree.root, report);
    limit_tree::check(&tree.root, report);
    user_limits::check(tree, report);
    application_limits::check(tree, report);
    life::check(&tree.root, report);
    node_labels::check(&tree.root, report);
    tenants::check(tree, report);
    lines::check(tree, report);
}

fn each_queue(queue: &Queue, is_root: bool, visit: &mut impl FnMut(&Queue, bool)) {
    visit(queue, is_root);
    for child in &queue.children {
        each_queue(child, false, visit);
    }
}

fn check_partition_names(file: &File, report: &mut Report) {
    let mut seen = BTreeMap::new();
    for partition in &file.partitions {
        let name = name_of_partition(&partition.name.value).to_lowercase();
        let span = partition.name.span;
        if let Some(first) = seen.get(&name) {
            let message = format!("two partitions have the name `{name}`");
            let fault = Diagnostic::error(Code::PartitionDuplicate, span, message)
                .label("second entry")
                .also(*first, "first entry")
                .help("rename one of the partitions; names ignore case");
            report.push(fault);
        } else {
            seen.insert(name, span);
        }
    }
}
