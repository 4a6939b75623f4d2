//! Questions to the RM: the supported questions, and the answers. Source: scheduling §6.6, scheduler interface §9 and
//! §12.4.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Away, Books, NodeVerdict, Question, Questions};
use crate::command::Verdicts;
use crate::event::{AskEvent, Event, NodeEvent, PartitionEvent};
use crate::id::NodeId;
use crate::name::Name;
use crate::rejection::Rejection;

use super::node::node_named;
use super::{partition_named, short};

/// Reason for a node without a verdict in the answer.
const NO_ANSWER: &str = "no answer";

pub(super) fn set(
    books: &Books,
    partition: &Name,
    questions: Option<Questions>,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    if books.partition(partition).questions == questions {
        return Ok(Vec::new());
    }
    Ok(vec![Event::Partition(PartitionEvent::QuestionsSet { partition, questions })])
}

/// Records that the resource manager disconnected or reconnected.
pub(super) fn set_away(
    books: &Books,
    partition: &Name,
    away: Option<&Away>,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    if books.partition(partition).away.as_ref() == away {
        return Ok(Vec::new());
    }
    Ok(vec![Event::Partition(PartitionEvent::ManagerAway { partition, away: away.cloned() })])
}

/// Records an answer. A late answer is not an error and changes nothing: the ask no longer waits, or it has another
/// open question or none.
pub(super) fn answer(books: &Books, answer: &Verdicts) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &answer.partition)?;
    if answer.question == 0 || answer.question > books.questions_put() {
        return Err(Rejection::UnknownQuestion {
            question: answer.question,
            last: books.questions_put(),
        });
    }
    for (_, verdict) in &answer.verdicts {
        if let NodeVerdict::Refused(reason) = verdict {
            short("reason", reason)?;
        }
    }
    let row = books.partition(partition);
    let Some(ask) = row.allocations.get(&*answer.key).copied() else { return Ok(Vec::new()) };
    let question = books.question_of(ask).filter(|one| one.number == answer.question);
    let Some(question) = question else { return Ok(Vec::new()) };
    let is_there = |node: &NodeId| books.nodes().get(*node).is_some();
    let mut known: Vec<(NodeId, NodeVerdict)> = Vec::with_capacity(answer.verdicts.len());
    for (name, verdict) in &answer.verdicts {
        // A removed node is not judged. A new node with the same name was not part of the question.
        let Some(node) = row.nodes.get(&**name).copied() else { continue };
        if question.nodes().any(|asked| asked == node) {
            known.push((node, checked(answer, question, (node, name), verdict)?));
        } else if question.nodes().all(|asked| is_there(&asked)) {
            let (node, key) = (name.clone(), answer.key.clone());
            return Err(Rejection::NodeNotAsked { node, key, question: answer.question });
        }
    }
    let verdicts = question.nodes().filter(is_there).map(|node| {
        let mine = known.iter().filter(|(one, _)| *one == node).map(|(_, verdict)| verdict);
        (node, worst(mine).unwrap_or_else(|| NodeVerdict::Refused(Name::new(NO_ANSWER))))
    });
    Ok(vec![Event::Ask(AskEvent::Answered { ask, verdicts: verdicts.collect() })])
}

/// Returns a verdict as it is stored. For a removal, the number of victims is at least the number that frees enough
/// capacity.
fn checked(
    answer: &Verdicts,
    question: &Question,
    (node, name): (NodeId, &Name),
    verdict: &NodeVerdict,
) -> Result<NodeVerdict, Rejection> {
    let removal = question.removal_on(node);
    let (asked, least) = removal.map_or((0, 0), |one| (one.victims.len(), one.least));
    match *verdict {
        NodeVerdict::SuitsWithout(count) if count > asked => Err(Rejection::VictimsNotAsked {
            node: name.clone(),
            key: answer.key.clone(),
            question: answer.question,
            asked,
            count,
        }),
        NodeVerdict::SuitsWithout(count) if removal.is_some() => {
            Ok(NodeVerdict::SuitsWithout(count.max(least)))
        }
        NodeVerdict::Suits if removal.is_some() => Ok(NodeVerdict::SuitsWithout(least)),
        NodeVerdict::Suits | NodeVerdict::SuitsWithout(_) => Ok(NodeVerdict::Suits),
        NodeVerdict::Refused(_) => Ok(verdict.clone()),
    }
}

/// Returns the effective verdict of several on one node: the first rejection, or the one with the most victims.
fn worst<'verdict>(verdicts: impl Iterator<Item = &'verdict NodeVerdict>) -> Option<NodeVerdict> {
    let weight = |one: &NodeVerdict| match one {
        NodeVerdict::Suits => 0,
        NodeVerdict::SuitsWithout(count) => *count,
        NodeVerdict::Refused(_) => usize::MAX,
    };
    let heavier = |current: NodeVerdict, next: NodeVerdict| {
        if weight(&next) > weight(&current) { next } else { current }
    };
    verdicts.cloned().reduce(heavier)
}

pub(super) fn void(books: &Books, partition: &Name, node: &Name) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let node = node_named(books, partition, node)?;
    Ok(vec![Event::Node(NodeEvent::VerdictsVoid { node })])
}
