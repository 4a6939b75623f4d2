//! Tables of volumes, claims, classes, and drivers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::object::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass,
    Text, VolumeAttachment,
};

/// Volumes, claims, and drivers by name.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// Persistent volumes. They are sorted, so that a choice among equal volumes is always the same.
    pub volumes: BTreeMap<Text, Arc<PersistentVolume>>,
    /// Claims.
    pub claims: NamespacedTable<PersistentVolumeClaim>,
    /// Storage classes.
    pub classes: HashMap<Text, Arc<StorageClass>>,
    /// Drivers of each node.
    pub csi_nodes: HashMap<Text, Arc<CsiNode>>,
    /// Drivers of the cluster.
    pub csi_drivers: HashMap<Text, Arc<CsiDriver>>,
    /// Attachments.
    pub attachments: HashMap<Text, Arc<VolumeAttachment>>,
    /// Storage that is left.
    pub capacities: NamespacedTable<CsiStorageCapacity>,
}

impl Storage {
    /// Returns the attachments to a node.
    pub fn attachments_of(&self, node: &str) -> impl Iterator<Item = &VolumeAttachment> {
        let attachments = self.attachments.values().map(|attachment| &**attachment);
        attachments.filter(move |attachment| attachment.spec.node_name == *node)
    }
}

/// Objects by namespace and name.
#[derive(Clone, Debug)]
pub struct NamespacedTable<T>(HashMap<Text, HashMap<Text, Arc<T>>>);

impl<T> Default for NamespacedTable<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> NamespacedTable<T> {
    /// Returns the object of this name.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&T> {
        self.shared(namespace, name).map(|object| &**object)
    }

    /// Returns the object of this name, to share it.
    pub fn shared(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.0.get(namespace)?.get(name)
    }

    /// Returns all objects in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.values().flat_map(HashMap::values).map(|object| &**object)
    }

    /// Adds or replaces an object.
    pub fn insert(&mut self, namespace: Text, name: Text, object: Arc<T>) {
        self.0.entry(namespace).or_default().insert(name, object);
    }

    /// Removes an object. Returns whether the table had it.
    pub fn remove(&mut self, namespace: &str, name: &str) -> bool {
        let Some(objects) = self.0.get_mut(namespace) else { return false };
        let removed = objects.remove(name).is_some();
        if objects.is_empty() {
            self.0.remove(namespace);
        }
        removed
    }
}
