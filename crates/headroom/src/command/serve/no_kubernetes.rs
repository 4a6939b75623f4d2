//! Stands in for the Kubernetes scheduler in a build without it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Error, Result, anyhow};
use headroom_server::LogLevels;
use headroom_server::grpc::Interface;
use tokio::sync::oneshot;

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
    Err(absent())
}

fn absent() -> Error {
    anyhow!(
        "this build has no Kubernetes scheduler. Build it with `cargo build --release -p headroom --features kubernetes`"
    )
}

/// Schedules the pods of a cluster.
///
/// # Errors
/// Always, because this build cannot.
pub(super) fn start(
    _: Cluster,
    _: Interface,
    _: Arc<LogLevels>,
) -> Result<oneshot::Receiver<Result<()>>> {
    Err(absent())
}
