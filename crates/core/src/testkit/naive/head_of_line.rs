//! Leaves with a head-of-line policy, directly from tenants §8. Each ask recomputes the earlier pending asks and the
//! amounts that the head needs.

use alloc::vec::Vec;
use core::cell::RefCell;

use crate::books::{Allocation, Application, Books, Node};
use crate::config::ApplicationOrder;
use crate::event::{ApplicationEvent, AskEvent, Event};
use crate::id::{AllocationId, ApplicationId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources};
use crate::time::Timestamp;

use super::preemption_attempts::{Tries, call};
use super::{
    activation, all_or_nothing, application_priority, applications_in_order, fair_share,
    has_headroom, holds, in_node_order, is_allowed, link_of, lost_members, may_start, never,
    on_any_node, pending, questions, replacement, reservations, suits, whole_gangs,
};

/// Whether the policy of a leaf has a line. In leaves that users share, the share of the user decides instead.
pub(super) fn has_one(books: &Books, leaf: QueueId) -> bool {
    let order = books.queue(leaf).settings.values.application_order;
    order.has_head_of_line() && !fair_share::takes_turns(books, leaf)
}

/// Returns the applications of a leaf with pending asks, in the order of its policy.
pub(super) fn in_order(books: &Books, now: Timestamp, leaf: QueueId) -> Vec<ApplicationId> {
    let values = &books.queue(leaf).settings.values;
    let key = |id: ApplicationId, row: &Application| {
        let waited = now.as_millis().saturating_sub(row.submitted.as_millis());
        let steps = waited / values.line.aging_interval.get();
        let grown = steps.saturating_mul(u64::from(values.line.aging_step));
        let grown = i64::try_from(grown.min(u64::from(values.line.aging_max))).unwrap_or(i64::MAX);
        let first = match values.application_order {
            ApplicationOrder::Priority => -(i64::from(application_priority(books, id)) + grown),
            ApplicationOrder::Urgency => {
                let until = row
                    .deadline
                    .at
                    .map(|at| at.as_millis().saturating_sub(row.deadline.estimate.get()));
                let until = until.unwrap_or_else(|| row.submitted.as_millis() + 3_600_000);
                i64::try_from(until).unwrap_or(i64::MAX)
            }
            _ => 0,
        };
        (lost_members(row) == 0, first, row.submitted, row.number)
    };
    let mut applications: Vec<_> = books
        .applications_in(leaf)
        .filter(|(_, row)| row.ask_count > 0)
        .map(|(id, row)| (key(id, row), id))
        .collect();
    applications.sort();
    applications.into_iter().map(|(_, id)| id).collect()
}

