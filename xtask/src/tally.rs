//! Counting tests.

use std::fmt;
use std::ops::AddAssign;

/// How many tests passed, failed and were not judged.
///
/// Prints as the last line of `cargo xtask test`, which machines read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// One test with this outcome.
    pub(crate) fn of(passed: bool) -> Self {
        Self { passed: u64::from(passed), failed: u64::from(!passed), skipped: 0 }
    }

    /// One test that was not judged.
    pub(crate) fn skipped() -> Self {
        Self { skipped: 1, ..Self::default() }
    }

    /// Read the line that Rust's test harness ends each test program with.
    pub(crate) fn of_harness_line(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?;
        let (_, counts) = counts.split_once(". ")?;
        let count = |what: &str| -> Option<u64> {
            let mut parts = counts.split("; ");
            parts.find_map(|part| part.strip_suffix(what)?.trim().parse().ok())
        };
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
            skipped: count("ignored")?,
        })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(out, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_is_understood() {
        for (line, expected) in [
            (
                "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
                Some("12 passed, 0 failed, 1 skipped"),
            ),
            (
                "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
                Some("1 passed, 2 failed"),
            ),
            ("test result: unknown", None),
            ("test a ... ok", None),
        ] {
            let read = Tally::of_harness_line(line).map(|tally| tally.to_string());
            assert_eq!(read.as_deref(), expected, "{line}");
        }
    }
}
