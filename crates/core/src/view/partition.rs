//! A partition as a whole.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books, QueueState};
use crate::config::{NodeOrder, PreemptionConfig};
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

use super::amounts;
use super::percent::{Percents, percents};

/// A partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionView {
    /// Its name.
    pub name: Name,
    /// Since when it exists.
    pub since: Timestamp,
    /// Whether it takes in applications.
    pub state: QueueState,
    /// The sum of its nodes.
    pub capacity: Amounts,
    /// Allocated in it.
    pub used: Amounts,
    /// `used` in percent of `capacity`.
    pub used_percent: Percents,
    /// Which node comes first.
    pub node_order: NodeOrder,
    /// The weight of each type in that order, those by default included.
    pub node_weights: Vec<(Name, f64)>,
    /// Which kinds of preemption are on.
    pub preemption: PreemptionConfig,
    /// How many nodes it has.
    pub nodes: usize,
    /// How many allocations are in force.
    pub allocations: u64,
    /// How many applications are in each state, ended ones that are remembered included;
    /// states that none is in are left out.
    pub applications: BTreeMap<ApplicationState, usize>,
    /// How many applications were refused and are remembered.
    pub rejected: usize,
}

impl PartitionView {
    /// One partition. Counts the applications of all partitions.
    pub fn of(books: &Books, partition: PartitionId) -> Self {
        let row = books.partition(partition);
        let root = books.queue(row.root);
        let (capacity, used) =
            (amounts(books, root.max.as_ref()), amounts(books, Some(&root.allocated)));
        let mut applications = BTreeMap::new();
        for (_, application) in books.applications().iter() {
            if application.partition == partition {
                *applications.entry(application.state).or_default() += 1;
            }
        }
        let mut node_weights = row.settings.node_sort.weights.clone();
        if node_weights.is_empty() {
            node_weights = ["memory", "vcore"].map(|name| (Name::new(name), 1.0)).into();
        }
        node_weights.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self {
            name: row.name.clone(),
            since: row.since,
            state: root.state,
            used_percent: percents(&capacity, &used),
            capacity,
            used,
            node_order: row.settings.node_sort.order,
            node_weights,
            preemption: row.settings.preemption,
            nodes: row.nodes.len(),
            allocations: row.allocation_count,
            applications,
            rejected: row.rejected.len(),
        }
    }
}
