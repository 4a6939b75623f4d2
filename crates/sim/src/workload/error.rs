//! Why a workload could not be read.

use std::io;
use std::path::PathBuf;

/// Why a source gave no workload. Each message names the file and, where there is one, the
/// line (from 1), what was found there and what would have been right.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file does not exist or may not be read.
    #[error("cannot open the workload {}", path.display())]
    Open {
        /// As given.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Reading broke off.
    #[error("cannot read {file} after line {line}")]
    Read {
        /// Name of the source.
        file: String,
        /// The last line read whole; 0 before the first.
        line: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// Neither the name nor the first line tells the format.
    #[error(
        "the format of {file} is not clear from its name or first line. Set --format to swf, \
         openb, sacct, jsonl or yarn-sls"
    )]
    UnknownFormat {
        /// Name of the source.
        file: String,
    },
    /// A column or field does not hold what it should.
    #[error("{file}:{line}: {field} is {found}, expected {expected}")]
    BadValue {
        /// Name of the source.
        file: String,
        /// From 1.
        line: u64,
        /// Column number and name, or name of the field.
        field: String,
        /// The text there, quoted and shortened.
        found: String,
        /// What would have been right, with its unit.
        expected: String,
    },
    /// The line as a whole is wrong: its encoding, its length, its syntax, its header.
    #[error("{file}:{line}: {problem}")]
    BadLine {
        /// Name of the source.
        file: String,
        /// From 1.
        line: u64,
        /// A sentence: what was found and what was expected.
        problem: String,
    },
    /// Two jobs of a source bear the same name.
    #[error(
        "{file}:{line}: job {job} already occurs in line {first}. Rename or remove one of the two \
         jobs, or set --skip-bad-lines"
    )]
    DuplicateJob {
        /// Name of the source.
        file: String,
        /// The second one, from 1.
        line: u64,
        /// The first one, from 1.
        first: u64,
        /// The name of both.
        job: String,
    },
    /// Nothing is left to play.
    #[error("{file} contains no job to simulate: lines read: {lines}, {skipped}")]
    NoJob {
        /// Name of the source.
        file: String,
        /// Lines read, comments and headers included.
        lines: u64,
        /// What was left out and why.
        skipped: String,
    },
}

/// Why one line gives no job; [`WorkloadError`] adds file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// One field of it.
    Value { field: String, found: String, expected: String },
    /// The line as a whole.
    Line(String),
    /// The header, without which no other line means anything; never skipped.
    Header(String),
}

/// Longest piece of the source that a message repeats, in characters.
const FOUND_CHARACTERS_MAX: usize = 60;

impl Fault {
    /// This field holds that, but should hold something else.
    pub(super) fn value(
        field: impl Into<String>,
        found: &str,
        expected: impl Into<String>,
    ) -> Self {
        Self::Value { field: field.into(), found: quoted(found), expected: expected.into() }
    }

    /// The same, where this would have been right as well.
    pub(super) fn or(mut self, other: &str) -> Self {
        if let Self::Value { expected, .. } = &mut self {
            expected.push_str(", or ");
            expected.push_str(other);
        }
        self
    }

    /// The error to report for the line with this number.
    pub(super) fn at(self, file: &str, line: u64) -> WorkloadError {
        let file = file.to_owned();
        match self {
            Self::Value { field, found, expected } => {
                WorkloadError::BadValue { file, line, field, found, expected }
            }
            Self::Line(problem) | Self::Header(problem) => {
                WorkloadError::BadLine { file, line, problem }
            }
        }
    }
}

/// A piece of the source as messages repeat it: quoted, escaped, shortened; `empty` for none.
pub(crate) fn quoted(found: &str) -> String {
    if found.is_empty() {
        return "empty".to_owned();
    }
    let mut short: String = found.chars().take(FOUND_CHARACTERS_MAX).collect();
    if short.len() < found.len() {
        short.push('…');
    }
    format!("{short:?}")
}
