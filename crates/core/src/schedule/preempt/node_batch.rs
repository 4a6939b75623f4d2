//! What the RM thinks of the nodes on which others might be stopped. Scheduling §11.4, scheduler
//! interface §9; docs/decisions/0013-questions.md.
//!
//! Nodes are looked at in batches, the most promising first. The RM is asked about the nodes of a
//! batch for which it has no valid answer. Once it has an answer for each, the best accepted node
//! is taken, if no victim there should rather stay. Otherwise the next batch may have a better one.

use alloc::vec::Vec;

use crate::books::{NodeVerdict, Question, Removal};
use crate::id::{AllocationId, NodeId};

use super::{Cost, PreemptionContext};

/// How many batches are looked at.
const BATCHES_MAX: usize = 10;

/// A node on which others might be stopped.
#[derive(Debug)]
pub(super) struct NodeBatch {
    removal: Removal,
    /// The candidates among its victims, which come last there, each with how many it has on the node.
    candidates: Vec<usize>,
    counts: Vec<usize>,
}

impl NodeBatch {
    /// `least` of the candidates make room, those that come first; the others may go too if the
    /// RM wants it. Those that are being stopped go first and anyway.
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

    /// The candidates that go if as many of the victims do: a gang goes with the first of it.
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

/// The best of what `judge` makes of the offers that the RM accepts; or what it is to be asked
/// first. `choices` stand in the order of their promise, and `offer` makes an offer of each, for
/// those only that are looked at.
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
