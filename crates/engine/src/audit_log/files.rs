//! Files of the audit log: lines in order, in segments. A segment ends with the day, or when it is large.
//!
//! A segment is `audit-N.jsonl`, where N is the number of its first record. Only the last segment is written. A segment
//! is made durable before the next segment begins.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::{Millis, Timestamp};
use headroom_journal::disk::{Disk, DiskFile};

use super::lines::Lines;
use super::record::{AuditRecord, Head, written_time};

/// Size at which a segment ends, in bytes.
pub(super) const SEGMENT_BYTES: u64 = 16 << 20;

const DAY: Millis = Millis::from_secs(86_400);

/// Returns the name of a segment.
pub(super) fn name_of(first: u64) -> String {
    format!("audit-{first:020}.jsonl")
}

/// Returns the number of the first record of a segment, from its name.
pub(super) fn first_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?;
    let is_number = number.len() == 20 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok())?
}

/// A segment from the view of readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) first: u64,
    /// Time of its first record, as written.
    pub(super) began: String,
    /// Length of its valid part in bytes.
    pub(super) length: u64,
}

/// The segments, oldest first. Clones share the list.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    pub(super) disk: Arc<dyn Disk>,
    list: Arc<Mutex<Vec<Segment>>>,
}

impl Segments {
    /// Returns an empty list.
    pub(super) fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk, list: Arc::default() }
    }

    pub(super) fn list(&self) -> MutexGuard<'_, Vec<Segment>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lines for one record of the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) ledger_version: u64,
    pub(super) time: Timestamp,
    /// End of the chain before these lines. `after` is the end of the chain after these lines.
    pub(super) before: Head,
    pub(super) after: Head,
    pub(super) lines: Vec<String>,
}

/// Content of existing files.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// End of the valid chain in the last segment that contains a part of the chain.
    pub(super) reach: Head,
    /// The last group of the valid chain.
    pub(super) group: Option<Group>,
    /// The problem after the valid chain. `None` without a problem.
    pub(super) fault: Option<String>,
    /// Length of the valid part of that segment in bytes.
    good: u64,
    /// The later segments, which have no valid record.
    empty: Vec<u64>,
}

/// The files, for writing.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) segments: Segments,
    segment_bytes: u64,
    current: Option<Arc<dyn DiskFile>>,
    is_durable: bool,
}

impl Files {
    pub(super) const fn new(segments: Segments, segment_bytes: u64) -> Self {
        Self { segments, segment_bytes, current: None, is_durable: true }
    }

    /// Returns the segments on a disk, for reading only.
    pub(super) fn listed(disk: Arc<dyn Disk>) -> io::Result<Segments> {
        let mut firsts: Vec<u64> = disk.list()?.iter().filter_map(|name| first_of(name)).collect();
        firsts.sort_unstable();
        let mut list = Vec::with_capacity(firsts.len());
        for first in &firsts {
            let file = disk.open(&name_of(*first), false)?;
            let length = file.len()?;
            // Only a complete line has a time. In a segment without one there are no records either.
            let line = Lines::of(file, length).next().transpose()?;
            let began = line.and_then(|line| AuditRecord::read(&line.bytes).ok());
            let began = began.map(|record| record.at).unwrap_or_default();
            list.push(Segment { first: *first, began, length });
        }
        Ok(Segments { disk, list: Arc::new(Mutex::new(list)) })
    }

    /// Reads the existing files. Changes nothing.
    pub(super) fn open(disk: Arc<dyn Disk>, segment_bytes: u64) -> io::Result<(Self, Found)> {
        let segments = Self::listed(disk)?;
        let (mut found, mut list) = (Found::default(), segments.list());
        while let Some(last) = list.last() {
            let file = segments.disk.open(&name_of(last.first), false)?;
            scan(file, last, &mut found)?;
            if found.group.is_some() {
                break;
            }
            found.empty.push(last.first);
            list.pop();
        }
        drop(list);
        Ok((Self::new(segments, segment_bytes), found))
    }

    /// Continues after the valid part, and removes the rest.
    pub(super) fn go_on(&mut self, found: &Found) -> io::Result<()> {
        let disk = Arc::clone(&self.segments.disk);
        for first in &found.empty {
            disk.remove(&name_of(*first))?;
        }
        if !found.empty.is_empty() {
            disk.sync()?;
        }
        let mut list = self.segments.list();
        let Some(last) = list.last_mut() else { return Ok(()) };
        let file = disk.open(&name_of(last.first), false)?;
        if last.length > found.good {
            file.set_len(found.good)?;
            file.sync()?;
        }
        last.length = found.good;
        drop(list);
        (self.current, self.is_durable) = (Some(file), false);
        Ok(())
    }

    /// Copies the damaged file for diagnosis. Returns the name of the copy.
    pub(super) fn copy(&self, found: &Found) -> io::Result<String> {
        let list = self.segments.list();
        let Some(last) = list.last().filter(|_| found.fault.is_some()) else {
            return Ok(" nowhere".to_owned());
        };
        let disk = &self.segments.disk;
        let mut bytes = vec![0; usize::try_from(last.length).map_err(io::Error::other)?];
        disk.open(&name_of(last.first), false)?.read_at(0, &mut bytes)?;
        let copy = format!("{}.damaged", name_of(last.first));
        let is_there = disk.list()?.contains(&copy);
        let file = disk.open(&copy, !is_there)?;
        file.set_len(0)?;
        file.write_at(0, &bytes)?;
        file.sync()?;
        disk.sync()?;
        drop(list);
        Ok(format!(" as {}", disk.path(&copy).display()))
    }

