//! A snapshot file: a header, chunks with their checksums, and an end with the number of chunks.

use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::names;
use crate::disk::{Disk, DiskFile};
use crate::error::{Damage, JournalError, Place};
use crate::store::{CHUNK_BYTES_MAX, Snapshot, SnapshotHead, WriteSnapshot};

/// First bytes of the file. The version of this format follows.
const MARK: [u8; 8] = *b"\xf1HdrSnap";

/// Version of the file format that is written, and the newest that is read.
const FORMAT: u32 = 1;

/// Size of the header: mark, version, version of the content, sequence, digest, checksum.
const HEAD_BYTES: usize = 8 + 4 + 4 + 8 + 16 + 8;

/// Size of the header of a chunk: length, checksum.
const CHUNK_HEAD_BYTES: usize = 4 + 8;

/// A length that no chunk has. It marks the end. The number of chunks and a checksum of all chunks follow.
const END: u32 = u32::MAX;

fn head_bytes(head: SnapshotHead) -> [u8; HEAD_BYTES] {
    let SnapshotHead { sequence, format, digest } = head;
    let mut bytes = Vec::with_capacity(HEAD_BYTES);
    bytes.extend(MARK);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(format.to_le_bytes());
    bytes.extend(sequence.to_le_bytes());
    bytes.extend(digest.to_le_bytes());
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes.try_into().expect("the sum of the parts")
}

/// Returns the checksum of a chunk, which covers its index.
fn checksum(index: u64, bytes: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&index.to_le_bytes());
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
    hash.digest()
}

/// A snapshot that is being written.
#[derive(Debug)]
pub(super) struct Writer {
    disk: Arc<dyn Disk>,
    name: String,
    file: Arc<dyn DiskFile>,
    offset: u64,
    chunks: u64,
    /// Checksum of all checksums of chunks.
    sum: Xxh3Debug,
}

/// A hasher with a constant `Debug` text, because its state means nothing to a reader.
#[derive(Default)]
struct Xxh3Debug(Xxh3);

impl std::fmt::Debug for Xxh3Debug {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Xxh3")
    }
}

impl Writer {
    pub(super) fn begin(disk: Arc<dyn Disk>, head: SnapshotHead) -> Result<Self, JournalError> {
        let name = names::snapshot(head.sequence);
        let new = names::new(&name);
        let fail = |source| JournalError::access("make", disk.path(&new), source);
        // An unfinished snapshot that this process abandoned.
        if disk.list().map_err(fail)?.contains(&new) {
            disk.remove(&new).map_err(fail)?;
        }
        let file = disk.open(&new, true).map_err(fail)?;
        let (offset, chunks, sum) = (0, 0, Xxh3Debug::default());
        let mut writer = Self { disk, name, file, offset, chunks, sum };
        writer.write(&head_bytes(head))?;
        Ok(writer)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let written = self.file.write_at(self.offset, bytes);
        written.map_err(|source| self.fail("write", source))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn fail(&self, deed: &'static str, source: io::Error) -> JournalError {
        JournalError::access(deed, self.disk.path(&self.name), source)
    }
}

impl WriteSnapshot for Writer {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let most = CHUNK_BYTES_MAX;
        let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= most);
        let length = length.ok_or(JournalError::TooLarge { bytes: bytes.len(), most })?;
        let checksum = checksum(self.chunks, bytes).to_le_bytes();
        self.sum.0.update(&checksum);
        self.chunks += 1;
        self.write(&[&length.to_le_bytes()[..], &checksum[..]].concat())?;
        self.write(bytes)
    }

    fn finish(mut self: Box<Self>) -> Result<(), JournalError> {
        let (chunks, sum) = (self.chunks.to_le_bytes(), self.sum.0.digest().to_le_bytes());
        self.write(&[&END.to_le_bytes()[..], &chunks[..], &sum[..]].concat())?;
        let new = names::new(&self.name);
        self.file
            .sync()
            .and_then(|()| self.disk.rename(&new, &self.name))
            .and_then(|()| self.disk.sync())
            .map_err(|source| self.fail("finish", source))
    }
}

