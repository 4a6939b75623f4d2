//! Errors of reading workloads.

use std::io;
use std::path::PathBuf;

/// Reason why a workload could not be read. Each message has the file, the line (from 1) if known, the found value, and
/// the expected value.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file does not exist or is not readable.
    #[error("cannot open the workload {}", path.display())]
    Open {
        /// Path of the file, as given.
        path: PathBuf,
        /// I/O error of the operating system.
        source: io::Error,
    },
    /// Reading failed in the middle.
    #[error("cannot read {file} after line {line}")]
    Read {
        /// Name of the source.
        file: String,
        /// Number of the last complete line. 0 before the first.
        line: u64,
        /// I/O error of the operating system.
        source: io::Error,
    },
    /// Neither the name nor the first line identifies the format.
    #[error(
        "the format of {file} is not clear from its name or first line. Set --format to swf, \
         openb, sacct, jsonl or yarn-sls"
    )]
    UnknownFormat {
        /// Name of the source.
        file: String,
    },
    /// A column or field has an invalid value.
    #[error("{file}:{line}: {field} is {found}, expected {expected}")]
    BadValue {
        /// Name of the source.
        file: String,
        /// Number of the line, from 1.
        line: u64,
        /// Number and name of the column, or name of the field.
        field: String,
        /// Found text, quoted and shortened.
        found: String,
        /// Expected value, with its unit.
        expected: String,
    },
    /// A whole line is not valid: its encoding, its length, its syntax, or its header.
    #[error("{file}:{line}: {problem}")]
    BadLine {
        /// Name of the source.
        file: String,
        /// Number of the line, from 1.
        line: u64,
        /// Sentence with what was found and what was expected.
        problem: String,
    },
    /// Two jobs of a source have the same name.
    #[error(
        "{file}:{line}: job {job} already occurs in line {first}. Rename or remove one of the two \
         jobs, or set --skip-bad-lines"
    )]
    DuplicateJob {
        /// Name of the source.
        file: String,
        /// Line of the second job, from 1.
        line: u64,
        /// Line of the first job, from 1.
        first: u64,
        /// Name of both jobs.
        job: String,
    },
    /// The file has no jobs.
    #[error("{file} contains no job to simulate: lines read: {lines}, {skipped}")]
    NoJob {
        /// Name of the source.
        file: String,
        /// Number of lines, including comments and headers.
        lines: u64,
        /// Skipped jobs, and the reasons.
        skipped: String,
    },
}

/// Reason why a line has no valid job. [`WorkloadError`] adds file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// One of its fields is not valid.
    Value { field: String, found: String, expected: String },
    /// The whole line is not valid.
    Line(String),
    /// The header is not valid, so no other line can be read. An invalid header is never skipped.
    Header(String),
}

/// Maximum number of characters of the source that a message shows.
const FOUND_CHARACTERS_MAX: usize = 60;

impl Fault {
    /// Returns the fault of a field, with the found and the expected value.
    pub(super) fn value(
        field: impl Into<String>,
        found: &str,
        expected: impl Into<String>,
    ) -> Self {
        Self::Value { field: field.into(), found: quoted(found), expected: expected.into() }
    }

    /// Adds another expected value.
    pub(super) fn or(mut self, other: &str) -> Self {
        if let Self::Value { expected, .. } = &mut self {
            expected.push_str(", or ");
            expected.push_str(other);
        }
        self
    }

    /// Returns the error for the line with this number.
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

/// Returns a part of the source for a message: quoted, escaped, and shortened. Returns `empty` for an empty part.
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
