//! Binds the volumes of a pod before the pod.

use std::sync::Arc;

use headroom_pods::object::{Metadata, ObjectReference, Text};
use headroom_pods::predicate::SELECTED_NODE;
use headroom_pods::shim::{BindDone, BindError, BindRequest, ClaimName};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::client::{Content, Fault, path};
use crate::volumes::{Progress, Step};

use super::Actor;

/// Annotation of a volume that a scheduler or controller bound, and not its creator.
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// Tries to write a volume that others write at the same time.
const TRIES: usize = 4;

/// What a bind reads of a volume.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Volume {
    metadata: Versioned,
    spec: VolumeSpec,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Versioned {
    resource_version: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VolumeSpec {
    claim_ref: Option<ObjectReference>,
}

/// What a bind reads of a claim.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Claim {
    metadata: Metadata,
}

impl Actor {
    /// Selects volumes for the claims of a pod, in memory.
    pub(super) async fn assume_volumes(
        &self,
        request: &BindRequest,
    ) -> Result<BindDone, BindError> {
        let pod = self.read_pod(&request.pod).await?;
        match self.volumes.assume(Arc::new(pod), &request.node) {
            Ok(changes) if changes.is_empty() => Ok(BindDone::VolumesBound),
            Ok(changes) => {
                self.observe(changes);
                let is_open = self.volumes.steps(&request.pod.uid).is_some();
                Ok(if is_open { BindDone::VolumesAssumed } else { BindDone::VolumesBound })
            }
            Err(fault) => {
                // An earlier selection for the pod is dropped.
                self.observe(self.volumes.undo(&request.pod.uid));
                Err(BindError::Retry(fault.to_string()))
            }
        }
    }

    /// Writes the selection, and waits until the claims are bound. The wait holds no permit.
    pub(super) async fn bind_volumes(
        &self,
        request: &BindRequest,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Result<BindDone, BindError> {
        let uid = &request.pod.uid;
        let Some(steps) = self.volumes.steps(uid) else {
            return Err(BindError::Final("no volumes are selected".into()));
        };
        for step in &steps {
            match step {
                Step::Bind { claim, uid, volume } => self.bind_volume(claim, uid, volume).await?,
                Step::Create { claim, uid, node } => self.select_node(claim, uid, node).await?,
            }
        }
        drop(permit);
        let settled = tokio::time::timeout(self.volume_timeout, self.volumes.settled(&steps));
        let progress = match settled.await {
            Ok(progress) => progress,
            Err(_) => self.volumes.progress(&steps),
        };
        match progress {
            Progress::Done => {
                self.volumes.finish(uid);
                Ok(BindDone::VolumesBound)
            }
            Progress::Failed(error) => Err(BindError::Final(format!("binding volumes: {error}"))),
            Progress::Waits(claim) => {
                let seconds = self.volume_timeout.as_secs();
                let error =
                    format!("binding volumes: claim {claim} is not bound after {seconds} s");
                Err(BindError::Final(error))
            }
        }
    }

    /// Claims a volume.
    async fn bind_volume(
        &self,
        claim: &ClaimName,
        uid: &Text,
        volume: &Text,
    ) -> Result<(), BindError> {
        let path = path::volume(volume);
        let mut conflict = None;
        for _ in 0..TRIES {
            let read = self.api.get::<Volume>(&path).await;
            let Volume { metadata, spec } = read.map_err(|fault| step_fault(&fault))?;
            let is_reserved = match &spec.claim_ref {
                Some(other) if is_for(other, claim, uid) => {
                    if other.uid == *uid {
                        return Ok(());
                    }
                    true
                }
                Some(other) => {
                    let (namespace, name) = (&other.namespace, &other.name);
                    let error = format!("volume {volume} serves claim {namespace}/{name}");
                    return Err(BindError::Final(error));
                }
                None => false,
            };
            let patch = claim_patch(&metadata.resource_version, claim, uid, is_reserved);
            match self.api.write(Method::PATCH, &path, Content::MergePatch(&patch)).await {
                Ok(_) => return Ok(()),
                Err(fault) if fault.code() == Some(409) => conflict = Some(fault),
                Err(fault) => return Err(step_fault(&fault)),
            }
        }
        Err(BindError::Retry(conflict.map(|fault| fault.to_string()).unwrap_or_default()))
    }

    /// Selects the node on which the volume of a claim is created.
    async fn select_node(
        &self,
        claim: &ClaimName,
        uid: &Text,
        node: &Text,
    ) -> Result<(), BindError> {
        let path = path::claim(&claim.namespace, &claim.name);
        let read = self.api.get::<Claim>(&path).await.map_err(|fault| step_fault(&fault))?;
        match read.metadata.annotations.get(SELECTED_NODE) {
            Some(selected) if selected == node => return Ok(()),
            Some(other) => {
                let name = &claim.name;
                let error = format!("node {other} is selected for claim {name}");
                return Err(BindError::Final(error));
            }
            None => {}
        }
        let patch = json!({
            "metadata": { "uid": uid.as_str(), "annotations": { SELECTED_NODE: node.as_str() } },
        });
        let written = self.api.write(Method::PATCH, &path, Content::MergePatch(&patch)).await;
        written.map(drop).map_err(|fault| step_fault(&fault))
    }
}

/// Returns whether a reference of a volume is to this claim. Without a UID, it is a reservation.
fn is_for(reference: &ObjectReference, claim: &ClaimName, uid: &Text) -> bool {
    reference.namespace == claim.namespace
        && reference.name == claim.name
        && (reference.uid.is_empty() || reference.uid == *uid)
}

fn claim_patch(version: &str, claim: &ClaimName, uid: &Text, is_reserved: bool) -> Value {
    let mut metadata = json!({ "resourceVersion": version });
    // A volume that was reserved for the claim stays so after the claim is deleted.
    if !is_reserved {
        metadata["annotations"] = json!({ BOUND_BY_CONTROLLER: "yes" });
    }
    json!({
        "metadata": metadata,
        "spec": {
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim.namespace.as_str(),
                "name": claim.name.as_str(),
                "uid": uid.as_str(),
            },
        },
    })
}

/// Decides whether a step can succeed later. A missing volume or claim cannot come back, and a new one has another UID.
fn step_fault(fault: &Fault) -> BindError {
    match fault.code() {
        Some(404 | 409 | 422) => BindError::Final(fault.to_string()),
        Some(_) | None => BindError::Retry(fault.to_string()),
    }
}
