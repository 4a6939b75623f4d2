//! In which types an ask, an allocation or a node is counted: those of a label, where its nodes are
//! for asks that name it alone. User-headroom §10 (C18), decision page 27.

use alloc::borrow::Cow;

use crate::books::{Books, QueueSettings};
use crate::config::NodeLabelsConfig;
use crate::config::tenant::INSTANCES;
use crate::event::AskTraits;
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Resources, type_and_label};

/// Amounts in the types of a label, or as they are.
pub(super) fn counted<'amounts>(
    amounts: &'amounts Amounts,
    label: Option<&Name>,
) -> Cow<'amounts, Amounts> {
    label.map_or(Cow::Borrowed(amounts), |label| Cow::Owned(amounts.at_label(label)))
}

/// What is counted in types of one label, or in plain ones, in those of another, or in plain ones: nodes
/// do not have the type that counts tasks, which stays as it is.
pub(crate) fn at_label(
    books: &Books,
    partition: PartitionId,
    amounts: &Resources,
    label: Option<&Name>,
) -> Amounts {
    let plain = books.plain(partition, amounts);
    let mut there = counted(&plain, label).into_owned();
    if let Some(tasks) = books.instances_of(partition, amounts) {
        there.set(INSTANCES, tasks);
    }
    there
}

/// The label by which an ask or allocation is counted, exclusive or not: that of the node that it has, or
/// must have, and else the one that it names.
fn deciding<'a>(
    books: &'a Books,
    partition: PartitionId,
    node: Option<NodeId>,
    required: Option<&Name>,
    named: Option<&'a Name>,
) -> Option<&'a Name> {
    let find = |name: &Name| books.partition(partition).nodes.get(&**name).copied();
    match node.or_else(|| required.and_then(find)) {
        Some(node) => books.node(node).label(),
        None if required.is_some() => None,
        None => named,
    }
}

/// The label in whose types a new ask is counted.
pub(super) fn of_ask(
    books: &Books,
    partition: PartitionId,
    traits: &AskTraits,
    node: Option<NodeId>,
) -> Option<Name> {
    let (required, named) = (traits.required_node.as_ref(), traits.node_label.as_ref());
    exclusive(books, partition, deciding(books, partition, node, required, named))
}

/// The label by which an ask or allocation that is known is counted, exclusive or not; it runs on this node
/// by now, if the RM says so.
pub(super) fn deciding_known(
    books: &Books,
    known: AllocationId,
    node: Option<NodeId>,
) -> Option<&Name> {
    let row = books.allocation(known);
    let partition = books.application(row.application).partition;
    let named = books.node_selector_of(known).and_then(|wish| wish.label.as_ref());
    deciding(books, partition, row.node.or(node), row.required_node(), named)
}

/// The label in whose types it is counted.
pub(super) fn of_known(books: &Books, known: AllocationId, node: Option<NodeId>) -> Option<Name> {
    let partition = books.application(books.allocation(known).application).partition;
    exclusive(books, partition, deciding_known(books, known, node))
}

/// The label in whose types a gang is counted that an application announces in a leaf, as far as anybody
/// knows then: that which its asks have by default.
pub(super) fn of_gang(books: &Books, partition: PartitionId, leaf: &QueueSettings) -> Option<Name> {
    let default = leaf.node_labels.as_ref().and_then(|labels| labels.default.as_ref());
    exclusive(books, partition, default)
}

/// Whether asks in a leaf may name an exclusive label, and so be counted in types of it.
pub(super) fn may_name_another(
    books: &Books,
    partition: PartitionId,
    leaf: &QueueSettings,
) -> bool {
    let root = books.queue(books.partition(partition).root);
    let labels = root.settings.node_labels.as_ref();
    let mut exclusive = labels.iter().flat_map(|labels| &labels.exclusive);
    exclusive.any(|label| match &leaf.node_labels {
        None => true,
        Some(labels) if *label == *NodeLabelsConfig::ANY => {
            labels.accessible.as_ref().is_none_or(|all| !all.is_empty())
        }
        Some(labels) => labels.allows(label),
    })
}

fn exclusive(books: &Books, partition: PartitionId, label: Option<&Name>) -> Option<Name> {
    label.filter(|label| books.is_exclusive(partition, label)).cloned()
}

/// Refuse amounts in types of a label: who wants nodes of a label names the label.
pub(super) fn are_plain(
    books: &Books,
    partition: PartitionId,
    what: &'static str,
    amounts: &Amounts,
) -> Result<(), Rejection> {
    for (resource, _) in amounts.iter() {
        if let Some((plain, label)) = type_and_label(resource)
            && books.is_exclusive(partition, label)
        {
            let (plain, label) = (Name::new(plain), Name::new(label));
            return Err(Rejection::TypeOfLabel { what, resource: resource.clone(), plain, label });
        }
    }
    Ok(())
}