/// Opens a snapshot.
pub(super) fn open(disk: &Arc<dyn Disk>, sequence: u64) -> Result<Snapshot, JournalError> {
    let name = names::snapshot(sequence);
    let path = disk.path(&name);
    let file = match disk.open(&name, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(JournalError::NoSnapshot { sequence });
        }
        file => file.map_err(|source| JournalError::access("open", path.clone(), source))?,
    };
    let length = file.len().map_err(|source| JournalError::access("read", path.clone(), source))?;
    let mut reader =
        Reader { path, file, length, offset: 0, chunks: 0, sum: Xxh3Debug::default(), done: false };
    let head = reader.head()?;
    if head.sequence != sequence {
        let damage =
            Damage::Shape("the record number in the snapshot does not match the name of the file");
        return Err(reader.damaged(Place::offset(0), damage));
    }
    Ok(Snapshot { head, chunks: Box::new(reader) })
}

#[derive(Debug)]
struct Reader {
    path: std::path::PathBuf,
    file: Arc<dyn DiskFile>,
    length: u64,
    offset: u64,
    chunks: u64,
    sum: Xxh3Debug,
    done: bool,
}

impl Reader {
    fn take(&mut self, length: usize) -> Result<Vec<u8>, JournalError> {
        if self.length.saturating_sub(self.offset) < length as u64 {
            let damage = Damage::Shape("the snapshot is truncated");
            return Err(self.damaged(self.here(), damage));
        }
        let mut bytes = vec![0; length];
        let read = self.file.read_at(self.offset, &mut bytes);
        read.map_err(|source| JournalError::access("read", self.path.clone(), source))?;
        self.offset += length as u64;
        Ok(bytes)
    }

    fn head(&mut self) -> Result<SnapshotHead, JournalError> {
        let bytes: [u8; HEAD_BYTES] = self.take(HEAD_BYTES)?.try_into().expect("as many as asked");
        let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("in it"));
        let short = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("in it"));
        let (expected, found) = (number(HEAD_BYTES - 8), xxh3_64(&bytes[..HEAD_BYTES - 8]));
        let at_head = Place::offset(0);
        if bytes[..8] != MARK {
            return Err(self.damaged(
                at_head,
                Damage::Shape("the file does not begin with the header of a snapshot"),
            ));
        }
        if expected != found {
            return Err(self.damaged(at_head, Damage::Checksum { expected, found }));
        }
        if short(8) > FORMAT {
            let (path, found) = (self.path.clone(), short(8));
            return Err(JournalError::Newer { path, found, known: FORMAT });
        }
        let digest = u128::from_le_bytes(*bytes[24..].first_chunk().expect("in it"));
        Ok(SnapshotHead { sequence: number(16), format: short(12), digest })
    }

    fn chunk(&mut self) -> Result<Option<Vec<u8>>, JournalError> {
        let place = self.here();
        let head: [u8; CHUNK_HEAD_BYTES] =
            self.take(CHUNK_HEAD_BYTES)?.try_into().expect("as many as asked");
        let length = u32::from_le_bytes(*head.first_chunk().expect("in it"));
        let second = u64::from_le_bytes(*head[4..].first_chunk().expect("in it"));
        if length == END {
            return self.end(place, second).map(|()| None);
        }
        if length as usize > CHUNK_BYTES_MAX {
            return Err(self.damaged(place, Damage::Shape("a chunk exceeds the maximum length")));
        }
        let bytes = self.take(length as usize).map_err(|error| match error {
            JournalError::Damaged { path, damage, .. } => {
                JournalError::Damaged { path, place, damage }
            }
            other => other,
        })?;
        let found = checksum(self.chunks, &bytes);
        if found != second {
            return Err(self.damaged(place, Damage::Checksum { expected: second, found }));
        }
        self.sum.0.update(&found.to_le_bytes());
        self.chunks += 1;
        Ok(Some(bytes))
    }

    fn end(&mut self, place: Place, chunks: u64) -> Result<(), JournalError> {
        let sum = self.take(8)?;
        let expected = u64::from_le_bytes(*sum.first_chunk().expect("as many as asked"));
        let found = self.sum.0.digest();
        if chunks != self.chunks || expected != found {
            return Err(self.damaged(place, Damage::Checksum { expected, found }));
        }
        if self.offset != self.length {
            let damage = Damage::Shape("data follows the end of the snapshot");
            return Err(self.damaged(self.here(), damage));
        }
        Ok(())
    }

    const fn here(&self) -> Place {
        Place { offset: Some(self.offset), sequence: None, chunk: Some(self.chunks) }
    }

    fn damaged(&self, place: Place, damage: Damage) -> JournalError {
        JournalError::damaged(self.path.clone(), place, damage)
    }
}

impl Iterator for Reader {
    type Item = Result<Vec<u8>, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.chunk().transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}
