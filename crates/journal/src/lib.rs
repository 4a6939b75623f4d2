//! Stores the steps of the scheduler in order, and restores all of them after a crash.
//!
//! - A [`Record`] is one step: the time, the command if a command caused the step, and the events that followed. Its
//!   bytes are protobuf, as `proto/headroom/journal/v1` defines; records of earlier formats stay readable.
//! - A [`Store`] stores records as bytes, in order, with checksums, and snapshots: [`FileStore`] in a folder,
//!   [`MemoryStore`] in memory. [`NoStore`] stores nothing.
//! - A [`Journal`] is the writer's side of a store: one flush for a batch of records.
//! - [`verify`] reads a whole journal. [`repair`] truncates a damaged journal.
//!
//! Recovery applies the events of records and does not evaluate commands again. Damage is an error that contains its
//! place; no record is skipped.

pub mod disk;
mod error;
mod exercise;
#[cfg(feature = "redb")]
mod files;
#[cfg(feature = "redb")]
mod frame;
mod journal;
mod memory;
mod none;
mod record;
mod store;
mod verify;
mod wire;

pub use error::{Damage, JournalError, Place};
#[doc(hidden)]
pub use exercise::exercise;
#[cfg(feature = "redb")]
pub use files::{FileReader, FileStore, repair};
pub use journal::Journal;
pub use memory::{MemoryJournal, MemoryStore};
pub use none::NoStore;
pub use record::{DecodeError, FORMAT, LEVELS_MAX, Origin, Record, Unwritable, What};
pub use store::{
    AUDIT_FOLDER, CHUNK_BYTES_MAX, Lease, RECORD_BYTES_MAX, ReadStore, Records, SNAPSHOTS_KEPT,
    Snapshot, SnapshotHead, Store, Stored, WriteSnapshot,
};
pub use verify::{Seen, Verified, verify};

/// The message definitions as a `google.protobuf.FileDescriptorSet`: to show a record without knowing its types.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The messages, as `proto/headroom/journal/v1` defines them.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/headroom.journal.v1.rs"));
}
