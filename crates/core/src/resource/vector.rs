//! Resource vector: one lane for each type, where absent differs from zero.

use core::cmp::Ordering;
use core::fmt;

use smallvec::SmallVec;

use super::{Quantity, ResourceType};

/// Number of lanes without heap allocation. Clusters rarely have more resource types.
const INLINE: usize = 8;

/// Value of a lane whose type is absent. No [`Quantity`] has this value.
const ABSENT: i64 = i64::MIN;

/// Sparse map from resource types to amounts. An absent type differs from a zero.
///
/// The lane of a type is its number. Lanes after the last present type are not stored, so equal maps are equal values.
/// Up to eight types need no heap allocation.
#[derive(Default, PartialEq, Eq, Hash)]
pub struct Resources {
    lanes: SmallVec<[i64; INLINE]>,
}

/// Copies the slice at once instead of element by element, because vectors are cloned very often.
impl Clone for Resources {
    #[inline]
    fn clone(&self) -> Self {
        Self { lanes: SmallVec::from_slice(&self.lanes) }
    }
}

impl Resources {
    /// Returns a vector without types.
    pub const fn new() -> Self {
        Self { lanes: SmallVec::new_const() }
    }

    /// Returns the amount of a type. `None` if it is absent.
    pub fn get(&self, resource: ResourceType) -> Option<Quantity> {
        match self.lanes.get(resource.lane()) {
            None | Some(&ABSENT) => None,
            Some(&amount) => Some(Quantity::of(amount)),
        }
    }

    /// Returns the amount of a type. Zero if it is absent.
    pub fn get_or_zero(&self, resource: ResourceType) -> Quantity {
        self.get(resource).unwrap_or(Quantity::ZERO)
    }

    /// Returns whether the type is present, even with amount zero.
    pub fn has(&self, resource: ResourceType) -> bool {
        self.get(resource).is_some()
    }

    /// Sets the amount of a type.
    pub fn set(&mut self, resource: ResourceType, amount: Quantity) {
        if self.lanes.len() <= resource.lane() {
            self.lanes.resize(resource.lane() + 1, ABSENT);
        }
        self.lanes[resource.lane()] = amount.get();
    }

    /// Removes a type.
    pub fn remove(&mut self, resource: ResourceType) {
        if let Some(lane) = self.lanes.get_mut(resource.lane()) {
            *lane = ABSENT;
            self.trim();
        }
    }

    /// Returns the present types with their amounts, in the order of types.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceType, Quantity)> + Clone {
        self.lanes
            .iter()
            .enumerate()
            .filter(|(_, lane)| **lane != ABSENT)
            .map(|(lane, amount)| (ResourceType::at(lane), Quantity::of(*amount)))
    }

    /// Returns the number of present types.
    pub fn len(&self) -> usize {
        self.lanes.iter().filter(|lane| **lane != ABSENT).count()
    }

    /// Returns whether no type is present: `IsEmpty` of the specification.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Combines both vectors lane by lane over the union of types. `join` gets `None` for an absent side, never for
    /// both, and returns the lane of the result.
    #[inline]
    pub(super) fn zip(
        &self,
        other: &Self,
        join: impl Fn(Option<Quantity>, Option<Quantity>) -> Option<Quantity>,
    ) -> Self {
        let count = self.lanes.len().max(other.lanes.len());
        let mut lanes = SmallVec::with_capacity(count);
        for lane in 0..count {
            let (left, right) = (self.lane(lane), other.lane(lane));
            lanes.push(match (left, right) {
                (None, None) => ABSENT,
                _ => join(left, right).map_or(ABSENT, Quantity::get),
            });
        }
        let mut result = Self { lanes };
        result.trim();
        result
    }

    /// Changes every present lane.
    #[inline]
    pub(super) fn map(&self, change: impl Fn(Quantity) -> Option<Quantity>) -> Self {
        let mut result = self.clone();
        for lane in &mut result.lanes {
            if *lane != ABSENT {
                *lane = change(Quantity::of(*lane)).map_or(ABSENT, Quantity::get);
            }
        }
        result.trim();
        result
    }

    /// Returns whether `holds` is true for every type that is present on at least one side.
    #[inline]
    pub(super) fn all(
        &self,
        other: &Self,
        holds: impl Fn(Option<Quantity>, Option<Quantity>) -> bool,
    ) -> bool {
        let count = self.lanes.len().max(other.lanes.len());
        (0..count).all(|lane| match (self.lane(lane), other.lane(lane)) {
            (None, None) => true,
            (left, right) => holds(left, right),
        })
    }

    /// Returns the lane at this position.
    #[inline]
    pub(super) fn lane(&self, lane: usize) -> Option<Quantity> {
        match self.lanes.get(lane) {
            None | Some(&ABSENT) => None,
            Some(&amount) => Some(Quantity::of(amount)),
        }
    }

    /// Returns the stored lanes, at least `count`, for the in-place operations of this module.
    #[inline]
    pub(super) fn lanes_mut(&mut self, count: usize) -> &mut [i64] {
        if self.lanes.len() < count {
            self.lanes.resize(count, ABSENT);
        }
        &mut self.lanes
    }

    /// Removes absent lanes at the end.
    #[inline]
    pub(super) fn trim(&mut self) {
        while self.lanes.last() == Some(&ABSENT) {
            self.lanes.pop();
        }
    }

    /// Creates a vector with these lanes. Absent lanes at the end are omitted.
    #[inline]
    pub(super) fn of_lanes(lanes: &[i64]) -> Self {
        let count = lanes.iter().rposition(|lane| *lane != ABSENT).map_or(0, |last| last + 1);
        Self { lanes: SmallVec::from_slice(&lanes[..count]) }
    }

    /// Returns the raw lanes, for code that handles the value for absent lanes itself.
    #[inline]
    pub(super) fn raw(&self) -> &[i64] {
        &self.lanes
    }

    /// Returns the stored raw lanes for a change.
    #[inline]
    pub(super) fn raw_mut(&mut self) -> &mut [i64] {
        &mut self.lanes
    }

    /// Value of an absent lane.
    pub(super) const ABSENT: i64 = ABSENT;
}

impl FromIterator<(ResourceType, Quantity)> for Resources {
    fn from_iter<I: IntoIterator<Item = (ResourceType, Quantity)>>(entries: I) -> Self {
        let mut resources = Self::new();
        for (resource, amount) in entries {
            resources.set(resource, amount);
        }
        resources
    }
}

impl PartialOrd for Resources {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Resources {
    /// Orders vectors for tables only: lane by lane, absent first. The order is unrelated to size.
    fn cmp(&self, other: &Self) -> Ordering {
        self.lanes.cmp(&other.lanes)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map()
            .entries(self.iter().map(|(resource, amount)| (resource, amount.get())))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_not_zero_and_equal_maps_are_equal_values() {
        let (low, high) = (ResourceType::at(0), ResourceType::at(11));
        let mut one = Resources::new();
        one.set(low, Quantity::ZERO);
        assert_ne!(one, Resources::new());
        one.set(high, Quantity::of(3));
        one.remove(high);
        assert_eq!(one, [(low, Quantity::ZERO)].into_iter().collect());
        assert_eq!(one.get(high), None);
        assert_eq!(one.get_or_zero(high), Quantity::ZERO);
        assert_eq!((one.len(), one.is_empty()), (1, false));
    }
}
