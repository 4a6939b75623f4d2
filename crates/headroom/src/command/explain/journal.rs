//! Explanations from a journal: the records are replayed by a scheduler.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use headroom_api::client::Sought;
use headroom_api::headroomv1::Explanation;
use headroom_core::books::Books;
use headroom_core::explain::{explain, first_of};
use headroom_core::id::AllocationId;
use headroom_engine::{WaitHistory, WriterState, follow, recover};
use headroom_journal::FileReader;
use headroom_journal::disk::Folder;
use headroom_server::native::explanation_of;

/// Explains the wait of an application or ask at the last record of a journal, with the complete wait history.
pub(super) fn explained(
    folder: &Path,
    partition: &str,
    subject: &str,
    sought: Sought<'_>,
) -> Result<Explanation> {
    ensure!(folder.is_dir(), "the folder {} does not exist", folder.display());
    let disk = Folder::new(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    let reader = FileReader::open(Arc::new(disk))?;
    let made = recover(&reader)?;
    let Some(ask) = find(&made.books, partition, subject) else {
        bail!(
            "partition {partition} has no ask or allocation of {subject:?} at record {}. Check the \
             name",
            made.sequence
        );
    };
    // The first ask of an application can change over time.
    let application = &made.books.application(made.books.allocation(ask).application).name;
    let subject = format!("{application}/{}", made.books.allocation(ask).key);
    let mut waits = WaitHistory::default();
    let look = |moment: &WriterState<'_>| {
        if let Some(ask) = find(moment.books, partition, &subject) {
            waits.look(moment, ask);
        }
    };
    let (made, scheduler) = follow(&reader, look)?;
    let found = find(&made.books, partition, &subject);
    let found = found.and_then(|ask| explain(&made.books, &scheduler, ask));
    let found = found.with_context(|| format!("{subject} cannot be explained"))?;
    let history = waits.of(found.ask);
    let found = headroom_core::explain::Explanation { history, ..found };
    let sought = (sought.remedies, sought.in_turn, sought.preemption);
    explanation_of(&made.books, (made.time, made.sequence), &found, sought)
        .map_err(|why| anyhow!(why))
}

/// Returns an ask by the names of its application and the ask, or the first ask of an application.
fn find(books: &Books, partition: &str, subject: &str) -> Option<AllocationId> {
    let partition = books.partition(books.partition_named(partition)?);
    let (application, key) = match subject.split_once('/') {
        Some((application, key)) => (application, Some(key)),
        None => (subject, None),
    };
    let application = *partition.applications.get(application)?;
    match key {
        Some(key) => books.allocation_named(application, key),
        None => first_of(books, application),
    }
}
