//! The facts that predicates read: nodes with their pods, namespaces, storage, and devices.
//!
//! A [`Snapshot`] is immutable while predicates read it. A clone shares everything, so the owner changes its own copy
//! and publishes clones. A change copies only the node, or the table of storage or devices, that it touches.

mod class;
mod device;
mod node;
mod pod;
mod storage;

pub use class::ClassId;
pub(super) use device::BY_CLASS;
pub use device::Devices;
pub use node::NodeFacts;
pub use pod::{HostPort, PodFacts};
pub use storage::{NamespacedTable, Storage};

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::object::{DeviceClass, Labels, Node, ResourceSlice, Text};

use super::plugin::PluginSet;

use class::Classes;

/// Facts about a cluster.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    nodes: Vec<Arc<NodeFacts>>,
    positions: Arc<HashMap<Text, usize>>,
    classes: Arc<Classes>,
    namespaces: Arc<HashMap<Text, Labels>>,
    storage: Arc<Storage>,
    devices: Arc<Devices>,
    /// Plugins whose verdicts can have changed since they were taken.
    changed: PluginSet,
    /// Nodes whose devices can have changed since they were taken.
    devices_due: DevicesDue,
}

/// Nodes whose devices can have changed.
#[derive(Clone, Debug, Default)]
struct DevicesDue {
    all: bool,
    nodes: BTreeSet<Text>,
}

