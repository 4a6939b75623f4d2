//! `GET /ws/v1/partition/{partition}/nodes` and `…/node/{node}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Allocation, ForeignAllocation, Percentages, Resources, is_default};

/// A node. `capacity` is the sum of `allocated`, `occupied`, and `available`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// ID of the node.
    #[serde(rename = "nodeID")]
    pub node_id: String,
    /// The attribute `si/hostname` or `si.io/hostname`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host_name: String,
    /// The attribute `si/rackname` or `si.io/rackname`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rack_name: String,
    /// Attributes from the registration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attributes: BTreeMap<String, String>,
    /// Capacity of the node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacity: Resources,
    /// Sum of `allocations`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocated: Resources,
    /// Sum of `foreignAllocations`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub occupied: Resources,
    /// Free amounts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub available: Resources,
    /// Percentage of the capacity that is allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub utilized: Percentages,
    /// Allocations of this scheduler.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocations: Vec<Allocation>,
    /// Allocations of other schedulers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub foreign_allocations: Vec<ForeignAllocation>,
    /// Whether the node accepts allocations.
    pub schedulable: bool,
    /// Whether the node is reserved for an ask.
    pub is_reserved: bool,
    /// Keys of the asks with a reservation on the node.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: Vec<String>,
}
