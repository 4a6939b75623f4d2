//! Idle nodes of a label, lent to asks that do not request the label. All checks are by name and ask by ask.

use alloc::vec::Vec;

use crate::books::{Allocation, Application, ApplicationState, Books, Node};
use crate::config::tenant::INSTANCES;
use crate::event::{AllocationEvent, Event};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::Timestamp;

use super::{
    all_or_nothing, applications_in_order, has_room, head_of_line, holding, in_node_order,
    in_order, link_of, pending, place, replacement,
};

/// Whether the settings of the root lend idle nodes of a label.
pub(in crate::testkit) fn lends(books: &Books, partition: PartitionId, label: &Name) -> bool {
    let root = books.queue(books.partition(partition).root);
    let labels = root.settings.node_labels.as_ref();
    labels.is_some_and(|labels| {
        let says = |all: &[Name]| all.iter().any(|one| one == label || *one == "*");
        says(&labels.exclusive) && says(&labels.lends)
    })
}

/// Whether nodes can be lent to an application. It must run, a label must be lent, and none of its pending asks can be
/// one that never borrows.
pub(super) fn borrows(books: &Books, id: ApplicationId) -> bool {
    let row = books.application(id);
    let root = books.queue(books.partition(row.partition).root);
    let lends = root.settings.node_labels.as_ref().is_some_and(|labels| !labels.lends.is_empty());
    let stays = |ask: &Allocation| ask.originator || ask.placeholder;
    let runs = row.state == ApplicationState::Running;
    lends
        && runs
        && !books.asks_about_nodes(row.partition)
        && !pending(books, id).any(|(_, ask)| stays(ask))
}

/// Returns the placement of the first ask of a leaf to which a node is lent.
pub(super) fn in_leaf(books: &Books, now: Timestamp, leaf: QueueId) -> Option<Vec<Event>> {
    if head_of_line::has_one(books, leaf) {
        return None;
    }
    applications_in_order(books, now, leaf).into_iter().find_map(|id| {
        let row = books.application(id);
        if !borrows(books, id) || all_or_nothing::is_one(books, id) {
            return None;
        }
        in_order(books, id).into_iter().find_map(|(ask, one)| {
            let anywhere = one.required_node().is_none() && one.reservation().is_none();
            let named = books.node_selector_of(ask).is_some_and(|wish| wish.label.is_some());
            let ordinary = anywhere && !named && !replacement::waits_for_place(row, one);
            if ordinary { to_ask(books, row, ask) } else { None }
        })
    })
}

fn to_ask(books: &Books, row: &Application, ask: AllocationId) -> Option<Vec<Event>> {
    let link = link_of(books, books.allocation(ask).application, row).ok()?;
    let blocked = books.node_selector_of(ask).map(|wish| wish.blocked.clone()).unwrap_or_default();
    let label_of = |node: &Node| node.attributes.get("headroom/label").cloned();
    let nodes = in_node_order(books, row.partition);
    let mut labels: Vec<Name> = nodes.iter().filter_map(|(_, node)| label_of(node)).collect();
    labels.sort();
    labels.dedup();
    for label in labels.into_iter().filter(|label| lends(books, row.partition, label)) {
        let counts = at(books, ask, &label);
        let Ok(size) = books.types().resolve(&counts) else { continue };
        let tasks = books
            .types()
            .find(INSTANCES)
            .filter(|_| books.partition(row.partition).settings.tenants.is_some());
        let needs: Resources = size.iter().filter(|(one, _)| Some(*one) != tasks).collect();
        let fits = |node: &Node| {
            label_of(node).as_ref() == Some(&label)
                && node.is_open()
                && node.available.fits(&needs)
                && !blocked.contains(&node.name)
        };
        let found: Option<NodeId> = nodes.iter().find(|(_, node)| fits(node)).map(|(id, _)| *id);
        let Some(node) = found else { continue };
        let levels = holding(books, row, link);
        let within = |max: Option<&Resources>, used: &Resources| {
            max.is_none_or(|max| max.minus_existing(used).allows(&size))
        };
        let limited = levels.iter().all(|level| within(level.max(), &level.used()));
        let root = books.queue(books.partition(row.partition).root);
        let summed = size
            .iter()
            .all(|(one, amount)| amount <= Quantity::MAX.minus(root.pending.get_or_zero(one)));
        if limited && summed && books.up(row.queue).all(|(_, queue)| has_room(queue, &size)) {
            let mut events = alloc::vec![Event::Allocation(AllocationEvent::Resized {
                allocation: ask,
                resources: counts
            })];
            events.extend(place(books, row, ask, node));
            return Some(events);
        }
    }
    None
}

/// Returns the amounts of an ask on nodes of a label.
fn at(books: &Books, ask: AllocationId, label: &Name) -> Amounts {
    let amounts = books.types().amounts(books.resources_of(ask));
    let tenants = books.partition(books.application(books.allocation(ask).application).partition);
    let has_tenants = tenants.settings.tenants.is_some();
    let there = |name: &Name| {
        if has_tenants && *name == *INSTANCES {
            name.clone()
        } else {
            Name::new(alloc::format!("{name}@{label}"))
        }
    };
    amounts.iter().map(|(name, one)| (there(name), one)).collect()
}
