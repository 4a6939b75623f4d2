//! Binds pods to nodes.

use headroom_pods::object::Pod;
use headroom_pods::shim::{BindDone, BindError, BindRequest, PodIdentity};
use http::Method;
use serde_json::json;
use tokio::time::Instant;

use crate::client::{Content, Fault, path};

use super::Actor;

impl Actor {
    /// Binds a pod to a node. The UID in the binding makes the API server refuse a later pod of the same name.
    pub(super) async fn bind_pod(&self, request: &BindRequest) -> Result<BindDone, BindError> {
        let BindRequest { pod, node, .. } = request;
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "namespace": pod.namespace.as_str(),
                "name": pod.name.as_str(),
                "uid": pod.uid.as_str(),
            },
            "target": { "apiVersion": "v1", "kind": "Node", "name": node.as_str() },
        });
        let path = format!("{}/binding", path::pod(&pod.namespace, &pod.name));
        let begin = Instant::now();
        let result = match self.api.write(Method::POST, &path, Content::Json(&binding)).await {
            Ok(_) => Ok(BindDone::PodBound),
            Err(fault) => match fault.code() {
                Some(404) => Err(BindError::Gone),
                // Also after an earlier request whose answer was lost.
                Some(409) => self.bound_already(request, &fault).await,
                Some(_) | None => Err(BindError::Retry(fault.to_string())),
            },
        };
        match &result {
            Ok(_) => self.api.counters().bound(begin.elapsed()),
            Err(BindError::Retry(_) | BindError::Final(_)) => self.api.counters().bind_failed(),
            Err(BindError::Gone | BindError::BoundElsewhere { .. }) => {}
        }
        result
    }

    /// Decides what a conflict means.
    async fn bound_already(
        &self,
        request: &BindRequest,
        conflict: &Fault,
    ) -> Result<BindDone, BindError> {
        let node = self.read_pod(&request.pod).await?.spec.node_name;
        if node == request.node {
            Ok(BindDone::PodBound)
        } else if node.is_empty() {
            Err(BindError::Retry(conflict.to_string()))
        } else {
            Err(BindError::BoundElsewhere { node })
        }
    }

    /// Reads a pod of this UID.
    pub(super) async fn read_pod(&self, identity: &PodIdentity) -> Result<Pod, BindError> {
        let pod = self.api.get::<Pod>(&path::pod(&identity.namespace, &identity.name)).await;
        match pod {
            Ok(pod) if pod.metadata.uid == identity.uid => Ok(pod),
            Ok(_) => Err(BindError::Gone),
            Err(fault) if fault.code() == Some(404) => Err(BindError::Gone),
            Err(fault) => Err(BindError::Retry(fault.to_string())),
        }
    }
}
