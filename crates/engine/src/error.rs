//! Why the engine stopped, or never began. Each is fatal: memory may be ahead of the journal, so
//! the process ends, and begins again by replay.

use headroom_journal::{DecodeError, JournalError, TooDeep};

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal could not be written or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record cannot be written.
    #[error("record {sequence} cannot be written")]
    TooDeep {
        /// Its number.
        sequence: u64,
        /// Why.
        #[source]
        source: TooDeep,
    },
    /// A record that is whole does not mean anything to this version.
    #[error("record {sequence} of the journal cannot be read; use the version that wrote it")]
    Unreadable {
        /// Its number.
        sequence: u64,
        /// Why.
        #[source]
        source: DecodeError,
    },
    /// A record stands under the number of another.
    #[error("record {found} of the journal stands where record {expected} should be")]
    Misplaced {
        /// Which comes next.
        expected: u64,
        /// Which was found.
        found: u64,
    },
    /// The thread of the writer could not be started.
    #[error("the writer cannot be started")]
    Thread(#[source] std::io::Error),
}
