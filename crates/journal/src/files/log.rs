//! A file of records: the records between two snapshots.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Database, ReadableDatabase as _, TableDefinition};
use xxhash_rust::xxh3::xxh3_64;

use super::names;
use super::overlay::{Failure, OverlayFile};
use super::scan::Salvage;
use crate::disk::{Disk, DiskFile, FileId};
use crate::error::{Damage, JournalError, Place};
use crate::frame::{frame, unframe};

/// Version of the file format that is written, and the newest that is read.
const FORMAT: u32 = 1;

/// Records with their headers, by number.
const RECORDS: TableDefinition<u64, &[u8]> = TableDefinition::new("records");

/// The only row, [`HEAD`]: version, number of the first record, checksum of the record before it, checksum of this row.
const ABOUT: TableDefinition<&str, &[u8]> = TableDefinition::new("about");
const HEAD: &str = "head";
const HEAD_BYTES: usize = 4 + 8 + 8 + 8;

/// Cache size of the library for one file, in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// Number of records that are read at once. `PAGE_BYTES` bounds their size.
const PAGE_RECORDS: usize = 512;
const PAGE_BYTES: usize = 4 << 20;

/// Purpose for which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Reading only. Writes of the library stay in memory.
    Read,
    /// Appending. Writes reach the file as soon as its content was checked.
    Append,
}

/// An open file of records. Clones share the database and also read later records. Only one clone can write.
#[derive(Clone)]
pub(super) struct Log {
    path: PathBuf,
    held: OverlayFile,
    database: Arc<Database>,
    /// Number of the first record of the file.
    pub(super) first: u64,
    /// Number of the next record.
    pub(super) next: u64,
    /// Checksum of the record before the first.
    pub(super) before: u64,
    /// Checksum of the last record. In an empty file, the checksum of the record before the first.
    pub(super) checksum: u64,
}

/// Consecutive records of a file, in order, and the checksum of the last.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) records: Vec<(u64, Vec<u8>)>,
    pub(super) checksum: u64,
}

/// The checksum of the previous record is unknown, because that record was not read.
pub(super) const UNKNOWN: Option<u64> = None;

