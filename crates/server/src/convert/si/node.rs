//! `NodeRequest` as commands.

use std::collections::BTreeMap;

use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{NodeInfo, NodeRequest};
use headroom_core::books::NodeAttributes;
use headroom_core::{AddNode, Command, Name};

use super::{Refusal, Step, amounts, partition};

/// Attribute with the partition of a node.
const PARTITION: &str = "si/node-partition";

/// Attributes that the Kubernetes client spells in another way than the interface.
const SPELLINGS: [(&str, &str); 2] =
    [("si.io/hostname", NodeAttributes::HOST), ("si.io/rackname", NodeAttributes::RACK)];

/// Returns the commands of a request, in the order of its list. Source: scheduler interface §6.1.
///
/// Unknown actions, and updates without a size, have no command.
pub fn nodes(request: NodeRequest) -> Vec<Step> {
    request.nodes.into_iter().filter_map(step).collect()
}

fn step(info: NodeInfo) -> Option<Step> {
    let action = ActionFromRm::try_from(info.action).ok()?;
    let NodeInfo { node_id, attributes, schedulable_resource, .. } = info;
    let partition = partition(attributes.get(PARTITION).map_or("", String::as_str));
    let node = Name::new(&node_id);
    let set = |schedulable| {
        let (partition, node) = (partition.clone(), node.clone());
        Step::silent(Command::SetSchedulable { partition, node, schedulable })
    };
    Some(match action {
        ActionFromRm::Create | ActionFromRm::CreateDrain => {
            let add = AddNode {
                partition,
                node,
                capacity: amounts(schedulable_resource.as_ref()),
                schedulable: action == ActionFromRm::Create,
                attributes: read_attributes(&attributes),
            };
            Step { command: Command::AddNode(add), if_refused: Refusal::Node(node_id) }
        }
        ActionFromRm::Update => {
            let capacity = amounts(Some(&schedulable_resource?));
            Step::silent(Command::ResizeNode { partition, node, capacity })
        }
        ActionFromRm::DrainNode => set(false),
        ActionFromRm::DrainToSchedulable => set(true),
        ActionFromRm::Decomission => Step::silent(Command::RemoveNode { partition, node }),
        ActionFromRm::UnknownActionFromRm => return None,
    })
}

/// Returns the given attributes. Host and rack have the names under which the core looks them up.
fn read_attributes(given: &BTreeMap<String, String>) -> NodeAttributes {
    let mut attributes: BTreeMap<&str, &str> =
        given.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    for (spelling, key) in SPELLINGS {
        let Some(value) = attributes.get(spelling).copied() else { continue };
        let known = attributes.entry(key).or_default();
        if known.is_empty() {
            *known = value;
        }
    }
    attributes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_rack_are_found_under_both_spellings() {
        for (given, host) in [
            (&[("si/hostname", "a")][..], "a"),
            (&[("si.io/hostname", "b")], "b"),
            (&[("si.io/hostname", "b"), ("si/hostname", "a")], "a"),
            (&[("si.io/hostname", "b"), ("si/hostname", "")], "b"),
        ] {
            let given = given.iter().map(|(key, value)| ((*key).into(), (*value).into()));
            let attributes = read_attributes(&given.collect());
            assert_eq!(attributes.get(NodeAttributes::HOST), Some(&Name::new(host)));
        }
    }

    #[test]
    fn actions_without_a_meaning_ask_for_nothing() {
        let of = |action| NodeInfo { node_id: "n".into(), action, ..NodeInfo::default() };
        let update = ActionFromRm::Update.into();
        let unknown = [0, -1, 7, i32::MAX, update].map(of);
        assert!(nodes(NodeRequest { nodes: unknown.into(), rm_id: String::new() }).is_empty());
    }
}
