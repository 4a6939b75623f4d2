//! `nodelabels` of a queue: the labeled nodes to which it has access. Source: user-headroom §4 and §10 (C18), decision
//! page 25.

use alloc::vec::Vec;

use crate::name::Name;

/// Label settings of one queue, as configured or as effective there. An absent value is inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeLabelsConfig {
    /// `accessible`: labels that asks can select, in order and without duplicates. [`Self::ANY`] allows all. Nodes
    /// without a label are always accessible.
    pub accessible: Option<Vec<Name>>,
    /// `default`: label of asks that select none. Empty for nodes without a label.
    pub default: Option<Name>,
    /// `exclusive`, only for the root: labels whose nodes are only for asks that select them, in order and without
    /// duplicates. [`Self::ANY`] means all. Their nodes are counted in separate types, such as `vcore@gpu`.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub exclusive: Vec<Name>,
    /// `lends`, only for the root: exclusive labels whose idle nodes are lent to asks without a label, in order and
    /// without duplicates. [`Self::ANY`] means all exclusive labels.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub lends: Vec<Name>,
}

impl NodeLabelsConfig {
    /// Word for all labels.
    pub const ANY: &'static str = "*";

    /// Returns the effective settings of a queue with this configuration, given those of its parent.
    #[must_use]
    pub fn below(&self, above: Option<&Self>) -> Self {
        let of = |above: Option<&Self>| above.cloned().unwrap_or_default();
        Self {
            accessible: self.accessible.clone().or_else(|| of(above).accessible),
            default: self.default.clone().or_else(|| of(above).default),
            exclusive: self.exclusive.clone(), // It is the root's, as is the next.
            lends: self.lends.clone(),
        }
    }

    /// Returns whether nodes of a label are only for asks that select it.
    pub fn is_exclusive(&self, label: &str) -> bool {
        Self::names(&self.exclusive, label)
    }

    /// Returns whether idle nodes of a label are lent to asks without a label.
    pub fn lends(&self, label: &str) -> bool {
        Self::names(&self.lends, label) && self.is_exclusive(label)
    }

    /// Returns whether asks can select a label. Without a configured list, they can select all.
    pub fn allows(&self, label: &str) -> bool {
        self.accessible.as_ref().is_none_or(|all| Self::names(all, label))
    }

    /// Returns whether a list contains a label, or means all labels.
    pub fn names(all: &[Name], label: &str) -> bool {
        all.iter().any(|one| *one == *label || *one == *Self::ANY)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    #[doc(alias = "C18")]
    fn each_key_is_that_of_the_nearest_queue_that_has_it() {
        let label = |text: &str| Name::new(text);
        let above = NodeLabelsConfig {
            accessible: Some(vec![label("fpga"), label("gpu")]),
            default: Some(label("gpu")),
            exclusive: vec![label("gpu")],
            lends: vec![label("*")],
        };
        let own = NodeLabelsConfig { accessible: Some(Vec::new()), ..NodeLabelsConfig::default() };
        let none = own.below(Some(&above));
        assert_eq!(none.default, Some(label("gpu")));
        assert!(above.is_exclusive("gpu") && !above.is_exclusive("fpga"));
        assert!(!none.is_exclusive("gpu"), "only the root has that setting");
        assert!(above.lends("gpu") && !above.lends("fpga"), "others are shared anyway");
        assert!(!none.lends("gpu"), "only the root has that setting, too");
        assert!(above.allows("gpu") && !above.allows("tpu") && !none.allows("gpu"));
        assert!(NodeLabelsConfig::default().allows("gpu"), "nobody says which");
        let any =
            NodeLabelsConfig { accessible: Some(vec![label("*")]), ..NodeLabelsConfig::default() };
        assert!(any.below(Some(&above)).allows("tpu"));
    }
}
