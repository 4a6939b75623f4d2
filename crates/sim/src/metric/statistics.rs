//! Percentiles, means, and rounding, with the same results on every machine.

use super::summary::{Slowdowns, WaitBucket, Waits};

/// Shortest run time in the bounded slowdown, in ms.
const SLOWDOWN_BOUND_MS: u64 = 10_000;

/// Edges of the wait histogram in ms. Each edge is about three times the previous edge. The edges are constants,
/// because the last digit of a computed logarithm depends on the machine.
const WAIT_EDGES_MS: [u64; 16] = [
    0,
    1_000,
    3_000,
    10_000,
    30_000,
    60_000,
    180_000,
    600_000,
    1_800_000,
    3_600_000,
    10_800_000,
    36_000_000,
    86_400_000,
    259_200_000,
    864_000_000,
    2_592_000_000,
];

/// Returns the value at nearest rank ⌈percent·n/100⌉ of `sorted`. `None` if `sorted` is empty.
pub fn percentile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (percent * sorted.len()).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// Returns the statistics of these waits in ms.
pub(super) fn waits(mut values: Vec<u64>) -> Waits {
    values.sort_unstable();
    let total: u128 = values.iter().copied().map(u128::from).sum();
    let count = values.len() as u128;
    let mean = (total + count / 2).checked_div(count).unwrap_or(0);
    let at = |percent| percentile(&values, percent).unwrap_or(0);
    Waits {
        jobs: values.len() as u64,
        total_ms: u64::try_from(total).unwrap_or(u64::MAX),
        mean_ms: u64::try_from(mean).expect("a mean is no larger than the largest"),
        p50_ms: at(50),
        p95_ms: at(95),
        p99_ms: at(99),
        max_ms: at(100),
    }
}

/// Returns the bounded slowdown of a job, which is at least 1.
pub(super) fn slowdown(wait_ms: u64, run_ms: u64) -> f64 {
    (to_float(wait_ms.saturating_add(run_ms)) / to_float(run_ms.max(SLOWDOWN_BOUND_MS))).max(1.0)
}

/// Returns the statistics of these slowdowns.
pub(super) fn slowdowns(mut values: Vec<f64>) -> Slowdowns {
    // Summed in sorted order, so that the order of the jobs cannot change the last digit.
    values.sort_unstable_by(f64::total_cmp);
    let sum: f64 = values.iter().sum();
    let mean = if values.is_empty() { 0.0 } else { sum / to_float(values.len() as u64) };
    Slowdowns { mean: round(mean), p95: round(percentile(&values, 95).unwrap_or(0.0)) }
}

/// Returns the number of waits in each bucket, from zero up to the last used bucket.
pub(super) fn histogram<'a>(values: impl Iterator<Item = &'a u64>) -> Vec<WaitBucket> {
    let mut jobs = [0_u64; WAIT_EDGES_MS.len()];
    for value in values {
        jobs[WAIT_EDGES_MS.partition_point(|edge| edge <= value) - 1] += 1;
    }
    let used = jobs.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    (0..used)
        .map(|bucket| WaitBucket {
            from_ms: WAIT_EDGES_MS[bucket],
            to_ms: WAIT_EDGES_MS.get(bucket + 1).copied(),
            jobs: jobs[bucket],
        })
        .collect()
}

/// Returns Jain's index of these non-negative numbers. `None` if all are zero.
pub(super) fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| round(sum * sum / (to_float(values.len() as u64) * squares)))
}

/// Rounds to six decimals. Smaller differences do not matter in any printed unit.
pub(super) fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "ratios only; correctly rounded everywhere")]
pub(super) fn to_float(value: u64) -> f64 {
    value as f64
}

/// Returns the quotient of two exact sums. 0 if the divisor is 0.
#[expect(clippy::cast_precision_loss, reason = "ratios only; correctly rounded everywhere")]
pub(super) fn ratio(part: i128, whole: i128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let hundred: Vec<u64> = (1..=100).collect();
        for (sorted, percent, expected) in [
            (&[][..], 50, None),
            (&[7], 50, Some(7)),
            (&[7], 99, Some(7)),
            (&[1, 2], 50, Some(1)),
            (&[1, 2, 3], 50, Some(2)),
            (&[1, 2, 3, 4], 95, Some(4)),
            (&hundred, 95, Some(95)),
            (&hundred, 99, Some(99)),
            (&hundred, 100, Some(100)),
        ] {
            assert_eq!(percentile(sorted, percent), expected, "p{percent} of {sorted:?}");
        }
    }

    #[test]
    fn slowdown_is_bounded_on_both_sides() {
        for (wait_ms, run_ms, expected) in [
            (0, 60_000, 1.0),
            (60_000, 60_000, 2.0),
            // A run of 1 s counts as 10 s: (29 + 1) / 10.
            (29_000, 1_000, 3.0),
            // (1 + 1) / 10 is below 1.
            (1_000, 1_000, 1.0),
        ] {
            assert!((slowdown(wait_ms, run_ms) - expected).abs() < 1e-12, "{wait_ms} {run_ms}");
        }
    }

    #[test]
    fn jain_is_one_for_equals_and_one_nth_for_a_monopoly() {
        for (values, expected) in [
            (&[][..], None),
            (&[0.0, 0.0], None),
            (&[2.0, 2.0, 2.0], Some(1.0)),
            (&[5.0, 0.0, 0.0, 0.0], Some(0.25)),
            // (1 + 3)² / (2 · (1 + 9)) = 16 / 20.
            (&[1.0, 3.0], Some(0.8)),
        ] {
            assert_eq!(jain(values), expected, "{values:?}");
        }
    }

    #[test]
    fn the_histogram_counts_every_wait_once() {
        let buckets = histogram([0, 999, 1_000, 2_999, 59_999, u64::MAX].iter());
        let counts: Vec<u64> = buckets.iter().map(|bucket| bucket.jobs).collect();
        assert_eq!(counts, [2, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(buckets[15].to_ms, None);
    }
}
