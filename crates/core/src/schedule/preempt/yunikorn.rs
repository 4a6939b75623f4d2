//! Which victims are taken as the reference takes them: node by node the newest, then others as
//! far as the guarantee of the leaf that asks goes. Scheduling §11.4, with decision D-4.
//!
//! Its test after a removal, that no queue keeps a negative excess, cannot fail and is left out:
//! a victim larger than the excess takes its queue below its guarantee (decision D-3). A victim that is
//! larger than what is left of the guarantee of the leaf that asks is passed over, where the reference
//! looks no further (decision K-27).

use alloc::vec::Vec;

use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;

use super::ledger::has_negative_of;
use super::node_batch::{self, NodeBatch};
use super::{Obstacle, Outcome, PreemptionContext, VictimPlan};

/// How many nodes with room the RM is asked about.
const FREE_NODES_MAX: usize = 10;

/// The node with the fewest victims, and all victims.
pub(super) fn choose(
    scene: &mut PreemptionContext<'_>,
    given_up: &[AllocationId],
    nodes_tried: bool,
) -> Result<Outcome, Obstacle> {
    let choices = choices(scene, given_up, nodes_tried);
    let chosen = if scene.asks() {
        let offer = |scene: &mut PreemptionContext<'_>, (node, order, least)| {
            NodeBatch::new(scene, node, Vec::new(), (order, least))
        };
        let taken = |scene: &mut PreemptionContext<'_>, node, victims: &[usize]| {
            Some((scene.cost_of(victims, &scene.short), (node, victims.to_vec())))
        };
        match node_batch::best(scene, choices, offer, taken) {
            Ok(chosen) => chosen,
            Err(removals) => return Ok(Outcome::Ask(removals)),
        }
    } else {
        let first = choices.into_iter().next();
        first.map(|(node, mut order, least)| {
            order.truncate(least);
            (node, order)
        })
    };
    let (node, on_node) = chosen.ok_or(Obstacle::NothingHelps)?;
    let firm = if scene.asks() { on_node.len() } else { 0 };
    let elsewhere = additional(scene, &on_node).ok_or(Obstacle::NothingHelps)?;
    let victims = cut(scene, node, (on_node, firm), elsewhere)?;
    Ok(Outcome::Stop(VictimPlan { node, victims: scene.ids(&victims), basis: scene.basis }))
}

/// The nodes that the ask could have, each with who may go there in order, and how many must: the
/// fewest first, by name where that is equal. One where nobody has to only if the ask was not
/// tried on nodes.
fn choices(
    scene: &mut PreemptionContext<'_>,
    given_up: &[AllocationId],
    nodes_tried: bool,
) -> Vec<(NodeId, Vec<usize>, usize)> {
    let books = scene.books;
    let mut choices = Vec::new();
    if !nodes_tried {
        let fits = |node: &NodeId| books.node(*node).available.fits(scene.on_node);
        let free = scene.usable_nodes(given_up).filter(fits).take(FREE_NODES_MAX);
        choices.extend(free.map(|node| (node, Vec::new(), 0)));
    }
    // No other takes fewer than one with room, which only the RM may refuse.
    if scene.asks() || choices.is_empty() {
        for (node, candidates) in scene.by_node(given_up) {
            if let Some((order, least)) = on_node(scene, node, &candidates) {
                choices.push((node, order, least));
            }
        }
    }
    choices.sort_by_key(|(node, _, least)| (*least, &books.node(*node).name));
    choices
}

/// Who may go on a node in order, and after how many the ask fits it; none if it never does, or
/// does already.
fn on_node(
    scene: &mut PreemptionContext<'_>,
    node: NodeId,
    candidates: &[usize],
) -> Option<(Vec<usize>, usize)> {
    let available = &scene.books.node(node).available;
    if available.fits(scene.on_node) {
        return None;
    }
    let list = useful_first(scene, (node, available), candidates);
    let (mut free, mut order, mut least) = (available.clone(), Vec::new(), None);
    for position in list {
        if scene.may_lose(position) {
            scene.take(position);
            order.push(position);
            free.add(scene.on(position, node));
            if least.is_none() && free.fits(scene.on_node) {
                least = Some(order.len());
            }
        }
        if least.is_some() && !scene.asks() {
            break; // Who else might go is for the RM to know.
        }
    }
    scene.put_back_all(&order);
    Some((order, least?))
}

