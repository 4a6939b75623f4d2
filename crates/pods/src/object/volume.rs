//! Volumes of a pod.

use serde::Deserialize;

use super::text::{List, Text};

/// A volume that a predicate reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Name of the volume in the pod.
    pub name: Text,
    /// Where its data is.
    pub source: VolumeSource,
}

/// Where the data of a volume is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// A claim of the pod's namespace.
    Claim(ClaimVolume),
    /// A claim that Kubernetes creates for the pod, with the name `<pod>-<volume>`.
    Ephemeral,
    /// A disk of Google Compute Engine.
    GcePersistentDisk(GcePersistentDisk),
    /// A disk of Amazon.
    AwsElasticBlockStore(AwsElasticBlockStore),
    /// An image of Ceph.
    Rbd(Box<RbdImage>),
    /// A disk of an iSCSI target.
    Iscsi(Box<IscsiDisk>),
    /// A disk of Azure.
    AzureDisk(AzureDisk),
    /// A share of Azure.
    AzureFile(AzureFile),
    /// A disk of Cinder.
    Cinder(Cinder),
    /// A disk of vSphere.
    Vsphere(VsphereDisk),
    /// A volume of Portworx.
    Portworx(Portworx),
    /// A volume of a CSI driver that lives as long as the pod.
    Csi(InlineCsi),
}

/// A claim of the pod's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClaimVolume {
    /// Name of the claim.
    pub claim_name: Text,
}

/// A disk of Google Compute Engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GcePersistentDisk {
    /// Name of the disk.
    pub pd_name: Text,
    /// Whether the pod only reads it.
    pub read_only: bool,
}

/// A disk of Amazon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AwsElasticBlockStore {
    /// ID of the disk.
    #[serde(rename = "volumeID")]
    pub volume_id: Text,
    /// Whether the pod only reads it.
    #[serde(rename = "readOnly")]
    pub read_only: bool,
}

/// An image of Ceph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RbdImage {
    /// Addresses of the monitors.
    pub monitors: List<Text>,
    /// Pool of the image.
    pub pool: Text,
    /// Name of the image.
    pub image: Text,
    /// Whether the pod only reads it.
    pub read_only: bool,
}

/// A disk of an iSCSI target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct IscsiDisk {
    /// Qualified name of the target.
    pub iqn: Text,
    /// Address of the target.
    pub target_portal: Text,
    /// Number of the logical unit.
    pub lun: i32,
    /// Whether the pod only reads it.
    pub read_only: bool,
}

/// A disk of Azure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AzureDisk {
    /// URI of the disk.
    #[serde(rename = "diskURI")]
    pub disk_uri: Text,
}

/// A share of Azure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AzureFile {
    /// Name of the share.
    pub share_name: Text,
    /// Secret with the account.
    pub secret_name: Text,
    /// Namespace of the secret. Only persistent volumes have it.
    pub secret_namespace: Text,
}

/// A disk of Cinder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Cinder {
    /// ID of the disk.
    #[serde(rename = "volumeID")]
    pub volume_id: Text,
}

/// A disk of vSphere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VsphereDisk {
    /// Path of the disk.
    pub volume_path: Text,
}

/// A volume of Portworx.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Portworx {
    /// ID of the volume.
    #[serde(rename = "volumeID")]
    pub volume_id: Text,
}

/// A volume of a CSI driver that lives as long as the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InlineCsi {
    /// Name of the driver.
    pub driver: Text,
}

/// A volume as JSON has it: one field per kind of source.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Raw {
    name: Text,
    persistent_volume_claim: Option<ClaimVolume>,
    ephemeral: Option<serde::de::IgnoredAny>,
    gce_persistent_disk: Option<GcePersistentDisk>,
    aws_elastic_block_store: Option<AwsElasticBlockStore>,
    rbd: Option<Box<RbdImage>>,
    iscsi: Option<Box<IscsiDisk>>,
    azure_disk: Option<AzureDisk>,
    azure_file: Option<AzureFile>,
    cinder: Option<Cinder>,
    vsphere_volume: Option<VsphereDisk>,
    portworx_volume: Option<Portworx>,
    csi: Option<InlineCsi>,
}

impl Raw {
    /// Returns the volume, or nothing if no predicate reads its kind of source.
    fn into_volume(self) -> Option<Volume> {
        let source = self
            .persistent_volume_claim
            .map(VolumeSource::Claim)
            .or(self.ephemeral.map(|_| VolumeSource::Ephemeral))
            .or(self.gce_persistent_disk.map(VolumeSource::GcePersistentDisk))
            .or(self.aws_elastic_block_store.map(VolumeSource::AwsElasticBlockStore))
            .or(self.rbd.map(VolumeSource::Rbd))
            .or(self.iscsi.map(VolumeSource::Iscsi))
            .or(self.azure_disk.map(VolumeSource::AzureDisk))
            .or(self.azure_file.map(VolumeSource::AzureFile))
            .or(self.cinder.map(VolumeSource::Cinder))
            .or(self.vsphere_volume.map(VolumeSource::Vsphere))
            .or(self.portworx_volume.map(VolumeSource::Portworx))
            .or(self.csi.map(VolumeSource::Csi))?;
        Some(Volume { name: self.name, source })
    }
}

/// Reads the volumes of a pod. Volumes that no predicate reads, such as config maps, are not stored.
pub(super) fn volumes<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<List<Volume>, D::Error> {
    let raw = Option::<Vec<Raw>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(raw.into_iter().filter_map(Raw::into_volume).collect())
}
