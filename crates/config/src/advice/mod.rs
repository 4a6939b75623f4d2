//! Advice on settings that are valid and have an effect, but were probably not meant. Advice is never an error.
//!
//! Advice is given only if the problem is certain. Advice uses the same trees as the checks, and its time is
//! proportional to the size of the file. Advice is a warning, or a recommendation: a key that prevents a known problem.
//! A file with errors gets no recommendations, because its errors are more important.

mod access;
mod amounts;
mod application_limits;
mod capacity;
mod limits;
mod nodes;
mod placement;
mod properties;
mod recommended;
mod survey;
mod user_limits;

use crate::NodeTotals;
use crate::check::{Tree, name_of_partition};
use crate::diagnostic::Report;

use survey::Survey;

/// Adds the advice on all partitions.
pub(crate) fn advise(trees: &[Tree], nodes: &NodeTotals, report: &mut Report) {
    for tree in trees {
        let survey =
            Survey::of(&tree.root, nodes.get(name_of_partition(&tree.partition.name.value)));
        access::advise(&survey, report);
        amounts::advise(&tree.partition, &survey, report);
        properties::advise(&tree.partition, &survey, report);
        placement::advise(&tree.partition.rules, &survey, report);
        limits::advise(&survey, report);
        user_limits::advise(&tree.partition, &survey, report);
        application_limits::advise(&tree.partition, &survey, report);
        capacity::advise(&survey, report);
        nodes::advise(&survey, report);
        if !report.has_errors() {
            recommended::advise(&tree.partition, &survey, report);
        }
    }
}
