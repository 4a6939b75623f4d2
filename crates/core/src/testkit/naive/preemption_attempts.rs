//! Attempts to stop allocations for an ask, directly from scheduling §11.2 and §11.6. One attempt applies to all equal
//! asks.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::cmp::Reverse;

use crate::books::{
    Allocation, ApplicationState, Books, PreemptionTry, QuestionSubject, StopRequest,
};
use crate::event::{AllocationEvent, AskEvent, Event, PreemptionCause};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::resource::Resources;
use crate::time::{Millis, Timestamp};

use super::super::naive_preempt::{Finding, plan};
use super::fair_share::takes_turns;
use super::questions::has_enough;
use super::replacement::waits_for_place;
use super::{
    all_or_nothing, applications_in_order, head_of_line, in_order, lend, never, whole_gangs,
};

/// Attempts of one cycle.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// Events about unsuccessful attempts.
    pub(super) events: Vec<Event>,
    /// The first checked ask of each class.
    seen: Vec<AllocationId>,
    leaves: Vec<QueueId>,
}

/// Tries to find victims for the equals of an ask that was held back. Returns the events if they form a step. `keeps`
/// selects the asks that can get a reservation instead.
pub(super) fn call(
    books: &Books,
    now: Timestamp,
    tries: &RefCell<Tries>,
    (ask, nodes_tried): (AllocationId, bool),
    keeps: impl Fn(&Allocation) -> bool,
) -> Option<Vec<Event>> {
    if never::can_never_start(books, ask) {
        return None;
    }
    let (row, equals) = (books.allocation(ask), equals(books, now, ask)?);
    let leaf = books.application(row.application).queue;
    let mut tries = tries.borrow_mut();
    if tries.seen.iter().any(|one| equals.contains(one)) {
        return None;
    }
    tries.seen.push(ask);
    let delay = books.queue(leaf).settings.values.preemption_delay;
    let ripe = |ask: &AllocationId| books.allocation(*ask).created + delay;
    let callers = if head_of_line::has_one(books, leaf) { &equals[..1] } else { &equals[..] };
    let caller = callers.iter().copied().find(|one| ripe(one) <= now)?;
    let oldest = callers.iter().map(ripe).min()?;
    let tried = equals.iter().filter_map(|one| books.last_try(*one)).max();
    let partition = books.application(row.application).partition;
    let soon = |one: PreemptionTry| is_soon(books, partition, one, (oldest, now));
    let count = tries.leaves.iter().filter(|one| **one == leaf).count();
    if tried.is_some_and(soon) || count >= 10 || keeps(books.allocation(caller)) {
        return None;
    }
    let application = books.application(row.application);
    let victims = books.partition(application.partition).questions.is_some_and(|one| one.victims);
    if victims && has_enough(books, application) {
        return Some(Vec::new());
    }
    tries.leaves.push(leaf);
    let (given_up, finding) = plan(books, caller, now, nodes_tried);
    let mut events: Vec<Event> =
        given_up.iter().map(|ask| Event::Ask(AskEvent::Unreserved { ask: *ask })).collect();
    if let Finding::Ask(removals) = finding {
        let subject = QuestionSubject::Removals(removals);
        events.push(Event::Ask(AskEvent::Asked { ask: caller, subject }));
        return Some(events);
    }
    let cause = match finding {
        Finding::StopWithin(..) => PreemptionCause::Share(caller),
        Finding::StopBelow(..) => PreemptionCause::Priority(caller),
        _ => PreemptionCause::Guarantee(caller),
    };
    let (node, victims) = match finding {
        Finding::Stop(node, victims)
        | Finding::StopWithin(node, victims)
        | Finding::StopBelow(node, victims) => (Some(node), victims),
        _ => (None, Vec::new()),
    };
    let is_observed = books.partition(application.partition).settings.preemption.observe_only;
    let Some(node) = node.filter(|_| !is_observed) else {
        let observed =
            |victim| Event::Allocation(AllocationEvent::PreemptionObserved { victim, cause });
        events.extend(victims.into_iter().map(observed));
        events.push(Event::Ask(AskEvent::PreemptionTried { ask: caller }));
        if given_up.is_empty() {
            tries.events.append(&mut events);
            return None;
        }
        return Some(events);
    };
    events.extend(
        victims
            .into_iter()
            .map(|victim| Event::Allocation(AllocationEvent::Preempted { victim, cause })),
    );
    events.push(Event::Ask(AskEvent::PreemptionTriggered { ask: caller }));
    let reservation = books.allocation(caller).reservation();
    if reservation.is_none_or(|reservation| reservation.node != node) {
        events.extend(reservation.map(|_| Event::Ask(AskEvent::Unreserved { ask: caller })));
        events.push(Event::Ask(AskEvent::Reserved { ask: caller, node }));
    }
    Some(events)
}

/// Whether another attempt would be too soon after `one`. `oldest` is the time at which the first ask of the class
/// became eligible.
fn is_soon(
    books: &Books,
    partition: PartitionId,
    one: PreemptionTry,
    (oldest, now): (Timestamp, Timestamp),
) -> bool {
    // Running allocations might have reached their minimum run time in the meantime.
    let spares = books.queues().iter().any(|(_, queue)| {
        queue.partition == partition
            && queue.settings.preemption.min_runtime.is_some_and(|least| least > Millis::ZERO)
    });
    let unchanged = !spares
        && oldest <= one.at
        && one.changes == books.changes()
        && !any_is_given_up(books, partition, (one.at, now));
    now < one.at + Millis::from_secs(15) || unchanged
}

