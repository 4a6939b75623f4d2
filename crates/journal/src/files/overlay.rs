//! A file from the view of the database library. At first, writes stay in memory, including repairs that the library
//! makes when it opens a file. The writes reach the file after its whole content was checked. A damaged file therefore
//! stays unchanged.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use crate::disk::DiskFile;

const BLOCK: u64 = 4_096;

/// Content of a file with the writes that are held back.
#[derive(Debug, Default)]
struct Overlay {
    length: u64,
    /// Shortest length of the file since it was opened. Bytes after this length are read as zeros.
    shortest: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

/// The first failure of a file.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// Whether a flush failed, and not a write.
    pub(super) flush: bool,
    kind: io::ErrorKind,
    text: String,
}

impl Failure {
    pub(super) fn to_error(&self) -> io::Error {
        io::Error::new(self.kind, self.text.clone())
    }
}

#[derive(Debug)]
struct Shared {
    file: Arc<dyn DiskFile>,
    overlay: Mutex<Option<Overlay>>,
    failure: Mutex<Option<Failure>>,
}

/// A file for the database library. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct OverlayFile(Arc<Shared>);

impl OverlayFile {
    /// Returns a file whose writes are held back until [`OverlayFile::release`].
    pub(super) fn back(file: Arc<dyn DiskFile>) -> io::Result<Self> {
        let length = file.len()?;
        let overlay = Overlay { length, shortest: length, blocks: BTreeMap::new() };
        Ok(Self::new(file, Some(overlay)))
    }

    /// Returns a file that is written at once.
    pub(super) fn through(file: Arc<dyn DiskFile>) -> Self {
        Self::new(file, None)
    }

    fn new(file: Arc<dyn DiskFile>, overlay: Option<Overlay>) -> Self {
        let (overlay, failure) = (Mutex::new(overlay), Mutex::new(None));
        Self(Arc::new(Shared { file, overlay, failure }))
    }

    /// Writes the withheld bytes. Later writes reach the file immediately.
    pub(super) fn release(&self) -> io::Result<()> {
        let mut overlay = self.overlay();
        let Some(held) = overlay.take() else { return Ok(()) };
        let file = &self.0.file;
        if held.shortest < file.len()? {
            file.set_len(held.shortest)?;
        }
        if held.length != file.len()? {
            file.set_len(held.length)?;
        }
        for (block, bytes) in held.blocks {
            let start = block * BLOCK;
            let end = held.length.min(start + BLOCK);
            let length = usize::try_from(end.saturating_sub(start)).expect("at most a block");
            file.write_at(start, &bytes[..length])?;
        }
        file.sync()
    }

    /// Returns the file without the overlay.
    pub(super) fn file(&self) -> &dyn DiskFile {
        &*self.0.file
    }

    /// Returns the first failure. `None` without a failure.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn overlay(&self) -> MutexGuard<'_, Option<Overlay>> {
        self.0.overlay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, flush: bool, outcome: io::Result<()>) -> io::Result<()> {
        if let Err(error) = &outcome {
            let failure = Failure { flush, kind: error.kind(), text: error.to_string() };
            let mut first = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(failure);
        }
        outcome
    }
}

impl Overlay {
    /// Reads the bytes of the file, combined with the withheld bytes.
    fn read(&self, file: &dyn DiskFile, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= self.length);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let from_file = self.shortest.clamp(offset, end) - offset;
        let from_file = usize::try_from(from_file).map_err(io::Error::other)?;
        file.read_at(offset, &mut out[..from_file])?;
        out[from_file..].fill(0);
        for (block, bytes) in self.blocks.range(offset / BLOCK..=end / BLOCK) {
            let start = block * BLOCK;
            let (low, high) = (offset.max(start), end.min(start + BLOCK));
            if low < high {
                let part = |base: u64| Self::range(low - base, high - base);
                out[part(offset)].copy_from_slice(&bytes[part(start)]);
            }
        }
        Ok(())
    }

    fn range(low: u64, high: u64) -> std::ops::Range<usize> {
        let number = |number| usize::try_from(number).expect("within a slice");
        number(low)..number(high)
    }

    fn write(&mut self, file: &dyn DiskFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset + bytes.len() as u64;
        self.length = self.length.max(end);
        for block in offset / BLOCK..end.div_ceil(BLOCK) {
            let start = block * BLOCK;
            let mut whole = [0; 4_096];
            let there = self.length.min(start + BLOCK) - start;
            self.read(file, start, &mut whole[Self::range(0, there)])?;
            let (low, high) = (offset.max(start), end.min(start + BLOCK));
            let new = &bytes[Self::range(low - offset, high - offset)];
            whole[Self::range(low - start, high - start)].copy_from_slice(new);
            self.blocks.insert(block, Box::new(whole));
        }
        Ok(())
    }

    fn set_len(&mut self, length: u64) {
        self.shortest = self.shortest.min(length);
        if length < self.length {
            self.blocks.split_off(&length.div_ceil(BLOCK));
            if let Some(last) = self.blocks.get_mut(&(length / BLOCK)) {
                last[Self::range(length % BLOCK, BLOCK)].fill(0);
            }
        }
        self.length = length;
    }
}

impl StorageBackend for OverlayFile {
    fn len(&self) -> io::Result<u64> {
        match &*self.overlay() {
            Some(overlay) => Ok(overlay.length),
            None => self.0.file.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &*self.overlay() {
            Some(overlay) => overlay.read(&*self.0.file, offset, out),
            None => self.0.file.read_at(offset, out),
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        match &mut *self.overlay() {
            Some(overlay) => {
                overlay.set_len(length);
                Ok(())
            }
            None => self.note(false, self.0.file.set_len(length)),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        match &*self.overlay() {
            Some(_) => Ok(()),
            None => self.note(true, self.0.file.sync()),
        }
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match &mut *self.overlay() {
            Some(overlay) => overlay.write(&*self.0.file, offset, bytes),
            None => self.note(false, self.0.file.write_at(offset, bytes)),
        }
    }
}
