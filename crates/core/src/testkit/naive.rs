//! A scheduler that sorts and scans everything at every step, written directly from the specification. It shares only
//! the comparison of shares with the real scheduler.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::cmp::Ordering;

use crate::books::{
    Allocation, Application, ApplicationState, Books, Level, LimitSubject, Node, QuestionMode,
    Queue, TrackerLink,
};
use crate::config::{ApplicationOrder, LimitPrecedence, NodeOrder, PriorityPolicy};
use crate::event::{ApplicationEvent, AskEvent, Event};
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources};
use crate::schedule::RESERVATION_DELAY;
use crate::time::Timestamp;

mod activation;
mod all_or_nothing;
mod evict;
mod fair_share;
mod head_of_line;
mod holds;
pub(super) mod lend;
mod never;
mod preemption_attempts;
mod questions;
mod replacement;
mod reservations;
mod whole_gangs;

pub use evict::evictions;
pub use holds::wrong_hold;
use preemption_attempts::Tries;
pub(super) use reservations::behind_hold;

/// Returns the events of the next step, or an empty list if nothing can change.
pub fn next(books: &Books, now: Timestamp) -> Vec<Event> {
    let activated = activation::next(books);
    if !activated.is_empty() {
        return activated;
    }
    let tries = RefCell::new(Tries::default());
    let passes = |root| {
        let reserved = |leaf| {
            let look = |called: Option<bool>| {
                in_leaf(books, now, leaf, &|id, row| {
                    reservations::in_application(books, now, (id, row), called)
                })
            };
            if !fair_share::takes_turns(books, leaf) {
                return look(None);
            }
            // Capacity that preemption freed is reserved for the asks that caused it.
            look(Some(true)).or_else(|| look(Some(false)))
        };
        let swaps = |leaf| {
            in_leaf(books, now, leaf, &|id, row| replacement::in_application(books, id, row))
        };
        let others = |leaf| {
            if head_of_line::has_one(books, leaf) {
                return head_of_line::in_leaf(books, now, leaf, &tries);
            }
            fair_share::in_turn(books, now, leaf, &|id, whose: Whose<'_>| {
                in_application(books, now, id, &tries, whose)
            })
        };
        let reserved = || in_queue(books, root, &reserved);
        let swaps = || in_queue(books, root, &swaps);
        let others = || in_queue(books, root, &others);
        let lent = || in_queue(books, root, &|leaf| lend::in_leaf(books, now, leaf));
        reserved().or_else(swaps).or_else(others).or_else(lent)
    };
    let step = books
        .partitions()
        .iter()
        .filter(|(_, partition)| books.queue(partition.root).max.is_some())
        .filter(|(id, _)| !books.is_held(**id))
        // An empty list of events means that the RM of the partition has its maximum of open questions.
        .find_map(|(_, partition)| passes(partition.root).filter(|events| !events.is_empty()));
    let mut events = tries.take().events;
    events.extend(step.into_iter().flatten());
    if events.is_empty() {
        let useless = reservations::in_vain(books, now);
        let useless = useless.or_else(|| behind_hold(books));
        events.extend(useless.map(|ask| Event::Ask(AskEvent::Unreserved { ask })));
    }
    events
}

/// Function that one pass applies to an application.
type Look<'a> = &'a dyn Fn(ApplicationId, &Application) -> Option<Vec<Event>>;

/// Function that one pass applies to a leaf.
type LookAtLeaf<'a> = &'a dyn Fn(QueueId) -> Option<Vec<Event>>;

/// Filter for the asks of an application that a pass checks.
type Whose<'a> = &'a dyn Fn(AllocationId, &Allocation) -> bool;

fn in_queue(books: &Books, queue: QueueId, look: LookAtLeaf<'_>) -> Option<Vec<Event>> {
    let row = books.queue(queue);
    if row.leaf {
        return look(queue);
    }
    let mut children: Vec<(QueueId, &Queue)> = books
        .children(queue)
        .filter(|(_, child)| child.pending.is_strictly_positive())
        .filter(|(_, child)| child.accepts_allocations())
        .collect();
    children.sort_by(|left, right| compare_queues(books, row, *left, *right));
    children.into_iter().find_map(|(child, _)| in_queue(books, child, look))
}

