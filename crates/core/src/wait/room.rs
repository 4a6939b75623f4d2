//! How much room nodes have for an ask: the one that counts for it, or all.

use alloc::format;
use alloc::string::String;

use crate::books::Books;
use crate::id::{AllocationId, NodeId};
use crate::resource::{Resources, told};
use crate::schedule::preempt;

use super::{Blocker, Wait, figures_of};

/// About room on the only node that counts: one that is kept, or that is required.
pub(super) fn of_one_node(wait: &Wait, books: &Books, id: NodeId, ask: &Resources) -> String {
    let (subject, node) = (wait.blocker.subject(books), books.node(id));
    let amounts = |resources: &Resources| books.types().amounts(resources);
    let wanted = amounts(ask);
    let beside = |resources: &Resources| told(&wanted, [&amounts(resources), &wanted]);
    let [free, needs] = beside(&node.available);
    match wait.blocker {
        Blocker::KeptNode(_) => format!(
            "{subject} is kept for the ask and has {free} free, the ask needs {needs}; wait for a release there, or for another node with room"
        ),
        Blocker::Preempting(_) => {
            let stopping = preempt::stopping(books, id).map(|one| books.on_node(one));
            let [room, _] = beside(&stopping.fold(Resources::new(), |sum, one| sum.plus(one)));
            format!(
                "{subject} is kept for the ask and has {free} free, the ask needs {needs}; what was asked to stop there has {room}; wait until it has stopped"
            )
        }
        Blocker::RequiredNodeSize(_) if node.capacity.fits(ask) => {
            let [left, needs] = beside(&node.capacity.minus_floored(&node.occupied));
            format!(
                "{subject} is the only one that the ask may run on, and less what others than the scheduler run there it has {left}, the ask needs {needs}; have these go elsewhere, or ask for less"
            )
        }
        Blocker::RequiredNodeSize(_) => {
            let [size, needs] = beside(&node.capacity);
            format!(
                "{subject} is the only one that the ask may run on, and its size is {size}, the ask needs {needs}; enlarge the node, or ask for less"
            )
        }
        _ => format!(
            "{subject} is the only one that the ask may run on; it has {free} free, the ask needs {needs}; wait for a release there"
        ),
    }
}

/// About the only node that counts, where it is not there.
pub(super) fn of_absent_node(books: &Books, ask: AllocationId) -> String {
    let name = books.allocation(ask).required_node().map_or("", |name| name.as_str());
    format!(
        "node {name}, the only one that the ask may run on, is not registered; register it, or withdraw the ask"
    )
}

/// About room on any node.
pub(super) fn of_nodes(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let (members, ask) = (books.members_of(books.allocation(ask).application), books.on_node(ask));
    let Some(short) = wait.shortfall else {
        let wanted = books.types().amounts(ask);
        let [needs] = told(&wanted, [&wanted]);
        if members > 1 {
            return format!(
                "not all fit: the {members} members of the task start together and need {needs} each, and the nodes in use do not have room for all of them at once; wait for a release, or add nodes"
            );
        }
        return format!(
            "no node fits: no single node in use has {needs} free, though each amount is free somewhere; wait for a release, or add nodes"
        );
    };
    let (name, [needed, most]) = figures_of(books, short, [short.needed, short.available]);
    format!(
        "no node fits: the ask needs {needed} {name}, the most that any node in use has free is {most}; wait for a release, or add nodes"
    )
}
