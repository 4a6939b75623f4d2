//! Truncates a journal after a record, on request, with a copy of all files.

use std::sync::Arc;

use super::ack_mark::{AckMark, AckState};
use super::{ack_mark, list, lock, log, names};
use crate::disk::{Disk, DiskFile};
use crate::error::JournalError;

/// Number of bytes that are copied at once.
const COPY_BYTES: usize = 1 << 20;

/// Retains the records up to `to`, and removes all later records and snapshots. Finds records by their own headers, so
/// a broken index does not matter. First copies every file inside the same folder. Returns the prefix of the names of
/// the copies.
///
/// # Errors
/// If another process has the journal open, if a record up to `to` is missing or incomplete, or if the disk fails. The
/// repair can then be repeated.
pub fn repair(disk: &Arc<dyn Disk>, to: u64) -> Result<String, JournalError> {
    let _lock = lock(&**disk)?;
    let names = list(&**disk)?;
    let logs = names::logs(&names);
    let state = ack_mark::read(&**disk)?.unwrap_or_default();
    let Some(at) = logs.iter().rposition(|first| *first <= to.saturating_add(1)) else {
        let first = logs.first().copied().unwrap_or(1);
        return Err(JournalError::Truncated { wanted: to, first });
    };
    let first = logs[at];
    let (file, entries) = log::salvage(&**disk, first)?;
    let retained: Vec<_> = entries.into_iter().take_while(|one| one.head.sequence <= to).collect();
    let next = retained.last().map_or(first, |entry| entry.head.sequence + 1);
    if next <= to {
        return Err(JournalError::NotWhole { to, sequence: next });
    }
    let before = match retained.first() {
        Some(entry) => entry.head.before,
        None => before_of(&**disk, at.checked_sub(1).map(|at| logs[at]))?,
    };
    let prefix = copy_all(&**disk, &names)?;
    let remove = |name: String| {
        let removed = disk.remove(&name);
        removed.map_err(|source| JournalError::access("remove", disk.path(&name), source))
    };
    // The mark is first: from here on, the removed records count as never acknowledged.
    AckMark::make(&**disk, AckState { sequence: to, lease: state.lease })?;
    for sequence in names::snapshots(&names).into_iter().filter(|sequence| *sequence > to) {
        remove(names::snapshot(sequence))?;
    }
    for later in logs[at + 1..].iter().rev() {
        remove(names::log(*later))?;
    }
    let new = names::new(&names::log(first));
    if names.contains(&new) {
        remove(new)?;
    }
    let records = retained.iter().map(|entry| {
        let mut bytes = vec![0; entry.head.length];
        file.read_at(entry.offset, &mut bytes).map(|()| bytes)
    });
    log::make(&**disk, first, before, records)?;
    Ok(prefix)
}

/// Returns the checksum of the last record of the file that begins with `first`. Without such a file, returns the
/// checksum before the first record.
fn before_of(disk: &dyn Disk, first: Option<u64>) -> Result<u64, JournalError> {
    let Some(first) = first else { return Ok(crate::frame::BEGINNING) };
    let (_, entries) = log::salvage(disk, first)?;
    match entries.last() {
        Some(entry) => Ok(entry.head.checksum),
        None => Err(JournalError::NotWhole { to: first, sequence: first }),
    }
}

/// Copies all files that belong to the journal, under names that do not. Returns the prefix of these names.
fn copy_all(disk: &dyn Disk, names: &[String]) -> Result<String, JournalError> {
    let taken = |prefix: &String| names.iter().any(|name| name.starts_with(prefix));
    let mut prefixes = (1_u32..).map(|number| format!("before-repair-{number}."));
    let prefix = prefixes.find(|prefix| !taken(prefix)).expect("fewer files than numbers");
    let counts = |name: &&String| {
        let one = std::slice::from_ref(*name);
        *name == "mark" || !names::logs(one).is_empty() || !names::snapshots(one).is_empty()
    };
    for name in names.iter().filter(counts) {
        let copied = copy(disk, name, &format!("{prefix}{name}"));
        copied.map_err(|source| JournalError::access("copy", disk.path(name), source))?;
    }
    let synced = disk.sync();
    synced.map_err(|source| JournalError::access("flush", disk.path(""), source))?;
    Ok(prefix)
}

fn copy(disk: &dyn Disk, from: &str, to: &str) -> std::io::Result<()> {
    let (from, to): (Arc<dyn DiskFile>, _) = (disk.open(from, false)?, disk.open(to, true)?);
    let length = from.len()?;
    let mut offset = 0;
    let mut bytes = Vec::new();
    while offset < length {
        let size = usize::try_from(length - offset).unwrap_or(usize::MAX).min(COPY_BYTES);
        bytes.resize(size, 0);
        from.read_at(offset, &mut bytes)?;
        to.write_at(offset, &bytes)?;
        offset += size as u64;
    }
    to.sync()
}
