//! Placeholder pods.

use serde_json::{Map, Value, json};

use crate::convert::key;
use crate::convert::text::cut;
use crate::object::{OwnerReference, Text};

use super::group::{GROUP_NAME_MAX, TaskGroup};

/// Longest part of an application ID in the name of a placeholder, in bytes.
const APPLICATION_ID_MAX: usize = 28;
/// Length of the random end of a name, in characters.
pub const SUFFIX_LENGTH: usize = 10;
/// Name of the only container.
const CONTAINER: &str = "pause";

/// Settings of placeholder pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceholderSettings {
    /// Image of the container. Empty means the default.
    pub image: Text,
    /// User of the container. Zero means that none is set.
    pub run_as_user: i64,
    /// Group of the container. Zero means that none is set.
    pub run_as_group: i64,
    /// Group of the volumes. Zero means that none is set.
    pub fs_group: i64,
}

/// What the placeholders of one application have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceholderSource {
    /// Application ID.
    pub application: Text,
    /// Queue of the application as the first pod requests it. Can be empty.
    pub queue: Text,
    /// Namespace of the application.
    pub namespace: Text,
    /// Priority class of the pod that owns the placeholders. Empty if that pod is unknown.
    pub priority_class: Text,
    /// Names of the image pull secrets.
    pub pull_secrets: Vec<Text>,
    /// Owners of the placeholders. The deletion of the first pod deletes them.
    pub owners: Vec<OwnerReference>,
    /// Task groups in the annotation of the first pod.
    pub groups_text: Text,
    /// Policy parameters in the annotation of the first pod.
    pub policy_text: Text,
    /// User information in the annotation of the first pod. After a restart, the user stays known.
    pub user_text: Text,
}

/// A pod that holds resources for a gang member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Name of the pod.
    pub name: Text,
    /// Namespace of the pod.
    pub namespace: Text,
    /// Name of its task group.
    pub group: Text,
    /// The pod as the API server takes it.
    pub body: Value,
}

impl Placeholder {
    /// Builds the placeholder of a group. `suffix` makes the name unique.
    pub fn new(
        source: &PlaceholderSource,
        group: &TaskGroup,
        settings: &PlaceholderSettings,
        suffix: &str,
    ) -> Self {
        let application = cut(&source.application, APPLICATION_ID_MAX);
        let name = format!("tg-{application}-{}-{suffix}", cut(&group.name, GROUP_NAME_MAX));
        let body = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata(source, group, &name),
            "spec": spec(source, group, settings),
        });
        Self {
            name: name.into(),
            namespace: source.namespace.clone(),
            group: group.name.clone(),
            body,
        }
    }
}

fn metadata(source: &PlaceholderSource, group: &TaskGroup, name: &str) -> Value {
    let mut labels = texts(&group.labels);
    labels.insert(key::APPLICATION.into(), source.application.as_str().into());
    if source.queue.is_empty() {
        labels.remove(key::QUEUE);
    } else {
        labels.insert(key::QUEUE.into(), source.queue.as_str().into());
    }
    let mut annotations = texts(&group.annotations);
    annotations.insert(key::PLACEHOLDER.into(), "true".into());
    annotations.insert(key::TASK_GROUP_NAME.into(), group.name.as_str().into());
    for (key, text) in [
        (key::TASK_GROUPS, &source.groups_text),
        (key::POLICY_PARAMETERS, &source.policy_text),
        (key::USER_INFO, &source.user_text),
    ] {
        if !text.is_empty() {
            annotations.insert(key.into(), text.as_str().into());
        }
    }
    let mut metadata = json!({
        "name": name,
        "namespace": source.namespace.as_str(),
        "labels": labels,
        "annotations": annotations,
    });
    if !source.owners.is_empty() {
        metadata["ownerReferences"] = source.owners.iter().map(owner).collect();
    }
    metadata
}

fn owner(owner: &OwnerReference) -> Value {
    json!({
        "apiVersion": owner.api_version.as_str(),
        "kind": owner.kind.as_str(),
        "name": owner.name.as_str(),
        "uid": owner.uid.as_str(),
        "controller": owner.controller,
        "blockOwnerDeletion": owner.block_owner_deletion,
    })
}

fn spec(source: &PlaceholderSource, group: &TaskGroup, settings: &PlaceholderSettings) -> Value {
    let mut security = json!({
        "runAsNonRoot": true,
        "seccompProfile": { "type": "RuntimeDefault" },
    });
    for (field, id) in [
        ("runAsUser", settings.run_as_user),
        ("runAsGroup", settings.run_as_group),
        ("fsGroup", settings.fs_group),
    ] {
        if id != 0 {
            security[field] = id.into();
        }
    }
    let mut spec = json!({
        "schedulerName": key::SCHEDULER,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "securityContext": security,
        "containers": [container(group, settings)],
    });
    if !source.priority_class.is_empty() {
        spec["priorityClassName"] = source.priority_class.as_str().into();
    }
    if !source.pull_secrets.is_empty() {
        let secret = |name: &Text| json!({ "name": name.as_str() });
        spec["imagePullSecrets"] = source.pull_secrets.iter().map(secret).collect();
    }
    if !group.node_selector.is_empty() {
        spec["nodeSelector"] = texts(&group.node_selector).into();
    }
    for (field, value) in &group.pod_fields {
        spec[*field] = value.clone();
    }
    spec
}

fn container(group: &TaskGroup, settings: &PlaceholderSettings) -> Value {
    let amounts: Map<_, _> = group
        .min_resource
        .iter()
        .map(|(name, amount)| (name.to_string(), amount.text.as_str().into()))
        .collect();
    let image = settings.image.non_empty().unwrap_or(PlaceholderSettings::DEFAULT_IMAGE);
    json!({
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "resources": { "requests": amounts, "limits": amounts },
        "securityContext": {
            "privileged": false,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
    })
}

impl PlaceholderSettings {
    /// Image of a placeholder without a configured image.
    pub const DEFAULT_IMAGE: &'static str = "registry.k8s.io/pause:3.7";
}

impl Default for PlaceholderSettings {
    fn default() -> Self {
        Self { image: Self::DEFAULT_IMAGE.into(), run_as_user: 0, run_as_group: 0, fs_group: 0 }
    }
}

fn texts(pairs: &[(Text, Text)]) -> Map<String, Value> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.as_str().into())).collect()
}
