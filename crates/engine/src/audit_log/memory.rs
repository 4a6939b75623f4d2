//! Files in memory, for engines with a journal in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_journal::disk::{Disk, DiskFile, Lock};

/// Files by name.
#[derive(Debug, Default)]
pub(super) struct InMemory(Mutex<BTreeMap<String, Arc<Bytes>>>);

#[derive(Debug, Default)]
struct Bytes(Mutex<Vec<u8>>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn place(offset: u64, length: usize) -> io::Result<(usize, usize)> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    let end = start.checked_add(length).ok_or(io::ErrorKind::InvalidInput)?;
    Ok((start, end))
}

impl DiskFile for Bytes {
    fn len(&self) -> io::Result<u64> {
        Ok(locked(&self.0).len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (start, end) = place(offset, out.len())?;
        let bytes = locked(&self.0);
        out.copy_from_slice(bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        drop(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, new: &[u8]) -> io::Result<()> {
        let (start, end) = place(offset, new.len())?;
        let mut bytes = locked(&self.0);
        let length = bytes.len().max(end);
        bytes.resize(length, 0);
        bytes[start..end].copy_from_slice(new);
        drop(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let (_, end) = place(length, 0)?;
        locked(&self.0).resize(end, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for InMemory {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut files = locked(&self.0);
        let known = files.get(name).cloned();
        let file = match (known, create) {
            (Some(_), true) => return Err(io::ErrorKind::AlreadyExists.into()),
            (None, false) => return Err(io::ErrorKind::NotFound.into()),
            (Some(file), false) => file,
            (None, true) => Arc::clone(files.entry(name.to_owned()).or_default()),
        };
        drop(files);
        Ok(file)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(locked(&self.0).keys().cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = locked(&self.0);
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        drop(files);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        locked(&self.0).remove(name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _name: &str, _holder: &str) -> io::Result<Result<Lock, String>> {
        Ok(Ok(Box::new(())))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(name)
    }
}
