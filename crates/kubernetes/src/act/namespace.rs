//! Reads namespaces that the watch did not show yet.

use headroom_pods::object::{Namespace, Text};

use crate::client::path;

use super::{Actor, Tries};

impl Actor {
    /// Reads a namespace. `None` if it does not exist, or cannot be read: its pods then have no limits of a namespace.
    pub(super) async fn read_namespace(&self, name: &Text) -> Option<Box<Namespace>> {
        let path = path::namespace(name);
        let mut tries = Tries::default();
        loop {
            match self.api.get(&path).await {
                Ok(namespace) => return Some(Box::new(namespace)),
                Err(fault) if tries.again(&fault).await => {}
                Err(fault) => {
                    if fault.code() != Some(404) {
                        tracing::warn!(namespace = %name, "taken as unknown: {fault}");
                    }
                    return None;
                }
            }
        }
    }
}
