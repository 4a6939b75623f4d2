//! What the parts of queues come to: from percentages, weights and amounts of the queue file to what
//! each queue is guaranteed and may use. Source: user-headroom §4.1 and §5.1.
//!
//! All of it follows from the nodes, the tree and the file. It stands in the rows of the queues,
//! where everybody reads it, and is recomputed when one of these changes. A node costs the queues
//! of its partition, a queue its siblings and what is below them. A partition without configured
//! parts costs nothing.

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

/// A queue as those below it see it.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// What it is guaranteed, of which they have parts.
    pub(crate) guaranteed: FractionVector,
    /// What it may use.
    pub(crate) max: FractionVector,
    /// How much of its partition it is guaranteed, section by section: for a queue with amounts, of
    /// the type of which it is most. Known without a node where there are only percentages and weights.
    pub(crate) shares: SmallVec<[Ratio; 1]>,
    /// How many applications a leaf below takes in that is guaranteed nothing.
    pub(crate) applications: Option<u64>,
}

/// What a queue has by its own part and those of its siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EffectiveCapacity {
    pub(crate) guaranteed: Option<Resources>,
    pub(crate) max: Option<Resources>,
    pub(crate) applications: Option<u64>,
}

/// What queues below one parent have together, of one section.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    /// In millionths of a percent.
    percent: u64,
    /// In millionths.
    weight: u64,
    absolute: Option<Resources>,
}

/// A queue's part of one section.
struct QueueFraction {
    level: (FractionVector, FractionVector),
    share: Ratio,
    guaranteed: Option<Resources>,
    max: Option<Resources>,
}

/// What all leaves of a partition go by.
#[derive(Debug)]
struct PartitionLimits {
    sections: Sections,
    /// How many applications there may be in all of it.
    applications: Option<u64>,
    per_queue: Option<u64>,
}

impl Books {
    /// Whether any queue of a partition has a part of its parent, or all leaves have one number of
    /// applications: sizes of queues are then worked out.
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

    /// A queue has a part of its parent from now on, or has none any more.
    pub(super) fn count_capacity(&mut self, partition: PartitionId, had: bool, has: bool) {
        let row = self.partition_mut(partition);
        row.capacities = row.capacities + u32::from(has) - u32::from(had);
    }

    /// Bring the sizes of the queues below one up to date, and how users share them; with `only`
    /// those of this child, and of all below it. `now` is none where only the derived data is
    /// missing: the books were read back.
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

    /// A queue as those below it see it, worked out from the root on.
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

    /// What one queue has.
    pub(super) fn sizes_of(&self, queue: QueueId) -> Option<EffectiveCapacity> {
        let row = self.queue(queue);
        let parent = row.parent?;
        let everywhere = self.everywhere(row.partition);
        let siblings = self.siblings_below(&everywhere.sections, parent);
        let above = self.level_of(parent);
        Some(self.size(&everywhere, (parent, &above), &siblings, queue).1)
    }

    /// What those below a queue have together, section by section.
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

    /// What a queue below another has, for itself and for those below it.
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
            // A queue with any guarantee can take in one.
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

    /// What a queue below another has of one section.
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

    /// How much of a partition some amounts are: of the type of which they are most.
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

    /// Amounts of the file in types that the books have met; none where none is above zero.
    fn known(&self, amounts: Option<&Amounts>) -> Option<Resources> {
        let amounts = amounts.filter(|amounts| amounts.is_strictly_positive())?;
        let types = self.types();
        Some(amounts.iter().filter_map(|(name, one)| Some((types.find(name)?, one))).collect())
    }

    /// Give a queue its sizes.
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

    /// Compute the derived data of all partitions: the books were read back.
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

/// All of something, in millionths of a percent.
pub(crate) const WHOLE: u64 = 100_000_000;

impl Siblings {
    /// So many parts a queue has by its percentage or weight, and how many there are of what is
    /// divided like that; none where it has amounts.
    const fn taken_by(&self, capacity: &CapacityConfig) -> Option<(u64, u64)> {
        match capacity.share {
            CapacityShare::Percent(value) => Some((millionths(value), WHOLE)),
            // What amounts leave to others is nobody's by weight.
            CapacityShare::Weight(_) if self.absolute.is_some() => Some((0, 1)),
            CapacityShare::Weight(value) => Some((millionths(value), self.weight)),
            CapacityShare::Absolute => None,
        }
    }

    /// Of what its parent has, what a queue has a part of, as a fraction: weights divide what
    /// percentages leave.
    const fn left_for(&self, capacity: &CapacityConfig) -> (u64, u64) {
        match capacity.share {
            CapacityShare::Weight(_) => (WHOLE.saturating_sub(self.percent), WHOLE),
            CapacityShare::Percent(_) | CapacityShare::Absolute => (1, 1),
        }
    }
}

/// Amounts of one section together with those of others.
fn combined(all: Option<Resources>, more: Option<Resources>) -> Option<Resources> {
    let Some(mut all) = all else { return more };
    for (resource, amount) in more.iter().flat_map(Resources::iter) {
        all.set(resource, amount);
    }
    Some(all)
}

/// What a queue with a part is guaranteed, before its maximum is looked at.
fn part_of(
    capacity: &CapacityConfig,
    (parent, above): (&Queue, &FractionVector),
    siblings: &Siblings,
    own: Option<&Resources>,
) -> FractionVector {
    let Some((parts, all)) = siblings.taken_by(capacity) else {
        let own = own.cloned().unwrap_or_default();
        // A plain queue above has amounts in the types that it names, and the file fits into them.
        let is_bounded = parent.parent.is_none() || parent.settings.capacity.is_some();
        return FractionVector::all(if is_bounded { scaled(&own, above, siblings) } else { own });
    };
    let (left, whole) = siblings.left_for(capacity);
    above.times(left, whole).times(parts, all)
}

/// Amounts, lowered where those of all siblings are more than there is: all by the same part, so that
/// none has what another is guaranteed.
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

/// How many applications a leaf takes in where the file says no number for it.
fn derived(everywhere: &PartitionLimits, row: &Queue, by_share: Option<u64>) -> Option<u64> {
    if !row.leaf || explicit(row).is_some() || row.is_recovery() {
        return None;
    }
    let is_absolute = row.settings.capacity.is_some_and(|one| one.share == CapacityShare::Absolute);
    let most = everywhere.applications.unwrap_or(u64::MAX);
    let number = everywhere.per_queue.filter(|_| !is_absolute).map(|number| number.min(most));
    number.or(by_share)
}

/// How many applications the file lets a queue take in.
fn explicit(row: &Queue) -> Option<u64> {
    row.settings.application_limits.as_ref()?.max
}

const fn millionths(decimal: Decimal) -> u64 {
    decimal.millionths().unsigned_abs()
}

fn natural(amount: Quantity) -> u64 {
    u64::try_from(amount.get()).unwrap_or(0)
}
