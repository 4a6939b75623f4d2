//! An engine whose clock and scheduler go by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use headroom_core::{Command, Millis, Name, Timestamp};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Handle, Pace, Settings};
use headroom_server::{About, Parts, QueueFile, Service};
use xtask::conformance::scenario::is_result;

/// 2000-01-01T00:00:00Z, when every history begins.
pub const START: Timestamp = Timestamp::from_millis(946_684_800_000);

/// An engine without a thread of time: each step of the scheduler and each millisecond is asked for.
#[derive(Debug)]
pub struct ByHand {
    engine: Engine,
    handle: Handle,
    clock: HandClock,
    now: Timestamp,
}

impl ByHand {
    /// Starts an engine without a queue file, at [`START`].
    ///
    /// # Errors
    /// If the engine cannot start.
    pub fn start() -> Result<Self> {
        let clock = HandClock::at(START);
        let mut settings = Settings::with(clock.clone());
        (settings.pace, settings.scan_every) = (Pace::ByHand, None);
        let engine = Engine::start(Box::new(MemoryJournal::default().open()), settings)?;
        let handle = engine.handle();
        Ok(Self { engine, handle, clock, now: START })
    }

    /// Returns the handle of the engine.
    pub const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the time.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns a service of the engine.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub async fn service(&self) -> Result<Service> {
        let users = Arc::new(Users::default());
        let clock: Arc<HandClock> = Arc::new(self.clock.clone());
        let (engine, known) = (self.handle.clone(), Arc::clone(&users));
        let queue_file = QueueFile::resume(engine.clone(), clock.clone(), known, None).await;
        let about = About::this(BTreeMap::new())?;
        Ok(Service::new(Parts { engine, clock, users, queue_file, about }))
    }

    /// Lets the scheduler take at most so many steps. Returns how many it took.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub async fn turn(&self, most: u32) -> Result<u32> {
        Ok(self.handle.step(most).await?)
    }

    /// Lets time pass. Each timer fires when it is due.
    ///
    /// # Errors
    /// If the engine has stopped.
    pub async fn advance(&mut self, millis: u64) -> Result<()> {
        let end = self.now + Millis::new(millis);
        loop {
            let due = self.handle.inspect(|books, _| books.next_deadline()).await?;
            let next = due.filter(|due| *due <= end).map_or(end, |due| due.max(self.now));
            self.clock.advance(next.since(self.now));
            self.now = next;
            self.turn(0).await?;
            if next == end && due.is_none_or(|due| due > end) {
                return Ok(());
            }
        }
    }

    /// Lets the scheduler go through up to this many cycles of the reference, each of which ends with a result. Waits
    /// for `answered` after each step, so that the next step sees the answers of the resource manager.
    ///
    /// # Errors
    /// If the engine has stopped, or the first error of `answered`.
    pub async fn schedule(
        &self,
        most: u64,
        mut answered: impl AsyncFnMut(&Handle) -> Result<()>,
    ) -> Result<()> {
        let mut cycles = 0;
        while cycles < most {
            let before = self.handle.feed().newest();
            if self.turn(1).await? == 0 {
                return Ok(());
            }
            answered(&self.handle).await?;
            let entries = self.handle.feed().read(before + 1, usize::MAX)?;
            let mut events = entries.iter().flat_map(|entry| &entry.record.events);
            cycles += u64::from(events.any(is_result));
        }
        Ok(())
    }

    /// Looks for queues above their maximum, in all partitions.
    ///
    /// # Errors
    /// If the engine has stopped, or refuses the command.
    pub async fn scan_quotas(&self) -> Result<()> {
        let names = |books: &headroom_core::books::Books| -> Vec<Name> {
            books.partitions().values().map(|one| one.name.clone()).collect()
        };
        for partition in self.handle.inspect(move |books, _| names(books)).await? {
            let scan = self.handle.submit(Command::ScanQuotas { partition }).await?;
            scan.context("a quota scan was refused")?;
        }
        Ok(())
    }

    /// Stops the engine.
    ///
    /// # Errors
    /// If the engine had to stop earlier.
    pub async fn stop(self) -> Result<()> {
        Ok(self.engine.stop().await?)
    }
}
