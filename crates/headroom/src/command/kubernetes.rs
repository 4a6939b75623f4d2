//! `headroom kubernetes`: the scheduler of a Kubernetes cluster.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Arg, Args};

use super::serve::{Cluster, NOT_ON_KUBERNETES, Plays, ServerKeys};

const EXAMPLE: &str = "\
Examples:
  headroom kubernetes
      Schedule the cluster of the current kubeconfig. The page is at http://127.0.0.1:9080
  headroom kubernetes --kubeconfig admin.yaml --namespace yunikorn
      Read the config maps `yunikorn-defaults` and `yunikorn-configs` of the namespace `yunikorn`";

/// Schedule the pods of a Kubernetes cluster, as YuniKorn does.
///
/// Schedules pods with `schedulerName: yunikorn`. The queue file is the entry `queues.yaml` of the config map
/// `yunikorn-configs`. The server for REST and the page runs in the same process, without a journal: the API server
/// has everything that is needed after a restart.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE, mut_args(hide_foreign))]
pub(crate) struct Kubernetes {
    /// File with the address of the API server and the credentials. The default is the value of `KUBECONFIG`,
    /// `~/.kube/config`, or the service account of the pod
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Namespace of the config maps
    #[arg(long, value_name = "NAME", env = "NAMESPACE", default_value = "default")]
    namespace: String,
    #[command(flatten)]
    server: ServerKeys,
}

impl Kubernetes {
    /// Schedules until a signal stops the server.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { kubeconfig, namespace, server } = self;
        server.run(Plays::Kubernetes(Cluster { kubeconfig, namespace }))
    }
}

/// Hides the keys that have no meaning on Kubernetes.
fn hide_foreign(arg: Arg) -> Arg {
    let is_foreign = NOT_ON_KUBERNETES.iter().any(|key| arg.get_id() == key);
    arg.hide(is_foreign)
}
