//! The journal in files of one folder, for one process at a time.
//!
//! | file | content |
//! | --- | --- |
//! | `log-N.redb` | the records from N on, up to the next such file: a redb database |
//! | `snapshot-N` | the books after record N |
//! | `mark` | the last acknowledged record, and the last lease |
//! | `lock` | the process that writes |
//! | `*.new` | a file that is being written and has no meaning yet |
//!
//! A snapshot begins another file of records, so that removing old records is removing a file. A file gets its final
//! name only when it is whole and durable.

mod ack_mark;
mod log;
mod names;
mod overlay;
mod read;
mod repair;
mod scan;
mod snapshot;

pub use repair::repair;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ack_mark::{AckMark, AckState};
use log::{Log, Use};

use crate::disk::{Disk, Folder, Lock};
use crate::error::{Damage, JournalError, Place};
use crate::frame::BEGINNING;
use crate::store::{
    AUDIT_FOLDER, Lease, RECORD_BYTES_MAX, ReadStore, Records, SNAPSHOTS_KEPT, Snapshot,
    SnapshotHead, Store, Stored, WriteSnapshot,
};

/// The journal in files of a folder, opened for reading. The reader changes nothing in the folder. It holds the lock,
/// so that no other process changes the folder meanwhile.
pub struct FileReader {
    disk: Arc<dyn Disk>,
    /// First records of the files before the current one.
    older: Vec<u64>,
    log: Log,
    /// The content of the mark.
    acked: AckState,
    /// Lock, shared with readers of a store. No other process can write until all of them have ended.
    lock: Arc<Lock>,
}

impl std::fmt::Debug for FileReader {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.log.path();
        out.debug_struct("FileReader").field("log", path).finish_non_exhaustive()
    }
}

/// The journal in files of one folder.
#[derive(Debug)]
pub struct FileStore {
    files: FileReader,
    mark: AckMark,
    lease: Lease,
    /// Whether a write failed. The state in memory can then be ahead of the disk.
    stopped: bool,
}

/// Locks a folder.
fn lock(disk: &dyn Disk) -> Result<Lock, JournalError> {
    let path = disk.path(names::LOCK);
    let holder = std::process::id().to_string();
    match disk.lock(names::LOCK, &holder) {
        Ok(Ok(lock)) => Ok(lock),
        Ok(Err(holder)) => {
            let known = !holder.is_empty() && holder.bytes().all(|byte| byte.is_ascii_digit());
            let holder = if known { holder } else { "unknown".to_owned() };
            Err(JournalError::Held { path, holder })
        }
        Err(source) => Err(JournalError::access("lock", path, source)),
    }
}

fn list(disk: &dyn Disk) -> Result<Vec<String>, JournalError> {
    disk.list().map_err(|source| JournalError::access("list", disk.path(""), source))
}

impl FileReader {
    /// Opens the journal of a disk, and checks its newest records.
    ///
    /// # Errors
    /// The same as [`FileStore::open`]. Also if the journal does not exist.
    pub fn open(disk: Arc<dyn Disk>) -> Result<Self, JournalError> {
        let lock = lock(&*disk)?;
        Self::open_as(disk, lock, Use::Read)
    }

    fn open_as(disk: Arc<dyn Disk>, lock: Lock, purpose: Use) -> Result<Self, JournalError> {
        let names = list(&*disk)?;
        let acked = ack_mark::read(&*disk)?.unwrap_or_default();
        let mut older = names::logs(&names);
        let snapshots = names::snapshots(&names);
        let Some(current) = older.pop() else {
            let last = acked.sequence.max(snapshots.last().copied().unwrap_or_default());
            let damage = Damage::Missing { first: 1, last };
            return Err(JournalError::damaged(disk.path(""), Place::default(), damage));
        };
        check_beginning(&*disk, older.first().copied().unwrap_or(current), &snapshots)?;
        let must = (acked.sequence >= current).then_some(acked.sequence);
        let log = Log::open(&*disk, current, purpose, must)?;
        log.claim()?;
        Ok(Self { disk, older, log, acked, lock: Arc::new(lock) })
    }

    /// Returns another reader of the same files, up to the current last record. The reader ignores later records.
    fn reader(&self) -> Self {
        Self {
            disk: Arc::clone(&self.disk),
            older: self.older.clone(),
            log: self.log.clone(),
            acked: self.acked,
            lock: Arc::clone(&self.lock),
        }
    }
}

impl FileStore {
    /// Opens the journal of a folder. Creates a missing folder.
    ///
    /// # Errors
    /// If another process has the journal open, if a file is damaged or newer than this version, or if the disk fails.
    /// A damaged file is not changed.
    pub fn open_folder(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let path = path.as_ref();
        let folder = Folder::new(path);
        let folder =
            folder.map_err(|source| JournalError::access("make", path.to_path_buf(), source))?;
        Self::open(Arc::new(folder))
    }

