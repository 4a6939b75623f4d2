//! The time of the system clock, and the time of the engine.
//!
//! A system clock can jump: someone sets it, or a machine starts with a wrong time. Time in the journal never
//! decreases, so one jump forward would stop every timer until the clock reaches that time again. [`SteadyClock`]
//! therefore follows the system clock only while it agrees with the elapsed time.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headroom_core::{Millis, Timestamp};
use nix::time::{ClockId, clock_gettime};

/// Source of the current time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the time, in milliseconds since the epoch. This time can jump in both directions.
    fn now(&self) -> Timestamp;

    /// Returns the time since a fixed moment, including the time that the machine sleeps. This time never jumps.
    fn elapsed(&self) -> Duration;
}

/// The clocks of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn elapsed(&self) -> Duration {
        // If the system lacks this clock, the elapsed time is constant, and the system clock is followed.
        clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default()
    }
}

/// A clock that only a test advances. Clones share its time.
#[derive(Clone, Debug, Default)]
pub struct HandClock {
    elapsed: Arc<AtomicU64>,
    /// Difference of the system clock to the elapsed time, in milliseconds.
    ahead: Arc<AtomicI64>,
}

impl HandClock {
    /// Returns a clock with this time.
    pub fn at(time: Timestamp) -> Self {
        Self { elapsed: Arc::new(AtomicU64::new(time.as_millis())), ahead: Arc::default() }
    }

    /// Advances the time.
    pub fn advance(&self, by: Millis) {
        self.elapsed.fetch_add(by.get(), Ordering::SeqCst);
    }

    /// Sets the system clock forward or back, without advancing the elapsed time.
    pub fn jump(&self, by_ms: i64) {
        self.ahead.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        let elapsed = self.elapsed.load(Ordering::SeqCst);
        Timestamp::from_millis(elapsed.saturating_add_signed(self.ahead.load(Ordering::SeqCst)))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed.load(Ordering::SeqCst))
    }
}

/// Largest difference at which the system clock is still followed. Adjustments of a running clock are smaller.
pub const CLOCK_TOLERANCE: Millis = Millis::from_secs(1);

/// The difference between the times of the engine and the system clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Time of the system clock.
    pub system: Timestamp,
    /// Time of the engine.
    pub engine: Timestamp,
}

/// The time of the engine. It never decreases, and never jumps while the engine runs. Clones share the time.
///
/// The time begins at the last record of the journal, or at the system time if the system time is later. The time
/// follows the system clock while the clock is within [`CLOCK_TOLERANCE`] of the elapsed time. Otherwise, the time
/// advances by the elapsed time, until both agree again. A jump therefore does not count as running time, and fires no
/// timer.
#[derive(Clone, Debug)]
pub struct SteadyClock {
    system: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// Time at the last call. `elapsed` is the elapsed time at the last call.
    time: Duration,
    elapsed: Duration,
    /// Whether the system clock was followed at the last call.
    follows: bool,
}

impl SteadyClock {
    /// Returns a clock that begins no earlier than the last record.
    pub fn new(system: Arc<dyn Clock>, last: Timestamp) -> Self {
        let (now, elapsed) = (system.now(), system.elapsed());
        let time = Duration::from_millis(now.max(last).as_millis());
        let state = Arc::new(Mutex::new(State { time, elapsed, follows: true }));
        let this = Self { system, state };
        // Reports at once if the system clock is behind.
        let _ = this.now();
        this
    }

    /// Returns both times if the system clock is not followed.
    pub fn offset(&self) -> Option<ClockOffset> {
        let engine = self.now();
        let follows = self.state().follows;
        (!follows).then(|| ClockOffset { system: self.system.now(), engine })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        let mut state = self.state();
        let (system, elapsed) = (self.system.now(), self.system.elapsed());
        let passed = state.time + elapsed.saturating_sub(state.elapsed);
        let shown = Duration::from_millis(system.as_millis());
        let follows = shown.abs_diff(passed) <= Duration::from_millis(CLOCK_TOLERANCE.get());
        let time = if follows { shown.max(state.time) } else { passed };
        let engine = Timestamp::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let changed = follows != state.follows;
        *state = State { time, elapsed, follows };
        drop(state);
        if changed {
            say(follows, system, engine);
        }
        engine
    }

