//! Devices: claims, classes, and what nodes offer (`resource.k8s.io`).

use serde::Deserialize;
use serde_json::Value;

use crate::quantity::Quantity;

use super::affinity::{NodeSelector, TolerationOperator};
use super::metadata::Metadata;
use super::node::{Effect, Taint};
use super::pod::ConditionStatus;
use super::text::{List, Map, Text};
use super::word::words;

/// Amounts of devices by name.
pub type Quantities = Map<Quantity>;

/// A claim of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Claim {
    /// Names and owners.
    pub metadata: Metadata,
    /// What the claim asks for.
    pub spec: ClaimSpec,
    /// What the claim has.
    pub status: ClaimStatus,
}

/// What a claim asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ClaimSpec {
    /// Requests and constraints.
    pub devices: ClaimDevices,
}

/// Requests and constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ClaimDevices {
    /// Requests, all of which must be served.
    pub requests: List<DeviceRequest>,
    /// Conditions across devices.
    pub constraints: List<ClaimConstraint>,
}

/// A request for devices: either exact, or a list of alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DeviceRequest {
    /// Name of the request.
    pub name: Text,
    /// The request, if it has no alternatives.
    pub exactly: Option<ExactRequest>,
    /// Alternatives in the order of preference.
    pub first_available: List<SubRequest>,
}

/// Devices of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExactRequest {
    /// Name of the class.
    pub device_class_name: Text,
    /// Conditions on a device.
    pub selectors: List<DeviceSelector>,
    /// Whether a number of devices or all are meant.
    pub allocation_mode: AllocationMode,
    /// Number of devices. Zero means 1.
    pub count: i64,
    /// Whether devices that others use can be shared, for monitoring.
    pub admin_access: Option<bool>,
    /// Taints that the request tolerates.
    pub tolerations: List<DeviceToleration>,
    /// Amounts of a shared device.
    pub capacity: Option<Box<CapacityRequirements>>,
}

/// An alternative of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SubRequest {
    /// Name of the alternative.
    pub name: Text,
    /// The request.
    #[serde(flatten)]
    pub request: ExactRequest,
}

words! {
    /// Whether a number of devices or all are meant.
    AllocationMode {
        /// A number of devices.
        ExactCount = "ExactCount",
        /// All devices that match.
        All = "All",
    } default ExactCount else
    /// No mode that Kubernetes defines.
    Unknown
}

/// Amounts of a shared device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CapacityRequirements {
    /// Amounts by name.
    pub requests: Quantities,
}

/// A taint of a device that a request tolerates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DeviceToleration {
    /// Key of the taint. Empty means every key.
    pub key: Text,
    /// How the value is compared.
    pub operator: TolerationOperator,
    /// Value to compare with.
    pub value: Text,
    /// Tolerated effect, or all effects if it is absent.
    pub effect: Option<Effect>,
}

/// A condition on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DeviceSelector {
    /// The condition.
    pub cel: Option<CelExpression>,
}

/// A condition in the Common Expression Language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CelExpression {
    /// Text of the condition.
    pub expression: Text,
}

/// A condition across the devices of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClaimConstraint {
    /// Requests that the condition is about. Empty means all.
    pub requests: List<Text>,
    /// Attribute that all devices must have with the same value.
    pub match_attribute: Option<Text>,
    /// Attribute that all devices must have with different values.
    pub distinct_attribute: Option<Text>,
}

/// What a claim has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClaimStatus {
    /// Devices that the claim has.
    pub allocation: Option<Box<Allocation>>,
    /// Objects that use the devices.
    pub reserved_for: List<Consumer>,
    /// What drivers report about the devices.
    pub devices: List<DeviceStatus>,
}

/// What a driver reports about a device of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DeviceStatus {
    /// Name of the driver.
    pub driver: Text,
    /// Name of the pool.
    pub pool: Text,
    /// Name of the device.
    pub device: Text,
    /// Conditions of the device.
    pub conditions: List<DeviceCondition>,
}

/// A condition of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DeviceCondition {
    /// What the condition is about, as the driver calls it.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Reason in one word.
    pub reason: Text,
    /// Reason for people.
    pub message: Text,
}

/// An object that uses the devices of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Consumer {
    /// Group of the object. Empty for pods.
    pub api_group: Text,
    /// Resource of the object, such as `pods`.
    pub resource: Text,
    /// Name of the object.
    pub name: Text,
    /// Unique ID of the object.
    pub uid: Text,
}

/// Devices that a claim has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Allocation {
    /// The devices.
    pub devices: AllocatedDevices,
    /// Nodes that can use the devices. Absent means all.
    pub node_selector: Option<NodeSelector>,
}

