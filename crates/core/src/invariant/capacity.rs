//! Checks the effective capacities of queues: recomputes them for each queue and type, from the settings of the file on
//! the path.

use alloc::vec::Vec;

use crate::books::{Books, Queue};
use crate::config::{CapacityConfig, CapacityShare};
use crate::id::QueueId;
use crate::resource::{Amounts, Quantity, ResourceType, Resources};
use crate::userlimit::Decimal;

use super::{Outcome, equal};

/// Reduced fraction. If its digits overflow, the value is not checked. Test histories have few levels and small
/// numbers.
#[derive(Clone, Copy)]
struct Fraction(u128, u128);

impl Fraction {
    fn of(amount: Quantity) -> Self {
        Self(u128::try_from(amount.get()).unwrap_or(0), 1)
    }

    fn times(self, parts: u128, all: u128) -> Option<Self> {
        let (top, bottom) = (self.0.checked_mul(parts)?, self.1.checked_mul(all)?);
        let (mut left, mut right) = (top, bottom);
        while right > 0 {
            (left, right) = (right, left % right);
        }
        Some(if top == 0 { Self(0, 1) } else { Self(top / left, bottom / left) })
    }

    fn floor(self) -> Quantity {
        Quantity::of(i64::try_from(self.0 / self.1).unwrap_or(i64::MAX))
    }
}

/// A fraction, or `None` after an overflow. The inner `None` means that a queue sets nothing for a type.
type Found = Option<Option<Fraction>>;

const WHOLE: u128 = 100_000_000;

fn millionths(decimal: Decimal) -> u128 {
    u128::try_from(decimal.millionths()).unwrap_or(0)
}

/// Returns amounts with at least one positive one. Other amounts neither limit nor guarantee anything.
fn granting(amounts: Option<&Amounts>) -> Option<&Amounts> {
    amounts.filter(|amounts| amounts.is_strictly_positive())
}

/// Returns the configured fraction of a queue on the nodes of a label, or on those without one.
fn said_at(row: &Queue, label: Option<&str>) -> Option<CapacityConfig> {
    let (plain, Some(label)) = (row.settings.capacity, label) else {
        return row.settings.capacity;
    };
    let specified = row.settings.label_capacities.iter().find(|one| one.label == *label);
    let nothing = |share| CapacityConfig { share, maximum: None };
    match plain?.share {
        CapacityShare::Absolute => plain,
        _ if specified.is_some() => specified.map(|one| one.capacity),
        CapacityShare::Percent(_) => Some(nothing(CapacityShare::Percent(Decimal::ZERO))),
        CapacityShare::Weight(_) => Some(nothing(CapacityShare::Weight(Decimal::ZERO))),
    }
}

impl Books {
    /// Checks the sizes of all queues except roots, and the limits on applications of leaves.
    pub(super) fn check_capacities(&self) -> Outcome {
        for (id, partition) in self.partitions() {
            let parts = |row: &&Queue| row.partition == *id && row.settings.capacity.is_some();
            let count = self.queues().iter().map(|(_, row)| row).filter(parts).count();
            equal(&partition.name, "queues with a part", &self.has_fractional_queues(*id), &{
                let root = self.queue(partition.root).settings.application_limits.as_deref();
                count > 0 || root.is_some_and(|limits| limits.max_per_queue.is_some())
            })?;
        }
        for (id, row) in self.queues().iter().filter(|(_, row)| row.parent.is_some()) {
            if let Some(guaranteed) = self.vector(|resource| self.guarantee_of(id, resource)) {
                let guaranteed = Some(guaranteed).filter(|all| match row.settings.capacity {
                    Some(_) => !all.is_zero(),
                    None => granting(row.settings.guaranteed.as_ref()).is_some(),
                });
                equal(&row.path, "guarantee by its part", &row.guaranteed, &guaranteed)?;
            }
            if let Some(max) = self.vector(|resource| self.own_most_of(id, resource)) {
                let max = Some(max).filter(|max| !max.is_empty());
                equal(&row.path, "maximum by its part", &row.max, &max)?;
            }
            if let Some(number) = self.number_of(id) {
                let stored = row.derived_applications;
                equal(&row.path, "applications by its part", &stored, &number)?;
            }
        }
        Ok(())
    }

    fn vector(&self, of: impl Fn(ResourceType) -> Found) -> Option<Resources> {
        let mut vector = Resources::new();
        for (resource, _) in self.types().iter() {
            if let Some(amount) = of(resource)? {
                vector.set(resource, amount.floor());
            }
        }
        Some(vector)
    }

