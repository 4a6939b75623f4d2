//! Paths of requests.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that have no meaning in a path.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// Path of all pods.
pub const PODS: &str = "/api/v1/pods";
/// Path of all nodes.
pub const NODES: &str = "/api/v1/nodes";
/// Path of all namespaces.
pub const NAMESPACES: &str = "/api/v1/namespaces";
/// Path of all persistent volumes.
pub const VOLUMES: &str = "/api/v1/persistentvolumes";
/// Path of all claims of volumes.
pub const CLAIMS: &str = "/api/v1/persistentvolumeclaims";

/// Beginning of the paths of devices, their classes, and their claims.
const DEVICES: &str = "/apis/resource.k8s.io/v1";

/// Encodes a text as a part of a path or of a query.
pub fn encoded(text: &str) -> impl Display {
    utf8_percent_encode(text, PLAIN)
}

/// Returns the path of a namespace.
pub fn namespace(name: &str) -> String {
    format!("{NAMESPACES}/{}", encoded(name))
}

/// Returns the path of the pods of a namespace.
pub fn pods(namespace: &str) -> String {
    format!("{}/pods", self::namespace(namespace))
}

/// Returns the path of a pod.
pub fn pod(namespace: &str, name: &str) -> String {
    format!("{}/{}", pods(namespace), encoded(name))
}

/// Returns the path of the config maps of a namespace.
pub fn config_maps(namespace: &str) -> String {
    format!("{}/configmaps", self::namespace(namespace))
}

/// Returns the path of a config map.
pub fn config_map(namespace: &str, name: &str) -> String {
    format!("{}/{}", config_maps(namespace), encoded(name))
}

/// Returns the path of a persistent volume.
pub fn volume(name: &str) -> String {
    format!("{VOLUMES}/{}", encoded(name))
}

/// Returns the path of the claims for devices of a namespace.
pub fn device_claims(namespace: &str) -> String {
    format!("{DEVICES}/namespaces/{}/resourceclaims", encoded(namespace))
}

/// Returns the path of a claim for devices.
pub fn device_claim(namespace: &str, name: &str) -> String {
    format!("{}/{}", device_claims(namespace), encoded(name))
}

/// Returns the path of a claim of a volume.
pub fn claim(namespace: &str, name: &str) -> String {
    format!("{}/persistentvolumeclaims/{}", self::namespace(namespace), encoded(name))
}

/// Returns the path of the events of a namespace.
pub fn events(namespace: &str) -> String {
    format!("/apis/events.k8s.io/v1/namespaces/{}/events", encoded(namespace))
}