/// Whether a reserved node becomes available to asks of higher priority between two times, because the reservation is
/// too old.
fn any_is_given_up(
    books: &Books,
    partition: PartitionId,
    (tried, now): (Timestamp, Timestamp),
) -> bool {
    let long = Millis::from_secs(3_600 + 3_600 + 2);
    books.allocations().iter().any(|(_, row)| {
        row.reservation().is_some_and(|reservation| {
            tried <= reservation.since + long && now > reservation.since + long
        }) && row.required_node().is_none()
            && !row.preemption_triggered
            && books.application(row.application).partition == partition
    })
}

/// Whether allocations can ever be stopped for an ask.
fn can_call(books: &Books, row: &Allocation) -> bool {
    let application = books.application(row.application);
    let guarantees =
        |queue: QueueId| books.queue(queue).guaranteed.as_ref().is_some_and(|one| !one.is_empty());
    row.may_preempt
        && !all_or_nothing::is_one(books, row.application)
        && !row.preemption_triggered
        && row.required_node().is_none()
        && books.partition(application.partition).settings.preemption.enabled
        && (books.path_of(application.queue).into_iter().any(guarantees)
            || books.queue(application.queue).settings.preemption.is_by_priority()
                && !takes_turns(books, application.queue))
}

/// Returns the asks that are evaluated together with this ask, in the order of their leaf. `None` if nothing is ever
/// stopped for it.
fn equals(books: &Books, now: Timestamp, ask: AllocationId) -> Option<Vec<AllocationId>> {
    let row = books.allocation(ask);
    if !can_call(books, row) {
        return None;
    }
    if row.reservation().is_some() || books.inquires(ask) {
        return Some(alloc::vec![ask]);
    }
    let stands = |id: ApplicationId| {
        let one = books.application(id);
        let starting = one.state == ApplicationState::Accepted;
        // If applications back off, each application is visited separately.
        let backs_off = books.queue(one.queue).settings.values.backoff > 0;
        let pauses = (backs_off || one.backed_off.is_some())
            && !takes_turns(books, one.queue)
            && !head_of_line::has_one(books, one.queue);
        let alone = pauses.then_some(id);
        let borrows = lend::borrows(books, id);
        (one.link, starting && !one.allocating, starting && !one.counted, alone, borrows)
    };
    // Each gang is evaluated separately.
    let gang = |one: &Allocation| {
        let whole = whole_gangs::is_whole(books, one).then_some(one.application);
        let is_member = whole_gangs::is_member(books, one);
        (is_member, whole, is_member && whole_gangs::gathers(books, one.application))
    };
    // An ask with a hold, too, except in a task of several members.
    let has_hold =
        |one: &Allocation| one.hold().is_some() && !all_or_nothing::is_one(books, one.application);
    let equal = |(id, one): &(AllocationId, &Allocation)| {
        can_call(books, one)
            && !books.inquires(*id)
            && one.reservation().is_none()
            && !waits_for_place(books.application(one.application), one)
            && (one.shape, one.priority) == (row.shape, row.priority)
            && gang(one) == gang(row)
            && has_hold(one) == has_hold(row)
            && stands(one.application) == stands(row.application)
    };
    let leaf = books.application(row.application).queue;
    let asks =
        applications_in_order(books, now, leaf).into_iter().flat_map(|id| in_order(books, id));
    Some(asks.filter(equal).map(|(id, _)| id).collect())
}

/// Stops allocations on the required node of an ask. The node is reserved for the ask and lacks free capacity.
pub(super) fn required(books: &Books, ask: AllocationId, node: NodeId) -> Option<Vec<Event>> {
    let row = books.allocation(ask);
    if row.required_node().is_none() || row.preemption_triggered {
        return None;
    }
    let wanted = books.node_request(ask);
    let mut candidates: Vec<(AllocationId, &Allocation)> = books
        .allocations()
        .iter()
        .filter(|(id, one)| {
            one.node == Some(node)
                && one.is_allocated()
                && one.required_node().is_none()
                && one.mark == StopRequest::None
                && one.priority <= row.priority
                && books.node_request(*id).shares_type(wanted)
        })
        .collect();
    candidates.sort_by_key(|(id, one)| {
        let class = if one.originator { 3 } else { 1 + u8::from(!one.preemptable) };
        let size = books.node_request(*id).total();
        (class, one.priority, Reverse(one.created), size, Reverse(one.number.abs()))
    });
    let (mut sum, mut events) = (Resources::new(), Vec::new());
    let cause = PreemptionCause::RequiredNode(ask);
    for (victim, _) in candidates {
        if !sum.is_at_least(wanted) {
            sum.add(books.node_request(victim));
            events.push(Event::Allocation(AllocationEvent::Preempted { victim, cause }));
        }
    }
    if events.is_empty() || !sum.plus(&books.node(node).available).is_at_least(wanted) {
        return None;
    }
    events.push(Event::Ask(AskEvent::PreemptionTriggered { ask }));
    Some(events)
}
