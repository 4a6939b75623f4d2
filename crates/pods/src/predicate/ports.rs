//! `NodePorts`: a port of a node has one user.

use super::{Context, NodeFacts, Predicate, Preparation, Refusal};

/// State of the predicate. The pod uses ports of its node.
#[derive(Clone, Debug)]
pub(super) struct NodePorts;

impl<'a> Predicate<'a> for NodePorts {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        if context.pod.ports().is_empty() { Preparation::Skip } else { Preparation::check(Self) }
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        let is_used = node
            .ports()
            .iter()
            .any(|used| context.pod.ports().iter().any(|port| port.conflicts_with(used)));
        if is_used { Err(Refusal::NodePorts) } else { Ok(()) }
    }
}
