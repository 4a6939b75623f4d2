//! Selection of victims as in YuniKorn: the newest on each node, then others within the guarantee of the leaf of the
//! ask. Source: scheduling §11.4, with decision D-4.
//!
//! YuniKorn also tests after a removal that no queue has a negative excess. That test cannot fail, so it is omitted: a
//! victim larger than the excess takes its queue below its guarantee (decision D-3). A victim larger than the remaining
//! guarantee of the leaf of the ask is skipped, while YuniKorn ends its search there (decision K-27).

use alloc::vec::Vec;

use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;

use super::ledger::has_negative_of;
use super::node_batch::{self, NodeBatch};
use super::{Obstacle, Outcome, PreemptionContext, VictimPlan};

/// Largest number of nodes with enough free capacity that the RM is asked about.
const FREE_NODES_MAX: usize = 10;

/// Returns the node with the fewest victims, and all victims.
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

/// Returns the usable nodes, each with its possible victims in order, and the necessary number of victims. The smallest
/// number is first, then the order of names. Includes nodes without necessary victims only if the ask was not tried on
/// nodes.
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
    // A node without victims has the smallest number, and only the RM can reject it.
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

/// Returns the possible victims on a node in order, and the number after which the ask fits. `None` if it never fits,
/// or fits already.
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

/// Sorts candidates that reduce a lack of the ask on the node first, then the others. Excludes candidates larger than
/// the remaining guarantee of the leaf of the ask.
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

/// Returns additional victims after which the leaf of the ask reaches its guarantee. `None` if it does not reach it.
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

/// Returns the first victims that cover the ask, and always the first `firm`, which the RM requires. YuniKorn stops
/// when one type is covered, but the ask must also fit the node (decision D-4).
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