/// Runs the last pass in a leaf.
pub(super) fn in_leaf(
    books: &Books,
    now: Timestamp,
    leaf: QueueId,
    tries: &RefCell<Tries>,
) -> Option<Vec<Event>> {
    let mut line = Line { books, now, leaf, head: None };
    for id in applications_in_order(books, now, leaf) {
        let row = books.application(id);
        let ordinary = |ask: &Allocation| !replacement::waits_for_place(row, ask);
        if !pending(books, id).any(|(_, ask)| ordinary(ask)) {
            continue; // All of them are looked at in other passes.
        }
        let link = match link_of(books, id, row) {
            Ok(link) => link,
            Err(step) => return Some(step),
        };
        if activation::waits(books, row) {
            continue;
        }
        let together = all_or_nothing::is_one(books, id);
        let most = if together { 1 } else { usize::MAX };
        for (ask, ask_row) in super::in_order(books, id).into_iter().take(most) {
            if !ordinary(ask_row) {
                continue;
            }
            let reserved = ask_row.reservation().is_some();
            let gate = if reserved { Gate::Open } else { line.gate(ask) };
            let started = may_start(books, row, link);
            match gate {
                Gate::Closed => continue,
                Gate::Open | Gate::Overtakes if !started || questions::awaits(books, row, ask) => {
                    line.wait(ask);
                    continue;
                }
                Gate::Open | Gate::Overtakes => {}
            }
            let in_gang = !reserved && whole_gangs::is_whole(books, ask_row);
            if in_gang
                && (never::is_gang_too_large(books, ask) || whole_gangs::waits(books, now, ask))
            {
                line.wait(ask);
                continue;
            }
            let leads = line.head.is_none() && line.could_run(ask);
            let headroom = has_headroom(books, row, link, ask)
                && !holds::hold_back(books, ask, &all_or_nothing::wanted(books, ask));
            if !headroom || reserved {
                let may_call = leads && is_allowed(books, row, link, ask);
                let step = || call(books, now, tries, (ask, headroom), |_| false);
                if let Some(events) = may_call.then(step).flatten() {
                    return Some(events);
                }
                line.wait(ask);
                continue;
            }
            let whole = || in_gang.then(|| whole_gangs::place_all(books, now, ask)).flatten();
            let step = match ask_row.required_node() {
                _ if together => all_or_nothing::on_nodes(books, now, id),
                None if whole().is_some() => whole(),
                Some(node) => reservations::on_required_node(books, id, ask, node),
                None => {
                    let reserves = leads || line.passes(ask);
                    let tries = leads.then_some(tries);
                    on_any_node(books, now, row, (ask, ask_row), (tries, reserves))
                }
            };
            let Some(mut events) = step else {
                line.wait(ask);
                continue;
            };
            let placed = |event: &Event| matches!(event, Event::Ask(AskEvent::Placed { .. }));
            if let (Gate::Overtakes, Some(head)) = (gate, line.head)
                && events.iter().any(placed)
            {
                let application = books.allocation(head).application;
                events.push(Event::Application(ApplicationEvent::Overtaken {
                    application,
                    by: Some(id),
                }));
            }
            return Some(events);
        }
    }
    None
}

#[derive(Clone, Copy)]
enum Gate {
    Open,
    Overtakes,
    Closed,
}

/// State of the line during a pass along it.
struct Line<'books> {
    books: &'books Books,
    now: Timestamp,
    leaf: QueueId,
    head: Option<AllocationId>,
}

