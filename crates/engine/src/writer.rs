//! The single writer: judges commands one by one, lets the scheduler use what changed, makes it
//! all durable, and only then answers and tells.

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
mod notes;

/// How many steps the scheduler takes before the writer looks at new commands. Counted, not
/// timed, so that a replay takes the same path.
pub const STEPS_PER_BATCH: u32 = 4_096;

/// How often the scans come that the reference does by the clock. Source: scheduling §11.7, §15.
pub const SCAN_EVERY: Millis = Millis::from_secs(1);

/// How often it is looked whether something that could start was missed. Source: tenants §2.4.
const SWEEP_EVERY: Millis = Millis::from_secs(1);

/// At how many groups of what waits alike, and how many queues, such a look is taken at once.
const SWEPT_AT_ONCE: usize = 1_024;

/// How often the numbers of applications and allocations are noted. Source: scheduling §18.1.
const SAMPLE_EVERY: Millis = Millis::from_secs(60);

/// A command, and who gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Who gave it, and under which id if a repeat is to be known.
    pub origin: Origin,
    /// What is wanted.
    pub command: Command,
}

impl From<Command> for Submission {
    fn from(command: Command) -> Self {
        Self { origin: Origin::default(), command }
    }
}

/// A command was accepted, and what it led to is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The number of its record; of a command that changed nothing, of the last one before.
    pub sequence: u64,
    /// What it led to; none if it changed nothing, or was accepted long ago.
    pub entry: Option<Arc<Entry>>,
    /// Whether it was accepted before, under the same id.
    pub repeated: bool,
}

/// What became of a command.
pub type Outcome = Result<Accepted, Rejection>;

/// How much is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Entries of the feed, for followers.
    pub entries: usize,
    /// Records of what happened to objects, for watchers; 0 for as many as usual.
    pub records: usize,
    /// After how many records of the journal a snapshot is taken, if it is not larger than they.
    pub snapshot_every: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { entries: ENTRIES_KEPT, records: 0, snapshot_every: SNAPSHOT_EVERY }
    }
}

/// What is not durable yet.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    records: u64,
    bytes: u64,
    /// Steps of the scheduler among the records.
    steps: u64,
}

