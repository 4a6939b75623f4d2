//! Is the audit whole: every record as it was written, each behind the one before, and as far as the journal
//! says that it was.

use std::fmt;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headroom_journal::ReadStore;
use headroom_journal::disk::Disk;

use super::files::{Files, name_of};
use super::lines::Lines;
use super::record::{AuditRecord, AuditType, Head, NoRecord};
use crate::error::EngineError;
use crate::image::Image;
use crate::recover::recover;

/// How many faults are reported one by one.
const FAULTS_TOLD: usize = 100;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditVerified {
    /// How many files were read.
    pub files: usize,
    /// How many records are there.
    pub records: u64,
    /// The first; its predecessor was dropped with its time, or never was.
    pub first: Option<AuditRecord>,
    /// The last one.
    pub last: Option<AuditRecord>,
    /// How many records the journal has for it that are not there yet: the next start makes them.
    pub to_come: u64,
    /// How many faults there are.
    pub faults_found: u64,
    /// The first of them.
    pub faults: Vec<AuditFault>,
}

/// Something is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFault {
    /// In which file.
    pub file: PathBuf,
    /// In which line, counted from 1; 0 where it is not about one.
    pub line: u64,
    /// What.
    pub fault: Fault,
}

impl fmt::Display for AuditFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file.display())?;
        if self.line > 0 {
            write!(out, ", line {}", self.line)?;
        }
        write!(out, ": {}", self.fault)
    }
}

/// What is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line is no record.
    #[error("expected record {expected}, but the line is not a record: {why}")]
    Unreadable {
        /// Which record was expected there.
        expected: u64,
        /// Why it cannot be read.
        why: String,
    },
    /// The last line has no end.
    #[error(
        "the last line, record {expected}, is truncated. The next start writes record {expected} \
         again from the journal"
    )]
    CutOff {
        /// Which record was expected there.
        expected: u64,
    },
    /// A record was changed.
    #[error(
        "record {seq} was changed: its hash is {found}, but the hash of its content is {expected}"
    )]
    Changed {
        /// Which.
        seq: u64,
        /// What it says.
        found: String,
        /// What it had to be.
        expected: String,
    },
    /// Records are missing.
    #[error("expected record {from}, but found record {found}: {} missing", missing(*from, *found))]
    Missing {
        /// The first that is missing.
        from: u64,
        /// The one behind them.
        found: u64,
    },
    /// A record is not in its place.
    #[error("expected record {expected}, but found record {seq}, which must come earlier")]
    Order {
        /// Which.
        seq: u64,
        /// Which was expected there.
        expected: u64,
    },
    /// A record follows another one than that before it.
    #[error(
        "record {seq} has {found} as the hash of the previous record, but that hash is {expected}: \
         one of the two records was replaced"
    )]
    Chain {
        /// Which.
        seq: u64,
        /// What it says of the one before.
        found: String,
        /// What that has.
        expected: String,
    },
    /// The journal knows a record with another hash.
    #[error(
        "record {seq} has the hash {found}, but the journal recorded {expected}: this record, or \
         an earlier record, was replaced"
    )]
    Other {
        /// Which.
        seq: u64,
        /// What it has.
        found: String,
        /// What it had when a snapshot was taken, or has to have by the records since.
        expected: String,
    },
    /// The end is missing.
    #[error("the audit log ends with record {last}, but the journal recorded {had} records: the last {} are missing", had - last)]
    Ends {
        /// The last that is there.
        last: u64,
        /// How many there were.
        had: u64,
    },
}

fn missing(from: u64, found: u64) -> String {
    match found - from {
        1 => format!("record {from} is"),
        _ => format!("records {from} to {} are", found - 1),
    }
}

/// What a journal knows of its audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditKnown {
    /// How far it was when a snapshot was taken.
    durable: Vec<Head>,
    /// How far it is when the journal has been replayed.
    last: Head,
}

impl AuditKnown {
    /// Read a journal for it.
    ///
    /// # Errors
    /// As [`recover()`].
    pub fn of(store: &dyn ReadStore) -> Result<Self, EngineError> {
        let mut durable = Vec::new();
        for sequence in store.snapshots()? {
            // One that cannot be read says nothing; a start says so.
            let image = store.snapshot(sequence).map_err(Into::into).and_then(Image::of);
            durable.extend(image.ok().map(|image| image.audit));
        }
        let last = recover(store)?.trail.head().clone();
        Ok(Self { durable, last })
    }

    /// The last record that was durable for sure.
    fn newest(&self) -> u64 {
        self.durable.iter().map(|head| head.seq).max().unwrap_or_default()
    }
}

