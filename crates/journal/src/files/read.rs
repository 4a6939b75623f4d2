//! Reads records through several files. Each file is opened when needed.

use std::collections::VecDeque;

use super::log::{Log, UNKNOWN, Use};
use crate::disk::Disk;
use crate::error::{Damage, JournalError, Place};
use crate::store::{Records, Stored};

/// Returns the records from this record on: first from the files `older`, and then from `current`.
pub(super) fn from<'store>(
    disk: &'store dyn Disk,
    older: &[u64],
    current: &'store Log,
    from: u64,
) -> Result<Records<'store>, JournalError> {
    let first = older.first().copied().unwrap_or(current.first);
    if from < first {
        return Err(JournalError::Truncated { wanted: from, first });
    }
    let mut files: VecDeque<u64> = older.iter().copied().collect();
    let end = |files: &VecDeque<u64>| files.get(1).copied().unwrap_or(current.first);
    while !files.is_empty() && end(&files) <= from {
        files.pop_front();
    }
    let (open, page) = (None, VecDeque::new());
    let (before, done) = (UNKNOWN, false);
    Ok(Box::new(Reader { disk, files, current, open, page, next: from, before, done }))
}

struct Reader<'store> {
    disk: &'store dyn Disk,
    /// First records of the files that precede the current file and are not opened yet.
    files: VecDeque<u64>,
    current: &'store Log,
    /// The file that is being read, if it is not the current file, and the record before which the read ends.
    open: Option<(Log, u64)>,
    page: VecDeque<Stored>,
    next: u64,
    /// Checksum of the record that was read last.
    before: Option<u64>,
    done: bool,
}

impl Reader<'_> {
    /// Reads the next page. Returns whether a page exists.
    fn fill(&mut self) -> Result<bool, JournalError> {
        loop {
            if self.open.is_none()
                && let Some(first) = self.files.pop_front()
            {
                self.open_file(first)?;
            }
            let log = self.open.as_ref().map_or(self.current, |(log, _)| log);
            let before = self.before.or((log.first == self.next).then_some(log.before));
            let page = log.page(self.next, before)?;
            if page.records.is_empty() {
                let Some((log, end)) = self.open.take() else { return Ok(false) };
                if self.next < end {
                    let place = Place::record(self.next);
                    let damage = Damage::Missing { first: self.next, last: end - 1 };
                    return Err(JournalError::damaged(log.path().clone(), place, damage));
                }
                continue;
            }
            self.before = Some(page.checksum);
            self.next += page.records.len() as u64;
            let stored = |(sequence, bytes)| Stored { sequence, bytes };
            self.page.extend(page.records.into_iter().map(stored));
            return Ok(true);
        }
    }

    fn open_file(&mut self, first: u64) -> Result<(), JournalError> {
        let end = self.files.front().copied().unwrap_or(self.current.first);
        let log = Log::open(self.disk, first, Use::Read, Some(end - 1))?;
        if let Some(expected) = self.before.filter(|before| *before != log.before) {
            let damage = Damage::Chain { expected, found: log.before };
            return Err(JournalError::damaged(log.path().clone(), Place::record(first), damage));
        }
        self.open = Some((log, end));
        Ok(())
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Stored, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() && !self.done {
            match self.fill() {
                Ok(more) => self.done = !more,
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        self.page.pop_front().map(Ok)
    }
}
