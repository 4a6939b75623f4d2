//! `NodeAffinity`: a pod can select nodes by labels and name.

use crate::object::{Node, NodeSelector, NodeSelectorOperator, NodeSelectorTerm, Pod, Text};

use super::label::{NAME_FIELD, selects_node};
use super::{Context, NodeFacts, Predicate, Preparation, Refusal};

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct NodeAffinity<'a> {
    /// The only nodes that can pass, if the terms name nodes.
    names: Option<Vec<&'a Text>>,
}

impl<'a> NodeAffinity<'a> {
    /// Returns the only nodes that can pass, if the terms name nodes.
    pub(super) fn names(&self) -> Option<&[&'a Text]> {
        self.names.as_deref()
    }
}

impl<'a> Predicate<'a> for NodeAffinity<'a> {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let pod = context.pod.pod();
        let required = required(pod);
        if required.is_none() && pod.spec.node_selector.is_empty() {
            return Preparation::Skip;
        }
        let names = required.and_then(named);
        if names.as_ref().is_some_and(Vec::is_empty) {
            return Preparation::Refuse(Refusal::AffinityConflict);
        }
        Preparation::check(Self { names })
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        if accepts(context.pod.pod(), node.node()) {
            return Ok(());
        }
        Err(Refusal::NodeAffinity)
    }
}

fn required(pod: &Pod) -> Option<&NodeSelector> {
    pod.spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()
}

/// Returns whether the labels and the name of a node satisfy the node selector and the required terms of a pod.
pub(super) fn accepts(pod: &Pod, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    let mut wanted = pod.spec.node_selector.iter();
    wanted.all(|(key, value)| labels.get(key) == Some(value))
        && required(pod).is_none_or(|selector| selects_node(selector, node))
}

/// Returns the nodes that the terms name, or nothing if a term can hold on any node.
///
/// The names of one term are those that all its fields allow, also if Kubernetes cannot parse a field.
fn named(selector: &NodeSelector) -> Option<Vec<&Text>> {
    if selector.node_selector_terms.is_empty() {
        return None;
    }
    let mut names = Vec::new();
    for term in &selector.node_selector_terms {
        names.extend(named_by_term(term)?);
    }
    names.sort_unstable();
    names.dedup();
    Some(names)
}

fn named_by_term(term: &NodeSelectorTerm) -> Option<Vec<&Text>> {
    let mut lists = term
        .match_fields
        .iter()
        .filter(|field| field.key == NAME_FIELD && field.operator == NodeSelectorOperator::In)
        .map(|field| &field.values);
    let mut names: Vec<_> = lists.next()?.iter().collect();
    for list in lists {
        names.retain(|name| list.contains(name));
    }
    Some(names)
}