/// Read all of the audit in a folder; with `known`, also compare it with its journal.
///
/// # Errors
/// When it cannot be read. Faults in the audit are part of the result.
pub fn verify_audit(disk: &Arc<dyn Disk>, known: Option<&AuditKnown>) -> io::Result<AuditVerified> {
    let mut judge = Judge::new(known);
    let segments = Files::listed(Arc::clone(disk))?;
    let list = segments.list().clone();
    for (at, segment) in list.iter().enumerate() {
        let name = name_of(segment.first);
        judge.begin(disk.path(&name));
        judge.begins.get_or_insert(segment.first);
        for line in Lines::of(disk.open(&name, false)?, segment.length) {
            let line = line?;
            judge.judge(&line.bytes, line.is_whole || at + 1 < list.len());
        }
    }
    Ok(judge.end(&disk.path("")))
}

/// The same of lines from anywhere, such as an export of all records.
///
/// # Errors
/// When they cannot be read.
pub fn verify_audit_lines(place: &Path, mut lines: impl BufRead) -> io::Result<AuditVerified> {
    let mut judge = Judge::new(None);
    judge.begin(place.to_owned());
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let is_whole = line.pop_if(|last| *last == b'\n').is_some();
        judge.judge(&line, is_whole);
        line.clear();
    }
    Ok(judge.end(place))
}

struct Judge<'a> {
    known: Option<&'a AuditKnown>,
    file: PathBuf,
    line: u64,
    /// The record that the next one follows; none before the first.
    head: Option<Head>,
    /// The record with which the first file began, by its name; none where lines come from anywhere.
    begins: Option<u64>,
    /// The journal was cut off behind the newest snapshot, so that it does not know all of the chain.
    is_cut: bool,
    verified: AuditVerified,
}

impl<'a> Judge<'a> {
    fn new(known: Option<&'a AuditKnown>) -> Self {
        let (file, verified) = (PathBuf::new(), AuditVerified::default());
        Self { known, file, line: 0, head: None, begins: None, is_cut: false, verified }
    }

    fn begin(&mut self, file: PathBuf) {
        (self.file, self.line) = (file, 0);
        self.verified.files += 1;
    }

    fn fault(&mut self, fault: Fault) {
        self.verified.faults_found += 1;
        if self.verified.faults.len() < FAULTS_TOLD {
            let (file, line) = (self.file.clone(), self.line);
            self.verified.faults.push(AuditFault { file, line, fault });
        }
    }

    fn judge(&mut self, line: &[u8], is_whole: bool) {
        self.line += 1;
        let first = self.begins.unwrap_or(1);
        let expected = self.head.as_ref().map_or(first, |head| head.seq + 1);
        if !is_whole {
            return self.fault(Fault::CutOff { expected });
        }
        let record = match AuditRecord::read(line) {
            Ok(record) => record,
            Err(NoRecord::Unreadable(why)) => {
                return self.fault(Fault::Unreadable { expected, why });
            }
            Err(NoRecord::Changed { seq, found, expected: hash }) => {
                // The records behind it were made when it had the hash that it says.
                let head = Head { seq, hash: found.clone() };
                self.fault(Fault::Changed { seq, found, expected: hash });
                if self.head.as_ref().is_none_or(|before| before.seq + 1 == seq) {
                    self.head = Some(head);
                }
                return;
            }
        };
        self.verified.records += 1;
        let seq = record.seq;
        // The first stored record may follow one that was dropped with its time: files are, as a whole.
        let before = self.head.clone().unwrap_or_else(|| match self.begins.unwrap_or(seq) {
            1 => Head::default(),
            first => Head { seq: first.saturating_sub(1), hash: record.prev_hash.clone() },
        });
        if seq <= before.seq {
            return self.fault(Fault::Order { seq, expected: before.seq + 1 });
        }
        if seq > before.seq + 1 {
            self.fault(Fault::Missing { from: before.seq + 1, found: seq });
        } else if record.prev_hash != before.hash {
            let (found, expected) = (record.prev_hash.clone(), before.hash);
            self.fault(Fault::Chain { seq, found, expected });
        }
        self.compare(&record);
        self.head = Some(record.head());
        self.verified.first.get_or_insert_with(|| record.clone());
        self.verified.last = Some(record);
    }

    fn compare(&mut self, record: &AuditRecord) {
        let Some(known) = self.known else { return };
        self.is_cut |= record.kind == AuditType::LedgerRebuilt && record.seq > known.newest();
        let last = (!self.is_cut).then_some(&known.last);
        let mut heads = known.durable.iter().chain(last);
        let other = heads.find(|head| head.seq == record.seq && head.hash != record.hash);
        if let Some(head) = other {
            let (seq, found, expected) = (record.seq, record.hash.clone(), head.hash.clone());
            self.fault(Fault::Other { seq, found, expected });
        }
    }

    fn end(mut self, folder: &Path) -> AuditVerified {
        let last = self.head.as_ref().map_or(0, |head| head.seq);
        if let Some(known) = self.known {
            let had = known.newest();
            if had > last {
                (self.file, self.line) = (folder.to_owned(), 0);
                self.fault(Fault::Ends { last, had });
            }
            if !self.is_cut {
                self.verified.to_come = known.last.seq.saturating_sub(had.max(last));
            }
        }
        self.verified
    }
}
