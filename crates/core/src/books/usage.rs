//! Accumulated usage of applications: amounts times seconds, by instance type of the node.
//!
//! Source: scheduling §18.2.

use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::{Quantity, Resources};
use crate::time::{Millis, Timestamp};

use super::gang::StopRequest;
use super::{Allocation, Node, NodeAttributes};

/// Accumulated usage of the released allocations of an application.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Usage {
    /// Usage of ordinary allocations.
    pub used: Spent,
    /// Usage of placeholders.
    pub placeholders: Spent,
    /// Usage of preempted allocations.
    pub preempted: Spent,
}

/// Amounts times seconds by instance type, in core units: millicore seconds, byte seconds, or seconds of one of a
/// count. Integers that saturate.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Spent(Vec<(Name, Resources)>);

impl Spent {
    /// Returns instance types with their usage, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Resources)> {
        self.0.iter().map(|(instance, spent)| (instance, spent))
    }

    /// Returns the usage of one instance type.
    pub fn of(&self, instance: &str) -> Option<&Resources> {
        let place = self.0.binary_search_by(|(known, _)| known.as_str().cmp(instance)).ok()?;
        Some(&self.0[place].1)
    }

    /// Returns whether nothing was released yet.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `size` for every complete second of `span`.
    pub(crate) fn add(&mut self, instance: Option<&Name>, size: &Resources, span: Millis) {
        let name = instance.map_or(NodeAttributes::UNKNOWN, Name::as_str);
        let place = self.0.binary_search_by(|(known, _)| known.as_str().cmp(name));
        let place = place.unwrap_or_else(|place| {
            let name = instance.cloned().unwrap_or_else(|| Name::new(name));
            self.0.insert(place, (name, Resources::new()));
            place
        });
        let seconds = i64::try_from(span.get() / 1_000).unwrap_or(i64::MAX);
        let spent = &mut self.0[place].1;
        for (resource, amount) in size.iter() {
            let sum: Quantity = spent.get_or_zero(resource).plus(amount.times(seconds));
            spent.set(resource, sum);
        }
    }
}

impl Usage {
    /// Adds the usage of an allocation that is released, in the category of the allocation.
    pub(super) fn add(&mut self, now: Timestamp, row: &Allocation, node: &Node, size: &Resources) {
        let spent = match (row.mark, row.placeholder) {
            (StopRequest::Preempted, _) => &mut self.preempted,
            (StopRequest::None | StopRequest::Released, true) => &mut self.placeholders,
            (StopRequest::None | StopRequest::Released, false) => &mut self.used,
        };
        spent.add(node.attributes.instance_type(), size, now.since(row.placed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ResourceType;

    #[test]
    fn seconds_count_whole_and_a_sum_stays_at_the_largest() {
        let size: Resources = [(ResourceType::VCORE, Quantity::of(3))].into_iter().collect();
        let mut spent = Spent::default();
        assert!(spent.is_empty());
        spent.add(None, &size, Millis::new(999));
        assert_eq!(
            spent.of("UNKNOWN").map(|one| one.get(ResourceType::VCORE)),
            Some(Some(Quantity::ZERO))
        );
        spent.add(Some(&Name::new("m5")), &size, Millis::new(2_999));
        spent.add(Some(&Name::new("m5")), &size, Millis::new(1_000));
        let m5 = spent.of("m5").map(|one| one.get_or_zero(ResourceType::VCORE));
        assert_eq!(m5, Some(Quantity::of(9)));
        let names: Vec<&Name> = spent.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["UNKNOWN", "m5"]);
        let huge = size.times(i64::MAX / 7);
        spent.add(None, &huge, Millis::from_secs(2));
        spent.add(None, &huge, Millis::from_secs(2));
        let most = spent.of("UNKNOWN").map(|one| one.get_or_zero(ResourceType::VCORE));
        assert_eq!(most, Some(Quantity::MAX));
    }
}
