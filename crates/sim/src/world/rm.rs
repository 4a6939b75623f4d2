//! The simulated RM: stops allocations on request, asks for the members of gangs, and asks again for lost tasks.

use std::collections::VecDeque;

use headroom_core::id::AllocationId;
use headroom_core::resource::Amounts;
use headroom_core::{Command, Name, Rejection, Termination, decide};

use crate::fault::{CONFIRMS_AFTER_MS, Delay, Lateness, Manner};
use crate::outcome::FaultCounts;
use crate::workload::generate::random::Random;

use super::calendar::Entry;
use super::play::Play;
use super::submit::{Kind, Part};
use super::{RunError, Setup};

/// Longest wait before a gang is submitted again after its first failure, in ms. The wait doubles with each of the next
/// [`DOUBLINGS`] failures. The actual wait is a random fraction, so that two gangs that blocked each other do not
/// collide again.
const AGAIN_MS: u64 = 60_000;
const DOUBLINGS: u64 = 6;

/// State of the RM.
#[derive(Debug)]
pub(super) struct Rm {
    random: Random,
    confirmations: Vec<Confirmation>,
    due: VecDeque<Due>,
    asked_again: u64,
    /// End of the time span in which the RM confirms late, and the delay, both in ms.
    pub(super) late: (u64, u64),
    /// End of the time span in which the RM confirms twice, in ms.
    pub(super) twice_until_ms: u64,
}

/// A request to the RM to stop an allocation.
#[derive(Clone, Debug)]
struct Confirmation {
    allocation: AllocationId,
    application: Name,
    key: Name,
    termination: Termination,
    /// Whether this is the second confirmation.
    again: bool,
}

/// An action of the RM before the scheduler continues.
#[derive(Clone, Debug)]
pub(super) enum Due {
    /// Ask for the members of this job.
    Members(usize),
    /// Ask again for a lost task.
    AskAgain(usize, (Kind, Amounts), Part),
    /// Ask for the second stage of this job.
    SecondStage(usize),
    /// Submit this job again, or give the job up.
    SubmitAgain(usize),
    /// End the application of this job, whose last task has ended.
    EndApplication(usize),
}

impl Rm {
    pub(super) fn of(setup: &Setup) -> Self {
        Self {
            random: Random::new(setup.seed),
            confirmations: Vec::new(),
            due: VecDeque::new(),
            asked_again: 0,
            late: (0, 0),
            twice_until_ms: 0,
        }
    }
}

