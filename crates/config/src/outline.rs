//! The queue file in its own words, for showing.
//!
//! This is the text as it is written, without judging what is absent. What it means is in
//! [`Loaded`](crate::Loaded).

use crate::check::{self, Tree};
use crate::diagnostic::Report;
use crate::raw::{self, At, Partition};
use crate::schema::{Content, Rows as _};
use crate::yaml;

/// The partitions of a file, in its order, each with one root queue; none if the file has faults.
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

/// As it is in force: under the name that is in force, with all queues below the root.
fn partition(tree: Tree) -> Content {
    let Tree { mut partition, root } = tree;
    partition.name.value = check::name_of_partition(&partition.name.value).to_owned();
    let span = root.name.span;
    partition.queues = Some(At { value: vec![root], span });
    Content::Block(Partition::BLOCK, partition.rows())
}
