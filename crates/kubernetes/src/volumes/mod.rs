//! Volumes and claims of the cluster, with those that binds in progress use.
//!
//! A bind first *assumes* its volumes: from then on, predicates see the volume as claimed and the node of the claim as
//! selected, although nothing is written yet. An assumption ends when the watch shows it, or when the bind is undone.
//!
//! [`Volumes`] has what the watches show and the assumptions. The loop of the scheduler has a copy in its own snapshot:
//! each change reads the object from here when it is applied, so the order of changes does not matter.

mod assumption;
mod wait;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_pods::object::{
    CsiDriver, CsiStorageCapacity, Node, PersistentVolume, PersistentVolumeClaim, Pod,
    StorageClass, Text,
};
use headroom_pods::predicate::{Mode, Options, PodFacts, Prepared, Snapshot};
use headroom_pods::shim::ClaimName;
use tokio::sync::Notify;

use crate::queue::{ClusterChange, Observed};

pub use assumption::Step;
pub(crate) use wait::Progress;

use assumption::{claim_with_node, has_node, is_claimed, is_served, volume_with_claim};

/// Why volumes cannot be assumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssumeFault {
    /// The watch did not show the node yet, or it is gone.
    #[error("node {0} is unknown")]
    UnknownNode(Text),
    /// The volumes cannot be had on the node.
    #[error("{0}")]
    Refused(String),
}

/// Volumes and claims of the cluster, with assumptions.
#[derive(Debug, Default)]
pub struct Volumes {
    state: Mutex<State>,
    /// Notified when a claim or a volume changes.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Nodes without pods, and storage with the assumptions.
    snapshot: Snapshot,
    /// Steps of each pod whose volumes are assumed, by UID.
    pods: HashMap<Text, Vec<Step>>,
    /// Assumed volumes by name, as the watch shows them.
    volumes: HashMap<Text, AssumedVolume>,
    /// Claims with an assumed node, as the watch shows them.
    claims: HashMap<ClaimName, AssumedClaim>,
}

#[derive(Debug)]
struct AssumedVolume {
    pod: Text,
    claim: Step,
    observed: Arc<PersistentVolume>,
}

#[derive(Debug)]
struct AssumedClaim {
    pod: Text,
    node: Text,
    observed: Arc<PersistentVolumeClaim>,
}

impl Volumes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a node.
    pub fn put_node(&self, node: Arc<Node>) {
        self.state().snapshot.put_node(node);
    }

    /// Removes a node.
    pub fn remove_node(&self, name: &str) {
        self.state().snapshot.remove_node(name);
    }

    /// Takes a storage class, or removes it.
    pub fn put_class(&self, name: &Text, class: Option<Arc<StorageClass>>) {
        put(&mut self.state().snapshot.storage_mut().classes, name, class);
    }

    /// Takes a driver, or removes it.
    pub fn put_driver(&self, name: &Text, driver: Option<Arc<CsiDriver>>) {
        put(&mut self.state().snapshot.storage_mut().csi_drivers, name, driver);
    }

    /// Takes the storage that is left, or removes it.
    pub fn put_capacity(
        &self,
        namespace: &Text,
        name: &Text,
        capacity: Option<Arc<CsiStorageCapacity>>,
    ) {
        let mut state = self.state();
        let capacities = &mut state.snapshot.storage_mut().capacities;
        match capacity {
            Some(capacity) => capacities.insert(namespace.clone(), name.clone(), capacity),
            None => drop(capacities.remove(namespace, name)),
        }
    }

    /// Takes a volume as the watch shows it, or removes it.
    pub fn put_volume(
        self: &Arc<Self>,
        name: &Text,
        volume: Option<Arc<PersistentVolume>>,
    ) -> Observed {
        let mut state = self.state();
        let volume = match (volume, state.volumes.get_mut(name)) {
            (Some(volume), Some(assumed)) if !is_claimed(&volume) => {
                assumed.observed = Arc::clone(&volume);
                Some(volume_with_claim(&volume, &assumed.claim))
            }
            (volume, _) => {
                state.volumes.remove(name);
                volume
            }
        };
        match volume {
            Some(volume) => drop(state.snapshot.storage_mut().volumes.insert(name.clone(), volume)),
            None => drop(state.snapshot.storage_mut().volumes.remove(name)),
        }
        drop(state);
        self.changed.notify_waiters();
        self.copy_volume(name)
    }

    /// Takes a claim as the watch shows it, or removes it.
    pub fn put_claim(
        self: &Arc<Self>,
        name: &ClaimName,
        claim: Option<Arc<PersistentVolumeClaim>>,
    ) -> Observed {
        let mut state = self.state();
        let claim = match (claim, state.claims.get_mut(name)) {
            (Some(claim), Some(assumed)) if !has_node(&claim) && !is_served(&claim) => {
                assumed.observed = Arc::clone(&claim);
                Some(claim_with_node(&claim, &assumed.node))
            }
            (claim, _) => {
                state.claims.remove(name);
                claim
            }
        };
        state.set_claim(name, claim);
        drop(state);
        self.changed.notify_waiters();
        self.copy_claim(name)
    }

    /// Selects volumes for the claims of a pod. Returns the changes for the predicates, of which there are none if all
    /// claims are bound.
    ///
    /// # Errors
    ///
    /// Returns why the volumes cannot be had on the node.
    pub fn assume(
        self: &Arc<Self>,
        pod: Arc<Pod>,
        node: &Text,
    ) -> Result<Vec<Observed>, AssumeFault> {
        let uid = pod.metadata.uid.clone();
        let mut state = self.state();
        let mut touched = state.undo(&uid);
        let steps = state.steps_for(pod, node);
        if let Ok(steps) = &steps {
            for step in steps {
                state.assume(&uid, step);
            }
            touched.extend(steps.iter().cloned());
            if !steps.is_empty() {
                state.pods.insert(uid, steps.clone());
            }
        }
        drop(state);
        let changes = touched.iter().map(|step| self.copy(step)).collect();
        steps.map(|_| changes)
    }

    /// Returns what must be done for an assumed pod.
    pub fn steps(&self, uid: &str) -> Option<Vec<Step>> {
        self.state().pods.get(uid).cloned()
    }

    /// Forgets that the volumes of a pod are assumed, because they are bound.
    pub fn finish(&self, uid: &str) {
        // What the watch does not show yet stays assumed.
        self.state().pods.remove(uid);
    }

    /// Drops the assumptions of a pod. Returns the changes for the predicates.
    pub fn undo(self: &Arc<Self>, uid: &str) -> Vec<Observed> {
        let touched = self.state().undo(uid);
        touched.iter().map(|step| self.copy(step)).collect()
    }

    fn copy(self: &Arc<Self>, step: &Step) -> Observed {
        match step {
            Step::Bind { volume, .. } => self.copy_volume(volume),
            Step::Create { claim, .. } => self.copy_claim(claim),
        }
    }

    fn copy_volume(self: &Arc<Self>, name: &Text) -> Observed {
        let (volumes, name) = (Arc::clone(self), name.clone());
        ClusterChange::observed(move |snapshot| {
            let volume = volumes.state().snapshot.storage().volumes.get(&name).cloned();
            let copies = &mut snapshot.storage_mut().volumes;
            match volume {
                Some(volume) => drop(copies.insert(name, volume)),
                None => drop(copies.remove(&name)),
            }
        })
    }

    fn copy_claim(self: &Arc<Self>, claim: &ClaimName) -> Observed {
        let (volumes, ClaimName { namespace, name }) = (Arc::clone(self), claim.clone());
        ClusterChange::observed(move |snapshot| {
            let claim =
                volumes.state().snapshot.storage().claims.shared(&namespace, &name).cloned();
            let copies = &mut snapshot.storage_mut().claims;
            match claim {
                Some(claim) => copies.insert(namespace, name, claim),
                None => drop(copies.remove(&namespace, &name)),
            }
        })
    }
}

