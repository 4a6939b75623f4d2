//! What a bind assumes about volumes and claims.

use std::sync::Arc;

use headroom_pods::object::{
    ClaimPhase, Metadata, ObjectReference, PersistentVolume, PersistentVolumeClaim, Text,
};
use headroom_pods::predicate::{BIND_COMPLETED, SELECTED_NODE, VolumeStep};
use headroom_pods::shim::ClaimName;

/// What must be done for a claim before the pod is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The volume is to serve the claim.
    Bind {
        /// The claim.
        claim: ClaimName,
        /// UID of the claim.
        uid: Text,
        /// Name of the volume.
        volume: Text,
    },
    /// A volume for the claim is to be created for the node.
    Create {
        /// The claim.
        claim: ClaimName,
        /// UID of the claim.
        uid: Text,
        /// Name of the node.
        node: Text,
    },
}

impl Step {
    pub(super) fn new(step: VolumeStep<'_>, node: &Text) -> Self {
        match step {
            VolumeStep::Bind { claim, volume } => Self::Bind {
                claim: name_of(&claim.metadata),
                uid: claim.metadata.uid.clone(),
                volume: volume.metadata.name.clone(),
            },
            VolumeStep::Create { claim } => Self::Create {
                claim: name_of(&claim.metadata),
                uid: claim.metadata.uid.clone(),
                node: node.clone(),
            },
        }
    }

    /// Returns the claim.
    pub fn claim(&self) -> &ClaimName {
        match self {
            Self::Bind { claim, .. } | Self::Create { claim, .. } => claim,
        }
    }

    /// Returns the UID of the claim.
    pub fn claim_uid(&self) -> &Text {
        match self {
            Self::Bind { uid, .. } | Self::Create { uid, .. } => uid,
        }
    }
}

fn name_of(claim: &Metadata) -> ClaimName {
    ClaimName { namespace: claim.namespace.clone(), name: claim.name.clone() }
}

/// Returns whether a claim has the volume for itself.
pub(super) fn is_claimed(volume: &PersistentVolume) -> bool {
    volume.spec.claim_ref.as_ref().is_some_and(|claim| !claim.uid.is_empty())
}

/// Returns whether a node is selected for the claim.
pub(super) fn has_node(claim: &PersistentVolumeClaim) -> bool {
    claim.metadata.annotations.contains(SELECTED_NODE)
}

/// Returns whether a volume serves the claim.
pub(super) fn is_served(claim: &PersistentVolumeClaim) -> bool {
    !claim.spec.volume_name.is_empty() && claim.metadata.annotations.contains(BIND_COMPLETED)
}

/// Returns whether the claim can never be served again.
pub(super) fn is_lost(claim: &PersistentVolumeClaim) -> bool {
    claim.status.phase == ClaimPhase::Lost
}

pub(super) fn volume_with_claim(volume: &PersistentVolume, step: &Step) -> Arc<PersistentVolume> {
    let ClaimName { namespace, name } = step.claim().clone();
    let mut volume = volume.clone();
    let uid = step.claim_uid().clone();
    volume.spec.claim_ref = Some(Box::new(ObjectReference { namespace, name, uid }));
    Arc::new(volume)
}

pub(super) fn claim_with_node(
    claim: &PersistentVolumeClaim,
    node: &Text,
) -> Arc<PersistentVolumeClaim> {
    let mut claim = claim.clone();
    let others = claim.metadata.annotations.iter().map(|(key, value)| (key.clone(), value.clone()));
    claim.metadata.annotations =
        others.chain([(Text::from(SELECTED_NODE), node.clone())]).collect();
    Arc::new(claim)
}
