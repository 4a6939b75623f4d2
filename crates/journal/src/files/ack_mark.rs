//! How far the journal was acknowledged, in a file next to the journal.
//!
//! The database library goes back to the batch before when the newest one is not whole after a
//! crash: it cannot know whether that was cut off in the middle, which nobody has seen, or was
//! acknowledged and damaged since. The mark can: it is written behind every flush, without one of
//! its own, so it never says too much, and after the death of the process it says all. After a
//! loss of power it may say less than was acknowledged; then what was flushed is trusted.

use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::names;
use crate::JournalError;
use crate::disk::{Disk, DiskFile};

const NAME: &str = "mark";

/// What the mark says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AckState {
    /// The last record that was acknowledged.
    pub(super) sequence: u64,
    /// The last lease that was given.
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

    /// None if the bytes are not whole: a loss of power may do that, and then there is no mark.
    fn of_bytes(bytes: &[u8; 24]) -> Option<Self> {
        let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("24 bytes"));
        (number(16) == xxh3_64(&bytes[..16]))
            .then(|| Self { sequence: number(0), lease: number(8) })
    }
}

/// The open file of the mark.
#[derive(Debug)]
pub(super) struct AckMark(Arc<dyn DiskFile>);

/// What the mark of a journal says, if it has a whole one.
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
    /// Make the mark again and durable.
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

    /// Say more. It is not flushed.
    pub(super) fn say(&self, disk: &dyn Disk, state: AckState) -> Result<(), JournalError> {
        let fail = |source| JournalError::access("write", disk.path(NAME), source);
        self.0.write_at(0, &state.to_bytes()).map_err(fail)
    }
}
