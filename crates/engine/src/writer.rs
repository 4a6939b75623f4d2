//! The single writer. It executes commands one by one, runs the scheduler, and makes the results durable. Then it
//! answers and publishes.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use headroom_core::books::Books;
use headroom_core::record::{self, Edges, RecordSequencer, records_of_refusal};
use headroom_core::view::{Counters, History, Sample, Tally};
use headroom_core::{Command, Event, Millis, Name, Rejection, Scheduler, Step, Timestamp, decide};
use headroom_journal::{Journal, Origin, ReadStore, Record, Store};

use crate::audit_log::{AuditLog, Fact, facts};
use crate::error::EngineError;
use crate::feed::{ENTRIES_KEPT, Entry, Feed};
use crate::handle::WriterState;
use crate::health::Vitals;
use crate::idempotency::IdempotencyCache;
use crate::notice::{notices, put_in_order};
use crate::published::Published;
use crate::recover::Recovered;
use crate::shared_copy::SharedCopy;
use crate::snapshotter::{SNAPSHOT_EVERY, Snapshotter};
use crate::view::{View, Views};
use crate::watched::Watched;
use crate::writer_stats::{Durations, OfSteps, WriterStats};
use headroom_core::event_text::{named, task_states};

mod flush;
pub(crate) use flush::FILES_CHECKED_EVERY;
pub(crate) use flush::Publication;
mod notes;

/// Number of scheduling steps between two batches of commands. The limit is a number, not a duration, so that the order
/// does not depend on the machine.
pub const STEPS_PER_BATCH: u32 = 4_096;

/// Interval of the scans that the reference makes periodically. Source: scheduling §11.7, §15.
pub const SCAN_EVERY: Millis = Millis::from_secs(1);

/// Interval of the search for missed asks that could start. Source: tenants §2.4.
const SWEEP_EVERY: Millis = Millis::from_secs(1);

/// Maximum number of groups of equal waiting asks, and queues, for which one search checks everything.
const SWEPT_AT_ONCE: usize = 1_024;

/// Interval of samples of the numbers of applications and allocations. Source: scheduling §18.1.
const SAMPLE_EVERY: Millis = Millis::from_secs(60);

/// A command and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Sender of the command, with an id if repeats are to be recognized. `None` if unknown. Commands of one sender can
    /// share it.
    pub origin: Option<Arc<Origin>>,
    /// The command.
    pub command: Command,
}

impl From<Command> for Submission {
    fn from(command: Command) -> Self {
        Self { origin: None, command }
    }
}

/// An accepted command, whose events are durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// Number of the record of the command. For a command without an effect, the number of the previous record.
    pub sequence: u64,
    /// Entry of the record. `None` for a command without an effect, or one that was accepted long ago.
    pub entry: Option<Arc<Entry>>,
    /// Whether a command with the same ID was already accepted.
    pub repeated: bool,
}

/// Outcome of a command.
pub type Outcome = Result<Accepted, Rejection>;

/// Limits of stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Entries of the feed, for followers.
    pub entries: usize,
    /// Records of events of objects, for watchers. 0 for the default.
    pub records: usize,
    /// Number of records after which a snapshot is taken, if the last snapshot is not larger than these records.
    pub snapshot_every: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { entries: ENTRIES_KEPT, records: 0, snapshot_every: SNAPSHOT_EVERY }
    }
}

/// Totals of records that are not durable yet.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    records: u64,
    bytes: u64,
    /// Steps of the scheduler among the records.
    steps: u64,
}

/// The writer and its state.
pub struct Writer {
    books: Books,
    scheduler: Scheduler,
    journal: Journal,
    keeper: Snapshotter,
    /// Time of the last record. The journal's time never decreases, even if the clock is set back.
    last: Timestamp,
    answers: IdempotencyCache,
    /// The audit log, which is written after the journal.
    trail: AuditLog,
    /// Audit facts of the current record.
    facts: Vec<Fact>,
    telling: RecordSequencer,
    edges: Edges,
    /// Events of the current step.
    events: Vec<Event>,
    batch: Batch,
    /// Entries of the records that are not durable yet.
    entries: VecDeque<Arc<Entry>>,
    records: Vec<record::Record>,
    swept: Timestamp,
    /// Time of the last check that the files of the journal are in place.
    looked_after: Timestamp,
    scanned: Timestamp,
    scan_every: Option<Millis>,
    history: Arc<History>,
    sampled: Timestamp,
    counters: Counters,
    tally: Tally,
    /// Whether the tally is unchanged since it was last published.
    is_counted: bool,
    step_times: Durations<OfSteps>,
    work: WriterStats,
    feed: Feed,
    copies: SharedCopy,
    /// Time of the last published copy of the books.
    shown: Instant,
    views: Views,
    watched: Watched,
    vitals: Arc<Vitals>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Writer").field("journal", &self.journal).finish_non_exhaustive()
    }
}

