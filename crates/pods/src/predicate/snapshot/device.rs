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
    /// Claims as they will be after writes that have not ended. They hide the claims that the API server shows.
    assumed: NamespacedTable<Assumed>,
    /// Slices.
    pub slices: HashMap<Text, Arc<ResourceSlice>>,
    /// Classes.
    pub classes: HashMap<Text, Arc<DeviceClass>>,
}

/// A claim as it will be after a write.
#[derive(Clone, Debug)]
struct Assumed {
    claim: Claim,
    /// UID of the pod for which the claim is written.
    pod: Text,
}

/// Beginning of the extended resource that a class backs by its name.
const BY_CLASS: &str = "deviceclass.resource.kubernetes.io/";

impl Devices {
    /// Returns a claim, with the devices that are assumed for it.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        let shown = self.claims.get(namespace, name)?;
        Some(self.assumed.get(namespace, name).map_or(shown, |assumed| &assumed.claim))
    }

    /// Returns all claims, with the devices that are assumed for them, in no particular order.
    pub fn current_claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|claim| {
            let metadata = &claim.metadata;
            let assumed = self.assumed.get(&metadata.namespace, &metadata.name);
            assumed.map_or(claim, |assumed| &assumed.claim)
        })
    }

    /// Adds or replaces a claim. What is assumed for the claim ends when the claim has these devices.
    pub fn put_claim(&mut self, claim: Arc<Claim>) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        let is_written = self.assumed.get(&namespace, &name).is_some_and(|assumed| {
            let devices = |claim: &Claim| {
                let allocation = claim.status.allocation.as_ref();
                allocation.map(|allocation| allocation.devices.clone())
            };
            let (assumed, shown) = (devices(&assumed.claim), devices(&claim));
            shown.is_some() && shown == assumed
        });
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

    /// Assumes what a claim will have after a write for a pod.
    pub fn assume(&mut self, claim: Claim, pod: Text) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        self.assumed.insert(namespace, name, Arc::new(Assumed { claim, pod }));
    }

    /// Drops what was assumed for a claim, unless it was assumed for another pod since.
    pub fn drop_assumed(&mut self, namespace: &str, name: &str, pod: &str) {
        if self.assumed.get(namespace, name).is_some_and(|assumed| *assumed.pod == *pod) {
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
