//! Selection of victims with `strict_guarantee`. No queue falls below its guarantee in a type that the ask needs. The
//! victims free enough capacity on the node and in the queues, and none is superfluous. Source: decision D-3.
//!
//! The selection uses the future state, in which allocations that are being stopped have ended, and the asks that
//! preempted them have their nodes.
//!
//! [`Cost`] orders all victims and sets. A search for the cheapest of all sets would take exponential time. For each
//! node, a few sets are computed, and the cheapest is selected: the victims in order, the cheapest single victim, the
//! smallest victims, and the largest victims that are not too large. So a single victim is always the cheapest that is
//! sufficient. A set of several victims is not always the cheapest. Source: decision page 50.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::books::Books;
use crate::id::{AllocationId, NodeId};
use crate::name::Name;
use crate::resource::Resources;

use super::cost::Cost;
use super::node_batch::{self, NodeBatch};
use super::{Kind, Obstacle, Outcome, PreemptionContext, VictimPlan};

/// Largest number of nodes that are checked completely, the most promising first.
const NODES_MAX: usize = 10;

/// Victims of one node.
#[derive(Debug)]
struct Choice<'books> {
    cost: Cost,
    name: &'books Name,
    node: NodeId,
    victims: Vec<usize>,
}

/// Returns the cheapest set of victims of the most promising nodes.
pub(super) fn choose(
    scene: &mut PreemptionContext<'_>,
    given_up: &[AllocationId],
    nodes_tried: bool,
) -> Result<Outcome, Obstacle> {
    promise(scene);
    let asking = scene.ledger.asking;
    let guarantee = scene.ledger.remaining(asking);
    if scene.compares_guarantees() && !guarantee.is_some_and(|left| left.shares_type(scene.size)) {
        return Err(Obstacle::NoGuarantee);
    }
    scene.ledger.add(asking, scene.size);
    let excesses = scene.ledger.excesses(scene.size);
    scene.short = excesses.iter().fold(Resources::new(), |short, (_, over)| short.maximum(over));
    let order = in_order(scene, (0..scene.candidates.len()).collect(), &scene.short);
    let mut choices = choices(scene, given_up, nodes_tried);
    choices.sort_by(|left, right| (left.cost, left.name).cmp(&(right.cost, right.name)));
    let asked = scene.asks() && !choices.is_empty();
    let best = if scene.asks() {
        node_batch::best(scene, choices, offer, |scene, node, victims| {
            let victims = completed(scene, &order, node, (victims, victims.len()))?;
            Some((scene.cost_of(&victims, &need_on(scene, node)), (node, victims)))
        })
    } else {
        Ok(cheapest(scene, &order, choices))
    };
    match best {
        Err(removals) => Ok(Outcome::Ask(removals)),
        Ok(None) if asked => Err(Obstacle::Refused),
        Ok(None) => Err(Obstacle::NothingHelps),
        Ok(Some((_, victims))) if victims.is_empty() => Err(Obstacle::OnItsWay),
        Ok(Some((node, victims))) => {
            let victims = scene.ids(&victims);
            Ok(Outcome::Stop(VictimPlan { node, victims, basis: scene.basis }))
        }
    }
}

/// Sorts candidates by their individual costs for an ask that lacks `need`.
fn in_order(
    scene: &PreemptionContext<'_>,
    mut positions: Vec<usize>,
    need: &Resources,
) -> Vec<usize> {
    if scene.scale.is_strict() {
        positions.sort_by_cached_key(|position| scene.cost_of(&[*position], need));
    }
    positions
}

/// Returns the amounts that the ask lacks on a node and in its queues. Released amounts beyond that are surplus.
fn need_on(scene: &PreemptionContext<'_>, node: NodeId) -> Resources {
    scene.on_node.minus_floored(&to_come(scene.books, node)).maximum(&scene.short)
}

