//! The queue file on disk: taken when it changes, and when somebody says so.

use std::path::{Path, PathBuf};
use std::{fs, io};

use headroom_config::bytes_of;
use headroom_engine::Origin;
use tokio::sync::Notify;

use crate::queue_file::{Applied, QueueFileError};
use crate::service::Service;
use crate::watch_file::WatchedFiles;

/// Why a queue file on disk was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// It cannot be read.
    #[error("cannot read the queue file {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It was read, and not taken.
    #[error("the queue file {} is not taken", path.display())]
    NotTaken {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<QueueFileError>,
    },
}

/// Take the queue file as it is now.
///
/// # Errors
/// When it cannot be read, has faults, or does not fit what is there; the one in force stays.
pub async fn take_queue_file(service: &Service, path: &Path) -> Result<Applied, TakeError> {
    service.queue_file.follow(path);
    let unreadable = |source| TakeError::Read { path: path.to_owned(), source };
    let owned = path.to_owned();
    let read = tokio::task::spawn_blocking(move || fs::File::open(owned).and_then(bytes_of)).await;
    let bytes = read.map_err(io::Error::other).flatten().map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(io::Error::other(error)))?;
    let origin = Origin { identity: format!("file:{}", path.display()), ..Origin::default() };
    let applied = service.queue_file.apply(origin, &text).await;
    let applied = applied.map_err(|source| TakeError::NotTaken {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    tell(path, &applied);
    Ok(applied)
}

fn tell(path: &Path, applied: &Applied) {
    let Applied { sequence, warnings, resolvers, .. } = applied;
    let path = path.display();
    tracing::info!(%path, sequence, "queue file in force");
    for warning in warnings.iter() {
        let (line, code) = (warning.line, warning.code);
        tracing::warn!(%path, line, %code, "{}", warning.message);
    }
    for warning in resolvers {
        tracing::warn!(%path, "{warning}");
    }
}

/// Take the queue file whenever it changes, and at once when `at_once` is notified. A bad one is
/// told of, and the one in force stays. It never ends by itself.
///
/// `watched` is the file as it was before it was read first, so that no change in between is lost.
pub async fn watch_queue_file(
    service: Service,
    path: PathBuf,
    mut watched: WatchedFiles,
    at_once: &Notify,
) {
    loop {
        watched.change(at_once).await;
        if let Err(error) = take_queue_file(&service, &path).await {
            tracing::error!("{}; the one in force stays", crate::chain(&error));
        }
    }
}
