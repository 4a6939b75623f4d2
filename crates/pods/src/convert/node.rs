//! What the core is sent about nodes.

use crate::object::{Node, Text};

use super::amounts::Amounts;

/// Rack of every node, because Kubernetes does not tell racks.
pub const RACK: &str = "/rack-default";

/// Message to the core about a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSubmission {
    /// Name of the node, which is also its host name.
    pub name: Text,
    /// What changes.
    pub change: NodeChange,
}

/// Change of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// The node is new. It takes no asks before [`NodeChange::Resume`].
    CreateDrained {
        /// Amounts that the node offers.
        capacity: Amounts,
    },
    /// The node offers other amounts.
    Update {
        /// Amounts that the node offers.
        capacity: Amounts,
    },
    /// The node takes no more asks.
    Drain,
    /// The node takes asks again.
    Resume,
    /// The node is gone, with its allocations.
    Decommission,
}

/// Returns the amounts that a node offers. Devices count for resources that the node does not offer itself.
pub fn capacity(node: &Node, devices: Option<&Amounts>) -> Amounts {
    let mut amounts = Amounts::from(&node.status.allocatable);
    for (name, number) in devices.into_iter().flat_map(Amounts::iter) {
        if amounts.get(name).is_none_or(|offered| offered == 0) {
            amounts.set(name, number);
        }
    }
    amounts
}
