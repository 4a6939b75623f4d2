//! Simulates a workload: the loop over virtual time.

use std::collections::BTreeMap;

use headroom_core::books::{ApplicationState, Books, NodeAttributes, Timer};
use headroom_core::id::{AllocationId, ApplicationId, QueueId};
use headroom_core::{
    AddNode, Command, Event, Millis, Name, Scheduler, Step, Termination, Timestamp, decide,
};

use crate::outcome::{NodeRecord, Outcome};

use super::calendar::{Calendar, Entry};
use super::decision_text::describe;
use super::digest::Digest;
use super::fault_injector::FaultInjector;
use super::rm::Rm;
use super::scan::Scans;
use super::submit::Kind;
use super::wait_attribution::WaitAttribution;
use super::{Checks, Progress, RunError, Setup, Watcher};

/// Smallest number of events between two checks of the books.
const EVENTS_A_CHECK: u64 = 10_000;

/// Time for which wakes count after the last change, in addition to the delays of the queues. Within this time, the
/// core drops reservations and tries again.
const IDLE_MAX: Millis = Millis::from_secs(3 * 3_600);

/// State of a run.
pub(super) struct Play<'a> {
    pub(super) setup: &'a Setup,
    /// Whether nodes have labels. Otherwise requests for labels are ignored.
    pub(super) has_labels: bool,
    pub(super) watcher: &'a mut dyn Watcher,
    pub(super) partition: Name,
    pub(super) books: Books,
    pub(super) scheduler: Scheduler,
    pub(super) calendar: Calendar,
    pub(super) blame: WaitAttribution,
    pub(super) digest: Digest,
    pub(super) now: Timestamp,
    /// Time at which the scheduler can act without a new event.
    pub(super) wake_at: Option<Timestamp>,
    /// Time of the last event, or of the last placement.
    pub(super) last_at: Timestamp,
    pub(super) scans: Scans,
    pub(super) rm: Rm,
    pub(super) trouble: FaultInjector,
    pub(super) outcome: Outcome,
    /// Job by application index.
    pub(super) jobs_of: Vec<usize>,
    /// Position of the allocation record, by allocation index. Set when the allocation is placed.
    pub(super) records_of: Vec<usize>,
    /// Remaining work by job.
    pub(super) open: Vec<Open>,
    /// Kind of task of an ask, by key. Absent for the first tasks of a job.
    pub(super) kinds: BTreeMap<Name, Kind>,
    pub(super) queue_of: BTreeMap<QueueId, usize>,
    /// Record of a queue by path. A queue can be removed and created again.
    pub(super) queue_paths: BTreeMap<Name, usize>,
    /// Newest record of a node by name.
    pub(super) node_positions: BTreeMap<Name, usize>,
    pub(super) events_to_check: u64,
    pub(super) done: u64,
    /// A rule that the core broke.
    pub(super) broken: Option<String>,
}

/// Remaining work of a job, and the number of its submissions.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    pub(super) application: Option<ApplicationId>,
    /// Number of waiting tasks.
    pub(super) asks: u64,
    pub(super) running: u64,
    /// Number of tasks of the second stage that the job has not requested yet.
    pub(super) later: u64,
    /// Number of finished tasks.
    pub(super) finished: u64,
    /// Number of times that its gang became complete.
    pub(super) runs: u64,
    /// Number of tasks that had finished when their gang failed, and that run again.
    pub(super) repeated: u64,
    /// Number of waiting placeholders.
    pub(super) places: u64,
    /// Number of placeholders on nodes.
    pub(super) held: u64,
    /// Whether its gang became complete.
    pub(super) complete: bool,
    /// Whether its gang did not become complete in time.
    pub(super) failing: bool,
    /// Number of previous submissions.
    pub(super) attempts: u64,
    /// Record and id of the running master.
    pub(super) master: Option<(usize, AllocationId)>,
    /// Reason why its gang can never be complete.
    pub(super) verdict: Option<String>,
}

impl<'a> Play<'a> {
    pub(super) fn new(setup: &'a Setup, watcher: &'a mut dyn Watcher) -> Result<Self, RunError> {
        setup.check()?;
        let books = Books::default();
        let mut play = Self {
            partition: setup.configuration.partitions[0].name.clone(),
            scheduler: Scheduler::watching(&books),
            trouble: FaultInjector::of(setup, &books),
            books,
            calendar: Calendar::default(),
            blame: WaitAttribution::default(),
            digest: Digest::default(),
            now: Timestamp::ZERO,
            wake_at: None,
            last_at: Timestamp::ZERO,
            scans: Scans::default(),
            rm: Rm::of(setup),
            outcome: Outcome::default(),
            jobs_of: Vec::new(),
            records_of: Vec::new(),
            open: Vec::new(),
            kinds: BTreeMap::new(),
            queue_of: BTreeMap::new(),
            queue_paths: BTreeMap::new(),
            node_positions: BTreeMap::new(),
            events_to_check: Self::events_a_check(setup.checks, 0),
            done: 0,
            broken: None,
            has_labels: setup.nodes.iter().any(|node| node.label.is_some()),
            setup,
            watcher,
        };
        play.command(&Command::Configure(Box::new(setup.configuration.clone())))?;
        play.plan();
        Ok(play)
    }

