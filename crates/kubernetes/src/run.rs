//! Starts the scheduler of a cluster.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use headroom_api::headroomv1::Role;
use headroom_core::Name;
use headroom_pods::convert::settings::{CorruptEntry, SettingFault};
use headroom_pods::object::ConfigMap;
use headroom_pods::predicate;
use headroom_pods::shim::Configuration;
use headroom_server::grpc::Interface;
use headroom_server::{Caller, LogLevels, Proof};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::act;
use crate::client::{Api, ConnectFault, Fault};
use crate::home::{Home, Queues};
use crate::link;
use crate::log_settings::LogSettings;
use crate::observe::{observe, read_settings};
use crate::volumes::Volumes;
use crate::watch::pause::Pauses;

/// Messages that can wait in a queue.
const QUEUE: usize = 4_096;

/// Settings of the scheduler of a cluster.
#[derive(Clone, Debug)]
pub struct Options {
    /// File with the address of the API server and the credentials. `None` for the environment's.
    pub kubeconfig: Option<PathBuf>,
    /// Namespace of the config maps.
    pub namespace: String,
    /// Levels of the log, which the config maps can set.
    pub levels: Arc<LogLevels>,
}

/// Reason why the scheduler of a cluster ends.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no usable configuration of the client.
    #[error("the cluster cannot be reached")]
    Connect(#[from] ConnectFault),
    /// The config maps cannot be read.
    #[error("the config maps of namespace {namespace} cannot be read")]
    ConfigMaps {
        /// Namespace of the scheduler.
        namespace: String,
        /// Answer of the API server.
        source: Fault,
    },
    /// A setting in a config map is wrong.
    #[error("a setting of the config maps is wrong: {0}")]
    Setting(SettingFault),
    /// The core ended the session.
    #[error("the core ended the session: {0}")]
    Core(tonic::Status),
    /// The server has a Kubernetes scheduler already.
    #[error("this server has a Kubernetes scheduler already")]
    Twice,
    /// A part of the scheduler ended without a reason.
    #[error("the connection to the API server or to the core ended")]
    Ended,
}

/// Schedules the pods of a cluster with the core behind this interface. Ends only with an error.
///
/// # Errors
/// If the cluster cannot be reached at the start, a setting is wrong, or the core ends the session.
pub async fn run(interface: Interface, options: Options) -> Result<(), RunError> {
    let Options { kubeconfig, namespace, levels } = options;
    let api = match &kubeconfig {
        Some(file) => Api::from_file(file).await?,
        None => Api::from_environment().await?,
    };
    let (defaults, configs) = first_settings(&api, &namespace).await?;
    let (configuration, corrupt) =
        Configuration::load(defaults.as_ref(), configs.as_ref()).map_err(RunError::Setting)?;
    for CorruptEntry { key, error } in corrupt {
        tracing::warn!("entry {key} of a config map is unreadable, and counts as absent: {error}");
    }
    let mut log = LogSettings::new(levels);
    log.apply(&configuration.extra());
    let settings = configuration.settings();
    let limited = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let api = api.limited(limited(settings.qps), limited(settings.burst));
    interface.tell_cluster_by(Arc::clone(api.counters()));
    let writes = act::Options {
        namespace: namespace.clone(),
        instance: instance(),
        volume_timeout: Duration::from_nanos(
            u64::try_from(settings.volume_timeout).unwrap_or_default(),
        ),
    };
    let first = link::register(&configuration);
    let predicates = predicate::Options { compares_taints: settings.compares_taints };

    let (to_server, writes_to_do) = mpsc::channel(QUEUE);
    let (observed, results) = mpsc::channel(QUEUE);
    let (to_core, messages) = mpsc::channel(QUEUE);
    let volumes = Arc::new(Volumes::default());
    let _writer =
        act::start(api.clone(), &writes, Arc::clone(&volumes), writes_to_do, observed.clone());
    let _observer = observe(&api, &namespace, &volumes, observed);
    let answers = interface.connect(caller(), ReceiverStream::new(messages));
    let home = Home::new(configuration, predicates, log);
    let questions = interface.pod_questions().ok_or(RunError::Twice)?;
    let queues = Queues { observed: results, to_server, to_core, questions };
    home.run(queues, first, answers, &interface).await.map_err(RunError::Core)?;
    Err(RunError::Ended)
}

/// Reads the config maps. Waits for an API server that is not there yet, is overloaded, or refuses the account.
async fn first_settings(
    api: &Api,
    namespace: &str,
) -> Result<(Option<ConfigMap>, Option<ConfigMap>), RunError> {
    let mut pauses = Pauses::default();
    loop {
        match read_settings(api, namespace).await {
            Ok(maps) => return Ok(maps),
            // An API server that has just started does not know the permissions of its accounts yet.
            Err(fault) if fault.is_transient() || matches!(fault.code(), Some(401 | 403)) => {
                let tries = pauses.failed();
                tracing::warn!(tries, "the config maps are read again: {fault}");
                tokio::time::sleep(pauses.pause(fault.retry_after())).await;
            }
            Err(source) => {
                return Err(RunError::ConfigMaps { namespace: namespace.to_owned(), source });
            }
        }
    }
}

/// Returns the name of this process in events: the name of its pod, or of its host.
fn instance() -> String {
    std::env::var("HOSTNAME").unwrap_or_else(|_| "headroom".to_owned())
}

/// Returns the identity of the scheduler at the core.
fn caller() -> Caller {
    Caller {
        identity: "kubernetes".to_owned(),
        user: Name::default(),
        groups: Vec::new(),
        roles: vec![Role::Rm],
        tenants: Vec::new(),
        proof: Proof::Nothing,
    }
}
