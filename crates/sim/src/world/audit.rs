//! Checks that nothing is lost or counted twice, by comparing every job with the books.

use headroom_core::id::ApplicationId;

use crate::outcome::{JobState, Outcome};

use super::RunError;
use super::play::{Open, Play};

impl Play<'_> {
    pub(super) fn unaccounted(&self, what: String) -> RunError {
        RunError::Unaccounted { at_ms: self.now.as_millis(), what }
    }

    /// Recounts the tasks and placeholders of every job in the books.
    pub(super) fn audit(&self) -> Result<(), RunError> {
        for (id, _) in self.books.applications().iter() {
            let Some(job) = self.jobs_of.get(id.index()).copied() else { continue };
            // An ended application can be stored at the same time as the next submission of its job.
            if self.open.get(job).is_some_and(|open| open.application == Some(id)) {
                self.audit_job(job, id)?;
            }
        }
        Ok(())
    }

    fn audit_job(&self, job: usize, id: ApplicationId) -> Result<(), RunError> {
        let mut found = Open::default();
        for (_, row) in self.books.allocations_of(id) {
            *match (row.placeholder, row.is_allocated()) {
                (true, false) => &mut found.places,
                (true, true) => &mut found.held,
                (false, false) => &mut found.asks,
                (false, true) => &mut found.running,
            } += 1;
        }
        let (open, record) = (&self.open[job], &self.outcome.jobs[job]);
        let figures = |one: &Open| [one.asks, one.running, one.places, one.held];
        if figures(open) != figures(&found) {
            return Err(self.unaccounted(format!(
                "job {} has waiting tasks, running tasks, waiting placeholders, and allocated \
                 placeholders: {:?} in the scheduler state, {:?} by its events",
                record.name,
                figures(&found),
                figures(open),
            )));
        }
        let members = open.asks + open.running + open.finished;
        let (what, sum) = if record.gang && !open.complete {
            ("placeholders", open.places + open.held)
        } else {
            ("tasks", members)
        };
        let early = record.gang && !open.complete && members > 0;
        if (sum + open.later != record.asks || early) && !open.failing {
            return Err(self.unaccounted(format!(
                "job {} has {sum} {what}, expected {}; {members} members",
                record.name, record.asks
            )));
        }
        Ok(())
    }

    /// Checks at the end of a run that nothing is charged to anyone if nothing runs.
    pub(super) fn audit_end(&self) -> Result<(), RunError> {
        let books = &self.books;
        if books.partitions().values().any(|one| one.allocation_count > 0) {
            return Ok(());
        }
        for (_, queue) in books.queues().iter() {
            if !queue.allocated.is_empty() || !queue.preempting.is_empty() {
                let used = books.types().amounts(&queue.allocated);
                let what = format!("nothing runs, and queue {} uses {used}", queue.path);
                return Err(self.unaccounted(what));
            }
        }
        for (_, node) in books.nodes().iter() {
            if node.allocation_count > 0 || node.available != node.capacity {
                let free = books.types().amounts(&node.available);
                let what = format!("nothing runs, and node {} has {free} free only", node.name);
                return Err(self.unaccounted(what));
            }
        }
        for partition in books.partitions().values() {
            for (_, level) in partition.trackers.levels() {
                let used = level.used();
                if !used.is_empty() {
                    let name = &partition.trackers.tracker(level.tracker).name;
                    let queue = &books.queue(level.queue).path;
                    let used = books.types().amounts(&used);
                    let what = format!("nothing runs, and {name} uses {used} in {queue}");
                    return Err(self.unaccounted(what));
                }
            }
        }
        Ok(())
    }

    /// Checks that every submitted job has one state, and that its allocations match.
    pub(super) fn audit_jobs(&self, outcome: &Outcome) -> Result<(), RunError> {
        let count = |state: JobState| outcome.jobs.iter().filter(|job| job.state == state).count();
        let (finished, rejected) = (count(JobState::Finished), count(JobState::Rejected));
        let sum = finished
            + rejected
            + count(JobState::Running)
            + count(JobState::Waiting)
            + count(JobState::Impossible)
            + count(JobState::Expired);
        if sum as u64 != outcome.counts.submitted {
            let what =
                format!("{} jobs were submitted, and {sum} are reported", outcome.counts.submitted);
            return Err(self.unaccounted(what));
        }
        let mut ended = vec![0_u64; outcome.jobs.len()];
        let mut open = vec![0_u64; outcome.jobs.len()];
        for one in outcome.allocations.iter().filter(|one| !one.placeholder) {
            ended[one.job] += u64::from(one.ended_by == "finished");
            open[one.job] += u64::from(one.end_ms.is_none());
        }
        for (position, job) in outcome.jobs.iter().enumerate() {
            let ended = ended[position].saturating_sub(self.open[position].repeated);
            let open = open[position];
            let sound = match job.state {
                JobState::Finished => ended == job.asks && open == 0,
                JobState::Running | JobState::Waiting | JobState::Expired => {
                    ended + open <= job.asks
                }
                JobState::Impossible | JobState::Rejected => ended + open < job.asks.max(1),
            };
            if !sound {
                let what = format!(
                    "job {} is {:?} with {ended} tasks ended and {open} running, of {}",
                    job.name, job.state, job.asks
                );
                return Err(self.unaccounted(what));
            }
        }
        Ok(())
    }
}
