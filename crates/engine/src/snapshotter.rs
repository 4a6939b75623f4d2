//! When a snapshot is taken, and what is dropped afterwards. The writer pauses no longer than a
//! clone of the books takes; writing is the work of another thread.
//!
//! A snapshot that fails costs nothing that was answered: the records are there. The failure is reported, and
//! tried again later.

use std::error::Error;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use headroom_core::{Millis, Timestamp};
use headroom_journal::{SnapshotHead, Store, WriteSnapshot};

use crate::error::chain;
use crate::health::SnapshotFailure;
use crate::image::{IMAGE_FORMAT, Image, ImageError};
use crate::writer_stats::Snapshots;

/// After how many records a snapshot is taken, if their bytes are as many as its own.
pub const SNAPSHOT_EVERY: u64 = 100_000;

/// How long nothing is tried after a failure.
pub const SNAPSHOT_AGAIN_AFTER: Millis = Millis::from_secs(60);

/// Takes snapshots.
#[derive(Debug)]
pub(crate) struct Snapshotter {
    every: u64,
    since: Since,
    under_way: Option<UnderWay>,
    not_before: Timestamp,
    done: Snapshots,
    /// Why the last attempt failed.
    failure: Option<SnapshotFailure>,
}

/// What was made durable since the last snapshot was begun.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    records: u64,
    bytes: u64,
}

/// A snapshot that is being written.
#[derive(Debug)]
struct UnderWay {
    done: Receiver<Result<Taken, ImageError>>,
    /// What it covers, which counts again should it fail.
    covers: Since,
}

/// A snapshot that was written.
#[derive(Debug)]
struct Taken {
    bytes: u64,
    took: Duration,
}

impl Snapshotter {
    /// `records` have been made since the last snapshot.
    pub(crate) fn new(every: u64, records: u64) -> Self {
        Self {
            every,
            since: Since { records, bytes: 0 },
            under_way: None,
            not_before: Timestamp::ZERO,
            done: Snapshots::default(),
            failure: None,
        }
    }

    /// Records of so many bytes were made durable.
    pub(crate) const fn note(&mut self, records: u64, bytes: u64) {
        self.since.records += records;
        self.since.bytes += bytes;
    }

    /// Whether it is time for one.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let Since { records, bytes } = self.since;
        self.under_way.is_none()
            && records > self.every
            && bytes >= self.done.last_bytes
            && now >= self.not_before
    }

    /// Begin to write a snapshot.
    pub(crate) fn begin(&mut self, now: Timestamp, store: &mut dyn Store, image: Image) {
        let begun = store.begin_snapshot(store.lease(), head_of(&image));
        let writer = match begun {
            Ok(writer) => writer,
            Err(error) => return self.fail(now, &error),
        };
        let (done, under_way) = channel();
        let thread = std::thread::Builder::new().name("headroom-snapshot".into());
        let spawned = thread.spawn(move || {
            // The caller that began it may have ended.
            let _ = done.send(take(&image, writer));
        });
        match spawned {
            Ok(_) => {
                let covers = std::mem::take(&mut self.since);
                self.under_way = Some(UnderWay { done: under_way, covers });
            }
            Err(error) => self.fail(now, &error),
        }
    }

    /// See whether the one under way is done; then drop what nobody needs any more.
    pub(crate) fn look(&mut self, now: Timestamp, store: &mut dyn Store) {
        let Some(under_way) = &self.under_way else { return };
        match under_way.done.try_recv() {
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.end(now, store, None),
            Ok(taken) => self.end(now, store, Some(taken)),
        }
    }

    /// Wait for the one under way, and take a last one if there is any to be taken and anything has happened
    /// since.
    pub(crate) fn finish(&mut self, now: Timestamp, store: &mut dyn Store, image: Option<&Image>) {
        if let Some(under_way) = &self.under_way {
            let taken = under_way.done.recv().ok();
            self.end(now, store, taken);
        }
        let Some(image) = image.filter(|_| self.since.records > 0) else { return };
        let begun = store.begin_snapshot(store.lease(), head_of(image));
        let taken = begun.map_err(ImageError::from).and_then(|writer| take(image, writer));
        self.end(now, store, Some(taken));
    }

    /// The one under way has come to an end; `None` where its thread failed.
    fn end(
        &mut self,
        now: Timestamp,
        store: &mut dyn Store,
        taken: Option<Result<Taken, ImageError>>,
    ) {
        let under_way = self.under_way.take();
        match taken {
            Some(Ok(Taken { bytes, took })) => {
                self.done.taken.note(took);
                (self.done.last_bytes, self.failure) = (bytes, None);
                if let Err(error) = store.truncate(store.lease()) {
                    self.fail(now, &error);
                }
                return;
            }
            Some(Err(error)) => self.fail(now, &error),
            None => self
                .fail(now, &std::io::Error::other("the thread that wrote the snapshot has failed")),
        }
        if let Some(UnderWay { covers, .. }) = under_way {
            self.note(covers.records, covers.bytes);
        }
    }

    fn fail(&mut self, now: Timestamp, error: &dyn Error) {
        self.done.failed += 1;
        self.not_before = now + SNAPSHOT_AGAIN_AFTER;
        self.failure = Some(SnapshotFailure { time: now, reason: chain(error) });
    }

    /// What was done so far.
    pub(crate) const fn done(&self) -> Snapshots {
        self.done
    }

    /// Why the last attempt failed, if it did.
    pub(crate) const fn failure(&self) -> Option<&SnapshotFailure> {
        self.failure.as_ref()
    }
}

fn take(image: &Image, writer: Box<dyn WriteSnapshot>) -> Result<Taken, ImageError> {
    let begun = Instant::now();
    let bytes = image.keep(writer)?;
    Ok(Taken { bytes, took: begun.elapsed() })
}

const fn head_of(image: &Image) -> SnapshotHead {
    SnapshotHead { sequence: image.sequence, format: IMAGE_FORMAT, digest: 0 }
}
