//! Formats numbers for people. The number of decimals is fixed, so the same number has the same text everywhere.
//!
//! A non-breaking space separates a number and its unit. [`plain`] replaces it by an ordinary space.

/// Units of time in ms, the largest first. Each unit has the next smaller unit that is also shown.
const UNITS_MS: [(u64, &str, u64, &str); 3] = [
    (86_400_000, "d", 3_600_000, "h"),
    (3_600_000, "h", 60_000, "min"),
    (60_000, "min", 1_000, "s"),
];

/// Returns a time span in at most two units, truncated and not rounded: `3 h 12 min`, `45 s`, `120 ms`.
pub fn duration(ms: u64) -> String {
    for (large_ms, large, small_ms, small) in UNITS_MS {
        if ms >= large_ms {
            let rest = ms % large_ms / small_ms;
            let whole = count(ms / large_ms);
            return if rest == 0 {
                format!("{whole}\u{a0}{large}")
            } else {
                format!("{whole}\u{a0}{large} {rest}\u{a0}{small}")
            };
        }
    }
    match ms {
        0 => "0\u{a0}s".to_owned(),
        1..1_000 => format!("{ms}\u{a0}ms"),
        _ if ms.is_multiple_of(1_000) || ms >= 10_000 => format!("{}\u{a0}s", ms / 1_000),
        _ => format!("{}.{}\u{a0}s", ms / 1_000, ms % 1_000 / 100),
    }
}

/// Returns a whole number in groups of three digits: `1 234 567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push('\u{202f}'); // A narrow space that does not break the line.
        }
        text.push(digit);
    }
    text
}

/// Returns a number of things: `1 job`, `1 234 jobs`.
pub fn counted(value: u64, thing: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(value))
}

/// Returns a number with about three digits, such as `0.75`. Large numbers have the suffix k, M, or G: `12.4 k`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    for (factor, suffix) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        // The next smaller unit would round up to four digits.
        if size >= factor * 0.9995 {
            return format!("{}\u{a0}{suffix}", three_digits(value / factor));
        }
    }
    three_digits(value)
}

fn three_digits(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Returns resource-hours: `12.4 k core-hours`.
pub fn resource_hours(value: f64, unit: &str) -> String {
    // The unit is core-hours, not cores-hours.
    let unit = if unit == "cores" { "core" } else { unit };
    format!("{}\u{a0}{unit}-hours", number(value))
}

/// Returns a total wait in hours, such as `12.4 k h`. Short waits have shorter units.
pub fn waiting(ms: u64) -> String {
    if ms < 100 * 3_600_000 {
        return duration(ms);
    }
    format!("{}\u{a0}h", number(hours(ms)))
}

/// Returns the text with ordinary spaces, for terminals and text search.
pub fn plain(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ")
}

/// Converts milliseconds to hours.
#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
pub fn hours(ms: u64) -> f64 {
    ms as f64 / 3_600_000.0
}

/// Returns a percentage with one decimal: `12.3 %`. A small positive value does not become zero.
pub fn percent(value: f64) -> String {
    if value > 0.0 && value < 0.05 {
        return "<\u{a0}0.1\u{a0}%".to_owned();
    }
    format!("{value:.1}\u{a0}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        for (ms, expected) in [
            (0, "0 s"),
            (120, "120 ms"),
            (1_500, "1.5 s"),
            (45_999, "45 s"),
            (60_000, "1 min"),
            (11_520_000, "3 h 12 min"),
            (86_399_999, "23 h 59 min"),
            (183_600_000, "2 d 3 h"),
            (u64::MAX, "213 503 982 334 d 14 h"),
        ] {
            assert_eq!(plain(&duration(ms)), expected, "{ms} ms");
        }
    }

    #[test]
    fn numbers_have_about_three_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (0.754, "0.75"),
            (-0.001, "0"),
            (9.999, "10"),
            (12.34, "12.3"),
            (999.4, "999"),
            (999.6, "1 k"),
            (12_400.0, "12.4 k"),
            (3.0e6, "3 M"),
            (-2.5e9, "-2.5 G"),
        ] {
            assert_eq!(plain(&number(value)), expected, "{value}");
        }
    }

    #[test]
    fn counts_are_grouped() {
        for (value, expected) in [(0, "0"), (999, "999"), (1_234_567, "1 234 567")] {
            assert_eq!(plain(&count(value)), expected);
        }
    }
}
