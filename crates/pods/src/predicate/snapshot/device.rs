//! Tables of devices and their claims.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use crate::object::{Claim, DeviceClass, Metadata, ResourceSlice, Text, Timestamp};

use super::storage::NamespacedTable;

/// Devices, their classes, and their claims.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Claims, as the API server shows them.
    claims: NamespacedTable<Claim>,
    /// Claims as they will be after writes that have not ended. They hide the claims that the API server shows. Some do
    /// not exist yet.
    assumed: NamespacedTable<Assumed>,
    /// Slices, by name.
    pub(in crate::predicate) slices: HashMap<Text, Arc<ResourceSlice>>,
    /// Classes, by name.
    pub(in crate::predicate) classes: HashMap<Text, Arc<DeviceClass>>,
}

/// A claim as it will be after a write.
#[derive(Clone, Debug)]
struct Assumed {
    claim: Claim,
    /// UID of the pod for which the claim is written.
    pod: Text,
    /// Number of the assumption, so that the end of an earlier write does not end it.
    number: u64,
}

/// Beginning of the extended resource that a class backs by its name.
pub(in crate::predicate) const BY_CLASS: &str = "deviceclass.resource.kubernetes.io/";

impl Devices {
    /// Returns all claims as the API server shows them, in no particular order.
    pub fn shown_claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter()
    }

    /// Returns a claim, with the devices that are assumed for it.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        let assumed = self.assumed.get(namespace, name).map(|assumed| &assumed.claim);
        assumed.or_else(|| self.claims.get(namespace, name))
    }

    /// Returns the class of this name.
    pub fn class(&self, name: &str) -> Option<&DeviceClass> {
        self.classes.get(name).map(|class| &**class)
    }

    /// Returns all claims, with the devices that are assumed for them, in no particular order.
    pub fn current_claims(&self) -> impl Iterator<Item = &Claim> {
        let is_visible = |claim: &&Claim| {
            self.assumed.get(&claim.metadata.namespace, &claim.metadata.name).is_none()
        };
        let assumed = self.assumed.iter().map(|assumed| &assumed.claim);
        self.claims.iter().filter(is_visible).chain(assumed)
    }

    /// Adds or replaces a claim. What is assumed for the claim ends when the claim has these devices.
    pub fn put_claim(&mut self, claim: Arc<Claim>) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        let devices = |claim: &Claim| {
            let allocation = claim.status.allocation.as_ref();
            allocation.map(|allocation| allocation.devices.clone())
        };
        let is_written = self
            .assumed
            .get(&namespace, &name)
            .is_some_and(|assumed| devices(&assumed.claim) == devices(&claim));
        if is_written {
            self.assumed.remove(&namespace, &name);
        }
        self.claims.insert(namespace, name, claim);
    }

    /// Removes a claim. What is assumed for another claim of this name stays: that claim is new.
    pub fn remove_claim(&mut self, claim: &Claim) {
        let Metadata { namespace, name, uid, .. } = &claim.metadata;
        if self.assumed.get(namespace, name).is_some_and(|one| one.claim.metadata.uid == *uid) {
            self.assumed.remove(namespace, name);
        }
        self.claims.remove(namespace, name);
    }

    /// Assumes what a claim will have after a write for a pod. The number names the assumption.
    pub fn assume(&mut self, claim: Claim, pod: Text, number: u64) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        self.assumed.insert(namespace, name, Arc::new(Assumed { claim, pod, number }));
    }

    /// Returns whether something is assumed for a pod.
    pub fn is_assumed_for(&self, pod: &str) -> bool {
        self.assumed.iter().any(|assumed| *assumed.pod == *pod)
    }

    /// Drops all that is assumed for a pod.
    pub fn drop_assumed_for(&mut self, pod: &str) {
        let own = self.assumed.iter().filter(|assumed| *assumed.pod == *pod);
        let names: Vec<(Text, Text)> = own
            .map(|assumed| &assumed.claim.metadata)
            .map(|metadata| (metadata.namespace.clone(), metadata.name.clone()))
            .collect();
        for (namespace, name) in names {
            self.assumed.remove(&namespace, &name);
        }
    }

    /// Drops the assumption of this number, unless a later one replaced it.
    pub fn drop_assumed(&mut self, namespace: &str, name: &str, number: u64) {
        if self.assumed.get(namespace, name).is_some_and(|assumed| assumed.number == number) {
            self.assumed.remove(namespace, name);
        }
    }

    /// Returns the class that backs an extended resource. Of several, the newest does, and the first by name of those.
    pub fn backing_class(&self, resource: &str) -> Option<&DeviceClass> {
        if let Some(class) = resource.strip_prefix(BY_CLASS) {
            return self.class(class);
        }
        let classes = self.classes.values().map(|class| &**class);
        classes
            .filter(|class| !resource.is_empty() && class.spec.extended_resource_name == *resource)
            .min_by_key(|class| precedence(class))
    }

    /// Returns all classes in the order in which they back a resource.
    pub fn classes_in_order(&self) -> impl Iterator<Item = &DeviceClass> {
        let mut classes: Vec<&DeviceClass> = self.classes.values().map(|class| &**class).collect();
        classes.sort_by_key(|class| precedence(class));
        classes.into_iter()
    }
}

/// The order of classes that back one resource: the newest first, and equally old ones by name.
fn precedence(class: &DeviceClass) -> (Reverse<Option<Timestamp>>, &Text) {
    (Reverse(class.metadata.creation_timestamp), &class.metadata.name)
}
