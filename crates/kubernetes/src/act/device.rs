//! Writes which devices the claims of a pod have.

use headroom_pods::object::{
    Allocation, AllocationResult, NodeSelector, NodeSelectorRequirement, Text,
};
use headroom_pods::predicate::{EXTENDED_CLAIM, ExtendedClaim};
use headroom_pods::shim::{BindDone, BindError, BindRequest, PodIdentity};
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::client::{Content, Fault, path};
use crate::queue::{ClaimWrite, ClusterChange, WhichClaim};
use crate::watch::pause::Pauses;

use super::Actor;
use super::pod::status_patch;

/// Protects a claim with devices from its deletion while a pod uses them.
const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// Tries to take devices back from a claim, over about half a minute. Nobody repeats this later.
const UNDO_TRIES: u32 = 8;
/// Tries to write a claim that others write at the same time.
const TRIES: usize = 4;

/// What happens to a claim.
#[derive(Clone, Copy)]
enum Change {
    /// The claim gets devices, and is reserved for a pod.
    Reserve,
    /// The reservation for a pod ends, and the devices of a claim that nobody else uses are taken back.
    Release,
    /// The devices of a claim that nobody else uses are taken back, also if the claim is not reserved for the pod.
    Free,
}

impl Actor {
    /// Gives devices to claims, and reserves the claims for a pod.
    pub(super) async fn allocate_devices(
        &self,
        request: &BindRequest,
        claims: &[ClaimWrite],
    ) -> Result<BindDone, BindError> {
        let pod = &request.pod;
        for claim in claims {
            match &claim.which {
                WhichClaim::Existing(_) => self.change_claim(claim, pod, Change::Reserve).await?,
                WhichClaim::Extended(extended) => {
                    self.create_claim(claim, extended, pod).await?;
                    self.change_claim(claim, pod, Change::Reserve).await?;
                    self.name_extended(claim, extended, pod).await?;
                }
            }
        }
        Ok(BindDone::DevicesAllocated)
    }

    /// Takes back what [`Actor::allocate_devices`] gave, and what was assumed. Devices that another pod uses stay.
    pub(super) async fn undo_devices(
        &self,
        pod: &PodIdentity,
        claims: Vec<ClaimWrite>,
        mut permit: Option<OwnedSemaphorePermit>,
    ) {
        for claim in &claims {
            self.take_back_surely(pod, claim, Change::Release, &mut permit).await;
        }
        self.drop_assumed(claims);
    }

    /// Takes the devices from a claim, and what was assumed for that. If this fails, the loop requests it again as soon
    /// as it sees that the claim still has the devices.
    pub(super) async fn free_devices(
        &self,
        pod: &PodIdentity,
        claim: ClaimWrite,
        mut permit: Option<OwnedSemaphorePermit>,
    ) {
        self.take_back_surely(pod, &claim, Change::Free, &mut permit).await;
        self.drop_assumed(vec![claim]);
    }

    fn drop_assumed(&self, claims: Vec<ClaimWrite>) {
        self.observe([ClusterChange::observed(move |snapshot| {
            for claim in &claims {
                let ClaimWrite { namespace, name, assumption, .. } = claim;
                snapshot.devices_mut().drop_assumed(namespace, name, *assumption);
            }
        })]);
    }

    /// Takes devices back, with several tries. After the first one, others can write meanwhile.
    async fn take_back_surely(
        &self,
        pod: &PodIdentity,
        claim: &ClaimWrite,
        change: Change,
        permit: &mut Option<OwnedSemaphorePermit>,
    ) {
        let mut pauses = Pauses::default();
        while let Err(BindError::Retry(error)) = self.take_back(pod, claim, change).await {
            if pauses.failed() == UNDO_TRIES {
                tracing::warn!(claim = %claim.name, pod = %pod.name, "devices stay with the claim: {error}");
                break;
            }
            *permit = None;
            tokio::time::sleep(pauses.pause(None)).await;
        }
    }

    /// Takes devices back, unless the pod is bound: another scheduler can have bound the pod, which then uses the claim.
    async fn take_back(
        &self,
        pod: &PodIdentity,
        claim: &ClaimWrite,
        change: Change,
    ) -> Result<(), BindError> {
        match self.read_pod(pod).await {
            Ok(pod) if !pod.spec.node_name.is_empty() => return Ok(()),
            Ok(_) | Err(BindError::Gone) => {}
            Err(error) => return Err(error),
        }
        match claim.which {
            WhichClaim::Existing(_) => self.change_claim(claim, pod, change).await,
            WhichClaim::Extended(_) => self.delete_claim(claim, pod).await,
        }
    }

