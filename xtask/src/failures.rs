//! What failing tests printed, kept for the end, where it is looked for.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::tally::Tally;

/// How many of the last lines of one test program's failures are said again.
const LINES: usize = 80;

/// What the failing tests of each program printed, as Rust's harness says it again at its end.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// The lines of each program that failed.
    kept: RefCell<Vec<VecDeque<String>>>,
}

impl Failures {
    /// Hear what one run of `cargo test` prints.
    pub(crate) fn hear(&self) -> Hearing<'_> {
        Hearing { of: self, last: None, lines: None, tally: Tally::default() }
    }

    /// Print everything that was kept; nothing where nothing failed.
    pub(crate) fn print(&self) {
        for program in self.kept.borrow().iter() {
            for line in program {
                println!("  | {line}");
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn lines(&self) -> Vec<String> {
        self.kept.borrow().iter().flatten().cloned().collect()
    }
}

/// One run of `cargo test`, line by line.
#[derive(Debug)]
pub(crate) struct Hearing<'a> {
    of: &'a Failures,
    /// The last line of a program that has begun and not reported.
    last: Option<String>,
    /// What was printed since `failures:`.
    lines: Option<VecDeque<String>>,
    /// What was reported, and how many programs died before they could.
    tally: Tally,
}

impl Hearing<'_> {
    /// One more line, which is printed.
    pub(crate) fn line(&mut self, line: &str) {
        println!("{line}");
        if let Some(counts) = Tally::of_harness_line(line) {
            self.tally += counts;
        }
        let begins = line.starts_with("running ") && line.contains(" test");
        if begins {
            self.begin();
        }
        if begins || self.last.is_some() && !line.is_empty() {
            self.last = Some(line.to_owned());
        }
        if line == "failures:" && self.lines.is_none() {
            self.lines = Some(VecDeque::new());
        }
        if let Some(lines) = &mut self.lines {
            lines.push_back(line.to_owned());
            if lines.len() > LINES {
                lines.pop_front();
            }
        }
        if line.starts_with("test result: ") {
            self.of.kept.borrow_mut().extend(self.lines.take());
            self.last = None;
        }
    }

    /// Another program begins, or none does: one that has not reported by now never will.
    fn begin(&mut self) {
        if let Some(last) = self.last.take() {
            self.tally.failed += 1;
            let mut lines = self.lines.take().unwrap_or_default();
            lines.push_back(format!("a test program died; the last that it printed is: {last}"));
            self.of.kept.borrow_mut().push(lines);
        }
    }

    /// Nothing more comes: what was reported; a program that died before it could has failed.
    pub(crate) fn end(mut self) -> Tally {
        self.begin();
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Vec<String> {
        let failures = Failures::default();
        let mut hearing = failures.hear();
        text.lines().for_each(|line| hearing.line(line));
        hearing.end();
        failures.lines()
    }

    #[test]
    fn what_fails_is_said_again() {
        let report = "failures:\n\n---- a stdout ----\nwhy\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed";
        let lines = kept(&format!("test b ... ok\n{report}; 1 failed\ntest c ... ok"));
        assert_eq!(lines.join("\n"), format!("{report}; 1 failed"));
    }

    #[test]
    fn nothing_is_kept_of_what_passes() {
        assert!(kept("test a ... ok\n\ntest result: ok. 1 passed; 0 failed").is_empty());
    }

    #[test]
    fn the_end_of_a_long_report_is_kept() {
        let long = "x\n".repeat(200);
        let lines = kept(&format!("failures:\n{long}test result: FAILED."));
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines.last().map(String::as_str), Some("test result: FAILED."));
    }

    #[test]
    fn a_program_that_dies_is_counted_and_named_by_its_last_line() {
        let died = "running 2 tests\ntest a ... ok\n";
        let passed = "running 1 test\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed\n";
        let failures = Failures::default();
        let mut hearing = failures.hear();
        [died, passed, died].concat().lines().for_each(|line| hearing.line(line));
        assert_eq!(hearing.end().failed, 2);
        let told = "a test program died; the last that it printed is: test a ... ok";
        assert_eq!(failures.lines(), [told; 2]);
    }
}