    /// Plans all known events.
    fn plan(&mut self) {
        for (position, node) in self.setup.nodes.iter().enumerate() {
            self.outcome.nodes.push(NodeRecord {
                name: node.name.clone(),
                from_ms: node.from_ms,
                to_ms: node.to_ms,
                resources: node.resources.clone(),
            });
            self.node_positions.insert(node.name.clone(), position);
            self.calendar.add(node.from_ms, Entry::Join(position));
            if let Some(to_ms) = node.to_ms {
                self.calendar.add(to_ms, Entry::Leave(position));
            }
        }
        for (position, job) in self.setup.workload.jobs.iter().enumerate() {
            self.calendar.add(job.submit_ms, Entry::Submit(position));
            self.outcome.jobs.push(Self::record(job));
        }
        self.open = vec![Open::default(); self.setup.workload.jobs.len()];
        for (position, fault) in self.trouble.list.iter().enumerate() {
            self.calendar.add(fault.at_ms, Entry::Fault(position));
        }
        self.outcome.counts.faults = self.setup.faults.is_some().then(Default::default);
    }

    /// Runs until nothing happens any more, or the time limit is reached.
    pub(super) fn run(mut self) -> Result<Outcome, RunError> {
        while let Some(at_ms) = self.next_at() {
            self.now = Timestamp::from_millis(at_ms);
            while let Some(entry) = self.calendar.take(at_ms) {
                self.last_at = self.now;
                self.happen(entry)?;
                self.answer()?;
            }
            self.scan()?;
            if self.books.next_deadline().is_some_and(|at| at <= self.now) {
                self.command(&Command::Tick)?;
                self.answer()?;
            }
            self.settle()?;
            self.plan_scan();
            if matches!(self.setup.checks, Checks::Every(_)) {
                self.audit()?;
            }
            self.watcher.progress(Progress {
                now_ms: at_ms,
                done: self.done,
                running: self.books.partitions().values().map(|one| one.allocation_count).sum(),
                waiting: self.books.partitions().values().map(|one| one.ask_count).sum(),
            });
        }
        self.check("the end")?;
        self.audit()?;
        self.audit_end()?;
        self.finish()
    }

    /// Returns the time of the next event. `None` after the last event. While events are planned, all timers and wakes
    /// count. Afterward, timers and wakes of the core count only while a job waits. Faults end with the work.
    fn next_at(&self) -> Option<u64> {
        let only_faults = self.calendar.len() == self.trouble.ahead;
        let over = only_faults && self.done == self.outcome.jobs.len() as u64;
        let at_ms = match self.calendar.next_at() {
            Some(next) if !over => {
                let timer = millis(self.books.next_deadline()).max(self.now.as_millis());
                next.min(self.next_wake()).min(timer)
            }
            _ => self.next_by_itself()?,
        };
        let at_ms = at_ms.min(self.scans.next_at());
        (at_ms <= self.setup.until_ms.unwrap_or(u64::MAX)).then_some(at_ms)
    }

    /// A wake that is not in the future would stop time.
    fn next_wake(&self) -> u64 {
        millis(self.wake_at).max(self.now.as_millis() + 1)
    }

    /// Returns the time at which the core continues without a planned event. `None` if nothing waits, or nothing can
    /// start the waiting asks. Each timer fires once. Wakes can repeat without effect, so wakes count only for some
    /// time after the last change.
    fn next_by_itself(&self) -> Option<u64> {
        let mut partitions = self.books.partitions().values();
        if !partitions.any(|one| one.ask_count > 0 || one.placeholder_count > 0) {
            return None;
        }
        let mut timers = self.books.timers().filter(|(_, timer)| self.may_free(*timer));
        let timer = timers.next().map(|(at, _)| at.as_millis().max(self.now.as_millis()));
        let until = (self.last_at + self.idle_max()).as_millis();
        let wakes = [self.next_wake(), self.scans.next_at()].into_iter();
        let wake = wakes.min().filter(|at_ms| *at_ms <= until);
        timer.into_iter().chain(wake).min()
    }

    /// Returns whether a timer can free resources. Timers of ended applications and of queues cannot.
    fn may_free(&self, timer: Timer) -> bool {
        match timer {
            Timer::Application(application) => {
                let state = self.books.application(application).state;
                !matches!(state, ApplicationState::Completed | ApplicationState::Failed)
            }
            Timer::Queue(_) => false,
            Timer::Placeholders(_)
            | Timer::Lifetime(_)
            | Timer::Stop(_)
            | Timer::Wait(_)
            | Timer::Recovery(_) => true,
        }
    }

