//! The content of a queue file in its own words, for display.
//!
//! This is the written text, without defaults. [`Loaded`](crate::Loaded) has its meaning.

use crate::check::{self, Tree};
use crate::diagnostic::Report;
use crate::raw::{self, At, Partition};
use crate::schema::{Content, Rows as _};
use crate::yaml;

/// Returns the partitions of a file in order, each with its root queue. `None` if the file has faults.
pub fn outline(text: &str) -> Option<Vec<Content>> {
    crate::with_stack(|| outline_here(text)).ok().flatten()
}

fn outline_here(text: &str) -> Option<Vec<Content>> {
    let mut report = Report::default();
    let document = yaml::parse(text, &mut report);
    let file = document.map(|document| raw::read(&document, &mut report)).unwrap_or_default();
    let trees = check::check(file, &mut report);
    (!report.has_errors()).then(|| trees.into_iter().map(partition).collect())
}

/// Returns a partition with its effective name, and all queues below the root.
fn partition(tree: Tree) -> Content {
    let Tree { mut partition, root } = tree;
    partition.name.value = check::name_of_partition(&partition.name.value).to_owned();
    let span = root.name.span;
    partition.queues = Some(At { value: vec![root], span });
    Content::Block(Partition::BLOCK, partition.rows())
}