impl Snapshot {
    /// Returns the nodes in no particular order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &NodeFacts> {
        self.nodes.iter().map(|node| &**node)
    }

    /// Returns the node of this name.
    pub fn node(&self, name: &str) -> Option<&NodeFacts> {
        Some(&self.nodes[*self.positions.get(name)?])
    }

    /// Returns the labels of a namespace, or nothing if the namespace is unknown.
    pub fn namespace(&self, name: &str) -> Option<&Labels> {
        self.namespaces.get(name)
    }

    /// Returns the names and labels of the known namespaces, in no particular order.
    pub fn namespaces(&self) -> impl Iterator<Item = (&Text, &Labels)> {
        self.namespaces.iter()
    }

    /// Returns volumes, claims, and drivers.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns devices and their claims.
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Returns the plugins whose verdicts on any node can have changed since the last call.
    ///
    /// A change of a node or of its pods also changes the verdicts of all plugins on this node.
    pub fn take_changed(&mut self) -> PluginSet {
        std::mem::take(&mut self.changed)
    }

    fn changes(&mut self, plugins: PluginSet) {
        self.changed = self.changed.with(plugins);
    }

    /// Adds a node, or replaces the node of this name and keeps its pods.
    pub fn put_node(&mut self, node: Arc<Node>) {
        self.devices_due.nodes.insert(node.metadata.name.clone());
        self.changes(PluginSet::BY_NODES);
        let name = node.metadata.name.clone();
        if let Some(position) = self.positions.get(&name) {
            Arc::make_mut(&mut self.nodes[*position]).set_node(node);
        } else {
            Arc::make_mut(&mut self.positions).insert(name, self.nodes.len());
            self.nodes.push(Arc::new(NodeFacts::new(node)));
        }
    }

    /// Removes a node with its pods.
    pub fn remove_node(&mut self, name: &str) {
        self.changes(PluginSet::BY_NODES.with(PluginSet::BY_PODS));
        self.devices_due.nodes.remove(name);
        let positions = Arc::make_mut(&mut self.positions);
        let Some(position) = positions.remove(name) else { return };
        self.nodes.swap_remove(position);
        if let Some(moved) = self.nodes.get(position) {
            positions.insert(moved.name().clone(), position);
        }
    }

    /// Places a pod on a node. If the node has a pod of the same UID, the new pod replaces that pod.
    ///
    /// Returns whether the node is known. Pods that have ended must not be placed.
    pub fn put_pod(&mut self, node: &str, pod: Arc<PodFacts>) -> bool {
        let Some(position) = self.positions.get(node) else { return false };
        let position = *position;
        self.changes(PluginSet::BY_PODS);
        let class = self.class_of(&pod);
        let node = Arc::make_mut(&mut self.nodes[position]);
        node.remove_pod(&pod.pod().metadata.uid);
        node.add_pod(pod, class);
        true
    }

    fn class_of(&mut self, pod: &Arc<PodFacts>) -> ClassId {
        if let Some(class) = self.classes.find(pod) {
            return class;
        }
        let classes = Arc::make_mut(&mut self.classes);
        if classes.is_full() {
            let mut is_used = vec![false; classes.examples().len()];
            for (class, _) in self.nodes.iter().flat_map(|node| node.classes()) {
                is_used[class.index()] = true;
            }
            classes.sweep(&is_used);
        }
        classes.insert(Arc::clone(pod))
    }

    /// Returns a value for each class of pods on nodes, by [`ClassId::index`]. The argument is an example of the class.
    pub(super) fn for_classes<'a, T: Default>(
        &'a self,
        value: impl Fn(&'a PodFacts) -> T,
    ) -> Vec<T> {
        let examples = self.classes.examples().iter();
        examples.map(|example| example.as_ref().map_or_else(T::default, |it| value(it))).collect()
    }

    /// Removes a pod from a node. Returns whether the node had the pod.
    pub fn remove_pod(&mut self, node: &str, uid: &str) -> bool {
        let Some(position) = self.positions.get(node).copied() else { return false };
        self.changes(PluginSet::BY_PODS);
        let facts = &mut self.nodes[position];
        // Looks first, because a change copies the facts of the node.
        facts.pod(uid).is_some() && Arc::make_mut(facts).remove_pod(uid).is_some()
    }

    /// Sets the labels of a namespace.
    pub fn put_namespace(&mut self, name: Text, labels: Labels) {
        self.changes(PluginSet::BY_NAMESPACES);
        Arc::make_mut(&mut self.namespaces).insert(name, labels);
    }

    /// Removes a namespace.
    pub fn remove_namespace(&mut self, name: &str) {
        self.changes(PluginSet::BY_NAMESPACES);
        Arc::make_mut(&mut self.namespaces).remove(name);
    }

    /// Returns volumes, claims, and drivers, to change them.
    pub fn storage_mut(&mut self) -> &mut Storage {
        self.changes(PluginSet::BY_STORAGE);
        Arc::make_mut(&mut self.storage)
    }

    /// Sets or removes a slice of devices.
    pub fn set_slice(&mut self, name: &Text, slice: Option<Arc<ResourceSlice>>) {
        let node_of = |slice: &Arc<ResourceSlice>| slice.spec.node_name.clone();
        let new = slice.as_ref().map(node_of);
        let slices = &mut self.devices_mut().slices;
        let old = match slice {
            Some(slice) => slices.insert(name.clone(), slice),
            None => slices.remove(name),
        };
        for node in old.as_ref().map(node_of).into_iter().chain(new) {
            if node.is_empty() {
                self.devices_due.all = true;
            } else {
                self.devices_due.nodes.insert(node);
            }
        }
    }

    /// Sets or removes a class of devices.
    pub fn set_device_class(&mut self, name: &Text, class: Option<Arc<DeviceClass>>) {
        let classes = &mut self.devices_mut().classes;
        match class {
            Some(class) => drop(classes.insert(name.clone(), class)),
            None => drop(classes.remove(name)),
        }
        self.devices_due.all = true;
    }

    /// Notes that the devices of all nodes must be counted again.
    pub fn count_all_devices(&mut self) {
        self.devices_due.all = true;
    }

    /// Returns whether the devices of a node can have changed.
    pub fn is_device_due(&self) -> bool {
        self.devices_due.all || !self.devices_due.nodes.is_empty()
    }

    /// Takes the nodes whose devices can have changed, sorted by name.
    pub fn take_devices_due(&mut self) -> Vec<Text> {
        let due = std::mem::take(&mut self.devices_due);
        if !due.all {
            return due
                .nodes
                .into_iter()
                .filter(|name| self.positions.contains_key(name))
                .collect();
        }
        let mut names: Vec<Text> = self.positions.keys().cloned().collect();
        names.sort();
        names
    }

    /// Returns devices and their claims, to change them.
    pub fn devices_mut(&mut self) -> &mut Devices {
        self.changes(PluginSet::BY_DEVICES);
        Arc::make_mut(&mut self.devices)
    }
}