    /// Leaves the existing records unchanged, and begins a new segment with the record after `head`.
    pub(super) fn leave(&mut self, found: &Found, head: &Head) -> io::Result<()> {
        let name = name_of(head.seq + 1);
        let disk = &self.segments.disk;
        let mut list = self.segments.list();
        if found.empty.contains(&(head.seq + 1)) || list.iter().any(|one| one.first > head.seq) {
            list.retain(|one| one.first <= head.seq);
            for first in disk.list()?.iter().filter_map(|name| first_of(name)) {
                if first > head.seq {
                    disk.rename(&name_of(first), &format!("{}.damaged", name_of(first)))?;
                }
            }
            disk.sync()?;
        }
        drop(list);
        self.make(&name, head.seq + 1)
    }

    fn make(&mut self, name: &str, first: u64) -> io::Result<()> {
        let disk = &self.segments.disk;
        let file = match disk.open(name, true) {
            // The file of a failed attempt. None of it was acknowledged.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let file = disk.open(name, false)?;
                file.set_len(0)?;
                file
            }
            made => made?,
        };
        disk.sync()?;
        let began = String::new();
        self.segments.list().push(Segment { first, began, length: 0 });
        self.current = Some(file);
        Ok(())
    }

    /// Appends a group.
    pub(super) fn append(&mut self, group: &Group) -> io::Result<()> {
        let time = written_time(group.time);
        if self.is_full(&time) {
            self.sync()?;
            self.make(&name_of(group.before.seq + 1), group.before.seq + 1)?;
        }
        let Some(file) = &self.current else { return Err(io::ErrorKind::NotFound.into()) };
        let mut text = String::new();
        for line in &group.lines {
            text.extend([line, "\n"]);
        }
        let at = self.segments.list().last().map_or(0, |last| last.length);
        self.is_durable = false;
        file.write_at(at, text.as_bytes())?;
        if let Some(last) = self.segments.list().last_mut() {
            last.length = at + text.len() as u64;
            if last.began.is_empty() {
                last.began = time;
            }
        }
        Ok(())
    }

    /// Returns whether a record at this time begins another segment.
    fn is_full(&self, time: &str) -> bool {
        let list = self.segments.list();
        let Some(last) = list.last().filter(|_| self.current.is_some()) else { return true };
        let day_of = |time: &str| time.get(..10).map(str::to_owned);
        let is_other_day = !last.began.is_empty() && day_of(&last.began) != day_of(time);
        last.length > 0 && (last.length >= self.segment_bytes || is_other_day)
    }

    /// Makes the written lines durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.is_durable {
            return Ok(());
        }
        if let Some(file) = &self.current {
            file.sync()?;
        }
        self.is_durable = true;
        Ok(())
    }

    /// Removes the oldest segments: those in which all records are older than `days`, and those beyond `segments_max`.
    pub(super) fn retain(&self, now: Timestamp, days: u32, segments_max: usize) -> io::Result<()> {
        let oldest = written_time(now.before(Millis::new(DAY.get() * u64::from(days))));
        let mut list = self.segments.list();
        while let [first, next, ..] = &**list
            && (!next.began.is_empty() && next.began <= oldest || list.len() > segments_max)
        {
            self.segments.disk.remove(&name_of(first.first))?;
            list.remove(0);
        }
        Ok(())
    }
}

/// Finds the valid part of a segment.
fn scan(file: Arc<dyn DiskFile>, segment: &Segment, found: &mut Found) -> io::Result<()> {
    let mut expected: Option<Head> = None;
    for (number, line) in (1..).zip(Lines::of(file, segment.length)) {
        let line = line?;
        let seq = expected.as_ref().map_or(segment.first, |head| head.seq + 1);
        let record = match AuditRecord::read(&line.bytes) {
            Ok(record) if line.is_whole && record.seq == seq => record,
            _ => {
                found.fault = Some(format!("{}, line {number}", name_of(segment.first)));
                return Ok(());
            }
        };
        if expected.as_ref().is_some_and(|head| head.hash != record.prev_hash) {
            found.fault = Some(format!("{}, line {number}", name_of(segment.first)));
            return Ok(());
        }
        let head = record.head();
        let text = String::from_utf8_lossy(&line.bytes).into_owned();
        match &mut found.group {
            Some(group) if group.ledger_version == record.ledger_version => {
                group.lines.push(text);
                group.after = head.clone();
            }
            group => {
                let before = Head { seq: record.seq - 1, hash: record.prev_hash };
                let (ledger_version, after) = (record.ledger_version, head.clone());
                let lines = vec![text];
                let time = Timestamp::ZERO;
                *group = Some(Group { ledger_version, time, before, after, lines });
            }
        }
        (found.good, found.reach) = (line.end, head.clone());
        expected = Some(head);
    }
    Ok(())
}