impl Writer {
    /// Returns a writer that continues a journal after its end.
    pub fn new(store: Box<dyn Store>, recovered: Recovered, retention: Retention) -> Self {
        let Recovered { books, answers, sequence, time, replayed, trail, .. } = recovered;
        let mut scheduler = Scheduler::watching(&books);
        scheduler.count_records(sequence);
        let tally = Tally::of(&books);
        let (shown, counted) = (Arc::new(books.clone()), tally.clone());
        let copies = SharedCopy::from(sequence, Arc::clone(&shown));
        let first = View { sequence, time, books: shown, tally: counted, ..View::default() };
        let views = Views::new(first);
        Self {
            books,
            scheduler,
            journal: Journal::new(store),
            keeper: Snapshotter::new(retention.snapshot_every, replayed),
            last: time,
            answers,
            trail,
            facts: Vec::new(),
            telling: RecordSequencer::default(),
            edges: Edges::default(),
            events: Vec::new(),
            batch: Batch::default(),
            entries: VecDeque::new(),
            records: Vec::new(),
            swept: time,
            looked_after: time,
            scanned: time,
            scan_every: Some(SCAN_EVERY),
            history: Arc::default(),
            sampled: time,
            counters: Counters::default(),
            tally,
            is_counted: true,
            step_times: Durations::default(),
            work: WriterStats::default(),
            feed: Feed::new(sequence + 1, retention.entries),
            copies,
            shown: Instant::now(),
            views,
            watched: Watched::new(retention.records),
            vitals: Arc::default(),
        }
    }

    /// Returns whether records are stored.
    pub(crate) fn stores(&self) -> bool {
        self.journal.store().stores()
    }

    /// Returns a reader of the durable part of the journal, for another thread.
    pub(crate) fn journal_reader(&self) -> Box<dyn ReadStore + Send> {
        self.journal.store().reader()
    }

    /// Returns the data that other threads can read while the writer runs.
    pub fn published(&self) -> Published {
        Published {
            feed: self.feed.clone(),
            views: self.views.clone(),
            watched: self.watched.clone(),
            audit: self.trail.reader(),
            vitals: Arc::clone(&self.vitals),
        }
    }

    /// Returns the current books, including changes that are not durable yet.
    pub const fn books(&self) -> &Books {
        &self.books
    }