/// Returns the cheapest of the most promising nodes with all victims.
fn cheapest(
    scene: &mut PreemptionContext<'_>,
    order: &[usize],
    mut choices: Vec<Choice<'_>>,
) -> Option<(NodeId, Vec<usize>)> {
    choices.truncate(NODES_MAX);
    let mut best: Option<Choice<'_>> = None;
    for choice in choices {
        if best.as_ref().is_some_and(|best| best.cost <= choice.cost) {
            break; // Whatever else it takes, it is no cheaper.
        }
        let Some(victims) = completed(scene, order, choice.node, (&choice.victims, 0)) else {
            continue;
        };
        let cost = scene.cost_of(&victims, &need_on(scene, choice.node));
        if best.as_ref().is_none_or(|best| cost < best.cost) {
            best = Some(Choice { cost, victims, ..choice });
        }
    }
    best.map(|best| (best.node, best.victims))
}

/// Returns the question for the RM about a node. Allocations that are being stopped precede, then the victims that free
/// enough capacity, then all others that the guarantees allow to stop there.
fn offer(scene: &mut PreemptionContext<'_>, choice: Choice<'_>) -> NodeBatch {
    let Choice { node, victims: mut order, .. } = choice;
    let least = order.len();
    scene.take_all(&order);
    for position in 0..scene.candidates.len() {
        let here = scene.candidates[position].on(node).is_some();
        if here && !order[..least].contains(&position) && may_join(scene, &order, position) {
            scene.take(position);
            order.push(position);
        }
    }
    scene.put_back_all(&order);
    let has_room = scene.books.node(node).available.fits(scene.on_node);
    let mut first: Vec<AllocationId> = Vec::new();
    if !has_room {
        first.extend(scene.books.preempted_on(node));
        first.sort();
    }
    NodeBatch::new(scene, node, first, (order, least))
}

/// Adds the usage of asks that preempted and have a reserved node.
fn promise(scene: &mut PreemptionContext<'_>) {
    let (books, ask) = (scene.books, scene.ask);
    let reserved = scene.reserved_nodes().flat_map(|(_, node)| node.reservations());
    let reserved: Vec<AllocationId> = reserved.copied().filter(|one| *one != ask).collect();
    for one in reserved {
        let row = books.allocation(one);
        if row.preemption_triggered {
            let application = books.application(row.application);
            let user = application.link.and_then(|link| scene.ledger.place_of_user(link.user));
            let place = user.unwrap_or_else(|| scene.ledger.place_of(application.queue));
            scene.ledger.promise(place, books.resources_of(one));
        }
    }
}

/// Returns the smallest sufficient victims of each usable node.
fn choices<'books>(
    scene: &mut PreemptionContext<'books>,
    given_up: &[AllocationId],
    nodes_tried: bool,
) -> Vec<Choice<'books>> {
    let books = scene.books;
    let mut choices = Vec::new();
    if !nodes_tried {
        let fits = |node: &NodeId| to_come(books, *node).fits(scene.on_node);
        let free: Vec<NodeId> = scene.usable_nodes(given_up).filter(fits).take(NODES_MAX).collect();
        choices.extend(free.into_iter().map(|node| {
            let cost = scene.cost_of(&[], &scene.short);
            Choice { cost, name: &books.node(node).name, node, victims: Vec::new() }
        }));
    }
    for (node, candidates) in scene.by_node(given_up) {
        let need = need_on(scene, node);
        if let Some(victims) = on_node(scene, node, candidates, &need) {
            let (cost, name) = (scene.cost_of(&victims, &need), &books.node(node).name);
            choices.push(Choice { cost, name, node, victims });
        }
    }
    choices
}

/// Returns the free amounts of a node after all allocations that are being stopped have ended.
fn to_come(books: &Books, node: NodeId) -> Resources {
    let free = books.node(node).available.clone();
    books.preempted_on(node).fold(free, |free, id| free.plus(books.node_request(id)))
}

