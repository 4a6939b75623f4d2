//! Playing a workload: the loop over virtual time, and the RM's part in it.

use std::collections::BTreeMap;

use headroom_core::books::Books;
use headroom_core::id::{AllocationId, ApplicationId, QueueId};
use headroom_core::resource::Amounts;
use headroom_core::{
    AddNode, Ask, Command, Event, Millis, Name, Rejection, Scheduler, Step, Submit, Termination,
    Timestamp, decide,
};

use crate::outcome::{JobState, NodeRecord, Outcome};
use crate::workload::Job;

use super::blame::Blame;
use super::calendar::{Calendar, Entry};
use super::digest::Digest;
use super::fit::fits;
use super::told::told;
use super::{Checks, Progress, RunError, Setup, Shape, Watcher};

/// Events between two checks of the books, at least.
const EVENTS_A_CHECK: u64 = 10_000;

/// How long a run goes on after the trace is at its end and nothing was placed: reservations may
/// end, and applications that were left alone are looked at again.
const PATIENCE: Millis = Millis::from_secs(3 * 3_600);

/// A run under way.
pub(super) struct Play<'a> {
    pub(super) setup: &'a Setup,
    pub(super) watcher: &'a mut dyn Watcher,
    pub(super) partition: Name,
    pub(super) books: Books,
    pub(super) scheduler: Scheduler,
    pub(super) calendar: Calendar,
    pub(super) blame: Blame,
    pub(super) digest: Digest,
    pub(super) now: Timestamp,
    /// When time alone may let the scheduler move.
    pub(super) wake_at: Option<Timestamp>,
    /// When the trace last went on, or something was placed.
    pub(super) last_at: Timestamp,
    pub(super) outcome: Outcome,
    /// By application index: the job that it is.
    pub(super) jobs_of: Vec<usize>,
    /// By allocation index: where its record is, once it is placed.
    pub(super) records_of: Vec<usize>,
    /// By job: asks not placed, allocations not ended.
    pub(super) open: Vec<Open>,
    /// Tasks of jobs that were lost with a node and are to ask anew.
    pub(super) lost: Vec<(usize, Amounts)>,
    pub(super) asked_again: u64,
    pub(super) queue_of: BTreeMap<QueueId, usize>,
    /// By path: the record of a queue, which may go and come again.
    pub(super) queue_paths: BTreeMap<Name, usize>,
    pub(super) node_positions: BTreeMap<Name, usize>,
    pub(super) events_to_check: u64,
    pub(super) done: u64,
}

/// What a job still has before it.
#[derive(Clone, Copy, Default)]
pub(super) struct Open {
    pub(super) asks: u64,
    pub(super) running: u64,
    pub(super) application: Option<ApplicationId>,
}

impl<'a> Play<'a> {
    pub(super) fn new(setup: &'a Setup, watcher: &'a mut dyn Watcher) -> Result<Self, RunError> {
        setup.check()?;
        let books = Books::default();
        let mut play = Self {
            partition: setup.configuration.partitions[0].name.clone(),
            scheduler: Scheduler::watching(&books),
            books,
            calendar: Calendar::default(),
            blame: Blame::default(),
            digest: Digest::default(),
            now: Timestamp::ZERO,
            wake_at: None,
            last_at: Timestamp::ZERO,
            outcome: Outcome::default(),
            jobs_of: Vec::new(),
            records_of: Vec::new(),
            open: Vec::new(),
            lost: Vec::new(),
            asked_again: 0,
            queue_of: BTreeMap::new(),
            queue_paths: BTreeMap::new(),
            node_positions: BTreeMap::new(),
            events_to_check: EVENTS_A_CHECK,
            done: 0,
            setup,
            watcher,
        };
        play.command(&Command::Configure(Box::new(setup.configuration.clone())))?;
        for (position, node) in setup.nodes.iter().enumerate() {
            play.outcome.nodes.push(NodeRecord {
                name: node.name.clone(),
                from_ms: node.from_ms,
                to_ms: node.to_ms,
                resources: node.resources.clone(),
            });
            play.node_positions.insert(node.name.clone(), position);
            play.calendar.add(node.from_ms, Entry::Join(position));
            if let Some(to_ms) = node.to_ms {
                play.calendar.add(to_ms, Entry::Leave(position));
            }
        }
        for (position, job) in setup.workload.jobs.iter().enumerate() {
            play.calendar.add(job.submit_ms, Entry::Submit(position));
            play.outcome.jobs.push(Self::record(job));
        }
        play.open = vec![Open::default(); setup.workload.jobs.len()];
        Ok(play)
    }

