//! `VolumeRestrictions`: some disks and claims have one user.

use crate::object::{AccessMode, Text, VolumeSource};

use super::claim::ClaimName;
use super::{
    ClaimFault, Context, NodeFacts, PodFacts, Predicate, Preparation, Refusal, RestrictionRefusal,
};

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct VolumeRestrictions<'a> {
    /// Disks that exclude other users on a node.
    disks: Vec<&'a VolumeSource>,
    /// Claims for a single pod, and how many pods use them.
    exclusive: Vec<(&'a Text, usize)>,
}

impl<'a> Predicate<'a> for VolumeRestrictions<'a> {
    const CHANGES: bool = true;

    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let volumes = &context.pod.pod().spec.volumes;
        let sources = volumes.iter().map(|volume| &volume.source);
        let disks: Vec<_> = sources.filter(|source| is_exclusive(source)).collect();
        let mut exclusive = match exclusive_claims(context) {
            Ok(claims) => claims,
            Err(fault) => {
                return Preparation::Refuse(Refusal::Restriction(RestrictionRefusal::Claim(fault)));
            }
        };
        if !exclusive.is_empty() {
            let pods = context.snapshot.nodes().flat_map(NodeFacts::pods);
            for pod in pods {
                for (_, users) in used(&mut exclusive, context, pod) {
                    *users += 1;
                }
            }
        }
        exclusive.retain(|(_, users)| *users > 0);
        if disks.is_empty() && exclusive.is_empty() {
            return Preparation::Skip;
        }
        Preparation::check(Self { disks, exclusive })
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        let refuse = |refusal| Err(Refusal::Restriction(refusal));
        if !self.disks.is_empty() {
            let mut used = node.pods().flat_map(|pod| &pod.pod().spec.volumes);
            if used.any(|used| self.disks.iter().any(|disk| excludes(disk, &used.source))) {
                return refuse(RestrictionRefusal::DiskInUse);
            }
        }
        if self.exclusive.iter().any(|(_, users)| *users > 0) {
            return refuse(RestrictionRefusal::ClaimInUse);
        }
        Ok(())
    }

    fn remove(&mut self, context: Context<'a>, _node: &NodeFacts, victim: &PodFacts) {
        for (_, users) in used(&mut self.exclusive, context, victim) {
            *users = users.saturating_sub(1);
        }
    }
}

/// Returns the claims of the pod that are for a single pod, without users.
fn exclusive_claims(context: Context<'_>) -> Result<Vec<(&Text, usize)>, ClaimFault> {
    let mut exclusive = Vec::new();
    for name in context.pod.claim_names() {
        let claim = ClaimName { name: name.as_str().into(), is_ephemeral: false };
        let claim = claim.find(context, context.pod)?;
        if claim.spec.access_modes.contains(&AccessMode::ReadWriteOncePod) {
            exclusive.push((name, 0));
        }
    }
    exclusive.sort_unstable();
    exclusive.dedup();
    Ok(exclusive)
}

/// Returns the entries of those claims that `pod` uses.
fn used<'c, 'a>(
    claims: &'c mut [(&'a Text, usize)],
    context: Context<'_>,
    pod: &PodFacts,
) -> impl Iterator<Item = &'c mut (&'a Text, usize)> {
    let same_namespace = pod.pod().metadata.namespace == context.pod.pod().metadata.namespace;
    claims
        .iter_mut()
        .filter(move |(name, _)| same_namespace && pod.claim_names().any(|used| used == *name))
}

/// Returns whether the disk can exclude other users.
fn is_exclusive(source: &VolumeSource) -> bool {
    match source {
        VolumeSource::GcePersistentDisk(_)
        | VolumeSource::AwsElasticBlockStore(_)
        | VolumeSource::Rbd(_)
        | VolumeSource::Iscsi(_) => true,
        VolumeSource::Claim(_)
        | VolumeSource::Ephemeral
        | VolumeSource::AzureDisk(_)
        | VolumeSource::AzureFile(_)
        | VolumeSource::Cinder(_)
        | VolumeSource::Vsphere(_)
        | VolumeSource::Portworx(_)
        | VolumeSource::Csi(_) => false,
    }
}

/// Returns whether two volumes are the same disk and one node cannot use it twice.
fn excludes(one: &VolumeSource, two: &VolumeSource) -> bool {
    let shares = |one: bool, two: bool| one && two;
    match (one, two) {
        (VolumeSource::GcePersistentDisk(one), VolumeSource::GcePersistentDisk(two)) => {
            one.pd_name == two.pd_name && !shares(one.read_only, two.read_only)
        }
        (VolumeSource::AwsElasticBlockStore(one), VolumeSource::AwsElasticBlockStore(two)) => {
            one.volume_id == two.volume_id
        }
        (VolumeSource::Iscsi(one), VolumeSource::Iscsi(two)) => {
            one.iqn == two.iqn && !shares(one.read_only, two.read_only)
        }
        (VolumeSource::Rbd(one), VolumeSource::Rbd(two)) => {
            one.pool == two.pool
                && one.image == two.image
                && one.monitors.iter().any(|monitor| two.monitors.contains(monitor))
                && !shares(one.read_only, two.read_only)
        }
        (one, _) => {
            debug_assert!(is_exclusive(one), "only exclusive disks are compared");
            false
        }
    }
}
