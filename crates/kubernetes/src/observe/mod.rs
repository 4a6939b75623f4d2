//! Watches all kinds that the scheduler reads, and merges them into one queue.
//!
//! Each kind has a task, which lists the kind, puts the objects into the queue, and then follows the changes. Nodes and
//! pods come last: their lists are [`Notice::Listed`], after everything that predicates and conversions read. A full
//! queue stops the watches, not the API server's clients.

mod start;
mod storage;

use std::sync::Arc;

use headroom_pods::convert::settings::{CONFIGS_MAP, DEFAULTS_MAP};
use headroom_pods::object::{ConfigMap, Namespace, Node, Pod, PriorityClass};
use headroom_pods::shim::{Notice, SettingsMap};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::client::{Api, Fault, path};
use crate::queue::{ClusterChange, Observed};
use crate::volumes::Volumes;
use crate::watch::{Change, Need, Object, Source, Watch};

use start::Gate;

/// The running watches. They end when this is dropped.
#[derive(Debug)]
pub struct Observer {
    tasks: JoinSet<()>,
}

impl Observer {
    /// Waits until a watch ends, which happens only when the queue is closed, or by a fault of the program.
    pub async fn ended(&mut self) {
        self.tasks.join_next().await;
    }
}

/// Where the results of watches go.
#[derive(Clone, Debug)]
struct Target {
    api: Api,
    volumes: Arc<Volumes>,
    to: mpsc::Sender<Observed>,
}

/// An object that was created, changed, or deleted.
enum Seen<T> {
    Applied(Arc<T>),
    Deleted(Arc<T>),
}

impl<T> Seen<T> {
    /// Returns the object.
    fn object(&self) -> &Arc<T> {
        match self {
            Self::Applied(object) | Self::Deleted(object) => object,
        }
    }

    /// Returns the object if it exists.
    fn existing(self) -> Option<Arc<T>> {
        match self {
            Self::Applied(object) => Some(object),
            Self::Deleted(_) => None,
        }
    }
}

/// Reads both config maps, which the scheduler needs before it starts. A missing one is `None`.
///
/// # Errors
///
/// Returns why the config maps cannot be read.
pub async fn read_settings(
    api: &Api,
    namespace: &str,
) -> Result<(Option<ConfigMap>, Option<ConfigMap>), Fault> {
    let read = async |name: &str| match api.get(&path::config_map(namespace, name)).await {
        Ok(map) => Ok(Some(map)),
        Err(fault) if fault.code() == Some(404) => Ok(None),
        Err(fault) => Err(fault),
    };
    Ok((read(DEFAULTS_MAP).await?, read(CONFIGS_MAP).await?))
}

/// Watches all kinds. `namespace` is that of the scheduler, with its config maps.
pub fn observe(
    api: &Api,
    namespace: &str,
    volumes: &Arc<Volumes>,
    to: mpsc::Sender<Observed>,
) -> Observer {
    let target = Target { api: api.clone(), volumes: Arc::clone(volumes), to };
    let mut tasks = JoinSet::new();
    let gate = Gate::default();
    for (which, name) in
        [(SettingsMap::Defaults, DEFAULTS_MAP), (SettingsMap::Configs, CONFIGS_MAP)]
    {
        let source = Source::new(path::config_maps(namespace), Need::Required).named(name);
        let target = target.clone();
        tasks.spawn(target.follow_config_map(source, which, gate.entry()));
    }
    let mut follow = Follow { target: &target, tasks: &mut tasks, gate: &gate };
    follow.kind(Source::new(path::NAMESPACES, Need::Required), namespace_seen);
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    follow.kind(Source::new(classes, Need::Required), |seen: Seen<PriorityClass>, out| {
        let name = seen.object().metadata.name.clone();
        out.push(Observed::Notice(match seen {
            Seen::Applied(class) => Notice::PriorityClass(Box::new((*class).clone())),
            Seen::Deleted(_) => Notice::PriorityClassGone { name },
        }));
    });
    storage::follow(&mut follow);
    for task in start::tasks(&target, gate) {
        tasks.spawn(task);
    }
    Observer { tasks }
}

fn namespace_seen(seen: Seen<Namespace>, out: &mut Vec<Observed>) {
    let name = seen.object().metadata.name.clone();
    match seen {
        Seen::Applied(namespace) => {
            let labels = namespace.metadata.labels.clone();
            out.push(ClusterChange::observed(move |snapshot| snapshot.put_namespace(name, labels)));
            out.push(Observed::Notice(Notice::Namespace(Box::new((*namespace).clone()))));
        }
        Seen::Deleted(_) => {
            out.push(Observed::Notice(Notice::NamespaceGone { name: name.clone() }));
            out.push(ClusterChange::observed(move |snapshot| snapshot.remove_namespace(&name)));
        }
    }
}

/// Starts the tasks of kinds.
struct Follow<'a> {
    target: &'a Target,
    tasks: &'a mut JoinSet<()>,
    gate: &'a Gate,
}

impl Follow<'_> {
    /// Follows a kind. `tell` returns what goes into the queue.
    fn kind<T: Object>(
        &mut self,
        source: Source,
        tell: impl Fn(Seen<T>, &mut Vec<Observed>) + Send + 'static,
    ) {
        let entry = self.gate.entry();
        let target = self.target.clone();
        self.tasks.spawn(async move {
            let mut watch = Watch::new(target.api, source);
            let (mut out, mut entry) = (Vec::new(), Some(entry));
            loop {
                match watch.next().await {
                    Change::Listed(objects) => {
                        for object in objects {
                            tell(Seen::Applied(object), &mut out);
                        }
                    }
                    Change::Applied(object) => tell(Seen::Applied(object), &mut out),
                    Change::Deleted(object) => tell(Seen::Deleted(object), &mut out),
                }
                for observed in out.drain(..) {
                    if target.to.send(observed).await.is_err() {
                        return;
                    }
                }
                // The kind is listed.
                drop(entry.take());
            }
        });
    }
}

impl Target {
    /// Follows one config map. Its absence at the start is reported too.
    async fn follow_config_map(self, source: Source, which: SettingsMap, entry: start::Entry) {
        let mut watch = Watch::<ConfigMap>::new(self.api, source);
        let mut entry = Some(entry);
        loop {
            let map = match watch.next().await {
                Change::Listed(maps) => maps.into_iter().next(),
                Change::Applied(map) => Some(map),
                Change::Deleted(_) => None,
            };
            let map = map.map(|map| Box::new((*map).clone()));
            let notice = Observed::Notice(Notice::ConfigMap { which, map });
            if self.to.send(notice).await.is_err() {
                return;
            }
            drop(entry.take());
        }
    }

    /// Reports a node.
    fn node(&self, seen: Seen<Node>) -> Notice {
        let name = seen.object().metadata.name.clone();
        match seen {
            Seen::Applied(node) => {
                self.volumes.put_node(Arc::clone(&node));
                Notice::Node(node)
            }
            Seen::Deleted(_) => {
                self.volumes.remove_node(&name);
                Notice::NodeGone { name }
            }
        }
    }
}

/// Reports a pod.
fn pod(seen: Seen<Pod>) -> Notice {
    match seen {
        Seen::Applied(pod) => Notice::Pod(pod),
        Seen::Deleted(pod) => Notice::PodGone(pod),
    }
}
