//! The audit log: a hash chain of all changes to tenants and their tasks. Tenants TR-71 to TR-73, decision page 31.
//!
//! The audit log is derived from the journal alone. It is written after the journal, so it contains only durable
//! changes. After a crash, lost records are created again from the journal, byte by byte. A snapshot stores the end of
//! the audit log. The snapshot is taken only after this part of the audit log is durable.

mod facts;
mod files;
mod lines;
mod memory;
mod read;
mod record;
mod settings;
mod verify;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use headroom_core::books::Books;
use headroom_core::{Millis, Timestamp, view};
use headroom_journal::Record;
use headroom_journal::disk::Disk;

pub(crate) use facts::facts;
use files::{Files, Found, Group, SEGMENT_BYTES, Segments};
pub use headroom_journal::AUDIT_FOLDER;
use memory::InMemory;
pub use read::{AuditPage, AuditReader, AuditWanted};
use record::Cause;
pub(crate) use record::Fact;
pub use record::{AuditFields, AuditRecord, AuditType, Head, written_time};
pub use verify::{AuditFault, AuditKnown, AuditVerified, Fault, verify_audit, verify_audit_lines};

/// Maximum number of bytes that wait in memory while the files cannot be written. At the next start, later records are
/// created from the journal. No snapshot is taken until then.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Reason of a record after the journal was truncated by a repair.
const CUT_OFF: &str = "JOURNAL_CUT_OFF";

/// Delay of the next write after a failure.
const AGAIN_AFTER: Millis = Millis::from_secs(1);

/// Interval of the removal of old segments.
const RETAIN_EVERY: Millis = Millis::from_secs(600);

/// Size of segments in memory, and their maximum number.
const MEMORY: (u64, usize) = (1 << 20, 16);

/// The audit log from the view of the writer.
#[derive(Debug)]
pub(crate) struct AuditLog {
    /// End of the chain, including records that are not written yet.
    head: Head,
    /// Content of the existing files, until writing continues.
    found: Option<Found>,
    /// Last group in the existing files. Its record of the journal is completely or partly written.
    there: Option<Group>,
    waiting: VecDeque<Group>,
    waiting_bytes: usize,
    files: Files,
    /// Whether its files outlive the process.
    is_kept: bool,
    segments_max: usize,
    not_before: Timestamp,
    retained: Timestamp,
    status: Arc<Mutex<AuditStatus>>,
    warnings: Vec<String>,
}

/// Status of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditStatus {
    /// Time of the first change that is in the journal, but not in the audit log yet. `None` if the audit log is
    /// complete.
    pub behind_since: Option<Timestamp>,
    /// Error of the last write. `None` if the write succeeded.
    pub failure: Option<String>,
}

impl Default for AuditLog {
    fn default() -> Self {
        let (segment_bytes, segments_max) = MEMORY;
        let segments = Segments::on(Arc::new(InMemory::default()));
        Self::of(Files::new(segments, segment_bytes), None, segments_max)
    }
}

impl AuditLog {
    /// Opens the audit log on this disk. Changes nothing before [`AuditLog::go_on`].
    pub(crate) fn open(disk: Arc<dyn Disk>) -> io::Result<Self> {
        let (files, found) = Files::open(disk, SEGMENT_BYTES)?;
        Ok(Self::of(files, Some(found), usize::MAX))
    }

    fn of(files: Files, found: Option<Found>, segments_max: usize) -> Self {
        Self {
            head: Head::default(),
            is_kept: found.is_some(),
            found,
            there: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            files,
            segments_max,
            not_before: Timestamp::ZERO,
            retained: Timestamp::ZERO,
            status: Arc::default(),
            warnings: Vec::new(),
        }
    }

    /// Returns the last existing record. `None` if the files do not outlive the process.
    pub(crate) fn reach(&self) -> Option<u64> {
        let found = self.found.as_ref().filter(|_| self.is_kept)?;
        Some(found.reach.seq)
    }

    /// Continues writing. `durable` was the end of the audit log when the state was stored with which the replay
    /// begins. `was_durable` was the last durable record at the newest snapshot, which can be later.
    pub(crate) fn go_on(&mut self, durable: &Head, was_durable: u64) -> io::Result<()> {
        let Some(mut found) = self.found.take() else {
            self.head = durable.clone();
            return Ok(());
        };
        if found.reach.seq >= durable.seq {
            if found.reach.seq < was_durable {
                // A crash cannot cause this.
                let copies = self.files.copy(&found)?;
                let there = found.reach.seq;
                let fault = found.fault.as_deref().unwrap_or("the end of the file is missing");
                self.warnings.push(format!(
                    "the audit log is valid up to record {there}, but was durable up to record \
                     {was_durable} ({fault}). The server writes the later records again from the \
                     journal, and saved the damaged file{copies}"
                ));
            }
            self.files.go_on(&found)?;
            (self.head, self.there) = (found.reach, found.group.take());
            return Ok(());
        }
        let (there, was) = (found.reach.seq, durable.seq);
        let fault = found.fault.as_deref().unwrap_or("the end of the file is missing");
        self.warnings.push(format!(
            "the audit log is valid up to record {there}, but was durable up to record {was} \
             ({fault}). The server keeps the stored records and continues with record {}. Run \
             `headroom audit verify` for details",
            was + 1
        ));
        self.files.leave(&found, durable)?;
        self.head = durable.clone();
        Ok(())
    }

