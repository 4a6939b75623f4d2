//! Checks asks and allocations after deserialization, and rebuilds their keys, lists, and counts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Allocation, Application, Books};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId};
use crate::stored::Unsound;

use super::{Outcome, before, relink};

/// Counts of the asks and allocations of an application or a partition.
#[derive(Clone, Copy, Default, PartialEq)]
struct Counts {
    asks: u64,
    allocations: u64,
    swaps: u64,
    placeholders: u64,
    reservations: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.asks += other.asks;
        self.allocations += other.allocations;
        self.swaps += other.swaps;
        self.placeholders += other.placeholders;
        self.reservations += other.reservations;
    }

    fn count(&mut self, row: &Allocation) {
        if row.is_pending() {
            self.asks += 1;
        } else if row.is_swapping() {
            self.swaps += 1;
        } else {
            self.allocations += 1;
            self.placeholders += u64::from(row.placeholder);
        }
        self.reservations += u64::from(row.reservation().is_some());
    }

    fn stored_by(row: &Application) -> Self {
        Self {
            asks: row.ask_count.into(),
            allocations: row.allocation_count.into(),
            swaps: row.swap_count.into(),
            placeholders: row.placeholders().1.into(),
            reservations: row.reservation_count.into(),
        }
    }
}

impl Books {
    pub(super) fn settle_allocations(&mut self) -> Outcome {
        let mut uses = vec![0; self.shapes.slots()];
        // Members that replace a placeholder on the same node. The list of the node has the placeholder.
        let mut unlisted = BTreeSet::new();
        let mut open = BTreeMap::new();
        for (id, row) in self.allocations.iter() {
            let known = self.shapes.has(row.shape);
            Unsound::unless(known, &row.key, "its shape")?;
            uses[row.shape.index()] += 1;
            let counted = row.number.unsigned_abs() <= self.asks.unsigned_abs();
            Unsound::unless(counted, &row.key, "its number")?;
            if !row.has_only_common_fields() {
                self.check_special(id, row, &mut open)?;
                let held = row.partner().filter(|_| row.is_swapping());
                let held = held.and_then(|held| self.allocations.get(held));
                if held.is_some_and(|held| held.node == row.node) {
                    unlisted.insert(id);
                }
            }
            let listed = row.node.is_some() && !unlisted.contains(&id);
            let alone = listed || row.next_on_node.is_none();
            Unsound::unless(alone, &row.key, "what is behind it on a node")?;
        }
        self.shapes.settle(&uses, &self.nodes)?;
        for (id, row) in &self.partitions {
            let counted = open.get(id).copied().unwrap_or(0) == row.open_questions.count;
            Unsound::unless(counted, &row.name, "its open questions")?;
        }
        let sums = self.relink_by_application()?;
        self.relink_by_node(&unlisted)?;
        self.name_allocations(&sums)
    }

    /// Checks that the IDs in rare fields exist. Counts open questions.
    fn check_special(
        &self,
        id: AllocationId,
        row: &Allocation,
        open: &mut BTreeMap<PartitionId, u32>,
    ) -> Outcome {
        if let Some(reservation) = row.reservation() {
            let node = self.nodes.get(reservation.node);
            let known = node.is_some_and(|node| node.reservations.contains(&id));
            Unsound::unless(known && row.is_pending(), &row.key, "the node reserved for it")?;
        }
        if let Some(partner) = row.partner() {
            let holds = self.allocations.get(partner).is_some_and(|partner| {
                partner.partner() == Some(id)
                    && partner.application == row.application
                    && partner.placeholder != row.placeholder
                    && partner.node.is_some()
            });
            Unsound::unless(holds && row.node.is_some(), &row.key, "its partner in a swap")?;
        }
        if let Some(inquiry) = row.inquiry() {
            Unsound::unless(inquiry.is_sound(), &row.key, "what the RM was asked about it")?;
            if inquiry.is_open() {
                let application = self.applications.get(row.application);
                let application =
                    application.ok_or_else(|| Unsound::dangling(&row.key, "an application"))?;
                *open.entry(application.partition).or_insert(0) += 1;
            }
        }
        Ok(())
    }

