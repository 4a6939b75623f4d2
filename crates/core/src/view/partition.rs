//! Views of partitions.

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
    /// Name of the partition.
    pub name: Name,
    /// Time of its creation.
    pub since: Timestamp,
    /// State, which determines whether it accepts applications.
    pub state: QueueState,
    /// Sum of its nodes.
    pub capacity: Amounts,
    /// Usage of the partition.
    pub used: Amounts,
    /// `used` as a percentage of `capacity`.
    pub used_percent: Percents,
    /// Order of the nodes.
    pub node_order: NodeOrder,
    /// Weight of each type in that order, including defaults.
    pub node_weights: Vec<(Name, f64)>,
    /// Enabled kinds of preemption.
    pub preemption: PreemptionConfig,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of allocations.
    pub allocations: u64,
    /// Number of applications by state, including stored ended ones. States without applications are omitted.
    pub applications: BTreeMap<ApplicationState, usize>,
    /// Number of stored rejected applications.
    pub rejected: usize,
}

impl PartitionView {
    /// Returns the view of one partition. Costs the applications of all partitions.
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