impl State {
    fn steps_for(&self, pod: Arc<Pod>, node: &Text) -> Result<Vec<Step>, AssumeFault> {
        let facts = PodFacts::new(pod);
        let prepared = Prepared::new(&self.snapshot, &facts, Mode::Allocate, Options::default());
        let facts_of_node =
            self.snapshot.node(node).ok_or_else(|| AssumeFault::UnknownNode(node.clone()))?;
        let steps = prepared
            .volume_steps(facts_of_node)
            .map_err(|refusal| AssumeFault::Refused(refusal.reasons().join(", ")))?;
        Ok(steps.into_iter().map(|step| Step::new(step, node)).collect())
    }

    fn assume(&mut self, pod: &Text, step: &Step) {
        match step {
            Step::Bind { volume, .. } => {
                let volumes = &mut self.snapshot.storage_mut().volumes;
                let Some(known) = volumes.get_mut(volume) else { return };
                let observed = Arc::clone(known);
                *known = volume_with_claim(&observed, step);
                let assumed = AssumedVolume { pod: pod.clone(), claim: step.clone(), observed };
                self.volumes.insert(volume.clone(), assumed);
            }
            Step::Create { claim, node, .. } => {
                let claims = &self.snapshot.storage().claims;
                let known = claims.shared(&claim.namespace, &claim.name);
                // The claim of an earlier bind has its node already.
                let Some(observed) = known.filter(|known| !has_node(known)).cloned() else {
                    return;
                };
                self.set_claim(claim, Some(claim_with_node(&observed, node)));
                let assumed = AssumedClaim { pod: pod.clone(), node: node.clone(), observed };
                self.claims.insert(claim.clone(), assumed);
            }
        }
    }

    /// Drops the assumptions of a pod, and returns them.
    fn undo(&mut self, pod: &str) -> Vec<Step> {
        let steps = self.pods.remove(pod).unwrap_or_default();
        for step in &steps {
            match step {
                Step::Bind { volume, .. } => {
                    if self.volumes.get(volume).is_some_and(|assumed| assumed.pod == *pod)
                        && let Some(assumed) = self.volumes.remove(volume)
                    {
                        let volumes = &mut self.snapshot.storage_mut().volumes;
                        volumes.insert(volume.clone(), assumed.observed);
                    }
                }
                Step::Create { claim, .. } => {
                    if self.claims.get(claim).is_some_and(|assumed| assumed.pod == *pod)
                        && let Some(assumed) = self.claims.remove(claim)
                    {
                        self.set_claim(claim, Some(assumed.observed));
                    }
                }
            }
        }
        steps
    }

    fn set_claim(&mut self, name: &ClaimName, claim: Option<Arc<PersistentVolumeClaim>>) {
        let claims = &mut self.snapshot.storage_mut().claims;
        match claim {
            Some(claim) => claims.insert(name.namespace.clone(), name.name.clone(), claim),
            None => drop(claims.remove(&name.namespace, &name.name)),
        }
    }
}

/// Sets or removes the object of this name.
pub(crate) fn put<T>(table: &mut HashMap<Text, Arc<T>>, name: &Text, object: Option<Arc<T>>) {
    match object {
        Some(object) => drop(table.insert(name.clone(), object)),
        None => drop(table.remove(name)),
    }
}
