//! Which objects a watch is about.

use headroom_pods::object::{
    Claim, ConfigMap, CsiDriver, CsiNode, CsiStorageCapacity, DeviceClass, Metadata, Namespace,
    Node, PersistentVolume, PersistentVolumeClaim, Pod, PriorityClass, ResourceSlice, StorageClass,
    VolumeAttachment,
};
use serde::de::DeserializeOwned;

use crate::client::path::encoded;

/// An object that can be watched.
pub trait Object: DeserializeOwned + PartialEq + Send + Sync + 'static {
    /// Returns the metadata.
    fn metadata(&self) -> &Metadata;

    /// Returns the metadata.
    fn metadata_mut(&mut self) -> &mut Metadata;
}

macro_rules! objects {
    ($($kind:ident)*) => {
        $(impl Object for $kind {
            fn metadata(&self) -> &Metadata {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut Metadata {
                &mut self.metadata
            }
        })*
    };
}

objects! {
    Claim ConfigMap CsiDriver CsiNode CsiStorageCapacity DeviceClass Namespace Node PersistentVolume
    PersistentVolumeClaim Pod PriorityClass ResourceSlice StorageClass VolumeAttachment
}

/// What happens if the API server does not have a kind, or the scheduler may not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The scheduler waits for the kind.
    Required,
    /// The kind is treated as empty, and tried again.
    Optional,
}

/// Which objects a watch is about.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name in the log, such as `pods`.
    pub(super) name: String,
    pub(super) need: Need,
    path: String,
    /// Field selector. Empty selects all objects.
    fields: String,
}

impl Source {
    /// Returns all objects below a path.
    pub fn new(path: impl Into<String>, need: Need) -> Self {
        let path = path.into();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        Self { name, need, path, fields: String::new() }
    }

    /// Selects the object of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = format!("{}/{name}", self.name);
        self.fields = format!("metadata.name={name}");
        self
    }

    /// Returns the path of a list, which has a query.
    pub(super) fn list_path(&self) -> String {
        format!("{}?fieldSelector={}", self.path, encoded(&self.fields))
    }
}
