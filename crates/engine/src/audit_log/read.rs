//! Reads the audit log while the writer appends to it.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use headroom_journal::disk::Disk;

use super::AuditStatus;
use super::files::{Files, Segments, name_of};
use super::lines::Lines;
use super::record::{AuditRecord, AuditType, NoRecord};

/// Maximum number of lines that are read for one response. With a filter that few records match, a page can be
/// incomplete, and the next page continues after its last line.
const LINES_AT_ONCE: usize = 50_000;

/// Reads the audit log. Clones read the same files.
#[derive(Clone, Debug)]
pub struct AuditReader {
    segments: Segments,
    status: Arc<Mutex<AuditStatus>>,
}

/// Filter of records.
pub struct AuditWanted<'a> {
    /// Only records after this number.
    pub after: u64,
    /// Only records from this time on, as written.
    pub from: Option<String>,
    /// Only records before this time.
    pub to: Option<String>,
    /// Only records of this type.
    pub kind: Option<AuditType>,
    /// Only records that this function accepts.
    pub which: &'a dyn Fn(&AuditRecord) -> bool,
    /// Maximum number of records of the page.
    pub limit: usize,
}

/// Some records, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// The records.
    pub records: Vec<AuditRecord>,
    /// Number after which the next page begins. `None` on the last page.
    pub more_after: Option<u64>,
}

impl AuditReader {
    pub(super) const fn of(segments: Segments, status: Arc<Mutex<AuditStatus>>) -> Self {
        Self { segments, status }
    }

    /// Returns a reader of the audit log on a disk, which another process can write meanwhile.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    pub fn open(disk: Arc<dyn Disk>) -> io::Result<Self> {
        Ok(Self::of(Files::listed(disk)?, Arc::default()))
    }

    /// Returns the status of the audit log.
    pub fn status(&self) -> AuditStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the records that match a filter. Reads files, so the call can block.
    ///
    /// # Errors
    /// If the files cannot be read, or a line is not a record.
    pub fn find(&self, wanted: &AuditWanted<'_>) -> io::Result<AuditPage> {
        let mut page = AuditPage::default();
        let mut looked = 0;
        let outcome = self.each(wanted.after, wanted.from.as_deref(), |record, _| {
            if wanted.to.as_ref().is_some_and(|to| record.at >= *to) {
                return false;
            }
            let is_wanted = wanted.from.as_ref().is_none_or(|from| record.at >= *from)
                && wanted.kind.is_none_or(|kind| record.kind == kind)
                && (wanted.which)(&record);
            if is_wanted && page.records.len() == wanted.limit || looked == LINES_AT_ONCE {
                page.more_after = Some(record.seq - 1);
                return false;
            }
            looked += 1;
            if is_wanted {
                page.records.push(record);
            }
            true
        });
        outcome.map(|()| page)
    }

    /// Calls `tell` with each record after a number, and its line, until `tell` returns `false`.
    ///
    /// # Errors
    /// The same as [`AuditReader::find`].
    pub fn each(
        &self,
        after: u64,
        from: Option<&str>,
        mut tell: impl FnMut(AuditRecord, &str) -> bool,
    ) -> io::Result<()> {
        let list = self.segments.list().clone();
        for (at, segment) in list.iter().enumerate() {
            let next = list.get(at + 1);
            let is_before = |one: &&super::files::Segment| {
                one.first <= after + 1
                    || from.is_some_and(|from| !one.began.is_empty() && *one.began < *from)
            };
            if next.as_ref().is_some_and(is_before) {
                continue;
            }
            let end = next.map_or(u64::MAX, |next| next.first);
            let name = name_of(segment.first);
            let file = match self.segments.disk.open(&name, false) {
                Ok(file) => file,
                // An old segment that was removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for (number, line) in (1..).zip(Lines::of(file, segment.length)) {
                let line = line?;
                // Another process is writing the line, or died while it did.
                if !line.is_whole && next.is_none() {
                    return Ok(());
                }
                let record = AuditRecord::read(&line.bytes)
                    .map_err(|why| self.damaged(&name, number, &why))?;
                if record.seq <= after {
                    continue;
                }
                // This segment is damaged, so another one was begun before its end.
                if record.seq >= end {
                    break;
                }
                let text = String::from_utf8_lossy(&line.bytes);
                if !tell(record, &text) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn damaged(&self, name: &str, number: u64, why: &NoRecord) -> io::Error {
        let path: PathBuf = self.segments.disk.path(name);
        let why = match why {
            NoRecord::Unreadable(why) => why.clone(),
            NoRecord::Changed { seq, .. } => format!("record {seq} was changed"),
        };
        let text = format!(
            "{}, line {number}, was changed or damaged ({why}). Run `headroom audit verify` for \
             details",
            path.display()
        );
        io::Error::new(io::ErrorKind::InvalidData, text)
    }
}
