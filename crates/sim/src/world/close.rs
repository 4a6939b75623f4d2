//! Completion of the records: the notes of the scheduler, and the final state of each job.

use headroom_core::id::{AllocationId, ApplicationId};
use headroom_core::{Note, WaitCode, impossible_ask};

use crate::outcome::{Decision, JobState, Outcome};

use super::RunError;
use super::play::Play;

/// Subject of waits in a cluster without nodes.
const WITHOUT: &str = "a cluster without nodes";

impl Play<'_> {
    /// Passes the notes of the scheduler to the wait attribution.
    pub(super) fn take_notes(&mut self) -> Result<(), RunError> {
        let notes = self.scheduler.take_notes();
        if notes.is_empty() {
            return Ok(());
        }
        if self.watcher.wants_decisions() {
            for note in &notes {
                if let Note::Parked { class, wait, .. } = note
                    && let Some(ask) = self.scheduler.first_of(*class)
                {
                    let row = self.books.allocation(ask);
                    self.outcome.decisions += 1;
                    let decision = Decision {
                        sequence: self.outcome.decisions,
                        time_ms: self.now.as_millis(),
                        kind: "waits",
                        subject: row.key.to_string(),
                        detail: wait.sentence(&self.books, ask),
                    };
                    self.watcher.decision(&decision).map_err(RunError::Write)?;
                }
            }
        } else {
            let parked = notes.iter().filter(|note| matches!(note, Note::Parked { .. }));
            self.outcome.decisions += parked.count() as u64;
        }
        self.blame.take(&self.books, self.now.as_millis(), notes);
        Ok(())
    }

    /// Sets the wait reason of classes without a note of the scheduler. Requires an idle scheduler.
    pub(super) fn explain_unjudged(&mut self) {
        let now_ms = self.now.as_millis();
        for (application, class) in self.blame.unjudged() {
            let pending = self.scheduler.first_of(class).or_else(|| self.pending_of(application));
            let Some(ask) = pending else { continue };
            // The asks of this class were placed, and the application waits with another class.
            let real = self.scheduler.class_of(&self.books, ask).filter(|real| *real != class);
            if real.is_some_and(|real| self.blame.move_to(now_ms, application, real)) {
                continue;
            }
            let blocker = match self.scheduler.wait_of(&self.books, ask) {
                Some(wait) => {
                    let code = wait.code(&self.books, ask);
                    Some(self.blame.position(&self.books, wait.blocker, code))
                }
                None if self.lacks_nodes() => {
                    Some(self.blame.named(WaitCode::NoNodes.as_str(), WITHOUT.to_owned()))
                }
                None => None,
            };
            self.blame.explain(now_ms, (application, class), blocker);
        }
    }

    fn pending_of(&self, application: ApplicationId) -> Option<AllocationId> {
        self.books.applications().get(application)?;
        let mut all = self.books.allocations_of(application);
        all.find(|(_, row)| row.is_pending()).map(|(id, _)| id)
    }

    /// Returns whether the cluster has no nodes. Without nodes, the scheduler checks no ask.
    fn lacks_nodes(&self) -> bool {
        self.books.nodes().iter().next().is_none()
    }

    /// Completes the records.
    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
        let end_ms = match self.setup.until_ms {
            Some(until_ms) if self.calendar.next_at().is_some() => until_ms,
            _ => self.now.as_millis(),
        };
        self.outcome.end_ms = end_ms;
        self.leave_out_plans(end_ms);
        for job in 0..self.outcome.jobs.len() {
            if self.outcome.jobs[job].state == JobState::Waiting {
                self.left_waiting(job, end_ms);
            }
        }
        self.outcome.jobs.retain(|job| job.submit_ms <= end_ms);
        self.outcome.blockers = std::mem::take(&mut self.blame.blockers);
        self.outcome.digest = self.digest.hex();
        let outcome = std::mem::take(&mut self.outcome);
        self.audit_jobs(&outcome)?;
        Ok(outcome)
    }

    /// Removes the records of planned nodes and planned losses that did not happen before the end.
    fn leave_out_plans(&mut self, end_ms: u64) {
        let mut position_of = Vec::with_capacity(self.outcome.nodes.len());
        let mut came = 0;
        for node in &mut self.outcome.nodes {
            node.to_ms = node.to_ms.filter(|to_ms| *to_ms <= end_ms);
            position_of.push(came);
            came += usize::from(node.from_ms <= end_ms);
        }
        self.outcome.nodes.retain(|node| node.from_ms <= end_ms);
        for one in &mut self.outcome.allocations {
            one.node = position_of[one.node];
        }
    }

    fn left_waiting(&mut self, job: usize, end_ms: u64) {
        if self.outcome.jobs[job].submit_ms > end_ms {
            return; // It did not come.
        }
        let Some(application) = self.open[job].application else {
            return self.explain_rest(job, end_ms);
        };
        let waits = self.blame.close(end_ms, application);
        self.add_waits(job, waits);
        self.explain_rest(job, end_ms);
        if self.outcome.jobs[job].gang
            && let Some(reason) = self.gang_impossible(job, application)
        {
            let record = &mut self.outcome.jobs[job];
            record.state = JobState::Impossible;
            record.reason = reason;
            return;
        }
        let pending = self.books.allocations_of(application).find(|(_, row)| row.is_pending());
        let Some((ask, _)) = pending else { return };
        let record = &mut self.outcome.jobs[job];
        if let Some(wait) = impossible_ask(&self.books, ask) {
            record.state = JobState::Impossible;
            record.reason = wait.sentence(&self.books, ask);
        } else if let Some(wait) = self.scheduler.wait_of(&self.books, ask) {
            record.reason = wait.sentence(&self.books, ask);
        }
    }
}
