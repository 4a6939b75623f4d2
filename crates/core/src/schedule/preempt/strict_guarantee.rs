//! Which victims are taken under the law: no queue falls below its guarantee in a type that the
//! ask needs, what goes makes room for the ask in its node and in its queues, and nobody goes in
//! vain. Decision D-3.
//!
//! The world that is judged is the one to come: what is being stopped has gone, and who it was
//! stopped for has got its node.

use alloc::vec::Vec;

use crate::books::Books;
use crate::id::{AllocationId, NodeId};
use crate::name::Name;
use crate::resource::Resources;

use super::node_batch::{self, NodeBatch};
use super::{Cost, Obstacle, Outcome, PreemptionContext, VictimPlan};

/// How many nodes are looked at in full, the most promising first.
const NODES_MAX: usize = 10;

/// The victims of one node.
#[derive(Debug)]
struct Choice<'books> {
    cost: Cost,
    name: &'books Name,
    node: NodeId,
    victims: Vec<usize>,
}

/// The cheapest set of victims among those of the most promising nodes.
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
    let mut choices = choices(scene, given_up, nodes_tried);
    choices.sort_by(|left, right| (left.cost, left.name).cmp(&(right.cost, right.name)));
    let asked = scene.asks() && !choices.is_empty();
    let best = if scene.asks() {
        node_batch::best(scene, choices, offer, |scene, node, victims| {
            let victims = completed(scene, node, victims, victims.len())?;
            Some((scene.cost_of(&victims), (node, victims)))
        })
    } else {
        Ok(cheapest(scene, choices))
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

/// The cheapest of the most promising nodes, and all victims.
fn cheapest(
    scene: &mut PreemptionContext<'_>,
    mut choices: Vec<Choice<'_>>,
) -> Option<(NodeId, Vec<usize>)> {
    choices.truncate(NODES_MAX);
    let mut best: Option<Choice<'_>> = None;
    for choice in choices {
        if best.as_ref().is_some_and(|best| best.cost <= choice.cost) {
            break; // Whatever else it takes, it is no cheaper.
        }
        let Some(victims) = completed(scene, choice.node, &choice.victims, 0) else { continue };
        let cost = scene.cost_of(&victims);
        if best.as_ref().is_none_or(|best| cost < best.cost) {
            best = Some(Choice { cost, victims, ..choice });
        }
    }
    best.map(|best| (best.node, best.victims))
}

/// What the RM is asked about a node. Allocations that are being stopped go first, then the victims
/// that make room, then all others that the law lets go there.
fn offer(scene: &mut PreemptionContext<'_>, choice: Choice<'_>) -> NodeBatch {
    let Choice { node, victims: mut order, .. } = choice;
    let least = order.len();
    scene.take_all(&order);
    for position in 0..scene.candidates.len() {
        let here = scene.candidates[position].node == node && !order[..least].contains(&position);
        if here && may_go(scene, position) {
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

/// Count the asks that triggered preemption and have a reserved node.
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

/// The victims of each node that the ask may have, as few as it takes to fit it.
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
            let cost = Cost { owns: false, reluctant: false, originator: false, count: 0 };
            Choice { cost, name: &books.node(node).name, node, victims: Vec::new() }
        }));
    }
    for (node, candidates) in scene.by_node(given_up) {
        if let Some(victims) = on_node(scene, node, &candidates) {
            let name = &books.node(node).name;
            choices.push(Choice { cost: scene.cost_of(&victims), name, node, victims });
        }
    }
    choices
}

/// What a node will have free when everything has gone that is being stopped on it.
fn to_come(books: &Books, node: NodeId) -> Resources {
    let free = books.node(node).available.clone();
    books.preempted_on(node).fold(free, |free, id| free.plus(books.node_request(id)))
}

/// The victims on a node after which the ask fits it, none of which could stay; none if it
/// never fits, or fits without.
fn on_node(
    scene: &mut PreemptionContext<'_>,
    node: NodeId,
    candidates: &[usize],
) -> Option<Vec<usize>> {
    let mut free = to_come(scene.books, node);
    if free.fits(scene.on_node) {
        return None;
    }
    let mut victims = Vec::new();
    for &position in candidates {
        if brings_nearer(scene.on_node, &free, scene.candidates[position].on_node)
            && may_go(scene, position)
        {
            scene.take(position);
            victims.push(position);
            free.add(scene.candidates[position].on_node);
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
        let less = free.minus(scene.candidates[victims[place]].on_node);
        if less.fits(scene.on_node) {
            free = less;
            victims.remove(place);
        }
    }
    Some(victims)
}

/// Whether `size` more leaves less of the ask without room.
fn brings_nearer(ask: &Resources, free: &Resources, size: &Resources) -> bool {
    ask.iter().any(|(resource, wanted)| {
        free.get_or_zero(resource) < wanted && size.get_or_zero(resource).get() > 0
    })
}

/// Whether the law lets a candidate go, given what has gone.
fn may_go(scene: &PreemptionContext<'_>, position: usize) -> bool {
    let one = &scene.candidates[position];
    !scene.compares_guarantees()
        || scene.may_lose(position) && scene.ledger.may_give(one.leaf, one.size, scene.size)
}

/// The victims of a node, and those that it takes beyond them until the ask fits its queues and
/// their guarantees too; none of them could stay, the first `firm` left out. None if it never
/// fits.
fn completed(
    scene: &mut PreemptionContext<'_>,
    node: NodeId,
    on_node: &[usize],
    firm: usize,
) -> Option<Vec<usize>> {
    let mut victims = on_node.to_vec();
    scene.take_all(&victims);
    for position in 0..scene.candidates.len() {
        let excesses = scene.ledger.excesses(scene.size);
        let covered = scene.covers();
        if excesses.is_empty() && covered {
            break;
        }
        if victims.contains(&position) || !may_go(scene, position) {
            continue;
        }
        let one = scene.candidates[position];
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

/// Leave out, from the last on, every victim that is not needed, except the first `firm`. What
/// suffices does so with more gone too, so that afterwards no part of them suffices.
fn drop_superfluous(
    scene: &mut PreemptionContext<'_>,
    node: NodeId,
    victims: &mut Vec<usize>,
    firm: usize,
) {
    let mut free = to_come(scene.books, node);
    for position in victims.iter() {
        let one = &scene.candidates[*position];
        if one.node == node {
            free.add(one.on_node);
        }
    }
    for place in (firm..victims.len()).rev() {
        let one = scene.candidates[victims[place]];
        let less = if one.node == node { free.minus(one.on_node) } else { free.clone() };
        scene.put_back(victims[place]);
        if less.fits(scene.on_node) && fits_queues(scene) {
            free = less;
            victims.remove(place);
        } else {
            scene.take(victims[place]);
        }
    }
}
