//! The scans that the reference makes every second, without a stop at each second.
//!
//! Quotas are scanned every second while a queue has a pending quota preemption. Outstanding asks are scanned in the
//! first second after a change, and again until a scan finds nothing. A further scan would read the same books, and
//! also find nothing.

use headroom_core::{AllocationEvent, Command, Event};

use super::RunError;
use super::play::Play;

/// The next scan.
#[derive(Debug, Default)]
pub(super) struct Scans {
    /// Whether anything changed since the last scan.
    changed: bool,
    /// Whether a queue can have a pending quota preemption.
    clocks: bool,
    at_ms: Option<u64>,
}

impl Scans {
    /// Returns the time of the next scan. `u64::MAX` for never.
    pub(super) fn next_at(&self) -> u64 {
        self.at_ms.unwrap_or(u64::MAX)
    }

    /// Stores what an event can have changed.
    pub(super) fn follow(&mut self, event: &Event) {
        self.changed = true;
        // Only these events put a queue above its maximum, because the scheduler respects it.
        if matches!(
            event,
            Event::Configured { .. } | Event::Allocation(AllocationEvent::Resized { .. })
        ) {
            self.clocks = true;
        }
    }
}

impl Play<'_> {
    /// Makes a scan if it is due.
    pub(super) fn scan(&mut self) -> Result<(), RunError> {
        if self.scans.at_ms.is_none_or(|at_ms| at_ms > self.now.as_millis()) {
            return Ok(());
        }
        self.scans.changed = false;
        let partition = self.partition.clone();
        if self.scans.clocks {
            self.command(&Command::ScanQuotas { partition: partition.clone() })?;
            self.scans.clocks = self.has_clock();
        }
        if let Some(partition) = self.books.partition_named(&partition) {
            let events = self.scheduler.outstanding(&self.books, partition);
            self.apply_all(&events)?;
        }
        self.answer()
    }

    /// Sets the time of the next scan, at the end of a point in time.
    pub(super) fn plan_scan(&mut self) {
        self.scans.clocks = self.scans.clocks && self.has_clock();
        let waits = self.books.partitions().values().any(|one| one.ask_count > 0);
        let wanted = self.scans.clocks || (self.scans.changed && waits);
        self.scans.at_ms = wanted.then(|| (self.now.as_millis() / 1_000 + 1) * 1_000);
    }

    fn has_clock(&self) -> bool {
        self.books.queues().iter().any(|(_, queue)| queue.quota_preemption_at.is_some())
    }
}
