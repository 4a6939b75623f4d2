//! Effective capacities of queues: computes guarantees and maxima from percentages, weights, and amounts of the queue
//! file. Source: user-headroom §4.1 and §5.1.
//!
//! All values follow from the nodes, the tree, and the file. They are stored in the rows of the queues and recomputed
//! after a change. A change of a node costs the queues of its partition. A change of a queue costs its siblings and
//! their descendants. A partition without configured fractions has no cost.

mod ratio;

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::config::{CapacityConfig, CapacityShare};
use crate::id::{PartitionId, QueueId};
use crate::resource::{Amounts, Quantity, Resources, Sections};
use crate::time::Timestamp;
use crate::userlimit::Decimal;

use super::quota_clock::QuotaChange;
use super::{Books, Queue};

pub(crate) use ratio::{FractionVector, Ratio};

/// Values of a queue that its children need.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// Guarantee, of which the children have fractions.
    pub(crate) guaranteed: FractionVector,
    /// Maximum.
    pub(crate) max: FractionVector,
    /// Guaranteed fraction of the partition, by section. For a queue with amounts, the largest fraction over all types.
    /// Percentages and weights determine it even without nodes.
    pub(crate) shares: SmallVec<[Ratio; 1]>,
    /// Limit on applications of a child leaf without a guarantee.
    pub(crate) applications: Option<u64>,
}

/// Effective values of a queue, based on its own fraction and those of its siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EffectiveCapacity {
    pub(crate) guaranteed: Option<Resources>,
    pub(crate) max: Option<Resources>,
    pub(crate) applications: Option<u64>,
}

/// Sums over the children of one parent, in one section.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    /// Sum of the percentages, in millionths of a percent.
    percent: u64,
    /// Sum of the weights, in millionths.
    weight: u64,
    absolute: Option<Resources>,
}

/// Values of a queue in one section.
struct QueueFraction {
    level: (FractionVector, FractionVector),
    share: Ratio,
    guaranteed: Option<Resources>,
    max: Option<Resources>,
}

/// Properties of the partition that apply to all leaves.
#[derive(Debug)]
struct PartitionLimits {
    sections: Sections,
    /// Limit on applications of the partition.
    applications: Option<u64>,
    per_queue: Option<u64>,
}

impl Books {
    /// Returns whether a queue of the partition has a fraction of its parent, or the root sets a limit on applications
    /// for all leaves. Only then are effective values computed.
    pub(crate) fn has_fractional_queues(&self, partition: PartitionId) -> bool {
        let row = self.partition(partition);
        let root = self.queue(row.root).settings.application_limits.as_deref();
        row.capacities > 0 || root.is_some_and(|limits| limits.max_per_queue.is_some())
    }

    fn everywhere(&self, partition: PartitionId) -> PartitionLimits {
        let root = self.queue(self.partition(partition).root);
        let limits = root.settings.application_limits.as_deref();
        PartitionLimits {
            sections: self.sections_of(partition),
            applications: limits.and_then(|limits| limits.max),
            per_queue: limits.and_then(|limits| limits.max_per_queue),
        }
    }

    /// Updates the number of queues with a fraction.
    pub(super) fn count_capacity(&mut self, partition: PartitionId, had: bool, has: bool) {
        let row = self.partition_mut(partition);
        row.capacities = row.capacities + u32::from(has) - u32::from(had);
    }

    /// Recomputes the sizes of the descendants of a queue, and the shares of users. `only` restricts the update to the
    /// subtree of one child.
    ///
    /// `now` is `None` after the books were deserialized, when only derived data is missing.
    pub(super) fn divide(
        &mut self,
        now: Option<Timestamp>,
        parent: QueueId,
        only: Option<QueueId>,
    ) {
        let partition = self.queue(parent).partition;
        let everywhere = self.everywhere(partition);
        let mut open: Vec<(QueueId, Level)> = alloc::vec![(parent, self.level_of(parent))];
        let mut only = only;
        while let Some((parent, above)) = open.pop() {
            let siblings = self.siblings_below(&everywhere.sections, parent);
            let only = only.take();
            let below = self.children(parent).map(|(id, _)| id);
            let below: Vec<QueueId> =
                below.filter(|id| only.is_none_or(|only| only == *id)).collect();
            for id in below {
                let (level, sizes) = self.size(&everywhere, (parent, &above), &siblings, id);
                self.resize_queue(now, id, sizes);
                if self.queue(id).child_count > 0 {
                    open.push((id, level));
                }
            }
        }
    }

