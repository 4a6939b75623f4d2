//! Views of the drivers of leaves, and of applications that wait for activation.

use alloc::vec::Vec;

use crate::books::Books;
use crate::name::Name;
use crate::resource::Amounts;
use crate::rules::activation::Gate;

/// A leaf with activation. Source: user-headroom §5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriversView {
    /// Path of the leaf.
    pub path: Name,
    /// Name of the partition.
    pub partition: Name,
    /// Limit on the drivers of all its applications. `None` is unlimited.
    pub limit: Option<Amounts>,
    /// Usage of the drivers of active applications.
    pub used: Amounts,
    /// Number of active applications.
    pub activated: u64,
    /// Number of applications that wait for activation, whose asks are not checked.
    pub parked: u64,
}

/// Returns the leaves with activation, in the order of their creation. Costs the leaves that count applications.
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
