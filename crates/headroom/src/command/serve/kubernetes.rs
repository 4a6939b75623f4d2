//! The Kubernetes scheduler in the server's process.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use headroom_kubernetes::Options;
use headroom_server::LogLevels;
use headroom_server::grpc::Interface;

/// Connection to a cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) kubeconfig: Option<PathBuf>,
    pub(crate) namespace: String,
}

/// Checks that the cluster can be scheduled.
///
/// # Errors
/// Never, because this build can.
#[expect(clippy::unnecessary_wraps, reason = "the other build cannot")]
pub(super) const fn check() -> Result<()> {
    Ok(())
}

/// Schedules the pods of a cluster until the connection to the core ends.
///
/// # Errors
/// If the cluster cannot be read, or the core ends the session.
pub(super) async fn schedule(
    cluster: Cluster,
    interface: Interface,
    levels: Arc<LogLevels>,
) -> Result<()> {
    let Cluster { kubeconfig, namespace } = cluster;
    Ok(headroom_kubernetes::run(interface, Options { kubeconfig, namespace, levels }).await?)
}
