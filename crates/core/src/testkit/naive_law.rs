//! Rules of a strict guarantee, decision D-3. Each question is answered from scratch.

use crate::books::{Books, StopRequest};
use crate::id::{AllocationId, NodeId};
use crate::resource::Resources;

use super::naive;
use super::naive_claim::{Basis, Who};
use super::naive_preempt::{Question, Usage};

impl Question<'_> {
    /// Returns the use after all preemptions that have started: the stopping allocations are gone, and their asks are
    /// placed.
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

    /// Returns the same use, with the ask placed and these victims gone.
    pub fn imagined(&self, gone: &[AllocationId]) -> Usage {
        self.without(&self.with(&self.promised(), self.asking(), self.size), gone)
    }

    /// Returns the free amount of a node after the end of all stopping allocations.
    pub fn to_come(&self, node: NodeId) -> Resources {
        let books: &Books = self.books;
        let stopping = |id: &AllocationId| {
            let row = books.allocation(*id);
            row.node == Some(node) && row.mark == StopRequest::Preempted
        };
        let all = books.allocations().iter().map(|(id, _)| id).filter(stopping);
        all.fold(books.node(node).available.clone(), |sum, id| sum.plus(books.node_request(id)))
    }

    /// Whether the rules allow all of these victims.
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

    /// Whether the ask fits in its queues and in their guarantees after the end of these victims.
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

    /// Whether the ask fits on a node after the end of these victims.
    pub fn fits_node(&self, node: NodeId, gone: &[AllocationId]) -> bool {
        let on = gone.iter().filter(|id| self.row(**id).node == Some(node));
        let free = on.fold(self.to_come(node), |sum, id| sum.plus(self.books.node_request(*id)));
        free.fits(self.on_node)
    }

    /// Whether the node of a victim was lent to it: the root lends nodes of its label, and the victim did not request
    /// the label.
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

    /// Whether a victim can be taken from its leaf.
    pub fn may_lose(&self, usage: &Usage, victim: AllocationId) -> bool {
        self.basis == Basis::Priority || self.is_lent(victim) || self.is_above(usage, victim)
    }

    /// Whether a queue or guarantee with a shortage has a smaller shortage with `more` gone than with `gone`.
    pub(super) fn is_nearer(&self, gone: &[AllocationId], more: &[AllocationId]) -> bool {
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
