//! Free resources that no waiting task can use.

use std::collections::BTreeMap;

use super::grid::{Grid, Integral};
use super::series::Series;
use super::statistics::{ratio, round};
use super::tasks::{Pending, end_of};
use super::types::Types;
use crate::outcome::Outcome;

/// A change between two samples. The order between samples does not matter.
#[derive(Clone, Copy, Debug)]
enum Change {
    NodeComes(usize),
    NodeGoes(usize),
    Start(usize),
    End(usize),
    Waits(usize, Option<usize>),
    WaitsNoMore(usize, Option<usize>),
}

/// Returns the unusable resources by type, in percent of the capacity, sampled in the middle of each bin.
pub(super) fn series(
    outcome: &Outcome,
    grid: Grid,
    types: &Types,
    pending: &[Pending],
    capacity: &[Integral],
) -> Vec<Series> {
    let mut state = State::new(outcome, types);
    let samples: Vec<Vec<i128>> = changes(outcome, grid, pending)
        .iter()
        .map(|changes| {
            for change in changes {
                state.apply(*change);
            }
            state.unusable()
        })
        .collect();
    types
        .names()
        .enumerate()
        .map(|(position, name)| {
            let whole = capacity[position].bins();
            let weighted: Vec<i128> = samples
                .iter()
                .enumerate()
                .map(|(bin, sample)| sample[position] * i128::from(grid.width_of(bin)))
                .collect();
            let percent = |(part, whole): (&i128, &i128)| round(100.0 * ratio(*part, *whole));
            let values = weighted.iter().zip(&whole).map(percent).collect();
            let total = capacity[position].total();
            let average = round(100.0 * ratio(weighted.iter().sum(), total));
            Series::of_values(name, "%", grid, values, average)
        })
        .collect()
}

/// Returns the changes between each sample and the previous sample.
fn changes(outcome: &Outcome, grid: Grid, pending: &[Pending]) -> Vec<Vec<Change>> {
    let mut changes = vec![Vec::new(); grid.bins];
    let mut put = |at_ms: u64, change: Change| {
        if let Some(sample) = grid.first_sample_from(at_ms) {
            changes[sample].push(change);
        }
    };
    for (position, node) in outcome.nodes.iter().enumerate() {
        put(node.from_ms, Change::NodeComes(position));
        put(node.to_ms.unwrap_or(u64::MAX), Change::NodeGoes(position));
    }
    for (position, one) in outcome.allocations.iter().enumerate() {
        put(one.start_ms, Change::Start(position));
        put(end_of(one, grid), Change::End(position));
    }
    for one in pending {
        put(one.from_ms, Change::Waits(one.job, one.size));
        put(one.to_ms, Change::WaitsNoMore(one.job, one.size));
    }
    changes
}

/// Nodes, their free resources, and the sizes of waiting tasks at one moment.
struct State<'a> {
    outcome: &'a Outcome,
    types: &'a Types,
    /// Free amount per node and type, in core units.
    free: Vec<i64>,
    present: Vec<bool>,
    /// Number of pending records by size of their tasks, with the amount of each type.
    demands: BTreeMap<Vec<i64>, i64>,
}

impl<'a> State<'a> {
    fn new(outcome: &'a Outcome, types: &'a Types) -> Self {
        let mut free = vec![0; outcome.nodes.len() * types.len()];
        for (node, record) in outcome.nodes.iter().enumerate() {
            for (position, amount) in types.of_amounts(&record.resources) {
                free[node * types.len() + position] = amount;
            }
        }
        Self {
            outcome,
            types,
            free,
            present: vec![false; outcome.nodes.len()],
            demands: BTreeMap::new(),
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::NodeComes(node) => self.present[node] = true,
            Change::NodeGoes(node) => self.present[node] = false,
            Change::Start(allocation) => self.hold(allocation, -1),
            Change::End(allocation) => self.hold(allocation, 1),
            Change::Waits(job, size) => self.demand((job, size), 1),
            Change::WaitsNoMore(job, size) => self.demand((job, size), -1),
        }
    }

    fn hold(&mut self, allocation: usize, sign: i64) {
        let one = &self.outcome.allocations[allocation];
        for (position, amount) in self.types.of_amounts(&one.resources) {
            self.free[one.node * self.types.len() + position] += sign * amount;
        }
    }

    fn demand(&mut self, (job, size): (usize, Option<usize>), change: i64) {
        let job = &self.outcome.jobs[job];
        let (of_one, tasks) = match size {
            Some(size) => (&job.sizes[size].1, 1),
            None => (&job.resources, i64::try_from(job.asks.max(1)).unwrap_or(i64::MAX)),
        };
        let mut demand = vec![0; self.types.len()];
        for (position, amount) in self.types.of_amounts(of_one) {
            demand[position] = amount / tasks;
        }
        let known = self.demands.get(&demand).copied().unwrap_or(0);
        if known + change == 0 {
            self.demands.remove(&demand);
        } else {
            self.demands.insert(demand, known + change);
        }
    }

    /// Returns the sizes of waiting tasks, without sizes that need at least as much of every type as another size. If
    /// none of the returned sizes fits, no waiting task fits.
    fn least(&self) -> Vec<&[i64]> {
        let mut all: Vec<&[i64]> = self.demands.keys().map(Vec::as_slice).collect();
        all.sort_by_key(|demand| demand.iter().map(|one| i128::from(*one)).sum::<i128>());
        let mut least: Vec<&[i64]> = Vec::new();
        for demand in all {
            if !least.iter().any(|known| fits(known, demand)) {
                least.push(demand);
            }
        }
        least
    }

    /// Returns the free amounts by type on the nodes where no waiting task fits.
    fn unusable(&self) -> Vec<i128> {
        let mut sums = vec![0; self.types.len()];
        let least = self.least();
        if least.is_empty() {
            return sums; // Nothing waits.
        }
        let nodes = self.free.chunks_exact(self.types.len()).zip(&self.present);
        for (free, _) in nodes.filter(|(_, present)| **present) {
            if least.iter().any(|demand| fits(demand, free)) {
                continue;
            }
            for (sum, free) in sums.iter_mut().zip(free) {
                *sum += i128::from((*free).max(0));
            }
        }
        sums
    }
}

/// Returns whether the demand does not exceed the free amount of any type.
fn fits(demand: &[i64], free: &[i64]) -> bool {
    demand.iter().zip(free).all(|(demand, free)| demand <= free)
}
