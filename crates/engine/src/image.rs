//! Content of a snapshot, and its transfer to and from a store.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_journal::{JournalError, Snapshot, WriteSnapshot};

use crate::audit_log::Head;
use crate::idempotency::IdempotencyCache;
use crate::snapshot::{self, SnapshotError};

/// Version of the content of an image. [`snapshot::FORMAT`] is the version of its encoding.
pub(crate) const IMAGE_FORMAT: u32 = 1;

/// Largest size of an image before compression, in bytes. Ten million allocations need 3 GB.
const BYTES_MAX: u64 = 64 << 30;

/// Number of bytes that are passed to the store at once.
const CHUNK: usize = 1 << 20;

/// The complete state after a record, which a restart needs.
///
/// New fields are appended, with a default; see [`snapshot`].
#[derive(Serialize, Deserialize)]
pub(crate) struct Image {
    pub(crate) books: Books,
    pub(crate) answers: IdempotencyCache,
    pub(crate) sequence: u64,
    pub(crate) time: Timestamp,
    /// Durable end of the audit log.
    #[serde(default)]
    pub(crate) audit: Head,
}

/// Reason why an image could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// Error of the store.
    #[error(transparent)]
    Store(#[from] JournalError),
    /// Error of the content.
    #[error(transparent)]
    Content(#[from] SnapshotError),
    /// A snapshot is stored under the number of another record.
    #[error("the snapshot that is stored for record {expected} belongs to record {found}")]
    Misplaced {
        /// Number under which the snapshot is stored.
        expected: u64,
        /// Number of its record.
        found: u64,
    },
}

impl Image {
    /// Writes the image, and makes the image durable. Returns its size in bytes.
    pub(crate) fn keep(&self, store: Box<dyn WriteSnapshot>) -> Result<u64, ImageError> {
        let mut sink = Sink { store, chunk: Vec::with_capacity(CHUNK), written: 0, failed: None };
        let written = snapshot::write(self, &mut sink);
        if let Some(error) = sink.failed.take() {
            return Err(error.into());
        }
        written?;
        let bytes = sink.written;
        sink.store.finish()?;
        Ok(bytes)
    }

    /// Reads an image.
    pub(crate) fn of(stored: Snapshot) -> Result<Self, ImageError> {
        let head = stored.head;
        if head.format != IMAGE_FORMAT {
            let found = head.format;
            return Err(SnapshotError::OtherFormat { found }.into());
        }
        let mut source = Source { chunks: stored.chunks, chunk: Vec::new(), read: 0, failed: None };
        let image: Result<Self, _> = snapshot::read(&mut source, BYTES_MAX);
        if let Some(error) = source.failed.take() {
            return Err(error.into());
        }
        let image = image?;
        if image.sequence != head.sequence {
            let (expected, found) = (head.sequence, image.sequence);
            return Err(ImageError::Misplaced { expected, found });
        }
        Ok(image)
    }
}

/// Passes chunks to a store.
struct Sink {
    store: Box<dyn WriteSnapshot>,
    chunk: Vec<u8>,
    written: u64,
    /// Error of the store, because an I/O error cannot contain such an error.
    failed: Option<JournalError>,
}

impl Sink {
    fn hand_over(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let handed = self.store.chunk(&self.chunk);
        self.written += self.chunk.len() as u64;
        self.chunk.clear();
        handed.map_err(|error| {
            self.failed = Some(error);
            io::Error::other("the store accepts no more data")
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK {
            self.hand_over()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hand_over()
    }
}

/// Reads chunks from a store.
struct Source {
    chunks: Box<dyn Iterator<Item = Result<Vec<u8>, JournalError>> + Send>,
    chunk: Vec<u8>,
    read: usize,
    failed: Option<JournalError>,
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.read == self.chunk.len() {
            match self.chunks.next() {
                None => return Ok(0),
                Some(Ok(chunk)) => (self.chunk, self.read) = (chunk, 0),
                Some(Err(error)) => {
                    self.failed = Some(error);
                    return Err(io::Error::other("the store returns no more data"));
                }
            }
        }
        let left = &self.chunk[self.read..];
        let taken = left.len().min(bytes.len());
        bytes[..taken].copy_from_slice(&left[..taken]);
        self.read += taken;
        Ok(taken)
    }
}
