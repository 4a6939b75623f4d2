//! Volume claims: a task is submitted when every claim of its pod exists.

use crate::convert::event::EventKind;
use crate::object::{Pod, Text, VolumeSource};
use crate::predicate::can_be_devices;

use super::Shim;
use super::message::ClaimName;
use super::state::ClaimFault;

impl Shim {
    pub(super) fn claim_applied(&mut self, claim: ClaimName, deleting: bool) {
        let waiting = self.blocked.remove(&claim).unwrap_or_default();
        self.claims.insert(claim, deleting);
        let mut tasks: Vec<_> = waiting
            .iter()
            .filter_map(|uid| Some((self.pods.get(uid)?.task()?.order, uid)))
            .collect();
        tasks.sort();
        for (_, uid) in tasks {
            self.offer_task(uid);
        }
    }

    /// Returns whether every claim of a pod exists and stays. Otherwise, the task waits for the first other one.
    pub(super) fn claims_are_ready(&mut self, uid: &Text) -> bool {
        let Some(entry) = self.pods.get(uid) else { return false };
        let fault = claims(&entry.pod).find_map(|claim| {
            let fault = match self.claims.get(&claim) {
                None => ClaimFault::Missing,
                Some(true) => ClaimFault::Deleting,
                Some(false) => return None,
            };
            Some((claim, fault))
        });
        let Some(task) = self.task_mut(uid) else { return false };
        // An event at each try would repeat what is known.
        let is_reported = task.claim_fault == fault;
        task.claim_fault.clone_from(&fault);
        let Some((claim, fault)) = fault else { return true };
        if !is_reported {
            let what = match fault {
                ClaimFault::Missing => "does not exist",
                ClaimFault::Deleting => "is being deleted",
            };
            let note = format!("persistent volume claim {} {what}", claim.name);
            self.task_event(uid, EventKind::FailedScheduling, note);
        }
        self.blocked.entry(claim).or_default().insert(uid.clone());
        false
    }

    /// Stops the wait of a task for a claim.
    pub(super) fn unblock(&mut self, uid: &Text) {
        let claim = self.task_mut(uid).and_then(|task| task.claim_fault.take());
        let Some((claim, _)) = claim else { return };
        if let Some(waiting) = self.blocked.get_mut(&claim) {
            waiting.remove(uid);
            if waiting.is_empty() {
                self.blocked.remove(&claim);
            }
        }
    }
}

/// Returns the claims that a pod names.
fn claims(pod: &Pod) -> impl Iterator<Item = ClaimName> {
    pod.spec.volumes.iter().filter_map(|volume| match &volume.source {
        VolumeSource::Claim(claim) => Some(ClaimName {
            namespace: pod.metadata.namespace.clone(),
            name: claim.claim_name.clone(),
        }),
        _ => None,
    })
}

/// Returns whether a pod has claims, named or of its own.
pub(super) fn has_claims(pod: &Pod) -> bool {
    pod.spec
        .volumes
        .iter()
        .any(|volume| matches!(volume.source, VolumeSource::Claim(_) | VolumeSource::Ephemeral))
}

/// Returns whether a pod can need devices: it has claims for devices, or a class of devices can back a resource that it
/// requests.
pub(super) fn can_need_devices(pod: &Pod) -> bool {
    let containers = || pod.spec.init_containers.iter().chain(&pod.spec.containers);
    !pod.spec.resource_claims.is_empty()
        || containers().any(|one| one.requests().any(|(name, _)| can_be_devices(name)))
}
