//! Resource types as small numbers.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;

use super::{Amounts, Quantity, Resources, base_of, type_and_label};

/// A resource type that the books know: a dense number, assigned in the order of first use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceType(u16);

impl ResourceType {
    /// Type `memory`, in bytes.
    pub const MEMORY: Self = Self(0);
    /// Type `vcore`, in millicores.
    pub const VCORE: Self = Self(1);

    pub(crate) const fn at(lane: usize) -> Self {
        assert!(lane < ResourceTypes::LIMIT, "decide refuses types beyond the limit");
        #[expect(clippy::cast_possible_truncation, reason = "the limit is far below")]
        Self(lane as u16)
    }

    /// Returns the position in a vector.
    pub const fn lane(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ResourceType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "r{}", self.0)
    }
}

/// Resource types that the books know, by number and by name.
///
/// Types are only added: a type has the same number for the lifetime of the books, so all vectors can be compared. At
/// most [`ResourceTypes::LIMIT`] types exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTypes {
    pub(super) names: Vec<Name>,
    pub(super) numbers: BTreeMap<Name, ResourceType>,
    /// Plain type of each labeled type. Usually empty.
    pub(super) plain: BTreeMap<ResourceType, ResourceType>,
}

impl Default for ResourceTypes {
    fn default() -> Self {
        let (names, numbers, plain) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut types = Self { names, numbers, plain };
        for name in ["memory", "vcore"] {
            types.intern(&Name::new(name));
        }
        types
    }
}

impl ResourceTypes {
    /// Largest number of types. `decide` rejects requests that would add more.
    ///
    /// A vector is as long as its highest type, so the limit prevents a hostile client from making all vectors long.
    pub const LIMIT: usize = 1_024;

    /// Largest number of known types after an ask or a tag of an application added types. So clients that submit cannot
    /// use up the types that nodes and queue files need.
    pub const LIMIT_OF_CLIENTS: usize = 512;

    /// Largest number of known types after a node added types. The rest is for queue files.
    pub const LIMIT_OF_NODES: usize = 768;

    /// Largest number of types that one ask, or the tags of one application, can add.
    pub const NEW_AT_ONCE: usize = 16;

    /// Returns the type with this name. `None` if it is not known.
    pub fn find(&self, name: &str) -> Option<ResourceType> {
        self.numbers.get(name).copied()
    }

    /// Returns the name of a type.
    pub fn name(&self, resource: ResourceType) -> &Name {
        &self.names[resource.lane()]
    }

    /// Returns all types, in the order of first use.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceType, &Name)> {
        self.names.iter().enumerate().map(|(lane, name)| (ResourceType::at(lane), name))
    }

    /// Returns the number of unknown types in `amounts`. An unknown labeled type can add its plain type as well.
    pub fn count_unknown(&self, amounts: &Amounts) -> usize {
        self.count_unknown_names(amounts.iter().map(|(name, _)| name))
    }

    /// Returns the number of unknown types among these names, which must be distinct.
    pub(crate) fn count_unknown_names<'name>(
        &self,
        names: impl Iterator<Item = &'name Name>,
    ) -> usize {
        let unknown = names.filter(|name| self.find(name).is_none());
        let brought = |name: &Name| {
            let base = base_of(name);
            usize::from(base != name.as_str() && self.find(base).is_none())
        };
        unknown.map(|name| 1 + brought(name)).sum()
    }

    /// Returns the number of known labeled types.
    pub(crate) fn labelled(&self) -> usize {
        self.plain.len()
    }

    /// Returns whether any labeled type is known.
    pub(crate) fn has_labelled(&self) -> bool {
        !self.plain.is_empty()
    }

    /// Returns the plain type of a labeled type. Returns any other type unchanged.
    pub fn plain(&self, resource: ResourceType) -> ResourceType {
        self.plain.get(&resource).copied().unwrap_or(resource)
    }

    /// Returns the amounts in plain types, for the labels that satisfy `is_label`.
    pub(crate) fn plain_sum(
        &self,
        resources: &Resources,
        is_label: impl Fn(&str) -> bool,
    ) -> Resources {
        if !self.has_labelled() {
            return resources.clone();
        }
        let mut sum = Resources::new();
        for (resource, amount) in resources.iter() {
            let label = type_and_label(self.name(resource)).map(|(_, label)| label);
            let folds = label.is_some_and(&is_label);
            let plain = if folds { self.plain(resource) } else { resource };
            sum.set(plain, sum.get_or_zero(plain).plus(amount));
        }
        sum
    }

    /// Returns the number of known types.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns `false`, because `memory` and `vcore` are always known.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the type with this name, and registers it if it is unknown. Only `apply` interns.
    pub(crate) fn intern(&mut self, name: &Name) -> ResourceType {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let base = base_of(name);
        let plain = (base != name.as_str()).then(|| self.intern(&Name::new(base)));
        let number = ResourceType::at(self.names.len());
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        if let Some(plain) = plain {
            self.plain.insert(number, plain);
        }
        number
    }

    /// Returns the vector with these amounts, and registers unknown types.
    pub(crate) fn intern_all(&mut self, amounts: &Amounts) -> Resources {
        amounts.iter().map(|(name, amount)| (self.intern(name), amount)).collect()
    }

    /// Returns the vector with these amounts.
    ///
    /// # Errors
    ///
    /// Returns the first unknown name.
    pub fn resolve(&self, amounts: &Amounts) -> Result<Resources, Name> {
        amounts
            .iter()
            .map(|(name, amount)| self.find(name).map(|found| (found, amount)).ok_or(name))
            .collect::<Result<Resources, _>>()
            .map_err(Clone::clone)
    }

    /// Returns the amounts of a vector with their names, in the order of names.
    pub fn amounts(&self, resources: &Resources) -> Amounts {
        resources
            .iter()
            .map(|(resource, amount): (ResourceType, Quantity)| {
                (self.name(resource).clone(), amount)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_in_order_of_first_use_and_kept() {
        let mut types = ResourceTypes::default();
        let gpu = types.intern(&Name::new("nvidia.com/gpu"));
        assert_eq!(types.find("memory"), Some(ResourceType::MEMORY));
        assert_eq!(types.find("vcore"), Some(ResourceType::VCORE));
        assert_eq!(gpu.lane(), 2);
        assert_eq!(types.intern(&Name::new("nvidia.com/gpu")), gpu);
        assert_eq!(types.name(gpu), &"nvidia.com/gpu");
    }

    #[test]
    fn amounts_survive_the_way_in_and_out() {
        let mut types = ResourceTypes::default();
        let amounts = Amounts::from([("zeta", 0), ("memory", 7), ("alpha", -3)]);
        assert_eq!(types.count_unknown(&amounts), 2);
        assert_eq!(types.resolve(&amounts), Err(Name::new("alpha")));
        let vector = types.intern_all(&amounts);
        assert_eq!(types.amounts(&vector), amounts);
        assert_eq!(types.resolve(&amounts), Ok(vector));
    }
}
