//! Extended resources that classes of devices back.
//!
//! On a node that does not offer them as numbers, the pod gets one claim for all of them, with a request for each
//! container. Init containers that end before the others start use the devices of later containers again.

use std::borrow::Cow;

use crate::object::{
    Claim, Container, ContainerRestartPolicy, DeviceClass, DeviceRequest, ExactRequest, Metadata,
    Pod, RequestMapping, Text,
};
use crate::predicate::amounts::Resource;
use crate::predicate::{DeviceRefusal, Devices};

use super::request::{Alternative, Request};
use super::search::MAX_DEVICES;

/// Annotation of a claim that a scheduler created for extended resources.
pub const EXTENDED_CLAIM: &str = "resource.kubernetes.io/extended-resource-claim";

/// What the claim for extended resources of a pod asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtendedClaim {
    /// Requests of the claim, by name.
    pub requests: Vec<DeviceRequest>,
    /// Requests for each container and resource, for the status of the pod.
    pub mappings: Vec<RequestMapping>,
}

/// An extended resource that a class backs.
#[derive(Clone, Debug)]
pub(super) struct Extended<'a> {
    pub(super) resource: &'a Resource,
    pub(super) requests: Vec<Request<'a>>,
    class: &'a Text,
    mappings: Vec<RequestMapping>,
}

/// Devices of one resource for one container.
#[derive(Debug)]
struct Part {
    name: Text,
    count: i64,
}

/// A container with its position among all containers of the pod, init containers first.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    position: usize,
    container: &'a Container,
    /// Whether it ends before the next one starts.
    ends: bool,
}

impl<'a> Extended<'a> {
    /// Returns what the containers of a pod need of a resource.
    pub(super) fn new(
        pod: &'a Pod,
        resource: &'a Resource,
        class: &'a DeviceClass,
    ) -> Result<Self, DeviceRefusal> {
        let (parts, mappings) = parts(pod, resource.name()).ok_or(DeviceRefusal::NoDevices)?;
        let one = Alternative::of_class(class)?;
        let requests = parts.into_iter().map(|Part { name, count }| {
            let mut alternative = one.clone();
            alternative.count = Some(usize::try_from(count).unwrap_or(usize::MAX));
            Request { name: Cow::Owned(name.to_string()), alternatives: vec![alternative] }
        });
        let requests = requests.collect();
        Ok(Self { resource, requests, class: &class.metadata.name, mappings })
    }
}

/// Returns what a claim for these resources asks for.
pub(super) fn claim_for(resources: &[&Extended<'_>]) -> ExtendedClaim {
    let requests = resources.iter().flat_map(|one| {
        one.requests.iter().map(|request| {
            let count = request.alternatives.first().and_then(|one| one.count);
            let exactly = ExactRequest {
                device_class_name: one.class.clone(),
                count: count.and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::MAX),
                ..ExactRequest::default()
            };
            DeviceRequest {
                name: (*request.name).into(),
                exactly: Some(exactly),
                ..DeviceRequest::default()
            }
        })
    });
    let mut requests: Vec<DeviceRequest> = requests.collect();
    requests.sort_by(|one, other| one.name.cmp(&other.name));
    let mappings = resources.iter().flat_map(|one| one.mappings.iter().cloned()).collect();
    ExtendedClaim { requests, mappings }
}

/// Returns the claim that was created for extended resources of a pod, in an earlier try to bind it. It counts until it is
/// gone, because its successor has the same name.
pub(super) fn left_over<'a>(devices: &'a Devices, pod: &Pod) -> Option<&'a Claim> {
    let Metadata { namespace, uid, .. } = &pod.metadata;
    devices.shown_claims().find(|claim| {
        is_extended_claim(claim)
            && claim.metadata.namespace == *namespace
            && claim.metadata.controller().is_some_and(|owner| owner.uid == *uid)
    })
}

/// Returns whether a scheduler created the claim for extended resources of a pod.
fn is_extended_claim(claim: &Claim) -> bool {
    claim.metadata.annotations.get(EXTENDED_CLAIM).is_some_and(|value| *value == *"true")
}

/// Returns the requests for a resource, and which containers use them. `None` if they need more requests than one claim
/// can have.
fn parts(pod: &Pod, resource: &str) -> Option<(Vec<Part>, Vec<RequestMapping>)> {
    let init = pod.spec.init_containers.iter().map(|one| (one, true));
    let main = pod.spec.containers.iter().map(|one| (one, false));
    let all: Vec<Numbered<'_>> = init
        .chain(main)
        .enumerate()
        .map(|(position, (container, is_init))| {
            let is_sidecar = container.restart_policy == ContainerRestartPolicy::Always;
            Numbered { position, container, ends: is_init && !is_sidecar }
        })
        .collect();
    let mut long = Vec::new();
    let mut mappings = Vec::new();
    for one in all.iter().filter(|one| !one.ends) {
        let count = amount(one.container, resource);
        if count > 0 {
            let name = name(*one, resource);
            mappings.push(mapping(one.container, resource, &name));
            long.push((one.position, Part { name, count }));
        }
        // Each request is for at least one device.
        if long.len() > MAX_DEVICES {
            return None;
        }
    }
    // Of those that end, one after the other runs, so they share what none of the later containers has.
    let mut shared: Option<Part> = None;
    let mut of_ended = Vec::new();
    for one in all.iter().filter(|one| one.ends) {
        let mut missing = amount(one.container, resource);
        for (_, part) in long.iter().filter(|(position, _)| *position >= one.position) {
            if missing <= 0 {
                break;
            }
            missing -= part.count;
            of_ended.push((one.container, Some(part.name.clone())));
        }
        if missing > 0 {
            of_ended.push((one.container, None));
            if shared.as_ref().is_none_or(|largest| largest.count < missing) {
                shared = Some(Part { name: name(*one, resource), count: missing });
            }
        }
    }
    let named = of_ended.into_iter().filter_map(|(container, part)| {
        let part = part.or_else(|| shared.as_ref().map(|shared| shared.name.clone()))?;
        Some(mapping(container, resource, &part))
    });
    mappings.extend(named);
    let parts = shared.into_iter().chain(long.into_iter().map(|(_, part)| part));
    Some((parts.collect(), mappings))
}

fn amount(container: &Container, resource: &str) -> i64 {
    let mut requests = container.requests();
    requests.find(|(name, _)| ***name == *resource).map_or(0, |(_, quantity)| quantity.value())
}

/// Returns the name of a request, which Kubernetes also selects: by the positions of the container and of the resource.
fn name(one: Numbered<'_>, resource: &str) -> Text {
    let before = one.container.requests().filter(|(name, _)| name.as_str() < resource).count();
    format!("container-{}-request-{before}", one.position).into()
}

fn mapping(container: &Container, resource: &str, request: &Text) -> RequestMapping {
    RequestMapping {
        container_name: container.name.clone(),
        resource_name: resource.into(),
        request_name: request.clone(),
    }
}
