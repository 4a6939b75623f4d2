//! `GET /ws/v1/partition/{partition}/nodes` and `…/node/{node}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Allocation, ForeignAllocation, Percentages, Resources, is_default};

/// A node. `capacity` is the sum of `allocated`, `occupied` and `available`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its id.
    #[serde(rename = "nodeID")]
    pub node_id: String,
    /// From the attribute `si/hostname` or `si.io/hostname`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host_name: String,
    /// From the attribute `si/rackname` or `si.io/rackname`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rack_name: String,
    /// As it was registered with.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attributes: BTreeMap<String, String>,
    /// What it has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacity: Resources,
    /// Sum of `allocations`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocated: Resources,
    /// Sum of `foreignAllocations`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub occupied: Resources,
    /// What is left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub available: Resources,
    /// Percent of the capacity that is allocated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub utilized: Percentages,
    /// What this scheduler placed there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allocations: Vec<Allocation>,
    /// What others placed there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub foreign_allocations: Vec<ForeignAllocation>,
    /// Whether it takes more.
    pub schedulable: bool,
    /// Whether it is kept for an ask.
    pub is_reserved: bool,
    /// Keys of the asks it is kept for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reservations: Vec<String>,
}
