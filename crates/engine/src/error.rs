//! Why the engine stopped, or never began. Each is fatal: memory may be ahead of the journal, so
//! the process ends, and begins again by replay.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use headroom_journal::{JournalError, Unwritable};

/// An error with its causes, in one line.
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

/// A record is whole, but cannot follow: its writer had other books.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "record {sequence} does not follow from the previous records ({reason}). To keep the previous \
     records, run `headroom journal repair --to {}`", sequence.saturating_sub(1)
)]
pub struct Impossible {
    /// Its number.
    pub sequence: u64,
    /// What the books say.
    pub reason: String,
}

/// Carry out what a record says. The books panic at what cannot have happened to them, since
/// nobody but us writes records; here it becomes an error that names the record.
pub(crate) fn carry_out(sequence: u64, deed: impl FnOnce()) -> Result<(), Impossible> {
    // A caller that gets the error does not use the books any more.
    catch_unwind(AssertUnwindSafe(deed))
        .map_err(|panic| Impossible { sequence, reason: panic_text(&*panic) })
}

/// What a panic says.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no reason given").to_owned()
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal could not be written or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record cannot be written.
    #[error("record {sequence} cannot be written")]
    Unwritable {
        /// Its number.
        sequence: u64,
        /// Why.
        #[source]
        source: Unwritable,
    },
    /// A record that is whole does not follow from those before it.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The audit cannot be opened, or gone on with.
    #[error("the audit log of tenants cannot be opened")]
    Audit(#[source] std::io::Error),
    /// The thread of the writer could not be started.
    #[error("the writer cannot be started")]
    Thread(#[source] std::io::Error),
}
