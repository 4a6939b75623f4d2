//! The victims that the law allows, decision D-3, each question answered from scratch.

use alloc::vec::Vec;

use crate::books::{Books, Removal, StopRequest};
use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;

use super::naive;
use super::naive_claim::{Basis, Who};
use super::naive_preempt::{Finding, Question, Usage};

impl Question<'_> {
    /// What queues use when all that is under way has happened.
    pub fn promised(&self) -> Usage {
        let (books, mut usage) = (self.books, self.usage());
        for (id, row) in books.allocations().iter() {
            let here = |leaf| books.queue(leaf).partition == books.queue(self.leaf).partition;
            let leaf = self.leaf_of(id);
            let promised = row.preemption_triggered && row.reservation().is_some();
            if promised && row.is_pending() && id != self.ask && here(leaf) {
                usage = self.with(&usage, self.who_has(id), self.size_of(id));
            }
        }
        usage
    }

    /// The same with the ask placed and these gone.
    pub fn imagined(&self, gone: &[AllocationId]) -> Usage {
        self.without(&self.with(&self.promised(), self.asking(), self.size), gone)
    }

    /// What a node has free when all that is being stopped has gone.
    pub fn to_come(&self, node: NodeId) -> Resources {
        let books: &Books = self.books;
        let stopping = |id: &AllocationId| {
            let row = books.allocation(*id);
            row.node == Some(node) && row.mark == StopRequest::Preempted
        };
        let all = books.allocations().iter().map(|(id, _)| id).filter(stopping);
        all.fold(books.node(node).available.clone(), |sum, id| sum.plus(books.node_request(id)))
    }

    /// Whether the law lets all of these go.
    pub fn is_lawful(&self, gone: &[AllocationId]) -> bool {
        if self.basis == Basis::Priority {
            return true; // What one of a leaf loses another of it gets.
        }
        let before = self.promised();
        let after = self.without(&self.with(&before, self.asking(), self.size), gone);
        before.keys().all(|who| {
            let Some(guaranteed) = self.promised_to(*who) else { return true };
            self.size.iter().all(|(resource, _)| {
                let (was, is) = (&before[who], &after[who]);
                let Some(least) = guaranteed.get(resource) else { return true };
                let least = least.min(was.get_or_zero(resource));
                is.get_or_zero(resource) >= least
            })
        })
    }

    /// Whether the ask has room in its queues and in their guarantees when these have gone.
    pub fn fits_queues(&self, gone: &[AllocationId]) -> bool {
        let after = self.imagined(gone);
        let within = |(id, queue): (_, &crate::books::Queue)| {
            queue.max.as_ref().is_none_or(|max| {
                self.size.iter().all(|(resource, _)| {
                    max.get(resource)
                        .is_none_or(|most| after[&Who::Queue(id)].get_or_zero(resource) <= most)
                })
            })
        };
        self.is_covered(&after) && self.books.up(self.leaf).all(within)
    }

    /// Whether the ask has room on a node when these have gone.
    pub fn fits_node(&self, node: NodeId, gone: &[AllocationId]) -> bool {
        let on = gone.iter().filter(|id| self.row(**id).node == Some(node));
        let free = on.fold(self.to_come(node), |sum, id| sum.plus(self.books.node_request(*id)));
        free.fits(self.on_node)
    }

    /// Whether a victim's node was lent to it: the root says so of the node's label, which it did not name.
    pub fn is_lent(&self, victim: AllocationId) -> bool {
        let row = self.row(victim);
        let node = row.node.map(|node| self.books.node(node));
        let label = node.and_then(|node| node.attributes.get("headroom/label"));
        let Some(label) = label.filter(|label| !label.is_empty()) else { return false };
        let named = self.books.node_selector_of(victim).and_then(|wish| wish.label.as_ref());
        let partition = self.books.queue(self.leaf).partition;
        row.required_node().is_none()
            && named != Some(label)
            && naive::lend::lends(self.books, partition, label)
    }

    /// Whether a victim may be taken from its leaf.
    pub fn may_lose(&self, usage: &Usage, victim: AllocationId) -> bool {
        self.basis == Basis::Priority || self.is_lent(victim) || self.is_above(usage, victim)
    }

    /// Whether a candidate may follow those that have gone.
    fn may_follow(&self, gone: &[AllocationId], id: AllocationId) -> bool {
        let usage = self.imagined(gone);
        let mut all = gone.to_vec();
        all.push(id);
        self.may_lose(&usage, id) && self.is_lawful(&all)
    }

    /// What it costs that these go.
    pub(super) fn cost(&self, gone: &[AllocationId]) -> (bool, bool, bool, usize) {
        let owns = gone.iter().any(|id| !self.is_lent(*id));
        let reluctant = gone.iter().any(|id| !self.row(*id).preemptable);
        (owns, reluctant, gone.iter().any(|id| self.row(*id).originator), gone.len())
    }

    pub(super) fn fewest(
        &self,
        candidates: &[AllocationId],
        given_up: &[AllocationId],
        nodes_tried: bool,
    ) -> Finding {
        let left = self.remaining(&self.promised(), self.asking());
        let is_promised = left.is_some_and(|left| left.shares_type(self.size));
        if self.basis != Basis::Priority && !is_promised {
            return Finding::Nothing;
        }
        let (mut choices, mut free) = (Vec::new(), 0);
        for node in self.nodes(given_up) {
            if self.fits_node(node, &[]) {
                if !nodes_tried && free < 10 {
                    choices.push((node, Vec::new()));
                    free += 1;
                }
            } else if let Some(victims) = self.fewest_on(node, &self.on(node, candidates)) {
                choices.push((node, victims));
            }
        }
        choices.sort_by_key(|(_, victims)| self.cost(victims));
        let refused = self.asks_rm() && !choices.is_empty();
        let best = if self.asks_rm() {
            let offers: Vec<(Removal, Vec<AllocationId>)> = choices
                .into_iter()
                .map(|(node, victims)| self.offer(node, victims, candidates))
                .collect();
            let full = |node, gone: &[AllocationId]| {
                self.completed(node, gone.to_vec(), candidates, gone.len())
            };
            match self.ask_in_batches(&offers, full) {
                Ok(best) => best,
                Err(removals) => return Finding::Ask(removals),
            }
        } else {
            choices.truncate(10);
            let full = |(node, victims)| self.completed(node, victims, candidates, 0);
            choices.into_iter().filter_map(full).min_by_key(|(_, all)| self.cost(all))
        };
        match best {
            Some((node, victims)) if !victims.is_empty() => Finding::Stop(node, victims),
            Some(_) => Finding::OnItsWay,
            None if refused => Finding::Refused,
            _ => Finding::Nothing,
        }
    }

    /// What the RM is asked of a node, and who of the candidates goes there in order.
    fn offer(
        &self,
        node: NodeId,
        victims: Vec<AllocationId>,
        candidates: &[AllocationId],
    ) -> (Removal, Vec<AllocationId>) {
        let (least, mut order) = (victims.len(), victims);
        for id in self.on(node, candidates) {
            if !order[..least].contains(&id) && self.may_follow(&order, id) {
                order.push(id);
            }
        }
        let full = !self.books.node(node).available.fits(self.on_node);
        let stopping = |id: &AllocationId| {
            let row = self.row(*id);
            row.node == Some(node) && row.mark == StopRequest::Preempted
        };
        let all = self.books.allocations().iter().map(|(id, _)| id);
        let mut victims: Vec<AllocationId> = all.filter(|id| full && stopping(id)).collect();
        let least = victims.len() + least;
        victims.extend(&order);
        (Removal { node, victims, least }, order)
    }

    fn fewest_on(&self, node: NodeId, candidates: &[AllocationId]) -> Option<Vec<AllocationId>> {
        let mut gone = Vec::new();
        for &id in candidates {
            if self.fits_node(node, &gone) {
                break;
            }
            let on = |gone: &[AllocationId]| {
                gone.iter()
                    .fold(self.to_come(node), |sum, id| sum.plus(self.books.node_request(*id)))
            };
            let free = on(&gone);
            let nearer = self.on_node.iter().any(|(resource, wanted)| {
                free.get_or_zero(resource) < wanted
                    && self.books.node_request(id).get_or_zero(resource).get() > 0
            });
            if nearer && self.may_follow(&gone, id) {
                gone.push(id);
            }
        }
        self.fits_node(node, &gone)
            .then(|| Self::pruned(gone, 0, |gone| self.fits_node(node, gone)))
    }

    /// Leave out from the end every one that is not needed, the first `firm` aside.
    fn pruned(
        mut gone: Vec<AllocationId>,
        firm: usize,
        suffices: impl Fn(&[AllocationId]) -> bool,
    ) -> Vec<AllocationId> {
        for place in (firm..gone.len()).rev() {
            let mut less = gone.clone();
            less.remove(place);
            if suffices(&less) {
                gone = less;
            }
        }
        gone
    }

    fn completed(
        &self,
        node: NodeId,
        mut gone: Vec<AllocationId>,
        candidates: &[AllocationId],
        firm: usize,
    ) -> Option<(NodeId, Vec<AllocationId>)> {
        for &id in candidates {
            if self.fits_queues(&gone) {
                break;
            }
            if gone.contains(&id) || !self.may_follow(&gone, id) {
                continue;
            }
            let mut more = gone.clone();
            more.push(id);
            if self.is_nearer(&gone, &more) {
                gone = more;
            }
        }
        let suffices = |gone: &[AllocationId]| self.fits_node(node, gone) && self.fits_queues(gone);
        suffices(&gone).then(|| (node, Self::pruned(gone, firm, suffices)))
    }

    /// Whether queues or guarantees that lack something lack less with `more` gone.
    fn is_nearer(&self, gone: &[AllocationId], more: &[AllocationId]) -> bool {
        let (before, after) = (self.imagined(gone), self.imagined(more));
        let in_queues = self.books.up(self.leaf).any(|(id, queue)| {
            queue.max.as_ref().is_some_and(|max| {
                self.size.iter().any(|(resource, _)| {
                    let (was, is) = (&before[&Who::Queue(id)], &after[&Who::Queue(id)]);
                    max.get(resource).is_some_and(|most| was.get_or_zero(resource) > most)
                        && is.get_or_zero(resource) < was.get_or_zero(resource)
                })
            })
        });
        let in_guarantee = !self.is_covered(&before)
            && self.remaining(&before, self.asking()) != self.remaining(&after, self.asking());
        in_queues || in_guarantee
    }
}
