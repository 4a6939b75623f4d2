//! Tables of devices and their claims.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::{Claim, DeviceClass, ResourceSlice, Text};

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
    /// Number of the assumption, so that the end of an earlier write does not end it.
    number: u64,
}

/// Beginning of the extended resource that a class backs by its name.
pub(in crate::predicate) const BY_CLASS: &str = "deviceclass.resource.kubernetes.io/";

impl Devices {
    /// Returns a claim, with the devices that are assumed for it.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        let assumed = self.assumed.get(namespace, name).map(|assumed| &assumed.claim);
        assumed.or_else(|| self.claims.get(namespace, name))
    }

    /// Returns the class of this name.
    pub fn class(&self, name: &str) -> Option<&DeviceClass> {
        self.classes.get(name).map(|class| &**class)
    }

    /// Returns all classes, in no particular order.
    pub fn classes(&self) -> impl Iterator<Item = &DeviceClass> {
        self.classes.values().map(|class| &**class)
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

    /// Removes a claim.
    pub fn remove_claim(&mut self, namespace: &str, name: &str) {
        self.assumed.remove(namespace, name);
        self.claims.remove(namespace, name);
    }

    /// Assumes what a claim will have after a write. The number names the assumption.
    pub fn assume(&mut self, claim: Claim, number: u64) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        self.assumed.insert(namespace, name, Arc::new(Assumed { claim, number }));
    }

    /// Drops the assumption of this number, unless a later one replaced it.
    pub fn drop_assumed(&mut self, namespace: &str, name: &str, number: u64) {
        if self.assumed.get(namespace, name).is_some_and(|assumed| assumed.number == number) {
            self.assumed.remove(namespace, name);
        }
    }

    /// Returns the class that backs an extended resource. Of several, the first by name does.
    pub fn backing_class(&self, resource: &str) -> Option<&DeviceClass> {
        if let Some(class) = resource.strip_prefix(BY_CLASS) {
            return self.classes.get(class).map(|class| &**class);
        }
        let classes = self.classes.values().map(|class| &**class);
        classes
            .filter(|class| !resource.is_empty() && class.spec.extended_resource_name == *resource)
            .min_by_key(|class| &class.metadata.name)
    }
}
