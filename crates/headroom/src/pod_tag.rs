//! Tags of allocations that are pods of Kubernetes, as YuniKorn's interface names them.

/// Namespace of the pod.
pub(crate) const NAMESPACE: &str = "kubernetes.io/meta/namespace";
/// Name of the pod.
pub(crate) const NAME: &str = "kubernetes.io/meta/podName";
