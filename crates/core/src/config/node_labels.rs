//! `nodelabels` of a queue: to which nodes with a label it has access. Source: user-headroom §4 and
//! §10 (C18), decision page 25.

use alloc::vec::Vec;

use crate::name::Name;

/// What one queue says of labels, or what is in force there; what is absent is as above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeLabelsConfig {
    /// `accessible`: the labels that asks may name, in order, each once; [`Self::ANY`] for all. Nodes
    /// without a label are accessible to all.
    pub accessible: Option<Vec<Name>>,
    /// `default`: the label of asks that name none; empty for nodes without a label.
    pub default: Option<Name>,
    /// `exclusive`, of the root: the labels whose nodes are for asks that name them, in order, each
    /// once; [`Self::ANY`] for all. What they have is counted in types of its own, `vcore@gpu`.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub exclusive: Vec<Name>,
    /// `lends`, of the root: those of the exclusive labels whose idle nodes are lent to asks that name
    /// none, in order, each once; [`Self::ANY`] for all of them.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub lends: Vec<Name>,
}

impl NodeLabelsConfig {
    /// The word for all labels.
    pub const ANY: &'static str = "*";

    /// What is in force where this is configured, below what is in force above.
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

    /// Whether nodes of a label are for asks that name it, and for no others.
    pub fn is_exclusive(&self, label: &str) -> bool {
        Self::names(&self.exclusive, label)
    }

    /// Whether idle nodes of a label are lent to asks that name none.
    pub fn lends(&self, label: &str) -> bool {
        Self::names(&self.lends, label) && self.is_exclusive(label)
    }

    /// Whether asks may name a label. Where nobody says which, they may name all.
    pub fn allows(&self, label: &str) -> bool {
        self.accessible.as_ref().is_none_or(|all| Self::names(all, label))
    }

    /// Whether a list names a label, or all.
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
