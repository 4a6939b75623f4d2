//! Nodes.

use headroom_api::wsv1::Node;
use headroom_core::view::NodeView;

use crate::rest::RmMetadata;

use super::allocation::{allocation, foreign};
use super::value::{names, percentages, resources};

/// Both spellings that RMs send. The spelling of the scheduler interface is first.
const HOST: [&str; 2] = ["si/hostname", "si.io/hostname"];
const RACK: [&str; 2] = ["si/rackname", "si.io/rackname"];
/// Attribute with the partition of the node, in the RM's form.
const PARTITION: &str = "si/node-partition";

/// Returns a node.
pub(crate) fn node(view: &NodeView, metadata: &dyn RmMetadata) -> Node {
    let attribute = |keys: [&str; 2]| {
        let value = keys.into_iter().find_map(|key| view.attributes.get(key));
        value.map(ToString::to_string).unwrap_or_default()
    };
    let attributes = view.attributes.iter();
    let mut attributes: std::collections::BTreeMap<String, String> =
        attributes.map(|(key, value)| (key.to_string(), value.to_string())).collect();
    // The stock web UI reads these attributes without a check, so they are always present.
    attributes.entry(PARTITION.to_owned()).or_insert_with(|| {
        let manager = metadata.manager().map(|manager| manager.id).unwrap_or_default();
        format!("[{manager}]{}", view.partition)
    });
    Node {
        node_id: view.node.to_string(),
        host_name: attribute(HOST),
        rack_name: attribute(RACK),
        attributes,
        capacity: resources(&view.capacity),
        allocated: resources(&view.allocated),
        occupied: resources(&view.occupied),
        available: resources(&view.available),
        utilized: percentages(&view.used_percent),
        allocations: view
            .allocations
            .iter()
            .map(|one| allocation(one, &view.partition, metadata))
            .collect(),
        foreign_allocations: view.foreign.iter().map(|one| foreign(one, view, metadata)).collect(),
        schedulable: view.schedulable,
        is_reserved: !view.reservations.is_empty(),
        reservations: names(&view.reservations),
    }
}