fn compare_queues(
    books: &Books,
    parent: &Queue,
    (left, l): (QueueId, &Queue),
    (right, r): (QueueId, &Queue),
) -> Ordering {
    let share = |id, queue: &Queue| {
        queue.allocated.fair_share(queue.guaranteed.as_ref(), books.fair_max(id).as_ref())
    };
    let by_priority = queue_priority(books, right).cmp(&queue_priority(books, left));
    let by_share = share(left, l).cmp(&share(right, r));
    let by_pending = r.pending.total().cmp(&l.pending.total());
    let (first, second) = if parent.settings.values.priority_first {
        (by_priority, by_share)
    } else {
        (by_share, by_priority)
    };
    first.then(second).then(by_pending).then(l.path.cmp(&r.path))
}

/// Returns the priority of a queue toward its siblings.
fn queue_priority(books: &Books, id: QueueId) -> i32 {
    let queue = books.queue(id);
    let waiting = if queue.leaf {
        books.applications_in(id).map(|(id, _)| application_priority(books, id)).max()
    } else {
        books.children(id).map(|(id, _)| queue_priority(books, id)).max()
    };
    let values = &queue.settings.values;
    match waiting.unwrap_or(i32::MIN) {
        i32::MIN => i32::MIN,
        _ if values.priority_policy == PriorityPolicy::Fence => values.priority_offset,
        waiting => waiting.saturating_add(values.priority_offset),
    }
}

fn application_priority(books: &Books, application: ApplicationId) -> i32 {
    pending(books, application).map(|(_, ask)| ask.priority).max().unwrap_or(i32::MIN)
}

fn pending(
    books: &Books,
    application: ApplicationId,
) -> impl Iterator<Item = (AllocationId, &Allocation)> {
    books.allocations_of(application).filter(|(_, row)| row.is_pending())
}

fn in_leaf(books: &Books, now: Timestamp, queue: QueueId, look: Look<'_>) -> Option<Vec<Event>> {
    let mut applications = applications_in_order(books, now, queue).into_iter();
    applications.find_map(|id| look(id, books.application(id)))
}

/// Returns the applications of a leaf with pending asks, in the order of the leaf.
fn applications_in_order(books: &Books, now: Timestamp, queue: QueueId) -> Vec<ApplicationId> {
    let leaf = books.queue(queue);
    if leaf.settings.values.application_order.has_head_of_line() {
        return head_of_line::in_order(books, now, queue);
    }
    let mut applications: Vec<(ApplicationId, &Application)> =
        books.applications_in(queue).filter(|(_, row)| row.ask_count > 0).collect();
    applications.sort_by(|(left, l), (right, r)| {
        let by_priority =
            application_priority(books, *right).cmp(&application_priority(books, *left));
        let by_policy = match leaf.settings.values.application_order {
            ApplicationOrder::Fair => l.real().compare_usage(&r.real(), leaf.guaranteed.as_ref()),
            _ => l.submitted.cmp(&r.submitted),
        };
        let (first, second) = if leaf.settings.values.priority_first {
            (by_priority, by_policy)
        } else {
            (by_policy, by_priority)
        };
        let by_repair = (lost_members(l) == 0).cmp(&(lost_members(r) == 0));
        by_repair.then(first).then(second).then(l.number.cmp(&r.number))
    });
    applications.into_iter().map(|(id, _)| id).collect()
}

/// Returns how many members a gang lost and did not replace. Such applications precede the others of their leaf.
fn lost_members(application: &Application) -> u32 {
    application.gang.as_ref().map_or(0, |gang| gang.lost)
}