/// Returns the cheapest of a few sets of victims after which the ask fits a node, without superfluous victims. `None`
/// if it never fits, or fits without victims.
fn on_node(
    scene: &mut PreemptionContext<'_>,
    node: NodeId,
    candidates: Vec<usize>,
    need: &Resources,
) -> Option<Vec<usize>> {
    let free = to_come(scene.books, node);
    if free.fits(scene.on_node) {
        return None;
    }
    let mut order = in_order(scene, candidates, need);
    let first = gather(scene, (node, &free), &order)
        .or_else(|| gather(scene, (node, &free), &without_surplus(scene, &order)?));
    if !scene.scale.is_strict() {
        return first;
    }
    if let Some(first) = &first {
        let bound = scene.cost_of(first, need);
        if first.len() == 1 && bound.surplus == 0 {
            return Some(first.clone()); // One victim of just the right size is as cheap as can be.
        }
        order.retain(|one| scene.candidates[*one].cost.is_no_worse_kind_than(&bound));
    }
    let alone = order
        .iter()
        .copied()
        .find(|one| free.plus(scene.on(*one, node)).fits(scene.on_node) && may_go(scene, *one));
    let part = |one: &usize| scene.scale.part(&scene.candidates[*one].size);
    let mut smallest = order.clone();
    smallest.sort_by_cached_key(part);
    let mut largest = order;
    largest.retain(|one| scene.cost_of(&[*one], need).surplus == 0);
    largest.sort_by_cached_key(|one| Reverse(part(one)));
    let sets = [
        first,
        alone.map(|one| vec![one]),
        gather(scene, (node, &free), &smallest),
        gather(scene, (node, &free), &largest),
    ];
    sets.into_iter().flatten().min_by_key(|set| scene.cost_of(set, need))
}

/// Returns the order without surplus members of gangs, which overlap their gangs. `None` if there are none.
fn without_surplus(scene: &PreemptionContext<'_>, order: &[usize]) -> Option<Vec<usize>> {
    let is_other = |one: &&usize| scene.candidates[**one].kind != Kind::Surplus;
    let others: Vec<usize> = order.iter().filter(is_other).copied().collect();
    (others.len() < order.len()).then_some(others)
}

/// Returns the victims on a node after which the ask fits it, selected in this order, without superfluous victims.
/// `None` if it never fits.
fn gather(
    scene: &mut PreemptionContext<'_>,
    (node, free): (NodeId, &Resources),
    order: &[usize],
) -> Option<Vec<usize>> {
    let (mut free, mut victims) = (free.clone(), Vec::new());
    for &position in order {
        if brings_nearer(scene.on_node, &free, scene.on(position, node))
            && may_join(scene, &victims, position)
        {
            scene.take(position);
            victims.push(position);
            free.add(scene.on(position, node));
            if free.fits(scene.on_node) {
                break;
            }
        }
    }
    scene.put_back_all(&victims);
    if !free.fits(scene.on_node) {
        return None;
    }
    for place in (0..victims.len()).rev() {
        let less = free.minus(scene.on(victims[place], node));
        if less.fits(scene.on_node) {
            free = less;
            victims.remove(place);
        }
    }
    Some(victims)
}

/// Returns whether the additional amount reduces a lack of the ask.
fn brings_nearer(ask: &Resources, free: &Resources, size: &Resources) -> bool {
    ask.iter().any(|(resource, wanted)| {
        free.get_or_zero(resource) < wanted && size.get_or_zero(resource).get() > 0
    })
}

/// Returns whether the guarantees allow a candidate to stop after the current victims.
fn may_go(scene: &PreemptionContext<'_>, position: usize) -> bool {
    let one = &scene.candidates[position];
    !scene.compares_guarantees()
        || scene.may_lose(position) && scene.ledger.may_give(one.leaf, &one.size, scene.size)
}

/// Returns whether a candidate can be added to these current victims.
fn may_join(scene: &PreemptionContext<'_>, victims: &[usize], position: usize) -> bool {
    !scene.overlaps(victims, position) && may_go(scene, position)
}

/// Returns the victims of a node and additional victims after which the ask also fits its queues and their guarantees.
/// `None` if it never fits.
///
/// No victim is superfluous, except the first `firm`. If one additional victim or a single victim is sufficient, the
/// cheapest such set is also considered.
fn completed(
    scene: &mut PreemptionContext<'_>,
    order: &[usize],
    node: NodeId,
    (on_node, firm): (&[usize], usize),
) -> Option<Vec<usize>> {
    let first = completed_in(scene, order, node, (on_node, firm)).or_else(|| {
        let others = without_surplus(scene, order)?;
        completed_in(scene, &others, node, (on_node, firm))
    });
    if !scene.scale.is_strict() {
        return first;
    }
    let need = need_on(scene, node);
    let few = on_node.len() + 1;
    let is_enough = |all: &Vec<usize>| {
        all.len() < few || all.len() == few && scene.cost_of(all, &need).surplus == 0
    };
    if first.as_ref().is_some_and(is_enough) {
        return first;
    }
    let with_one = with_one_more(scene, order, node, (on_node, firm));
    // The victims that free capacity on the node can differ from those that free capacity in the queues.
    let alone = (firm == 0 && !on_node.is_empty())
        .then(|| with_one_more(scene, order, node, (&[], 0)))
        .flatten();
    let sets = first.into_iter().chain(with_one).chain(alone);
    sets.min_by_key(|set| scene.cost_of(set, &need))
}

