//! Stands in for the Kubernetes scheduler in a build without it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use headroom_server::LogLevels;
use headroom_server::grpc::Interface;

/// Connection to a cluster.
#[expect(dead_code, reason = "the other build connects")]
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) kubeconfig: Option<PathBuf>,
    pub(crate) namespace: String,
}

/// Checks that the cluster can be scheduled.
///
/// # Errors
/// Always, because this build cannot.
pub(super) fn check() -> Result<()> {
    bail!(
        "this build has no Kubernetes scheduler. Build it with `cargo build --release -p headroom --features kubernetes`"
    )
}

/// Schedules the pods of a cluster.
///
/// # Errors
/// Always, because this build cannot.
#[expect(clippy::unused_async, reason = "the other build waits for the cluster")]
pub(super) async fn schedule(_: Cluster, _: Interface, _: Arc<LogLevels>) -> Result<()> {
    check()
}
