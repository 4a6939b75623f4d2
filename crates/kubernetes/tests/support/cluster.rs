//! A cluster with pretended kubelets, started once for a test program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use headroom_kubernetes::client::{Api, Content, Fault, decode, path};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::tools::{Running, TOOLS, run};

/// Number of nodes.
pub const NODES: usize = 5;
/// Time within which something must happen.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running cluster.
pub struct Cluster {
    running: Running,
    use_of_server: RwLock<()>,
}

/// Returns the cluster of this program, or nothing if there are no tools. The first call starts it.
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    let cluster = CLUSTER
        .get_or_init(|| std::env::var_os(TOOLS).map(|tools| Cluster::start(Path::new(&tools))));
    if cluster.is_none() {
        println!("skipped: {TOOLS} names no folder of tools that start a cluster");
    }
    cluster.as_ref()
}

impl Cluster {
    fn start(tools: &Path) -> Self {
        let running = Running::start(tools, "kubernetes", NODES, &[]);
        Self { running, use_of_server: RwLock::new(()) }
    }

    /// Starts every part that does not run.
    pub fn start_parts(&self) {
        self.running.start_parts();
    }

    /// Stops a part, such as `kube-apiserver`.
    pub fn stop_part(&self, part: &str) {
        self.running.stop_part(part);
    }

    /// Calls the gateway of etcd, which has the data also while the API server is stopped.
    pub fn etcd(&self, call: &str, body: &Value) {
        let url = format!("http://127.0.0.1:{}/v3/kv/{call}", self.running.port + 1);
        run(Command::new("curl").args(["-sSf", "-d", &body.to_string(), &url]));
    }

    /// Returns a client of an administrator.
    pub async fn api(&self) -> Api {
        let file = tempfile(&self.running.folder);
        std::fs::write(&file, self.running.unchecked_kubeconfig()).unwrap();
        Api::from_file(&file).await.unwrap()
    }

    /// Uses the API server together with other tests.
    pub async fn shared(&self) -> RwLockReadGuard<'_, ()> {
        self.use_of_server.read().await
    }

    /// Uses the API server alone, to stop it.
    pub async fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.use_of_server.write().await
    }
}

/// Returns the path of a new file, because tests run at the same time.
fn tempfile(folder: &Path) -> PathBuf {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    folder.join(format!("kubeconfig-{}", LAST.fetch_add(1, Ordering::Relaxed)))
}

/// Waits until a condition holds.
pub async fn eventually<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let start = tokio::time::Instant::now();
    loop {
        if let Some(found) = condition().await {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "not within a minute: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits for a result, at most a minute.
pub async fn soon<T>(what: &str, result: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, result)
        .await
        .unwrap_or_else(|_| panic!("not within a minute: {what}"))
}

pub async fn post(api: &Api, path: &str, body: &Value) -> Result<Value, Fault> {
    decode(&api.write(Method::POST, path, Content::Json(body)).await?)
}

pub async fn delete(api: &Api, path: &str) -> Result<Value, Fault> {
    decode(&api.write(Method::DELETE, path, Content::None).await?)
}

pub async fn patch(api: &Api, path: &str, body: &Value) -> Result<Value, Fault> {
    decode(&api.write(Method::PATCH, path, Content::MergePatch(body)).await?)
}

/// Creates a namespace, in which pods can be created at once.
pub async fn namespace(api: &Api, name: &str) {
    let body = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    post(api, path::NAMESPACES, &body).await.unwrap();
    let account = format!("{}/serviceaccounts/default", path::namespace(name));
    eventually("the account of a namespace", async || api.get::<Value>(&account).await.ok()).await;
}

/// Returns a pod of our scheduler.
pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "labels": { "app": "test" } },
        "spec": {
            "schedulerName": "yunikorn",
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "main",
                "image": "none",
                "resources": { "requests": { "cpu": "100m" } },
            }],
        },
    })
}
