//! Optional traits of an ask.

use alloc::vec::Vec;

use crate::name::Name;

/// Optional traits of an ask. Most asks have the default values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct AskTraits {
    /// Whether it is the first ask of its application. An originator is preempted last.
    pub originator: bool,
    /// Whether it is a placeholder, which reserves capacity for a member of its task group.
    pub placeholder: bool,
    /// Whether other allocations can be preempted for it.
    pub may_preempt: bool,
    /// Whether it is a preferred victim of preemption. Other allocations are preempted later.
    pub preemptable: bool,
    /// Task group of a placeholder or member.
    pub task_group: Option<Name>,
    /// Name of the required node.
    pub required_node: Option<Name>,
    /// Node label that it selects. `None` selects nodes without a label. A required node is not checked for its label.
    pub node_label: Option<Name>,
    /// Blocked nodes, in the order of their names and without duplicates.
    pub blocked_nodes: Vec<Name>,
}