    /// Opens the journal of a disk.
    ///
    /// # Errors
    /// The same as [`FileStore::open_folder`].
    pub fn open(disk: Arc<dyn Disk>) -> Result<Self, JournalError> {
        let lock = lock(&*disk)?;
        let names = list(&*disk)?;
        for name in names.iter().filter(|name| names::is_new(name)) {
            let removed = disk.remove(name);
            removed.map_err(|source| JournalError::access("remove", disk.path(name), source))?;
        }
        let acked = ack_mark::read(&*disk)?.unwrap_or_default();
        let snapshots = names::snapshots(&names);
        if names::logs(&names).is_empty() && snapshots.is_empty() && acked.sequence == 0 {
            if names.iter().any(|name| name == AUDIT_FOLDER) {
                return Err(JournalError::Gone { path: disk.path("") });
            }
            log::make(&*disk, 1, BEGINNING, std::iter::empty())?;
        }
        let files = FileReader::open_as(disk, lock, Use::Append)?;
        let acked = AckState { sequence: files.log.next - 1, lease: files.acked.lease + 1 };
        let mark = AckMark::make(&*files.disk, acked)?;
        Ok(Self { files, mark, lease: Lease::new(acked.lease), stopped: false })
    }

    /// Returns an error unless this handle is allowed to write.
    fn may_write(&self, lease: Lease) -> Result<(), JournalError> {
        if lease != self.lease {
            let (presented, current) = (lease.token(), self.lease.token());
            return Err(JournalError::Deposed { presented, current });
        }
        if self.stopped {
            return Err(JournalError::Stopped { path: self.files.log.path().clone() });
        }
        Ok(())
    }

    /// Returns an error unless the lock file and the current log are still the files that this process opened.
    fn are_in_place(&self) -> Result<(), JournalError> {
        let FileReader { disk, log, lock, .. } = &self.files;
        let log_name = names::log(log.first);
        for (name, own) in [(names::LOCK, lock.id()), (&*log_name, log.id())] {
            let path = disk.path(name);
            let own =
                own.map_err(|source| JournalError::access("look at", path.clone(), source))?;
            match disk.id_of(name) {
                Ok(found) if found == own => {}
                Ok(_) => return Err(JournalError::Replaced { path }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(JournalError::Replaced { path });
                }
                Err(source) => return Err(JournalError::access("look at", path, source)),
            }
        }
        Ok(())
    }

    /// Stops all further writing if `outcome` is an error. Returns `outcome`.
    fn watch<T>(&mut self, outcome: Result<T, JournalError>) -> Result<T, JournalError> {
        self.stopped |= outcome.is_err();
        outcome
    }

    /// Begins a new file for the records from now on.
    fn turn(&mut self) -> Result<(), JournalError> {
        let FileReader { disk, log, .. } = &self.files;
        if log.next == log.first {
            return Ok(()); // It has no record yet.
        }
        let first = log.next;
        let made = log::make(&**disk, first, log.checksum, std::iter::empty());
        let opened = made.and_then(|()| Log::open(&**disk, first, Use::Append, None));
        match opened.and_then(|log| log.claim().map(|()| log)) {
            Ok(new) => {
                let old = std::mem::replace(&mut self.files.log, new);
                self.files.older.push(old.first);
                Ok(())
            }
            Err(error) => {
                // If the new file stays, it hides records that are appended to the old one.
                self.stopped |= self.unmake(first).is_err();
                Err(error)
            }
        }
    }

    /// Removes a file of records that could not be created, together with its unfinished version.
    fn unmake(&self, first: u64) -> Result<(), JournalError> {
        let (disk, name) = (&self.files.disk, names::log(first));
        let there = list(&**disk)?;
        for name in [names::new(&name), name] {
            if there.contains(&name) {
                self.remove(&name)?;
            }
        }
        self.sync_names()
    }

    fn sync_names(&self) -> Result<(), JournalError> {
        let disk = &self.files.disk;
        disk.sync().map_err(|source| JournalError::access("flush", disk.path(""), source))
    }

    fn drop_old(&mut self) -> Result<u64, JournalError> {
        let snapshots = self.snapshots()?;
        let Some(oldest) = snapshots.get(SNAPSHOTS_KEPT - 1) else { return Ok(self.first()) };
        for sequence in &snapshots[SNAPSHOTS_KEPT..] {
            self.remove(&names::snapshot(*sequence))?;
        }
        // The oldest file is removed first, so that the rest has no gap.
        let needed = oldest + 1;
        while let [first, rest @ ..] = &*self.files.older
            && rest.first().copied().unwrap_or(self.files.log.first) <= needed
        {
            self.remove(&names::log(*first))?;
            self.files.older.remove(0);
        }
        self.sync_names()?;
        Ok(self.first())
    }

