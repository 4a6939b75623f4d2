//! The drivers of a leaf, and the applications that may not begin yet.

use alloc::vec::Vec;

use crate::books::Books;
use crate::name::Name;
use crate::resource::Amounts;
use crate::rules::activation::Gate;

/// A leaf whose applications are activated one by one. Source: user-headroom §5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriversView {
    /// Path of the leaf.
    pub path: Name,
    /// Name of its partition.
    pub partition: Name,
    /// What the drivers of all its applications may have; none: anything.
    pub limit: Option<Amounts>,
    /// What those of activated applications have.
    pub used: Amounts,
    /// How many applications were activated and have not ended.
    pub activated: u64,
    /// How many are not activated: none of their asks is looked at.
    pub parked: u64,
}

/// The leaves whose applications have to be activated, in the order in which queues were made. Costs
/// the leaves whose applications are counted.
pub fn drivers(books: &Books) -> Vec<DriversView> {
    let held = books.leaves_with_drivers().filter(|(_, drivers)| drivers.holds_back());
    held.map(|(leaf, drivers)| {
        let row = books.queue(leaf);
        let limit = Gate::of(books, leaf);
        let limit = limit.as_ref().and_then(Gate::of_leaf);
        DriversView {
            path: row.path.clone(),
            partition: books.partition(row.partition).name.clone(),
            limit: limit.map(|limit| books.types().amounts(limit)),
            used: books.types().amounts(&drivers.used),
            activated: drivers.activated,
            parked: row.applications - drivers.activated,
        }
    })
    .collect()
}
