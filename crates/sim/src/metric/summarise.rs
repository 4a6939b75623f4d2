//! From the records of a run to its numbers.

use std::collections::BTreeMap;

use super::blockers::Ranking;
use super::grid::{Grid, Integral};
use super::series::Series;
use super::statistics::{histogram, jain, ratio, round};
use super::summary::{Guarantee, QueueSummary, Scope, SeriesSet, Summary, TypeSummary};
use super::tally::{Around, Tally};
use super::types::{HOUR_MS, Types};
use super::{fragmentation, queues, tasks};
use crate::outcome::Outcome;

/// Condense a run.
///
/// Positions in the outcome must lie in their tables, and parents come before their children;
/// definitions and units are those of [`crate::metric`].
#[must_use]
pub fn summarise(outcome: &Outcome) -> Summary {
    let types = Types::of(outcome);
    let grid = Grid::over(outcome.end_ms);
    let ranking = Ranking::of(outcome);
    let capacity = capacity(outcome, grid, &types);
    let capacity_sums: Vec<i128> = capacity.iter().map(Integral::total).collect();
    let around = Around {
        types: &types,
        ranking: &ranking,
        capacity: &capacity_sums,
        end_ms: outcome.end_ms,
    };
    let tallies = Tallies::of(outcome, &types);
    let jain = tallies.jain(&around);
    let mut run = Tally::new(&types);
    tallies.users.values().for_each(|user| run.absorb(user));
    let wait_histogram = histogram(run.waits.iter());
    let queues = queue_summaries(outcome, tallies.queues, &around, &capacity);
    let series = series(outcome, grid, &types, &capacity, &queues);
    let finish = |(name, tally): (&str, Tally)| tally.finish(name, &around);
    let run = run.finish("run", &around);
    Summary {
        end_ms: outcome.end_ms,
        decisions: outcome.decisions,
        digest: outcome.digest.clone(),
        makespan_ms: makespan_ms(outcome),
        jain,
        types: type_summaries(&types, &run, &around, &series),
        run,
        queues,
        users: tallies.users.into_iter().map(finish).collect(),
        groups: tallies.groups.into_iter().map(finish).collect(),
        waiting_hours: round(ratio(ranking.total_ms(), HOUR_MS)),
        blockers: ranking.into_blockers(),
        wait_histogram,
        grid,
        series,
    }
}

/// Sums per user, group and queue.
struct Tallies<'a> {
    users: BTreeMap<&'a str, Tally>,
    groups: BTreeMap<&'a str, Tally>,
    /// Each queue with those below it.
    queues: Vec<Tally>,
}

impl<'a> Tallies<'a> {
    fn of(outcome: &'a Outcome, types: &Types) -> Self {
        let mut sums = Self {
            users: BTreeMap::new(),
            groups: BTreeMap::new(),
            queues: vec![Tally::new(types); outcome.queues.len()],
        };
        for job in &outcome.jobs {
            sums.each_of(job, types, |tally| tally.add_job(job, outcome.end_ms));
        }
        for one in &outcome.allocations {
            let job = &outcome.jobs[one.job];
            sums.each_of(job, types, |tally| {
                tally.add_allocation(one, types, outcome.end_ms);
            });
        }
        for queue in (0..outcome.queues.len()).rev() {
            if let Some(parent) = outcome.queues[queue].parent {
                let (above, below) = sums.queues.split_at_mut(queue);
                above[parent].absorb(&below[0]);
            }
        }
        sums
    }

    fn each_of(
        &mut self,
        job: &'a crate::outcome::JobRecord,
        types: &Types,
        mut add: impl FnMut(&mut Tally),
    ) {
        add(self.users.entry(&job.user).or_insert_with(|| Tally::new(types)));
        if let Some(group) = &job.group {
            add(self.groups.entry(group).or_insert_with(|| Tally::new(types)));
        }
        if let Some(queue) = job.queue {
            add(&mut self.queues[queue]);
        }
    }

    fn jain(&self, around: &Around<'_>) -> Option<f64> {
        let hours = |user: &Tally| user.dominant_share_hours(around.capacity, around.end_ms);
        let competing = self.users.values().filter(|user| user.competes());
        jain(&competing.map(hours).collect::<Vec<f64>>())
    }
}