impl Line<'_> {
    /// Records that an ask waits. It becomes the head if it is the first ask that can ever run.
    fn wait(&mut self, ask: AllocationId) {
        if self.head.is_none() && self.could_run(ask) {
            self.head = Some(ask);
        }
    }

    fn could_run(&self, ask: AllocationId) -> bool {
        !never::can_never_start(self.books, ask)
    }

    /// Whether an ask starts in spite of the head: queues hold capacity for it, or it is a placeholder of a gang that
    /// gathers. Then it can also reserve a node.
    fn passes(&self, ask: AllocationId) -> bool {
        let row = self.books.allocation(ask);
        let is_task = all_or_nothing::is_one(self.books, row.application);
        (row.hold().is_some() && !is_task)
            || (whole_gangs::is_member(self.books, row)
                && whole_gangs::gathers(self.books, row.application))
    }

    fn gate(&self, ask: AllocationId) -> Gate {
        let Some(head) = self.head.filter(|_| !self.passes(ask)) else { return Gate::Open };
        let values = &self.books.queue(self.leaf).settings.values;
        let row = self.books.application(self.books.allocation(head).application);
        let takes = self.takes_from(head, ask);
        let waited = self.now.as_millis().saturating_sub(row.submitted.as_millis());
        let holds = values.application_order == ApplicationOrder::FifoStrict
            || row.overtaken >= values.line.max_overtakes
            || waited >= values.line.max_head_wait.get();
        match (takes, holds) {
            (false, _) => Gate::Open,
            (true, true) => Gate::Closed,
            (true, false) => Gate::Overtakes,
        }
    }

    /// Whether an ask takes amounts that the head lacks: in a queue, the root included, or on nodes.
    fn takes_from(&self, head: AllocationId, ask: AllocationId) -> bool {
        let (needs, wants) = (self.in_all(head), self.in_all(ask));
        let crowds = |queue: QueueId| {
            let row = self.books.queue(queue);
            let Some(max) = row.max.as_ref() else { return false };
            max.iter().any(|(resource, most)| {
                let (need, want) = (needs.get_or_zero(resource), wants.get_or_zero(resource));
                let used = row.allocated.get_or_zero(resource);
                let both = need > Quantity::ZERO && want > Quantity::ZERO;
                both && used.plus(need).plus(want) > most
            })
        };
        let wanted = self.books.node_request(ask);
        self.books.path_of(self.leaf).into_iter().any(crowds)
            || self
                .lacked_on_nodes(head)
                .into_iter()
                .any(|one| wanted.get_or_zero(one) > Quantity::ZERO)
    }

    /// Returns the amount of an ask and of all that must start with it: the members of its task, or its gang.
    fn in_all(&self, ask: AllocationId) -> Resources {
        let row = self.books.allocation(ask);
        let gang = self.books.application(row.application).gang.as_ref();
        match gang.filter(|_| whole_gangs::is_whole(self.books, row)) {
            Some(gang) => gang.ask.maximum(self.books.resources_of(ask)),
            None => all_or_nothing::wanted(self.books, ask),
        }
    }

    /// Returns the types of which no node has enough for the head. If each type is available, but not all on one node,
    /// returns all of them.
    fn lacked_on_nodes(&self, head: AllocationId) -> Vec<ResourceType> {
        let (books, row) = (self.books, self.books.allocation(head));
        let request = books.node_request(head);
        let own = row.reservation().map(|one| one.node);
        let partition = books.application(row.application).partition;
        let nodes = in_node_order(books, partition);
        let nodes: Vec<_> = nodes
            .into_iter()
            .filter(|(id, node)| {
                let is_free = node.is_open() || (node.schedulable && own == Some(*id));
                match row.required_node() {
                    Some(name) => node.name == *name,
                    None => suits(books, head, node) && is_free,
                }
            })
            .collect();
        let has_room = if whole_gangs::is_whole(books, row) {
            self.holds_gang(head, request, nodes.iter().map(|(_, node)| *node))
        } else if all_or_nothing::is_one(books, row.application) {
            all_or_nothing::on_nodes(books, self.now, row.application).is_some()
        } else {
            nodes.iter().any(|(_, node)| node.available.fits(request))
        };
        if has_room || (nodes.is_empty() && row.required_node().is_some()) {
            return Vec::new();
        }
        let types: Vec<_> = request.iter().filter(|(_, amount)| *amount > Quantity::ZERO).collect();
        let is_lacked = |(resource, amount): &(ResourceType, Quantity)| {
            nodes.iter().all(|(_, node)| node.available.get_or_zero(*resource) < *amount)
        };
        let lacked: Vec<_> = types.iter().copied().filter(is_lacked).collect();
        let found = if lacked.is_empty() { types } else { lacked };
        found.into_iter().map(|(resource, _)| resource).collect()
    }

    /// Whether nodes have enough free capacity for a complete gang with one size. Gangs with several sizes are not
    /// checked.
    fn holds_gang<'node>(
        &self,
        head: AllocationId,
        request: &Resources,
        nodes: impl Iterator<Item = &'node Node>,
    ) -> bool {
        let row = self.books.application(self.books.allocation(head).application);
        let mut missing = row.gang.as_ref().map(|gang| gang.ask.clone()).unwrap_or_default();
        let (size, mut places) = (self.books.resources_of(head), 0);
        while missing.iter().any(|(_, amount)| amount > Quantity::ZERO) {
            missing = missing.minus(size);
            places += 1;
            if missing.iter().any(|(_, amount)| amount < Quantity::ZERO) {
                return false; // No number of them makes up the gang.
            }
        }
        for node in nodes {
            let mut free = node.available.clone();
            while free.fits(request) && places > 0 {
                free = free.minus(request);
                places -= 1;
            }
        }
        places == 0
    }
}
