//! Tables of devices and their claims.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::{Claim, DeviceClass, ResourceSlice, Text};

use super::storage::NamespacedTable;

/// Devices, their classes, and their claims.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Claims.
    pub claims: NamespacedTable<Claim>,
    /// Slices.
    pub slices: HashMap<Text, Arc<ResourceSlice>>,
    /// Classes.
    pub classes: HashMap<Text, Arc<DeviceClass>>,
}

/// Beginning of the extended resource that a class backs by its name.
const BY_CLASS: &str = "deviceclass.resource.kubernetes.io/";

impl Devices {
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