/// Devices that a claim has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AllocatedDevices {
    /// One entry for each device.
    pub results: List<AllocationResult>,
}

/// A device that a claim has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AllocationResult {
    /// Name of the request.
    pub request: Text,
    /// Name of the driver.
    pub driver: Text,
    /// Name of the pool.
    pub pool: Text,
    /// Name of the device.
    pub device: Text,
    /// Whether the device is only monitored.
    pub admin_access: Option<bool>,
    /// Share of a device that several claims can use.
    #[serde(rename = "shareID")]
    pub share_id: Option<Text>,
    /// Amounts of that share.
    pub consumed_capacity: Quantities,
    /// Conditions that must hold before a pod with the device is bound.
    pub binding_conditions: List<Text>,
    /// Conditions of which none may hold before a pod with the device is bound.
    pub binding_failure_conditions: List<Text>,
}

/// A class of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DeviceClass {
    /// Name of the class.
    pub metadata: Metadata,
    /// What the class selects.
    pub spec: DeviceClassSpec,
}

/// What a class of devices selects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DeviceClassSpec {
    /// Conditions on a device, all of which must hold.
    pub selectors: List<DeviceSelector>,
    /// Extended resource that the class backs.
    pub extended_resource_name: Text,
    /// Parameters for drivers, which claims get with the devices.
    pub config: List<Value>,
}

/// Devices of one pool of one driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ResourceSlice {
    /// Name of the slice.
    pub metadata: Metadata,
    /// The devices.
    pub spec: SliceSpec,
}

/// Devices of a slice, and the nodes that can use them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SliceSpec {
    /// Name of the driver.
    pub driver: Text,
    /// Pool that the slice belongs to.
    pub pool: Pool,
    /// Node that has the devices.
    pub node_name: Text,
    /// Nodes that can use the devices.
    pub node_selector: Option<NodeSelector>,
    /// Whether all nodes can use the devices.
    pub all_nodes: bool,
    /// Whether each device names its own nodes.
    pub per_device_node_selection: bool,
    /// The devices.
    pub devices: List<Device>,
    /// Counters that the devices share.
    pub shared_counters: List<CounterSet>,
}

/// A pool of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Pool {
    /// Name of the pool.
    pub name: Text,
    /// Generation. Only slices of the newest generation count.
    pub generation: i64,
    /// Number of slices of this generation. The pool is incomplete with fewer.
    pub resource_slice_count: i64,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Device {
    /// Name of the device, unique in its pool.
    pub name: Text,
    /// Attributes by name.
    pub attributes: Map<Attribute>,
    /// Amounts by name.
    pub capacity: Map<Capacity>,
    /// Taints of the device.
    pub taints: List<Taint>,
    /// Counters that the device uses.
    pub consumes_counters: List<CounterConsumption>,
    /// Node that has the device.
    pub node_name: Text,
    /// Nodes that can use the device.
    pub node_selector: Option<NodeSelector>,
    /// Whether all nodes can use the device.
    pub all_nodes: Option<bool>,
    /// Whether several claims can share the device.
    pub allow_multiple_allocations: Option<bool>,
    /// Whether only the node that got the device can use it, although others could have got it.
    pub binds_to_node: Option<bool>,
    /// Conditions that must hold before a pod with the device is bound.
    pub binding_conditions: List<Text>,
    /// Conditions of which none may hold before a pod with the device is bound.
    pub binding_failure_conditions: List<Text>,
}

/// Value of an attribute. A value of another type is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Attribute {
    /// A text.
    String(Text),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A semantic version.
    Version(Text),
    /// No value that Headroom reads.
    #[default]
    None,
}

impl<'de> Deserialize<'de> for Attribute {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Raw {
            string: Option<Text>,
            int: Option<i64>,
            bool: Option<bool>,
            version: Option<Text>,
        }

        let raw = Raw::deserialize(deserializer)?;
        Ok(raw
            .string
            .map(Self::String)
            .or(raw.int.map(Self::Int))
            .or(raw.bool.map(Self::Bool))
            .or(raw.version.map(Self::Version))
            .unwrap_or_default())
    }
}

/// An amount of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Capacity {
    /// The amount.
    pub value: Quantity,
}

/// Counters that devices of a pool share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CounterSet {
    /// Name of the set.
    pub name: Text,
    /// Counters by name.
    pub counters: Map<Counter>,
}

/// A counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Counter {
    /// The amount.
    pub value: Quantity,
}

/// Counters that a device uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CounterConsumption {
    /// Name of the set.
    pub counter_set: Text,
    /// Counters by name.
    pub counters: Map<Counter>,
}
