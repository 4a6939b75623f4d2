//! A disk in memory that fails on demand, and loses everything that was not made durable.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Disk, DiskFile, Lock, Locked};

/// Fault that a disk can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation has no effect and fails.
    Fails,
    /// A write stores only the first half of its bytes and fails. Any other operation fails.
    Short,
    /// The disk is full from this operation on: every write and every change of length fails. All other operations
    /// work.
    Full,
    /// This operation and all later ones fail, as if the disk were removed.
    Gone,
}

/// A disk in memory. Clones share its content.
#[derive(Clone, Debug, Default)]
pub struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<u64, Bytes>,
    /// Current names of files. `durable_names` has the names that survive a loss of power.
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    files_made: u64,
    /// Number of writes, changes of length, syncs, renames, removals, and new files so far.
    operations: u64,
    fault: Option<(u64, Fault)>,
    locked: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Bytes {
    seen: Vec<u8>,
    durable: Vec<u8>,
    /// Changes since the last sync, in order.
    pending: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl Change {
    fn make(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(offset, new) => {
                let start = usize::try_from(*offset).expect("small files");
                let end = start + new.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[start..end].copy_from_slice(new);
            }
            Self::Length(length) => bytes.resize(usize::try_from(*length).expect("small files"), 0),
        }
    }
}

impl FaultyDisk {
    /// Sets a fault that happens at this operation, counted from 0.
    pub fn fail_at(&self, operation: u64, fault: Fault) {
        self.state().fault = Some((operation, fault));
    }

    /// Returns the number of operations that changed something.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Returns the disk after a sudden death of the process: with all written bytes, without a lock or a fault.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let state = self.state();
        Self::of(state.files.clone(), state.names.clone())
    }

    /// Returns the disk after a loss of power. For each change that is not durable, `keep` decides how much remains. A
    /// write can remain in part.
    #[must_use]
    pub fn after_power_loss(&self, mut keep: impl FnMut() -> Kept) -> Self {
        let state = self.state();
        let mut files = state.files.clone();
        for bytes in files.values_mut() {
            let mut there = bytes.durable.clone();
            for change in &bytes.pending {
                match (keep(), change) {
                    (Kept::All, change) => change.make(&mut there),
                    (Kept::Half, Change::Write(offset, new)) => {
                        let half = new[..new.len() / 2].to_vec();
                        Change::Write(*offset, half).make(&mut there);
                    }
                    (Kept::Nothing, _) | (Kept::Half, Change::Length(_)) => {}
                }
            }
            *bytes = Bytes { seen: there.clone(), durable: there, pending: Vec::new() };
        }
        // Names change one after another, as in the journal of a file system.
        let names = if keep() == Kept::All { &state.names } else { &state.durable_names };
        Self::of(files, names.clone())
    }

    fn of(files: BTreeMap<u64, Bytes>, names: BTreeMap<String, u64>) -> Self {
        let files_made = files.keys().next_back().copied().unwrap_or_default();
        let durable_names = names.clone();
        let state = State { files, names, durable_names, files_made, ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the bytes of a file.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let id = state.names.get(name)?;
        Some(state.files.get(id)?.seen.clone())
    }

    /// Replaces the bytes of a file.
    pub fn set_bytes(&self, name: &str, bytes: Vec<u8>) {
        let mut state = self.state();
        let Some(id) = state.names.get(name).copied() else { return };
        let bytes = Bytes { durable: bytes.clone(), seen: bytes, pending: Vec::new() };
        state.files.insert(id, bytes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The remainder of a change after a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The whole change.
    All,
    /// The first half of a write.
    Half,
    /// Nothing.
    Nothing,
}

/// Extent to which an operation takes effect.
enum Go {
    On,
    Halfway(io::Error),
}

impl State {
    /// Counts an operation. Returns whether the operation takes effect, completely or partly.
    fn step(&mut self, writes: bool) -> io::Result<Go> {
        let number = self.operations;
        self.operations += 1;
        let Some((at, fault)) = self.fault else { return Ok(Go::On) };
        let failed = || io::Error::other("injected fault");
        match fault {
            Fault::Short if number == at && writes => Ok(Go::Halfway(failed())),
            Fault::Short | Fault::Fails if number == at => Err(failed()),
            Fault::Full if number >= at && writes => {
                Err(io::Error::new(io::ErrorKind::StorageFull, "injected fault"))
            }
            Fault::Gone if number >= at => Err(failed()),
            _ => Ok(Go::On),
        }
    }

    fn find(&self, name: &str) -> io::Result<u64> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, name.to_owned());
        self.names.get(name).copied().ok_or_else(missing)
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    id: u64,
}

impl FaultyFile {
    fn change(&self, change: Change) -> io::Result<()> {
        let mut state = self.disk.state();
        let go = state.step(true)?;
        let (change, outcome) = match (go, change) {
            (Go::On, change) => (change, Ok(())),
            (Go::Halfway(error), Change::Write(offset, bytes)) => {
                (Change::Write(offset, bytes[..bytes.len() / 2].to_vec()), Err(error))
            }
            (Go::Halfway(error), Change::Length(_)) => return Err(error),
        };
        if let Some(file) = state.files.get_mut(&self.id) {
            change.make(&mut file.seen);
            file.pending.push(change);
        }
        outcome
    }
}

impl DiskFile for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().files.get(&self.id).map_or(0, |file| file.seen.len() as u64))
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.disk.state();
        let seen = state.files.get(&self.id).map_or(&[][..], |file| &file.seen);
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = start.checked_add(out.len()).and_then(|end| seen.get(start..end));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(Change::Write(offset, bytes.to_vec()))
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.change(Change::Length(length))
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.step(false)?;
        if let Some(file) = state.files.get_mut(&self.id) {
            file.durable = file.seen.clone();
            file.pending.clear();
        }
        Ok(())
    }
}

impl Disk for FaultyDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        if create {
            state.step(true)?;
            if state.names.contains_key(name) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            state.files_made += 1;
            let id = state.files_made;
            state.files.insert(id, Bytes::default());
            state.names.insert(name.to_owned(), id);
        }
        let id = state.find(name)?;
        Ok(Arc::new(FaultyFile { disk: self.clone(), id }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.step(false)?;
        let id = state.find(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), id);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.step(false)?;
        state.find(name)?;
        state.names.remove(name);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state();
        state.step(false)?;
        state.durable_names = state.names.clone();
        Ok(())
    }

    fn lock(&self, _name: &str, holder: &str) -> io::Result<Result<Lock, String>> {
        let mut state = self.state();
        if let Some(holder) = &state.locked {
            return Ok(Err(holder.clone()));
        }
        state.locked = Some(holder.to_owned());
        Ok(Ok(Box::new(Unlock(self.clone()))))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }
}

#[derive(Debug)]
struct Unlock(FaultyDisk);

impl Locked for Unlock {}

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.state().locked = None;
    }
}