    /// Returns the values of a queue that its children need, computed from the root.
    pub(crate) fn level_of(&self, queue: QueueId) -> Level {
        let path = self.path_of(queue);
        let root = self.queue(path[0]);
        let everywhere = self.everywhere(root.partition);
        let total = root.max.clone().unwrap_or_default();
        let mut level = Level {
            guaranteed: FractionVector::all(total.clone()),
            max: FractionVector::all(total),
            shares: everywhere.sections.iter().map(|_| Ratio::one()).collect(),
            applications: everywhere.applications,
        };
        for pair in path.windows(2) {
            let [parent, child] = pair else { break };
            let siblings = self.siblings_below(&everywhere.sections, *parent);
            (level, _) = self.size(&everywhere, (*parent, &level), &siblings, *child);
        }
        level
    }

    /// Returns the effective values of one queue.
    pub(super) fn sizes_of(&self, queue: QueueId) -> Option<EffectiveCapacity> {
        let row = self.queue(queue);
        let parent = row.parent?;
        let everywhere = self.everywhere(row.partition);
        let siblings = self.siblings_below(&everywhere.sections, parent);
        let above = self.level_of(parent);
        Some(self.size(&everywhere, (parent, &above), &siblings, queue).1)
    }

    /// Returns the sums over the children of a queue, by section.
    fn siblings_below(&self, sections: &Sections, parent: QueueId) -> SmallVec<[Siblings; 1]> {
        let below = |section: usize| {
            let mut all = Siblings::default();
            for (_, child) in self.children(parent) {
                let capacity = child.settings.capacity_at(sections.label(section));
                match capacity.map(|capacity| capacity.share) {
                    Some(CapacityShare::Percent(value)) => all.percent += millionths(value),
                    Some(CapacityShare::Weight(value)) => all.weight += millionths(value),
                    Some(CapacityShare::Absolute) => {
                        let own = self.known(child.settings.guaranteed.as_ref());
                        let own = own.unwrap_or_default();
                        all.absolute.get_or_insert_default().add(&sections.only(section, &own));
                    }
                    None => {}
                }
            }
            all
        };
        sections.iter().map(below).collect()
    }

    /// Returns the effective values of a child, and the values that its own children need.
    fn size(
        &self,
        everywhere: &PartitionLimits,
        (parent, above): (QueueId, &Level),
        siblings: &[Siblings],
        id: QueueId,
    ) -> (Level, EffectiveCapacity) {
        let row = self.queue(id);
        let mut level = Level {
            guaranteed: FractionVector::default(),
            max: FractionVector::default(),
            shares: SmallVec::new(),
            applications: None,
        };
        let (mut guaranteed, mut max) = (None, None);
        for (section, siblings) in siblings.iter().enumerate() {
            let part =
                self.part_in((&everywhere.sections, section), (parent, above), siblings, row);
            level.guaranteed.join(part.level.0);
            level.max.join(part.level.1);
            level.shares.push(part.share);
            guaranteed = combined(guaranteed, part.guaranteed);
            max = combined(max, part.max);
        }
        let has_part = row.settings.capacity.is_some();
        let by_share = everywhere.applications.filter(|_| has_part).and_then(|all| {
            let some = level.shares.iter().filter(|share| !share.is_zero());
            // A queue with any positive share accepts at least one application.
            some.map(|share| share.of(all).max(1)).max()
        });
        let number = by_share.or(above.applications);
        level.applications = explicit(row).or(number);
        let sizes = EffectiveCapacity {
            guaranteed: guaranteed.filter(|amounts| !has_part || !amounts.is_zero()),
            max,
            applications: derived(everywhere, row, number.filter(|_| has_part)),
        };
        (level, sizes)
    }

