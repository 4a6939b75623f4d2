//! Node constraints of an ask, in addition to free resources: excluded nodes, and the required label. Decision L-10.
//!
//! The core does not evaluate these; the component that answers its questions about nodes does.

use std::collections::{BTreeMap, BTreeSet};

use headroom_api::si::headroom::NodeConstraint;
use headroom_api::si::v1::AllocationRequest;
use headroom_core::Name;
use headroom_core::books::NodeAttributes;

use super::partition;

/// Tag of an ask with the ids of excluded nodes, separated by commas.
const BLOCKED_NODES: &str = "headroom/blocked-nodes";
/// Tag of an ask with the label that a node must have.
const NODE_LABEL: &str = "headroom/node-label";
/// Attribute of a node with its label.
const LABEL: &str = "headroom/label";

/// Node constraint of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraint {
    blocked: BTreeSet<Name>,
    label: Name,
}

/// Node constraints in a request, by partition and allocation key. An empty constraint removes the previous one.
pub type Constraints = BTreeMap<(Name, Name), Constraint>;

impl Constraint {
    /// Returns whether the constraint accepts every node.
    pub fn is_empty(&self) -> bool {
        self.blocked.is_empty() && self.label.is_empty()
    }

    /// Returns why the ask cannot use a node. `None` if the ask can use the node.
    pub fn refuses(&self, node: &Name, attributes: &NodeAttributes) -> Option<Name> {
        if self.blocked.contains(node) {
            return Some(Name::new("the node is on the block list of the ask"));
        }
        let label = attributes.get(LABEL).map_or("", Name::as_str);
        let other = !self.label.is_empty() && self.label != label;
        other.then(|| {
            Name::new(format!(
                "the ask requires nodes with label {:?}, but this node has {label:?}",
                self.label
            ))
        })
    }

    fn of(blocked: impl Iterator<Item = impl AsRef<str>>, label: &str) -> Self {
        let blocked = blocked.map(|one| Name::new(one.as_ref().trim()));
        let blocked = blocked.filter(|one| !one.is_empty()).collect();
        Self { blocked, label: Name::new(label.trim()) }
    }
}

/// Returns the constraints of the asks in a request, from their tags or from a field of the request. An ask without
/// constraints retains its earlier constraints.
pub fn constraints(
    request: &AllocationRequest,
    fields: &BTreeMap<String, NodeConstraint>,
) -> Constraints {
    let mut all = Constraints::new();
    for one in &request.allocations {
        let tag = |key| one.allocation_tags.get(key).map(String::as_str);
        let (blocked, label) = (tag(BLOCKED_NODES), tag(NODE_LABEL));
        let of_tags = (blocked.is_some() || label.is_some()).then(|| {
            Constraint::of(blocked.unwrap_or_default().split(','), label.unwrap_or_default())
        });
        let of_field = fields
            .get(&one.allocation_key)
            .map(|one| Constraint::of(one.blocked_nodes.iter(), &one.node_label));
        if let Some(constraint) = of_field.or(of_tags) {
            let key = Name::new(&one.allocation_key);
            all.insert((partition(&one.partition_name), key), constraint);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use headroom_api::si::v1::Allocation;

    use super::*;

    fn ask(tags: &[(&str, &str)]) -> AllocationRequest {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let ask = Allocation {
            allocation_key: "k".into(),
            allocation_tags: tags.collect(),
            ..Allocation::default()
        };
        AllocationRequest { allocations: vec![ask], ..AllocationRequest::default() }
    }

    #[test]
    fn tags_and_fields_say_the_same_and_an_ask_may_say_nothing() {
        let none = BTreeMap::new();
        assert!(constraints(&ask(&[("x", "y")]), &none).is_empty());
        let expected = Constraint::of(["n1", "n2"].iter(), "ssd");
        let tags = [(BLOCKED_NODES, "n1, n2,,"), (NODE_LABEL, " ssd ")];
        let key = (Name::new("default"), Name::new("k"));
        assert_eq!(constraints(&ask(&tags), &none)[&key], expected);
        let field = NodeConstraint {
            blocked_nodes: vec!["n1".into(), "n2".into()],
            node_label: "ssd".into(),
        };
        let fields = [("k".to_owned(), field)].into();
        assert_eq!(constraints(&ask(&[]), &fields)[&key], expected);
        let lifted = [("k".to_owned(), NodeConstraint::default())].into();
        assert!(constraints(&ask(&tags), &lifted)[&key].is_empty(), "the field counts");
    }

    #[test]
    fn a_node_is_refused_by_its_name_or_its_label() {
        let constraint = Constraint::of(["n1"].iter(), "ssd");
        let labelled: NodeAttributes = [(LABEL, "ssd")].into_iter().collect();
        let bare = NodeAttributes::default();
        for (node, attributes, refused) in
            [("n1", &labelled, true), ("n2", &labelled, false), ("n2", &bare, true)]
        {
            let found = constraint.refuses(&node.into(), attributes);
            assert_eq!(found.is_some(), refused, "{node} {attributes:?}");
        }
        assert_eq!(Constraint::default().refuses(&"n".into(), &bare), None);
    }
}