    fn relink_by_application(&mut self) -> Result<BTreeMap<PartitionId, Counts>, Unsound> {
        let ids: Vec<ApplicationId> = self.applications.iter().map(|(id, _)| id).collect();
        let (mut sums, mut listed) = (BTreeMap::new(), 0);
        for id in ids {
            let owner = &self.applications[id];
            let Some(first) = owner.first_allocation else {
                let nothing = Counts::stored_by(owner) == Counts::default();
                Unsound::unless(nothing, &owner.name, "its asks and allocations")?;
                continue;
            };
            let (name, mut counts, mut homebound) = (&owner.name, Counts::default(), 0);
            let rows = &mut self.allocations;
            let (count, _) = relink(rows, Some(first), name, |_, row, previous| {
                Unsound::unless(row.application == id, name, "its asks and allocations")?;
                before(&mut row.previous_in_application, previous, name)?;
                counts.count(row);
                homebound += u32::from(row.is_pending() && row.is_homebound());
                Ok(row.next_in_application)
            })?;
            let counted = counts == Counts::stored_by(owner);
            Unsound::unless(counted, name, "the number of its asks and allocations")?;
            let linked = owner.link.is_some() || counts.allocations == 0;
            Unsound::unless(linked, name, "its trackers and what it has")?;
            listed += count as usize;
            sums.entry(owner.partition).or_insert_with(Counts::default).add(counts);
            self.applications[id].homebound = homebound;
        }
        let all = listed == self.allocations.len();
        Unsound::unless(all, "all allocations", "those in the lists of their applications")?;
        Ok(sums)
    }

    fn relink_by_node(&mut self, unlisted: &BTreeSet<AllocationId>) -> Outcome {
        let ids: Vec<NodeId> = self.nodes.iter().map(|(id, _)| id).collect();
        let mut listed = 0;
        for id in ids {
            let node = &self.nodes[id];
            let (name, rows) = (&node.name, &mut self.allocations);
            let (count, _) = relink(rows, node.first_allocation, name, |one, row, previous| {
                let here = row.node == Some(id) && !unlisted.contains(&one);
                Unsound::unless(here, name, "its allocations")?;
                before(&mut row.previous_on_node, previous, name)?;
                Ok(row.next_on_node)
            })?;
            let counted = count == node.allocation_count;
            Unsound::unless(counted, name, "the number of its allocations")?;
            listed += count as usize;
        }
        let placed = self.allocations.iter().filter(|(_, row)| row.node.is_some()).count();
        let all = listed + unlisted.len() == placed;
        Unsound::unless(all, "all allocations", "those in the lists of their nodes")
    }

    fn name_allocations(&mut self, sums: &BTreeMap<PartitionId, Counts>) -> Outcome {
        // With one partition, every row belongs to it.
        let several = self.partitions.len() > 1;
        for (id, partition) in &mut self.partitions {
            let counts = Counts {
                asks: partition.ask_count,
                allocations: partition.allocation_count,
                swaps: partition.swap_count,
                placeholders: partition.placeholder_count,
                reservations: partition.reservation_count,
            };
            let counted = sums.get(id).copied().unwrap_or_default();
            let name = &partition.name;
            Unsound::unless(counts == counted, name, "the number of asks and allocations")?;
            let all = counts.asks + counts.allocations + counts.swaps;
            let named = partition.allocations.len() as u64 == all;
            Unsound::unless(named, name, "the allocations found by key")?;
            let (rows, applications) = (&self.allocations, &self.applications);
            let here = |row: &&Allocation| {
                let owner = || applications.get(row.application).map(|one| one.partition);
                !several || owner() == Some(*id)
            };
            partition.allocations.name(|one| {
                let row = rows.get(*one).filter(here);
                let row = row.ok_or_else(|| Unsound::dangling(name, "an allocation"))?;
                Ok::<_, Unsound>(row.key.clone())
            })?;
        }
        Ok(())
    }
}
