//! Nodes that are reserved for asks: the reserved pass and required nodes. Scheduling §9.4 and §6.3.

use alloc::vec::Vec;

use crate::books::{Allocation, Application, Books, Node, QuestionMode, StopRequest};
use crate::event::{AskEvent, Event};
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::resource::{Quantity, Resources};
use crate::schedule::RESERVATION_WAIT;
use crate::time::Timestamp;

use super::fair_share::takes_turns;
use super::preemption_attempts::required;
use super::questions::{awaits, choose};
use super::{
    all_or_nothing, has_headroom, holds, in_node_order, in_order, is_large_enough, link_of,
    may_start, never, place, suits, whole_gangs,
};

/// Runs the reserved pass for one application: for all of its asks, or only for those with (or without) preemption.
pub(super) fn in_application(
    books: &Books,
    now: Timestamp,
    (id, row): (ApplicationId, &Application),
    called: Option<bool>,
) -> Option<Vec<Event>> {
    if takes_turns(books, row.queue) && called != Some(true) {
        // All users who want capacity of a leaf are registered before the first placement.
        if let Err(step) = link_of(books, id, row) {
            return Some(step);
        }
    }
    let mut asks = in_order(books, id);
    let counts = |ask: &Allocation| called.is_none_or(|called| called == ask.preemption_triggered);
    asks.retain(|(_, ask)| ask.reservation().is_some() && counts(ask));
    if asks.is_empty() {
        return None;
    }
    let link = match link_of(books, id, row) {
        Ok(link) => link,
        Err(step) => return Some(step),
    };
    let end = |ask| alloc::vec![Event::Ask(AskEvent::Unreserved { ask })];
    let never = |ask: &AllocationId| never::can_never_start(books, *ask);
    if !may_start(books, row, link) {
        return asks.iter().map(|(ask, _)| *ask).find(never).map(end);
    }
    for (ask, ask_row) in &asks {
        if never(ask) {
            return Some(end(*ask));
        }
        if awaits(books, row, *ask) {
            continue;
        }
        if whole_gangs::waits(books, now, *ask) {
            return Some(end(*ask)); // It would hold a node for nothing.
        }
        let reservation = ask_row.reservation()?;
        if !has_headroom(books, row, link, *ask) {
            if now.since(reservation.since) > RESERVATION_WAIT {
                return Some(alloc::vec![Event::Ask(AskEvent::Unreserved { ask: *ask })]);
            }
        } else if holds::hold_back(books, *ask, &all_or_nothing::wanted(books, *ask)) {
            // Its node remains reserved.
        } else if books.node(reservation.node).available.fits(books.node_request(*ask)) {
            match choose(books, row, (*ask, QuestionMode::Allocate), &[reservation.node]) {
                Some(Ok(node)) => return Some(place(books, row, *ask, node)),
                Some(Err(step)) => return Some(step),
                None if books.allocations().iter().any(|(_, one)| {
                    one.node == Some(reservation.node) && one.mark == StopRequest::Preempted
                }) => {}
                None => return Some(alloc::vec![Event::Ask(AskEvent::Unreserved { ask: *ask })]),
            }
        } else if let Some(events) = required(books, *ask, reservation.node) {
            return Some(events);
        }
    }
    for (ask, ask_row) in &asks {
        let waits = ask_row.required_node().is_some() || awaits(books, row, *ask);
        let held = || holds::hold_back(books, *ask, &all_or_nothing::wanted(books, *ask));
        if waits || !has_headroom(books, row, link, *ask) || held() {
            continue;
        }
        let wanted = books.node_request(*ask);
        let nodes = in_node_order(books, row.partition);
        let fits =
            |node: &Node| node.is_open() && node.available.fits(wanted) && suits(books, *ask, node);
        let nodes = nodes.into_iter().filter(|(_, node)| fits(node)).map(|(id, _)| id);
        let nodes: Vec<NodeId> = nodes.collect();
        match choose(books, row, (*ask, QuestionMode::Allocate), &nodes) {
            Some(Ok(node)) => return Some(place(books, row, *ask, node)),
            Some(Err(step)) => return Some(step),
            None => {}
        }
    }
    None
}

