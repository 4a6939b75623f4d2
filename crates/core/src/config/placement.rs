//! Placement rules of a partition, as written.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::name::Name;

/// One placement rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct RuleConfig {
    /// `provided`, `user`, `fixed`, `tag`, … as written.
    pub name: String,
    /// Whether the queue may be made if it is missing.
    pub create: bool,
    /// Who the rule is for.
    pub filter: FilterConfig,
    /// The rule that finds the parent queue.
    pub parent: Option<Box<RuleConfig>>,
    /// Queue for `fixed`, tag name for `tag`.
    pub value: String,
}

/// Who a placement rule is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct FilterConfig {
    /// Empty, `allow` or `deny`, as written.
    pub kind: String,
    /// User names, or one regular expression.
    pub users: Vec<Name>,
    /// Group names, or one regular expression.
    pub groups: Vec<Name>,
}
