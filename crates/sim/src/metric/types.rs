//! Resource types of a run, with readable units, and dense vectors for sums.

use std::collections::BTreeMap;

use headroom_core::Name;
use headroom_core::resource::{Amounts, base_of};

use super::statistics::{ratio, round};
use crate::outcome::Outcome;

/// Milliseconds in an hour.
pub(super) const HOUR_MS: i128 = 3_600_000;

/// Resource types of a run in order of names. Vectors of amounts have the same order.
#[derive(Clone, Debug)]
pub(super) struct Types {
    names: Vec<Name>,
}

impl Types {
    /// Returns every type that a node, a job, or an allocation has.
    pub(super) fn of(outcome: &Outcome) -> Self {
        let nodes = outcome.nodes.iter().map(|node| &node.resources);
        let jobs = outcome.jobs.iter().map(|job| &job.resources);
        let allocations = outcome.allocations.iter().map(|one| &one.resources);
        let mut names: Vec<Name> = Vec::new();
        for (name, _) in nodes.chain(jobs).chain(allocations).flat_map(Amounts::iter) {
            // There are few types, and usually the name is known.
            if let Err(position) = names.binary_search(name) {
                names.insert(position, name.clone());
            }
        }
        Self { names }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(Name::as_str)
    }

    /// Returns positions, and amounts in core units. Omits types that the run does not have.
    pub(super) fn of_amounts<'a>(
        &'a self,
        amounts: &'a Amounts,
    ) -> impl Iterator<Item = (usize, i64)> + 'a {
        amounts.iter().filter_map(|(name, amount)| {
            let position = self.names.binary_search(name).ok()?;
            Some((position, amount.get()))
        })
    }

    /// Returns the number of core units in one readable unit of the type at `position`.
    pub(super) fn divisor(&self, position: usize) -> i128 {
        readable(&self.names[position]).1
    }

    /// Returns the readable unit of the type at `position`.
    pub(super) fn unit(&self, position: usize) -> &str {
        readable(&self.names[position]).0
    }

    /// Converts sums of core unit × ms, in order of names, to readable unit × hours.
    pub(super) fn hours(&self, sums: &[i128]) -> BTreeMap<String, f64> {
        let hours = |position: usize, sum: i128| ratio(sum, self.divisor(position) * HOUR_MS);
        self.names
            .iter()
            .zip(sums)
            .enumerate()
            .map(|(position, (name, sum))| (name.to_string(), round(hours(position, *sum))))
            .collect()
    }
}

/// Returns the readable unit of a type, and its size in core units.
pub(super) fn readable(name: &str) -> (&str, i128) {
    match base_of(name) {
        "vcore" => ("cores", 1_000),
        "memory" => ("GiB", 1 << 30),
        _ => (name, 1),
    }
}
