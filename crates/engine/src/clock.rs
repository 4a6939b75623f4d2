//! What time it is.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use headroom_core::{Millis, Timestamp};

/// Says what time it is. It may step back; the writer does not follow it there.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since the epoch.
    fn now(&self) -> Timestamp;
}

/// The wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A clock that stands still until it is moved, for tests. Clones are one clock.
#[derive(Clone, Debug, Default)]
pub struct HandClock(Arc<AtomicU64>);

impl HandClock {
    /// A clock that shows this.
    pub fn at(time: Timestamp) -> Self {
        Self(Arc::new(AtomicU64::new(time.as_millis())))
    }

    /// Let it go on by so much.
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(by.get(), Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
