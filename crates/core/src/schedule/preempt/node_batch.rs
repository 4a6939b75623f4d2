//! Questions to the RM about nodes for preemption. Source: scheduling §11.4, scheduler interface §9;
//! docs/decisions/0013-questions.md.
//!
//! Nodes are checked in batches, the most promising first. The RM is asked about the nodes of a batch for which it has
//! no valid answer. After all answers, the best accepted node is selected if it has only preferred victims. Otherwise,
//! the next batch can have a better node.

use alloc::vec::Vec;

use crate::books::{NodeVerdict, Question, Removal};
use crate::id::{AllocationId, NodeId};

use super::{Cost, PreemptionContext};

/// Largest number of batches.
const BATCHES_MAX: usize = 10;

/// A node on which allocations could be stopped.
#[derive(Debug)]
pub(super) struct NodeBatch {
    removal: Removal,
    /// Candidates among the victims, which are last in the list, and the number of allocations of each on the node.
    candidates: Vec<usize>,
    counts: Vec<usize>,
}

impl NodeBatch {
    /// Creates the offer of a node. The first `least` candidates free enough capacity, and the RM can require the
    /// others too. Allocations that are already being stopped are first and always included.
    pub(super) fn new(
        scene: &PreemptionContext<'_>,
        node: NodeId,
        stopping: Vec<AllocationId>,
        (candidates, least): (Vec<usize>, usize),
    ) -> Self {
        let on_node = |position: &usize| scene.ids_on(node, *position);
        let counts: Vec<usize> = candidates.iter().map(|one| on_node(one).count()).collect();
        let least = stopping.len() + counts[..least].iter().sum::<usize>();
        let mut victims = stopping;
        victims.extend(candidates.iter().flat_map(on_node));
        Self { removal: Removal { node, victims, least }, candidates, counts }
    }

    pub(super) const fn node(&self) -> NodeId {
        self.removal.node
    }

    /// Returns the candidates that stop if `count` victims do. A gang stops with its first member.
    fn first(&self, count: usize) -> &[usize] {
        let stopping = self.removal.victims.len() - self.counts.iter().sum::<usize>();
        let mut left = count.saturating_sub(stopping);
        let goes = |of: &&usize| {
            let goes = left > 0;
            left = left.saturating_sub(**of);
            goes
        };
        let first = self.counts.iter().take_while(goes).count();
        &self.candidates[..first]
    }
}

/// Returns the best result of `judge` over the offers that the RM accepts, or the next question.
///
/// `choices` are in the order of their promise. `offer` is called only for choices that are checked.
pub(super) fn best<'books, Choice, Found>(
    scene: &mut PreemptionContext<'books>,
    choices: Vec<Choice>,
    offer: impl Fn(&mut PreemptionContext<'books>, Choice) -> NodeBatch,
    mut judge: impl FnMut(&mut PreemptionContext<'books>, NodeId, &[usize]) -> Option<(Cost, Found)>,
) -> Result<Option<Found>, Vec<Removal>> {
    let (books, ask) = (scene.books, scene.ask);
    let mut best: Option<(Cost, Found)> = None;
    let mut left = choices.into_iter();
    for _ in 0..BATCHES_MAX {
        let batch: Vec<NodeBatch> =
            left.by_ref().take(Question::REMOVALS_MAX).map(|one| offer(scene, one)).collect();
        if batch.is_empty() {
            break;
        }
        let verdict = |offer: &NodeBatch| books.removal_verdict(ask, &offer.removal);
        let unknown = batch.iter().filter(|offer| verdict(offer).is_none());
        let unknown: Vec<Removal> = unknown.map(|offer| offer.removal.clone()).collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        for offer in &batch {
            let Some(NodeVerdict::SuitsWithout(count)) = verdict(offer) else { continue };
            if let Some(found) = judge(scene, offer.node(), offer.first(*count))
                && best.as_ref().is_none_or(|(least, _)| found.0 < *least)
            {
                best = Some(found);
            }
        }
        if best.as_ref().is_some_and(|(cost, _)| cost.is_easy()) {
            break;
        }
    }
    Ok(best.map(|(_, found)| found))
}