/// Returns these victims with the cheapest additional one after which the ask fits a node, its queues, and their
/// guarantees.
fn with_one_more(
    scene: &mut PreemptionContext<'_>,
    order: &[usize],
    node: NodeId,
    (victims, firm): (&[usize], usize),
) -> Option<Vec<usize>> {
    let mut free = to_come(scene.books, node);
    for one in victims {
        free.add(scene.on(*one, node));
    }
    scene.take_all(victims);
    let mut others = order.to_vec();
    others.retain(|one| {
        let is_new = !victims.contains(one) && may_join(scene, victims, *one);
        if !is_new || !free.plus(scene.on(*one, node)).fits(scene.on_node) {
            return false;
        }
        scene.take(*one);
        let suffices = fits_queues(scene);
        scene.put_back(*one);
        suffices
    });
    scene.put_back_all(victims);
    let need = need_on(scene, node);
    let with = |one: usize| [victims, &[one]].concat();
    let one = others.into_iter().min_by_key(|one| scene.cost_of(&with(*one), &need))?;
    let mut all = with(one);
    scene.take_all(&all);
    drop_superfluous(scene, node, &mut all, firm);
    scene.put_back_all(&all);
    Some(all)
}

/// Returns the victims of a node and additional victims, selected in this order.
fn completed_in(
    scene: &mut PreemptionContext<'_>,
    order: &[usize],
    node: NodeId,
    (on_node, firm): (&[usize], usize),
) -> Option<Vec<usize>> {
    let mut victims = on_node.to_vec();
    scene.take_all(&victims);
    for &position in order {
        let excesses = scene.ledger.excesses(scene.size);
        let covered = scene.covers();
        if excesses.is_empty() && covered {
            break;
        }
        if victims.contains(&position) || !may_join(scene, &victims, position) {
            continue;
        }
        let one = &scene.candidates[position];
        let in_queues = excesses.iter().any(|(place, over)| {
            scene.ledger.is_below(one.leaf, *place) && over.shares_type(&one.size.pruned())
        });
        let before = (!covered).then(|| scene.ledger.remaining(scene.ledger.asking));
        scene.take(position);
        let in_guarantee =
            before.is_some_and(|before| before != scene.ledger.remaining(scene.ledger.asking));
        if in_queues || in_guarantee {
            victims.push(position);
        } else {
            scene.put_back(position);
        }
    }
    let suffices = fits_queues(scene);
    if suffices {
        drop_superfluous(scene, node, &mut victims, firm);
    }
    scene.put_back_all(&victims);
    suffices.then_some(victims)
}

fn fits_queues(scene: &PreemptionContext<'_>) -> bool {
    scene.covers() && scene.ledger.excesses(scene.size).is_empty()
}

/// Removes superfluous victims from the last to the first, except the first `firm`. A larger set of a sufficient set is
/// sufficient too, so afterwards no part of the set is sufficient.
fn drop_superfluous(
    scene: &mut PreemptionContext<'_>,
    node: NodeId,
    victims: &mut Vec<usize>,
    firm: usize,
) {
    let mut free = to_come(scene.books, node);
    for position in victims.iter() {
        free.add(scene.on(*position, node));
    }
    for place in (firm..victims.len()).rev() {
        let less = free.minus(scene.on(victims[place], node));
        scene.put_back(victims[place]);
        if less.fits(scene.on_node) && fits_queues(scene) {
            free = less;
            victims.remove(place);
        } else {
            scene.take(victims[place]);
        }
    }
}
