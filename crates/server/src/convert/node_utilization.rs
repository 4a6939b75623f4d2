//! Utilization of nodes.

use std::collections::BTreeMap;

use headroom_api::wsv1::{PartitionNodesUtilization, ResourceUtilization, UtilizationBucket};
use headroom_core::Name;
use headroom_core::view::BANDS;

use super::value::names;

/// Returns the utilization of the nodes of a partition, by resource type.
pub(crate) fn utilization(
    manager: &str,
    partition: &str,
    buckets: &BTreeMap<Name, [Vec<Name>; BANDS]>,
) -> PartitionNodesUtilization {
    let of_type = |(resource, buckets): (&Name, &[Vec<Name>; BANDS])| ResourceUtilization {
        resource: resource.to_string(),
        utilization: buckets
            .iter()
            .enumerate()
            .map(|(place, nodes)| bucket(place, nodes))
            .collect(),
    };
    PartitionNodesUtilization {
        cluster_id: manager.to_owned(),
        partition: partition.to_owned(),
        utilizations: buckets.iter().map(of_type).collect(),
    }
}

fn bucket(place: usize, nodes: &[Name]) -> UtilizationBucket {
    UtilizationBucket {
        bucket_name: format!("{}-{}%", place * 10, place * 10 + 10),
        num_of_nodes: i64::try_from(nodes.len()).unwrap_or(i64::MAX),
        node_names: names(nodes),
    }
}
