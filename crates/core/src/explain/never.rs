//! What no release makes way for.

use crate::books::Books;
use crate::id::{AllocationId, PartitionId};
use crate::resource::Resources;
use crate::userlimit::Formula;
use crate::wait::Blocker;

/// Whether an ask fails a check whatever is given back, as long as limits and nodes are what they are: it is
/// larger than a maximum or a limit, or than every node that it may have. In doubt it is not said.
pub(super) fn is_final(books: &Books, ask: AllocationId, blocker: Blocker) -> bool {
    if takes_a_place(books, ask) || may_borrow(books, ask) {
        return false;
    }
    let asked = &*books.whole_of(ask);
    match blocker {
        Blocker::QueueMax(queue) => {
            books.queue(queue).max.as_ref().is_some_and(|max| !max.allows(asked))
        }
        Blocker::Limit(partition, level) => {
            let level = books.partition(partition).trackers.level(level);
            level.max().is_some_and(|max| !max.allows(asked))
        }
        Blocker::UserCap(partition, level) => {
            let leaf = books.partition(partition).trackers.level(level).queue;
            let users = books.users_of(leaf);
            // The other formulas look at what is used.
            let users = users.filter(|users| users.rules().formula == Formula::Smooth);
            users.and_then(|users| Some((users, users.user(level)?))).is_some_and(
                |(users, user)| {
                    let (counted, nothing) = (users.normalised(asked), Resources::new());
                    users.rules().exceeds_cap(users.outline(), user.weight, &nothing, &counted)
                },
            )
        }
        Blocker::Nodes(partition)
        | Blocker::NodesReserved(partition)
        | Blocker::NodeBlocked(partition)
        | Blocker::NoSuchLabel(partition) => !any_node(books, partition, ask),
        // What is foreign there may go.
        Blocker::RequiredNodeSize(node) => !books.node(node).capacity.fits(books.on_node(ask)),
        Blocker::NodeAbsent(_) => true,
        Blocker::QueueState(_)
        | Blocker::QueueApplications(_)
        | Blocker::LimitApplications(..)
        | Blocker::ParallelApplications(_)
        | Blocker::ParallelOfUser(..)
        | Blocker::DriverQueue(_)
        | Blocker::DriverUser(..)
        | Blocker::UserShare(..)
        | Blocker::KeptNode(_)
        | Blocker::Preempting(_)
        | Blocker::Order(..)
        | Blocker::RequiredNode(_)
        | Blocker::Placeholders(..)
        | Blocker::AwaitingRm(_)
        | Blocker::RmBusy(_)
        | Blocker::RmAway(_)
        | Blocker::NoNodes(_)
        | Blocker::NodeConstraint(_)
        | Blocker::BackOff(_)
        | Blocker::BehindHead(..) => false,
    }
}

/// Whether it may take the place of a placeholder, which counts already.
fn takes_a_place(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let application = books.application(row.application);
    !row.placeholder && row.task_group().is_some_and(|group| application.waits_for_place(group))
}

/// Whether idle nodes of a label may be lent to it, which are counted elsewhere.
fn may_borrow(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let named = books.wish_of(ask).is_some_and(|wish| wish.label.is_some());
    !named && !row.is_homebound() && books.has_lending(books.application(row.application).partition)
}

/// Whether some node in use would have room if it were empty.
fn any_node(books: &Books, partition: PartitionId, ask: AllocationId) -> bool {
    let (row, asked) = (books.allocation(ask), books.on_node(ask));
    let mut nodes = books.partition(partition).nodes.iter().map(|(_, id)| *id);
    nodes.any(|id| {
        let node = books.node(id);
        let mine = row.reservation().is_some_and(|kept| kept.node == id);
        (node.schedulable || mine) && node.capacity.fits(asked) && books.suits(row.shape, id)
    })
}
