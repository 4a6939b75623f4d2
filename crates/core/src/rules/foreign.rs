//! Foreign allocations, which run on nodes and which the core does not schedule. Source: scheduling §12.4.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::Books;
use crate::command::SetForeign;
use crate::event::{Event, ForeignEvent};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Quantity;

use super::node::node_named;
use super::{Naming, labels, named, partition_named, tenant, types_fit};

/// Adds a foreign allocation, or changes its size or node. Does not check the free capacity, because the allocation
/// already runs. Its amounts can be zero (decision K-21).
pub(super) fn set(books: &Books, foreign: &SetForeign) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, &foreign.partition)?;
    named("allocation key", &foreign.key)?;
    let node = node_named(books, partition, &foreign.node)?;
    if foreign.resources.iter().any(|(_, amount)| amount < Quantity::ZERO) {
        let (key, resources) = (foreign.key.clone(), foreign.resources.clone());
        return Err(Rejection::ForeignSize { key, resources });
    }
    let what = "the foreign allocation";
    labels::are_plain(books, partition, what, &foreign.resources)?;
    tenant::are_named(books, partition, what, &foreign.resources)?;
    let resources = labels::counted(&foreign.resources, books.node(node).own_types());
    types_fit(books, &Naming::of_client(what), &resources)?;
    Ok(vec![Event::Foreign(ForeignEvent::Set {
        partition,
        key: foreign.key.clone(),
        node,
        resources: resources.into_owned(),
        preemptable: foreign.preemptable,
    })])
}

/// Removes a foreign allocation. An unknown one is already gone.
pub(super) fn release(
    books: &Books,
    partition: &Name,
    key: &Name,
) -> Result<Vec<Event>, Rejection> {
    let partition = partition_named(books, partition)?;
    let known = books.partition(partition).foreign.get(&**key).is_some();
    let gone = known.then(|| Event::Foreign(ForeignEvent::Removed { partition, key: key.clone() }));
    Ok(gone.into_iter().collect())
}