/// The writer and all that it holds.
pub struct Writer {
    books: Books,
    scheduler: Scheduler,
    journal: Journal,
    keeper: Snapshotter,
    /// When the last record was made: a wall clock may step back, the journal may not.
    last: Timestamp,
    answers: IdempotencyCache,
    /// What the audit says, behind the journal.
    trail: AuditLog,
    /// What the record at hand says to it.
    facts: Vec<Fact>,
    telling: RecordSequencer,
    edges: Edges,
    /// Events of the step at hand.
    events: Vec<Event>,
    batch: Batch,
    /// Of the records that are not durable yet.
    entries: VecDeque<Arc<Entry>>,
    records: Vec<record::Record>,
    swept: Timestamp,
    /// When it was last found out whether the files of the journal are in place.
    looked_after: Timestamp,
    scanned: Timestamp,
    scan_every: Option<Millis>,
    history: Arc<History>,
    sampled: Timestamp,
    counters: Counters,
    tally: Tally,
    /// Whether the tally is as it was published, where no record was made since.
    is_counted: bool,
    step_times: Durations<OfSteps>,
    work: WriterStats,
    feed: Feed,
    copies: SharedCopy,
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
    /// A writer that goes on where a journal ended.
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
            views,
            watched: Watched::new(retention.records),
            vitals: Arc::default(),
        }
    }

    /// A reader of the journal as far as it is durable, for another thread.
    pub(crate) fn journal_reader(&self) -> Box<dyn ReadStore + Send> {
        self.journal.store().reader()
    }

    /// What others may read while it writes.
    pub fn published(&self) -> Published {
        Published {
            feed: self.feed.clone(),
            views: self.views.clone(),
            watched: self.watched.clone(),
            audit: self.trail.reader(),
            vitals: Arc::clone(&self.vitals),
        }
    }

    /// The books as they are, what is not durable yet included.
    pub const fn books(&self) -> &Books {
        &self.books
    }

    /// What there is now.
    pub fn moment(&self) -> WriterState<'_> {
        let (books, scheduler, copies) = (self.books(), self.scheduler(), &self.copies);
        WriterState { books, scheduler, sequence: self.journal.next() - 1, time: self.last, copies }
    }

    /// The scheduler, to ask why something waits.
    pub const fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Judge a command at this time. What it leads to is applied, and durable with the next
    /// [`Writer::flush`]; do not report the outcome before.
    ///
    /// # Errors
    /// When a record cannot be written at all; memory is ahead of the journal then.
    pub fn judge(
        &mut self,
        now: Timestamp,
        submission: Submission,
    ) -> Result<Outcome, EngineError> {
        let now = self.step_to(now);
        let Submission { origin, command } = submission;
        self.work.commands += 1;
        if let Some(sequence) = self.answers.find(&origin) {
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
        // What cannot be written is refused before anything of it is applied: a request must not stop the journal.
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

    /// Let the scheduler take at most so many steps; whether there may be more.
    ///
    /// # Errors
    /// As [`Writer::judge`].
    pub fn schedule(&mut self, now: Timestamp, most: u32) -> Result<Scheduled, EngineError> {
        let now = self.step_to(now);
        for steps in 0..most {
            // Measured for metrics alone: nothing depends on it.
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
                    // It may have found that more has to wait.
                    self.hear_notes(now);
                    return Ok(Scheduled { steps, more: false, wake_at });
                }
            }
        }
        Ok(Scheduled { steps: most, more: true, wake_at: None })
    }

    /// Nothing moves: look now and then whether anything should, without a trigger. Returns whether anything
    /// does then.
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

    /// Fire the timers that are due, and do the scans of the clock.
    ///
    /// # Errors
    /// As [`Writer::judge`].
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

    /// When time alone may change something: a timer, or a scan; none if it never does.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let times = [self.books.next_deadline(), self.next_scan()];
        times.into_iter().flatten().min()
    }

    fn next_scan(&self) -> Option<Timestamp> {
        self.scan_every.map(|every| self.scanned + every)
    }

    /// Have nothing start before the nodes that are known have reported. Tenants §2.6.
    ///
    /// # Errors
    /// As [`Writer::judge`].
    pub fn await_nodes(&mut self, now: Timestamp) -> Result<(), EngineError> {
        let now = self.step_to(now);
        let names = self.books.partitions().values().map(|one| one.name.clone());
        for partition in names.collect::<Vec<_>>() {
            self.by_itself(now, Command::Recover { partition })?;
        }
        Ok(())
    }

    /// How often the scans of the clock come; none for never.
    pub const fn set_scan_every(&mut self, every: Option<Millis>) {
        self.scan_every = every;
    }

    /// The entry of a record, durable or not; none if it is no longer in memory.
    fn entry_of(&self, sequence: u64) -> Option<Arc<Entry>> {
        let durable = self.journal.next() - self.entries.len() as u64;
        if sequence < durable {
            return self.feed.read(sequence, 1).ok()?.pop();
        }
        let at = usize::try_from(sequence - durable).ok()?;
        self.entries.get(at).cloned()
    }

    /// The clock may step back, the journal does not.
    fn step_to(&mut self, now: Timestamp) -> Timestamp {
        self.last = self.last.max(now);
        self.last
    }

    /// A command that nobody sent.
    ///
    /// # Errors
    /// As [`Writer::judge`].
    pub(crate) fn by_itself(
        &mut self,
        now: Timestamp,
        command: Command,
    ) -> Result<(), EngineError> {
        if let Ok(events) = decide(&self.books, now, &command) {
            self.events = events;
            self.record(now, Some((Origin::default(), command)))?;
        }
        Ok(())
    }

    /// Tell of the asks of a partition that more nodes would help; the scheduler keeps along which those are.
    fn hint(&mut self, now: Timestamp, partition: Name) -> Result<(), EngineError> {
        if let Some(id) = self.books.partition_named(&partition) {
            self.events = self.scheduler.outstanding(&self.books, id);
            self.record(now, Some((Origin::default(), Command::ScanOutstanding { partition })))?;
        }
        Ok(())
    }

    /// Apply the events at hand, and make a record of them; none if there are none.
    fn record(
        &mut self,
        now: Timestamp,
        cause: Option<(Origin, Command)>,
    ) -> Result<Option<Arc<Entry>>, EngineError> {
        let events = std::mem::take(&mut self.events);
        let record = self.record_of(now, cause, events);
        let sequence = record.sequence;
        let bytes = self.journal.encode(&record);
        let bytes = bytes.map_err(|source| EngineError::Unwritable { sequence, source })?;
        Ok(self.carry_out(record, bytes))
    }

    /// Returns the next record, of which nothing is applied yet.
    fn record_of(
        &self,
        now: Timestamp,
        cause: Option<(Origin, Command)>,
        events: Vec<Event>,
    ) -> Record {
        let (origin, command) = cause.unzip();
        let origin = origin.filter(|one| *one != Origin::default());
        Record { sequence: self.journal.next(), time: now, origin, command, events }
    }

    /// Applies a record and adds its bytes to the batch; does nothing if nothing happens in it.
    fn carry_out(&mut self, record: Record, bytes: Vec<u8>) -> Option<Arc<Entry>> {
        if record.events.is_empty() {
            return None;
        }
        let now = record.time;
        self.scheduler.count_records(record.sequence);
        let mut told_rm = Vec::new();
        let mut names = Vec::with_capacity(record.events.len());
        let Self { books, scheduler, telling, edges, records, tally, facts: audited, .. } = self;
        let mut heard = |record: record::Record| records.push(record);
        let command = record.command.as_ref();
        for event in &record.events {
            // Each listener reads the books as they are before the event, since some rows are gone afterwards.
            // 1. What the resource manager must do or know.
            told_rm.extend(notices(books, now, command, event));
            // 2. The names of the rows in the event, for all that read it later.
            names.push(named(books, command, event));
            // 3. What the audit log of tenants records.
            facts(books, command, event, audited);
            // 4. Metrics: first what the scheduler decided, then what happened to it.
            if command.is_none() {
                tally.judge(books, event);
            }
            tally.hear(books, now, event);
            // 5. YuniKorn's events: those of waiting asks come before those of the change that ends the wait.
            edges.hear(books, now, event, &mut heard);
            telling.hear(books, now, event, &mut heard);
            // 6. The books and the indexes of the scheduler. Nothing reads the event after this.
            scheduler.apply(books, now, event);
        }
        put_in_order(command, &mut told_rm);
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

/// What came of letting the scheduler go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// How many steps it took.
    pub steps: u32,
    /// Whether there may be more to do at once.
    pub more: bool,
    /// When time alone may change something for it.
    pub wake_at: Option<Timestamp>,
}
