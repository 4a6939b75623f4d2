//! Exact decimals for percentages, factors and weights.

use core::fmt;

/// How many parts one has.
const PARTS: i64 = 1_000_000;

/// A number with up to six decimals, from 0 to 1,000,000.
///
/// Settings are decimals as people write them; a binary fraction would round 0.1 up in one place
/// and down in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Decimal(i64);

impl Decimal {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// A tenth, what drivers may have of a queue of which nothing is said.
    pub const TENTH: Self = Self(PARTS / 10);
    /// One, the weight of a user of whom nothing is said.
    pub const ONE: Self = Self(PARTS);
    /// One hundred, the percentage of all.
    pub const HUNDRED: Self = Self(100 * PARTS);

    /// A whole number.
    pub const fn whole(number: u32) -> Self {
        Self(number as i64 * PARTS)
    }

    /// Read a decimal: digits, and up to six behind a point. None for all else: a sign, an
    /// exponent, a seventh decimal, more than 1,000,000.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !are_digits(whole) || !are_digits(parts) || parts.len() > 6 || whole.len() > 7 {
            return None;
        }
        let scale = 10_i64.pow(6 - u32::try_from(parts.len()).ok()?);
        let value = whole.parse::<i64>().ok()? * PARTS + parts.parse::<i64>().ok()? * scale;
        (value <= PARTS * PARTS).then_some(Self(value))
    }

    /// In millionths.
    pub const fn millionths(self) -> i64 {
        self.0
    }

    /// The sum; the largest decimal there is at most.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left without another, nothing at least.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        if other.0 > self.0 { Self(0) } else { Self(self.0 - other.0) }
    }
}

/// Without zeros at the end.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut parts, mut digits) = (self.0 / PARTS, self.0 % PARTS, 6);
        if parts == 0 {
            return write!(f, "{whole}");
        }
        while parts % 10 == 0 {
            (parts, digits) = (parts / 10, digits - 1);
        }
        write!(f, "{whole}.{parts:0digits$}")
    }
}

/// A part of an amount, exactly, and rounded once at the end.
///
/// An amount has 63 bits, a percentage 27, a weight 27 and a factor 40. Where all meet there are
/// more than the 127 that a numerator has; it saturates then, and still is far more than any
/// amount.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    pub(super) fn of(amount: i64) -> Self {
        Self { numerator: amount.into(), denominator: 1 }
    }

    pub(super) fn times(self, factor: Decimal) -> Self {
        let numerator = self.numerator.saturating_mul(factor.0.into());
        Self { numerator, denominator: self.denominator * i128::from(PARTS) }
    }

    pub(super) fn percent(self, percent: Decimal) -> Self {
        let Self { numerator, denominator } = self.times(percent);
        Self { numerator, denominator: denominator * 100 }
    }

    /// As much of it as one weight is of all; nothing if all are nothing.
    pub(super) fn share(self, weight: Decimal, all: Decimal) -> Self {
        if all.0 == 0 {
            return Self::of(0);
        }
        let numerator = self.numerator.saturating_mul(weight.0.into());
        Self { numerator, denominator: self.denominator * i128::from(all.0) }
    }

    pub(super) fn floor(self) -> i64 {
        saturate(self.numerator.div_euclid(self.denominator))
    }

    /// A half goes up.
    pub(super) fn nearest(self) -> i64 {
        let twice = self.numerator.saturating_mul(2).saturating_add(self.denominator);
        saturate(twice.div_euclid(self.denominator.saturating_mul(2)))
    }

    pub(super) fn ceil(self) -> i64 {
        let floor = self.numerator.div_euclid(self.denominator);
        let is_whole = self.numerator.rem_euclid(self.denominator) == 0;
        saturate(if is_whole { floor } else { floor + 1 })
    }
}

pub(super) fn saturate(number: i128) -> i64 {
    let bound = i64::try_from(number.clamp(-i128::from(i64::MAX), i64::MAX.into()));
    bound.expect("it is within the bounds of 64 bits")
}

/// To the next multiple of a step above; as it is without a step.
pub(super) fn up(amount: i64, step: i64) -> i64 {
    if step <= 0 {
        return amount;
    }
    let (amount, step) = (i128::from(amount), i128::from(step));
    saturate(amount + (step - amount.rem_euclid(step)) % step)
}

/// To the next multiple of a step below; as it is without a step.
pub(super) fn down(amount: i64, step: i64) -> i64 {
    if step <= 0 { amount } else { amount - amount.rem_euclid(step) }
}
