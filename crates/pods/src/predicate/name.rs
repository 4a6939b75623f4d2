//! `NodeName`: a pod that names its node runs there only.

use super::{Context, NodeFacts, Predicate, Preparation, Refusal};

/// State of the predicate. The pod names a node.
#[derive(Clone, Debug)]
pub(super) struct NodeName;

impl<'a> Predicate<'a> for NodeName {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        match context.pod.pod().spec.node_name.non_empty() {
            Some(_) => Preparation::check(Self),
            None => Preparation::Skip,
        }
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        if context.pod.pod().spec.node_name == *node.name() {
            return Ok(());
        }
        Err(Refusal::NodeName)
    }
}
