//! What failing tests printed, kept for the end, where it is looked for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;

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
        Hearing { of: self, program: String::new(), lines: None }
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
    /// The last line that names a test that did not pass; a program that dies says nothing else.
    program: String,
    /// What was printed since `failures:`.
    lines: Option<VecDeque<String>>,
}

impl Hearing<'_> {
    /// One more line.
    pub(crate) fn line(&mut self, line: &str) {
        if line.starts_with("test ") && line.ends_with(" ... FAILED") {
            line.clone_into(&mut self.program);
        }
        if line == "failures:" && self.lines.is_none() {
            self.lines = Some(VecDeque::new());
        }
        let Some(lines) = &mut self.lines else { return };
        lines.push_back(line.to_owned());
        if lines.len() > LINES {
            lines.pop_front();
        }
        if line.starts_with("test result: ") {
            self.of.kept.borrow_mut().extend(self.lines.take());
            self.program.clear();
        }
    }

    /// Nothing more comes: a program that died before it could report is named too.
    pub(crate) fn end(mut self) {
        let mut lines = self.lines.take().unwrap_or_default();
        if lines.is_empty() && !self.program.is_empty() {
            lines.push_back(mem::take(&mut self.program));
        }
        if !lines.is_empty() {
            self.of.kept.borrow_mut().push(lines);
        }
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
    fn a_program_that_dies_is_named_by_its_last_failure() {
        assert_eq!(kept("test a ... FAILED"), ["test a ... FAILED"]);
    }
}
