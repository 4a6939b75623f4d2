//! Random numbers of several distributions, the same on every machine.
//!
//! The module uses only + − × ÷ and square roots, which IEEE 754 rounds exactly. Logarithms and exponentials of the
//! system can differ in the last bit, so the module implements both.

use rand::Rng;
use rand_pcg::Pcg64;

/// A source of random numbers.
#[derive(Debug)]
pub(crate) struct Random(Pcg64);

impl Random {
    /// Returns the stream of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        // Adjacent seeds must not give adjacent states, so they are mixed first (SplitMix64).
        let state = u128::from(mixed(seed)) << 64 | u128::from(mixed(!seed));
        Self(Pcg64::new(state, 0xa02b_df85))
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive).
    #[allow(clippy::cast_precision_loss)] // 53 bits fit exactly.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a whole number between these limits, inclusive. `least` must not exceed `most`.
    pub(crate) fn whole(&mut self, least: u64, most: u64) -> u64 {
        let span = u128::from(most - least) + 1;
        // The high half of a product. Its bias is below span / 2⁶⁴.
        let part = (u128::from(self.0.next_u64()) * span) >> 64;
        least + u64::try_from(part).unwrap_or_default()
    }

    /// Returns a number between these limits.
    pub(super) fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Returns a standard normal number.
    ///
    /// Source: Marsaglia and Bray, "A Convenient Method for Generating Normal Variables",
    /// SIAM Review 6(3), 1964 (the polar method).
    fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }

    /// Returns a gamma number with this scale and shape, which is at least 1.
    ///
    /// Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", ACM
    /// TOMS 26(3), 2000.
    pub(super) fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        let base = shape - 1.0 / 3.0;
        let spread = 1.0 / (9.0 * base).sqrt();
        loop {
            let normal = self.normal();
            let root = 1.0 + spread * normal;
            let unit = self.unit();
            if root <= 0.0 || unit <= 0.0 {
                continue;
            }
            let cube = root * root * root;
            if ln(unit) < 0.5 * normal * normal + base * (1.0 - cube + ln(cube)) {
                return base * cube * scale;
            }
        }
    }
}

/// Ranks from 0, rank k in proportion to 1/(k + 1).
pub(super) struct Zipf(Vec<f64>);

impl Zipf {
    #[allow(clippy::cast_precision_loss)] // Ranks stay far below 2⁵³.
    pub(super) fn new(ranks: u64) -> Self {
        let mut sum = 0.0;
        let sums = (1..=ranks).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self(sums.collect())
    }

    pub(super) fn draw(&self, random: &mut Random) -> usize {
        let point = random.unit() * self.0.last().copied().unwrap_or_default();
        let rank = self.0.partition_point(|sum| *sum <= point);
        rank.min(self.0.len() - 1)
    }
}

/// The final mixing function of `SplitMix64`.
fn mixed(seed: u64) -> u64 {
    let mut word = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Returns the natural logarithm of a normal positive number, within a few units of the last place.
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = i32::try_from(bits >> 52).unwrap_or_default() - 1_023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1_023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m − 1)/(m + 1)), and the argument is below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    2.0 * s * series + f64::from(exponent) * std::f64::consts::LN_2
}

/// Returns the exponential function from −700 to 700, within a few units of the last place.
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let power = (x / std::f64::consts::LN_2).round();
    let rest = x - power * std::f64::consts::LN_2;
    let series = (1..=17).rev().fold(1.0, |sum, k| 1.0 + sum * rest / f64::from(k));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Within ±1,011.
    let scale = f64::from_bits(((power as i64 + 1_023) as u64) << 52);
    series * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_exponential_agree_with_those_of_the_system() {
        let mut random = Random::new(1);
        for _ in 0..10_000 {
            let x = random.between(-600.0, 600.0);
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "exp {x}");
            let y = random.between(1e-9, 1e9);
            assert!((ln(y) - y.ln()).abs() < 1e-13 * y.ln().abs().max(1.0), "ln {y}");
        }
    }

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut random = Random::new(7);
        let drawn = [random.whole(1, 1_000), random.whole(0, u64::MAX), random.whole(5, 5)];
        expect_test::expect!["[344, 5748757347410337864, 5]"].assert_eq(&format!("{drawn:?}"));
        expect_test::expect!["5.821049954244833"]
            .assert_eq(&format!("{:?}", random.gamma(4.2, 0.94)));
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(2);
        let mut mean = |draw: fn(&mut Random) -> f64| {
            (0..100_000).map(|_| draw(&mut random)).sum::<f64>() / 100_000.0
        };
        for (draw, wanted) in [
            (Random::unit as fn(&mut Random) -> f64, 0.5),
            (Random::normal, 0.0),
            (|random| random.normal() * random.normal(), 0.0),
            (|random| random.gamma(4.2, 0.94), 3.948),
            (|random| random.gamma(312.0, 0.03), 9.36),
        ] {
            let found = mean(draw);
            assert!((found - wanted).abs() < 0.015, "{found}, expected {wanted}");
        }
    }

    #[test]
    fn the_first_rank_is_twice_as_likely_as_the_second() {
        let (zipf, mut random) = (Zipf::new(3), Random::new(3));
        let mut counts = [0; 3];
        for _ in 0..11_000 {
            counts[zipf.draw(&mut random)] += 1;
        }
        for (count, wanted) in counts.into_iter().zip([6_000_i32, 3_000, 2_000]) {
            assert!((count - wanted).abs() < 250, "{counts:?}");
        }
    }
}