    fn total(&self, row: &Queue, resource: ResourceType) -> Option<Fraction> {
        let root = self.queue(self.partition(row.partition).root);
        root.max.as_ref()?.get(resource).map(Fraction::of)
    }

    fn specified(&self, amounts: Option<&Amounts>, resource: ResourceType) -> Option<Quantity> {
        granting(amounts)?.get(self.types().name(resource))
    }

    /// Returns the label of a type. `None` for a plain type.
    fn label_of_type(&self, row: &Queue, resource: ResourceType) -> Option<&str> {
        let (_, label) = self.types().name(resource).split_once('@')?;
        self.is_exclusive(row.partition, label).then_some(label)
    }

    /// Returns the children of a parent with a fraction, including the queue itself.
    fn of_parent(
        &self,
        parent: QueueId,
        label: Option<&str>,
    ) -> impl Iterator<Item = (&Queue, CapacityConfig)> {
        let below = self.queues().iter().filter(move |(_, row)| row.parent == Some(parent));
        below.filter_map(move |(_, row)| Some((row, said_at(row, label)?)))
    }

    /// Returns the numerator and denominator of a percentage or weight. `None` for amounts.
    fn part(
        &self,
        parent: QueueId,
        label: Option<&str>,
        share: CapacityShare,
    ) -> Option<[(u128, u128); 2]> {
        let all = || self.of_parent(parent, label).map(|(_, capacity)| capacity.share);
        let sum = |number: fn(CapacityShare) -> Option<Decimal>| -> u128 {
            all().filter_map(number).map(millionths).sum()
        };
        match share {
            CapacityShare::Percent(value) => Some([(1, 1), (millionths(value), WHOLE)]),
            CapacityShare::Weight(value) => {
                let taken = sum(|one| match one {
                    CapacityShare::Percent(value) => Some(value),
                    CapacityShare::Weight(_) | CapacityShare::Absolute => None,
                });
                let weights = sum(|one| match one {
                    CapacityShare::Weight(value) => Some(value),
                    CapacityShare::Percent(_) | CapacityShare::Absolute => None,
                });
                let nothing = weights == 0 || all().any(|one| one == CapacityShare::Absolute);
                let own = if nothing { (0, 1) } else { (millionths(value), weights) };
                Some([(WHOLE.saturating_sub(taken), WHOLE), own])
            }
            CapacityShare::Absolute => None,
        }
    }

    /// Returns the exact guarantee of a queue in one type.
    fn guarantee_of(&self, id: QueueId, resource: ResourceType) -> Found {
        let row = self.queue(id);
        let Some(parent) = row.parent else { return Some(self.total(row, resource)) };
        let own = self.specified(row.settings.guaranteed.as_ref(), resource);
        let label = self.label_of_type(row, resource);
        let Some(capacity) = said_at(row, label) else {
            return Some(own.map(Fraction::of));
        };
        let above = self.guarantee_of(parent, resource)?;
        let found = match self.part(parent, label, capacity.share) {
            Some([left, own]) => match above {
                Some(above) => Some(above.times(left.0, left.1)?.times(own.0, own.1)?),
                None => None,
            },
            None => own.map(|own| {
                let siblings = self.of_parent(parent, label);
                let absolute = siblings.filter(|(_, one)| one.share == CapacityShare::Absolute);
                let each = absolute
                    .map(|(row, _)| self.specified(row.settings.guaranteed.as_ref(), resource));
                let sum: u128 = each.flatten().map(|one| Fraction::of(one).0).sum();
                let above_row = self.queue(parent);
                let bounded = above_row.parent.is_none() || above_row.settings.capacity.is_some();
                let room = Fraction::of(above.map(Fraction::floor).unwrap_or_default()).0;
                let own = Fraction::of(own).0;
                Fraction(if bounded && sum > room { own * room / sum } else { own }, 1)
            }),
        };
        let Some(found) = found else { return Some(None) };
        let most = self.most_of(id, resource)?.map(Fraction::floor);
        Some(Some(match most.filter(|most| *most < found.floor()) {
            Some(most) => Fraction::of(most),
            None => found,
        }))
    }

