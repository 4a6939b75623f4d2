//! Figures in the first line of an explanation for reasons that compare no amount: a count or a time.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::time::DisplayTime;

use super::{About, Blocker, questions, standstill};

/// Returns the number of nodes that the RM was asked about, and when.
pub(super) fn of_question(books: &Books, blocker: Blocker) -> String {
    let About::Answer(ask) = blocker.about() else { return String::new() };
    books.question_of(ask).map_or_else(String::new, |question| {
        let count = question.nodes().count();
        let nodes = if count == 1 { "node" } else { "nodes" };
        format!(": asked about {count} {nodes} at {}", DisplayTime(question.since))
    })
}

/// Returns the number of open questions, or the number of missing nodes during recovery.
pub(super) fn of_busy(books: &Books, blocker: Blocker) -> String {
    let About::Manager(partition) = blocker.about() else { return String::new() };
    let row = books.partition(partition);
    let recovery = row.recovery.as_ref().filter(|one| one.until.is_some());
    recovery.map_or_else(
        || format!(": {} to answer", questions::count(row.open_questions.count)),
        |one| format!(": {} of {} not there yet", one.missing().len(), row.nodes.len()),
    )
}

/// Returns since when the resource manager is disconnected.
pub(super) fn of_absence(books: &Books, blocker: Blocker) -> String {
    let About::AbsentManager(partition) = blocker.about() else { return String::new() };
    standstill::since(books, partition)
}

/// Returns why no node of a partition has a size.
pub(super) fn of_no_nodes(books: &Books, blocker: Blocker) -> String {
    let About::Partition(partition) = blocker.about() else { return String::new() };
    format!(": {}", standstill::no_nodes(books, partition))
}

/// Returns until when asks of a backed-off application are not checked.
pub(super) fn of_pause(books: &Books, blocker: Blocker) -> String {
    let About::Application(application) = blocker.about() else { return String::new() };
    let until = books.application(application).backed_off;
    until.map_or_else(String::new, |until| format!(" until {}", DisplayTime(until)))
}
