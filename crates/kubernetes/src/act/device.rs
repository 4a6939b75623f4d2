//! Writes which devices the claims of a pod have.

use headroom_pods::object::{
    Allocation, AllocationResult, NodeSelector, NodeSelectorRequirement, Text,
};
use headroom_pods::shim::{BindDone, BindError, BindRequest, PodIdentity};
use http::Method;
use serde_json::{Value, json};

use crate::client::{Content, Fault, path};
use crate::queue::{ClaimWrite, ClusterChange};
use crate::watch::pause::Pauses;

use super::Actor;

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
}

impl Actor {
    /// Gives devices to claims, and reserves the claims for a pod.
    pub(super) async fn allocate_devices(
        &self,
        request: &BindRequest,
        claims: &[ClaimWrite],
    ) -> Result<BindDone, BindError> {
        for claim in claims {
            self.change_claim(claim, &request.pod, Change::Reserve).await?;
        }
        Ok(BindDone::DevicesAllocated)
    }

    /// Takes back what [`Actor::allocate_devices`] gave, and what was assumed. Devices that another pod uses stay.
    pub(super) async fn undo_devices(&self, pod: &PodIdentity, claims: Vec<ClaimWrite>) {
        for claim in &claims {
            let mut pauses = Pauses::default();
            while let Err(BindError::Retry(error)) = self.take_back(pod, claim).await {
                if pauses.failed() == UNDO_TRIES {
                    tracing::warn!(claim = %claim.name, pod = %pod.name, "devices stay with the claim: {error}");
                    break;
                }
                tokio::time::sleep(pauses.pause(None)).await;
            }
        }
        let uid = pod.uid.clone();
        self.observe([ClusterChange::observed(move |snapshot| {
            for claim in &claims {
                snapshot.devices_mut().drop_assumed(&claim.namespace, &claim.name, &uid);
            }
        })]);
    }

    /// Releases a claim, unless its pod is bound: another scheduler can have bound the pod, which then uses the claim.
    async fn take_back(&self, pod: &PodIdentity, claim: &ClaimWrite) -> Result<(), BindError> {
        match self.read_pod(pod).await {
            Ok(pod) if !pod.spec.node_name.is_empty() => return Ok(()),
            Ok(_) | Err(BindError::Gone) => {}
            Err(error) => return Err(error),
        }
        self.change_claim(claim, pod, Change::Release).await
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
            if value["metadata"]["uid"] != claim.uid.as_str() {
                return Err(BindError::Final(format!("claim {} was replaced", claim.name)));
            }
            let with_metadata = match change {
                Change::Reserve => self.reserve(&mut value, claim, pod).await?,
                Change::Release => release(&mut value, pod).then_some(false),
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

    /// Gives a claim its devices, and reserves it. Returns whether the metadata changed too. `None` if nothing is to be
    /// written.
    async fn reserve(
        &self,
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
                let config = self.config(value, new).await?;
                let results = new.devices.results.iter().map(|result| result_json(value, result));
                let mut devices = json!({ "results": results.collect::<Vec<_>>() });
                if !config.is_empty() {
                    devices["config"] = config.into();
                }
                value["status"]["allocation"] = json!({ "devices": devices });
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
    async fn config(&self, claim: &Value, new: &Allocation) -> Result<Vec<Value>, BindError> {
        let mut config = Vec::new();
        let mut seen = Vec::new();
        for result in &new.devices.results {
            let request = result.request.as_str();
            if seen.contains(&request) {
                continue;
            }
            seen.push(request);
            let Some(class) = class_of(claim, request) else { continue };
            let path = path::device_class(class);
            let class: Value = self.api.get(&path).await.map_err(|fault| fault_of(&fault))?;
            for one in class["spec"]["config"].as_array().into_iter().flatten() {
                let mut one = one.clone();
                one["source"] = json!("FromClass");
                one["requests"] = json!([request]);
                config.push(one);
            }
        }
        for one in claim["spec"]["devices"]["config"].as_array().into_iter().flatten() {
            let requests = one["requests"].as_array().cloned().unwrap_or_default();
            // A request with alternatives is also named without the alternative.
            let is_meant = |request: &&str| {
                let whole = request.split('/').next().unwrap_or_default();
                requests.iter().any(|name| name == *request || name == whole)
            };
            if requests.is_empty() || seen.iter().any(is_meant) {
                let mut one = one.clone();
                one["source"] = json!("FromClaim");
                config.push(one);
            }
        }
        Ok(config)
    }
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

/// Returns the class of a request.
fn class_of<'a>(claim: &'a Value, request: &str) -> Option<&'a str> {
    request_of(claim, request)?["deviceClassName"].as_str()
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
        claim["status"]["allocation"] = Value::Null;
    }
    claim["status"]["reservedFor"] = left.into();
    true
}

fn fault_of(fault: &Fault) -> BindError {
    let error = format!("devices: {fault}");
    if fault.code() == Some(404) { BindError::Final(error) } else { BindError::Retry(error) }
}
