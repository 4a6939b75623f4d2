//! Persistent volumes, their claims and classes, and CSI drivers.

use serde::Deserialize;

use crate::quantity::Quantity;

use super::affinity::NodeSelector;
use super::metadata::Metadata;
use super::pod::{ContainerResources, ResourceList};
use super::selector::LabelSelector;
use super::text::{List, Text};
use super::volume::{
    AwsElasticBlockStore, AzureDisk, AzureFile, Cinder, GcePersistentDisk, Portworx, VsphereDisk,
};
use super::word::words;

/// A persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PersistentVolume {
    /// Name and labels.
    pub metadata: Metadata,
    /// What the volume is.
    pub spec: PersistentVolumeSpec,
    /// How far the volume is.
    pub status: PersistentVolumeStatus,
}

/// What a persistent volume is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PersistentVolumeSpec {
    /// Size, as the resource `storage`.
    pub capacity: ResourceList,
    /// How the volume can be mounted.
    pub access_modes: List<AccessMode>,
    /// Claim that uses the volume, or for which it is reserved.
    pub claim_ref: Option<Box<ObjectReference>>,
    /// Name of the storage class.
    pub storage_class_name: Text,
    /// Whether it is a file system or a raw device.
    pub volume_mode: VolumeMode,
    /// Nodes that can reach the volume.
    pub node_affinity: Option<Box<VolumeNodeAffinity>>,
    /// Volume of a CSI driver.
    pub csi: Option<Box<CsiVolume>>,
    /// A disk of Google Compute Engine.
    pub gce_persistent_disk: Option<Box<GcePersistentDisk>>,
    /// A disk of Amazon.
    pub aws_elastic_block_store: Option<Box<AwsElasticBlockStore>>,
    /// A disk of Azure.
    pub azure_disk: Option<Box<AzureDisk>>,
    /// A share of Azure.
    pub azure_file: Option<Box<AzureFile>>,
    /// A disk of Cinder.
    pub cinder: Option<Box<Cinder>>,
    /// A disk of vSphere.
    pub vsphere_volume: Option<Box<VsphereDisk>>,
    /// A volume of Portworx.
    pub portworx_volume: Option<Box<Portworx>>,
}

/// Nodes that can reach a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct VolumeNodeAffinity {
    /// The nodes. Absent means all nodes.
    pub required: Option<NodeSelector>,
}

/// How far a persistent volume is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PersistentVolumeStatus {
    /// Phase of the volume.
    pub phase: VolumePhase,
}

words! {
    /// Phase of a persistent volume.
    VolumePhase {
        /// The volume is being created.
        Pending = "Pending",
        /// No claim uses the volume.
        Available = "Available",
        /// A claim uses the volume.
        Bound = "Bound",
        /// The claim was deleted, and the volume is not reclaimed yet.
        Released = "Released",
        /// The volume could not be reclaimed.
        Failed = "Failed",
    } default Pending else
    /// No phase that Kubernetes defines.
    Unknown
}

words! {
    /// How a volume can be mounted.
    AccessMode {
        /// By one node.
        ReadWriteOnce = "ReadWriteOnce",
        /// By many nodes, for reading.
        ReadOnlyMany = "ReadOnlyMany",
        /// By many nodes.
        ReadWriteMany = "ReadWriteMany",
        /// By one pod.
        ReadWriteOncePod = "ReadWriteOncePod",
    } default Unknown else
    /// No mode that Kubernetes defines.
    Unknown
}

words! {
    /// Whether a volume is a file system or a raw device.
    VolumeMode {
        /// A file system.
        Filesystem = "Filesystem",
        /// A raw device.
        Block = "Block",
    } default Filesystem else
    /// No mode that Kubernetes defines.
    Unknown
}

/// A reference to an object of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ObjectReference {
    /// Namespace of the object.
    pub namespace: Text,
    /// Name of the object.
    pub name: Text,
    /// Unique ID of the object. Can be empty.
    pub uid: Text,
}

/// A volume of a CSI driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CsiVolume {
    /// Name of the driver.
    pub driver: Text,
    /// ID of the volume for the driver.
    pub volume_handle: Text,
}

/// A claim of a persistent volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PersistentVolumeClaim {
    /// Names, labels, and annotations.
    pub metadata: Metadata,
    /// What the claim asks for.
    pub spec: PersistentVolumeClaimSpec,
    /// How far the claim is.
    pub status: PersistentVolumeClaimStatus,
}

