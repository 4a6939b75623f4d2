//! Attributes of a node.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::name::Name;

/// Arbitrary keys and values of a node, sorted by key. They do not change after the registration.
///
/// Cheap to clone: a clone costs a reference count. Most nodes have few attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeAttributes(Option<Arc<[(Name, Name)]>>);

impl NodeAttributes {
    /// Key of the host name.
    pub const HOST: &'static str = "si/hostname";
    /// Key of the rack name.
    pub const RACK: &'static str = "si/rackname";
    /// Key of the instance type.
    pub const INSTANCE_TYPE: &'static str = "si/instance-type";
    /// Key of the label. Source: decision L-10.
    pub const LABEL: &'static str = "headroom/label";
    /// Instance type of a node without this attribute. Source: scheduling §2.1.
    pub const UNKNOWN: &'static str = "UNKNOWN";

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Name> {
        let all = self.0.as_deref()?;
        let place = all.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()?;
        Some(&all[place].1)
    }

    /// Returns keys and values in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.0.iter().flat_map(|all| all.iter()).map(|(key, value)| (key, value))
    }

    /// Returns the label of the node, if it has one.
    pub fn label(&self) -> Option<&Name> {
        self.get(Self::LABEL).filter(|name| !name.is_empty())
    }

    /// Returns the instance type, by which usage is summed up.
    pub fn instance_type(&self) -> Option<&Name> {
        self.get(Self::INSTANCE_TYPE).filter(|name| !name.is_empty())
    }
}

impl<K: Into<Name>, V: Into<Name>> FromIterator<(K, V)> for NodeAttributes {
    /// Collects attributes. The first of several values for one key counts.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into()));
        let mut all: Vec<(Name, Name)> = entries.collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(one, _), (other, _)| one == other);
        Self((!all.is_empty()).then(|| all.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_values_the_first_counts_and_an_empty_instance_type_is_none() {
        let key = NodeAttributes::INSTANCE_TYPE;
        let attributes: NodeAttributes =
            [(key, "m5"), ("zone", "a"), (key, "m6")].into_iter().collect();
        assert_eq!(attributes.instance_type(), Some(&Name::new("m5")));
        assert_eq!(attributes.iter().count(), 2);
        assert_eq!(attributes.get("zone"), Some(&Name::new("a")));
        assert_eq!(attributes.get("si/rackname"), None);
        let none: NodeAttributes = [(key, "")].into_iter().collect();
        assert_eq!(none.instance_type(), None);
        let empty: NodeAttributes = core::iter::empty::<(Name, Name)>().collect();
        assert_eq!((empty.iter().count(), empty), (0, NodeAttributes::default()));
    }
}
