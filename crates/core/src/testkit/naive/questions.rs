//! Questions to the RM, directly from the rules: scheduling §6.6, docs/decisions/0013-questions.md.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Application, Books, Node, QuestionMode, QuestionSubject};
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, NodeId};

use super::reservations::best;

/// Chooses one of these nodes, in order: the first node, or the first node that the RM accepted. If the RM must be
/// asked before, returns the question as an error. `None` if there is no node, or if the RM refused all of them.
pub(super) fn choose(
    books: &Books,
    row: &Application,
    (ask, mode): (AllocationId, QuestionMode),
    nodes: &[NodeId],
) -> Option<Result<NodeId, Vec<Event>>> {
    if books.partition(row.partition).questions.is_none() {
        return nodes.first().map(|node| Ok(*node));
    }
    let verdict = |node: &NodeId| books.verdict_on(ask, *node, mode);
    let accepted = |node: &&NodeId| verdict(node).is_some_and(|one| one.refusal.is_none());
    if let Some(node) = nodes.iter().find(accepted) {
        return Some(Ok(*node));
    }
    let unknown = nodes.iter().copied().filter(|node| verdict(node).is_none());
    let is_first = mode == QuestionMode::Allocate && books.verdicts_of(ask, mode).next().is_none();
    let at_once = books.partition(row.partition).questions.map_or(64, |one| one.at_once.get());
    let most = if is_first { 64.min(8 * usize::from(at_once)) } else { 64 };
    let nodes: Vec<NodeId> = unknown.take(most).collect();
    (!nodes.is_empty()).then(|| Err(put(books, row, ask, QuestionSubject::Nodes(mode, nodes))))
}

/// Returns the question, or an empty list if the RM has its maximum of open questions. The cycle of this partition ends
/// then.
pub(super) fn put(
    books: &Books,
    row: &Application,
    ask: AllocationId,
    subject: QuestionSubject,
) -> Vec<Event> {
    if has_enough(books, row) {
        Vec::new()
    } else {
        vec![Event::Ask(AskEvent::Asked { ask, subject })]
    }
}

/// Whether the RM has its maximum of open questions, or had it and has not yet answered half of them.
pub(super) fn has_enough(books: &Books, row: &Application) -> bool {
    books.partition(row.partition).open_questions.full
}

/// Chooses the node to reserve for an ask from these nodes, which are large enough. It is the node with the best free
/// capacity, or the best of those that the RM accepted. If the RM must be asked before, returns the question as an
/// error. A node with enough free capacity that the RM refuses is not reserved.
pub(super) fn to_keep(
    books: &Books,
    row: &Application,
    ask: AllocationId,
    nodes: &[(NodeId, &Node)],
) -> Option<Result<NodeId, Vec<Event>>> {
    let wanted = books.node_request(ask);
    if books.partition(row.partition).questions.is_none() {
        return best(nodes, wanted).map(Ok);
    }
    let refuses = |node: NodeId, mode| {
        books.verdict_on(ask, node, mode).is_some_and(|one| one.refusal.is_some())
    };
    let mut left: Vec<(NodeId, &Node)> = nodes.to_vec();
    left.retain(|(id, node)| {
        let in_vain = refuses(*id, QuestionMode::Allocate) && node.available.fits(wanted);
        !in_vain && !refuses(*id, QuestionMode::Reserve)
    });
    let mut sorted = Vec::new();
    while let Some(node) = best(&left, wanted) {
        left.retain(|(id, _)| *id != node);
        sorted.push(node);
    }
    choose(books, row, (ask, QuestionMode::Reserve), &sorted)
}

/// Whether the RM has not answered the question about this ask yet.
pub(super) fn awaits(books: &Books, row: &Application, ask: AllocationId) -> bool {
    books.partition(row.partition).questions.is_some() && books.question_of(ask).is_some()
}
