//! Disks of Kubernetes' own plugins, which CSI drivers serve today.

use std::borrow::Cow;

use crate::object::{AzureFile, CsiNode, PersistentVolume, Text, VolumeSource};

/// Annotation of a [`CsiNode`] with the plugins that the node serves by CSI drivers.
const MIGRATED: &str = "storage.alpha.kubernetes.io/migrated-plugins";

/// Beginning of a disk ID of Amazon that has the zone.
const AWS_PREFIX: &str = "aws://";

/// Beginning of the name of a disk of Amazon.
const AWS_NAME: &str = "vol-";

/// Part of a disk ID of Google whose value is unknown.
const UNSPECIFIED: &str = "UNSPECIFIED";

/// When the CSI driver serves the disks of a plugin for the limit of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Always.
    Always,
    /// If the annotation of the node has the plugin.
    IfMigrated,
    /// Never.
    Never,
}

/// A plugin and its CSI driver.
#[derive(Debug)]
pub(super) struct Plugin {
    name: &'static str,
    driver: &'static str,
    counted: Counted,
}

macro_rules! plugins {
    ($($id:ident: $name:literal $driver:literal $counted:ident,)*) => {
        $(static $id: Plugin =
            Plugin { name: $name, driver: $driver, counted: Counted::$counted };)*
        static PLUGINS: &[&Plugin] = &[$(&$id,)*];
    };
}

plugins! {
    AWS: "kubernetes.io/aws-ebs" "ebs.csi.aws.com" Always,
    GCE: "kubernetes.io/gce-pd" "pd.csi.storage.gke.io" Always,
    CINDER: "kubernetes.io/cinder" "cinder.csi.openstack.org" Always,
    AZURE_DISK: "kubernetes.io/azure-disk" "disk.csi.azure.com" Always,
    AZURE_FILE: "kubernetes.io/azure-file" "file.csi.azure.com" Never,
    VSPHERE: "kubernetes.io/vsphere-volume" "csi.vsphere.vmware.com" Never,
    PORTWORX: "kubernetes.io/portworx-volume" "pxd.portworx.com" IfMigrated,
}

impl Plugin {
    /// Returns the plugin of this name.
    pub(super) fn by_name(name: &str) -> Option<&'static Self> {
        PLUGINS.iter().find(|plugin| plugin.name == name).copied()
    }

    /// Returns the name of the CSI driver.
    pub(super) const fn driver(&self) -> &'static str {
        self.driver
    }

    /// Returns whether the disks of the plugin count for the limit of the CSI driver.
    pub(super) fn counts_on(&self, node: Option<&CsiNode>) -> bool {
        let Some(node) = node else { return false };
        match self.counted {
            Counted::Always => true,
            Counted::IfMigrated => node
                .metadata
                .annotations
                .get(MIGRATED)
                .is_some_and(|plugins| plugins.split(',').any(|name| name == self.name)),
            Counted::Never => false,
        }
    }
}

/// A disk of a plugin.
pub(super) struct Disk<'a> {
    /// The plugin.
    pub(super) plugin: &'static Plugin,
    /// ID of the disk for the CSI driver, or the ID that the driver cannot read.
    pub(super) id: Result<Cow<'a, str>, &'a Text>,
}

impl<'a> Disk<'a> {
    fn new(plugin: &'static Plugin, id: impl Into<Cow<'a, str>>) -> Self {
        Self { plugin, id: Ok(id.into()) }
    }

    /// Returns the disk of a volume of a pod.
    pub(super) fn of_source(source: &'a VolumeSource) -> Option<Self> {
        match source {
            VolumeSource::AwsElasticBlockStore(disk) => Some(Self::aws(&disk.volume_id)),
            VolumeSource::GcePersistentDisk(disk) => {
                Some(Self::new(&GCE, google_id(&disk.pd_name, None)))
            }
            VolumeSource::Cinder(disk) => Some(Self::new(&CINDER, disk.volume_id.as_str())),
            VolumeSource::AzureDisk(disk) => Some(Self::new(&AZURE_DISK, disk.disk_uri.as_str())),
            VolumeSource::AzureFile(share) => Some(Self::new(&AZURE_FILE, azure_id(share))),
            VolumeSource::Vsphere(disk) => Some(Self::new(&VSPHERE, disk.volume_path.as_str())),
            VolumeSource::Portworx(disk) => Some(Self::new(&PORTWORX, disk.volume_id.as_str())),
            VolumeSource::Claim(_)
            | VolumeSource::Ephemeral
            | VolumeSource::Rbd(_)
            | VolumeSource::Iscsi(_)
            | VolumeSource::Csi(_) => None,
        }
    }

    /// Returns the disk of a persistent volume.
    pub(super) fn of_volume(volume: &'a PersistentVolume) -> Option<Self> {
        let spec = &volume.spec;
        if let Some(disk) = &spec.aws_elastic_block_store {
            Some(Self::aws(&disk.volume_id))
        } else if let Some(disk) = &spec.gce_persistent_disk {
            let zones = super::zone::zone_of(&volume.metadata.labels);
            Some(Self::new(&GCE, google_id(&disk.pd_name, zones)))
        } else if let Some(disk) = &spec.cinder {
            Some(Self::new(&CINDER, disk.volume_id.as_str()))
        } else if let Some(disk) = &spec.azure_disk {
            Some(Self::new(&AZURE_DISK, disk.disk_uri.as_str()))
        } else if let Some(share) = &spec.azure_file {
            Some(Self::new(&AZURE_FILE, azure_id(share)))
        } else if let Some(disk) = &spec.vsphere_volume {
            Some(Self::new(&VSPHERE, disk.volume_path.as_str()))
        } else {
            let disk = spec.portworx_volume.as_ref()?;
            Some(Self::new(&PORTWORX, disk.volume_id.as_str()))
        }
    }

    /// Returns a disk of Amazon. Its ID is its name, or `aws://<zone>/<name>`.
    fn aws(id: &'a Text) -> Self {
        let Some(rest) = id.strip_prefix(AWS_PREFIX) else {
            return Self::new(&AWS, id.as_str());
        };
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        let name = path.trim_matches('/');
        if name.starts_with(AWS_NAME) && !name.contains('/') {
            Self::new(&AWS, name)
        } else {
            Self { plugin: &AWS, id: Err(id) }
        }
    }
}

fn google_id(name: &str, zones: Option<&str>) -> String {
    match zones {
        Some(zones) if zones.contains("__") => {
            format!("projects/{UNSPECIFIED}/regions/{UNSPECIFIED}/disks/{name}")
        }
        zones => {
            let zone = zones.unwrap_or(UNSPECIFIED);
            format!("projects/{UNSPECIFIED}/zones/{zone}/disks/{name}")
        }
    }
}

fn azure_id(share: &AzureFile) -> String {
    let AzureFile { share_name, secret_name, secret_namespace } = share;
    format!("{secret_namespace}#{secret_name}#{share_name}")
}