fn in_application(
    books: &Books,
    now: Timestamp,
    id: ApplicationId,
    tries: &RefCell<Tries>,
    whose: Whose<'_>,
) -> Option<Vec<Event>> {
    let row = books.application(id);
    let ordinary = |ask: &Allocation| !replacement::waits_for_place(row, ask);
    if !pending(books, id).any(|(_, ask)| ordinary(ask)) {
        return None; // All of them are looked at in other passes.
    }
    let link = match link_of(books, id, row) {
        Ok(link) => link,
        Err(step) => return Some(step),
    };
    if activation::waits(books, row) || !may_start(books, row, link) {
        return None;
    }
    let together = all_or_nothing::is_one(books, id);
    let backs_off = row.backed_off.is_some_and(|until| until > now)
        && !fair_share::takes_turns(books, row.queue)
        && !together;
    let mut asks = if backs_off { Vec::new() } else { in_order(books, id) };
    let mut values = books.queue(row.queue).settings.values;
    if together {
        asks.truncate(1); // With it all others are tried.
    }
    if fair_share::takes_turns(books, row.queue) || together {
        values.backoff = 0; // An ask that waits for the turn of its user does not fail.
    }
    let mut others = asks.iter().filter(|(_, ask)| ordinary(ask));
    let all_reserved = others.all(|(_, ask)| ask.reservation().is_some());
    let mut failed = 0;
    for (ask, ask_row) in asks {
        if values.backoff > 0 && !all_reserved && failed >= values.backoff {
            let until = now + values.backoff_delay;
            return Some(alloc::vec![Event::Application(ApplicationEvent::BackedOff {
                application: id,
                until
            })]);
        }
        if !ordinary(ask_row) || !whose(ask, ask_row) || questions::awaits(books, row, ask) {
            continue;
        }
        let in_gang = whole_gangs::is_whole(books, ask_row);
        if in_gang && (never::is_gang_too_large(books, ask) || whole_gangs::waits(books, now, ask))
        {
            continue;
        }
        let call = |tried| preemption_attempts::call(books, now, tries, (ask, tried), |_| false);
        let headroom = has_headroom(books, row, link, ask)
            && !holds::hold_back(books, ask, &all_or_nothing::wanted(books, ask));
        // If the ask has a reserved node, the reserved pass has already tried all other nodes.
        if !headroom || ask_row.reservation().is_some() {
            let allowed = is_allowed(books, row, link, ask);
            if let Some(events) = allowed.then(|| call(headroom)).flatten() {
                return Some(events);
            }
            failed += u64::from(headroom && ask_row.required_node().is_none());
            continue;
        }
        if let Some(node) = ask_row.required_node() {
            match reservations::on_required_node(books, id, ask, node) {
                None => continue,
                step => return step,
            }
        }
        if together {
            return all_or_nothing::on_nodes(books, now, id);
        }
        if in_gang && let Some(events) = whole_gangs::place_all(books, now, ask) {
            return Some(events);
        }
        if let Some(events) = on_any_node(books, now, row, (ask, ask_row), (Some(tries), true)) {
            return Some(events);
        }
        failed += 1;
    }
    None
}

/// Returns a placement on the first node with enough free capacity. Otherwise, a preemption attempt if `tries` is given,
/// or a reservation if `reserves` is true.
fn on_any_node(
    books: &Books,
    now: Timestamp,
    row: &Application,
    (ask, ask_row): (AllocationId, &Allocation),
    (tries, reserves): (Option<&RefCell<Tries>>, bool),
) -> Option<Vec<Event>> {
    let wanted = books.node_request(ask);
    let mut nodes = in_node_order(books, row.partition);
    nodes.retain(|(_, node)| node.is_open() && is_large_enough(node, wanted));
    nodes.retain(|(_, node)| suits(books, ask, node));
    let roomy = nodes.iter().filter(|(_, node)| node.available.fits(wanted));
    let roomy: Vec<NodeId> = roomy.map(|(id, _)| *id).collect();
    match questions::choose(books, row, (ask, QuestionMode::Allocate), &roomy) {
        Some(Ok(node)) => return Some(place(books, row, ask, node)),
        Some(Err(step)) => return Some(step),
        None => {}
    }
    if !reserves {
        return None;
    }
    nodes.retain(|(id, node)| whole_gangs::leaves_enough(books, ask, (*id, node)));
    let best = questions::to_keep(books, row, ask, &nodes);
    let best = best.filter(|_| reservations::are_allowed(books, row));
    let is_old = |ask: &Allocation| {
        let ended = row.reservation_ended.unwrap_or_default();
        now.since(ask.created.max(ended)) > RESERVATION_DELAY
    };
    let keeps = |row: &Allocation| best.is_some() && is_old(row);
    let call = |tries| preemption_attempts::call(books, now, tries, (ask, true), keeps);
    if let Some(events) = tries.and_then(call) {
        return Some(events);
    }
    match best.filter(|_| is_old(ask_row))? {
        Ok(node) => Some(alloc::vec![Event::Ask(AskEvent::Reserved { ask, node })]),
        Err(step) => Some(step),
    }
}