    /// Returns the current state.
    pub fn moment(&self) -> WriterState<'_> {
        let (books, scheduler, copies) = (self.books(), self.scheduler(), &self.copies);
        WriterState { books, scheduler, sequence: self.journal.next() - 1, time: self.last, copies }
    }

    /// Returns the scheduler, to query wait reasons.
    pub const fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Executes a command at this time. Applies its events, which become durable with the next [`Writer::flush`]. Do
    /// not report the outcome before the flush.
    ///
    /// # Errors
    /// If a record cannot be written at all. The state in memory is then ahead of the journal.
    pub fn judge(
        &mut self,
        now: Timestamp,
        submission: Submission,
    ) -> Result<Outcome, EngineError> {
        let now = self.step_to(now);
        let Submission { origin, command } = submission;
        self.work.commands += 1;
        if let Some(sequence) = origin.as_deref().and_then(|one| self.answers.find(one)) {
            self.work.repeated += 1;
            let entry = self.entry_of(sequence);
            return Ok(Ok(Accepted { sequence, entry, repeated: true }));
        }
        let events = match decide(&self.books, now, &command) {
            Ok(events) => events,
            Err(rejection) => return Ok(Err(self.refuse(now, &command, rejection))),
        };
        let command = command.recorded(&events);
        let record = self.record_of(now, Some((origin, command)), events);
        // A record that cannot be written is refused before any of it is applied, because a request must not stop the
        // journal.
        let entry = match self.journal.encode(&record) {
            Ok(bytes) => self.carry_out(record, bytes),
            Err(why) => {
                let command = record.command.expect("it has the command");
                return Ok(Err(self.refuse(now, &command, why.into())));
            }
        };
        let sequence = self.journal.next() - 1;
        Ok(Ok(Accepted { sequence, entry, repeated: false }))
    }

    fn refuse(&mut self, now: Timestamp, command: &Command, rejection: Rejection) -> Rejection {
        self.work.refused += 1;
        self.tally.refuse(command, &rejection);
        self.note_refusal(now, command);
        rejection
    }

    /// Runs at most `most` steps of the scheduler. The result specifies whether more steps are possible.
    ///
    /// # Errors
    /// The same as [`Writer::judge`].
    pub fn schedule(&mut self, now: Timestamp, most: u32) -> Result<Scheduled, EngineError> {
        let now = self.step_to(now);
        for steps in 0..most {
            // Measured only for metrics. No decision depends on it.
            let began = Instant::now();
            let step = self.scheduler.next(&self.books, now, &mut self.events);
            self.step_times.note(began.elapsed());
            for head in self.scheduler.take_heads() {
                self.tally.lead(&self.books, now, head);
                self.is_counted = false;
            }
            match step {
                Step::Moved => {
                    self.work.steps += 1;
                    self.batch.steps += 1;
                    self.record(now, None)?;
                }
                Step::Idle { .. } if self.sweep(now) => {}
                Step::Idle { wake_at } => {
                    // The scheduler might have moved more asks to the waiting ones.
                    self.hear_notes(now);
                    return Ok(Scheduled { steps, more: false, wake_at });
                }
            }
        }
        Ok(Scheduled { steps: most, more: true, wake_at: None })
    }

    /// Searches at intervals for asks that could start but that no event triggered. Runs only while nothing changes.
    /// Returns whether such asks exist.
    fn sweep(&mut self, now: Timestamp) -> bool {
        if now < self.swept + SWEEP_EVERY {
            return false;
        }
        self.swept = now;
        let missed = self.scheduler.sweep(&self.books, now, SWEPT_AT_ONCE);
        for application in &missed {
            let name = &self.books.application(*application).name;
            tracing::error!(task = %name, "a task could start, but only the periodic sweep found it");
            self.tally.rescue(&self.books, *application);
            self.is_counted = false;
        }
        !missed.is_empty()
    }

    /// Fires the due timers, and makes the periodic scans.
    ///
    /// # Errors
    /// The same as [`Writer::judge`].
    pub fn pass_time(&mut self, now: Timestamp) -> Result<(), EngineError> {
        let now = self.step_to(now);
        if self.books.next_deadline().is_some_and(|due| due <= now) {
            self.by_itself(now, Command::Tick)?;
        }
        if self.next_scan().is_some_and(|due| due <= now) {
            self.scanned = now;
            let names = self.books.partitions().values().map(|one| one.name.clone());
            for partition in names.collect::<Vec<_>>() {
                self.by_itself(now, Command::ScanQuotas { partition: partition.clone() })?;
                self.hint(now, partition)?;
            }
        }
        if now >= self.sampled + SAMPLE_EVERY {
            self.sampled = now;
            Arc::make_mut(&mut self.history).push(Sample::of(&self.books, now));
        }
        Ok(())
    }

    #[cfg(feature = "testkit")]
    pub(crate) fn spoil(&mut self, spoil: crate::handle::Corrupt) {
        spoil(&mut self.books, &mut self.scheduler);
        self.copies.forget();
    }

    /// Returns the next time at which a timer or scan is due. `None` without timers and scans.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let times = [self.books.next_deadline(), self.next_scan()];
        times.into_iter().flatten().min()
    }

    fn next_scan(&self) -> Option<Timestamp> {
        self.scan_every.map(|every| self.scanned + every)
    }

    /// Lets nothing start before the known nodes have reported. Tenants §2.6.
    ///
    /// # Errors
    /// The same as [`Writer::judge`].
    pub fn await_nodes(&mut self, now: Timestamp) -> Result<(), EngineError> {
        let now = self.step_to(now);
        let names = self.books.partitions().values().map(|one| one.name.clone());
        for partition in names.collect::<Vec<_>>() {
            self.by_itself(now, Command::Recover { partition })?;
        }
        Ok(())
    }

    /// Sets the interval of the periodic scans. `None` disables them.
    pub const fn set_scan_every(&mut self, every: Option<Millis>) {
        self.scan_every = every;
    }

    /// Returns the entry of a record, durable or not. `None` if the entry is no longer in memory.
    fn entry_of(&self, sequence: u64) -> Option<Arc<Entry>> {
        let durable = self.journal.next() - self.entries.len() as u64;
        if sequence < durable {
            return self.feed.read(sequence, 1).ok()?.pop();
        }
        let at = usize::try_from(sequence - durable).ok()?;
        self.entries.get(at).cloned()
    }

    /// Returns the time of a step, which never decreases even if the clock is set back.
    fn step_to(&mut self, now: Timestamp) -> Timestamp {
        self.last = self.last.max(now);
        self.last
    }

    /// Executes a command without a sender.
    ///
    /// # Errors
    /// The same as [`Writer::judge`].
    pub(crate) fn by_itself(
        &mut self,
        now: Timestamp,
        command: Command,
    ) -> Result<(), EngineError> {
        if let Ok(events) = decide(&self.books, now, &command) {
            self.events = events;
            self.record(now, Some((None, command)))?;
        }
        Ok(())
    }

    /// Records the asks of a partition that could use more nodes. The scheduler maintains the list of these asks.
    fn hint(&mut self, now: Timestamp, partition: Name) -> Result<(), EngineError> {
        if let Some(id) = self.books.partition_named(&partition) {
            self.events = self.scheduler.outstanding(&self.books, id);
            self.record(now, Some((None, Command::ScanOutstanding { partition })))?;
        }
        Ok(())
    }

    /// Applies the pending events as a record. `None` without pending events.
    fn record(
        &mut self,
        now: Timestamp,
        cause: Option<(Option<Arc<Origin>>, Command)>,
    ) -> Result<Option<Arc<Entry>>, EngineError> {
        let events = std::mem::take(&mut self.events);
        let record = self.record_of(now, cause, events);
        let sequence = record.sequence;
        let bytes = self.journal.encode(&record);
        let bytes = bytes.map_err(|source| EngineError::Unwritable { sequence, source })?;
        Ok(self.carry_out(record, bytes))
    }

    /// Returns the next record. Applies nothing.
    fn record_of(
        &self,
        now: Timestamp,
        cause: Option<(Option<Arc<Origin>>, Command)>,
        events: Vec<Event>,
    ) -> Record {
        let (origin, command) = cause.unzip();
        let origin = origin.flatten().filter(|one| **one != Origin::default());
        Record { sequence: self.journal.next(), time: now, origin, command, events }
    }

    /// Applies a record, and adds its bytes to the batch. Does nothing without events.
    fn carry_out(&mut self, mut record: Record, bytes: Vec<u8>) -> Option<Arc<Entry>> {
        if record.events.is_empty() {
            return None;
        }
        // The feed stores many records, and most have one or two events.
        record.events = exact(record.events);
        let now = record.time;
        self.scheduler.count_records(record.sequence);
        let mut told_rm = Vec::new();
        let mut names = Vec::with_capacity(record.events.len());
        let Self { books, scheduler, telling, edges, records, tally, facts: audited, .. } = self;
        let mut heard = |record: record::Record| records.push(record);
        let command = record.command.as_ref();
        for event in &record.events {
            // Each consumer reads the books as they are before the event, because some rows are removed by it.
            // 1. Notices to the resource manager.
            told_rm.extend(notices(books, now, command, event));
            // 2. The names of the rows in the event, for later readers.
            names.push(named(books, command, event));
            // 3. The facts for the audit log of tenants.
            facts(books, command, event, audited);
            // 4. Metrics: first the decision of the scheduler, and then its effects.
            if command.is_none() {
                tally.judge(books, event);
            }
            tally.hear(books, now, event);
            // 5. YuniKorn's events: those of waiting asks are before those of the change that ends the wait.
            edges.hear(books, now, event, &mut heard);
            telling.hear(books, now, event, &mut heard);
            // 6. The books and the indexes of the scheduler. Nothing reads the event after this.
            scheduler.apply(books, now, event);
        }
        put_in_order(command, &mut told_rm);
        let told_rm = exact(told_rm);
        let tasks = task_states(books, &names);
        telling.finish(&mut heard);
        self.hear_notes(now);
        self.batch.records += 1;
        self.batch.bytes += self.journal.add(&record, bytes);
        self.answers.note(&record);
        self.trail.add(&record, &self.facts);
        self.facts.clear();
        let entry = Arc::new(Entry { record, notices: told_rm, named: names, tasks });
        self.entries.push_back(Arc::clone(&entry));
        Some(entry)
    }

    fn note_refusal(&mut self, now: Timestamp, command: &Command) {
        let records = &mut self.records;
        records_of_refusal(&self.books, now, command, &mut |record| records.push(record));
        if matches!(command, Command::AddNode(_)) {
            self.counters.failed_nodes += 1;
        } else if matches!(command, Command::Ask(_) | Command::SetForeign(_)) {
            self.counters.errors += 1;
        }
    }
}

/// Returns a list without spare capacity. An allocator can leave a block in place that shrinks to half its size.
fn exact<T>(list: Vec<T>) -> Vec<T> {
    if list.len() == list.capacity() {
        return list;
    }
    let mut exact = Vec::with_capacity(list.len());
    exact.extend(list);
    exact
}

/// Result of running the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Number of steps.
    pub steps: u32,
    /// Whether more steps might be possible immediately.
    pub more: bool,
    /// Time at which the scheduler can act without a new event.
    pub wake_at: Option<Timestamp>,
}
