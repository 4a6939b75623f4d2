//! The recorded requests as objects of Kubernetes.

use std::collections::BTreeMap;

use headroom_api::si::v1;
use headroom_pods::convert::key;
use serde_json::{Map, Value, json};

/// Annotations of a namespace.
pub(crate) type Annotations = BTreeMap<&'static str, String>;

/// Most pods of a node. Their number must not hold any back.
pub(crate) const PODS_OF_NODE: &str = "1000000";

/// Tags of recorded applications that are annotations of the namespace, with the key of the annotation, and whether
/// the value is an amount of resources.
const TAGS: [(&str, &str, bool); 4] = [
    (key::tag::QUOTA, key::NAMESPACE_QUOTA, true),
    (key::tag::GUARANTEED, key::NAMESPACE_GUARANTEED, true),
    (key::tag::MAX_APPS, key::NAMESPACE_MAX_APPS, false),
    (key::tag::PARENT, key::NAMESPACE_PARENT, false),
];

/// Keys of all these annotations.
pub(crate) const ANNOTATIONS: [&str; 4] = [
    key::NAMESPACE_QUOTA,
    key::NAMESPACE_GUARANTEED,
    key::NAMESPACE_MAX_APPS,
    key::NAMESPACE_PARENT,
];

/// Returns the annotations of the namespace for these tags of an application. `None` for a tag that the shim does not
/// send.
pub(crate) fn annotations(tags: &BTreeMap<String, String>) -> Option<Annotations> {
    let mut found = Annotations::new();
    for (tag, value) in tags {
        if tag == key::tag::NAMESPACE || (tag == key::tag::FORCE && value == "false") {
            continue;
        }
        let (_, annotation, is_amount) = TAGS.iter().find(|(one, _, _)| one == tag)?;
        let value = if *is_amount { quota(value)? } else { value.clone() };
        found.insert(annotation, value);
    }
    Some(found)
}

/// Returns the quantities of Kubernetes for amounts that a tag has as JSON. `None` for amounts that the shim does not
/// send: none at all, or only zeros.
fn quota(tag: &str) -> Option<String> {
    let tag: Value = serde_json::from_str(tag).ok()?;
    let mut quantities = Map::new();
    let mut is_some = false;
    for (name, one) in tag["resources"].as_object()? {
        let amount = one.get("value").map_or(Some(0), Value::as_i64)?;
        is_some |= amount > 0;
        let (name, quantity) = quantity(name, amount)?;
        quantities.insert(name.to_owned(), quantity.into());
    }
    is_some.then(|| Value::Object(quantities).to_string())
}

/// Returns the name and the quantity of an amount in Kubernetes.
fn quantity(name: &str, amount: i64) -> Option<(&'static str, String)> {
    match name {
        _ if amount < 0 => None,
        "memory" => Some(("memory", amount.to_string())),
        "vcore" => Some(("cpu", format!("{amount}m"))),
        _ => None,
    }
}

/// Returns the quantities of a size.
fn quantities(size: Option<&v1::Resource>) -> Map<String, Value> {
    let amounts = size.into_iter().flat_map(|size| &size.resources);
    let all = amounts.filter_map(|(name, one)| quantity(name, one.value));
    all.map(|(name, quantity)| (name.to_owned(), quantity.into())).collect()
}

/// Returns whether the API server takes a text as the name of a namespace.
pub(crate) fn is_label(text: &str) -> bool {
    is_subdomain(text) && !text.contains('.') && text.len() <= 63
}

/// Returns whether the API server takes a text as the name of a node.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        let inner = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        part.bytes().all(|letter| inner(letter) || letter == b'-')
            && part.bytes().next().is_some_and(inner)
            && part.bytes().last().is_some_and(inner)
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

/// Returns whether the API server takes a text as the value of a label.
fn is_label_value(text: &str) -> bool {
    let ends = |letter: Option<u8>| letter.is_some_and(|one| one.is_ascii_alphanumeric());
    text.len() <= 63
        && text.bytes().all(|one| one.is_ascii_alphanumeric() || b"-_.".contains(&one))
        && ends(text.bytes().next())
        && ends(text.bytes().last())
}

/// A priority class: only a class gives a pod a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    priority: i32,
    may_preempt: bool,
}

impl Class {
    /// Returns the class of an ask.
    pub(crate) fn of(ask: &v1::Allocation) -> Self {
        let policy = ask.preemption_policy.as_ref();
        let may_preempt = policy.is_some_and(|policy| policy.allow_preempt_other);
        Self { priority: ask.priority, may_preempt }
    }

    pub(crate) fn name(self) -> String {
        let sign = if self.priority < 0 { "minus" } else { "plus" };
        let policy = if self.may_preempt { "preempts" } else { "never" };
        format!("{sign}-{}-{policy}", self.priority.unsigned_abs())
    }

    pub(crate) fn object(self) -> Value {
        let policy = if self.may_preempt { "PreemptLowerPriority" } else { "Never" };
        json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": self.name()},
            "value": self.priority,
            "preemptionPolicy": policy,
        })
    }
}

/// Returns a node.
pub(crate) fn node(name: &str, size: Option<&v1::Resource>, is_cordoned: bool) -> Value {
    let mut status = node_size(size);
    status["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {"unschedulable": is_cordoned},
        "status": status,
    })
}

