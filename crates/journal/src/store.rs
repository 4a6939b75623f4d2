//! Operations of a store, which contains the journal.
//!
//! A store handles records as bytes and snapshots as chunks of bytes. [`Record`] and the writer of snapshots define
//! their content. Several processes can share a store, and one process leads. A process that opens a store for writing
//! gets a [`Lease`], and passes this lease to every write. A leader that was replaced without noticing can therefore
//! not write any more.

use std::path::PathBuf;

use crate::error::{Damage, JournalError, Place};
use crate::record::Record;

/// Folder of the audit log of tenants, within the folder of the journal. The audit log is derived from the journal.
pub const AUDIT_FOLDER: &str = "audit";

/// Number of stored snapshots. If the newest snapshot is damaged, the previous snapshot and the later records give the
/// same books.
pub const SNAPSHOTS_KEPT: usize = 2;

/// Largest size of a record in bytes. This limit bounds the memory of a reader.
pub const RECORD_BYTES_MAX: usize = 256 << 20;

/// Largest size of a chunk of a snapshot in bytes.
pub const CHUNK_BYTES_MAX: usize = 64 << 20;

/// The right to write: a number that grows with each new holder (a fencing token).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lease(u64);

impl Lease {
    /// Returns the lease with this number.
    pub const fn new(token: u64) -> Self {
        Self(token)
    }

    /// Returns the number of the lease.
    pub const fn token(self) -> u64 {
        self.0
    }
}

/// One stored record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Number of the record, counted from 1.
    pub sequence: u64,
    /// Bytes that [`Record::encode`] returned.
    pub bytes: Vec<u8>,
}

/// Records in order. An error is the last item.
pub type Records<'store> = Box<dyn Iterator<Item = Result<Stored, JournalError>> + 'store>;

/// Description of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotHead {
    /// Record after which the books were stored.
    pub sequence: u64,
    /// Version of the format of the snapshot's content.
    pub format: u32,
    /// Digest of the books, for a comparison with a replay. 0 without a digest.
    pub digest: u128,
}

/// A snapshot to be read.
pub struct Snapshot {
    /// Description of the snapshot.
    pub head: SnapshotHead,
    /// The bytes, in the chunks in which they were written. An error is the last item.
    pub chunks: Box<dyn Iterator<Item = Result<Vec<u8>, JournalError>> + Send>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Snapshot").field("head", &self.head).finish_non_exhaustive()
    }
}

/// A snapshot that is being written, in parallel with the journal. Readers do not see the snapshot before it is
/// finished.
pub trait WriteSnapshot: Send {
    /// Adds bytes.
    ///
    /// # Errors
    /// If the bytes cannot be written, or are more than [`CHUNK_BYTES_MAX`].
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Makes the snapshot durable and visible.
    ///
    /// # Errors
    /// If the disk fails. The snapshot does not exist then.
    fn finish(self: Box<Self>) -> Result<(), JournalError>;
}

/// A store that is opened for reading.
pub trait ReadStore {
    /// Returns the number of the first stored record, or [`ReadStore::next`] in an empty journal.
    fn first(&self) -> u64;

    /// Returns the number of the next record, or 1 in an empty journal.
    fn next(&self) -> u64;

    /// Returns the path of the file that contains a record, for errors.
    fn place(&self, sequence: u64) -> PathBuf;

    /// Reads the records from this record on. Checks checksums, order, and completeness meanwhile.
    ///
    /// # Errors
    /// If the record was truncated, or the disk fails.
    fn read(&self, from: u64) -> Result<Records<'_>, JournalError>;

    /// Decodes a record, which must have the number under which it is stored.
    ///
    /// # Errors
    /// If this version cannot decode the record, or if the record has another number.
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

    /// Returns the numbers of the records with a snapshot, the newest first.
    ///
    /// # Errors
    /// If the disk fails.
    fn snapshots(&self) -> Result<Vec<u64>, JournalError>;

    /// Opens the snapshot after this record.
    ///
    /// # Errors
    /// If the snapshot does not exist, or is damaged.
    fn snapshot(&self, sequence: u64) -> Result<Snapshot, JournalError>;
}

/// A store that is opened for writing.
///
/// No method has a default, so that a store around another one cannot leave one out.
pub trait Store: ReadStore + Send {
    /// Returns the lease that this handle got when it was opened.
    fn lease(&self) -> Lease;

    /// Returns whether records and snapshots can be read again. Otherwise, nobody encodes records or takes snapshots.
    fn stores(&self) -> bool;

    /// Appends records and makes them durable with one flush: all of them or none.
    ///
    /// # Errors
    /// If the lease has ended, if `next` is not [`ReadStore::next`], or if the disk fails. After a failure the store
    /// accepts no more records. The batch is then stored as a whole or not at all.
    fn append(&mut self, lease: Lease, next: u64, batch: &[Vec<u8>]) -> Result<(), JournalError>;

    /// Begins a snapshot of the books after the last record. The caller writes the returned value, on another thread if
    /// necessary, while records are still appended.
    ///
    /// # Errors
    /// If the lease has ended, if the header names another record than the last, or if the disk fails. After a failure,
    /// appending continues to work, and the snapshot can be tried again.
    fn begin_snapshot(
        &mut self,
        lease: Lease,
        head: SnapshotHead,
    ) -> Result<Box<dyn WriteSnapshot>, JournalError>;

    /// Removes all snapshots except the newest [`SNAPSHOTS_KEPT`], and records that are no longer needed, if this is
    /// cheap. Returns the first remaining record.
    ///
    /// # Errors
    /// If the lease has ended, or the disk fails. The store then has more than necessary, and the call can be repeated.
    fn truncate(&mut self, lease: Lease) -> Result<u64, JournalError>;

    /// Checks that the stored files were not removed or replaced.
    ///
    /// # Errors
    /// If a file was removed or replaced. The store accepts no more records then.
    fn check(&mut self) -> Result<(), JournalError>;

    /// Returns a reader of the current records, for another thread, while this store continues to write. Reading a
    /// record that was truncated meanwhile is an error.
    fn reader(&self) -> Box<dyn ReadStore + Send>;
}
