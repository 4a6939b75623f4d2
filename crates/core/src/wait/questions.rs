//! Sentences about the questions to the resource manager and its answers.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use core::cmp::Reverse;

use crate::books::{Books, QuestionMode, QuestionSubject};
use crate::id::{AllocationId, NodeId};
use crate::name::Name;
use crate::time::DisplayTime;

use super::{About, Wait};

/// Returns the sentence for an open question: the number of nodes, and since when.
pub(super) fn of_question(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::Answer(ask) = wait.blocker.about() else { return String::new() };
    let Some(question) = books.question_of(ask) else { return String::new() };
    let (count, since) = (question.nodes().count(), DisplayTime(question.since));
    let nodes = if count == 1 { "node" } else { "nodes" };
    let once = match question.subject {
        QuestionSubject::Nodes(QuestionMode::Allocate, _) => "",
        QuestionSubject::Nodes(QuestionMode::Reserve, _) => " to reserve",
        QuestionSubject::Removals(_) => " after preemption",
    };
    format!(
        "the resource manager has not answered question {}, sent at {since}, about {count} {nodes}{once}. Wait for the answer, or check the resource manager.",
        question.number
    )
}

/// Returns the sentence for open questions: their number and the limit. During recovery, gives the number of missing
/// nodes.
pub(super) fn of_busy(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::Manager(partition) = wait.blocker.about() else { return String::new() };
    let row = books.partition(partition);
    if let Some(recovery) = &row.recovery
        && let Some(until) = recovery.until
    {
        let missing = recovery.missing().len();
        let has = if missing == 1 { "has" } else { "have" };
        return format!(
            "{missing} of {} nodes {has} not reported since the restart. Scheduling resumes when all nodes report, at the latest at {}. Wait, or check the resource manager.",
            row.nodes.len(),
            DisplayTime(until)
        );
    }
    let most = row.questions.map_or(0, |one| one.at_once.get());
    format!(
        "the resource manager has not answered {} yet, and at most {most} can be open at once. \
         Wait, or check the resource manager.",
        count(row.open_questions.count)
    )
}

/// Returns a number of questions with the noun.
pub(super) fn count(count: u32) -> String {
    match count {
        1 => "1 question".into(),
        count => format!("{count} questions"),
    }
}

/// Number of reasons that a sentence names.
const REASONS_NAMED: usize = 4;

/// Returns the sentence for nodes that the RM rejects: the most frequent reasons, with the number of nodes of each.
pub(super) fn of_refusals(wait: &Wait, books: &Books, _: AllocationId) -> String {
    let About::Answer(ask) = wait.blocker.about() else { return String::new() };
    let reasons = refusals(books, ask);
    let refused: usize = reasons.iter().map(|(_, count)| count).sum();
    if let Some(name) = books.allocation(ask).required_node() {
        let reason = reasons.first().map(|(reason, _)| *reason).unwrap_or_default();
        return format!(
            "the ask requires node {name}, which predicates reject because: {reason}. \
             Change the node requirements of the ask, or withdraw the ask."
        );
    }
    let (first, with) = if is_member(books, ask) {
        ("the ask cannot replace a placeholder: ", "with one, or with enough free capacity,")
    } else {
        ("", "with enough free capacity")
    };
    let nodes = if refused == 1 {
        format!("the only node {with}")
    } else {
        format!("all {refused} nodes {}", with.trim_end_matches(','))
    };
    let causes = match &*reasons {
        [] => String::new(),
        [(reason, _)] => format!(" because: {reason}"),
        several => {
            let named = several.iter().take(REASONS_NAMED);
            let parts: Vec<String> =
                named.map(|(reason, count)| format!("{count} because: {reason}")).collect();
            let others: usize = several.iter().skip(REASONS_NAMED).map(|(_, count)| count).sum();
            let rest =
                if others == 0 { String::new() } else { format!(", {others} for other reasons") };
            format!(", {}{rest}", parts.join(", "))
        }
    };
    format!(
        "{first}predicates reject {nodes}{causes}. Change the node requirements of the ask, or add matching nodes."
    )
}

/// Returns whether the ask is a member that waits for a placeholder replacement.
fn is_member(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let waits = |group: &Name| books.application(row.application).waits_for_place(group);
    !row.placeholder && row.reservation().is_none() && row.task_group().is_some_and(waits)
}

/// Returns the reasons why the RM rejects nodes with enough free capacity, with the number of nodes for each reason.
///
/// The most frequent reason is first. Reasons with equal numbers are in alphabetical order.
pub(crate) fn refusals(books: &Books, ask: AllocationId) -> Vec<(&str, usize)> {
    let (row, wanted) = (books.allocation(ask), books.node_request(ask));
    let required = row.required_node();
    let has_room = |node: NodeId| {
        let on = books.node(node);
        let reserved = row.reservation().is_some_and(|one| one.node == node);
        (reserved || on.is_open()) && on.available.fits(wanted)
    };
    let allocate = books.verdicts_of(ask, QuestionMode::Allocate);
    let allocate = allocate.filter(|(node, _)| required.is_some() || has_room(*node));
    // The RM can have judged a required node, or the node of a placeholder, in mode `Reserve` only.
    let any = required.is_some() || is_member(books, ask);
    let reserve = books.verdicts_of(ask, QuestionMode::Reserve).filter(|_| any);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, verdict) in allocate.chain(reserve) {
        if let Some(reason) = &verdict.refusal {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let mut sorted: Vec<(&str, usize)> = reasons.into_iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(*count));
    sorted
}