fn about(first: u64, before: u64) -> [u8; HEAD_BYTES] {
    let mut bytes = [0; HEAD_BYTES];
    bytes[..4].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[4..12].copy_from_slice(&first.to_le_bytes());
    bytes[12..20].copy_from_slice(&before.to_le_bytes());
    let checksum = xxh3_64(&bytes[..20]);
    bytes[20..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Creates a file with these records. The file is either durable and complete, or does not exist. `before` is the
/// checksum of the record before the first.
pub(super) fn make(
    disk: &dyn Disk,
    first: u64,
    before: u64,
    records: impl Iterator<Item = io::Result<Vec<u8>>>,
) -> Result<(), JournalError> {
    let name = names::log(first);
    let new = names::new(&name);
    let path = disk.path(&new);
    let fail = |deed| {
        let path = path.clone();
        move |source| JournalError::access(deed, path, source)
    };
    let file = disk.open(&new, true).map_err(fail("make"))?;
    let held = OverlayFile::through(file.clone());
    let filled = fill(held.clone(), first, before, records).map_err(io_of);
    // The library writes once more when it closes the file, and does not return the result.
    match (filled, held.failure()) {
        (Ok(()), None) => {}
        (_, Some(failure)) => return Err(fail("make")(failure.to_error())),
        (Err(source), None) => return Err(fail("make")(source)),
    }
    file.sync().map_err(fail("flush"))?;
    disk.rename(&new, &name).map_err(fail("rename"))?;
    disk.sync().map_err(fail("flush the folder of"))
}

fn fill(
    held: OverlayFile,
    first: u64,
    before: u64,
    records: impl Iterator<Item = io::Result<Vec<u8>>>,
) -> Result<(), redb::Error> {
    let database = Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(held)?;
    let transaction = database.begin_write()?;
    {
        let mut rows = transaction.open_table(RECORDS)?;
        let mut checksum = before;
        for (sequence, bytes) in (first..).zip(records) {
            let (framed, next) = frame(sequence, checksum, &bytes?);
            rows.insert(sequence, &*framed)?;
            checksum = next;
        }
        transaction.open_table(ABOUT)?.insert(HEAD, &about(first, before)[..])?;
    }
    transaction.commit()?;
    Ok(())
}

/// Returns the I/O error if the disk failed.
fn io_of(error: redb::Error) -> io::Error {
    match error {
        redb::Error::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

impl Log {
    /// Opens the file that begins with this record, and checks its whole content. `last` is the last record that the
    /// file must have, if known.
    pub(super) fn open(
        disk: &dyn Disk,
        first: u64,
        purpose: Use,
        last: Option<u64>,
    ) -> Result<Self, JournalError> {
        let name = names::log(first);
        let path = disk.path(&name);
        let fail = |deed, source| JournalError::access(deed, path.clone(), source);
        let file = disk.open(&name, false).map_err(|source| fail("open", source))?;
        if file.is_empty().map_err(|source| fail("read", source))? {
            // The library would treat an empty file as a new one.
            let damage = Damage::Shape("the file is empty");
            return Err(JournalError::damaged(path, Place::default(), damage));
        }
        let held = OverlayFile::back(file.clone()).map_err(|source| fail("read", source))?;
        // The library checks each page before it uses it. If damage passes that check, the library can panic.
        let opened = catch_unwind(AssertUnwindSafe(|| Self::check(&path, &held, first)));
        let refused = match opened {
            Ok(Ok(log)) if last.is_none_or(|last| last < log.next) => {
                if purpose == Use::Append {
                    log.held.release().map_err(|source| fail("write", source))?;
                }
                return Ok(log);
            }
            Ok(Ok(_)) => Refused::Index("the newest records are not in the index".to_owned()),
            Ok(Err(refused)) => refused,
            Err(_) => {
                Refused::Index("the database library panicked while it read the index".to_owned())
            }
        };
        Err(match refused {
            Refused::Journal(error) => error,
            Refused::Index(reason) => locate(&*file, path, first, last, reason),
        })
    }

    /// Opens the database, and reads its whole content once.
    fn check(path: &Path, held: &OverlayFile, first: u64) -> Result<Self, Refused> {
        let database = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .set_check_integrity_on_open(true)
            .create_with_backend(held.clone())
            .map_err(redb::Error::from)?;
        let before = {
            let rows = database.begin_read().map_err(redb::Error::from)?;
            let rows = rows.open_table(ABOUT).map_err(redb::Error::from)?;
            let row = rows.get(HEAD).map_err(redb::Error::from)?;
            let row = row.ok_or(Refused::Index("the header of the index is missing".to_owned()))?;
            check_head(path, first, row.value())?
        };
        let (path, held, database) = (path.to_path_buf(), held.clone(), Arc::new(database));
        let mut log = Self { path, held, database, first, next: first, before, checksum: before };
        loop {
            let page = log.page_of(log.next, Some(log.checksum))?;
            let Some((last, _)) = page.records.last() else { return Ok(log) };
            log.next = last + 1;
            log.checksum = page.checksum;
        }
    }

    /// Returns records from number `from` on. `before` is the checksum of the previous record. The page is empty
    /// without such records.
    pub(super) fn page(&self, from: u64, before: Option<u64>) -> Result<Page, JournalError> {
        let read = catch_unwind(AssertUnwindSafe(|| self.page_of(from, before)));
        let refused = match read {
            Ok(Ok(page)) => return Ok(page),
            Ok(Err(refused)) => refused,
            Err(_) => {
                Refused::Index("the database library panicked while it read the index".to_owned())
            }
        };
        Err(match refused {
            Refused::Journal(error) => error,
            Refused::Index(reason) => {
                let place = Place::record(from);
                JournalError::damaged(self.path.clone(), place, Damage::Index(reason))
            }
        })
    }

    fn page_of(&self, from: u64, before: Option<u64>) -> Result<Page, Refused> {
        let transaction = self.database.begin_read().map_err(redb::Error::from)?;
        let rows = transaction.open_table(RECORDS).map_err(redb::Error::from)?;
        let mut page = Page { records: Vec::new(), checksum: before.unwrap_or_default() };
        let (mut before, mut bytes) = (before, 0);
        for (expected, row) in (from..).zip(rows.range(from..).map_err(redb::Error::from)?) {
            let (key, framed) = row.map_err(redb::Error::from)?;
            let key = key.value();
            let damaged = |damage| {
                let place = Place::record(expected);
                Refused::Journal(JournalError::damaged(self.path.clone(), place, damage))
            };
            if key != expected {
                return Err(damaged(Damage::Missing { first: expected, last: key - 1 }));
            }
            let (record, checksum) = unframe(framed.value(), key, before).map_err(damaged)?;
            bytes += record.len();
            page.records.push((key, record.to_vec()));
            page.checksum = checksum;
            before = Some(checksum);
            if page.records.len() == PAGE_RECORDS || bytes >= PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }

    /// Appends records after the last record, and flushes the new records.
    pub(super) fn append(&mut self, batch: &[Vec<u8>]) -> Result<(), JournalError> {
        let sequence = self.next;
        match self.insert(batch) {
            Ok(checksum) => {
                self.checksum = checksum;
                self.next += batch.len() as u64;
                Ok(())
            }
            Err(error) => {
                let failure = self.held.failure();
                let source = failure.as_ref().map_or_else(|| io_of(error), Failure::to_error);
                let path = self.path.clone();
                Err(if source.kind() == io::ErrorKind::StorageFull {
                    JournalError::Full { path, source }
                } else if failure.is_some_and(|one| one.flush) {
                    let sequence = sequence + batch.len() as u64 - 1;
                    JournalError::Flush { sequence, path, source }
                } else {
                    JournalError::Append { sequence, path, source }
                })
            }
        }
    }

    fn insert(&self, batch: &[Vec<u8>]) -> Result<u64, redb::Error> {
        // By default the library flushes each commit.
        let transaction = self.database.begin_write()?;
        let mut checksum = self.checksum;
        {
            let mut rows = transaction.open_table(RECORDS)?;
            for (sequence, bytes) in (self.next..).zip(batch) {
                let (framed, next) = frame(sequence, checksum, bytes);
                rows.insert(sequence, &*framed)?;
                checksum = next;
            }
        }
        transaction.commit()?;
        Ok(checksum)
    }

    /// Locks the file itself. No other process can then append to the file, even if the lock file was removed.
    pub(super) fn claim(&self) -> Result<(), JournalError> {
        match self.held.file().try_lock() {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(JournalError::Held { path: self.path.clone(), holder: "unknown".to_owned() })
            }
            Err(source) => Err(JournalError::access("lock", self.path.clone(), source)),
        }
    }

    /// Returns the identity of the file.
    pub(super) fn id(&self) -> io::Result<Option<FileId>> {
        self.held.file().id()
    }

    pub(super) const fn path(&self) -> &PathBuf {
        &self.path
    }
}

/// Reason why a file was not accepted.
enum Refused {
    Journal(JournalError),
    /// Error text of the database library. The caller finds the cause by its own checks.
    Index(String),
}

impl From<redb::Error> for Refused {
    fn from(error: redb::Error) -> Self {
        Self::Index(error.to_string())
    }
}

fn check_head(path: &Path, first: u64, bytes: &[u8]) -> Result<u64, Refused> {
    let damaged = |damage| {
        Refused::Journal(JournalError::damaged(path.to_path_buf(), Place::default(), damage))
    };
    let Ok(bytes) = <&[u8; HEAD_BYTES]>::try_from(bytes) else {
        return Err(damaged(Damage::Shape("the header of the file has the wrong length")));
    };
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("in the head"));
    let (expected, found) = (number(20), xxh3_64(&bytes[..20]));
    if expected != found {
        return Err(damaged(Damage::Checksum { expected, found }));
    }
    let format = u32::from_le_bytes(*bytes.first_chunk().expect("in the head"));
    if format > FORMAT {
        let (path, found) = (path.to_path_buf(), format);
        return Err(Refused::Journal(JournalError::Newer { path, found, known: FORMAT }));
    }
    if number(4) != first {
        return Err(damaged(Damage::Shape(
            "the first record of the file does not match the name of the file",
        )));
    }
    Ok(number(12))
}

/// Returns the error for damage that the library found, with its position.
fn locate(
    file: &dyn DiskFile,
    path: PathBuf,
    first: u64,
    last: Option<u64>,
    reason: String,
) -> JournalError {
    let salvage = match Salvage::of(file) {
        Ok(salvage) => salvage,
        Err(source) => return JournalError::access("read", path, source),
    };
    let next = salvage.history(first).last().map_or(first, |entry| entry.head.sequence + 1);
    if let Some((offset, damage)) = salvage.broken.get(&next) {
        let place = Place { offset: Some(*offset), sequence: Some(next), chunk: None };
        return JournalError::damaged(path, place, damage.clone());
    }
    match last {
        Some(last) if last >= next => {
            let damage = Damage::Missing { first: next, last };
            JournalError::damaged(path, Place::record(next), damage)
        }
        _ => JournalError::damaged(path, Place::default(), Damage::Index(reason)),
    }
}

/// Returns the records of a file that are whole, from its first on, whatever its index contains.
pub(super) fn salvage(
    disk: &dyn Disk,
    first: u64,
) -> Result<(Arc<dyn DiskFile>, Vec<super::scan::Entry>), JournalError> {
    let name = names::log(first);
    let fail = |source| JournalError::access("read", disk.path(&name), source);
    let file = disk.open(&name, false).map_err(fail)?;
    let entries = Salvage::of(&*file).map_err(fail)?.history(first);
    Ok((file, entries))
}
