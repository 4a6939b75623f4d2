//! The mark: a file next to the journal with the number of the last acknowledged record.
//!
//! If the newest batch is incomplete after a crash, the database library returns to the previous batch. The library
//! cannot know whether the newest batch was interrupted and never acknowledged, or was acknowledged and damaged later.
//! The mark distinguishes both cases. It is written after every flush, without a flush of its own, so it is never ahead
//! of the journal. After the death of the process, the mark is exact. After a loss of power, the mark can be behind,
//! and the flushed records count.

use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::names;
use crate::JournalError;
use crate::disk::{Disk, DiskFile};

const NAME: &str = "mark";

/// Content of the mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AckState {
    /// Last acknowledged record.
    pub(super) sequence: u64,
    /// Last granted lease.
    pub(super) lease: u64,
}

impl AckState {
    fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.lease.to_le_bytes());
        let checksum = xxh3_64(&bytes[..16]);
        bytes[16..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Returns the content of these bytes. `None` if the bytes are incomplete, for example after a loss of power.
    /// Incomplete bytes count as no mark.
    fn of_bytes(bytes: &[u8; 24]) -> Option<Self> {
        let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("24 bytes"));
        (number(16) == xxh3_64(&bytes[..16]))
            .then(|| Self { sequence: number(0), lease: number(8) })
    }
}

/// The open file of the mark.
#[derive(Debug)]
pub(super) struct AckMark(Arc<dyn DiskFile>);

/// Returns the content of the mark of a journal. `None` without a complete mark.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<AckState>, JournalError> {
    let fail = |deed, source| JournalError::access(deed, disk.path(NAME), source);
    let file = match disk.open(NAME, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|source| fail("open", source))?,
    };
    let mut bytes = [0; 24];
    match file.read_at(0, &mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => read.map(|()| AckState::of_bytes(&bytes)).map_err(|source| fail("read", source)),
    }
}

impl AckMark {
    /// Writes a new mark, and makes the mark durable.
    pub(super) fn make(disk: &dyn Disk, state: AckState) -> Result<Self, JournalError> {
        let fail = |source| JournalError::access("write", disk.path(NAME), source);
        let name = names::new(NAME);
        let made = disk.open(&name, true).and_then(|file| {
            file.write_at(0, &state.to_bytes())?;
            file.sync()?;
            disk.rename(&name, NAME)?;
            disk.sync()?;
            Ok(file)
        });
        made.map(Self).map_err(fail)
    }

    /// Overwrites the mark with a newer state, without a flush.
    pub(super) fn say(&self, disk: &dyn Disk, state: AckState) -> Result<(), JournalError> {
        let fail = |source| JournalError::access("write", disk.path(NAME), source);
        self.0.write_at(0, &state.to_bytes()).map_err(fail)
    }
}
