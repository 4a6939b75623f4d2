//! Resource types in which an ask, an allocation, or a node is counted. An exclusive label, whose nodes are only for
//! asks that select it, has its own types. Source: user-headroom §10 (C18), decision page 27.

use alloc::borrow::Cow;

use crate::books::{Books, QueueSettings};
use crate::config::NodeLabelsConfig;
use crate::config::tenant::INSTANCES;
use crate::event::AskTraits;
use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Resources, type_and_label};

/// Returns the amounts in the types of a label, or unchanged without a label.
pub(super) fn counted<'amounts>(
    amounts: &'amounts Amounts,
    label: Option<&Name>,
) -> Cow<'amounts, Amounts> {
    label.map_or(Cow::Borrowed(amounts), |label| Cow::Owned(amounts.at_label(label)))
}

/// Converts amounts to the types of a label, or to plain types without one. The type that counts tasks does not change,
/// because nodes do not have it.
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

/// Returns the label that decides the types of an ask or allocation, exclusive or not: the label of its node or
/// required node, or the label that it selects.
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

/// Returns the label whose types a new ask is counted in.
pub(super) fn of_ask(
    books: &Books,
    partition: PartitionId,
    traits: &AskTraits,
    node: Option<NodeId>,
) -> Option<Name> {
    let (required, named) = (traits.required_node.as_ref(), traits.node_label.as_ref());
    exclusive(books, partition, deciding(books, partition, node, required, named))
}

/// Returns the label that decides the types of an existing ask or allocation, exclusive or not. `node` is the node on
/// which the RM reports it, if any.
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

/// Returns the label whose types an existing ask or allocation is counted in.
pub(super) fn of_known(books: &Books, known: AllocationId, node: Option<NodeId>) -> Option<Name> {
    let partition = books.application(books.allocation(known).application).partition;
    exclusive(books, partition, deciding_known(books, known, node))
}

/// Returns the label whose types the announced size of a gang is counted in: the default label of the asks of the leaf,
/// because the labels of the asks are not known yet.
pub(super) fn of_gang(books: &Books, partition: PartitionId, leaf: &QueueSettings) -> Option<Name> {
    let default = leaf.node_labels.as_ref().and_then(|labels| labels.default.as_ref());
    exclusive(books, partition, default)
}

/// Returns whether asks in a leaf can select an exclusive label other than the default.
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

/// Rejects amounts in types of a label. A request for such nodes must set the label instead.
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
