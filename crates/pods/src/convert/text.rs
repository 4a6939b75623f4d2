//! Values in texts, as the Go standard library reads them. Users write settings and annotations for these rules.

/// Reads a truth value. Returns nothing for any other text, such as `yes`.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// Level of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogWord {
    /// Details for developers.
    Debug,
    /// What happens.
    Info,
    /// Somebody should look.
    Warn,
    /// Something failed.
    Error,
}

/// Reads a log level of `YuniKorn`: a word, or a number from -1 to 5.
pub fn parse_log_level(text: &str) -> Option<LogWord> {
    match text.trim().to_ascii_uppercase().as_str() {
        "DEBUG" | "-1" => Some(LogWord::Debug),
        "INFO" | "0" => Some(LogWord::Info),
        "WARN" | "1" => Some(LogWord::Warn),
        "ERROR" | "2" | "DPANIC" | "3" | "PANIC" | "4" | "FATAL" | "5" => Some(LogWord::Error),
        _ => None,
    }
}

/// Reads a decimal integer with an optional sign.
pub fn parse_integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Units of a duration, with their lengths in nanoseconds. Both letters mu are in use.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration such as `1h30m` or `300ms`, in nanoseconds.
///
/// Returns nothing for a text without units, except `0`, and for a duration beyond 64 bits.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (part, after) = parse_part(rest)?;
        total = total.checked_add(part).filter(|total| *total <= 1 << 63)?;
        rest = after;
    }
    if negative {
        return Some(0_i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).ok()
}

/// Reads one number with its unit. Returns its nanoseconds and the rest of the text.
fn parse_part(text: &str) -> Option<(u64, &str)> {
    let digits =
        |text: &str| text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (integer, rest) = text.split_at(digits(text));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    let end =
        rest.find(|letter: char| letter == '.' || letter.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let (_, length) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let whole = if integer.is_empty() { 0 } else { integer.parse::<u64>().ok()? };
    let whole = whole.checked_mul(*length)?;
    // Digits below one nanosecond of an hour do not count.
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = fraction.parse::<u128>().unwrap_or(0) * u128::from(*length) / scale;
    Some((whole.checked_add(u64::try_from(part).ok()?)?, rest))
}

/// Cuts a text to at most `bytes` bytes, without a partial character.
pub fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_go_units() {
        for (text, nanos) in [
            ("1s", Some(1_000_000_000)),
            ("1h30m", Some(5_400_000_000_000)),
            ("300ms", Some(300_000_000)),
            ("1.5s", Some(1_500_000_000)),
            (".5m", Some(30_000_000_000)),
            ("-1us", Some(-1_000)),
            ("+1\u{b5}s", Some(1_000)),
            ("0", Some(0)),
            ("1d", None),
            ("1", None),
            ("", None),
            ("-", None),
            (".s", None),
            ("1 s", None),
            ("2562047h47m16.854775807s", Some(i64::MAX)),
            ("2562047h47m16.854775808s", None),
            ("-2562047h47m16.854775808s", Some(i64::MIN)),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(parse_duration(text), nanos, "{text}");
        }
    }

    #[test]
    fn truth_values_have_six_spellings_each() {
        for text in ["1", "t", "T", "TRUE", "true", "True"] {
            assert_eq!(parse_bool(text), Some(true), "{text}");
        }
        for text in ["0", "f", "F", "FALSE", "false", "False"] {
            assert_eq!(parse_bool(text), Some(false), "{text}");
        }
        for text in ["", "yes", "tRUE", " true"] {
            assert_eq!(parse_bool(text), None, "{text}");
        }
    }

    #[test]
    fn a_cut_leaves_no_partial_character() {
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("a", 9), "a");
    }
}
