//! A real API server without a controller manager and without kubelets, and what a watch of its pods shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use headroom_kubernetes::client::{Api, Content, Fault, decode, path};
use headroom_kubernetes::watch::{Change, Need, Source, Watch};
use headroom_pods::object::Pod;
use http::Method;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::objects::{ANNOTATIONS, Annotations, Class};
use super::tools::Running;

/// Namespace of the config map, and of pods whose application has no namespace.
pub(crate) const DEFAULT: &str = "default";
/// The config map with the queue file.
const CONFIG_MAP: &str = "yunikorn-configs";
/// Path of the priority classes.
const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// An API server, which all histories share one after the other.
pub(crate) struct World {
    running: Running,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) api: Api,
    seen: Arc<Mutex<BTreeMap<String, Seen>>>,
    known: Mutex<Known>,
    pub(crate) runtime: Runtime,
}

/// Objects that stay from one history to the next.
#[derive(Debug, Default)]
struct Known {
    namespaces: BTreeSet<String>,
    classes: BTreeSet<Class>,
    /// Number of the last name that was chosen.
    last: u64,
}

/// What the watch shows of a pod.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The node that the pod is bound to. Empty for none.
    pub(crate) node: String,
    pub(crate) is_deleting: bool,
    pub(crate) is_terminated: bool,
}

impl World {
    /// Starts the API server.
    pub(crate) fn start(tools: &Path) -> Self {
        let running = Running::start_bare(tools, "conformance-pods");
        let kubeconfig = running.folder.join("kubeconfig-unchecked");
        std::fs::write(&kubeconfig, running.unchecked_kubeconfig()).unwrap();
        let runtime = Runtime::new().unwrap();
        let api = runtime.block_on(Api::from_file(&kubeconfig)).unwrap();
        let seen = Arc::<Mutex<BTreeMap<String, Seen>>>::default();
        runtime.spawn(follow(api.clone(), Arc::clone(&seen)));
        let known = Mutex::new(Known::default());
        Self { running, kubeconfig, api, seen, known, runtime }
    }

    /// Returns what the watch shows of a pod. `None` if it is gone.
    pub(crate) fn seen(&self, uid: &str) -> Option<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(uid).cloned()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a name that no object had before. Later names are greater.
    pub(crate) fn new_name(&self, kind: &str) -> String {
        let mut known = self.known();
        known.last += 1;
        format!("{kind}-{:07}", known.last)
    }

    /// Sets the queue file.
    pub(crate) async fn configure(&self, queue_file: &str) -> Result<()> {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": CONFIG_MAP}, "data": {"queues.yaml": queue_file}});
        let patched = self.merge(&path::config_map(DEFAULT, CONFIG_MAP), &map).await;
        match patched {
            Err(fault) if fault.code() == Some(404) => {
                self.create(&path::config_maps(DEFAULT), &map).await?;
            }
            patched => drop(patched?),
        }
        Ok(())
    }

    /// Removes what the history before left, and prepares what must exist from the start.
    pub(crate) async fn prepare(
        &self,
        namespaces: &BTreeMap<String, Annotations>,
        classes: &BTreeSet<Class>,
    ) -> Result<()> {
        let known: Vec<String> = self.known().namespaces.iter().cloned().collect();
        for namespace in known.iter().map(String::as_str).chain([DEFAULT]) {
            let pods = format!("{}?gracePeriodSeconds=0", path::pods(namespace));
            self.delete(&pods).await?;
        }
        self.delete(path::NODES).await?;
        for (name, annotations) in namespaces {
            self.namespace(name, annotations).await?;
        }
        for class in classes {
            if self.known().classes.insert(*class) {
                self.create(CLASSES, &class.object()).await?;
            }
        }
        Ok(())
    }

    async fn namespace(&self, name: &str, annotations: &Annotations) -> Result<()> {
        let of = |key: &'static str| (key.to_owned(), annotations.get(key).cloned().into());
        let all: serde_json::Map<String, Value> = ANNOTATIONS.map(of).into_iter().collect();
        let metadata = json!({"name": name, "annotations": all});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        if self.known().namespaces.insert(name.to_owned()) && name != DEFAULT {
            let new = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            self.create(path::NAMESPACES, &new).await?;
        }
        self.merge(&path::namespace(name), &namespace).await?;
        Ok(())
    }

    /// Creates an object. The API server can lag behind its own priority classes, so a refusal for a missing one is
    /// repeated.
    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<Value> {
        let mut tries = 0;
        loop {
            let answer = self.api.write(Method::POST, path, Content::Json(object)).await;
            match answer {
                Err(fault) if is_early(&fault) && tries < 500 => {
                    tries += 1;
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                answer => {
                    let answer = answer.with_context(|| format!("creating {object}"))?;
                    return Ok(decode(&answer)?);
                }
            }
        }
    }

    /// Changes fields of an object.
    pub(crate) async fn merge(&self, path: &str, patch: &Value) -> Result<Value, Fault> {
        let answer = self.api.write(Method::PATCH, path, Content::MergePatch(patch)).await?;
        decode(&answer)
    }

    /// Changes fields of an object, with lists merged by their keys.
    pub(crate) async fn merge_lists(&self, path: &str, patch: &Value) -> Result<()> {
        let answer = self.api.write(Method::PATCH, path, Content::StrategicPatch(patch)).await;
        answer.with_context(|| format!("patching {path} with {patch}"))?;
        Ok(())
    }

    /// Deletes an object, or all objects of a kind. A missing object is no error.
    pub(crate) async fn delete(&self, path: &str) -> Result<()> {
        match self.api.write(Method::DELETE, path, Content::None).await {
            Err(fault) if fault.code() == Some(404) => Ok(()),
            answer => {
                answer.with_context(|| format!("deleting {path}"))?;
                Ok(())
            }
        }
    }

    /// Ends a pod at once, as a kubelet that has stopped its containers.
    pub(crate) async fn end_pod(&self, namespace: &str, name: &str) -> Result<()> {
        self.delete(&format!("{}?gracePeriodSeconds=0", path::pod(namespace, name))).await
    }

    /// Returns the number of refused changes of the config map that the scheduler has reported.
    pub(crate) async fn refused_changes(&self) -> Result<u64> {
        let events: Value = self.api.get(&path::events(DEFAULT)).await?;
        let all = events["items"].as_array().into_iter().flatten();
        let refused = all.filter(|one| one["action"] == "ChangeRefused");
        Ok(refused.map(|one| one["series"]["count"].as_u64().unwrap_or(1)).sum())
    }

    /// Returns where the logs of the API server are.
    pub(crate) fn logs(&self) -> PathBuf {
        self.running.folder.join("logs")
    }
}

fn is_early(fault: &Fault) -> bool {
    fault.code() == Some(403) && fault.to_string().contains("PriorityClass")
}

async fn follow(api: Api, seen: Arc<Mutex<BTreeMap<String, Seen>>>) {
    let mut watch = Watch::<Pod>::new(api, Source::new(path::PODS, Need::Required));
    loop {
        let change = watch.next().await;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut put = |pod: &Pod| {
            let shown = Seen {
                node: pod.spec.node_name.to_string(),
                is_deleting: pod.metadata.is_deleting(),
                is_terminated: pod.is_terminated(),
            };
            seen.insert(pod.metadata.uid.to_string(), shown);
        };
        match change {
            Change::Listed(pods) => pods.iter().for_each(|pod| put(pod)),
            Change::Applied(pod) => put(&pod),
            Change::Deleted(pod) => drop(seen.remove(pod.metadata.uid.as_str())),
        }
    }
}
