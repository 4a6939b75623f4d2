//! Placement rules of a partition, as configured.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::name::Name;

/// One placement rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct RuleConfig {
    /// Configured name: `provided`, `user`, `fixed`, `tag`, and so on.
    pub name: String,
    /// Whether a missing queue is created.
    pub create: bool,
    /// Users that the rule applies to.
    pub filter: FilterConfig,
    /// Rule that selects the parent queue.
    pub parent: Option<Box<RuleConfig>>,
    /// Queue of a `fixed` rule, or tag name of a `tag` rule.
    pub value: String,
}

/// Filter of a placement rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct FilterConfig {
    /// Configured type: empty, `allow`, or `deny`.
    pub kind: String,
    /// User names, or one regular expression.
    pub users: Vec<Name>,
    /// Group names, or one regular expression.
    pub groups: Vec<Name>,
}
