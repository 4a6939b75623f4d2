//! Watches and writes with a real API server, etcd, controller manager, and pretended kubelets.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

#[path = "../support/mod.rs"]
mod support;

mod devices;
mod observe;
mod restart;
mod volume;
mod watch;
mod write;

use std::sync::Arc;
use std::time::Duration;

use headroom_kubernetes::act::{Options, Writer, start};
use headroom_kubernetes::client::Api;
use headroom_kubernetes::queue::{Observed, ToServer};
use headroom_kubernetes::volumes::Volumes;
use headroom_pods::shim::{ApiWrite, BindRequest, BindStep, Notice, Outcome, PodIdentity};
use serde_json::Value;
use tokio::sync::mpsc;

use support::cluster::soon;

/// Runs the body with the cluster, unless there is none.
macro_rules! with_cluster {
    ($cluster:ident, $use_of_server:ident, $body:block) => {{
        let Some($cluster) = $crate::support::cluster::cluster() else { return };
        let _use = $cluster.$use_of_server().await;
        $body
    }};
}
pub(crate) use with_cluster;

/// The writes of a scheduler, and the other end of their queues.
struct Writes {
    _writer: Writer,
    volumes: Arc<Volumes>,
    to: mpsc::Sender<ToServer>,
    outcomes: mpsc::Receiver<Observed>,
    tickets: u64,
}

impl Writes {
    fn new(api: &Api) -> Self {
        let (to, writes) = mpsc::channel(100);
        let (observed, outcomes) = mpsc::channel(100);
        let options = Options {
            namespace: "default".into(),
            instance: "test".into(),
            volume_timeout: Duration::from_secs(30),
        };
        let volumes = Arc::new(Volumes::default());
        let writer = start(api.clone(), &options, Arc::clone(&volumes), writes, observed);
        Self { _writer: writer, volumes, to, outcomes, tickets: 0 }
    }

    async fn write(&self, write: ApiWrite) {
        self.to.send(ToServer::Write(write)).await.unwrap();
    }

    /// Returns the next notice.
    async fn notice(&mut self) -> Notice {
        loop {
            match soon("a notice", self.outcomes.recv()).await.unwrap() {
                Observed::Notice(notice) => return notice,
                Observed::Change(_) => {}
            }
        }
    }

    async fn outcome(&mut self) -> Outcome {
        match self.notice().await {
            Notice::Written(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// Performs a step of a bind.
    async fn bind(
        &mut self,
        pod: &PodIdentity,
        node: &str,
        step: BindStep,
    ) -> Result<headroom_pods::shim::BindDone, headroom_pods::shim::BindError> {
        self.tickets += 1;
        let ticket = self.tickets;
        let request = BindRequest { pod: pod.clone(), node: node.into(), step, ticket };
        self.write(ApiWrite::Bind(request)).await;
        match self.outcome().await {
            Outcome::Bind { uid, ticket: answered, result } => {
                assert_eq!((uid, answered), (pod.uid.clone(), ticket));
                result
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Returns the identity of a created pod.
fn identity(pod: &Value) -> PodIdentity {
    let field = |name: &str| pod["metadata"][name].as_str().unwrap().into();
    PodIdentity { namespace: field("namespace"), name: field("name"), uid: field("uid") }
}
