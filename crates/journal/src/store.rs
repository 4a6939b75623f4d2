//! What a place that keeps the journal must be able to do.
//!
//! A store knows records as bytes and snapshots as chunks of bytes; [`Record`] and the
//! writer of snapshots know what they mean. It may be shared by several processes, of which one
//! leads: a process that opens a store for writing gets a [`Lease`], and everything that is written
//! carries it, so that a leader who has been replaced without knowing cannot write any more.

use std::path::PathBuf;

use crate::error::{Damage, JournalError, Place};
use crate::record::Record;

/// The folder in that of a journal where the audit of tenants is, which follows from the journal.
pub const AUDIT_FOLDER: &str = "audit";

/// How many snapshots are stored: should the newest be damaged, the one before and the records
/// since then give the same books.
pub const SNAPSHOTS_KEPT: usize = 2;

/// How many bytes one record may have. Bounds what a reader must take into memory.
pub const RECORD_BYTES_MAX: usize = 256 << 20;

/// How many bytes one chunk of a snapshot may have.
pub const CHUNK_BYTES_MAX: usize = 64 << 20;

/// The right to write: a number that grows with each new holder (a fencing token).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lease(u64);

impl Lease {
    /// The lease of this number.
    pub const fn new(token: u64) -> Self {
        Self(token)
    }

    /// Its number.
    pub const fn token(self) -> u64 {
        self.0
    }
}

/// One stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Counts records from 1.
    pub sequence: u64,
    /// What [`Record::encode`] made.
    pub bytes: Vec<u8>,
}

/// Records in order, the first error being the last item.
pub type Records<'store> = Box<dyn Iterator<Item = Result<Stored, JournalError>> + 'store>;

/// What a snapshot is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotHead {
    /// The books after this record.
    pub sequence: u64,
    /// The version of the snapshot's own format.
    pub format: u32,
    /// Of the books, so that a replay can be compared with them; 0 where there is none.
    pub digest: u128,
}

/// A snapshot to be read.
pub struct Snapshot {
    /// What it is of.
    pub head: SnapshotHead,
    /// Its bytes, in the chunks in which they were written; the first error is the last item.
    pub chunks: Box<dyn Iterator<Item = Result<Vec<u8>, JournalError>> + Send>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Snapshot").field("head", &self.head).finish_non_exhaustive()
    }
}

/// A snapshot that is being written, in parallel with the journal; nobody sees it before it is finished.
pub trait WriteSnapshot: Send {
    /// Add bytes.
    ///
    /// # Errors
    /// When they cannot be written, or are more than [`CHUNK_BYTES_MAX`].
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Make it durable, and visible as a whole.
    ///
    /// # Errors
    /// When it cannot; it does not exist then.
    fn finish(self: Box<Self>) -> Result<(), JournalError>;
}

/// A place that keeps the journal, opened for reading.
pub trait ReadStore {
    /// The first stored record; [`ReadStore::next`] in an empty journal.
    fn first(&self) -> u64;

    /// The sequence number of the next record; 1 in an empty journal.
    fn next(&self) -> u64;

    /// What a person would call the place where a record is.
    fn place(&self, sequence: u64) -> PathBuf;

    /// Read from this record on. Checksums, order and completeness are checked on the way.
    ///
    /// # Errors
    /// When that record was truncated away, or the disk fails.
    fn read(&self, from: u64) -> Result<Records<'_>, JournalError>;

    /// What a record says, which must be filed under its own number.
    ///
    /// # Errors
    /// When it does not mean anything to this version, or says another number.
    fn decode(&self, stored: &Stored) -> Result<Record, JournalError> {
        let sequence = stored.sequence;
        let damaged =
            |damage| JournalError::damaged(self.place(sequence), Place::record(sequence), damage);
        let record = Record::decode(&stored.bytes).map_err(|error| damaged(error.into()))?;
        if record.sequence != sequence {
            let damage = Damage::Shape(
                "the number in the record does not match its position in the journal",
            );
            return Err(damaged(damage));
        }
        Ok(record)
    }

    /// After which records there are snapshots, the newest first.
    ///
    /// # Errors
    /// When the disk fails.
    fn snapshots(&self) -> Result<Vec<u64>, JournalError>;

    /// Open the snapshot after this record.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError>;
}

/// A place that keeps the journal, opened for writing.
pub trait Store: ReadStore + Send {
    /// The lease that this handle was given when it was opened.
    fn lease(&self) -> Lease;

    /// Append records and make them durable with one flush: all of them or none.
    ///
    /// # Errors
    /// When the lease is over, when `next` is not [`ReadStore::next`], when the disk fails. After
    /// a failure nothing is taken any more; what was in the batch is there as a whole or not at
    /// all.
    fn append(&mut self, lease: Lease, next: u64, batch: &[Vec<u8>]) -> Result<(), JournalError>;

    /// Begin a snapshot of the books after the last record. The owner of the returned value writes it,
    /// on another thread if wanted, while records go on being appended.
    ///
    /// # Errors
    /// When the lease is over, the head names another record than the last, or the disk fails.
    /// Records go on being appended after a failure, and it may be tried again.
    fn begin_snapshot(
        &mut self,
        lease: Lease,
        head: SnapshotHead,
    ) -> Result<Box<dyn WriteSnapshot>, JournalError>;

    /// Drop all snapshots but the newest [`SNAPSHOTS_KEPT`], and what records nobody needs then,
    /// as far as that is cheap. Returns the first record that stays.
    ///
    /// # Errors
    /// When the lease is over, or the disk fails. Then more is stored than is needed, and it may be
    /// tried again.
    fn truncate(&mut self, lease: Lease) -> Result<u64, JournalError>;

    /// Finds out whether what is appended is still where others would look for it.
    ///
    /// # Errors
    /// When something was put in its place, or it was removed: nothing is taken any more then.
    fn check(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    /// A reader of what there is now, for another thread, while this goes on writing. What is truncated away meanwhile
    /// is an error of the reader.
    fn reader(&self) -> Box<dyn ReadStore + Send>;
}
