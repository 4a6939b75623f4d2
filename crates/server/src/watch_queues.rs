//! Applies the queue file on disk when it changes, and on request.

use std::path::{Path, PathBuf};
use std::{fs, io};

use headroom_config::bytes_of;
use headroom_core::Name;
use headroom_core::plan::{Reach, Value, plan};
use headroom_engine::Origin;
use tokio::sync::Notify;

use crate::queue_file::{Applied, QueueFileError};
use crate::service::Service;
use crate::watch_file::WatchedFiles;

/// Reason why a queue file on disk was not applied.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// The file cannot be read.
    #[error("cannot read the queue file {}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the file system.
        #[source]
        source: io::Error,
    },
    /// The file was read, but not applied.
    #[error("the queue file {} was not applied", path.display())]
    NotTaken {
        /// Path of the file.
        path: PathBuf,
        /// Reason of the refusal.
        #[source]
        source: Box<QueueFileError>,
    },
}

/// Applies the current content of the queue file.
///
/// # Errors
/// If the file cannot be read, has faults, or conflicts with the current state. The previous file stays active.
pub async fn take_queue_file(service: &Service, path: &Path) -> Result<Applied, TakeError> {
    let text = read(path).await?;
    take(service, path, &text).await
}

/// Applies the queue file at a start. If another file was applied later and the queue file has not changed since, does
/// not apply it: the other file stays active, and the log shows the differences. Decision page 42.
///
/// # Errors
/// The same as [`take_queue_file`].
pub async fn begin_with_queue_file(service: &Service, path: &Path) -> Result<(), TakeError> {
    let text = read(path).await?;
    if service.queue_file.is_overruled(&headroom_config::checksum(&text)) {
        service.queue_file.follow(path);
        tell_overruled(service, path, &text).await;
        return Ok(());
    }
    take(service, path, &text).await.map(drop)
}

/// Maximum number of differences that are logged.
const DIFFERENCES: usize = 10;

/// Logs that the active file is not the watched file, and logs the differences.
async fn tell_overruled(service: &Service, path: &Path, text: &str) {
    let path = path.display();
    let checksum = &service.queue_file.in_force().checksum;
    tracing::warn!(
        %path, checksum,
        "the queue file at this path is not active, because another file was applied later. To \
         keep the active file, copy the active file to this path. To return to the file at this \
         path, apply that file"
    );
    let Ok(loaded) = headroom_config::read(text) else { return };
    let view = service.engine.views().at_least(0).await;
    let now = service.clock.now().max(view.time);
    let found = tokio::task::spawn_blocking(move || {
        plan(&view.books, now, &loaded.configuration, Reach::default())
    });
    let Ok(Ok(found)) = found.await else { return };
    let count = found.differences.len();
    for one in found.differences.iter().take(DIFFERENCES) {
        let shown = |value: &Option<Value>| value.as_ref().map_or("-".into(), Value::to_string);
        let (in_force, file) = (shown(&one.before), shown(&one.after));
        let queue = one.queue.as_ref().map_or("-", Name::as_str);
        let (partition, key) = (&one.partition, &one.key);
        tracing::warn!(%partition, queue, %key, in_force, file, "an active setting differs from the queue file at this path");
    }
    if count > DIFFERENCES {
        tracing::warn!(
            more = count - DIFFERENCES,
            "there are more differences. Print them with `headroom plan FILE --against URL`"
        );
    }
}

async fn read(path: &Path) -> Result<String, TakeError> {
    let unreadable = |source| TakeError::Read { path: path.to_owned(), source };
    let owned = path.to_owned();
    let read = tokio::task::spawn_blocking(move || fs::File::open(owned).and_then(bytes_of)).await;
    let bytes = read.map_err(io::Error::other).flatten().map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| unreadable(io::Error::other(error)))
}

async fn take(service: &Service, path: &Path, text: &str) -> Result<Applied, TakeError> {
    service.queue_file.follow(path);
    let origin = Origin { identity: format!("file:{}", path.display()), ..Origin::default() };
    let applied = service.queue_file.apply(origin, text).await;
    let applied = applied.map_err(|source| TakeError::NotTaken {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    service.queue_file.note_taken(&headroom_config::checksum(text));
    tell(path, &applied);
    Ok(applied)
}

fn tell(path: &Path, applied: &Applied) {
    let Applied { warnings, resolvers, .. } = applied;
    let path = path.display();
    for warning in warnings.iter() {
        let (line, code) = (warning.line, warning.code);
        tracing::warn!(%path, line, %code, "{}", warning.message);
    }
    for warning in resolvers {
        tracing::warn!(%path, "{warning}");
    }
}

/// Applies the queue file after each change, and immediately when `at_once` is notified. Reports a faulty file, and the
/// previous file stays active. Never returns.
///
/// `watched` has the content of the file before it was first read, so that no change is lost.
pub async fn watch_queue_file(
    service: Service,
    path: PathBuf,
    mut watched: WatchedFiles,
    at_once: &Notify,
) {
    loop {
        watched.change(at_once).await;
        if let Err(error) = take_queue_file(&service, &path).await {
            tracing::error!("{}. The active queue file stays in use", crate::chain(&error));
        }
    }
}