/// Whether an ask fits on an otherwise empty node, except for the foreign use.
pub(super) fn is_large_enough(node: &Node, wanted: &Resources) -> bool {
    let mut wanted = wanted.iter();
    wanted.all(|(resource, wanted)| {
        let foreign = node.occupied.get_or_zero(resource);
        wanted <= node.capacity.get_or_zero(resource).minus(foreign).max(Quantity::ZERO)
    })
}

/// Whether a node has the node label of the ask and is not on its block list. Both are compared by name.
pub(super) fn suits(books: &Books, ask: AllocationId, node: &Node) -> bool {
    let label = node.attributes.get("headroom/label").filter(|label| !label.is_empty());
    let root = books.queue(books.partition(node.partition).root);
    let exclusive = root.settings.node_labels.iter().flat_map(|labels| &labels.exclusive);
    let closed =
        exclusive.clone().any(|one| label.is_some_and(|label| one == label || *one == "*"));
    let wish = books.node_selector_of(ask).cloned().unwrap_or_default();
    let named = if wish.label.is_some() { label == wish.label.as_ref() } else { !closed };
    named && !wish.blocked.contains(&node.name)
}

/// Returns the user and group that an application is charged to. The first check of the limits chooses the group, and
/// returns that step as an error.
fn link_of(books: &Books, id: ApplicationId, row: &Application) -> Result<TrackerLink, Vec<Event>> {
    let trackers = &books.partition(row.partition).trackers;
    let group = || trackers.group_for(&books.path_of(row.queue), &row.groups);
    let linked = row.link.filter(|_| !row.lacks_group());
    linked.ok_or_else(|| {
        alloc::vec![Event::Application(ApplicationEvent::Linked {
            application: id,
            group: group()
        })]
    })
}

/// Returns the pending asks of an application, in its order.
fn in_order(books: &Books, id: ApplicationId) -> Vec<(AllocationId, &Allocation)> {
    let mut asks: Vec<(AllocationId, &Allocation)> = pending(books, id).collect();
    asks.sort_by_key(|(_, ask)| (-i64::from(ask.priority), ask.created, ask.number));
    asks
}

fn place(books: &Books, row: &Application, ask: AllocationId, node: NodeId) -> Vec<Event> {
    let mut events = alloc::vec![Event::Ask(AskEvent::Placed { ask, node })];
    let asked = books.allocation(ask);
    let runs = !asked.placeholder || replacement::completes(books, row, ask);
    let application = asked.application;
    if let Some(state) = row.state.run().filter(|_| runs) {
        events.push(Event::Application(ApplicationEvent::Moved {
            application,
            state,
            timer: None,
        }));
    } else if row.state == ApplicationState::Accepted && !row.allocating {
        events.push(Event::Application(ApplicationEvent::Allocating { application }));
    }
    events
}

fn has_headroom(books: &Books, row: &Application, link: TrackerLink, ask: AllocationId) -> bool {
    fits_headroom(books, row, link, &all_or_nothing::wanted(books, ask))
}

/// Whether the limits of queues, user, and group allow this amount.
fn fits_headroom(books: &Books, row: &Application, link: TrackerLink, wanted: &Resources) -> bool {
    let room = books.up(row.queue).all(|(_, queue)| has_room(queue, wanted));
    room && allows(books, row, link, wanted)
}

/// Whether the limits of user and group allow the amount of an ask.
fn is_allowed(books: &Books, row: &Application, link: TrackerLink, ask: AllocationId) -> bool {
    allows(books, row, link, &all_or_nothing::wanted(books, ask))
}

