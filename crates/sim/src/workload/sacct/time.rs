//! Parses times in the format of Slurm.

use super::super::error::Fault;
use super::super::number::ms_of;

/// Parses a time, and returns ms since 1970 on the clock of the text. The text is `2025-01-31T12:00:00` with an
/// optional fraction, or seconds since 1970 (`SLURM_TIME_FORMAT=%s`). With an offset (`Z`, `+02:00`, `+0200`, `+02`),
/// the result is in UTC.
pub(super) fn moment(column: &str, text: &str) -> Result<i64, Fault> {
    let ms = match text.split_once('T') {
        Some((date, time)) => {
            let (time, offset_ms) = without_offset(time);
            let moment = day_of(date).zip(clock_ms(time)).zip(offset_ms);
            moment.map(|((day, ms), offset_ms)| day * 86_400_000 + ms - offset_ms)
        }
        None => ms_of(text).and_then(|ms| i64::try_from(ms).ok()),
    };
    ms.ok_or_else(|| {
        let expected = "a time such as 2025-01-31T12:00:00 or 2025-01-31T12:00:00+01:00, or seconds since 1970";
        Fault::value(column, text, expected)
    })
}

/// Parses a time span, and returns ms: `[days-]hours:minutes:seconds[.fraction]`, or without hours.
pub(super) fn elapsed(column: &str, text: &str) -> Result<u64, Fault> {
    span_ms(text).ok_or_else(|| {
        Fault::value(column, text, "a time span such as 2-03:04:05, days-hours:minutes:seconds")
    })
}

fn span_ms(text: &str) -> Option<u64> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes, seconds] => (hours, minutes, seconds),
        [minutes, seconds] => ("0", minutes, seconds),
        _ => return None,
    };
    // Days and hours can be large; a year has fewer than ten thousand hours.
    let days = number(days).filter(|days| *days <= 100_000_000)?;
    let hours = number(hours).filter(|hours| *hours <= 1_000_000_000)?;
    let minutes = number(minutes).filter(|minutes| *minutes < 60)?;
    let seconds = ms_of(seconds).filter(|ms| *ms < 60_000)?;
    Some(days * 86_400_000 + hours * 3_600_000 + minutes * 60_000 + seconds)
}

/// Returns the number of the day `YYYY-MM-DD`, 0 on 1970-01-01.
fn day_of(date: &str) -> Option<i64> {
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else {
        return None;
    };
    let year = number(year).filter(|year| (1970..=9999).contains(year))?;
    let month = number(month).filter(|month| (1..=12).contains(month))?;
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let months = usize::try_from(month - 1).ok()?;
    let day = number(day).filter(|day| (1..=lengths[months]).contains(day))?;
    let before = year - 1;
    let leap_days = (before / 4 - before / 100 + before / 400) - 477; // 477 before 1970.
    let days = (year - 1970) * 365 + leap_days + lengths[..months].iter().sum::<u64>() + day - 1;
    i64::try_from(days).ok()
}

/// Returns a time of day without its offset, and the offset in ms east of UTC. `None` if the offset is not valid.
fn without_offset(time: &str) -> (&str, Option<i64>) {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return (time, Some(0));
    }
    let Some(at) = time.find(['+', '-']) else { return (time, Some(0)) };
    let digits: String = time[at + 1..].chars().filter(|one| *one != ':').collect();
    let colons = time[at + 1..].matches(':').count();
    let is_plain = colons == 0 || colons == 1 && time.len() - at == "+00:00".len();
    let parts = match digits.len() {
        2 => Some((digits.as_str(), "0")),
        4 => Some(digits.split_at(2)),
        _ => None,
    };
    let offset_ms = parts.filter(|_| is_plain).and_then(|(hours, minutes)| {
        let hours = number(hours).filter(|hours| *hours <= 14)?;
        let minutes = number(minutes).filter(|minutes| *minutes < 60)?;
        i64::try_from((hours * 60 + minutes) * 60_000).ok()
    });
    let sign = if time.as_bytes()[at] == b'-' { -1 } else { 1 };
    (&time[..at], offset_ms.map(|ms| sign * ms))
}

fn clock_ms(time: &str) -> Option<i64> {
    let (hours, _) = time.split_once(':')?;
    let ms = span_ms(time).filter(|_| time.matches(':').count() == 2)?;
    number(hours).filter(|hours| *hours < 24)?;
    i64::try_from(ms).ok()
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_from_calendar_time_or_seconds() {
        for (text, expected) in [
            ("1970-01-01T00:00:00", Some(0)),
            ("2000-02-29T12:00:00", Some(951_825_600_000)),
            ("2024-12-31T23:59:59", Some(1_735_689_599_000)),
            ("2025-01-31T12:00:00.250", Some(1_738_324_800_250)),
            ("1738324800", Some(1_738_324_800_000)),
            ("2025-01-31T12:00:00Z", Some(1_738_324_800_000)),
            ("2025-01-31T13:00:00+01:00", Some(1_738_324_800_000)),
            ("2025-01-31T13:00:00+0100", Some(1_738_324_800_000)),
            ("2025-01-31T07:00:00-05", Some(1_738_324_800_000)),
            ("2025-01-31T17:30:00.250+05:30", Some(1_738_324_800_250)),
            ("2025-01-31T12:00:00+1:00", None),
            ("2025-01-31T12:00:00+15:00", None),
            ("2025-01-31T12:00:00+01:00:00", None),
            ("2025-01-31T12:00:00+", None),
            ("2025-02-29T00:00:00", None),
            ("2025-13-01T00:00:00", None),
            ("2025-01-01T24:00:00", None),
            ("2025-01-01T10:00", None),
            ("2025-01-01", None),
            ("31/01/2025", None),
        ] {
            assert_eq!(moment("Submit", text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn spans_have_days_only_if_they_are_long() {
        for (text, expected) in [
            ("00:00:00", Some(0)),
            ("01:02", Some(62_000)),
            ("01:02:03", Some(3_723_000)),
            ("2-03:04:05", Some(183_845_000)),
            ("00:00:01.5", Some(1_500)),
            ("00:60:00", None),
            ("1", None),
            ("-01:00:00", None),
            ("99999999999-00:00:00", None),
        ] {
            assert_eq!(elapsed("Elapsed", text).ok(), expected, "{text}");
        }
    }
}
