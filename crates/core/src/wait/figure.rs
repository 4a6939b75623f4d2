//! What the first line of an explanation says of reasons that compare nothing: how many, or until when.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::time::DisplayTime;

use super::{About, Blocker, questions, standstill};

/// About how many nodes the RM was asked, and when.
pub(super) fn of_question(books: &Books, blocker: Blocker) -> String {
    let About::Answer(ask) = blocker.about() else { return String::new() };
    books.question_of(ask).map_or_else(String::new, |question| {
        let count = question.nodes().count();
        let nodes = if count == 1 { "node" } else { "nodes" };
        format!(": asked about {count} {nodes} at {}", DisplayTime(question.since))
    })
}

/// How many questions are open; during recovery, how many nodes are missing.
pub(super) fn of_busy(books: &Books, blocker: Blocker) -> String {
    let About::Manager(partition) = blocker.about() else { return String::new() };
    let row = books.partition(partition);
    let recovery = row.recovery.as_ref().filter(|one| one.until.is_some());
    recovery.map_or_else(
        || format!(": {} to answer", questions::count(row.open_questions.count)),
        |one| format!(": {} of {} not there yet", one.missing().len(), row.nodes.len()),
    )
}

/// Since when a resource manager is away.
pub(super) fn of_absence(books: &Books, blocker: Blocker) -> String {
    let About::AbsentManager(partition) = blocker.about() else { return String::new() };
    standstill::since(books, partition)
}

/// What is wrong with the nodes of a partition that has none with a size.
pub(super) fn of_no_nodes(books: &Books, blocker: Blocker) -> String {
    let About::Partition(partition) = blocker.about() else { return String::new() };
    format!(": {}", standstill::no_nodes(books, partition))
}

/// Until when an application is left alone.
pub(super) fn of_pause(books: &Books, blocker: Blocker) -> String {
    let About::Application(application) = blocker.about() else { return String::new() };
    let until = books.application(application).backed_off;
    until.map_or_else(String::new, |until| format!(" until {}", DisplayTime(until)))
}
