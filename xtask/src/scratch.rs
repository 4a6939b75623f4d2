//! Directories that vanish after use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};

/// An empty directory of our own, deleted when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Make one below the system's directory for temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn new() -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("headroom-xtask-{}-{number}", process::id());
        let path = std::env::temp_dir().join(name);
        // A run that was killed may have left one of the same name behind.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be deleted stays in the directory for temporary files: no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