fn allows(books: &Books, row: &Application, link: TrackerLink, wanted: &Resources) -> bool {
    holding(books, row, link)
        .iter()
        .all(|level| level.max().is_none_or(|max| max.minus_existing(&level.used()).allows(wanted)))
        && !fair_share::is_capped(books, row, wanted)
}

/// Whether a queue has this headroom. A type without a node is unlimited here. The node scan finds later that no node
/// has it.
fn has_room(queue: &Queue, wanted: &Resources) -> bool {
    let left = queue.max.as_ref().map(|max| max.minus_existing(&queue.allocated));
    left.is_none_or(|left| left.allows(wanted))
}

/// Whether the limits of the number of applications allow it to run. Also true if it runs already.
fn may_start(books: &Books, row: &Application, link: TrackerLink) -> bool {
    if row.state != ApplicationState::Accepted {
        return true;
    }
    let room = |running: u64, max: u64| max == 0 || running < max;
    let running = |queue: &Queue| queue.running + queue.allocating;
    let mut queues = books.up(row.queue).map(|(_, queue)| queue);
    let counted = |q: &Queue| room(running(q), q.settings.max_applications);
    let mut levels = holding(books, row, link).into_iter();
    (row.allocating || queues.all(counted))
        && (row.counted || levels.all(|level| room(level.running, level.max_applications())))
}

/// Returns the levels whose limits apply: all levels of the user and of the group. Where limits that name the user take
/// precedence, only the group levels of the ancestors of the topmost queue that names the user.
fn holding<'books>(
    books: &'books Books,
    row: &Application,
    link: TrackerLink,
) -> Vec<Level<'books>> {
    let partition = books.partition(row.partition);
    let trackers = &partition.trackers;
    let path = books.path_of(row.queue);
    let subject = LimitSubject::User(row.user.clone());
    let names_subject =
        |queue: &QueueId| trackers.limits_at(*queue).iter().any(|one| one.subject == subject);
    let above = match partition.settings.limit_precedence {
        LimitPrecedence::Both => path.len(),
        LimitPrecedence::User => path.iter().position(names_subject).unwrap_or(path.len()),
    };
    let at = |level: LevelId, queue: &QueueId| {
        trackers.up(level).map(|(_, level)| level).find(|level| level.queue == *queue)
    };
    let user = path.iter().filter_map(|queue| at(link.user, queue));
    let group = link.group.level().into_iter();
    let group = group.flat_map(|level| path[..above].iter().filter_map(move |q| at(level, q)));
    user.chain(group).collect()
}

#[expect(clippy::float_arithmetic, reason = "as the specification")]
fn in_node_order(books: &Books, partition: PartitionId) -> Vec<(NodeId, &Node)> {
    let mut nodes: Vec<(NodeId, &Node)> =
        books.nodes().iter().filter(|(_, node)| node.partition == partition).collect();
    let settings = &books.partition(partition).settings.node_sort;
    let score = |node: &Node| {
        let usage = usage(books, node, &settings.weights);
        if settings.order == NodeOrder::Fair { usage } else { 1.0 - usage }
    };
    nodes.sort_by(|(_, left), (_, right)| {
        score(left).total_cmp(&score(right)).then(left.name.cmp(&right.name))
    });
    nodes
}

#[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "as the specification")]
fn usage(books: &Books, node: &Node, weights: &[(crate::name::Name, f64)]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (resource, capacity) in node.capacity.iter() {
        let named = weights.iter().find(|(name, _)| name == books.types().name(resource));
        let default = resource == ResourceType::MEMORY || resource == ResourceType::VCORE;
        let weight = match named {
            Some((_, weight)) => *weight,
            None if weights.is_empty() && default => 1.0,
            None => 0.0,
        };
        if weight != 0.0 {
            let free = node.available.get_or_zero(resource).get() as f64 / capacity.get() as f64;
            sum += weight * (1.0 - free);
            total += weight;
        }
    }
    let usage = sum / total;
    if usage.is_finite() { usage } else { 0.0 }
}
