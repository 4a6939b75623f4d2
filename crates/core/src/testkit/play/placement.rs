//! Counts of a placement before it is applied.

use crate::event::{AllocationEvent, AskEvent, Event};
use crate::id::{AllocationId, NodeId};

use super::super::naive::behind_hold as naive_behind_hold;
use super::super::random::PARTITIONS;
use super::Player;

use alloc::format;

impl Player<'_> {
    /// Returns whether nothing was released on the reserved node of an ask for so long that others come first.
    fn is_in_vain(&self, ask: AllocationId) -> bool {
        let at = self.world.books.reservation_in_vain_at(ask);
        at.is_some_and(|at| at <= self.world.now)
    }

    /// Counts the cases of a placement before it is applied.
    pub(super) fn count_placement(&mut self, event: &Event) {
        let reservation = |ask: &AllocationId| self.world.books.allocation(*ask).reservation();
        let required = |ask: &AllocationId| self.world.books.allocation(*ask).required_node();
        let what = match event {
            Event::Ask(AskEvent::Reserved { ask, .. }) if required(ask).is_some() => {
                "reserved a required node"
            }
            Event::Ask(AskEvent::Reserved { .. }) => "reserved a node",
            Event::Ask(AskEvent::Unreserved { ask }) if self.is_in_vain(*ask) => {
                "reservation given up in vain"
            }
            Event::Ask(AskEvent::Unreserved { ask })
                if naive_behind_hold(&self.world.books) == Some(*ask) =>
            {
                "reservation given up for a hold"
            }
            Event::Ask(AskEvent::Unreserved { .. }) => "reservation ended otherwise",
            Event::Ask(AskEvent::Placed { ask, .. }) if required(ask).is_some() => {
                "placed on a required node"
            }
            Event::Ask(AskEvent::Placed { ask, node })
                if reservation(ask).is_some_and(|reservation| reservation.node == *node) =>
            {
                "placed on its reserved node"
            }
            Event::Ask(AskEvent::Placed { ask, .. }) if reservation(ask).is_some() => {
                "placed on another than reserved"
            }
            _ => "",
        };
        if !what.is_empty() {
            self.count(what);
        }
        if let Event::Allocation(AllocationEvent::Preempted { victim, .. }) = event
            && self.is_lent(*victim, self.world.books.allocation(*victim).node)
        {
            self.count("took back a node that was lent");
        }
        let Event::Ask(AskEvent::Placed { ask, node }) = event else { return };
        if self.is_lent(*ask, Some(*node)) {
            self.count("lent a node");
        }
        let woken = self.waiting.get(ask).copied();
        let row = self.world.books.allocation(*ask);
        let leaf = self.world.books.application(row.application).queue;
        let from_line = row.hold().is_some() && self.world.books.has_line(leaf);
        for (happened, what) in [
            (from_line, "placed with a hold from a line"),
            (self.nodes_tie(*node), "placed where nodes tie"),
            (self.applications_tie(*ask), "placed where applications tie"),
            (self.is_in_second(*node), "placed in the second partition"),
            (woken.is_some() && self.released, "woken by a release"),
        ] {
            if happened {
                self.count(what);
            }
        }
        if let Some(code) = woken {
            self.count(format!("woke from {code}"));
        }
    }

    /// Whether the node is lent to this allocation: nodes of its label are lent, and the allocation does not request
    /// the label.
    fn is_lent(&self, one: AllocationId, node: Option<NodeId>) -> bool {
        let books = &self.world.books;
        let Some(node) = node.map(|node| books.node(node)) else { return false };
        let named = books.node_selector_of(one).and_then(|wish| wish.label.as_ref());
        let free = books.allocation(one).required_node().is_none();
        node.lends() && free && named != node.label()
    }

    /// Whether another node has the same capacity and the same use as this node.
    fn nodes_tie(&self, node: NodeId) -> bool {
        let books = &self.world.books;
        let chosen = books.node(node);
        books.nodes().iter().any(|(id, one)| {
            id != node
                && one.partition == chosen.partition
                && one.schedulable
                && (&one.capacity, &one.available) == (&chosen.capacity, &chosen.available)
        })
    }

    /// Whether another application of the leaf has the same age and pending asks.
    fn applications_tie(&self, ask: AllocationId) -> bool {
        let books = &self.world.books;
        let row = books.application(books.allocation(ask).application);
        books.applications_in(row.queue).any(|(_, one)| {
            one.number != row.number && one.ask_count > 0 && one.submitted == row.submitted
        })
    }

    fn is_in_second(&self, node: NodeId) -> bool {
        let books = &self.world.books;
        books.partition(books.node(node).partition).name == PARTITIONS[1]
    }
}