    /// Returns the values of a child in one section.
    fn part_in(
        &self,
        (sections, section): (&Sections, usize),
        (parent, above): (QueueId, &Level),
        siblings: &Siblings,
        row: &Queue,
    ) -> QueueFraction {
        let mine = |amounts: Option<&Amounts>| {
            let own = self.known(amounts).map(|own| sections.only(section, &own));
            own.filter(|own| sections.is_single() || !own.is_empty())
        };
        let (own, own_max) =
            (mine(row.settings.guaranteed.as_ref()), mine(row.settings.max.as_ref()));
        let above_max = above.max.only(sections, section);
        let capacity = row.settings.capacity_at(sections.label(section));
        let percent = capacity.and_then(|capacity| capacity.maximum);
        let percent = percent.filter(|percent| *percent < Decimal::HUNDRED);
        let part = percent.map(|percent| above_max.times(millionths(percent), WHOLE));
        let max = part.clone().unwrap_or(above_max);
        let max = own_max.iter().fold(max, FractionVector::at_most);
        let part = part.map(|part| part.amounts()).filter(|part| !part.is_empty());
        let shown_max = Resources::min_of(part.as_ref(), own_max.as_ref());
        let Some(capacity) = capacity else {
            let guaranteed = own.clone().unwrap_or_default();
            let share = self.share_of(row.partition, &guaranteed);
            let level = (FractionVector::all(guaranteed), max);
            return QueueFraction { level, share, guaranteed: own, max: shown_max };
        };
        let above_guaranteed = above.guaranteed.only(sections, section);
        let parent = self.queue(parent);
        let guaranteed = part_of(&capacity, (parent, &above_guaranteed), siblings, own.as_ref());
        let guaranteed = guaranteed.at_most(&max.amounts());
        let amounts = guaranteed.amounts();
        let share = match siblings.taken_by(&capacity) {
            Some((parts, all)) => {
                let (left, whole) = siblings.left_for(&capacity);
                above.shares[section].times(left, whole).times(parts, all)
            }
            None => self.share_of(row.partition, &amounts),
        };
        QueueFraction { level: (guaranteed, max), share, guaranteed: Some(amounts), max: shown_max }
    }

    /// Returns the largest fraction of the partition that the amounts are, over all types.
    fn share_of(&self, partition: PartitionId, amounts: &Resources) -> Ratio {
        let root = self.queue(self.partition(partition).root);
        let mut most = (0_u64, 1_u64);
        for (resource, total) in root.max.iter().flat_map(Resources::iter) {
            let (part, all) = (natural(amounts.get_or_zero(resource)), natural(total));
            let is_more =
                u128::from(part) * u128::from(most.1) > u128::from(most.0) * u128::from(all);
            if is_more {
                most = (part.min(all), all);
            }
        }
        Ratio::one().times(most.0, most.1)
    }

    /// Returns amounts of the file in known types. `None` if no amount is positive.
    fn known(&self, amounts: Option<&Amounts>) -> Option<Resources> {
        let amounts = amounts.filter(|amounts| amounts.is_strictly_positive())?;
        let types = self.types();
        Some(amounts.iter().filter_map(|(name, one)| Some((types.find(name)?, one))).collect())
    }

    /// Sets the effective values of a queue.
    fn resize_queue(&mut self, now: Option<Timestamp>, id: QueueId, sizes: EffectiveCapacity) {
        let EffectiveCapacity { guaranteed, max, applications } = sizes;
        let row = self.queue(id);
        let same = (&row.guaranteed, &row.max) == (&guaranteed, &max);
        if same && row.derived_applications == applications {
            return;
        }
        let row = &mut self.queues[id];
        row.derived_applications = applications;
        let Some(now) = now.filter(|_| !same) else { return };
        row.guaranteed = guaranteed;
        if row.max == max {
            return;
        }
        let before = row.max.clone();
        row.set_max(max);
        let delay = row.settings.values.quota_preemption_delay;
        let change = QuotaChange {
            max_before: before.as_ref(),
            delay_before: delay,
            max: row.max.as_ref(),
            delay,
            used: &row.allocated,
            tenant: row.settings.tenant.is_some(),
        };
        let at = change.fires_at(now, row.quota_preemption_at);
        row.quota_preemption_at = at.filter(|_| row.managed);
    }

    /// Recomputes the derived data of all partitions after the books were deserialized.
    #[cfg(feature = "snapshot")]
    pub(super) fn divide_all(&mut self) {
        let partitions: Vec<PartitionId> = self.partitions.keys().copied().collect();
        for partition in partitions {
            let of = |row: &&Queue| row.partition == partition && row.settings.capacity.is_some();
            let count = self.queues.iter().map(|(_, row)| row).filter(of).count();
            let row = self.partition_mut(partition);
            row.capacities = u32::try_from(count).unwrap_or(u32::MAX);
            let root = row.root;
            if self.has_fractional_queues(partition) {
                self.divide(None, root, None);
            }
        }
    }
}