    /// Reads a claim, changes it, and writes it. Repeats this if others wrote the claim meanwhile.
    async fn change_claim(
        &self,
        claim: &ClaimWrite,
        pod: &PodIdentity,
        change: Change,
    ) -> Result<(), BindError> {
        let path = path::device_claim(&claim.namespace, &claim.name);
        let mut conflict = None;
        for _ in 0..TRIES {
            let mut value: Value = self.api.get(&path).await.map_err(|fault| fault_of(&fault))?;
            if !is_meant(&value, claim, pod) {
                let error = format!("claim {} belongs to another pod", claim.name);
                return Err(match claim.which {
                    WhichClaim::Existing(_) => BindError::Final(error),
                    // The pauses of the tries keep a claim that somebody else made from many binds in vain.
                    WhichClaim::Extended(_) => BindError::Retry(error),
                });
            }
            let with_metadata = match change {
                Change::Reserve => reserve(&mut value, claim, pod)?,
                Change::Release => release(&mut value, pod).then_some(false),
                Change::Free => free(&mut value, pod).then_some(false),
            };
            let Some(with_metadata) = with_metadata else { return Ok(()) };
            match self.put_claim(&path, value, with_metadata).await {
                Ok(()) => return Ok(()),
                Err(fault) if fault.code() == Some(409) => conflict = Some(fault),
                Err(fault) => return Err(fault_of(&fault)),
            }
        }
        let error = conflict.map_or_else(String::new, |fault| fault.to_string());
        Err(BindError::Retry(error))
    }

    /// Writes the status of a claim, and the metadata before it if that changed.
    async fn put_claim(&self, path: &str, value: Value, with_metadata: bool) -> Result<(), Fault> {
        let mut value = value;
        if with_metadata {
            let written = self.api.write(Method::PUT, path, Content::Json(&value)).await?;
            let written: Value = serde_json::from_slice(&written)
                .map_err(|error| Fault::Unreadable(error.to_string()))?;
            value["metadata"] = written["metadata"].clone();
        }
        self.api.write(Method::PUT, &format!("{path}/status"), Content::Json(&value)).await?;
        Ok(())
    }

    /// Creates the claim for extended resources of a pod. The name depends on the pod only, so a second try finds the
    /// claim of the first one.
    async fn create_claim(
        &self,
        claim: &ClaimWrite,
        extended: &ExtendedClaim,
        pod: &PodIdentity,
    ) -> Result<(), BindError> {
        let requests = extended.requests.iter().filter_map(|request| {
            let exactly = request.exactly.as_ref()?;
            Some(json!({
                "name": request.name.as_str(),
                "exactly": {
                    "deviceClassName": exactly.device_class_name.as_str(),
                    "allocationMode": exactly.allocation_mode.word(),
                    "count": exactly.count,
                },
            }))
        });
        let body = json!({
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "name": claim.name.as_str(),
                "namespace": claim.namespace.as_str(),
                "annotations": { EXTENDED_CLAIM: "true" },
                "ownerReferences": [{
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": pod.name.as_str(),
                    "uid": pod.uid.as_str(),
                    "controller": true,
                }],
            },
            "spec": { "devices": { "requests": requests.collect::<Vec<_>>() } },
        });
        let path = path::device_claims(&claim.namespace);
        match self.api.write(Method::POST, &path, Content::Json(&body)).await {
            Ok(_) => Ok(()),
            Err(fault) if fault.code() == Some(409) => Ok(()),
            Err(fault) => Err(fault_of(&fault)),
        }
    }

    /// Writes into the status of a pod which requests of a claim its containers use. The kubelet reads it.
    async fn name_extended(
        &self,
        claim: &ClaimWrite,
        extended: &ExtendedClaim,
        pod: &PodIdentity,
    ) -> Result<(), BindError> {
        let mappings = extended.mappings.iter().map(|mapping| {
            json!({
                "containerName": mapping.container_name.as_str(),
                "resourceName": mapping.resource_name.as_str(),
                "requestName": mapping.request_name.as_str(),
            })
        });
        let status = json!({ "extendedResourceClaimStatus": {
            "resourceClaimName": claim.name.as_str(),
            "requestMappings": mappings.collect::<Vec<_>>(),
        }});
        let patch = status_patch(pod, &status);
        let path = format!("{}/status", path::pod(&pod.namespace, &pod.name));
        let written = self.api.write(Method::PATCH, &path, Content::MergePatch(&patch)).await;
        written.map(drop).map_err(|fault| match fault.code() {
            Some(404) => BindError::Gone,
            Some(_) | None => fault_of(&fault),
        })
    }

    /// Deletes the claim for extended resources of a pod, with its protection.
    async fn delete_claim(&self, claim: &ClaimWrite, pod: &PodIdentity) -> Result<(), BindError> {
        let path = path::device_claim(&claim.namespace, &claim.name);
        let mut value: Value = match self.api.get(&path).await {
            Ok(value) => value,
            Err(fault) if fault.code() == Some(404) => return Ok(()),
            Err(fault) => return Err(fault_of(&fault)),
        };
        if !is_meant(&value, claim, pod) {
            return Ok(());
        }
        if remove_finalizer(&mut value) {
            let written = self.api.write(Method::PUT, &path, Content::Json(&value)).await;
            // A conflict is tried again with the rest.
            written.map_err(|fault| fault_of(&fault))?;
        }
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": value["metadata"]["uid"] },
        });
        match self.api.write(Method::DELETE, &path, Content::Json(&options)).await {
            Ok(_) => Ok(()),
            Err(fault) if matches!(fault.code(), Some(404 | 409)) => Ok(()),
            Err(fault) => Err(fault_of(&fault)),
        }
    }
}

