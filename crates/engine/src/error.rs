//! Errors that stop the engine, or prevent its start. Each is fatal: the state in memory can be ahead of the journal.
//! The process therefore ends, and starts again with a replay.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use headroom_journal::{JournalError, Unwritable};

/// Returns an error with its causes on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// A record is valid, but does not fit the books, because its writer had other books.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "record {sequence} does not follow from the previous records ({reason}). To keep the previous \
     records, run `headroom journal repair --to {}`", sequence.saturating_sub(1)
)]
pub struct Impossible {
    /// Number of the record.
    pub sequence: u64,
    /// Text of the failed assertion of the books.
    pub reason: String,
}

/// Applies a record. The books panic if an event does not fit the books, because only this program writes records. This
/// function converts the panic to an error with the number of the record.
pub(crate) fn carry_out(sequence: u64, deed: impl FnOnce()) -> Result<(), Impossible> {
    // A caller that gets the error no longer uses the books.
    catch_unwind(AssertUnwindSafe(deed))
        .map_err(|panic| Impossible { sequence, reason: panic_text(&*panic) })
}

/// Returns the message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no reason given").to_owned()
}

/// Error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal could not be written or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record cannot be encoded.
    #[error("record {sequence} cannot be written")]
    Unwritable {
        /// Number of the record.
        sequence: u64,
        /// Reason why the record cannot be encoded.
        #[source]
        source: Unwritable,
    },
    /// A valid record does not follow from the previous records.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The audit log cannot be opened or continued.
    #[error("the audit log of tenants cannot be opened")]
    Audit(#[source] std::io::Error),
    /// The thread of the writer could not be started.
    #[error("the writer cannot be started")]
    Thread(#[source] std::io::Error),
}