/// Returns whether a partition allows one more reservation for an application that has this row. Counts all of them.
pub(super) fn are_allowed(books: &Books, row: &Application) -> bool {
    let partition = books.partition(row.partition);
    let Some(share) = partition.settings.reservation_share else { return true };
    let nodes = books.nodes().iter().filter(|(_, node)| node.partition == row.partition).count();
    let reserved = books.allocations().iter().filter(|(_, ask)| ask.reservation().is_some());
    let applications = reserved.map(|(_, ask)| books.application(ask.application));
    let mine: Vec<u64> =
        applications.filter(|one| one.partition == row.partition).map(|one| one.number).collect();
    let share = share.millionths().cast_unsigned();
    let most = (nodes as u64 * share / 1_000_000).max(1);
    (mine.len() as u64) < most && !mine.contains(&row.number)
}

/// Returns the first ask whose reservation is in vain while another ask of its partition waits without one.
pub(super) fn in_vain(books: &Books, now: Timestamp) -> Option<AllocationId> {
    let partition_of = |row: &Allocation| books.application(row.application).partition;
    let waits = |mine: &Allocation| {
        books.allocations().iter().any(|(_, row)| {
            row.is_pending()
                && row.reservation().is_none()
                && partition_of(row) == partition_of(mine)
        })
    };
    let is_vain = |row: &Allocation| {
        let limits = books.partition(partition_of(row)).settings.reservation_share.is_some();
        let last = row.reservation().map(|one| one.nearer);
        limits
            && row.required_node().is_none()
            && !row.preemption_triggered
            && last.is_some_and(|last| now.since(last).get() >= 10 * 60 * 1_000)
    };
    let rows = books.allocations().iter();
    rows.filter(|(_, row)| is_vain(row) && waits(row)).map(|(id, _)| id).min()
}

/// Returns the first ask with a reservation that the hold of another ask blocks.
pub(in crate::testkit) fn behind_hold(books: &Books) -> Option<AllocationId> {
    let blocked =
        |id: AllocationId| holds::hold_back(books, id, &all_or_nothing::wanted(books, id));
    let reserved = books.allocations().iter().filter(|(_, row)| row.reservation().is_some());
    reserved.map(|(id, _)| id).filter(|id| blocked(*id)).min()
}

/// Places or reserves an ask that requires one node and has no reservation.
pub(super) fn on_required_node(
    books: &Books,
    id: ApplicationId,
    ask: AllocationId,
    node: &Name,
) -> Option<Vec<Event>> {
    let row = books.application(id);
    let (node, on) =
        books.nodes().iter().find(|(_, on)| on.partition == row.partition && on.name == *node)?;
    let wanted = books.node_request(ask);
    if !is_large_enough(on, wanted) {
        return None;
    }
    let required = |ask: &AllocationId| books.allocation(*ask).required_node().is_some();
    let holders = on.reservations().iter().copied();
    let (firm, ordinary): (Vec<_>, Vec<_>) = holders.partition(required);
    let mut events: Vec<Event> =
        ordinary.into_iter().map(|ask| Event::Ask(AskEvent::Unreserved { ask })).collect();
    if firm.is_empty() && on.available.fits(wanted) {
        match choose(books, row, (ask, QuestionMode::Allocate), &[node])? {
            Ok(node) => events.extend(place(books, row, ask, node)),
            Err(step) => return Some(step),
        }
    } else {
        let verdict = books.verdict_on(ask, node, QuestionMode::Allocate);
        if on.available.fits(wanted) && verdict.is_some_and(|one| one.refusal.is_some()) {
            return None;
        }
        match choose(books, row, (ask, QuestionMode::Reserve), &[node])? {
            Ok(node) => events.push(Event::Ask(AskEvent::Reserved { ask, node })),
            Err(step) => return Some(step),
        }
    }
    Some(events)
}

/// Returns the node with the best fit for an ask: the lowest score, and the first of equal nodes.
pub(super) fn best(nodes: &[(NodeId, &Node)], wanted: &Resources) -> Option<NodeId> {
    let mut best: Option<(f64, NodeId)> = None;
    for (id, node) in nodes {
        let score = score(wanted, &node.available);
        if best.is_none_or(|(least, _)| score < least) {
            best = Some((score, *id));
        }
    }
    best.map(|(_, id)| id)
}

#[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "as the specification")]
fn score(wanted: &Resources, free: &Resources) -> f64 {
    let part = |(resource, free): (_, Quantity)| {
        let wanted = wanted.get_or_zero(resource);
        if free <= Quantity::ZERO {
            0.0
        } else if wanted <= Quantity::ZERO {
            1.0
        } else if free > wanted {
            (free.get() as f64 - wanted.get() as f64) / free.get() as f64
        } else {
            0.0
        }
    };
    free.iter().map(part).sum()
}