/// Returns whether a claim that was read is the one that is meant.
fn is_meant(value: &Value, claim: &ClaimWrite, pod: &PodIdentity) -> bool {
    let metadata = &value["metadata"];
    match &claim.which {
        WhichClaim::Existing(uid) => metadata["uid"] == uid.as_str(),
        WhichClaim::Extended(_) => {
            let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
            owners.any(|owner| owner["uid"] == pod.uid.as_str())
        }
    }
}

/// Gives a claim its devices, and reserves it. Returns whether the metadata changed too. `None` if nothing is to be
/// written.
fn reserve(
    value: &mut Value,
    claim: &ClaimWrite,
    pod: &PodIdentity,
) -> Result<Option<bool>, BindError> {
    let mut with_metadata = false;
    let is_allocated = value["status"]["allocation"].is_object();
    match &claim.allocation {
        // An earlier try wrote this, or another scheduler something else.
        Some(new) if is_allocated && !has_devices(value, new) => {
            return Err(BindError::Retry(format!("claim {} has other devices", claim.name)));
        }
        None if !is_allocated => {
            return Err(BindError::Retry(format!("claim {} has no devices yet", claim.name)));
        }
        Some(new) if !is_allocated => {
            let config = config(value, new, &claim.class_config);
            let results = new.devices.results.iter().map(|result| result_json(value, result));
            let mut devices = json!({ "results": results.collect::<Vec<_>>() });
            if !config.is_empty() {
                devices["config"] = config.into();
            }
            let now = format!("{:.0}", Timestamp::now());
            value["status"]["allocation"] =
                json!({ "devices": devices, "allocationTimestamp": now });
            if let Some(selector) = &new.node_selector {
                value["status"]["allocation"]["nodeSelector"] = selector_json(selector);
            }
            with_metadata = add_finalizer(value);
        }
        Some(_) | None => {}
    }
    let users = value["status"]["reservedFor"].as_array().cloned().unwrap_or_default();
    if users.iter().any(|user| user["uid"] == pod.uid.as_str()) && is_allocated {
        return Ok(None);
    }
    let user = json!({"resource": "pods", "name": pod.name.as_str(), "uid": pod.uid.as_str()});
    value["status"]["reservedFor"] = users.into_iter().chain([user]).collect();
    Ok(Some(with_metadata))
}

/// Returns the parameters of drivers for the devices: those of the classes first, then those of the claim.
fn config(claim: &Value, new: &Allocation, of_classes: &[Value]) -> Vec<Value> {
    let mut config = of_classes.to_vec();
    let used: Vec<&str> =
        new.devices.results.iter().map(|result| result.request.as_str()).collect();
    for one in claim["spec"]["devices"]["config"].as_array().into_iter().flatten() {
        let requests = one["requests"].as_array().cloned().unwrap_or_default();
        // A request with alternatives is also named without the alternative.
        let is_meant = |request: &&str| {
            let whole = request.split('/').next().unwrap_or_default();
            requests.iter().any(|name| name == *request || name == whole)
        };
        if requests.is_empty() || used.iter().any(is_meant) {
            let mut one = one.clone();
            one["source"] = json!("FromClaim");
            config.push(one);
        }
    }
    config
}

