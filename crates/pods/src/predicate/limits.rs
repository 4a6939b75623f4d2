//! `NodeVolumeLimits`: a CSI driver attaches a limited number of volumes to a node.

use std::collections::{BTreeMap, BTreeSet};

use crate::object::{
    CsiNode, CsiNodeDriver, PersistentVolume, PersistentVolumeClaim, VolumeSource,
};

use super::claim::{ClaimName, class_of_claim};
use super::migration::{Disk, Plugin};
use super::{Context, LimitRefusal, NodeFacts, PodFacts, Predicate, Preparation, Refusal};

/// State of the predicate. The pod has volumes that a driver attaches.
#[derive(Clone, Debug)]
pub(super) struct NodeVolumeLimits;

/// A volume that a driver attaches. Equal volumes are attached once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Attached {
    driver: String,
    id: String,
}

impl<'a> Predicate<'a> for NodeVolumeLimits {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let can_attach = |source: &VolumeSource| match source {
            VolumeSource::Claim(_) | VolumeSource::Ephemeral => true,
            VolumeSource::GcePersistentDisk(_)
            | VolumeSource::AwsElasticBlockStore(_)
            | VolumeSource::AzureDisk(_)
            | VolumeSource::AzureFile(_)
            | VolumeSource::Cinder(_)
            | VolumeSource::Vsphere(_)
            | VolumeSource::Portworx(_)
            | VolumeSource::Rbd(_)
            | VolumeSource::Iscsi(_)
            | VolumeSource::Csi(_) => Disk::of_source(source).is_some(),
        };
        let volumes = &context.pod.pod().spec.volumes;
        if volumes.iter().any(|volume| can_attach(&volume.source)) {
            Preparation::check(Self)
        } else {
            Preparation::Skip
        }
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        check(context, node).map_err(Refusal::Limit)
    }
}

fn check(context: Context<'_>, node: &NodeFacts) -> Result<(), LimitRefusal> {
    let csi_node = context.snapshot.storage().csi_nodes.get(node.name()).map(|node| &**node);
    let mut wanted = BTreeSet::new();
    collect(context, csi_node, context.pod, Use::New, &mut wanted)?;
    let limits = csi_node.map(limits).unwrap_or_default();
    if wanted.is_empty() || limits.is_empty() {
        return Ok(());
    }
    let mut attached = BTreeSet::new();
    for pod in node.pods() {
        collect(context, csi_node, pod, Use::Existing, &mut attached)?;
    }
    // A volume that a pod on the node uses needs no further place.
    wanted.retain(|volume| !attached.contains(volume));
    // kube-scheduler counts an attached volume that no pod uses yet besides the same volume of the new pod.
    collect_attachments(context, node, csi_node, &mut attached);
    let mut counts = BTreeMap::<&str, i64>::new();
    for volume in attached.iter().chain(&wanted) {
        *counts.entry(&volume.driver).or_default() += 1;
    }
    for volume in &wanted {
        let driver = volume.driver.as_str();
        if let (Some(limit), Some(count)) = (limits.get(driver), counts.get(driver))
            && count > limit
        {
            return Err(LimitRefusal::Full { limit: *limit });
        }
    }
    Ok(())
}

fn limits(node: &CsiNode) -> BTreeMap<&str, i64> {
    let limit = |driver: &CsiNodeDriver| driver.allocatable.as_ref()?.count.map(i64::from);
    let drivers = node.spec.drivers.iter();
    drivers.filter_map(|driver| Some((driver.name.as_str(), limit(driver)?))).collect()
}

/// Whose volumes are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The pod to place, whose claims must exist.
    New,
    /// A pod on the node.
    Existing,
}

/// Adds the volumes of a pod that drivers attach.
fn collect(
    context: Context<'_>,
    node: Option<&CsiNode>,
    pod: &PodFacts,
    volume_use: Use,
    volumes: &mut BTreeSet<Attached>,
) -> Result<(), LimitRefusal> {
    for volume in &pod.pod().spec.volumes {
        let Some(name) = ClaimName::of(pod, volume) else {
            if let Some(Disk { plugin, id }) = Disk::of_source(&volume.source)
                && plugin.counts_on(node)
            {
                let id = id.map_err(|id| LimitRefusal::DiskId {
                    volume: volume.name.clone(),
                    id: id.clone(),
                })?;
                volumes.insert(Attached { driver: plugin.driver().to_owned(), id: id.into() });
            }
            continue;
        };
        let refuse =
            |fault| LimitRefusal::Claim { namespace: pod.pod().metadata.namespace.clone(), fault };
        match name.find(context, pod) {
            Ok(claim) => {
                name.check_owner(pod, claim).map_err(refuse)?;
                volumes.extend(volume_of_claim(context, node, claim));
            }
            Err(fault) if volume_use == Use::New => return Err(refuse(fault)),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Adds the volumes that are attached to the node, or will be.
fn collect_attachments(
    context: Context<'_>,
    node: &NodeFacts,
    csi_node: Option<&CsiNode>,
    volumes: &mut BTreeSet<Attached>,
) {
    let storage = context.snapshot.storage();
    for attachment in storage.attachments_of(node.name()) {
        let name = &attachment.spec.source.persistent_volume_name;
        if let Some(volume) = storage.volumes.get(name) {
            volumes.extend(attached(csi_node, volume));
        }
    }
}

/// Returns the volume that serves the claim, or will be created for it.
fn volume_of_claim(
    context: Context<'_>,
    node: Option<&CsiNode>,
    claim: &PersistentVolumeClaim,
) -> Option<Attached> {
    let storage = context.snapshot.storage();
    if let Some(volume) = storage.volumes.get(&claim.spec.volume_name) {
        return attached(node, volume);
    }
    let class = storage.classes.get(class_of_claim(claim))?;
    let driver = match Plugin::by_name(&class.provisioner) {
        None => &*class.provisioner,
        Some(plugin) => plugin.counts_on(node).then_some(plugin.driver())?,
    };
    let metadata = &claim.metadata;
    // No handle of a driver can begin so, because each handle is of a volume that exists.
    let id = format!("claim {}/{}", metadata.namespace, metadata.name);
    Some(Attached { driver: driver.to_owned(), id })
}

fn attached(node: Option<&CsiNode>, volume: &PersistentVolume) -> Option<Attached> {
    let (driver, id) = if let Some(csi) = &volume.spec.csi {
        (csi.driver.to_string(), csi.volume_handle.to_string())
    } else {
        let Disk { plugin, id } = Disk::of_volume(volume)?;
        (plugin.counts_on(node).then_some(plugin.driver())?.to_owned(), id.ok()?.into())
    };
    (!driver.is_empty() && !id.is_empty()).then_some(Attached { driver, id })
}
