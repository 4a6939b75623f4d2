//! When the next write can be sent.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// When the next write can be sent: after a requested pause, and within a rate.
#[derive(Debug, Default)]
pub(super) struct Pace {
    rate: Option<Rate>,
    paused_until: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct Rate {
    /// Time between two writes.
    interval: Duration,
    /// Time that unused writes can add up to.
    burst: Duration,
    /// When the next write is due, if no burst were allowed.
    due: Mutex<Option<Instant>>,
}

impl Pace {
    pub(super) fn limited(per_second: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        let burst = interval.saturating_mul(burst.max(1) - 1);
        Self {
            rate: Some(Rate { interval, burst, due: Mutex::new(None) }),
            paused_until: Mutex::new(None),
        }
    }

    /// Delays all writes.
    pub(super) fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut paused = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        *paused = Some(paused.map_or(until, |other| other.max(until)));
    }

    /// Waits for the end of a pause.
    pub(super) async fn resumed(&self) {
        loop {
            let until = *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
            match until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                Some(_) | None => return,
            }
        }
    }

    /// Waits until the next write can be sent.
    pub(super) async fn turn(&self) {
        if let Some(at) = self.rate.as_ref().and_then(Rate::reserve) {
            sleep_until(at).await;
        }
        self.resumed().await;
    }
}

impl Rate {
    /// Reserves a write, and returns when it can be sent if that is not now.
    fn reserve(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let at = due.map_or(now, |due| due.max(now));
        *due = Some(at + self.interval);
        let at = at.checked_sub(self.burst)?;
        (at > now).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_sent_at_once_and_then_the_rate_holds() {
        let pace = Pace::limited(10, 5);
        let start = Instant::now();
        for _ in 0..5 {
            pace.turn().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..10 {
            pace.turn().await;
        }
        let elapsed = start.elapsed().as_millis();
        assert!((990..=1_020).contains(&elapsed), "{elapsed}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_for_all_writes() {
        let pace = Pace::default();
        pace.pause(Duration::from_secs(7));
        pace.pause(Duration::from_secs(3));
        let start = Instant::now();
        pace.turn().await;
        assert!(start.elapsed() >= Duration::from_secs(7));
    }
}
