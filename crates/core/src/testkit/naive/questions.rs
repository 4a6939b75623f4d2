//! Questions to the RM, straight from the rules: scheduling §6.6, docs/decisions/0013-questions.md.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Application, Books, QuestionMode};
use crate::event::Event;
use crate::id::{AllocationId, NodeId};

/// Of these nodes, in order, the one to take: the first, or the first that the RM accepted. If
/// it must be asked first, that; none if there is nothing, or nothing that the RM leaves.
pub(super) fn choose(
    books: &Books,
    row: &Application,
    (ask, mode): (AllocationId, QuestionMode),
    nodes: &[NodeId],
) -> Option<Result<NodeId, Vec<Event>>> {
    if !books.partition(row.partition).questions.nodes {
        return nodes.first().map(|node| Ok(*node));
    }
    let verdict = |node: &NodeId| books.verdict_on(ask, *node, mode);
    let accepted = |node: &&NodeId| verdict(node).is_some_and(|one| one.refusal.is_none());
    if let Some(node) = nodes.iter().find(accepted) {
        return Some(Ok(*node));
    }
    let unknown = nodes.iter().copied().filter(|node| verdict(node).is_none());
    let nodes: Vec<NodeId> = unknown.take(64).collect();
    (!nodes.is_empty()).then(|| Err(vec![Event::Asked { ask, mode, nodes }]))
}

/// Whether the RM has not answered about this ask.
pub(super) fn awaits(books: &Books, row: &Application, ask: AllocationId) -> bool {
    books.partition(row.partition).questions.nodes && books.question_of(ask).is_some()
}
