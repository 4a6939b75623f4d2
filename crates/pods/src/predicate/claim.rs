//! Claims of a pod: which volumes are claims, and whether the claims are sound.

use std::borrow::Cow;

use crate::object::{PersistentVolume, PersistentVolumeClaim, Text, Volume, VolumeSource};

use super::{ClaimFault, Context, PodFacts};

/// Annotation that had the class before the field existed. It wins.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// A claim that a volume of a pod names.
pub(super) struct ClaimName<'a> {
    /// Name of the claim.
    pub(super) name: Cow<'a, str>,
    /// Whether Kubernetes creates the claim for the pod.
    pub(super) is_ephemeral: bool,
}

impl<'a> ClaimName<'a> {
    /// Returns the claim of a volume, or nothing if the volume is not a claim.
    pub(super) fn of(pod: &'a PodFacts, volume: &'a Volume) -> Option<Self> {
        match &volume.source {
            VolumeSource::Claim(claim) => {
                Some(Self { name: Cow::Borrowed(claim.claim_name.as_str()), is_ephemeral: false })
            }
            VolumeSource::Ephemeral => Some(Self {
                name: Cow::Owned(format!("{}-{}", pod.pod().metadata.name, volume.name)),
                is_ephemeral: true,
            }),
            VolumeSource::GcePersistentDisk(_)
            | VolumeSource::AwsElasticBlockStore(_)
            | VolumeSource::Rbd(_)
            | VolumeSource::Iscsi(_)
            | VolumeSource::AzureDisk(_)
            | VolumeSource::AzureFile(_)
            | VolumeSource::Cinder(_)
            | VolumeSource::Vsphere(_)
            | VolumeSource::Portworx(_)
            | VolumeSource::Csi(_) => None,
        }
    }

    /// Returns the claim. Ownership is not checked.
    pub(super) fn find<'s>(
        &self,
        context: Context<'s>,
        pod: &PodFacts,
    ) -> Result<&'s PersistentVolumeClaim, ClaimFault> {
        let claims = &context.snapshot.storage().claims;
        claims.get(&pod.pod().metadata.namespace, &self.name).ok_or_else(|| {
            let claim: Text = (*self.name).into();
            if self.is_ephemeral {
                ClaimFault::NotCreated { claim }
            } else {
                ClaimFault::Missing { claim }
            }
        })
    }

    /// Checks that the claim of an ephemeral volume belongs to the pod.
    pub(super) fn check_owner(
        &self,
        pod: &PodFacts,
        claim: &PersistentVolumeClaim,
    ) -> Result<(), ClaimFault> {
        let metadata = &pod.pod().metadata;
        let owner = claim.metadata.controller();
        if !self.is_ephemeral || owner.is_some_and(|owner| owner.uid == metadata.uid) {
            return Ok(());
        }
        Err(ClaimFault::NotOwned {
            namespace: metadata.namespace.clone(),
            claim: claim.metadata.name.clone(),
            pod: metadata.name.clone(),
        })
    }
}

/// Returns the name of the class of a claim. Empty means no class.
pub(super) fn class_of_claim(claim: &PersistentVolumeClaim) -> &str {
    let annotation = claim.metadata.annotations.get(CLASS_ANNOTATION);
    annotation.or(claim.spec.storage_class_name.as_ref()).map_or("", Text::as_str)
}

/// Returns the name of the class of a volume. Empty means no class.
pub(super) fn class_of_volume(volume: &PersistentVolume) -> &str {
    volume.metadata.annotations.get(CLASS_ANNOTATION).unwrap_or(&volume.spec.storage_class_name)
}