/// What the nodes had, over time, per type.
fn capacity(outcome: &Outcome, grid: Grid, types: &Types) -> Vec<Integral> {
    let mut capacity = vec![Integral::on(grid); types.len()];
    for node in &outcome.nodes {
        let to_ms = node.to_ms.unwrap_or(outcome.end_ms);
        for (position, amount) in types.of_amounts(&node.resources) {
            capacity[position].add(node.from_ms, to_ms, amount);
        }
    }
    capacity
}

fn queue_summaries(
    outcome: &Outcome,
    tallies: Vec<Tally>,
    around: &Around<'_>,
    capacity: &[Integral],
) -> Vec<QueueSummary> {
    let of_queue = |(queue, tally): (usize, Tally)| {
        let record = &outcome.queues[queue];
        let share_percent = queues::share_percent(&tally, around.types, capacity);
        let guarantee = queues::guarantee(outcome, queue, &share_percent, around.types, capacity);
        QueueSummary {
            scope: tally.finish(&record.path, around),
            leaf: record.leaf,
            share_percent,
            guarantee,
        }
    };
    tallies.into_iter().enumerate().map(of_queue).collect()
}

fn series(
    outcome: &Outcome,
    grid: Grid,
    types: &Types,
    capacity: &[Integral],
    queues: &[QueueSummary],
) -> SeriesSet {
    let pending = tasks::pending(outcome);
    let scopes: Vec<Scope> = queues.iter().map(|queue| queue.scope.clone()).collect();
    let guarantees: Vec<Option<Guarantee>> =
        queues.iter().map(|queue| queue.guarantee.clone()).collect();
    let mut used = vec![Integral::on(grid); types.len()];
    for one in &outcome.allocations {
        for (position, amount) in types.of_amounts(&one.resources) {
            used[position].add(one.start_ms, tasks::end_of(one, grid), amount);
        }
    }
    let utilisation = types
        .names()
        .zip(used.iter().zip(capacity))
        .filter(|(_, (_, whole))| whole.total() > 0)
        .map(|(name, (used, whole))| Series::percent(name, used, whole))
        .collect();
    let has_capacity = |one: &Series| {
        let mut names = types.names().zip(capacity);
        names.any(|(name, whole)| *name == one.name && whole.total() > 0)
    };
    SeriesSet {
        utilisation,
        tasks: tasks::task_series(outcome, grid, &pending),
        jobs: tasks::job_series(outcome, grid),
        queue_share: queues::stacked(outcome, grid, types, &scopes, capacity),
        guaranteed_share: queues::guaranteed(outcome, grid, types, &guarantees, capacity),
        unusable: fragmentation::series(outcome, grid, types, &pending, capacity)
            .into_iter()
            .filter(has_capacity)
            .collect(),
    }
}

fn type_summaries(
    types: &Types,
    run: &Scope,
    around: &Around<'_>,
    series: &SeriesSet,
) -> Vec<TypeSummary> {
    let capacity_hours = types.hours(around.capacity);
    let average = |series: &[Series], name: &str| {
        let found = series.iter().find(|one| one.name == name);
        found.map_or(0.0, |one| one.average)
    };
    let of_type = |(position, name): (usize, &str)| TypeSummary {
        name: name.to_owned(),
        unit: types.unit(position).to_owned(),
        used_hours: run.resource_hours.get(name).copied().unwrap_or(0.0),
        capacity_hours: capacity_hours.get(name).copied().unwrap_or(0.0),
        used_percent: average(&series.utilisation, name),
        unusable_percent: average(&series.unusable, name),
    };
    types.names().enumerate().map(of_type).collect()
}

fn makespan_ms(outcome: &Outcome) -> u64 {
    let first_ms = outcome.jobs.iter().map(|job| job.submit_ms).min();
    let ends = outcome.allocations.iter();
    let last_ms = ends.map(|one| one.end_ms.unwrap_or(outcome.end_ms)).max();
    match (first_ms, last_ms) {
        (Some(first_ms), Some(last_ms)) => last_ms.saturating_sub(first_ms),
        (None, _) | (_, None) => 0,
    }
}
