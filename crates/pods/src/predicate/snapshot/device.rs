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
    assumed: NamespacedTable<Claim>,
    /// Slices.
    pub slices: HashMap<Text, Arc<ResourceSlice>>,
    /// Classes.
    pub classes: HashMap<Text, Arc<DeviceClass>>,
}

/// Beginning of the extended resource that a class backs by its name.
const BY_CLASS: &str = "deviceclass.resource.kubernetes.io/";

impl Devices {
    /// Returns a claim, with the devices that are assumed for it.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        let shown = self.claims.get(namespace, name)?;
        Some(self.assumed.get(namespace, name).unwrap_or(shown))
    }

    /// Returns all claims, with the devices that are assumed for them, in no particular order.
    pub fn current_claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|claim| {
            let metadata = &claim.metadata;
            self.assumed.get(&metadata.namespace, &metadata.name).unwrap_or(claim)
        })
    }

    /// Adds or replaces a claim. If the claim has devices, the API server knows what was assumed.
    pub fn put_claim(&mut self, claim: Arc<Claim>) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        if claim.status.allocation.is_some() {
            self.assumed.remove(&namespace, &name);
        }
        self.claims.insert(namespace, name, claim);
    }

    /// Removes a claim.
    pub fn remove_claim(&mut self, namespace: &str, name: &str) {
        self.assumed.remove(namespace, name);
        self.claims.remove(namespace, name);
    }

    /// Assumes what a claim will have after a write.
    pub fn assume(&mut self, claim: Claim) {
        let (namespace, name) = (claim.metadata.namespace.clone(), claim.metadata.name.clone());
        self.assumed.insert(namespace, name, Arc::new(claim));
    }

    /// Drops what was assumed for a claim.
    pub fn drop_assumed(&mut self, namespace: &str, name: &str) {
        self.assumed.remove(namespace, name);
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
