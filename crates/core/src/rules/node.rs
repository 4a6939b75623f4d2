//! Commands about nodes: add, resize, drain, and remove.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Books, NodeAttributes};
use crate::command::AddNode;
use crate::event::{AskEvent, Event, NodeEvent};
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::Timestamp;

use super::lifecycle::Lifecycle;
use super::{Naming, gang, labels, named, partition_named, recovery, sum_fits, tenant, types_fit};

/// Noun phrase for the sum of the node sizes.
const TOTAL: &str = "the nodes of the partition";

/// Largest total length in bytes of the attributes of a node, keys and values together.
const ATTRIBUTE_BYTES_MAX: usize = 65_536;

pub(super) fn add(books: &Books, add: &AddNode) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &add.partition)?;
    named("node ID", &add.node)?;
    let row = books.partition(partition);
    if let Some(node) = row.nodes.get(&*add.node).copied() {
        let recovery = row.recovery.as_ref();
        if recovery.is_some_and(|recovery| recovery.lacks(node)) {
            return report(books, (partition, node), add);
        }
        return Err(Rejection::DuplicateNode {
            node: add.node.clone(),
            partition: row.name.clone(),
        });
    }
    let label = add.attributes.label().filter(|label| books.is_exclusive(partition, label));
    let capacity = check_size(books, partition, (&add.node, label), &add.capacity, None)?;
    check_attributes(&add.attributes)?;
    Ok(vec![Event::Node(NodeEvent::Added {
        partition,
        node: add.node.clone(),
        capacity: capacity.into_owned(),
        schedulable: add.schedulable,
        attributes: add.attributes.clone(),
    })])
}

/// Updates a registered node that reports again, possibly with other values. Its labels do not change.
fn report(
    books: &Books,
    (partition, node): (PartitionId, NodeId),
    add: &AddNode,
) -> Result<Vec<Event>, Rejection> {
    let mut events = resize(books, &add.partition, &add.node, &add.capacity)?;
    events.extend(set_schedulable(books, &add.partition, &add.node, add.schedulable)?);
    recovery::report(books, partition, node, &mut events);
    Ok(events)
}

pub(super) fn resize(
    books: &Books,
    partition: &Name,
    node: &Name,
    capacity: &Amounts,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let id = node_named(books, partition, node)?;
    let row = books.node(id);
    let capacity =
        check_size(books, partition, (node, row.own_types()), capacity, Some(&row.capacity))?;
    let same = books.types().resolve(&capacity).is_ok_and(|new| new.pruned() == row.capacity);
    if same {
        return Ok(Vec::new());
    }
    Ok(vec![Event::Node(NodeEvent::Resized { node: id, capacity: capacity.into_owned() })])
}

pub(super) fn set_schedulable(
    books: &Books,
    partition: &Name,
    node: &Name,
    schedulable: bool,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let node = node_named(books, partition, node)?;
    if books.node(node).schedulable == schedulable {
        return Ok(Vec::new());
    }
    Ok(vec![Event::Node(NodeEvent::Scheduling { node, schedulable })])
}

pub(super) fn remove(
    books: &Books,
    now: Timestamp,
    partition: &Name,
    node: &Name,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let node = node_named(books, partition, node)?;
    // Nothing more is placed on the node while it empties. Its allocations are released before its capacity is removed,
    // so that the headroom never falls below its final value.
    let mut events = Vec::new();
    if books.node(node).schedulable {
        events.push(Event::Node(NodeEvent::Scheduling { node, schedulable: false }));
    }
    // Asks with a reservation on the node wait as other asks do.
    let kept_for = books.node(node).reservations().iter();
    events.extend(kept_for.map(|ask| Event::Ask(AskEvent::Unreserved { ask: *ask })));
    let mut here: Vec<AllocationId> = books.allocations_on(node).map(|(id, _)| id).collect();
    here.reverse(); // The oldest first.
    let mut lives = BTreeMap::new();
    for allocation in here {
        let application = books.allocation(allocation).application;
        let life = lives.entry(application);
        let life = life.or_insert_with(|| Lifecycle::of(books, now, application));
        gang::lose(books, node, allocation, life, &mut events);
    }
    events.push(Event::Node(NodeEvent::Removed { node }));
    recovery::end_with(books, partition, node, &mut events);
    Ok(events)
}

pub(super) fn node_named(
    books: &Books,
    partition: PartitionId,
    name: &Name,
) -> Result<NodeId, Rejection> {
    let partition = books.partition(partition);
    partition.nodes.get(&**name).copied().ok_or_else(|| Rejection::UnknownNode {
        node: name.clone(),
        partition: partition.name.clone(),
    })
}

/// Rejects attributes that are longer than those of any real node, because they are stored while the node exists.
fn check_attributes(attributes: &NodeAttributes) -> Result<(), Rejection> {
    let (what, limit) = ("list of attributes", ATTRIBUTE_BYTES_MAX);
    let bytes = attributes.iter().map(|(key, value)| key.len() + value.len()).sum();
    if bytes > limit { Err(Rejection::LongName { what, bytes, limit }) } else { Ok(()) }
}

/// Returns the capacity as it is counted. Rejects a negative amount, and a sum that would overflow.
///
/// A node can have no capacity: it can be announced before its size is known (decision K-21), and a node that shrinks
/// to nothing must not receive work.
fn check_size<'size>(
    books: &Books,
    partition: PartitionId,
    (node, label): (&Name, Option<&Name>),
    capacity: &'size Amounts,
    before: Option<&Resources>,
) -> Result<Cow<'size, Amounts>, Rejection> {
    if capacity.iter().any(|(_, amount)| amount < Quantity::ZERO) {
        let (node, capacity) = (node.clone(), capacity.clone());
        return Err(Rejection::NodeSize { node, capacity });
    }
    labels::are_plain(books, partition, "the node", capacity)?;
    tenant::are_named(books, partition, "the node", capacity)?;
    let counted = labels::counted(capacity, label);
    types_fit(books, &Naming::NODE, &counted)?;
    let root = books.queue(books.partition(partition).root);
    let others = root.max.as_ref().map(|total| match before {
        Some(before) => total.minus(before),
        None => total.clone(),
    });
    sum_fits(books, TOTAL, others.as_ref(), &counted)?;
    Ok(counted)
}