    fn elapsed(&self) -> Duration {
        self.system.elapsed()
    }
}

fn say(follows: bool, system: Timestamp, engine: Timestamp) {
    if follows {
        tracing::info!(time = %day(engine), "the system clock agrees with the scheduler again");
    } else {
        tracing::warn!(
            system = %day(system),
            scheduler = %day(engine),
            "the system clock has jumped. The scheduler ignores the jump and continues by elapsed \
             time. Correct the system clock; after a restart, the scheduler uses a clock that is \
             ahead"
        );
    }
}

fn day(time: Timestamp) -> String {
    let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis)
        .map_or_else(|_| millis.to_string(), |day| day.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;
    const START: u64 = 1_796_000_000_000;

    /// Returns how far the steady clock has advanced since its start, in milliseconds.
    fn since(clock: &SteadyClock) -> u64 {
        clock.now().as_millis() - START
    }

    #[test]
    fn a_jump_while_it_runs_is_no_time_that_has_passed() {
        for jump in [5_000, -5_000, 3_600_000, -3_600_000, 365 * DAY, -365 * DAY] {
            let hand = HandClock::at(Timestamp::from_millis(START));
            let clock = SteadyClock::new(Arc::new(hand.clone()), Timestamp::ZERO);
            hand.advance(Millis::new(10_000));
            assert_eq!((since(&clock), clock.offset()), (10_000, None), "{jump}");
            hand.jump(jump);
            assert_eq!(since(&clock), 10_000, "{jump}");
            hand.advance(Millis::new(7_000));
            assert_eq!(since(&clock), 17_000, "timers go on after {jump}");
            let both = clock.offset().expect("they differ");
            let system = (START + 17_000).checked_add_signed(jump).expect("a time");
            assert_eq!(
                (both.system.as_millis(), both.engine.as_millis()),
                (system, START + 17_000)
            );
            hand.jump(-jump);
            hand.advance(Millis::new(1));
            assert_eq!((since(&clock), clock.offset()), (17_001, None), "{jump} and back");
        }
    }

    #[test]
    fn a_small_adjustment_is_followed_and_never_goes_back() {
        let hand = HandClock::at(Timestamp::from_millis(START));
        let clock = SteadyClock::new(Arc::new(hand.clone()), Timestamp::ZERO);
        hand.jump(900);
        assert_eq!((since(&clock), clock.offset()), (900, None));
        hand.jump(-900);
        assert_eq!((since(&clock), clock.offset()), (900, None));
        hand.advance(Millis::new(900));
        assert_eq!((since(&clock), clock.offset()), (900, None));
        hand.advance(Millis::new(1));
        assert_eq!(since(&clock), 901);
    }

    #[test]
    fn after_a_restart_a_clock_that_was_ahead_does_not_stop_time() {
        for ahead in [5_000, 3_600_000, 365 * 86_400_000] {
            let last = Timestamp::from_millis(START + ahead);
            let hand = HandClock::at(Timestamp::from_millis(START));
            let clock = SteadyClock::new(Arc::new(hand.clone()), last);
            assert_eq!(since(&clock), ahead);
            assert_eq!(clock.offset().map(|both| both.system.as_millis()), Some(START));
            hand.advance(Millis::new(60_000));
            assert_eq!(since(&clock), ahead + 60_000, "timers go on");
        }
        let hand = HandClock::at(Timestamp::from_millis(START + 60_000));
        let clock = SteadyClock::new(Arc::new(hand), Timestamp::from_millis(START));
        assert_eq!((since(&clock), clock.offset()), (60_000, None), "the server was away");
    }
}
