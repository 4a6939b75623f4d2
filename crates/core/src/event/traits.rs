//! What is special about an ask.

use alloc::vec::Vec;

use crate::name::Name;

/// What is special about an ask; most have nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one yes or no of the protocol")]
pub struct AskTraits {
    /// Whether it is the first of its application, which is taken back last.
    pub originator: bool,
    /// Whether it only holds room for a member of its task group.
    pub placeholder: bool,
    /// Whether others may be stopped for it.
    pub may_preempt: bool,
    /// Whether it offers itself to be stopped for others; if not, it goes later.
    pub preemptable: bool,
    /// The task group that it holds room for, or takes room from.
    pub task_group: Option<Name>,
    /// The only node that it may run on.
    pub required_node: Option<Name>,
    /// The label of the nodes that it may have; none for those without a label. Nothing is asked of
    /// the node that it requires.
    pub node_label: Option<Name>,
    /// The nodes that it may not have, in the order of their names, each once.
    pub blocked_nodes: Vec<Name>,
}
