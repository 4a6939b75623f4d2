//! Sums that are recomputed from allocations, asks, applications, and nodes.

use alloc::collections::BTreeMap;

use crate::books::{Allocation, Application, ApplicationState, Books, StopRequest};
use crate::id::{ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::resource::{Quantity, ResourceType, Resources};

use super::NOTHING;

#[derive(Default)]
pub(super) struct ApplicationSum {
    pub(super) pending: Resources,
    pub(super) allocated: Resources,
    /// Part of the usage that belongs to placeholders.
    pub(super) held: Resources,
    pub(super) asks: u32,
    /// Number of asks that never borrow a node.
    pub(super) homebound: u32,
    pub(super) allocations: u32,
    pub(super) placeholders: u32,
    pub(super) swaps: u32,
    pub(super) reservations: u32,
}

#[derive(Default)]
pub(super) struct QueueSum {
    /// Exact pending sums, also beyond 64 bits.
    pub(super) pending: BTreeMap<ResourceType, i128>,
    pub(super) allocated: Resources,
    pub(super) preempting: Resources,
    pub(super) running: u64,
    pub(super) allocating: u64,
    pub(super) children: u32,
    pub(super) applications: u32,
}

impl QueueSum {
    /// Returns the pending sums as a queue shows them: truncated at the largest amount, without zeros.
    pub(super) fn shown_pending(&self) -> Resources {
        let shown = |exact: i128| i64::try_from(exact).map_or(Quantity::MAX, Quantity::of);
        let sums = self.pending.iter().map(|(resource, exact)| (*resource, shown(*exact)));
        sums.filter(|(_, amount)| *amount != Quantity::ZERO).collect()
    }

    /// Returns the exact pending sums of the types that a queue shows as the largest amount.
    pub(super) fn largest_pending(&self) -> BTreeMap<ResourceType, i128> {
        let sums = self.pending.iter().map(|(resource, exact)| (*resource, *exact));
        sums.filter(|(_, exact)| *exact >= i128::from(i64::MAX)).collect()
    }
}

#[derive(Default)]
pub(super) struct LevelSum {
    pub(super) used: Resources,
    pub(super) running: u64,
    pub(super) links: u64,
}

/// Sums that are recomputed from allocations, asks, applications, and nodes.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) applications: BTreeMap<ApplicationId, ApplicationSum>,
    pub(super) queues: BTreeMap<QueueId, QueueSum>,
    pub(super) nodes: BTreeMap<NodeId, Resources>,
    pub(super) on_node: BTreeMap<NodeId, u32>,
    /// Usage of foreign allocations by node.
    pub(super) foreign: BTreeMap<NodeId, Resources>,
    pub(super) levels: BTreeMap<(PartitionId, LevelId), LevelSum>,
    pub(super) sizes: BTreeMap<PartitionId, Resources>,
    /// Number of unfinished applications.
    pub(super) active: BTreeMap<PartitionId, usize>,
}

impl Sums {
    pub(super) fn of(books: &Books) -> Self {
        let mut sums = Self::default();
        for (_, node) in books.nodes().iter() {
            sums.sizes.entry(node.partition).or_default().add(&node.capacity);
        }
        for one in books.partitions().values().flat_map(|row| row.foreign.iter()) {
            sums.foreign.entry(one.1.node).or_default().add(&one.1.resources);
        }
        for (_, queue) in books.queues().iter() {
            if let Some(parent) = queue.parent {
                sums.queues.entry(parent).or_default().children += 1;
            }
        }
        for (_, row) in books.applications().iter() {
            // Most applications have ended and count nowhere.
            if row.state.is_active() || row.link.is_some() {
                sums.count_application(books, row);
            }
        }
        for (id, row) in books.allocations().iter() {
            let resources = books.resources_of(id);
            let sum = sums.applications.entry(row.application).or_default();
            let mut node = row.node;
            if row.is_pending() {
                sum.pending.add(resources);
                sum.asks += 1;
                sum.homebound += u32::from(row.originator || row.placeholder);
            } else if row.is_swapping() {
                sum.swaps += 1;
                // On the node of the placeholder, the placeholder counts until the RM has stopped it.
                let held = row.partner().and_then(|one| books.allocations().get(one));
                node = node.filter(|node| held.and_then(|held| held.node) != Some(*node));
            } else {
                sum.allocated.add(resources);
                sum.allocations += 1;
                if row.placeholder {
                    sum.held.add(resources);
                    sum.placeholders += 1;
                }
            }
            sum.reservations += u32::from(row.reservation().is_some());
            if let Some(node) = node {
                sums.nodes.entry(node).or_default().add(books.node_request(id));
                *sums.on_node.entry(node).or_default() += 1;
            }
            sums.charge(books, row, resources);
        }
        sums
    }

    fn count_application(&mut self, books: &Books, row: &Application) {
        if row.state.is_active() {
            self.queues.entry(row.queue).or_default().applications += 1;
            *self.active.entry(row.partition).or_default() += 1;
        }
        if row.state == ApplicationState::Running {
            for (queue, _) in books.up(row.queue) {
                self.queues.entry(queue).or_default().running += 1;
            }
        }
        if row.allocating {
            for (queue, _) in books.up(row.queue) {
                self.queues.entry(queue).or_default().allocating += 1;
            }
        }
        let Some(link) = row.link else { return };
        let trackers = &books.partition(row.partition).trackers;
        let group = link.group.level().map(|level| (level, row.counted_by_group()));
        for (leaf, counted) in core::iter::once((link.user, row.counted)).chain(group) {
            for (level, _) in trackers.up(leaf) {
                let sum = self.levels.entry((row.partition, level)).or_default();
                sum.links += 1;
                sum.running += u64::from(counted);
            }
        }
        // Amounts that were not charged to a group are subtracted here, because its allocations add them later.
        let untold = row.charged_to_group().map(|charged| row.allocated.minus(&charged));
        for (level, _) in link.group.level().into_iter().flat_map(|leaf| trackers.up(leaf)) {
            let sum = self.levels.entry((row.partition, level)).or_default();
            sum.used = sum.used.minus(untold.as_ref().unwrap_or(&NOTHING));
        }
    }

    fn charge(&mut self, books: &Books, allocation: &Allocation, resources: &Resources) {
        if allocation.is_swapping() {
            return;
        }
        let row = books.application(allocation.application);
        let placed = allocation.is_allocated();
        for (queue, _) in books.up(row.queue) {
            let sum = self.queues.entry(queue).or_default();
            if placed {
                sum.allocated.add(resources);
            } else {
                for (resource, amount) in resources.iter() {
                    *sum.pending.entry(resource).or_default() += i128::from(amount.get());
                }
            }
            if allocation.mark == StopRequest::Preempted {
                sum.preempting.add(resources);
            }
        }
        for (level, _) in books.levels_of(allocation.application).filter(|_| placed) {
            self.levels.entry((row.partition, level)).or_default().used.add(resources);
        }
    }
}
