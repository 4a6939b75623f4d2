//! Takes snapshots at intervals, and removes old records afterwards. The writer pauses only to clone the books;
//! another thread writes the snapshot.
//!
//! A failed snapshot loses no data, because the records exist. The failure is reported, and the snapshot is tried
//! again later.

use std::error::Error;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use headroom_core::{Millis, Timestamp};
use headroom_journal::{SnapshotHead, Store, WriteSnapshot};

use crate::error::chain;
use crate::health::SnapshotFailure;
use crate::image::{IMAGE_FORMAT, Image, ImageError};
use crate::writer_stats::Snapshots;

/// Number of records after which a snapshot is taken, if they have at least as many bytes as the last snapshot.
pub const SNAPSHOT_EVERY: u64 = 100_000;

/// Delay of the next attempt after a failure.
pub const SNAPSHOT_AGAIN_AFTER: Millis = Millis::from_secs(60);

/// Takes snapshots.
#[derive(Debug)]
pub(crate) struct Snapshotter {
    every: u64,
    since: Since,
    under_way: Option<UnderWay>,
    not_before: Timestamp,
    done: Snapshots,
    /// Error of the last attempt.
    failure: Option<SnapshotFailure>,
}

/// Durable records since the start of the last snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    records: u64,
    bytes: u64,
}

/// A snapshot that is being written.
#[derive(Debug)]
struct UnderWay {
    done: Receiver<Result<Taken, ImageError>>,
    /// Records that the snapshot covers. These records count again if the snapshot fails.
    covers: Since,
}

/// A snapshot that was written.
#[derive(Debug)]
struct Taken {
    bytes: u64,
    took: Duration,
}

impl Snapshotter {
    /// Returns a snapshotter. `records` is the number of records since the last snapshot.
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

    /// Adds durable records and their size.
    pub(crate) const fn note(&mut self, records: u64, bytes: u64) {
        self.since.records += records;
        self.since.bytes += bytes;
    }

    /// Returns whether a snapshot is due.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let Since { records, bytes } = self.since;
        self.under_way.is_none()
            && records > self.every
            && bytes >= self.done.last_bytes
            && now >= self.not_before
    }

    /// Begins to write a snapshot.
    pub(crate) fn begin(&mut self, now: Timestamp, store: &mut dyn Store, image: Image) {
        let begun = store.begin_snapshot(store.lease(), head_of(&image));
        let writer = match begun {
            Ok(writer) => writer,
            Err(error) => return self.fail(now, &error),
        };
        let (done, under_way) = channel();
        let thread = std::thread::Builder::new().name("headroom-snapshot".into());
        let spawned = thread.spawn(move || {
            // The snapshotter might have ended.
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

    /// Checks whether the current snapshot is complete. Then removes records and snapshots that are no longer needed.
    pub(crate) fn look(&mut self, now: Timestamp, store: &mut dyn Store) {
        let Some(under_way) = &self.under_way else { return };
        match under_way.done.try_recv() {
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.end(now, store, None),
            Ok(taken) => self.end(now, store, Some(taken)),
        }
    }

    /// Waits for the current snapshot. Then writes `image` as the last snapshot, if `image` is set and newer records
    /// exist.
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

    /// Handles the end of the current snapshot. `taken` is `None` if its thread failed.
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

    /// Returns the statistics of the snapshots so far.
    pub(crate) const fn done(&self) -> Snapshots {
        self.done
    }

    /// Returns the error of the last attempt. `None` if the attempt succeeded.
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