/// The whole, in millionths of a percent.
pub(crate) const WHOLE: u64 = 100_000_000;

impl Siblings {
    /// Returns the fraction of a queue with a percentage or a weight, as parts and total. `None` for a queue with
    /// amounts.
    const fn taken_by(&self, capacity: &CapacityConfig) -> Option<(u64, u64)> {
        match capacity.share {
            CapacityShare::Percent(value) => Some((millionths(value), WHOLE)),
            // Capacity that amounts leave over is not split by weights.
            CapacityShare::Weight(_) if self.absolute.is_some() => Some((0, 1)),
            CapacityShare::Weight(value) => Some((millionths(value), self.weight)),
            CapacityShare::Absolute => None,
        }
    }

    /// Returns the fraction of the parent that percentages leave for weights. For other queues, the whole.
    const fn left_for(&self, capacity: &CapacityConfig) -> (u64, u64) {
        match capacity.share {
            CapacityShare::Weight(_) => (WHOLE.saturating_sub(self.percent), WHOLE),
            CapacityShare::Percent(_) | CapacityShare::Absolute => (1, 1),
        }
    }
}

/// Returns the amounts of two disjoint sections together.
fn combined(all: Option<Resources>, more: Option<Resources>) -> Option<Resources> {
    let Some(mut all) = all else { return more };
    for (resource, amount) in more.iter().flat_map(Resources::iter) {
        all.set(resource, amount);
    }
    Some(all)
}

/// Returns the guarantee of a queue with a fraction, before its maximum is applied.
fn part_of(
    capacity: &CapacityConfig,
    (parent, above): (&Queue, &FractionVector),
    siblings: &Siblings,
    own: Option<&Resources>,
) -> FractionVector {
    let Some((parts, all)) = siblings.taken_by(capacity) else {
        let own = own.cloned().unwrap_or_default();
        // A parent without a fraction has amounts in the types that it names, and the file check ensures that they
        // suffice.
        let is_bounded = parent.parent.is_none() || parent.settings.capacity.is_some();
        return FractionVector::all(if is_bounded { scaled(&own, above, siblings) } else { own });
    };
    let (left, whole) = siblings.left_for(capacity);
    above.times(left, whole).times(parts, all)
}

/// Returns the amounts, lowered if the sum of all siblings exceeds the parent. All siblings are lowered by the same
/// fraction, so that none gets the guarantee of another.
fn scaled(own: &Resources, above: &FractionVector, siblings: &Siblings) -> Resources {
    static NOTHING: Resources = Resources::new();
    let sum = siblings.absolute.as_ref().unwrap_or(&NOTHING);
    let lowered = own.iter().map(|(resource, amount)| {
        let (all, room) = (natural(sum.get_or_zero(resource)), above.amount(resource));
        if all <= room {
            return (resource, amount);
        }
        let part = u128::from(natural(amount)) * u128::from(room) / u128::from(all);
        (resource, Quantity::of(i64::try_from(part).unwrap_or(i64::MAX)))
    });
    lowered.collect()
}

/// Returns the limit on applications of a leaf for which the file sets none.
fn derived(everywhere: &PartitionLimits, row: &Queue, by_share: Option<u64>) -> Option<u64> {
    if !row.leaf || explicit(row).is_some() || row.is_recovery() {
        return None;
    }
    let is_absolute = row.settings.capacity.is_some_and(|one| one.share == CapacityShare::Absolute);
    let most = everywhere.applications.unwrap_or(u64::MAX);
    let number = everywhere.per_queue.filter(|_| !is_absolute).map(|number| number.min(most));
    number.or(by_share)
}

/// Returns the limit on applications of a queue in the file.
fn explicit(row: &Queue) -> Option<u64> {
    row.settings.application_limits.as_ref()?.max
}

const fn millionths(decimal: Decimal) -> u64 {
    decimal.millionths().unsigned_abs()
}

fn natural(amount: Quantity) -> u64 {
    u64::try_from(amount.get()).unwrap_or(0)
}
