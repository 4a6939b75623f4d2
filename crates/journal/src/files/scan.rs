//! Finds records in a file by their headers alone, whatever its index contains. Used to locate damage, and to save
//! complete records.
//!
//! A file has old copies of records in free pages, and perhaps records of a batch that was never acknowledged. Each
//! record has the checksum of the previous record. If two records have the same number, the record with the longer
//! chain of followers counts.

use std::collections::BTreeMap;
use std::io;

use crate::disk::DiskFile;
use crate::error::Damage;
use crate::frame::{HEAD_BYTES, Head, MARK};

/// Number of bytes that are read at once.
const WINDOW: usize = 1 << 20;

/// A whole record in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Offset of its bytes, after the header.
    pub(super) offset: u64,
    pub(super) head: Head,
}

/// All records that were found in a file.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    /// Complete records by number. Several different records can have the same number.
    whole: BTreeMap<u64, Vec<Entry>>,
    /// Headers whose record is not whole, by their record number, with their offset.
    pub(super) broken: BTreeMap<u64, (u64, Damage)>,
}

impl Salvage {
    /// Searches a whole file for records.
    pub(super) fn of(file: &dyn DiskFile) -> io::Result<Self> {
        let length = file.len()?;
        let mut salvage = Self::default();
        let mut window = Vec::new();
        let mut start = 0;
        while start < length {
            let size = usize::try_from(length - start).unwrap_or(usize::MAX).min(WINDOW);
            window.resize(size, 0);
            file.read_at(start, &mut window)?;
            let mut at = 0;
            while let Some(found) = find(&window[at..]) {
                at += found;
                if window.len() - at < HEAD_BYTES {
                    break; // It may lie across the edge of two windows.
                }
                let Some(head) = Head::read(&window[at..]) else {
                    at += 1;
                    continue;
                };
                at += salvage.judge(file, length, start + at as u64, head)?;
                if at >= window.len() {
                    break;
                }
            }
            let done = at.max(size.saturating_sub(HEAD_BYTES - 1)).max(1);
            start += done as u64;
        }
        Ok(salvage)
    }

    /// Adds the record after a header to the complete or broken records. Returns the number of bytes to skip.
    fn judge(
        &mut self,
        file: &dyn DiskFile,
        length: u64,
        at: u64,
        head: Head,
    ) -> io::Result<usize> {
        let offset = at + HEAD_BYTES as u64;
        if head.length as u64 > length.saturating_sub(offset) {
            let damage = Damage::Shape("the record is longer than the file");
            self.broken.entry(head.sequence).or_insert((at, damage));
            return Ok(1);
        }
        let mut bytes = vec![0; head.length];
        file.read_at(offset, &mut bytes)?;
        match head.check(&bytes) {
            Ok(()) => {
                let entries = self.whole.entry(head.sequence).or_default();
                if entries.iter().all(|one| one.head != head) {
                    entries.push(Entry { offset, head });
                }
                Ok(HEAD_BYTES + head.length)
            }
            Err(damage) => {
                self.broken.entry(head.sequence).or_insert((at, damage));
                Ok(1)
            }
        }
    }

    /// Returns the longest chain of records that begins with this record, in order.
    pub(super) fn history(&self, first: u64) -> Vec<Entry> {
        let mut furthest: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (sequence, entries) in self.whole.iter().rev() {
            for entry in entries {
                let reach = self
                    .after(*sequence, entry.head.checksum)
                    .map(|next| furthest.get(&(next.head.sequence, next.head.checksum)).copied());
                let reach = reach.flatten().max().unwrap_or(*sequence);
                furthest.insert((*sequence, entry.head.checksum), reach);
            }
        }
        let reach = |entry: &&Entry| furthest[&(entry.head.sequence, entry.head.checksum)];
        let mut history = Vec::new();
        let mut next = self.whole.get(&first).and_then(|all| all.iter().max_by_key(reach));
        while let Some(entry) = next {
            history.push(*entry);
            next = self.after(entry.head.sequence, entry.head.checksum).max_by_key(reach);
        }
        history
    }

    /// Returns the records that follow this record according to their headers.
    fn after(&self, sequence: u64, checksum: u64) -> impl Iterator<Item = &Entry> {
        let next = sequence.checked_add(1).and_then(|next| self.whole.get(&next));
        next.into_iter().flatten().filter(move |entry| entry.head.before == checksum)
    }
}

fn find(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == MARK[0])?;
        if bytes[at..].starts_with(&MARK) {
            return Some(at);
        }
        from = at + 1;
    }
}
