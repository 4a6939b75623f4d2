//! Complete wait history of an ask, read from the journal. The history of the scheduler is short, and begins with its
//! start.
//!
//! Reading takes time in proportion to the records since the submission of the ask, in parallel with the writer. One
//! history is read at a time, for all callers. Reading stops when no caller waits for the history any more, or after
//! twenty seconds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headroom_api::headroomv1::{Code, VerdictChange};
use headroom_core::Name;
use headroom_core::books::Books;
use headroom_core::id::AllocationId;
use headroom_engine::{chain, changes_of};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::super::answer::Refused;
use super::super::request::NativeRequest;
use super::change;
use crate::service::Service;

/// Permit of the task that reads the journal.
static READING: Semaphore = Semaphore::const_new(1);

/// Longest wait for the reads of other callers.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// Longest duration of reading. Less than the time limit of a request.
const READ_FOR: Duration = Duration::from_secs(20);

/// Names that identify an ask.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) partition: Name,
    pub(super) application: Name,
    pub(super) key: Name,
}

impl Named {
    fn find(&self, books: &Books) -> Option<AllocationId> {
        let partition = books.partition(books.partition_named(&self.partition)?);
        books.allocation_named(*partition.applications.get(&*self.application)?, &self.key)
    }
}

/// Returns all changes up to a record, the oldest first.
///
/// # Errors
/// If other callers read for too long, or the journal cannot be read.
pub(super) async fn all(
    service: &Service,
    asked: &NativeRequest,
    ask: Named,
    until: u64,
) -> Result<Vec<VerdictChange>, Refused> {
    let entered = timeout(WAIT_FOR_OTHERS, READING.acquire()).await;
    let entered = entered.ok().and_then(Result::ok).ok_or_else(|| {
        let detail =
            "the server is reading the journal for another request. Try again, or omit `history`.";
        Refused::new(asked, Code::TooManyRequests, detail)
    })?;
    let journal = service.engine.journal().await;
    let journal = journal.map_err(|why| Refused::unavailable(asked, &why))?;
    let wanted = Arc::new(());
    let still = Arc::downgrade(&wanted);
    let begun = Instant::now();
    let read = tokio::task::spawn_blocking(move || {
        let goes_on = || still.strong_count() > 0 && begun.elapsed() < READ_FOR;
        let found = changes_of(&*journal, until, |books| ask.find(books), goes_on);
        // The journal must be closed before the next reader opens the files.
        drop(journal);
        drop(entered);
        found
    });
    let found = read.await;
    drop(wanted);
    // Only the log contains the path of the files.
    let failed = |why: String| {
        tracing::error!(why, "the wait history of an ask cannot be read from the journal");
        let detail = "the wait history cannot be read from the journal, or the journal was truncated since. Try again, or see the log of the server.";
        Refused::new(asked, Code::Internal, detail)
    };
    let found = found.map_err(|why| failed(why.to_string()))?;
    let marks = found.map_err(|why| failed(chain(&why)))?.ok_or_else(|| {
        let seconds = READ_FOR.as_secs();
        let detail = format!("the ask arrived more records ago than the server reads in {seconds} s. Read a copy of the journal with `headroom explain --journal`.");
        Refused::new(asked, Code::TooManyRequests, detail)
    })?;
    Ok(marks.iter().map(change).collect())
}
