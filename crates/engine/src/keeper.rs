//! When a snapshot is taken, and what is dropped afterwards. The writer pauses no longer than a
//! clone of the books takes; writing is the work of another thread.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

use headroom_journal::{JournalError, SnapshotHead, Store};

use crate::image::{IMAGE_FORMAT, Image, ImageError};

/// After how many records a snapshot is taken, if their bytes are as many as its own.
pub const SNAPSHOT_EVERY: u64 = 100_000;

/// Takes snapshots.
#[derive(Debug)]
pub(crate) struct Keeper {
    every: u64,
    /// Records, and their bytes, since the last snapshot was begun.
    records: u64,
    bytes: u64,
    /// How large the last snapshot was.
    last_bytes: u64,
    /// The one that is being written.
    under_way: Option<Receiver<Result<u64, ImageError>>>,
    /// Why the last one failed.
    failure: Option<ImageError>,
}

impl Keeper {
    /// `records` have been made since the last snapshot.
    pub(crate) const fn new(every: u64, records: u64) -> Self {
        Self { every, records, bytes: 0, last_bytes: 0, under_way: None, failure: None }
    }

    /// A record of so many bytes is durable.
    pub(crate) const fn note(&mut self, bytes: u64) {
        self.records += 1;
        self.bytes += bytes;
    }

    /// Whether it is time for one.
    pub(crate) const fn is_due(&self) -> bool {
        self.under_way.is_none() && self.records > self.every && self.bytes >= self.last_bytes
    }

    /// Begin to write a snapshot.
    pub(crate) fn begin(
        &mut self,
        store: &mut dyn Store,
        image: Image,
    ) -> Result<(), JournalError> {
        let head = head_of(&image);
        let writer = store.begin_snapshot(store.lease(), head)?;
        (self.records, self.bytes) = (0, 0);
        let (done, under_way) = channel();
        let thread = std::thread::Builder::new().name("headroom-snapshot".into());
        let spawned = thread.spawn(move || {
            // Whoever began it may have ended.
            let _ = done.send(image.keep(writer));
        });
        // Without a thread there is no snapshot for now; the records are there.
        self.under_way = spawned.is_ok().then_some(under_way);
        Ok(())
    }

    /// See whether the one under way is done; then drop what nobody needs any more.
    pub(crate) fn look(&mut self, store: &mut dyn Store) -> Result<(), JournalError> {
        let Some(under_way) = &self.under_way else { return Ok(()) };
        match under_way.try_recv() {
            Err(TryRecvError::Empty) => return Ok(()),
            Err(TryRecvError::Disconnected) => {}
            Ok(Ok(bytes)) => {
                (self.last_bytes, self.failure) = (bytes, None);
                store.truncate(store.lease())?;
            }
            Ok(Err(failure)) => self.failure = Some(failure),
        }
        self.under_way = None;
        Ok(())
    }

    /// Wait for the one under way, and take a last one if anything has happened since.
    pub(crate) fn finish(
        &mut self,
        store: &mut dyn Store,
        image: impl FnOnce() -> Image,
    ) -> Result<(), JournalError> {
        if let Some(Ok(under_way)) = self.under_way.take().map(|one| one.recv()) {
            self.failure = under_way.err();
        }
        if self.records == 0 {
            return store.truncate(store.lease()).map(drop);
        }
        let image = image();
        let writer = store.begin_snapshot(store.lease(), head_of(&image))?;
        match image.keep(writer) {
            Ok(_) => store.truncate(store.lease()).map(drop),
            Err(failure) => {
                // The records are there, so nothing is lost but time at the next start.
                self.failure = Some(failure);
                Ok(())
            }
        }
    }

    /// Why the last snapshot failed, if it did.
    pub(crate) fn failure(&self) -> Option<&ImageError> {
        self.failure.as_ref()
    }
}

const fn head_of(image: &Image) -> SnapshotHead {
    SnapshotHead { sequence: image.sequence, format: IMAGE_FORMAT, digest: 0 }
}