impl Play<'_> {
    /// Adds an action of the RM.
    pub(super) fn is_due(&mut self, due: Due) {
        self.rm.due.push_back(due);
    }

    /// Executes all pending actions.
    pub(super) fn answer(&mut self) -> Result<(), RunError> {
        while let Some(due) = self.rm.due.pop_front() {
            match due {
                Due::Members(job) if self.open[job].failing => {}
                Due::Members(job) => self.ask_for_members(job)?,
                Due::AskAgain(job, task, part) => self.ask_again(job, task, part)?,
                Due::SecondStage(job) => self.ask_for_second_stage(job)?,
                Due::SubmitAgain(job) => self.plan_again(job),
                Due::EndApplication(job) => self.end_application(job)?,
            }
        }
        Ok(())
    }

    /// Asks again for a task that was lost with a node, or preempted.
    fn ask_again(&mut self, job: usize, task: (Kind, Amounts), part: Part) -> Result<(), RunError> {
        let open = &self.open[job];
        // A gang that is complete or has failed needs no placeholders.
        if open.failing || (part == Part::Place && open.complete) {
            return Ok(());
        }
        self.rm.asked_again += 1;
        let name = &self.outcome.jobs[job].name;
        let key = Name::from(format!("{name}.again{}", self.rm.asked_again));
        self.ask(job, key, task, part)?.map_err(|rejection| self.refused(rejection))
    }

    /// Ends the application of a finished job, which frees its driver and its slot among parallel applications
    /// immediately.
    fn end_application(&mut self, job: usize) -> Result<(), RunError> {
        let application = self.open[job].application;
        let lives = application.is_some_and(|id| self.books.applications().get(id).is_some());
        if !lives {
            return Ok(());
        }
        self.command(&Command::RemoveApplication {
            partition: self.partition.clone(),
            application: self.outcome.jobs[job].name.clone(),
        })
    }

    /// Plans the next submission of a failed gang, unless the gang can never be complete. All its tasks run again.
    fn plan_again(&mut self, job: usize) {
        let open = &mut self.open[job];
        open.application = None;
        open.failing = false;
        open.complete = false;
        open.repeated += open.finished;
        open.finished = 0;
        open.attempts += 1;
        if open.verdict.is_some() {
            return;
        }
        let most = AGAIN_MS << (open.attempts - 1).min(DOUBLINGS);
        let wait_ms = self.rm.random.whole(1_000, most);
        let at_ms = self.now.as_millis().saturating_add(wait_ms);
        self.calendar.add(at_ms, Entry::SubmitAgain(job));
    }

    /// Handles a request to stop an allocation. The RM stops the allocation, and confirms later.
    pub(super) fn asked_to_stop(&mut self, allocation: AllocationId, termination: Termination) {
        let row = self.books.allocation(allocation);
        let application = self.books.application(row.application).name.clone();
        let key = row.key.clone();
        let delay = self.delay();
        let now_ms = self.now.as_millis();
        let mut say = |after_ms: u64, again: bool| {
            let position = self.rm.confirmations.len();
            let (application, key) = (application.clone(), key.clone());
            let one = Confirmation { allocation, application, key, termination, again };
            self.rm.confirmations.push(one);
            self.calendar.add(now_ms.saturating_add(after_ms), Entry::Confirm(position));
        };
        say(delay.after_ms, false);
        if let Some(again_ms) = delay.again_ms {
            say(delay.after_ms.saturating_add(again_ms), true);
        }
        if let Some(faults) = &mut self.outcome.counts.faults {
            match delay.lateness {
                Lateness::InTime => {}
                Lateness::Late => faults.confirmed_late += 1,
                Lateness::VeryLate => faults.confirmed_very_late += 1,
            }
            faults.confirmed_twice += u64::from(delay.again_ms.is_some());
        }
    }

    fn delay(&mut self) -> Delay {
        let now_ms = self.now.as_millis();
        if self.trouble.manner == Manner::Random {
            return Delay::draw(&mut self.trouble.random);
        }
        let (until_ms, late_ms) = self.rm.late;
        let (after_ms, lateness) = if now_ms < until_ms {
            (late_ms, Lateness::Late)
        } else {
            (CONFIRMS_AFTER_MS, Lateness::InTime)
        };
        let again_ms = (now_ms < self.rm.twice_until_ms).then_some(CONFIRMS_AFTER_MS);
        Delay { after_ms, again_ms, lateness }
    }

    /// Confirms the end of an allocation. Does not repeat an end that was already reported, unless the confirmation is
    /// a deliberate repetition.
    pub(super) fn confirm(&mut self, position: usize) -> Result<(), RunError> {
        let one = self.rm.confirmations[position].clone();
        let release = Command::Release {
            partition: self.partition.clone(),
            application: one.application,
            key: Some(one.key),
            termination: one.termination,
        };
        if self.books.allocations().get(one.allocation).is_some() {
            self.command(&release)
        } else if one.again {
            self.tell(&release)
        } else {
            Ok(())
        }
    }

    /// Sends a command that the core can refuse.
    pub(super) fn tell(&mut self, command: &Command) -> Result<(), RunError> {
        if let Ok(events) = decide(&self.books, self.now, command) {
            self.apply_all(&events)
        } else {
            self.count_fault(|faults| &mut faults.refused);
            Ok(())
        }
    }

    pub(super) fn count_fault(&mut self, which: impl Fn(&mut FaultCounts) -> &mut u64) {
        if let Some(faults) = &mut self.outcome.counts.faults {
            *which(faults) += 1;
        }
    }

    pub(super) fn refused(&self, rejection: Rejection) -> RunError {
        RunError::Refused { at_ms: self.now.as_millis(), rejection }
    }
}
