//! Errors of the journal. Each names the place and has its cause as the source.

use std::io;
use std::path::PathBuf;

/// An error of the journal. Any error while records are appended ends the writing, because the state in memory can be
/// ahead of the disk. The leader then stops and recovers by replay.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Records were not written.
    #[error("cannot append record {sequence} to {at}", at = path.display())]
    Append {
        /// First record of the batch.
        sequence: u64,
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the disk.
        #[source]
        source: io::Error,
    },
    /// Records were perhaps written, and can be lost with the next loss of power.
    #[error("cannot flush records up to {sequence} to {at}", at = path.display())]
    Flush {
        /// Last record of the batch.
        sequence: u64,
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the disk.
        #[source]
        source: io::Error,
    },
    /// The disk is full.
    #[error("the disk is full: nothing more can be written to {at}. Free disk space, and start again", at = path.display())]
    Full {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the disk.
        #[source]
        source: io::Error,
    },
    /// Another access to the disk failed.
    #[error("cannot {deed} {at}", at = path.display())]
    Access {
        /// The operation that failed: `open`, `read`, `rename`, …
        deed: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the disk.
        #[source]
        source: io::Error,
    },
    /// A file does not have the content that was written. Damage is never skipped.
    #[error("{at} is damaged{place}: {damage}", at = path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Position of the damage in the file.
        place: Place,
        /// The damage.
        damage: Damage,
    },
    /// Another process writes to the journal.
    #[error("{at} is in use by process {holder}. Only one process at a time can write to the \
             journal. Stop that process first", at = path.display())]
    Held {
        /// Path of the lock file.
        path: PathBuf,
        /// Process id of the holder, or `unknown`.
        holder: String,
    },
    /// A file of the running journal was removed or replaced.
    #[error(
        "{at} was removed or replaced while the server ran. If {at} is a log, restore the original \
         or a backup, because a log contains acknowledged records. Then start the server \
         again", at = path.display()
    )]
    Replaced {
        /// Path of the file.
        path: PathBuf,
    },
    /// An audit log exists, but its journal does not.
    #[error(
        "{at} has an audit log but no journal. Restore the journal, or move the folder `audit` away to start a new journal", at = path.display()
    )]
    Gone {
        /// Path of the folder of the journal.
        path: PathBuf,
    },
    /// The file was written by a later version.
    #[error("{at} has format {found}, but this version reads formats up to {known}. Use the \
             version that wrote the file", at = path.display())]
    Newer {
        /// Path of the file.
        path: PathBuf,
        /// Format of the file.
        found: u32,
        /// Newest format that this version reads.
        known: u32,
    },
    /// Another process has become the leader.
    #[error(
        "lease {presented} has ended, because lease {current} was granted later. Stop this server, \
         and restart it to replay the journal"
    )]
    Deposed {
        /// Lease that the writer holds.
        presented: u64,
        /// Current lease.
        current: u64,
    },
    /// The batch does not continue the journal: the writer and its journal disagree.
    #[error(
        "the batch begins with record {found}, but the journal continues with record {expected}"
    )]
    OutOfOrder {
        /// Number of the next record of the journal.
        expected: u64,
        /// Number of the first record of the batch.
        found: u64,
    },
    /// An earlier write failed, so the journal accepts no more records.
    #[error("an earlier write to {at} failed, so the journal accepts no more records. Restart the \
             server", at = path.display())]
    Stopped {
        /// Path of the journal.
        path: PathBuf,
    },
    /// The requested records were removed, because a snapshot covers them.
    #[error(
        "record {wanted} is no longer stored, and the journal begins with record {first}. Start with a snapshot"
    )]
    Truncated {
        /// First requested record.
        wanted: u64,
        /// First stored record.
        first: u64,
    },
    /// The snapshot does not exist.
    #[error("no snapshot exists for record {sequence}")]
    NoSnapshot {
        /// Record after which the snapshot was requested.
        sequence: u64,
    },
    /// A record, or a chunk of a snapshot, is larger than a store accepts.
    #[error("the batch has {bytes} bytes, but at most {most} bytes are allowed at once")]
    TooLarge {
        /// Size in bytes.
        bytes: usize,
        /// Largest accepted size in bytes.
        most: usize,
    },
    /// The requested repair would lose records that cannot be read.
    #[error("cannot keep records up to {to}: record {sequence} is incomplete. Set `--to {}` to \
             keep all records before the incomplete record", sequence - 1)]
    NotWhole {
        /// Last record that the repair has to retain.
        to: u64,
        /// First record that is missing.
        sequence: u64,
    },
}

/// Position of damage in a file, if known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// Number of the record.
    pub sequence: Option<u64>,
    /// The chunk of a snapshot, counted from 0.
    pub chunk: Option<u64>,
}

impl Place {
    /// Returns the position of a record.
    pub const fn record(sequence: u64) -> Self {
        Self { offset: None, sequence: Some(sequence), chunk: None }
    }

    /// Returns the position of a byte.
    pub const fn offset(offset: u64) -> Self {
        Self { offset: Some(offset), sequence: None, chunk: None }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [("byte", self.offset), ("record", self.sequence), ("chunk", self.chunk)];
        let mut join = " at";
        for (what, number) in parts {
            if let Some(number) = number {
                write!(out, "{join} {what} {number}")?;
                join = ",";
            }
        }
        Ok(())
    }
}

/// Kind of damage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The bytes differ from the written bytes.
    #[error("checksum {found:#018x}, expected {expected:#018x}")]
    Checksum {
        /// Checksum in the file.
        expected: u64,
        /// Checksum of the bytes in the file.
        found: u64,
    },
    /// The record does not follow the previous record.
    #[error(
        "the record follows a record with checksum {found:#018x}, but the previous record has \
         {expected:#018x}"
    )]
    Chain {
        /// Checksum of the previous record.
        expected: u64,
        /// Checksum that the record has for the previous record.
        found: u64,
    },
    /// Acknowledged records are missing.
    #[error("records {first} to {last} are missing")]
    Missing {
        /// First missing record.
        first: u64,
        /// Last missing record.
        last: u64,
    },
    /// The bytes end too early, continue after the end, or are of another kind.
    #[error("{0}")]
    Shape(&'static str),
    /// The database library does not accept the file, but all its records are complete.
    #[error(
        "the index is broken ({0}), but the records are complete. Run `headroom journal repair` to \
         rebuild the index"
    )]
    Index(String),
    /// A record cannot be decoded, although its checksum is right.
    #[error("{0}")]
    Content(#[from] crate::DecodeError),
}

impl JournalError {
    /// Returns the error of a failed access. A full disk has its own variant.
    #[cfg(feature = "redb")]
    pub(crate) fn access(deed: &'static str, path: PathBuf, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::Full { path, source };
        }
        Self::Access { deed, path, source }
    }

    pub(crate) const fn damaged(path: PathBuf, place: Place, damage: Damage) -> Self {
        Self::Damaged { path, place, damage }
    }
}