    /// Play until nothing happens any more, or the time is over.
    pub(super) fn run(mut self) -> Result<Outcome, RunError> {
        while let Some(at_ms) = self.next_at() {
            self.now = Timestamp::from_millis(at_ms);
            while let Some(entry) = self.calendar.take(at_ms) {
                self.last_at = self.now;
                self.happen(entry)?;
            }
            if self.books.next_deadline().is_some_and(|at| at <= self.now) {
                self.command(&Command::Tick)?;
            }
            self.settle()?;
            self.watcher.progress(Progress {
                now_ms: at_ms,
                done: self.done,
                running: self.books.partitions().values().map(|one| one.allocation_count).sum(),
                waiting: self.books.partitions().values().map(|one| one.ask_count).sum(),
            });
        }
        self.check("the end")?;
        Ok(self.finish())
    }

    /// When something happens next, work of the trace first: timers alone do not prolong a run,
    /// and what the scheduler waits for only for a while.
    fn next_at(&self) -> Option<u64> {
        let wake = self.wake_at.map_or(u64::MAX, Timestamp::as_millis);
        let next = self.calendar.next_at().or_else(|| {
            (wake <= (self.last_at + PATIENCE).as_millis()).then_some(wake)
        })?;
        let timer = self.books.next_deadline().map_or(u64::MAX, Timestamp::as_millis);
        let at_ms = next.min(wake).min(timer.max(self.now.as_millis()));
        (at_ms <= self.setup.until_ms.unwrap_or(u64::MAX)).then_some(at_ms)
    }

    fn happen(&mut self, entry: Entry) -> Result<(), RunError> {
        match entry {
            Entry::Join(position) => {
                let node = &self.setup.nodes[position];
                self.command(&Command::AddNode(AddNode {
                    partition: self.partition.clone(),
                    node: node.name.clone(),
                    capacity: node.resources.clone(),
                    schedulable: true,
                    ..AddNode::default()
                }))
            }
            Entry::Leave(position) => self.lose(position),
            Entry::End(record, allocation) => self.end(record, allocation),
            Entry::Submit(position) => self.submit(position),
        }
    }

    /// A task has run its time; unless its node was lost before.
    fn end(&mut self, record: usize, allocation: AllocationId) -> Result<(), RunError> {
        if self.books.allocations().get(allocation).is_none() {
            return Ok(());
        }
        let job = self.outcome.allocations[record].job;
        self.command(&Command::Release {
            partition: self.partition.clone(),
            application: self.outcome.jobs[job].name.clone(),
            key: Some(self.outcome.allocations[record].key.clone()),
            termination: Termination::StoppedByRm,
        })
    }

    fn submit(&mut self, position: usize) -> Result<(), RunError> {
        let job = &self.setup.workload.jobs[position];
        let submit = Command::Submit(Submit {
            partition: self.partition.clone(),
            application: job.name.clone(),
            queue: self.setup.queue_asked_for(job),
            user: job.user.clone(),
            groups: job.groups.clone(),
            ..Submit::default()
        });
        let declined = match decide(&self.books, self.now, &submit) {
            Err(rejection) => Some(rejection.to_string()),
            Ok(events) => {
                self.apply_all(&events)?;
                match events.last() {
                    Some(Event::ApplicationRejected { message, .. }) => Some(message.to_string()),
                    _ => None,
                }
            }
        };
        if let Some(reason) = declined {
            self.reject(position, reason);
            return Ok(());
        }
        self.accepted(position);
        let (count, task) = self.shape(job);
        let record = &mut self.outcome.jobs[position];
        record.asks = count;
        record.resources = task.times(i64::try_from(count).unwrap_or(i64::MAX));
        for number in 0..count {
            let key = match count {
                1 => job.name.clone(),
                _ => Name::from(format!("{}.{number}", job.name)),
            };
            if let Err(rejection) = self.ask(position, key, task.clone())? {
                self.command(&Command::RemoveApplication {
                    partition: self.partition.clone(),
                    application: job.name.clone(),
                })?;
                self.reject(position, rejection.to_string());
                break;
            }
        }
        Ok(())
    }