    fn remove(&self, name: &str) -> Result<(), JournalError> {
        let disk = &self.files.disk;
        let fail = |source| JournalError::access("remove", disk.path(name), source);
        disk.remove(name).map_err(fail)
    }
}

/// Checks that a journal begins with record 1, or has a snapshot that covers the records before its first.
fn check_beginning(disk: &dyn Disk, first: u64, snapshots: &[u64]) -> Result<(), JournalError> {
    if first == 1 || snapshots.iter().any(|sequence| *sequence + 1 >= first) {
        return Ok(());
    }
    let damage = Damage::Missing { first: 1, last: first - 1 };
    Err(JournalError::damaged(disk.path(""), Place::default(), damage))
}

impl ReadStore for FileReader {
    fn first(&self) -> u64 {
        self.older.first().copied().unwrap_or(self.log.first)
    }

    fn next(&self) -> u64 {
        self.log.next
    }

    fn place(&self, sequence: u64) -> PathBuf {
        let logs = self.older.iter().chain([&self.log.first]);
        let log = logs.take_while(|first| **first <= sequence).last();
        self.disk.path(&names::log(log.copied().unwrap_or_else(|| self.first())))
    }

    fn read(&self, from: u64) -> Result<Records<'_>, JournalError> {
        let records = read::from(&*self.disk, &self.older, &self.log, from)?;
        // A store can append records in parallel.
        let next = self.log.next;
        let is_known =
            move |one: &Result<Stored, _>| one.as_ref().map_or(true, |one| one.sequence < next);
        Ok(Box::new(records.take_while(is_known)))
    }

    fn snapshots(&self) -> Result<Vec<u64>, JournalError> {
        let mut snapshots = names::snapshots(&list(&*self.disk)?);
        snapshots.reverse();
        Ok(snapshots)
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        snapshot::open(&self.disk, sequence)
    }
}

impl ReadStore for FileStore {
    fn first(&self) -> u64 {
        self.files.first()
    }

    fn next(&self) -> u64 {
        self.files.next()
    }

    fn place(&self, sequence: u64) -> PathBuf {
        self.files.place(sequence)
    }

    fn read(&self, from: u64) -> Result<Records<'_>, JournalError> {
        self.files.read(from)
    }

    fn snapshots(&self) -> Result<Vec<u64>, JournalError> {
        self.files.snapshots()
    }

    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError> {
        self.files.snapshot(sequence)
    }
}

impl Store for FileStore {
    fn lease(&self) -> Lease {
        self.lease
    }

    fn stores(&self) -> bool {
        true
    }

    fn append(&mut self, lease: Lease, next: u64, batch: &[Vec<u8>]) -> Result<(), JournalError> {
        self.may_write(lease)?;
        let expected = self.next();
        if next != expected {
            return Err(JournalError::OutOfOrder { expected, found: next });
        }
        let most = RECORD_BYTES_MAX;
        if let Some(bytes) = batch.iter().map(Vec::len).find(|length| *length > most) {
            return Err(JournalError::TooLarge { bytes, most });
        }
        if batch.is_empty() {
            return Ok(());
        }
        self.check()?;
        let acked = AckState { sequence: next + batch.len() as u64 - 1, lease: lease.token() };
        let outcome = self.files.log.append(batch);
        let outcome = outcome.and_then(|()| self.mark.say(&*self.files.disk, acked));
        self.watch(outcome)
    }

    fn begin_snapshot(
        &mut self,
        lease: Lease,
        head: SnapshotHead,
    ) -> Result<Box<dyn WriteSnapshot>, JournalError> {
        self.may_write(lease)?;
        let last = self.next() - 1;
        if head.sequence != last {
            return Err(JournalError::OutOfOrder { expected: last, found: head.sequence });
        }
        self.turn()?;
        // If the snapshot fails, the records are still there.
        let writer = snapshot::Writer::begin(Arc::clone(&self.files.disk), head)?;
        Ok(Box::new(writer))
    }

    fn truncate(&mut self, lease: Lease) -> Result<u64, JournalError> {
        self.may_write(lease)?;
        self.drop_old()
    }

    fn check(&mut self) -> Result<(), JournalError> {
        let outcome = self.are_in_place();
        self.watch(outcome)
    }

    fn reader(&self) -> Box<dyn ReadStore + Send> {
        Box::new(self.files.reader())
    }
}