/// Returns a result as the API server stores it, with the tolerations of its request. Without them, a taint of the device
/// would end the pod.
fn result_json(claim: &Value, result: &AllocationResult) -> Value {
    let mut json = json!({
        "request": result.request.as_str(),
        "driver": result.driver.as_str(),
        "pool": result.pool.as_str(),
        "device": result.device.as_str(),
    });
    if result.admin_access == Some(true) {
        json["adminAccess"] = json!(true);
    }
    for (name, conditions) in [
        ("bindingConditions", &result.binding_conditions),
        ("bindingFailureConditions", &result.binding_failure_conditions),
    ] {
        if !conditions.is_empty() {
            json[name] = conditions.iter().map(Text::as_str).collect();
        }
    }
    let request = request_of(claim, &result.request);
    if let Some(tolerations) = request.and_then(|request| request["tolerations"].as_array()) {
        json["tolerations"] = tolerations.clone().into();
    }
    json
}

fn selector_json(selector: &NodeSelector) -> Value {
    let requirement = |one: &NodeSelectorRequirement| {
        let values: Vec<&str> = one.values.iter().map(Text::as_str).collect();
        json!({"key": one.key.as_str(), "operator": one.operator.word(), "values": values})
    };
    let terms = selector.node_selector_terms.iter().map(|term| {
        let all =
            |list: &[NodeSelectorRequirement]| list.iter().map(requirement).collect::<Vec<_>>();
        let mut json = json!({});
        if !term.match_expressions.is_empty() {
            json["matchExpressions"] = all(&term.match_expressions).into();
        }
        if !term.match_fields.is_empty() {
            json["matchFields"] = all(&term.match_fields).into();
        }
        json
    });
    json!({"nodeSelectorTerms": terms.collect::<Vec<_>>()})
}

/// Returns a request, which is named with its alternative after a slash.
fn request_of<'a>(claim: &'a Value, request: &str) -> Option<&'a Value> {
    let (name, alternative) = request.split_once('/').unwrap_or((request, ""));
    let mut requests = claim["spec"]["devices"]["requests"].as_array()?.iter();
    let request = requests.find(|one| one["name"] == name)?;
    if alternative.is_empty() {
        return Some(&request["exactly"]);
    }
    request["firstAvailable"].as_array()?.iter().find(|one| one["name"] == alternative)
}

/// Returns whether a claim has exactly these devices.
fn has_devices(claim: &Value, new: &Allocation) -> bool {
    let results = claim["status"]["allocation"]["devices"]["results"].as_array();
    let same = |one: &Value, other: &AllocationResult| {
        let fields = [&other.request, &other.driver, &other.pool, &other.device];
        let names = ["request", "driver", "pool", "device"];
        names.into_iter().zip(fields).all(|(name, field)| one[name] == field.as_str())
    };
    results.is_some_and(|results| {
        results.len() == new.devices.results.len()
            && results.iter().zip(&new.devices.results).all(|(one, other)| same(one, other))
    })
}

fn add_finalizer(claim: &mut Value) -> bool {
    let finalizers = claim["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    if finalizers.iter().any(|one| one == FINALIZER) {
        return false;
    }
    claim["metadata"]["finalizers"] =
        finalizers.into_iter().chain([Value::from(FINALIZER)]).collect();
    true
}

fn remove_finalizer(claim: &mut Value) -> bool {
    let Some(finalizers) = claim["metadata"]["finalizers"].as_array_mut() else { return false };
    let before = finalizers.len();
    finalizers.retain(|one| one != FINALIZER);
    finalizers.len() < before
}

/// Ends the reservation for a pod. Also takes the devices back if nobody else uses them, as the controller of claims
/// does. Returns whether something changed.
fn release(claim: &mut Value, pod: &PodIdentity) -> bool {
    let Some(users) = claim["status"]["reservedFor"].as_array() else { return false };
    let left: Vec<Value> =
        users.iter().filter(|user| user["uid"] != pod.uid.as_str()).cloned().collect();
    if left.len() == users.len() {
        return false;
    }
    if left.is_empty() {
        take_devices(claim);
    }
    claim["status"]["reservedFor"] = left.into();
    true
}

/// Takes the devices back if nobody but the pod uses them. Returns whether something changed.
fn free(claim: &mut Value, pod: &PodIdentity) -> bool {
    let users = claim["status"]["reservedFor"].as_array();
    if users.into_iter().flatten().any(|user| user["uid"] != pod.uid.as_str()) {
        return false;
    }
    if !claim["status"]["allocation"].is_object() {
        return false;
    }
    claim["status"]["reservedFor"] = json!([]);
    take_devices(claim);
    true
}

/// Removes the devices, and what their drivers report.
fn take_devices(claim: &mut Value) {
    claim["status"]["allocation"] = Value::Null;
    if let Some(status) = claim["status"].as_object_mut() {
        status.remove("devices");
    }
}

fn fault_of(fault: &Fault) -> BindError {
    let error = format!("devices: {fault}");
    if fault.code() == Some(404) { BindError::Final(error) } else { BindError::Retry(error) }
}
