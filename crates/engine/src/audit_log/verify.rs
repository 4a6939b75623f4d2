//! Verifies the audit log: every record is unchanged, each record follows the previous record, and no record is missing
//! according to the journal.

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

/// Maximum number of faults that are reported individually.
const FAULTS_TOLD: usize = 100;

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditVerified {
    /// Number of files.
    pub files: usize,
    /// Number of records.
    pub records: u64,
    /// First record. Earlier records were removed because of their age, or never existed.
    pub first: Option<AuditRecord>,
    /// Last record.
    pub last: Option<AuditRecord>,
    /// Number of records that the next start adds from the journal.
    pub to_come: u64,
    /// Number of faults.
    pub faults_found: u64,
    /// The first faults.
    pub faults: Vec<AuditFault>,
}

/// A fault in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFault {
    /// Path of the file.
    pub file: PathBuf,
    /// Number of the line, counted from 1. 0 if the fault is not in a line.
    pub line: u64,
    /// The fault.
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

/// Kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line is not a valid record.
    #[error("expected record {expected}, but the line is not a record: {why}")]
    Unreadable {
        /// Number of the expected record.
        expected: u64,
        /// Reason why the line cannot be parsed.
        why: String,
    },
    /// The last line has no line break.
    #[error(
        "the last line, record {expected}, is truncated. The next start writes record {expected} \
         again from the journal"
    )]
    CutOff {
        /// Number of the expected record.
        expected: u64,
    },
    /// A record was changed.
    #[error(
        "record {seq} was changed: its hash is {found}, but the hash of its content is {expected}"
    )]
    Changed {
        /// Number of the record.
        seq: u64,
        /// Hash in the record.
        found: String,
        /// Hash of its content.
        expected: String,
    },
    /// Records are missing.
    #[error("expected record {from}, but found record {found}: {} missing", missing(*from, *found))]
    Missing {
        /// First missing record.
        from: u64,
        /// The record after the missing records.
        found: u64,
    },
    /// A record is out of order.
    #[error("expected record {expected}, but found record {seq}, which must come earlier")]
    Order {
        /// Number of the record.
        seq: u64,
        /// Number of the expected record.
        expected: u64,
    },
    /// A record does not follow the previous record.
    #[error(
        "record {seq} has {found} as the hash of the previous record, but that hash is {expected}: \
         one of the two records was replaced"
    )]
    Chain {
        /// Number of the record.
        seq: u64,
        /// Hash of the previous record, as stored in this record.
        found: String,
        /// Actual hash of the previous record.
        expected: String,
    },
    /// The journal has another hash for a record.
    #[error(
        "record {seq} has the hash {found}, but the journal recorded {expected}: this record, or \
         an earlier record, was replaced"
    )]
    Other {
        /// Number of the record.
        seq: u64,
        /// Hash in the audit log.
        found: String,
        /// Hash from a snapshot, or from the later records of the journal.
        expected: String,
    },
    /// Records at the end are missing.
    #[error("the audit log ends with record {last}, but the journal recorded {had} records: the last {} are missing", had - last)]
    Ends {
        /// Last existing record.
        last: u64,
        /// Number of records that must exist.
        had: u64,
    },
}

fn missing(from: u64, found: u64) -> String {
    match found - from {
        1 => format!("record {from} is"),
        _ => format!("records {from} to {} are", found - 1),
    }
}

/// Facts about the audit log that a journal has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditKnown {
    /// End of the audit log at each snapshot.
    durable: Vec<Head>,
    /// End of the audit log after a replay of the journal.
    last: Head,
}

impl AuditKnown {
    /// Reads these facts from a journal.
    ///
    /// # Errors
    /// The same as [`recover()`].
    pub fn of(store: &dyn ReadStore) -> Result<Self, EngineError> {
        let mut durable = Vec::new();
        for sequence in store.snapshots()? {
            // An unreadable snapshot is ignored here. A start reports it.
            let image = store.snapshot(sequence).map_err(Into::into).and_then(Image::of);
            durable.extend(image.ok().map(|image| image.audit));
        }
        let last = recover(store)?.trail.head().clone();
        Ok(Self { durable, last })
    }

    /// Returns the last record that must be durable.
    fn newest(&self) -> u64 {
        self.durable.iter().map(|head| head.seq).max().unwrap_or_default()
    }
}

/// Verifies the whole audit log in a folder. With `known`, also compares the audit log with its journal.
///
/// # Errors
/// If the audit log cannot be read. Faults in the audit log are part of the result.
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

/// Verifies lines from another source, such as an export of all records.
///
/// # Errors
/// If the lines cannot be read.
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
    /// The previous record. `None` before the first.
    head: Option<Head>,
    /// First record of the first file, by its name. `None` for lines from another source.
    begins: Option<u64>,
    /// Whether the journal was truncated after the newest snapshot. The journal then does not have the whole chain.
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
                // Later records were created when this one had the hash that it contains.
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
        // The first stored record can follow removed ones, because old files are removed as a whole.
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
