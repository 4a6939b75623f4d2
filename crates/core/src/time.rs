//! Points in time and time spans. The core never reads a clock: time is an argument.

use core::fmt;
use core::ops::{Add, Sub};

/// Point in time: milliseconds since the epoch (1970-01-01T00:00:00Z), or since the start of a simulation that counts
/// from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Timestamp(u64);

/// Time span in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Millis(u64);

impl Timestamp {
    /// Earliest point in time.
    pub const ZERO: Self = Self(0);
    /// Latest point in time.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the point in time this many milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the point in time that is `span` earlier, at least [`Self::ZERO`].
    #[must_use]
    pub const fn before(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// Returns the time since `earlier`. Zero if `earlier` is in the future.
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

impl Millis {
    /// Empty time span.
    pub const ZERO: Self = Self(0);

    /// Returns a span of this many milliseconds.
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns a span of this many seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// Returns the span in milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;

    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Add for Millis {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Millis {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ms", self.0)
    }
}

/// Point in time for display: date and time of day in UTC, or milliseconds in a simulation that counts from zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayTime(pub(crate) Timestamp);

impl DisplayTime {
    /// 2000-01-01T00:00:00Z. No server ran earlier, and no simulation that begins at zero reaches it.
    const DATES_FROM: u64 = 946_684_800_000;
}

impl fmt::Display for DisplayTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(at) = self;
        if at.0 < Self::DATES_FROM {
            return at.fmt(out);
        }
        let (seconds, millis) = (at.0 / 1_000, at.0 % 1_000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // Years that begin in March have the leap day at their end, so every period of 400 years is the same.
        let days = days + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, turn) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = era * 400 + year + turn;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if millis > 0 {
            write!(out, ".{millis:03}")?;
        }
        out.write_str("Z")
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ms", self.0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn people_are_told_dates_and_of_a_simulation_milliseconds() {
        for (millis, expected) in [
            (0, "0 ms"),
            (946_684_799_999, "946684799999 ms"),
            (946_684_800_000, "2000-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (1_735_689_599_050, "2024-12-31T23:59:59.050Z"),
            (1_735_689_600_000, "2025-01-01T00:00:00Z"),
            (1_772_438_400_000, "2026-03-02T08:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(DisplayTime(Timestamp(millis)).to_string(), expected);
        }
    }
}
