//! The RM says what it answers, and answers. Scheduling §6.6, scheduler interface §9 and §12.4.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Books, Questions};
use crate::command::Verdicts;
use crate::event::Event;
use crate::id::NodeId;
use crate::name::Name;
use crate::rejection::Rejection;

use super::node::node_named;
use super::{partition_named, short};

/// The reason of a node that an answer leaves out.
const NO_ANSWER: &str = "no answer";

pub(super) fn set(
    books: &Books,
    partition: &Name,
    questions: Questions,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    if books.partition(partition).questions == questions {
        return Ok(Vec::new());
    }
    Ok(vec![Event::QuestionsSet { partition, questions }])
}

/// An answer. What only comes late is no fault of the RM and changes nothing: the ask waits no
/// more, another question is open by now, or none.
pub(super) fn answer(books: &Books, answer: &Verdicts) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &answer.partition)?;
    if answer.question == 0 || answer.question > books.questions_put() {
        return Err(Rejection::UnknownQuestion {
            question: answer.question,
            last: books.questions_put(),
        });
    }
    for reason in answer.verdicts.iter().filter_map(|(_, refusal)| refusal.as_ref()) {
        short("reason", reason)?;
    }
    let row = books.partition(partition);
    let Some(ask) = row.allocations.get(&*answer.key).copied() else { return Ok(Vec::new()) };
    let question = books.question_of(ask).filter(|one| one.number == answer.question);
    let Some(question) = question else { return Ok(Vec::new()) };
    let mut said: Vec<(NodeId, &Option<Name>)> = Vec::with_capacity(answer.verdicts.len());
    for (name, refusal) in &answer.verdicts {
        // A node that is gone is not judged any more; one that came in its place was not asked
        // about, as one that was there all along.
        let Some(node) = row.nodes.get(&**name).copied() else { continue };
        if question.nodes.iter().any(|(asked, _)| *asked == node) {
            said.push((node, refusal));
        } else if !question.nodes.iter().any(|(asked, _)| books.nodes().get(*asked).is_none()) {
            let (node, key) = (name.clone(), answer.key.clone());
            return Err(Rejection::NodeNotAsked { node, key, question: answer.question });
        }
    }
    let there = question.nodes.iter().map(|(node, _)| *node);
    let there = there.filter(|node| books.nodes().get(*node).is_some());
    let verdict = |node| {
        // Of two verdicts on one node a refusal counts.
        let mut mine = said.iter().filter(|(one, _)| *one == node).map(|(_, refusal)| *refusal);
        let first = mine.next().cloned();
        let refusal = first.unwrap_or_else(|| Some(Name::new(NO_ANSWER)));
        (node, refusal.or_else(|| mine.find_map(Clone::clone)))
    };
    Ok(vec![Event::Answered { ask, verdicts: there.map(verdict).collect() }])
}

pub(super) fn void(books: &Books, partition: &Name, node: &Name) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let node = node_named(books, partition, node)?;
    Ok(vec![Event::VerdictsVoid { node }])
}