    /// Adds the facts of a record of the journal, unless the audit log already contains them.
    pub(crate) fn add(&mut self, record: &Record, facts: &[Fact]) {
        if facts.is_empty() || self.has_given_up() {
            return;
        }
        let origin = record.origin.as_ref();
        let cause = Cause {
            sequence: record.sequence,
            time: record.time,
            actor: match (&record.command, origin) {
                (None, _) => "scheduler",
                (Some(_), Some(origin)) if !origin.identity.is_empty() => &origin.identity,
                (Some(_), _) => "headroom",
            },
            request_id: origin.map_or("", |origin| &origin.request_id),
            any_version: origin.is_some_and(|origin| origin.any_version),
        };
        if self.there.as_ref().is_some_and(|there| there.ledger_version > record.sequence) {
            return; // It is there already.
        }
        let there = self.there.take_if(|there| there.ledger_version == record.sequence);
        self.there = None;
        let before = there.as_ref().map_or(&self.head, |there| &there.before);
        let mut group = Group {
            ledger_version: record.sequence,
            time: record.time,
            before: before.clone(),
            after: before.clone(),
            lines: Vec::with_capacity(facts.len()),
        };
        for fact in facts {
            group.lines.push(group.after.line(cause, fact));
        }
        if let Some(there) = there {
            if there.lines.iter().any(|line| line.contains(CUT_OFF)) {
                return; // What it says was there before the journal was cut off.
            }
            if !group.lines.starts_with(&there.lines) {
                // Another version wrote the group. Its records stay.
                self.warnings.push(format!(
                    "the audit log has other content for record {} of the journal than this \
                     version produces. The stored records stay unchanged",
                    record.sequence
                ));
                return;
            }
            group.before = there.after;
            group.lines.drain(..there.lines.len());
        }
        self.head = group.after.clone();
        if group.lines.is_empty() {
            return;
        }
        self.waiting_bytes += group.lines.iter().map(String::len).sum::<usize>();
        self.waiting.push_back(group);
    }

    /// Handles the end of the replay. If the journal ends before the audit log, a repair has truncated the journal. The
    /// audit log then retains its later records, and new records follow with the same record numbers of the journal.
    pub(crate) fn caught_up(&mut self, sequence: u64, time: Timestamp) {
        let Some(there) = self.there.take_if(|there| there.ledger_version > sequence) else {
            return;
        };
        let was = there.ledger_version;
        self.warnings.push(format!(
            "the journal ends with record {sequence}, but the audit log has records up to {was}, \
             because the journal was cut off. The audit log keeps its records, notes the cut, and \
             continues"
        ));
        let fields = |version: u64| {
            AuditFields::from([("ledgerVersion".to_owned(), serde_json::Value::from(version))])
        };
        let fact = Fact {
            kind: AuditType::LedgerRebuilt,
            tenant: None,
            task: None,
            before: fields(was),
            after: fields(sequence),
            reason: Some(CUT_OFF.to_owned()),
        };
        let (actor, request_id) = ("headroom", "");
        let before = self.head.clone();
        let line =
            self.head.line(Cause { sequence, time, actor, request_id, any_version: false }, &fact);
        self.waiting_bytes += line.len();
        let (after, lines) = (self.head.clone(), vec![line]);
        self.waiting.push_back(Group { ledger_version: sequence, time, before, after, lines });
    }

    /// Returns whether too many bytes wait in memory. If so, the next start writes the remaining records.
    fn has_given_up(&self) -> bool {
        self.waiting_bytes > WAITING_BYTES_MAX
    }

    /// Writes the waiting groups, whose records are durable in the journal. A failure is reported, and the write is
    /// tried again later.
    pub(crate) fn write(&mut self, now: Timestamp) {
        if self.waiting.is_empty() || now < self.not_before {
            return;
        }
        let written = self.write_all();
        self.note_outcome(now, written);
    }

    fn write_all(&mut self) -> io::Result<()> {
        let given_up = self.has_given_up();
        while let Some(group) = self.waiting.front() {
            self.files.append(group)?;
            let bytes: usize = group.lines.iter().map(String::len).sum();
            // The omitted records have to be written first, so nothing can be added before the next start.
            self.waiting_bytes -= if given_up { 0 } else { bytes };
            self.waiting.pop_front();
        }
        Ok(())
    }

    /// Makes all records durable. Returns whether that succeeded.
    pub(crate) fn sync(&mut self, now: Timestamp) -> bool {
        let synced = self.write_all().and_then(|()| self.files.sync());
        let is_synced = synced.is_ok() && !self.has_given_up();
        self.note_outcome(now, synced);
        is_synced
    }

    fn note_outcome(&mut self, now: Timestamp, done: io::Result<()>) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.behind_since = self.waiting.front().map(|group| group.time);
        if self.has_given_up() && status.behind_since.is_none() {
            status.behind_since = Some(now);
        }
        match done {
            Ok(()) => status.failure = None,
            Err(error) => {
                status.failure = Some(error.to_string());
                self.not_before = now + AGAIN_AFTER;
            }
        }
    }

    /// Removes records older than the retention time in the books, at intervals.
    pub(crate) fn retain(&mut self, now: Timestamp, books: &Books) {
        if now < self.retained + RETAIN_EVERY && self.retained > Timestamp::ZERO {
            return;
        }
        self.retained = now;
        let days = view::tenants(books).map(|(_, _, config)| config.audit_retention_days);
        let days = days.unwrap_or(u32::MAX);
        if let Err(error) = self.files.retain(now, days, self.segments_max) {
            self.note_outcome(now, Err(error));
        }
    }

    /// Returns the end of the chain.
    pub(crate) const fn head(&self) -> &Head {
        &self.head
    }

    /// Returns and removes the warnings about the start.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Returns a reader.
    pub(crate) fn reader(&self) -> AuditReader {
        AuditReader::of(self.files.segments.clone(), Arc::clone(&self.status))
    }
}
