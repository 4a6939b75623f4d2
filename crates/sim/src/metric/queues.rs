//! Shares of queues over time, compared with their guarantees.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::grid::{Grid, Integral};
use super::series::Series;
use super::statistics::{ratio, round};
use super::summary::{Guarantee, Scope};
use super::tally::Tally;
use super::tasks::end_of;
use super::types::Types;
use crate::outcome::Outcome;

/// Maximum number of leaf queues with their own curve, because more colors cannot be distinguished.
const STACKED_MAX: usize = 7;

/// Maximum number of queues whose share is plotted with their guarantee.
const GUARANTEED_MAX: usize = 12;

/// Usage of one queue over time, by type.
type Usage = Vec<Integral>;

/// Returns the share of every queue in percent by type, over the whole run.
pub(super) fn share_percent(
    tally: &Tally,
    types: &Types,
    capacity: &[Integral],
) -> BTreeMap<String, f64> {
    types
        .names()
        .zip(tally.used.iter().zip(capacity))
        .map(|(name, (used, all))| (name.to_owned(), round(100.0 * ratio(*used, all.total()))))
        .collect()
}

/// Returns the guarantee of a queue, in the resource type of which it is the largest fraction of the cluster. `None`
/// without a guarantee.
pub(super) fn guarantee(
    outcome: &Outcome,
    queue: usize,
    share_percent: &BTreeMap<String, f64>,
    types: &Types,
    capacity: &[Integral],
) -> Option<Guarantee> {
    let record = &outcome.queues[queue];
    let run_ms = i128::from(outcome.end_ms);
    let percents = types
        .of_amounts(&record.guaranteed)
        .map(|(position, amount)| {
            let whole = capacity[position].total();
            (position, 100.0 * ratio(i128::from(amount) * run_ms, whole))
        })
        .filter(|(_, percent)| *percent > 0.0);
    // Of equal ones, the first by name: `max_by` would return the last.
    let (position, percent) =
        percents.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    let resource = types.names().nth(position)?.to_owned();
    Some(Guarantee {
        used_percent: share_percent.get(&resource).copied().unwrap_or(0.0),
        percent: round(percent),
        resource,
    })
}

/// Queues with curves: slot by position of the queue.
struct Slots {
    of_queue: Vec<Option<usize>>,
    count: usize,
}

impl Slots {
    fn of(queues: &[usize], all: usize) -> Self {
        let mut of_queue = vec![None; all];
        for (slot, queue) in queues.iter().enumerate() {
            of_queue[*queue] = Some(slot);
        }
        Self { of_queue, count: queues.len() }
    }
}

/// Returns the shares of the leaves with the highest usage by type, and the total share of all other leaves.
pub(super) fn stacked(
    outcome: &Outcome,
    grid: Grid,
    types: &Types,
    scopes: &[Scope],
    capacity: &[Integral],
) -> BTreeMap<String, Vec<Series>> {
    let mut leaves: Vec<usize> = (0..outcome.queues.len())
        .filter(|queue| outcome.queues[*queue].leaf && scopes[*queue].dominant_share_hours > 0.0)
        .collect();
    leaves.sort_by(|left, right| {
        let hours = |queue: &usize| scopes[*queue].dominant_share_hours;
        hours(right).total_cmp(&hours(left)).then(left.cmp(right))
    });
    let others = leaves.len().saturating_sub(STACKED_MAX);
    leaves.truncate(STACKED_MAX);
    let slots = Slots::of(&leaves, outcome.queues.len());
    let mut usage: Vec<Usage> = vec![vec![Integral::on(grid); types.len()]; slots.count + 1];
    for one in &outcome.allocations {
        let queue = outcome.jobs[one.job].queue;
        let slot = queue.and_then(|queue| slots.of_queue[queue]).unwrap_or(slots.count);
        for (position, amount) in types.of_amounts(&one.resources) {
            usage[slot][position].add(one.start_ms, end_of(one, grid), amount);
        }
    }
    let mut names: Vec<String> =
        leaves.iter().map(|queue| outcome.queues[*queue].path.to_string()).collect();
    if others > 0 || usage[slots.count].iter().any(|one| one.total() != 0) {
        names.push(format!("others ({others})"));
    }
    let of_type = |position: usize| {
        let series = |(slot, name): (usize, &String)| {
            Series::percent(name, &usage[slot][position], &capacity[position])
        };
        names.iter().enumerate().map(series).collect()
    };
    let with_capacity =
        types.names().enumerate().filter(|(position, _)| capacity[*position].total() > 0);
    with_capacity.map(|(position, name)| (name.to_owned(), of_type(position))).collect()
}

/// Returns the shares of the queues with the largest guarantees, in the type of the guarantee.
pub(super) fn guaranteed(
    outcome: &Outcome,
    grid: Grid,
    types: &Types,
    guarantees: &[Option<Guarantee>],
    capacity: &[Integral],
) -> Vec<Series> {
    let mut chosen: Vec<usize> = (0..guarantees.len())
        .filter(|queue| guarantees[*queue].is_some() && outcome.queues[*queue].parent.is_some())
        .collect();
    let micro_percent = |queue: &usize| {
        let percent = guarantees[*queue].as_ref().map_or(0.0, |one| one.percent);
        #[expect(clippy::cast_possible_truncation, reason = "a sort key")]
        Reverse((percent * 1e6) as i64)
    };
    chosen.sort_by_key(|queue| (micro_percent(queue), *queue));
    chosen.truncate(GUARANTEED_MAX);
    let slots = Slots::of(&chosen, outcome.queues.len());
    let resources: Vec<&str> = chosen
        .iter()
        .filter_map(|queue| guarantees[*queue].as_ref())
        .map(|one| one.resource.as_str())
        .collect();
    let mut usage = vec![Integral::on(grid); slots.count];
    for one in &outcome.allocations {
        let mut next = outcome.jobs[one.job].queue;
        while let Some(queue) = next {
            next = outcome.queues[queue].parent;
            let Some(slot) = slots.of_queue[queue] else {
                continue;
            };
            if let Some(amount) = one.resources.get(resources[slot]) {
                usage[slot].add(one.start_ms, end_of(one, grid), amount.get());
            }
        }
    }
    let position_of = |resource: &str| types.names().position(|name| name == resource);
    chosen
        .iter()
        .zip(&usage)
        .zip(&resources)
        .filter_map(|((queue, usage), resource)| {
            let whole = &capacity[position_of(resource)?];
            Some(Series::percent(&outcome.queues[*queue].path, usage, whole))
        })
        .collect()
}
