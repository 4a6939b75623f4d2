//! The few things that the journal needs of a disk, so that tests can put a bad one in its place.

#[cfg(any(test, feature = "testkit"))]
pub mod faulty;
mod folder;

pub use folder::Folder;

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Tells one file from every other on the same machine, whatever its name: its device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(pub u64, pub u64);

/// One file of a [`Disk`].
pub trait DiskFile: Debug + Send + Sync {
    /// Returns the identity of the file; none where files cannot be replaced behind our back.
    ///
    /// # Errors
    /// What the disk says.
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }

    /// Locks the file itself until it is closed. Returns whether no other process has locked it.
    ///
    /// # Errors
    /// What the disk says.
    fn try_lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// What the disk says; so for all others.
    fn len(&self) -> io::Result<u64>;

    /// Whether it has no bytes.
    ///
    /// # Errors
    /// What the disk says.
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|length| length == 0)
    }

    /// Fill `out` from this offset on; fewer bytes than that are an error.
    ///
    /// # Errors
    /// What the disk says.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Write all of these bytes from this offset on.
    ///
    /// # Errors
    /// What the disk says; some of the bytes may have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cut it off, or make it longer with zeros.
    ///
    /// # Errors
    /// What the disk says.
    fn set_len(&self, length: u64) -> io::Result<()>;

    /// Make durable what was written.
    ///
    /// # Errors
    /// What the disk says; what was written since the last time may be lost then.
    fn sync(&self) -> io::Result<()>;
}

/// Files by name, all in one folder.
pub trait Disk: Debug + Send + Sync {
    /// A file that exists; with `create`, one that is made now and must not exist.
    ///
    /// # Errors
    /// What the disk says; so for all others.
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>>;

    /// All files, in order of names.
    ///
    /// # Errors
    /// What the disk says.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Give a file another name, in place of the one that has it.
    ///
    /// # Errors
    /// What the disk says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Remove a file.
    ///
    /// # Errors
    /// What the disk says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Make names durable: files made, renamed and removed.
    ///
    /// # Errors
    /// What the disk says.
    fn sync(&self) -> io::Result<()>;

    /// Take this file as a lock until what is returned is dropped, the process ends or dies, and
    /// leave `holder` in it; or learn who has it.
    ///
    /// # Errors
    /// What the disk says.
    fn lock(&self, name: &str, holder: &str) -> io::Result<Result<Lock, String>>;

    /// Returns the identity of the file that has this name now; none where files cannot be replaced behind our back.
    ///
    /// # Errors
    /// What the disk says; [`io::ErrorKind::NotFound`] where nothing has the name.
    fn id_of(&self, name: &str) -> io::Result<Option<FileId>> {
        let _ = name;
        Ok(None)
    }

    /// What a person would call this file.
    fn path(&self, name: &str) -> PathBuf;
}

/// A lock that is held.
pub trait Locked: Debug + Send + Sync {
    /// Returns the identity of its file; none where files cannot be replaced behind our back.
    ///
    /// # Errors
    /// What the disk says.
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }
}

/// A lock that nobody contends for.
impl Locked for () {}

/// Holds a lock for as long as it lives.
pub type Lock = Box<dyn Locked>;