    /// Returns how long wakes count after the last change. This time exceeds every delay of a queue.
    fn idle_max(&self) -> Millis {
        let delays = self.books.queues().iter().flat_map(|(_, queue)| {
            let values = &queue.settings.values;
            [values.preemption_delay, values.quota_preemption_delay, values.backoff_delay]
        });
        let longest = delays.map(Millis::get).max().unwrap_or(0);
        Millis::new(longest.saturating_add(IDLE_MAX.get()))
    }

    fn happen(&mut self, entry: Entry) -> Result<(), RunError> {
        match entry {
            Entry::Join(position) => self.join(position),
            Entry::Leave(position) => {
                let node = self.setup.nodes[position].name.clone();
                if self.has_node(&node) { self.lose(&node) } else { Ok(()) }
            }
            Entry::End(record, allocation) => self.end(record, allocation),
            Entry::Confirm(position) => self.confirm(position),
            Entry::Submit(position) => {
                self.outcome.counts.submitted += 1;
                self.submit(position)
            }
            Entry::SubmitAgain(position) => self.submit_again(position),
            Entry::Fault(position) => self.strike(position),
            Entry::Over(position) => self.make_good(position),
        }
    }

    /// Adds a node, for the first time or again.
    pub(super) fn join(&mut self, position: usize) -> Result<(), RunError> {
        let node = &self.setup.nodes[position];
        self.command(&Command::AddNode(AddNode {
            partition: self.partition.clone(),
            node: node.name.clone(),
            capacity: node.resources.clone(),
            schedulable: true,
            attributes: node
                .label
                .iter()
                .map(|label| (NodeAttributes::LABEL, label.clone()))
                .collect(),
        }))
    }

    /// Removes a node.
    pub(super) fn lose(&mut self, node: &Name) -> Result<(), RunError> {
        let record = self.node_positions[node];
        self.outcome.nodes[record].to_ms = Some(self.now.as_millis());
        let (partition, node) = (self.partition.clone(), node.clone());
        self.command(&Command::RemoveNode { partition, node })
    }

    pub(super) fn has_node(&self, node: &Name) -> bool {
        let partition = self.books.partition_named(&self.partition);
        partition.is_some_and(|id| self.books.partition(id).nodes.get(&**node).is_some())
    }

    /// Finishes a task that was not lost before.
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

    /// Executes a command of the simulator.
    pub(super) fn command(&mut self, command: &Command) -> Result<(), RunError> {
        let events = decide(&self.books, self.now, command)
            .map_err(|rejection| RunError::Refused { at_ms: self.now.as_millis(), rejection })?;
        self.apply_all(&events)
    }

    pub(super) fn apply_all(&mut self, events: &[Event]) -> Result<(), RunError> {
        events.iter().try_for_each(|event| self.apply(event))
    }

    /// Runs the scheduler until it is idle.
    fn settle(&mut self) -> Result<(), RunError> {
        let mut events = Vec::new();
        loop {
            match self.scheduler.next(&self.books, self.now, &mut events) {
                Step::Idle { wake_at } => {
                    self.wake_at = wake_at;
                    self.take_notes()?;
                    self.explain_unjudged();
                    return Ok(());
                }
                Step::Moved => {
                    for event in events.drain(..) {
                        self.apply(&event)?;
                    }
                    self.take_notes()?;
                    self.answer()?;
                }
            }
        }
    }

    fn apply(&mut self, event: &Event) -> Result<(), RunError> {
        self.digest.event(self.now, event);
        self.outcome.decisions += 1;
        if self.watcher.wants_decisions() {
            let decision = describe(&self.books, self.outcome.decisions, self.now, event);
            self.watcher.decision(&decision).map_err(RunError::Write)?;
        }
        let seen = self.seen_before(event);
        self.scheduler.apply(&mut self.books, self.now, event);
        self.trouble.keep(&self.books, self.now, event);
        self.scans.follow(event);
        self.take_notes()?;
        self.follow(event, seen);
        if let Some(what) = self.broken.take() {
            return Err(self.unaccounted(what));
        }
        self.events_to_check = self.events_to_check.saturating_sub(1);
        if self.events_to_check == 0 {
            self.check(&format!("{event:?}"))?;
            let rows = self.books.allocations().len() + self.books.applications().len();
            self.events_to_check = Self::events_a_check(self.setup.checks, rows as u64);
        }
        Ok(())
    }

    /// Returns the number of events between two checks of books with this many rows.
    fn events_a_check(checks: Checks, rows: u64) -> u64 {
        match checks {
            Checks::Every(events) => events.get(),
            Checks::NowAndThen => EVENTS_A_CHECK.max(10 * rows),
        }
    }

    fn check(&self, after: &str) -> Result<(), RunError> {
        self.books.check().map_err(|violation| RunError::Unbalanced {
            at_ms: self.now.as_millis(),
            after: after.to_owned(),
            violation,
        })
    }
}

/// Returns a point in time in ms. `u64::MAX` for `None`.
fn millis(at: Option<Timestamp>) -> u64 {
    at.map_or(u64::MAX, Timestamp::as_millis)
}