/// What a claim asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PersistentVolumeClaimSpec {
    /// How the volume must be mountable.
    pub access_modes: List<AccessMode>,
    /// Size, as the resource `storage`.
    pub resources: ContainerResources,
    /// Volumes that can serve the claim.
    pub selector: Option<Box<LabelSelector>>,
    /// Name of the storage class. Empty means volumes without class. Absent means the default class.
    pub storage_class_name: Option<Text>,
    /// Whether it must be a file system or a raw device.
    pub volume_mode: VolumeMode,
    /// Name of the volume that serves the claim.
    pub volume_name: Text,
}

/// How far a claim is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PersistentVolumeClaimStatus {
    /// Phase of the claim.
    pub phase: ClaimPhase,
}

words! {
    /// Phase of a claim.
    ClaimPhase {
        /// No volume serves the claim.
        Pending = "Pending",
        /// A volume serves the claim.
        Bound = "Bound",
        /// The volume of the claim is gone.
        Lost = "Lost",
    } default Pending else
    /// No phase that Kubernetes defines.
    Unknown
}

/// A storage class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StorageClass {
    /// Name and annotations.
    pub metadata: Metadata,
    /// Name of the provisioner.
    pub provisioner: Text,
    /// When claims are bound.
    pub volume_binding_mode: Option<BindingMode>,
    /// Domains in which volumes can be provisioned. Empty means all.
    pub allowed_topologies: List<TopologyTerm>,
}

words! {
    /// When claims of a class are bound.
    BindingMode {
        /// As soon as they exist.
        Immediate = "Immediate",
        /// When a pod uses them.
        WaitForFirstConsumer = "WaitForFirstConsumer",
    } default Immediate else
    /// No mode that Kubernetes defines.
    Unknown
}

/// Requirements on labels of a node, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TopologyTerm {
    /// The requirements.
    pub match_label_expressions: List<TopologyRequirement>,
}

/// A label and its possible values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TopologyRequirement {
    /// Key of the label.
    pub key: Text,
    /// Possible values.
    pub values: List<Text>,
}

/// Drivers that a node runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CsiNode {
    /// Name of the node, and annotations.
    pub metadata: Metadata,
    /// The drivers.
    pub spec: CsiNodeSpec,
}

/// Drivers that a node runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CsiNodeSpec {
    /// The drivers.
    pub drivers: List<CsiNodeDriver>,
}

/// A driver that a node runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CsiNodeDriver {
    /// Name of the driver.
    pub name: Text,
    /// How many volumes the node can attach.
    pub allocatable: Option<NodeVolumeCount>,
}

/// How many volumes a node can attach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NodeVolumeCount {
    /// The number. Absent means no limit.
    pub count: Option<i32>,
}

/// A CSI driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CsiDriver {
    /// Name of the driver.
    pub metadata: Metadata,
    /// What the driver supports.
    pub spec: CsiDriverSpec,
}

/// What a CSI driver supports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CsiDriverSpec {
    /// Whether the driver reports how much storage is left.
    pub storage_capacity: Option<bool>,
    /// Whether the driver refuses pods on nodes that do not run it yet.
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

/// A volume that is attached to a node, or will be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct VolumeAttachment {
    /// Name of the attachment.
    pub metadata: Metadata,
    /// What is attached.
    pub spec: AttachmentSpec,
}

/// What is attached to which node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AttachmentSpec {
    /// Name of the driver.
    pub attacher: Text,
    /// Name of the node.
    pub node_name: Text,
    /// The volume.
    pub source: AttachmentSource,
}

/// The volume of an attachment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AttachmentSource {
    /// Name of the persistent volume.
    pub persistent_volume_name: Text,
}

/// Storage that is left for a class in a part of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CsiStorageCapacity {
    /// Name and namespace.
    pub metadata: Metadata,
    /// Name of the storage class.
    pub storage_class_name: Text,
    /// Nodes that can reach the storage. An absent selector selects none.
    pub node_topology: Option<LabelSelector>,
    /// Storage that is left.
    pub capacity: Option<Quantity>,
    /// Size of the largest volume. Absent means that `capacity` limits it.
    pub maximum_volume_size: Option<Quantity>,
}