/// Returns the amounts in the status of a node. As a patch, it removes the types that the size lacks.
pub(crate) fn node_size(size: Option<&v1::Resource>) -> Value {
    let mut amounts = quantities(size);
    amounts.insert("pods".to_owned(), PODS_OF_NODE.into());
    let mut patch = amounts.clone();
    for name in ["cpu", "memory"] {
        patch.entry(name).or_insert(Value::Null);
    }
    json!({"capacity": patch.clone(), "allocatable": patch})
}

/// What all pods of an application have.
#[derive(Clone, Debug)]
pub(crate) struct Submitted {
    pub(crate) namespace: String,
    labels: Map<String, Value>,
    annotations: Map<String, Value>,
}

impl Submitted {
    pub(crate) fn of(new: &v1::AddApplicationRequest) -> Self {
        let (mut labels, mut annotations) = (Map::new(), Map::new());
        let mut set = |old: &str, key: &str, value: &str| {
            if is_label_value(value) {
                labels.insert(old.to_owned(), value.into());
            } else if !value.is_empty() {
                annotations.insert(key.to_owned(), value.into());
            }
        };
        set(key::APPLICATION_OLD, key::APPLICATION, &new.application_id);
        set(key::QUEUE_OLD, key::QUEUE, &new.queue_name);
        if let Some(ugi) = &new.ugi {
            let user = json!({"user": ugi.user, "groups": ugi.groups}).to_string();
            annotations.insert(key::USER_INFO.to_owned(), user.into());
        }
        let namespace = new.tags.get("namespace").map_or("default", String::as_str).to_owned();
        Self { namespace, labels, annotations }
    }

    /// Returns a pod without requests that waits for a claim, and so submits only its application.
    pub(crate) fn gate(&self, name: &str, claim: &str) -> Value {
        let mut pod = self.plain(name, key::SCHEDULER, &Map::new());
        pod["spec"]["volumes"] = volumes(claim);
        pod
    }

    /// Returns the pod of an ask, or of an allocation that already runs.
    pub(crate) fn pod(&self, name: &str, ask: &v1::Allocation) -> Value {
        let requests = quantities(ask.resource_per_alloc.as_ref());
        let mut pod = self.plain(name, key::SCHEDULER, &requests);
        let allow = ask.preemption_policy.as_ref().is_some_and(|one| one.allow_preempt_self);
        pod["metadata"]["annotations"][key::ALLOW_PREEMPTION] = allow.to_string().into();
        pod["spec"]["priorityClassName"] = Class::of(ask).name().into();
        if !ask.node_id.is_empty() {
            pod["spec"]["nodeName"] = (*ask.node_id).into();
        }
        if let Some(node) = ask.allocation_tags.get(key::tag::REQUIRED_NODE) {
            require(&mut pod, node);
        }
        pod
    }

    /// Returns the pod of an ask that waits for a claim.
    pub(crate) fn pod_with_claim(&self, name: &str, ask: &v1::Allocation, claim: &str) -> Value {
        let mut pod = self.pod(name, ask);
        pod["spec"]["volumes"] = volumes(claim);
        pod
    }

    fn plain(&self, name: &str, scheduler: &str, requests: &Map<String, Value>) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": self.namespace,
                "labels": self.labels,
                "annotations": self.annotations,
            },
            "spec": {
                "schedulerName": scheduler,
                "containers": [container(requests)],
            },
        })
    }
}

fn container(requests: &Map<String, Value>) -> Value {
    json!({"name": "main", "image": "none", "resources": {"requests": requests}})
}

fn volumes(claim: &str) -> Value {
    json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])
}

/// Makes a pod one of a daemon set, which requires its node, as the controller of daemon sets does.
fn require(pod: &mut Value, node: &str) {
    let owner = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "set", "uid": "set"});
    let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    let terms = json!([{"matchFields": [field]}]);
    pod["metadata"]["ownerReferences"] = json!([owner]);
    pod["spec"]["affinity"] = json!({"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
    }});
    pod["spec"]["tolerations"] = json!([{
        "key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule",
    }]);
}

/// Returns a pod of another scheduler on a node.
pub(crate) fn foreign(name: &str, one: &v1::Allocation) -> Value {
    let nobody =
        Submitted { namespace: "default".to_owned(), labels: Map::new(), annotations: Map::new() };
    let requests = quantities(one.resource_per_alloc.as_ref());
    let mut pod = nobody.plain(name, "default-scheduler", &requests);
    pod["spec"]["nodeName"] = (*one.node_id).into();
    if one.allocation_tags.get(key::tag::FOREIGN).is_some_and(|kind| kind == "static") {
        let node = json!({"apiVersion": "v1", "kind": "Node", "name": one.node_id, "uid": "node"});
        pod["metadata"]["ownerReferences"] = json!([node]);
    }
    pod
}

/// Returns the patch that resizes a pod in place.
pub(crate) fn resize(size: Option<&v1::Resource>) -> Value {
    let resources = json!({"requests": quantities(size)});
    json!({"spec": {"containers": [{"name": "main", "resources": resources}]}})
}

/// Returns a volume that is bound to a claim, and that each node can mount.
pub(crate) fn volume(claim: &str, namespace: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": claim},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/none"},
            "storageClassName": "",
            "claimRef": {"namespace": namespace, "name": claim},
        },
    })
}

/// Returns the claim that the volume of this name is bound to.
pub(crate) fn claim(claim: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "",
            "volumeName": claim,
        },
    })
}
