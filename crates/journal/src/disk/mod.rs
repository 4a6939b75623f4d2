//! The disk operations of the journal. Tests implement these operations with a disk that fails.

#[cfg(any(test, feature = "testkit"))]
pub mod faulty;
mod folder;

pub use folder::Folder;

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Identity of a file on one machine, independent of its name: its device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(pub u64, pub u64);

/// One file of a [`Disk`].
pub trait DiskFile: Debug + Send + Sync {
    /// Returns the identity of the file. `None` where an open file cannot be replaced by another process.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }

    /// Locks the file itself until it is closed. Returns whether no other process has locked it.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn try_lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn len(&self) -> io::Result<u64>;

    /// Returns whether the file has no bytes.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|length| length == 0)
    }

    /// Fills `out` with the bytes from this offset on.
    ///
    /// # Errors
    /// Returns the I/O error of the disk. Also fails if the file has fewer bytes.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Writes all of these bytes, from this offset on.
    ///
    /// # Errors
    /// Returns the I/O error of the disk. Some of the bytes might have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Shortens the file, or extends the file with zeros.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn set_len(&self, length: u64) -> io::Result<()>;

    /// Makes all written bytes durable.
    ///
    /// # Errors
    /// Returns the I/O error of the disk. Bytes written since the last sync can then be lost.
    fn sync(&self) -> io::Result<()>;
}

/// Files in one folder, addressed by name.
pub trait Disk: Debug + Send + Sync {
    /// Opens an existing file. With `create`, creates a new file.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>>;

    /// Returns the names of all files, in order.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Renames a file. Replaces any file that has the new name.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes created, renamed, and removed names durable.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn sync(&self) -> io::Result<()>;

    /// Locks this file until the returned lock is dropped or the process ends. Writes `holder` into the file. If
    /// another process holds the lock, returns the text of that process.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn lock(&self, name: &str, holder: &str) -> io::Result<Result<Lock, String>>;

    /// Returns the identity of the file that currently has this name. `None` if the disk does not allow another process
    /// to replace an open file.
    ///
    /// # Errors
    /// Returns the I/O error of the disk: [`io::ErrorKind::NotFound`] if no file has the name.
    fn id_of(&self, name: &str) -> io::Result<Option<FileId>> {
        let _ = name;
        Ok(None)
    }

    /// Returns the path of this file for errors.
    fn path(&self, name: &str) -> PathBuf;
}

/// A held lock. Dropping the value releases the lock.
pub trait Locked: Debug + Send + Sync {
    /// Returns the identity of the lock file. `None` where an open file cannot be replaced by another process.
    ///
    /// # Errors
    /// Returns the I/O error of the disk.
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }
}

/// A lock of a disk that no other process can access.
impl Locked for () {}

/// A lock that is held until the value is dropped.
pub type Lock = Box<dyn Locked>;
