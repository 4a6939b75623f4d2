//! The Kubernetes scheduler in the server's process.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, Result};
use headroom_kubernetes::Options;
use headroom_server::LogLevels;
use headroom_server::grpc::Interface;
use tokio::sync::oneshot;

use super::run::ANSWERS_AT_ONCE;

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

/// Schedules the pods of a cluster until the connection to the core ends. Returns how it ends.
///
/// It has a thread of its own. Its parts exchange many small messages, and to wake another thread costs more than to
/// handle a message. Responses to clients do not delay it either. Source: decision page 57.
///
/// # Errors
/// If the thread cannot be started.
pub(super) fn start(
    cluster: Cluster,
    interface: Interface,
    levels: Arc<LogLevels>,
) -> Result<oneshot::Receiver<Result<()>>> {
    let Cluster { kubeconfig, namespace } = cluster;
    let options = Options { kubeconfig, namespace, levels };
    let (ended, end) = oneshot::channel();
    let schedule = move || {
        // The server is already ending if nobody waits for this.
        let _ = ended.send(run(interface, options));
    };
    let thread = thread::Builder::new().name("headroom-pods".to_owned());
    thread.spawn(schedule).context("cannot start threads")?;
    Ok(end)
}

fn run(interface: Interface, options: Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(ANSWERS_AT_ONCE)
        .build();
    let runtime = runtime.context("cannot start threads")?;
    Ok(runtime.block_on(headroom_kubernetes::run(interface, options))?)
}
