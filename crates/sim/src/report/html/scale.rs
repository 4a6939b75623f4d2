//! Axes: positions and labels of ticks.

/// Steps between ticks, in multiples of a power of ten.
const NICE: [f64; 3] = [1.0, 2.0, 5.0];

/// Units of virtual time: name, length in ms, and steps between ticks in that unit.
const TIME_UNITS: [(&str, u64, &[u64]); 5] = [
    ("d", 86_400_000, &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]),
    ("h", 3_600_000, &[1, 2, 3, 6, 12, 24]),
    ("min", 60_000, &[1, 2, 5, 10, 15, 30, 60]),
    ("s", 1_000, &[1, 2, 5, 10, 15, 30, 60]),
    ("ms", 1, &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]),
];

/// An axis: the value at its end, the ticks from 0 to the end, and their labels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) end: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

/// Returns an axis from 0 to at least `max` that ends at a tick, with about `count` ticks.
pub(super) fn amounts(max: f64, count: u32) -> Axis {
    let max = if max > 0.0 { max } else { 1.0 };
    // A tolerance, because 0.1 × 3 is slightly above 0.3, and many shares can sum to slightly more than the whole.
    let wanted = max / f64::from(count) * (1.0 - 1e-6);
    let mut power = 1e-6;
    let step = loop {
        if let Some(step) = NICE.iter().map(|nice| nice * power).find(|step| *step >= wanted) {
            break step;
        }
        power *= 10.0;
    };
    let mut ticks = vec![(0.0, "0".to_owned())];
    let mut index = 0.0;
    while ticks.last().is_none_or(|(value, _)| *value < max - step * 1e-6) {
        index += 1.0;
        let value = index * step;
        ticks.push((value, crate::report::pretty::number(value)));
    }
    let end = ticks.last().map_or(1.0, |(value, _)| *value);
    Axis { end, ticks }
}

/// Returns an axis from 0 to `end_ms` of virtual time with at most about `count` ticks, and its unit.
pub(super) fn time(end_ms: u64, count: u64) -> (Axis, &'static str) {
    // The largest unit of which the run has at least four.
    let unit = TIME_UNITS.iter().find(|(_, length_ms, _)| end_ms >= 4 * length_ms);
    let (name, length_ms, steps) = unit.unwrap_or(&TIME_UNITS[4]);
    let step = steps.iter().find(|step| end_ms / (*step * length_ms) <= count);
    let step = step.or(steps.last()).copied().unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "a place on a plot")]
    let tick = |index: u64| {
        let value = index * step;
        ((value * length_ms) as f64, value.to_string())
    };
    #[expect(clippy::cast_precision_loss, reason = "a place on a plot")]
    let axis = Axis {
        end: end_ms.max(1) as f64,
        ticks: (0..=end_ms / (step * length_ms)).map(tick).collect(),
    };
    (axis, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_nice_numbers_and_reach_the_largest_value() {
        for (max, expected) in [
            (0.0, &["0", "0.2", "0.4", "0.6", "0.8", "1"][..]),
            (100.0, &["0", "20", "40", "60", "80", "100"]),
            (100.000_000_1, &["0", "20", "40", "60", "80", "100"]),
            (0.3, &["0", "0.1", "0.2", "0.3"]),
            (1_204.0, &["0", "500", "1 k", "1.5 k"]),
        ] {
            let texts: Vec<String> = amounts(max, 5)
                .ticks
                .into_iter()
                .map(|(_, text)| crate::report::pretty::plain(&text))
                .collect();
            assert_eq!(texts, expected, "up to {max}");
        }
    }

    #[test]
    fn time_is_shown_in_the_unit_that_suits_the_run() {
        for (end_ms, unit, expected) in [
            (0, "ms", &["0"][..]),
            (90_000, "s", &["0", "15", "30", "45", "60", "75", "90"]),
            (6 * 3_600_000, "h", &["0", "1", "2", "3", "4", "5", "6"]),
            (30 * 86_400_000, "d", &["0", "5", "10", "15", "20", "25", "30"]),
        ] {
            let (axis, found) = time(end_ms, 8);
            let texts: Vec<String> = axis.ticks.into_iter().map(|(_, text)| text).collect();
            assert_eq!((found, texts.as_slice()), (unit, expected.map_to_string().as_slice()));
        }
    }

    trait MapToString {
        fn map_to_string(&self) -> Vec<String>;
    }

    impl MapToString for &[&str] {
        fn map_to_string(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }
}
