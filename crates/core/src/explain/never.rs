//! What no release makes way for.

use crate::books::Books;
use crate::id::{AllocationId, PartitionId};
use crate::resource::Resources;
use crate::userlimit::Formula;
use crate::wait::{About, Blocker, Compared};

/// Whether an ask fails a check whatever is given back, as long as limits and nodes are what they
/// are. Then it is larger than a maximum or a limit, or than every node that it may have. In doubt
/// the answer is no.
pub(super) fn is_final(books: &Books, ask: AllocationId, blocker: Blocker) -> bool {
    if takes_a_place(books, ask) || may_borrow(books, ask) {
        return false;
    }
    if blocker.row().is_permanent {
        return true;
    }
    if let About::AnyNode(partition) = blocker.about() {
        return !any_node(books, partition, ask);
    }
    let asked = &*books.total_request(ask);
    match blocker.compared() {
        Compared::Queue(queue) => {
            books.queue(queue).max.as_ref().is_some_and(|max| !max.allows(asked))
        }
        Compared::Limit(partition, level) => {
            let level = books.partition(partition).trackers.level(level);
            level.max().is_some_and(|max| !max.allows(asked))
        }
        Compared::Cap(partition, level) => {
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
        // What is foreign there may go.
        Compared::Size(node) => !books.node(node).capacity.fits(books.node_request(ask)),
        Compared::Nothing
        | Compared::Share(..)
        | Compared::RunningIn(_)
        | Compared::RunningAt(..)
        | Compared::ActivatedIn(_)
        | Compared::ActivatedOf(..)
        | Compared::DriversIn(_)
        | Compared::DriversOf(..)
        | Compared::LeftByHead(_)
        | Compared::Free(_)
        | Compared::MostFree(_) => false,
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
    let named = books.node_selector_of(ask).is_some_and(|wish| wish.label.is_some());
    !named && !row.is_homebound() && books.has_lending(books.application(row.application).partition)
}

/// Whether some node in use would have room if it were empty.
fn any_node(books: &Books, partition: PartitionId, ask: AllocationId) -> bool {
    let (row, asked) = (books.allocation(ask), books.node_request(ask));
    let mut nodes = books.partition(partition).nodes.iter().map(|(_, id)| *id);
    nodes.any(|id| {
        let node = books.node(id);
        let mine = row.reservation().is_some_and(|kept| kept.node == id);
        (node.schedulable || mine) && node.capacity.fits(asked) && books.suits(row.shape, id)
    })
}
