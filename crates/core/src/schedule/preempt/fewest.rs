//! Which victims are taken under the law: no queue falls below its guarantee in a type that the
//! ask needs, what goes makes room for the ask in its node and in its queues, and nobody goes in
//! vain. Decision D-3.
//!
//! The world that is judged is the one to come: what is being stopped has gone, and who it was
//! stopped for has got its node.

use alloc::vec::Vec;

use crate::books::{Books, Mark};
use crate::id::{AllocationId, NodeId};
use crate::name::Name;
use crate::resource::Resources;

use super::{Obstacle, Plan, Scene};

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

/// What a set of victims costs: whether one does not offer itself, whether one is the first of
/// its application, then their number. Scheduling §11.4, "choose node".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    reluctant: bool,
    originator: bool,
    count: usize,
}

/// The cheapest set of victims among those of the most promising nodes.
pub(super) fn choose(
    scene: &mut Scene<'_>,
    given_up: &[AllocationId],
    nodes_tried: bool,
) -> Result<Plan, Obstacle> {
    promise(scene);
    let asking = scene.ledger.asking;
    let guarantee = scene.ledger.remaining(asking);
    if !guarantee.is_some_and(|left| left.shares_type(scene.size)) {
        return Err(Obstacle::NoGuarantee);
    }
    scene.ledger.add(asking, scene.size);
    let mut choices = choices(scene, given_up, nodes_tried);
    choices.sort_by(|left, right| (left.cost, left.name).cmp(&(right.cost, right.name)));
    choices.truncate(NODES_MAX);
    let mut best: Option<Choice<'_>> = None;
    for choice in choices {
        if best.as_ref().is_some_and(|best| best.cost <= choice.cost) {
            break; // Whatever else it takes, it is no cheaper.
        }
        let Some(victims) = completed(scene, choice.node, &choice.victims) else { continue };
        let cost = cost_of(scene, &victims);
        if best.as_ref().is_none_or(|best| cost < best.cost) {
            best = Some(Choice { cost, victims, ..choice });
        }
    }
    match best {
        None => Err(Obstacle::NothingHelps),
        Some(best) if best.victims.is_empty() => Err(Obstacle::OnItsWay),
        Some(best) => Ok(Plan { node: best.node, victims: scene.ids(&best.victims) }),
    }
}

/// Count the asks that others are being stopped for, and that have a node kept.
fn promise(scene: &mut Scene<'_>) {
    let (books, ask) = (scene.books, scene.ask);
    let kept = scene.kept_nodes().flat_map(|(_, node)| node.reservations());
    let kept: Vec<AllocationId> = kept.copied().filter(|one| *one != ask).collect();
    for one in kept {
        let row = books.allocation(one);
        if row.preemption_triggered {
            let leaf = scene.ledger.place_of(books.application(row.application).queue);
            scene.ledger.promise(leaf, books.resources_of(one));
        }
    }
}

/// The victims of each node that the ask may have, as few as it takes to fit it.
fn choices<'books>(
    scene: &mut Scene<'books>,
    given_up: &[AllocationId],
    nodes_tried: bool,
) -> Vec<Choice<'books>> {
    let books = scene.books;
    let mut choices = Vec::new();
    if !nodes_tried {
        let fits = |node: &NodeId| to_come(books, *node).fits(scene.size);
        let free: Vec<NodeId> = scene.usable_nodes(given_up).filter(fits).take(NODES_MAX).collect();
        choices.extend(free.into_iter().map(|node| {
            let cost = Cost { reluctant: false, originator: false, count: 0 };
            Choice { cost, name: &books.node(node).name, node, victims: Vec::new() }
        }));
    }
    for (node, candidates) in scene.by_node(given_up) {
        if let Some(victims) = on_node(scene, node, &candidates) {
            let name = &books.node(node).name;
            choices.push(Choice { cost: cost_of(scene, &victims), name, node, victims });
        }
    }
    choices
}

/// What a node will have free when everything has gone that is being stopped on it.
fn to_come(books: &Books, node: NodeId) -> Resources {
    let mut free = books.node(node).available.clone();
    for (id, row) in books.allocations_on(node) {
        if row.mark == Mark::Preempted {
            free.add(books.resources_of(id));
        }
    }
    free
}

/// The victims on a node after which the ask fits it, none of which could stay; none if it
/// never fits, or fits without.
fn on_node(scene: &mut Scene<'_>, node: NodeId, candidates: &[usize]) -> Option<Vec<usize>> {
    let mut free = to_come(scene.books, node);
    if free.fits(scene.size) {
        return None;
    }
    let mut victims = Vec::new();
    for &position in candidates {
        if brings_nearer(scene.size, &free, scene.candidates[position].size)
            && may_go(scene, position)
        {
            scene.take(position);
            victims.push(position);
            free.add(scene.candidates[position].size);
            if free.fits(scene.size) {
                break;
            }
        }
    }
    scene.put_back_all(&victims);
    if !free.fits(scene.size) {
        return None;
    }
    for place in (0..victims.len()).rev() {
        let less = free.minus(scene.candidates[victims[place]].size);
        if less.fits(scene.size) {
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
fn may_go(scene: &Scene<'_>, position: usize) -> bool {
    let one = &scene.candidates[position];
    scene.ledger.exceeds_guarantee(one.leaf, scene.size)
        && scene.ledger.may_give(one.leaf, one.size, scene.size)
}

/// The victims of a node, and those that it takes beyond them until the ask fits its queues and
/// their guarantees too; none of them could stay. None if it never fits.
fn completed(scene: &mut Scene<'_>, node: NodeId, on_node: &[usize]) -> Option<Vec<usize>> {
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
        drop_superfluous(scene, node, &mut victims);
    }
    scene.put_back_all(&victims);
    suffices.then_some(victims)
}

fn fits_queues(scene: &Scene<'_>) -> bool {
    scene.covers() && scene.ledger.excesses(scene.size).is_empty()
}

/// Leave out, from the last on, whoever is not needed. What suffices does so with more gone
/// too, so that afterwards no part of them suffices.
fn drop_superfluous(scene: &mut Scene<'_>, node: NodeId, victims: &mut Vec<usize>) {
    let mut free = to_come(scene.books, node);
    for position in victims.iter() {
        let one = &scene.candidates[*position];
        if one.node == node {
            free.add(one.size);
        }
    }
    for place in (0..victims.len()).rev() {
        let one = scene.candidates[victims[place]];
        let less = if one.node == node { free.minus(one.size) } else { free.clone() };
        scene.put_back(victims[place]);
        if less.fits(scene.size) && fits_queues(scene) {
            free = less;
            victims.remove(place);
        } else {
            scene.take(victims[place]);
        }
    }
}

fn cost_of(scene: &Scene<'_>, victims: &[usize]) -> Cost {
    let turn = |position: &usize| scene.candidates[*position].turn;
    Cost {
        reluctant: victims.iter().any(|one| turn(one).reluctant),
        originator: victims.iter().any(|one| turn(one).originator),
        count: victims.len(),
    }
}
