//! The fields of Kubernetes objects that Headroom reads.
//!
//! Unknown fields are skipped, and null, empty, and absent are the same unless a type says otherwise. A field of the
//! wrong shape makes the object unreadable, which is an error of its decoder. A text that names an operator, a policy,
//! or an effect that Headroom does not know has a variant of its own, because Kubernetes treats it as a rule.
//!
//! A foreign pod needs at most 2 KiB of memory, and a pod of our own at most 4 KiB: lists and maps have their exact
//! length, and what no rule reads is not stored.

mod affinity;
mod cluster;
mod device;
mod metadata;
mod node;
mod pod;
mod pool;
mod selector;
mod storage;
mod text;
mod volume;
mod word;

pub use affinity::{
    Affinity, InterPodAffinity, NodeAffinity, NodeSelector, NodeSelectorOperator,
    NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm, Toleration, TolerationOperator,
};
pub use cluster::{Binary, ConfigMap, Namespace, PriorityClass};
pub use device::{
    AllocatedDevices, Allocation, AllocationMode, AllocationResult, Attribute, Capacity,
    CapacityRequirements, CelExpression, Claim, ClaimConstraint, ClaimDevices, ClaimSpec,
    ClaimStatus, Consumer, Counter, CounterConsumption, CounterSet, Device, DeviceClass,
    DeviceClassSpec, DeviceCondition, DeviceRequest, DeviceSelector, DeviceStatus,
    DeviceToleration, ExactRequest, Pool, Quantities, ResourceSlice, SliceSpec, SubRequest,
};
pub use metadata::{Metadata, OwnerReference, Timestamp};
pub use node::{Effect, Node, NodeSpec, NodeStatus, Taint};
pub use pod::{
    ConditionStatus, Container, ContainerPort, ContainerResources, ContainerRestartPolicy,
    ContainerStatus, ExtendedResourceClaimStatus, InclusionPolicy, Named, Phase, Pod, PodCondition,
    PodConditionType, PodResourceClaim, PodSpec, PodStatus, PreemptionPolicy, Protocol,
    RequestMapping, Resize, ResourceClaimStatus, ResourceList, RestartRule,
    TopologySpreadConstraint, UnsatisfiableAction,
};
pub use selector::{LabelOperator, LabelRequirement, LabelSelector};
pub use storage::{
    AccessMode, AttachmentSource, AttachmentSpec, BindingMode, ClaimPhase, CsiDriver,
    CsiDriverSpec, CsiNode, CsiNodeDriver, CsiNodeSpec, CsiStorageCapacity, CsiVolume,
    NodeVolumeCount, ObjectReference, PersistentVolume, PersistentVolumeClaim,
    PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, PersistentVolumeSpec,
    PersistentVolumeStatus, StorageClass, TopologyRequirement, TopologyTerm, VolumeAttachment,
    VolumeMode, VolumeNodeAffinity, VolumePhase,
};
pub use text::{Labels, List, Map, Text};
pub use volume::{
    AwsElasticBlockStore, AzureDisk, AzureFile, Cinder, ClaimVolume, GcePersistentDisk, InlineCsi,
    IscsiDisk, Portworx, RbdImage, Volume, VolumeSource, VsphereDisk,
};
