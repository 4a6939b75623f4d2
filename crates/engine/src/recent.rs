//! Statistics of the last minute: durations of flushes, and numbers of steps.

use std::time::Duration;

use headroom_core::{Millis, Timestamp};

/// Number of spans that represent a minute. The newest span is not complete.
const SPANS: usize = 7;

/// Length of a span.
const SPAN: Millis = Millis::from_secs(10);

/// Number of classes of durations in microseconds: one class for each number below 16, and then eight classes for each
/// power of two. A result is therefore at most one eighth too large. The last class ends beyond 19 hours.
const CLASSES: usize = 280;

/// Statistics of the last minute, with a resolution of ten seconds.
#[derive(Debug)]
pub(crate) struct Recent {
    spans: [Span; SPANS],
    /// Times of the first and last values.
    seen: Option<(Timestamp, Timestamp)>,
}

#[derive(Clone, Debug)]
struct Span {
    /// Number of the span since the epoch.
    number: u64,
    steps: u64,
    flushes: Vec<u32>,
}

fn number_of(time: Timestamp) -> u64 {
    time.as_millis() / SPAN.get()
}

fn class_of(took: Duration) -> usize {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let exponent = (u64::BITS - micros.leading_zeros()).saturating_sub(4);
    let class = u64::from(exponent) * 8 + (micros >> exponent);
    usize::try_from(class).unwrap_or(usize::MAX).min(CLASSES - 1)
}

/// Returns the longest duration of a class.
fn longest_of(class: usize) -> Duration {
    let class = class as u64;
    let exponent = (class / 8).saturating_sub(1);
    let mantissa = class - exponent * 8;
    Duration::from_micros(((mantissa + 1) << exponent) - 1)
}

impl Default for Recent {
    fn default() -> Self {
        let empty = Span { number: 0, steps: 0, flushes: vec![0; CLASSES] };
        Self { spans: std::array::from_fn(|_| empty.clone()), seen: None }
    }
}

impl Recent {
    /// Adds the duration of a flush, and the number of steps in its batch.
    pub(crate) fn note(&mut self, now: Timestamp, took: Duration, steps: u64) {
        let first = self.seen.map_or(now, |(first, _)| first);
        self.seen = Some((first, now));
        let number = number_of(now);
        let at = usize::try_from(number % SPANS as u64).expect("there are few spans");
        let span = &mut self.spans[at];
        if span.number != number {
            (span.number, span.steps) = (number, 0);
            span.flushes.fill(0);
        }
        span.steps += steps;
        let count = &mut span.flushes[class_of(took)];
        *count = count.saturating_add(1);
    }

    /// Returns the spans of the last minute before `now`.
    fn spans(&self, now: Timestamp) -> impl Iterator<Item = &Span> {
        let newest = number_of(self.until(now));
        self.spans.iter().filter(move |span| span.number + SPANS as u64 > newest)
    }

    /// Returns the end of the evaluated time, because the clock can have been set back since the last value.
    fn until(&self, now: Timestamp) -> Timestamp {
        self.seen.map_or(now, |(_, last)| now.max(last))
    }

    /// Returns the duration that 99 % of the flushes did not exceed. `None` without flushes.
    pub(crate) fn flush_p99(&self, now: Timestamp) -> Option<Duration> {
        let mut counts = [0_u64; CLASSES];
        for span in self.spans(now) {
            for (sum, count) in counts.iter_mut().zip(&span.flushes) {
                *sum += u64::from(*count);
            }
        }
        let wanted = (counts.iter().sum::<u64>() * 99).div_ceil(100);
        let mut seen = 0;
        let class = counts.iter().position(|count| {
            seen += count;
            wanted > 0 && seen >= wanted
        })?;
        Some(longest_of(class))
    }

    /// Returns the number of steps per second.
    pub(crate) fn steps_per_second(&self, now: Timestamp) -> u64 {
        let Some((first, _)) = self.seen else { return 0 };
        let now = self.until(now);
        let steps: u64 = self.spans(now).map(|span| span.steps).sum();
        let oldest = number_of(now).saturating_sub(SPANS as u64 - 1) * SPAN.get();
        let begin = first.max(Timestamp::from_millis(oldest));
        // Less than a second is too short for an extrapolation.
        steps * 1_000 / now.since(begin).get().max(1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + seconds * 1_000)
    }

    #[test]
    fn a_class_ends_where_the_next_begins_and_is_an_eighth_wide() {
        for class in 0..CLASSES - 1 {
            let longest = longest_of(class);
            assert_eq!(class_of(longest), class);
            assert_eq!(class_of(longest + Duration::from_micros(1)), class + 1);
            if class >= 16 {
                let width = longest.as_micros() - longest_of(class - 1).as_micros();
                assert!(width * 8 <= longest.as_micros(), "class {class}");
            }
        }
        assert_eq!(class_of(Duration::MAX), CLASSES - 1);
    }

    #[test]
    fn one_of_a_hundred_is_not_counted_and_two_are() {
        let mut recent = Recent::default();
        assert_eq!(recent.flush_p99(at(0)), None);
        for _ in 0..99 {
            recent.note(at(0), Duration::from_micros(8), 0);
        }
        recent.note(at(0), Duration::from_millis(1), 0);
        assert_eq!(recent.flush_p99(at(0)), Some(Duration::from_micros(8)));
        recent.note(at(0), Duration::from_millis(1), 0);
        assert_eq!(recent.flush_p99(at(0)), Some(Duration::from_micros(1_023)));
    }

    #[test]
    fn what_is_older_than_a_minute_is_forgotten() {
        let mut recent = Recent::default();
        recent.note(at(0), Duration::from_millis(7), 600);
        assert_eq!(recent.steps_per_second(at(0)), 600, "at least a second");
        assert_eq!(recent.steps_per_second(at(20)), 30);
        assert_eq!(recent.steps_per_second(at(60)), 10);
        recent.note(at(75), Duration::from_micros(3), 650);
        assert_eq!(recent.flush_p99(at(75)), Some(Duration::from_micros(3)));
        assert_eq!(recent.steps_per_second(at(75)), 10, "650 in 65 s");
        assert_eq!(recent.steps_per_second(at(70)), 10, "the clock stepped back");
        assert_eq!((recent.steps_per_second(at(200)), recent.flush_p99(at(200))), (0, None));
    }
}