/// Candidates that bring the ask nearer to fitting the node, then the others; without those that are
/// larger than what is left of the guarantee of the leaf that asks.
fn useful_first(
    scene: &mut PreemptionContext<'_>,
    (node, available): (NodeId, &Resources),
    candidates: &[usize],
) -> Vec<usize> {
    let (mut free, mut head, mut tail) = (available.clone(), Vec::new(), Vec::new());
    for &position in candidates {
        if !scene.may_lose(position) {
            continue;
        }
        let size = scene.candidates[position].size.clone();
        scene.take(position);
        let left = scene.ledger.remaining(scene.ledger.asking);
        if !left.is_some_and(|left| left.allows_actual(&size)) {
            scene.put_back(position);
            continue;
        }
        let more = free.plus(scene.on(position, node));
        let short = scene.on_node.minus_floored(&free);
        let still_short = scene.on_node.minus_floored(&more);
        if Resources::equals_or_empty(Some(&short), Some(&still_short)) {
            scene.put_back(position);
            tail.push(position);
        } else {
            scene.ledger.add(scene.ledger.asking, &size);
            free = more;
            head.push(position);
        }
    }
    for position in &head {
        scene.put_back(*position);
        let size = scene.candidates[*position].size.clone();
        scene.ledger.take(scene.ledger.asking, &size);
    }
    head.append(&mut tail);
    head
}

/// Victims beyond those of the node, by which the leaf that asks comes to its guarantee; none at
/// all if it does not in spite of them.
fn additional(scene: &mut PreemptionContext<'_>, on_node: &[usize]) -> Option<Vec<usize>> {
    let asking = scene.ledger.asking;
    scene.take_all(on_node);
    let mut chosen = Vec::new();
    for position in 0..scene.candidates.len() {
        let known = on_node.contains(&position);
        if known || !scene.may_lose(position) {
            continue;
        }
        let size = scene.candidates[position].size.clone();
        scene.take(position);
        let before = scene.ledger.remaining(asking);
        if !before.as_ref().is_some_and(|left| left.allows_actual(&size)) {
            scene.put_back(position);
            continue;
        }
        scene.ledger.add(asking, &size);
        let after = scene.ledger.remaining(asking);
        if Resources::equal_objects(before.as_ref(), after.as_ref()) {
            scene.ledger.take(asking, &size);
            scene.put_back(position);
        } else {
            chosen.push(position);
        }
    }
    let left = scene.ledger.remaining(asking);
    let fails = left.is_some_and(|left| has_negative_of(&left, scene.size));
    for position in &chosen {
        scene.put_back(*position);
        let size = scene.candidates[*position].size.clone();
        scene.ledger.take(asking, &size);
    }
    scene.put_back_all(on_node);
    (chosen.is_empty() || !fails).then_some(chosen)
}

/// As many of all victims, in their order, as make up for the ask, and the first `firm` in any
/// case: the RM wants them gone. The reference stops as soon as one type is covered; the ask has
/// to fit the node too (decision D-4).
fn cut(
    scene: &PreemptionContext<'_>,
    node: NodeId,
    (mut victims, firm): (Vec<usize>, usize),
    elsewhere: Vec<usize>,
) -> Result<Vec<usize>, Obstacle> {
    victims.extend(elsewhere);
    let available = &scene.books.node(node).available;
    if !available.fits(scene.on_node) {
        victims.retain(|position| scene.candidates[*position].on(node).is_some());
    }
    if victims.is_empty() {
        return Err(Obstacle::NothingHelps);
    }
    let (mut total, mut free, mut taken) = (Resources::new(), available.clone(), 0);
    for position in &victims {
        if !scene.size.exceeds_existing(&total) && free.fits(scene.on_node) {
            break;
        }
        let size = scene.candidates[*position].size.clone();
        total.add(&size);
        free.add(scene.on(*position, node));
        taken += 1;
    }
    if scene.size.exceeds_existing(&total) {
        return Err(Obstacle::TooLittle);
    }
    victims.truncate(taken.max(firm));
    Ok(victims)
}
