//! Why the journal could not be used; each names the place and keeps its cause.

use std::io;
use std::path::PathBuf;

/// What went wrong. Any of these while records are appended ends the writing: memory may be ahead
/// of the disk then, so the leader stops and recovers by replay.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Records were not written.
    #[error("cannot append record {sequence} to {at}", at = path.display())]
    Append {
        /// The first of the batch.
        sequence: u64,
        /// Which file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        source: io::Error,
    },
    /// Records may have been written, and may be lost with the next loss of power.
    #[error("cannot flush records up to {sequence} to {at}", at = path.display())]
    Flush {
        /// The last of the batch.
        sequence: u64,
        /// Which file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        source: io::Error,
    },
    /// The disk has no room.
    #[error("the disk is full: nothing more can be written to {at}. Free disk space, and start again", at = path.display())]
    Full {
        /// Which file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        source: io::Error,
    },
    /// Any other access failed.
    #[error("cannot {deed} {at}", at = path.display())]
    Access {
        /// What was tried: `open`, `read`, `rename`, …
        deed: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the disk says.
        #[source]
        source: io::Error,
    },
    /// What was written is not what is there. It is never skipped.
    #[error("{at} is damaged{place}: {damage}", at = path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where in it.
        place: Place,
        /// What is wrong.
        damage: Damage,
    },
    /// Another process writes to the journal.
    #[error("{at} is in use by process {holder}. Only one process at a time can write to the \
             journal. Stop that process first", at = path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The id of that process, or `unknown`.
        holder: String,
    },
    /// A file of the running journal was removed or replaced.
    #[error(
        "{at} was removed or replaced while the server ran. If {at} is a log, restore the original \
         or a backup, because a log contains acknowledged records. Then start the server \
         again", at = path.display()
    )]
    Replaced {
        /// Which file.
        path: PathBuf,
    },
    /// There is an audit, but no journal that it follows from.
    #[error(
        "{at} has an audit log but no journal. Restore the journal, or move the folder `audit` away to start a new journal", at = path.display()
    )]
    Gone {
        /// The folder of the journal.
        path: PathBuf,
    },
    /// It was written by a later version.
    #[error("{at} has format {found}, but this version reads formats up to {known}. Use the \
             version that wrote the file", at = path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest that is read.
        known: u32,
    },
    /// Another process leads by now.
    #[error(
        "lease {presented} has ended, because lease {current} was granted later. Stop this server, \
         and restart it to replay the journal"
    )]
    Deposed {
        /// What the writer holds.
        presented: u64,
        /// What is in force.
        current: u64,
    },
    /// The batch is not the next one: the writer and its journal disagree.
    #[error(
        "the batch begins with record {found}, but the journal continues with record {expected}"
    )]
    OutOfOrder {
        /// What comes next.
        expected: u64,
        /// What was given.
        found: u64,
    },
    /// A write failed before, so nothing more is taken.
    #[error("an earlier write to {at} failed, so the journal accepts no more records. Restart the \
             server", at = path.display())]
    Stopped {
        /// Which journal.
        path: PathBuf,
    },
    /// Records that were asked for were cut off below a snapshot.
    #[error(
        "record {wanted} is no longer stored, and the journal begins with record {first}. Start with a snapshot"
    )]
    Truncated {
        /// What was asked for.
        wanted: u64,
        /// The first that is there.
        first: u64,
    },
    /// There is no such snapshot.
    #[error("no snapshot exists for record {sequence}")]
    NoSnapshot {
        /// After which record it would be.
        sequence: u64,
    },
    /// A record, or a chunk of a snapshot, is larger than a store takes.
    #[error("the batch has {bytes} bytes, but at most {most} bytes are allowed at once")]
    TooLarge {
        /// How many.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// What is asked for would lose records that cannot be read.
    #[error("cannot keep records up to {to}: record {sequence} is incomplete. Set `--to {}` to \
             keep all records before the incomplete record", sequence - 1)]
    NotWhole {
        /// Up to which record was asked.
        to: u64,
        /// The first that is missing.
        sequence: u64,
    },
}

/// Where in a file damage is, with all that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// The record.
    pub sequence: Option<u64>,
    /// The chunk of a snapshot, counted from 0.
    pub chunk: Option<u64>,
}

impl Place {
    /// At a record.
    pub const fn record(sequence: u64) -> Self {
        Self { offset: None, sequence: Some(sequence), chunk: None }
    }

    /// At a byte.
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

/// What is wrong with what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Bytes are not those that were written.
    #[error("checksum {found:#018x}, expected {expected:#018x}")]
    Checksum {
        /// The checksum in the file.
        expected: u64,
        /// Of the bytes that are there.
        found: u64,
    },
    /// The record follows another than the one before it.
    #[error(
        "the record follows a record with checksum {found:#018x}, but the previous record has \
         {expected:#018x}"
    )]
    Chain {
        /// Of the record before.
        expected: u64,
        /// What the record says.
        found: u64,
    },
    /// Records that were acknowledged are not there.
    #[error("records {first} to {last} are missing")]
    Missing {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// The bytes end too early, or go on, or are of another kind.
    #[error("{0}")]
    Shape(&'static str),
    /// The database library does not accept the file; all records in it are whole.
    #[error(
        "the index is broken ({0}), but the records are complete. Run `headroom journal repair` to \
         rebuild the index"
    )]
    Index(String),
    /// A record cannot be decoded though its checksum is right.
    #[error("{0}")]
    Content(#[from] crate::DecodeError),
}

impl JournalError {
    /// A failed access; a full disk has an error of its own.
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
