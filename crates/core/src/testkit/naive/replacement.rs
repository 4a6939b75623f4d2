//! Gangs, directly from the specification: asks that wait for a placeholder, and asks that replace one. Scheduling
//! §10.2, §10.3.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Allocation, Application, Books, QuestionMode, QuestionSubject, StopRequest};
use crate::event::{AllocationEvent, Event, Termination};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;

use super::questions::{awaits, choose, put};
use super::{in_node_order, link_of, pending, suits};

/// Whether an ask must wait until it can replace a placeholder.
pub(super) fn waits_for_place(row: &Application, ask: &Allocation) -> bool {
    let mut groups = row.gang.iter().flat_map(|gang| &gang.groups);
    !ask.placeholder
        && ask.reservation().is_none()
        && groups.any(|group| {
            Some(&group.name) == ask.task_group() && group.count > group.replaced + group.timed_out
        })
}

/// Starts the replacement of a placeholder by the first member of an application that can replace one.
pub(super) fn in_application(
    books: &Books,
    id: ApplicationId,
    row: &Application,
) -> Option<Vec<Event>> {
    let mut asks: Vec<(AllocationId, &Allocation)> =
        pending(books, id).filter(|(_, ask)| waits_for_place(row, ask)).collect();
    if !asks.is_empty()
        && let Err(step) = link_of(books, id, row)
    {
        return Some(step);
    }
    asks.sort_by_key(|(_, ask)| (-i64::from(ask.priority), ask.created, ask.number));
    asks.into_iter().find_map(|(member, ask)| of_member(books, row, member, ask))
}

/// Returns the label in whose types an ask or a placeholder is counted. Placeholders that are counted in other types
/// hold capacity on nodes that the ask cannot use.
fn label_of<'a>(books: &'a Books, row: &Application, one: AllocationId) -> Option<&'a str> {
    let root = books.queue(books.partition(row.partition).root);
    let mut exclusive = root.settings.node_labels.iter().flat_map(|labels| &labels.exclusive);
    let mut names = books.resources_of(one).iter().map(|(of, _)| books.types().name(of));
    let label = names.find_map(|name| Some(name.split_once('@')?.1));
    label.filter(|label| exclusive.any(|one| one == label || *one == "*"))
}

fn of_member(
    books: &Books,
    row: &Application,
    member: AllocationId,
    ask: &Allocation,
) -> Option<Vec<Event>> {
    let mut free: Vec<(AllocationId, &Allocation)> = books
        .allocations_of(ask.application)
        .filter(|(_, one)| one.placeholder && one.node.is_some() && one.mark == StopRequest::None)
        .filter(|(_, one)| one.task_group() == ask.task_group())
        .collect();
    free.sort_by_key(|(_, one)| (one.created, one.key.clone()));
    if awaits(books, row, member) {
        return None;
    }
    let required = ask.required_node();
    let asks = books.partition(row.partition).questions.is_some();
    let (mut events, mut remembered, mut unknown) = (Vec::new(), None, Vec::new());
    let label = |one| label_of(books, row, one);
    free.retain(|(placeholder, _)| label(*placeholder) == label(member));
    for (placeholder, held) in free {
        let left = books.resources_of(placeholder).minus(books.resources_of(member));
        if left.has_negative() {
            let termination = Termination::Timeout;
            events.push(Event::Allocation(AllocationEvent::ReleaseAsked {
                allocation: placeholder,
                termination,
            }));
            continue;
        }
        let node = held.node?;
        let verdict = books.verdict_on(member, node, QuestionMode::Reserve);
        let on = books.node(node);
        let here = required.map_or_else(|| suits(books, member, on), |name| on.name == *name);
        if here && asks && verdict.is_none() && !unknown.contains(&node) {
            unknown.push(node);
        }
        if here && (!asks || verdict.is_some_and(|one| one.refusal.is_none())) {
            events.push(Event::Allocation(AllocationEvent::SwapStarted {
                ask: member,
                placeholder,
                node,
            }));
            return Some(events);
        }
        remembered = remembered.or(Some(placeholder));
    }
    if !unknown.is_empty() {
        unknown.truncate(64);
        let subject = QuestionSubject::Nodes(QuestionMode::Reserve, unknown);
        events.extend(put(books, row, member, subject));
        return Some(events);
    }
    if let Some(placeholder) = remembered.filter(|_| asks) {
        let step = where_accepted(books, row, (member, required), placeholder);
        let some = step.is_some() || !events.is_empty();
        events.extend(step.into_iter().flatten());
        return some.then_some(events);
    }
    let other = books.nodes().iter().find(|(_, node)| {
        node.partition == row.partition
            && Some(&node.name) == required
            && node.schedulable
            && node.reservations().is_empty()
            && node.available.fits(books.node_request(member))
    });
    if let (Some(placeholder), Some((node, _))) = (remembered, other) {
        events.push(Event::Allocation(AllocationEvent::SwapStarted {
            ask: member,
            placeholder,
            node,
        }));
    }
    (!events.is_empty()).then_some(events)
}

/// Places a member on a node other than the nodes of the placeholders. The RM must accept the node. Otherwise, returns
/// the question about such nodes.
fn where_accepted(
    books: &Books,
    row: &Application,
    (member, required): (AllocationId, Option<&Name>),
    placeholder: AllocationId,
) -> Option<Vec<Event>> {
    let may_have = |node: NodeId| {
        let verdict = books.verdict_on(member, node, QuestionMode::Reserve);
        let refused = verdict.is_some_and(|one| one.refusal.is_some());
        !refused && required.is_none_or(|name| books.node(node).name == *name)
    };
    let nodes: Vec<NodeId> = in_node_order(books, row.partition)
        .into_iter()
        .filter(|(_, node)| node.is_open() && node.available.fits(books.node_request(member)))
        .filter(|(_, node)| required.is_some() || suits(books, member, node))
        .map(|(id, _)| id)
        .filter(|id| may_have(*id))
        .collect();
    Some(match choose(books, row, (member, QuestionMode::Allocate), &nodes)? {
        Ok(node) => {
            vec![Event::Allocation(AllocationEvent::SwapStarted { ask: member, placeholder, node })]
        }
        Err(step) => step,
    })
}

/// Whether one more placeholder of this size completes the amount of the placeholders of an application.
pub(super) fn completes(books: &Books, row: &Application, ask: AllocationId) -> bool {
    row.gang.as_ref().is_some_and(|gang| {
        let held = books
            .allocations_of(books.allocation(ask).application)
            .filter(|(_, one)| one.placeholder && one.node.is_some())
            .fold(books.resources_of(ask).clone(), |sum, (id, _)| sum.plus(books.resources_of(id)));
        books.plain(row.partition, &held.pruned()) == books.types().amounts(&gang.ask)
    })
}
