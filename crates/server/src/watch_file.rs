//! Watches files that other programs change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

/// Interval at which files are read.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Watches the content of files for changes. Compares content, not times or inodes: editors rename files, Kubernetes
/// replaces a link, and some file systems store time in seconds.
#[derive(Clone, Debug)]
pub struct WatchedFiles {
    paths: Vec<PathBuf>,
    /// Checksum of each file. `None` for a file that cannot be read.
    seen: Vec<Option<String>>,
}

impl WatchedFiles {
    /// Watches these files for changes from their current content.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        let seen = paths.iter().map(|path| digest(path)).collect();
        Self { paths, seen }
    }

    /// Returns whether any file changed since the last call, if all files can be read. A missing file is probably being
    /// replaced, so it counts as unchanged until it exists again.
    pub fn look(&mut self) -> bool {
        let now: Vec<_> = self.paths.iter().map(|path| digest(path)).collect();
        if now == self.seen || now.iter().any(Option::is_none) {
            return false;
        }
        self.seen = now;
        true
    }

    /// Waits until a file changes, or until `at_once` is notified. Reads the files every second.
    pub async fn change(&mut self, at_once: &Notify) {
        loop {
            let requested = tokio::select! {
                () = sleep(LOOK_EVERY) => false,
                () = at_once.notified() => true,
            };
            let mut files = self.clone();
            // Reading blocks, so it does not run on a thread that answers requests.
            let looked = tokio::task::spawn_blocking(move || {
                let found = files.look();
                (files, found)
            });
            let Ok((files, found)) = looked.await else { continue };
            *self = files;
            if found || requested {
                return;
            }
        }
    }
}

fn digest(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(headroom_config::checksum(&String::from_utf8_lossy(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::WatchedFiles;

    #[test]
    fn a_change_is_seen_once_whatever_way_it_is_made() {
        let folder = std::env::temp_dir().join(format!("headroom-watch-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a");
        fs::write(&file, "one").unwrap();
        let mut files = WatchedFiles::new(vec![file.clone()]);
        assert!(!files.look());
        fs::write(&file, "two").unwrap();
        assert!(files.look());
        assert!(!files.look());
        fs::remove_file(&file).unwrap();
        assert!(!files.look(), "it is being replaced");
        fs::write(folder.join("b"), "three").unwrap();
        fs::rename(folder.join("b"), &file).unwrap();
        assert!(files.look());
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(folder.join("c"), &file).unwrap();
        fs::write(folder.join("c"), "four").unwrap();
        assert!(files.look());
        fs::remove_dir_all(&folder).unwrap();
    }
}
