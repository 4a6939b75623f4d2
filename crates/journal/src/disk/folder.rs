//! A folder of the operating system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Disk, DiskFile, FileId, Lock, Locked};

/// File mode: only the owner can read the files, because records contain user names and what users do.
const MODE: u32 = 0o600;

/// A folder of the operating system.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens this folder. Creates a missing folder.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn new(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        if !path.is_dir() {
            fs::create_dir_all(&path)?;
            if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
                File::open(above)?.sync_all()?;
            }
        }
        Ok(Self(path))
    }
}

#[derive(Debug)]
struct OneFile(File);

fn id_of(about: &fs::Metadata) -> FileId {
    FileId(about.dev(), about.ino())
}

impl Locked for File {
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(id_of(&self.metadata()?)))
    }
}

impl DiskFile for OneFile {
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(id_of(&self.0.metadata()?)))
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn len(&self) -> io::Result<u64> {
        self.0.metadata().map(|about| about.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Disk for Folder {
    fn open(&self, name: &str, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).create_new(create).mode(MODE);
        Ok(Arc::new(OneFile(how.open(self.0.join(name))?)))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            // File names of the journal are valid UTF-8. Other names cannot belong to it.
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }

    fn lock(&self, name: &str, holder: &str) -> io::Result<Result<Lock, String>> {
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(true).truncate(false).mode(MODE);
        let mut file = how.open(self.0.join(name))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                return Ok(Err(holder));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(holder.as_bytes())?;
        Ok(Ok(Box::new(file)))
    }

    fn id_of(&self, name: &str) -> io::Result<Option<FileId>> {
        Ok(Some(id_of(&fs::metadata(self.0.join(name))?)))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}
