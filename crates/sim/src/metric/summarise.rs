//! Computes the summary of a run from its records.

use std::collections::BTreeMap;

use super::blockers::Ranking;
use super::grid::{Grid, Integral};
use super::series::Series;
use super::statistics::{histogram, jain, ratio, round, waits};
use super::summary::{
    GangSummary, Guarantee, QueueSummary, Scope, SeriesSet, Summary, TypeSummary,
};
use super::tally::{Around, Tally, can_run};
use super::types::{HOUR_MS, Types};
use super::{fragmentation, queues, refusals, tasks};
use crate::outcome::Outcome;

/// Computes the summary of a run.
///
/// Positions in the outcome must be valid, and parents must precede their children. [`crate::metric`] defines the
/// metrics and their units.
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
    for (_, user) in &tallies.users.tallies {
        run.absorb(user);
    }
    let wait_histogram = histogram(run.waits.iter());
    let queues = queue_summaries(outcome, tallies.queues, &around, &capacity);
    let held = Held::of(outcome, grid, &types);
    let series = series(outcome, grid, (&types, &held), &capacity, &queues);
    let run = run.finish("run", &around);
    Summary {
        end_ms: outcome.end_ms,
        decisions: outcome.decisions,
        digest: outcome.digest.clone(),
        makespan_ms: makespan_ms(outcome),
        jain,
        types: type_summaries(&held, &around, &series),
        run,
        queues,
        users: tallies.users.finish(&around),
        groups: tallies.groups.finish(&around),
        waiting_hours: round(ratio(ranking.total_ms(), HOUR_MS)),
        blockers: ranking.into_blockers(),
        gangs: gangs(outcome),
        faults: outcome.counts.faults,
        refusals: refusals::refusals(outcome),
        recorded: None,
        wait_histogram,
        grid,
        series,
    }
}

fn gangs(outcome: &Outcome) -> Option<GangSummary> {
    let gangs = || outcome.jobs.iter().filter(|job| job.gang && can_run(job));
    let lengths = gangs().filter_map(|job| Some(job.start_ms?.saturating_sub(job.submit_ms)));
    outcome.jobs.iter().any(|job| job.gang).then(|| GangSummary {
        counts: outcome.counts.gangs,
        until_complete: waits(lengths.collect()),
    })
}

/// Sums by user, group, and queue.
struct Tallies<'a> {
    users: Owners<'a>,
    groups: Owners<'a>,
    /// Sums of each queue with its descendants.
    queues: Vec<Tally>,
}

/// Sums by name. The owner of a job is looked up once, not again for each of its allocations.
struct Owners<'a> {
    /// Sums in order of names.
    tallies: Vec<(&'a str, Tally)>,
    /// Position of the owner of each job of the outcome. `None` for a job without an owner.
    of_job: Vec<Option<usize>>,
}

impl<'a> Owners<'a> {
    fn of(names: impl Iterator<Item = Option<&'a str>> + Clone, types: &Types) -> Self {
        let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
        positions.extend(names.clone().flatten().map(|name| (name, 0)));
        for (position, place) in positions.values_mut().enumerate() {
            *place = position;
        }
        let of_job = names.map(|name| positions.get(name?).copied()).collect();
        let new = |name| (name, Tally::new(types));
        Self { tallies: positions.into_keys().map(new).collect(), of_job }
    }

    fn of_job(&mut self, job: usize) -> Option<&mut Tally> {
        let position = self.of_job[job]?;
        Some(&mut self.tallies[position].1)
    }

    fn finish(self, around: &Around<'_>) -> Vec<Scope> {
        let tallies = self.tallies.into_iter();
        tallies.map(|(name, tally)| tally.finish(name, around)).collect()
    }
}

impl<'a> Tallies<'a> {
    fn of(outcome: &'a Outcome, types: &Types) -> Self {
        let users = outcome.jobs.iter().map(|job| Some(job.user.as_str()));
        let groups = outcome.jobs.iter().map(|job| job.group.as_deref());
        let mut sums = Self {
            users: Owners::of(users, types),
            groups: Owners::of(groups, types),
            queues: vec![Tally::new(types); outcome.queues.len()],
        };
        for (position, job) in outcome.jobs.iter().enumerate() {
            sums.each_of(position, job.queue, |tally| {
                tally.add_job(job, outcome.end_ms);
            });
        }
        for one in &outcome.allocations {
            sums.each_of(one.job, outcome.jobs[one.job].queue, |tally| {
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

    /// Adds to the user, the group, and the queue of a job.
    fn each_of(&mut self, job: usize, queue: Option<usize>, mut add: impl FnMut(&mut Tally)) {
        let owners = self.users.of_job(job).into_iter().chain(self.groups.of_job(job));
        owners.for_each(&mut add);
        if let Some(queue) = queue {
            add(&mut self.queues[queue]);
        }
    }

    fn jain(&self, around: &Around<'_>) -> Option<f64> {
        let hours = |user: &Tally| user.dominant_share_hours(around.capacity, around.end_ms);
        let users = self.users.tallies.iter().map(|(_, user)| user);
        let competing = users.filter(|user| user.competes());
        jain(&competing.map(hours).collect::<Vec<f64>>())
    }
}

/// Returns the capacity of the nodes over time, by type.
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

/// Amounts that allocations hold over time, per type.
struct Held {
    /// Amounts of all allocations except placeholders.
    used: Vec<Integral>,
    /// Amounts of placeholders, which do no work.
    reserved: Vec<Integral>,
}

impl Held {
    fn of(outcome: &Outcome, grid: Grid, types: &Types) -> Self {
        let none = || vec![Integral::on(grid); types.len()];
        let mut held = Self { used: none(), reserved: none() };
        for one in &outcome.allocations {
            let sums = if one.placeholder { &mut held.reserved } else { &mut held.used };
            for (position, amount) in types.of_amounts(&one.resources) {
                sums[position].add(one.start_ms, tasks::end_of(one, grid), amount);
            }
        }
        held
    }
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
    (types, held): (&Types, &Held),
    capacity: &[Integral],
    queues: &[QueueSummary],
) -> SeriesSet {
    let pending = tasks::pending(outcome);
    let scopes: Vec<Scope> = queues.iter().map(|queue| queue.scope.clone()).collect();
    let guarantees: Vec<Option<Guarantee>> =
        queues.iter().map(|queue| queue.guarantee.clone()).collect();
    let utilisation = types
        .names()
        .zip(held.used.iter().zip(capacity))
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

fn type_summaries(held: &Held, around: &Around<'_>, series: &SeriesSet) -> Vec<TypeSummary> {
    let types = around.types;
    let totals = |sums: &[Integral]| sums.iter().map(Integral::total).collect::<Vec<i128>>();
    let reserved = totals(&held.reserved);
    let capacity_hours = types.hours(around.capacity);
    let (used_hours, reserved_hours) = (types.hours(&totals(&held.used)), types.hours(&reserved));
    let of = |hours: &BTreeMap<String, f64>, name: &str| hours.get(name).copied().unwrap_or(0.0);
    let average = |series: &[Series], name: &str| {
        let found = series.iter().find(|one| one.name == name);
        found.map_or(0.0, |one| one.average)
    };
    let of_type = |(position, name): (usize, &str)| TypeSummary {
        name: name.to_owned(),
        unit: types.unit(position).to_owned(),
        used_hours: of(&used_hours, name),
        reserved_hours: of(&reserved_hours, name),
        capacity_hours: of(&capacity_hours, name),
        used_percent: average(&series.utilisation, name),
        reserved_percent: round(100.0 * ratio(reserved[position], around.capacity[position])),
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
