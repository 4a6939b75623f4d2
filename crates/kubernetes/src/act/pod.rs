//! Deletes pods, and writes their status.

use headroom_pods::shim::{PodIdentity, WaitReason};
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::client::{Content, Fault, path};

use super::{Actor, Tries};

/// Most bytes of a message in a status.
const MESSAGE_MAX: usize = 4_096;

impl Actor {
    /// Deletes a pod with its own grace period. A pod that is gone, or replaced by another of its name, is a success.
    pub(super) async fn delete_pod(&self, pod: &PodIdentity) -> Result<(), Fault> {
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": pod.uid.as_str() },
        });
        let path = path::pod(&pod.namespace, &pod.name);
        let mut tries = Tries::default();
        loop {
            match self.api.write(Method::DELETE, &path, Content::Json(&options)).await {
                Ok(_) => return Ok(()),
                Err(fault) if matches!(fault.code(), Some(404 | 409)) => return Ok(()),
                Err(fault) if tries.again(&fault).await => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Writes why a pod waits.
    pub(super) async fn set_condition(&self, pod: &PodIdentity, reason: WaitReason, message: &str) {
        let condition = json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": reason.condition(),
            "message": cut(message, MESSAGE_MAX),
            "lastTransitionTime": format!("{:.0}", Timestamp::now()),
        });
        let status = json!({ "conditions": [condition] });
        let patch = status_patch(pod, &status);
        self.patch_status(pod, Content::StrategicPatch(&patch)).await;
    }

    /// Sets the phase `Failed`, and removes all conditions.
    pub(super) async fn fail_pod(&self, pod: &PodIdentity, reason: &str, message: &str) {
        let status = json!({
            "phase": "Failed",
            "reason": reason,
            "message": cut(message, MESSAGE_MAX),
            "conditions": null,
        });
        let patch = status_patch(pod, &status);
        self.patch_status(pod, Content::MergePatch(&patch)).await;
    }

    async fn patch_status(&self, pod: &PodIdentity, patch: Content<'_>) {
        let path = format!("{}/status", path::pod(&pod.namespace, &pod.name));
        let mut tries = Tries::default();
        loop {
            match self.api.write(Method::PATCH, &path, patch).await {
                Ok(_) => return,
                // The pod is gone.
                Err(fault) if fault.code() == Some(404) => {
                    return tracing::debug!(%path, "not written: {fault}");
                }
                Err(fault) if tries.again(&fault).await => {}
                Err(fault) => return tracing::warn!(%path, "not written: {fault}"),
            }
        }
    }
}

/// Returns a patch that the API server refuses for a pod with another UID.
pub(super) fn status_patch(pod: &PodIdentity, status: &Value) -> Value {
    json!({ "metadata": { "uid": pod.uid.as_str() }, "status": status })
}

/// Returns the beginning of a text with at most `max` bytes.
pub(super) fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}
