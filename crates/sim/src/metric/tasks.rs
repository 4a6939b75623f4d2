//! Times in which tasks and jobs waited and ran.

use super::grid::{Grid, Integral};
use super::series::Series;
use super::tally::{can_run, is_lost};
use crate::outcome::{AllocationRecord, JobRecord, Outcome};

/// A number of tasks of one job that waited during `[from_ms, to_ms)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// Position in the outcome.
    pub(super) job: usize,
    /// Position of their size in the sizes of the job. `None` if all its tasks have the same size.
    pub(super) size: Option<usize>,
    pub(super) from_ms: u64,
    pub(super) to_ms: u64,
    pub(super) tasks: i64,
}

/// Returns every time span in which tasks of a job waited, by job and time.
///
/// All tasks wait from the submission. A start removes a waiting task. A preemption or the loss of a node adds a
/// waiting task. Placeholders are not tasks.
pub(super) fn pending(outcome: &Outcome) -> Vec<Pending> {
    let of_job = allocations_by_job(outcome);
    let mut found = Vec::with_capacity(outcome.jobs.len());
    let mut changes = Vec::new();
    for (position, job) in outcome.jobs.iter().enumerate() {
        if !can_run(job) {
            continue;
        }
        let counts: Vec<(Option<usize>, u64)> = match &job.sizes[..] {
            [] => vec![(None, job.asks)],
            sizes => {
                sizes.iter().enumerate().map(|(size, (count, _))| (Some(size), *count)).collect()
            }
        };
        for (size, count) in counts {
            let tasks = of_job.of(position).iter().map(|one| &outcome.allocations[*one]);
            let is_of = |one: &&AllocationRecord| {
                size.is_none_or(|size| one.resources == job.sizes[size].1)
            };
            changes.clear();
            changes.push((job.submit_ms, i64::try_from(count).unwrap_or(i64::MAX)));
            for one in tasks.filter(is_of) {
                changes.push((one.start_ms, -1));
                if let Some(end_ms) = one.end_ms.filter(|_| is_lost(one)) {
                    changes.push((end_ms, 1));
                }
            }
            changes.sort_unstable();
            stretches((position, size), job, &changes, outcome.end_ms, &mut found);
        }
    }
    found
}

/// Converts sorted changes to time spans with a constant number.
fn stretches(
    (position, size): (usize, Option<usize>),
    job: &JobRecord,
    changes: &[(u64, i64)],
    end_ms: u64,
    found: &mut Vec<Pending>,
) {
    let last_ms = job.end_ms.unwrap_or(end_ms).min(end_ms);
    let mut waiting = 0_i64;
    for (index, (from_ms, change)) in changes.iter().enumerate() {
        waiting = waiting.saturating_add(*change);
        let to_ms = changes.get(index + 1).map_or(last_ms, |next| next.0.min(last_ms));
        if waiting > 0 && *from_ms < to_ms {
            found.push(Pending { job: position, size, from_ms: *from_ms, to_ms, tasks: waiting });
        }
    }
}

/// Positions of the allocations, without placeholders, by job.
struct ByJob {
    first: Vec<usize>,
    allocations: Vec<usize>,
}

impl ByJob {
    fn of(&self, job: usize) -> &[usize] {
        &self.allocations[self.first[job]..self.first[job + 1]]
    }
}

fn allocations_by_job(outcome: &Outcome) -> ByJob {
    let real = || outcome.allocations.iter().enumerate().filter(|(_, one)| !one.placeholder);
    let mut first = vec![0; outcome.jobs.len() + 1];
    real().for_each(|(_, one)| first[one.job + 1] += 1);
    for job in 0..outcome.jobs.len() {
        first[job + 1] += first[job];
    }
    let mut next = first.clone();
    let mut allocations = vec![0; first[outcome.jobs.len()]];
    for (position, one) in real() {
        allocations[next[one.job]] = position;
        next[one.job] += 1;
    }
    ByJob { first, allocations }
}

/// Returns the numbers of waiting and running tasks, and the number of placeholders if the run has placeholders.
pub(super) fn task_series(outcome: &Outcome, grid: Grid, pending: &[Pending]) -> Vec<Series> {
    let mut waiting = Integral::on(grid);
    for one in pending {
        waiting.add(one.from_ms, one.to_ms, one.tasks);
    }
    let running = |placeholder: bool| {
        let mut integral = Integral::on(grid);
        let those = outcome.allocations.iter().filter(|one| one.placeholder == placeholder);
        for one in those {
            integral.add(one.start_ms, end_of(one, grid), 1);
        }
        integral
    };
    let mut series = vec![
        Series::exact("pending", "tasks", &waiting, 1),
        Series::exact("running", "tasks", &running(false), 1),
    ];
    if outcome.allocations.iter().any(|one| one.placeholder) {
        series.push(Series::exact("placeholders", "tasks", &running(true), 1));
    }
    series
}

/// Returns the numbers of waiting and running jobs.
pub(super) fn job_series(outcome: &Outcome, grid: Grid) -> Vec<Series> {
    let (mut waiting, mut running) = (Integral::on(grid), Integral::on(grid));
    for job in outcome.jobs.iter().filter(|job| can_run(job)) {
        let start_ms = job.start_ms.unwrap_or(grid.end_ms);
        waiting.add(job.submit_ms, start_ms, 1);
        running.add(start_ms, job.end_ms.unwrap_or(grid.end_ms), 1);
    }
    vec![
        Series::exact("pending", "jobs", &waiting, 1),
        Series::exact("running", "jobs", &running, 1),
    ]
}

/// Returns the end of an allocation in ms, or the end of the run if the allocation still runs.
pub(super) fn end_of(one: &AllocationRecord, grid: Grid) -> u64 {
    one.end_ms.unwrap_or(grid.end_ms)
}
