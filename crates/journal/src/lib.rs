//! Keeps what happened in order, and gives it back whole after a crash.

pub mod disk;
mod error;
mod exercise;
#[cfg(feature = "redb")]
mod files;
mod frame;
mod memory;
mod record;
mod store;
mod wire;

pub use error::{Damage, JournalError, Place};
#[doc(hidden)]
pub use exercise::exercise;
#[cfg(feature = "redb")]
pub use files::{FileStore, repair};
pub use memory::{MemoryJournal, MemoryStore};
pub use record::{DecodeError, FORMAT, LEVELS_MAX, Origin, Record, TooDeep, What};
pub use store::{
    CHUNK_BYTES_MAX, Lease, RECORD_BYTES_MAX, Records, SNAPSHOTS_KEPT, Snapshot, SnapshotHead,
    Store, Stored, WriteSnapshot,
};

/// The messages, as `proto/headroom/journal/v1` defines them.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/headroom.journal.v1.rs"));
}
