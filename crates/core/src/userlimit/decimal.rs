//! Exact decimals for percentages, factors, and weights.

use core::fmt;

/// Number of parts of one.
const PARTS: i64 = 1_000_000;

/// Number with up to six decimals, from 0 to 1,000,000.
///
/// Settings are written as decimals. A binary fraction would round 0.1 up in one place and down in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Decimal(i64);

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Smallest positive number: a millionth.
    pub const SMALLEST: Self = Self(1);
    /// One tenth, the default fraction of a queue for drivers.
    pub const TENTH: Self = Self(PARTS / 10);
    /// One, the default weight of a user.
    pub const ONE: Self = Self(PARTS);
    /// One hundred, the percentage of the whole.
    pub const HUNDRED: Self = Self(100 * PARTS);

    /// Returns an integer as a decimal.
    pub const fn whole(number: u32) -> Self {
        Self(number as i64 * PARTS)
    }

    /// Parses a decimal: digits, and up to six digits after a point. `None` for everything else: a sign, an exponent, a
    /// seventh decimal, or more than 1,000,000.
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

    /// Returns the midpoint between this and a larger number, rounded down.
    #[must_use]
    pub const fn middle(self, larger: Self) -> Self {
        Self(self.0 + (larger.0 - self.0) / 2)
    }

    /// Returns a hundredth of the number, rounded down to a millionth.
    #[must_use]
    pub const fn hundredth(self) -> Self {
        Self(self.0 / 100)
    }

    /// Returns the number in millionths.
    pub const fn millionths(self) -> i64 {
        self.0
    }

    /// Returns the sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, at least zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        if other.0 > self.0 { Self(0) } else { Self(self.0 - other.0) }
    }
}

/// Formats without trailing zeros.
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

/// Exact fraction of an amount, rounded once at the end.
///
/// An amount has 63 bits, a percentage 27, a weight 27, and a factor 40. If all are multiplied, the numerator exceeds
/// its 127 bits. It then saturates, and is still much larger than any amount.
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

    /// Multiplies by `weight / all`. Zero if `all` is zero.
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

    /// Rounds to the nearest integer, and halves up.
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

/// Returns the amount times `weight / all`, rounded up. Zero if `all` is zero. Usually 64 bits are sufficient.
pub(super) fn share_up(amount: i64, weight: Decimal, all: Decimal) -> i64 {
    if weight == Decimal::ONE && all.0 > 0 && all.0 % PARTS == 0 {
        return divide_up(amount, all.0 / PARTS);
    }
    match amount.checked_mul(weight.0) {
        Some(product) if all.0 > 0 => divide_up(product, all.0),
        _ => Fraction::of(amount).share(weight, all).ceil(),
    }
}

/// Returns the percentage of an amount times the weight, rounded up.
pub(super) fn percent_up(amount: i64, percent: Decimal, weight: Decimal) -> i64 {
    let product = if percent.0 % PARTS == 0 && weight == Decimal::ONE {
        amount.checked_mul(percent.0 / PARTS)
    } else {
        None
    };
    match product {
        Some(hundredfold) => divide_up(hundredfold, 100),
        None => Fraction::of(amount).percent(percent).times(weight).ceil(),
    }
}

/// Returns the amount times a factor and the weight, rounded down.
pub(super) fn times_down(amount: i64, factor: Decimal, weight: Decimal) -> i64 {
    let product = (weight == Decimal::ONE).then(|| amount.checked_mul(factor.0)).flatten();
    match product {
        Some(product) => product.div_euclid(PARTS),
        None => Fraction::of(amount).times(factor).times(weight).floor(),
    }
}

/// Divides by a positive divisor, and rounds up.
const fn divide_up(amount: i64, divisor: i64) -> i64 {
    let (whole, rest) = (amount / divisor, amount % divisor);
    if rest > 0 { whole + 1 } else { whole }
}

/// Rounds up to a multiple of the step. Unchanged without a step.
pub(super) fn up(amount: i64, step: i64) -> i64 {
    if step <= 0 {
        return amount;
    }
    amount.saturating_add((step - amount.rem_euclid(step)) % step)
}

/// Rounds down to a multiple of the step. Unchanged without a step.
pub(super) fn down(amount: i64, step: i64) -> i64 {
    if step <= 0 { amount } else { amount - amount.rem_euclid(step) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates typical settings, and any others.
    fn decimal() -> impl Strategy<Value = Decimal> {
        let few = prop_oneof![Just(0), Just(1), Just(PARTS), Just(100 * PARTS), Just(PARTS / 3)];
        prop_oneof![few.prop_map(Decimal), (0..=PARTS * PARTS).prop_map(Decimal)]
    }

    /// Generates small amounts, and amounts whose products exceed 64 bits.
    fn amount() -> impl Strategy<Value = i64> {
        prop_oneof![-1_000..1_000_i64, -i64::MAX..=i64::MAX, i64::MAX - 2..=i64::MAX]
    }

    proptest! {
        #[test]
        fn what_64_bits_can_do_is_what_128_do(
            amount in amount(), one in decimal(), other in decimal(), step in 0..=i64::MAX,
        ) {
            let exact = Fraction::of(amount);
            prop_assert_eq!(share_up(amount, one, other), exact.share(one, other).ceil());
            let percent = exact.percent(one).times(other).ceil();
            prop_assert_eq!(percent_up(amount, one, other), percent);
            let times = exact.times(one).times(other).floor();
            prop_assert_eq!(times_down(amount, one, other), times);
            let wide = i128::from(amount) + i128::from(step)
                - i128::from(amount).rem_euclid(i128::from(step.max(1)));
            let is_whole = amount.rem_euclid(step.max(1)) == 0;
            let above = if step == 0 || is_whole { amount } else { saturate(wide) };
            prop_assert_eq!(up(amount, step), above);
        }
    }
}