    /// Ask for one task of a job; the refusal if there is one.
    fn ask(
        &mut self,
        position: usize,
        key: Name,
        resources: Amounts,
    ) -> Result<Result<(), Rejection>, RunError> {
        let job = &self.setup.workload.jobs[position];
        let ask = Command::Ask(Ask {
            partition: self.partition.clone(),
            application: job.name.clone(),
            key,
            resources,
            priority: job.priority,
            ..Ask::default()
        });
        match decide(&self.books, self.now, &ask) {
            Ok(events) => self.apply_all(&events).map(Ok),
            Err(rejection) => Ok(Err(rejection)),
        }
    }

    /// A node is lost, and what ran on it asks anew, as its RM would.
    fn lose(&mut self, position: usize) -> Result<(), RunError> {
        let node = self.setup.nodes[position].name.clone();
        self.command(&Command::RemoveNode { partition: self.partition.clone(), node })?;
        for (job, resources) in std::mem::take(&mut self.lost) {
            self.asked_again += 1;
            let name = &self.setup.workload.jobs[job].name;
            let key = Name::from(format!("{name}.again{}", self.asked_again));
            if let Err(rejection) = self.ask(job, key, resources)? {
                return Err(RunError::Refused { at_ms: self.now.as_millis(), rejection });
            }
        }
        Ok(())
    }

    fn reject(&mut self, position: usize, reason: String) {
        if let Some(application) = self.open[position].application.take() {
            self.blame.close(self.now.as_millis(), application);
        }
        let record = &mut self.outcome.jobs[position];
        record.state = JobState::Rejected;
        record.queue = None;
        record.waits.clear();
        record.reason = reason;
        self.done += 1;
    }

    /// How many asks a job makes, and of what size.
    fn shape(&self, job: &Job) -> (u64, Amounts) {
        let count = job.processors.max(1);
        let factor = i64::try_from(count).unwrap_or(i64::MAX);
        let whole = job.per_processor.times(factor);
        let one = match self.setup.shape {
            Shape::Single => true,
            Shape::Tasks => count == 1,
            Shape::Fitting => self.setup.nodes.iter().any(|node| fits(&node.resources, &whole)),
        };
        if one { (1, whole) } else { (count, job.per_processor.clone()) }
    }

    /// Carry out a command that the world makes itself.
    fn command(&mut self, command: &Command) -> Result<(), RunError> {
        let events = decide(&self.books, self.now, command)
            .map_err(|rejection| RunError::Refused { at_ms: self.now.as_millis(), rejection })?;
        self.apply_all(&events)
    }

    fn apply_all(&mut self, events: &[Event]) -> Result<(), RunError> {
        events.iter().try_for_each(|event| self.apply(event))
    }

    /// Let the scheduler decide until it is idle.
    fn settle(&mut self) -> Result<(), RunError> {
        let mut events = Vec::new();
        loop {
            match self.scheduler.next(&self.books, self.now, &mut events) {
                Step::Idle { wake_at } => {
                    self.wake_at = wake_at;
                    return self.take_notes();
                }
                Step::Moved => {
                    for event in events.drain(..) {
                        if matches!(event, Event::Placed { .. }) {
                            self.last_at = self.now;
                        }
                        self.apply(&event)?;
                    }
                    self.take_notes()?;
                }
            }
        }
    }

    fn apply(&mut self, event: &Event) -> Result<(), RunError> {
        self.digest.event(self.now, event);
        self.outcome.decisions += 1;
        if self.watcher.wants_decisions() {
            let decision = told(&self.books, self.outcome.decisions, self.now, event);
            self.watcher.decision(&decision).map_err(RunError::Write)?;
        }
        let ended = self.seen_before(event);
        self.scheduler.apply(&mut self.books, self.now, event);
        self.take_notes()?;
        self.follow(event, ended);
        self.events_to_check = self.events_to_check.saturating_sub(1);
        if self.setup.checks == Checks::Always || self.events_to_check == 0 {
            self.check(&format!("{event:?}"))?;
            let rows = self.books.allocations().len() + self.books.applications().len();
            self.events_to_check = EVENTS_A_CHECK.max(10 * rows as u64);
        }
        Ok(())
    }

    fn check(&self, after: &str) -> Result<(), RunError> {
        self.books.check().map_err(|violation| RunError::Unbalanced {
            at_ms: self.now.as_millis(),
            after: after.to_owned(),
            violation,
        })
    }
}
