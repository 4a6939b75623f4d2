//! A cluster with pretended kubelets, started once for a test program.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use headroom_kubernetes::client::{Api, Content, Fault, decode, path};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Environment variable with the folder of the tools.
const TOOLS: &str = "HEADROOM_KUBERNETES";
/// Number of nodes.
pub const NODES: usize = 5;
/// Time within which something must happen.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running cluster.
pub struct Cluster {
    tools: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Stops the cluster when this process has ended, however it ends: then its input is closed.
    _guard: Child,
    use_of_server: RwLock<()>,
}

/// Returns the cluster of this program, or nothing if there are no tools. The first call starts it.
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    let cluster =
        CLUSTER.get_or_init(|| std::env::var_os(TOOLS).map(|tools| Cluster::start(tools.into())));
    if cluster.is_none() {
        println!("skipped: {TOOLS} names no folder of tools that start a cluster");
    }
    cluster.as_ref()
}

impl Cluster {
    fn start(tools: PathBuf) -> Self {
        let folder =
            std::env::temp_dir().join(format!("headroom-kubernetes-{}", std::process::id()));
        let port = free_port();
        let guard = Command::new("sh")
            .args(["-c", r#"trap "" INT; read -r _; "$0" "$1"; rm -rf "$1""#])
            .args([tools.join("stop.sh"), folder.clone()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cluster = Self { tools, folder, port, _guard: guard, use_of_server: RwLock::new(()) };
        cluster.start_parts();
        cluster
    }

    /// Starts every part that does not run.
    pub fn start_parts(&self) {
        run(Command::new(self.tools.join("start.sh")).arg(&self.folder).args([
            &self.port.to_string(),
            "--kwok",
            &NODES.to_string(),
        ]));
    }

    /// Stops a part, such as `kube-apiserver`.
    pub fn stop_part(&self, part: &str) {
        run(Command::new(self.tools.join("stop.sh")).arg(&self.folder).arg(part));
    }

    /// Calls the gateway of etcd, which has the data also while the API server is stopped.
    pub fn etcd(&self, call: &str, body: &Value) {
        let url = format!("http://127.0.0.1:{}/v3/kv/{call}", self.port + 1);
        run(Command::new("curl").args(["-sSf", "-d", &body.to_string(), &url]));
    }

    /// Returns the path of the kubeconfig of an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// Returns the path of a kubeconfig without a check of the server's certificate.
    ///
    /// The tools make a certificate that also is a certificate authority, which only Go's TLS accepts.
    fn unchecked_kubeconfig(&self) -> PathBuf {
        let text = std::fs::read_to_string(self.kubeconfig()).unwrap();
        let is_authority = |line: &&str| line.contains("certificate-authority-data:");
        let authority = text.lines().find(is_authority).unwrap();
        let text = text.replace(authority, "    insecure-skip-tls-verify: true");
        let file = tempfile(&self.folder);
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Returns a client of an administrator.
    pub async fn api(&self) -> Api {
        Api::from_file(&self.unchecked_kubeconfig()).await.unwrap()
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

/// Runs a command, which must succeed.
fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
}

/// Returns the path of a new file, because tests run at the same time.
fn tempfile(folder: &Path) -> PathBuf {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    folder.join(format!("kubeconfig-{}", LAST.fetch_add(1, Ordering::Relaxed)))
}

/// Returns the first of three free ports.
fn free_port() -> u16 {
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    // Below the ports that systems give to clients.
    let start = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let mut ports = (start..31_990).chain(20_000..start).step_by(3);
    ports.find(|port| (*port..port + 3).all(is_free)).unwrap()
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