    /// Returns the exact maximum of a queue in one type, limited by its ancestors and the cluster.
    fn most_of(&self, id: QueueId, resource: ResourceType) -> Found {
        let row = self.queue(id);
        let Some(parent) = row.parent else { return Some(self.total(row, resource)) };
        let Some(above) = self.most_of(parent, resource)? else { return Some(None) };
        let capacity = said_at(row, self.label_of_type(row, resource));
        let percent = capacity.and_then(|capacity| capacity.maximum);
        let percent = percent.map_or(WHOLE, millionths).min(WHOLE);
        let part = above.times(percent, WHOLE)?;
        let own = self.specified(row.settings.max.as_ref(), resource);
        Some(Some(match own.filter(|own| *own < part.floor()) {
            Some(own) => Fraction::of(own),
            None => part,
        }))
    }

    /// Returns the exact maximum by the settings of the queue itself.
    fn own_most_of(&self, id: QueueId, resource: ResourceType) -> Found {
        let row = self.queue(id);
        let own = self.specified(row.settings.max.as_ref(), resource);
        let capacity = said_at(row, self.label_of_type(row, resource));
        let percent = capacity.and_then(|capacity| capacity.maximum);
        let percent = percent.map_or(WHOLE, millionths);
        let parent = row.parent.filter(|_| percent < WHOLE);
        let part = match parent.map(|parent| self.most_of(parent, resource)) {
            Some(above) => match above? {
                Some(above) => Some(above.times(percent, WHOLE)?),
                None => None,
            },
            None => None,
        };
        let both = part.map(Fraction::floor).into_iter().chain(own);
        Some(both.min().map(Fraction::of))
    }

    /// Returns the guaranteed fraction of all nodes with a label, or without one.
    fn share(&self, id: QueueId, label: Option<&str>) -> Option<Fraction> {
        let row = self.queue(id);
        let Some(parent) = row.parent else { return Some(Fraction(1, 1)) };
        let capacity = said_at(row, label);
        let part = capacity.and_then(|capacity| self.part(parent, label, capacity.share));
        if let Some([left, own]) = part {
            return self.share(parent, label)?.times(left.0, left.1)?.times(own.0, own.1);
        }
        let mut most = Fraction(0, 1);
        for (resource, _) in self.types().iter() {
            let Some(all) = self.total(row, resource) else { continue };
            if self.label_of_type(row, resource) != label {
                continue;
            }
            let own = self.guarantee_of(id, resource)?.map(Fraction::floor).unwrap_or_default();
            let own = Fraction::of(own.min(all.floor())).times(1, all.0)?;
            if own.0.checked_mul(most.1)? > most.0.checked_mul(own.1)? {
                most = own;
            }
        }
        Some(most)
    }

    /// Returns the limit on applications of a leaf for which the file sets none.
    #[expect(clippy::option_option, reason = "the outer one says that a fraction did not fit")]
    fn number_of(&self, id: QueueId) -> Option<Option<u64>> {
        let specified =
            |row: &Queue| row.settings.application_limits.as_ref().and_then(|one| one.max);
        let path: Vec<(QueueId, &Queue)> = self.up(id).collect();
        let (_, root) = path.last().expect("a path has a root");
        let (row, capacity) = (self.queue(id), self.queue(id).settings.capacity);
        if !row.leaf || specified(row).is_some() || row.is_recovery() {
            return Some(None);
        }
        let all = specified(root);
        let each = root.settings.application_limits.as_ref().and_then(|one| one.max_per_queue);
        let absolute = capacity.is_some_and(|one| one.share == CapacityShare::Absolute);
        if let Some(each) = each.filter(|_| !absolute) {
            return Some(Some(all.map_or(each, |all| all.min(each))));
        }
        if capacity.is_none() {
            return Some(None);
        }
        // The nearest queue with a number counts, whether configured or implied by a fraction.
        for (id, row) in path {
            if let Some(number) = specified(row) {
                return Some(Some(number));
            }
            let mut labels: Vec<Option<&str>> = alloc::vec![None];
            labels
                .extend(self.types().iter().map(|(resource, _)| self.label_of_type(row, resource)));
            let mut most = None;
            for label in labels {
                let share = self.share(id, label)?;
                if let (Some(all), true) = (all, row.settings.capacity.is_some() && share.0 > 0) {
                    let part = u128::from(all).checked_mul(share.0)? / share.1;
                    most = most.max(Some(u64::try_from(part).unwrap_or(u64::MAX).max(1)));
                }
            }
            if most.is_some() {
                return Some(most);
            }
        }
        Some(None)
    }
}
