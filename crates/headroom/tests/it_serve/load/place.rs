//! Location of the server: a process that can be killed and started again, while its clients continue.

use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::Folder;
use crate::support::server::Server;

const QUEUES: &str = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*'}]
    tenants: {enabled: true, recoverytimeoutseconds: 20}
";

/// What the server is started with, each time.
const ARGUMENTS: [&str; 4] =
    ["--queues", "queues.yaml", "--demo-nodes", "4*{vcore: 300, memory: 1T}"];

/// How long something may take that is to come.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);
/// Wait of a client without an answer before it asks again.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A server that may be killed, and its clients.
pub(crate) struct Place {
    folder: Folder,
    server: Mutex<Option<Server>>,
    address: RwLock<String>,
    client: Client,
    /// As many as have connections at once.
    connections: Semaphore,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// How many of so many connections there may be at once: the system may allow fewer files.
fn connections(wanted: usize) -> usize {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    /// For whatever else is open.
    const OTHERS: u64 = 128;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let files = (wanted as u64 + OTHERS).min(hard).max(soft);
    setrlimit(Resource::RLIMIT_NOFILE, files, hard).unwrap();
    usize::try_from(files.saturating_sub(OTHERS)).unwrap().clamp(1, wanted)
}

impl Place {
    /// A server with room for whatever is to run, and so many clients at once.
    pub(crate) fn start(name: &str, clients: usize) -> Self {
        let folder = Folder::new(name);
        folder.write("queues.yaml", QUEUES);
        let server = Server::start(&folder, &ARGUMENTS);
        let address = RwLock::new(server.address.clone());
        let client = Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        let connections = Semaphore::new(connections(clients));
        Self { folder, server: Mutex::new(Some(server)), address, client, connections }
    }

    /// Wait for the nodes, and make the tenant.
    pub(crate) async fn furnish(&self, cores: usize) {
        let until = Instant::now() + PATIENCE;
        let nodes = "/ws/v1/partition/default/nodes";
        while self.get(nodes).await.as_array().is_none_or(|nodes| nodes.len() < 4) {
            assert!(Instant::now() < until, "no nodes: {}", self.folder.read("log"));
            tokio::time::sleep(AGAIN_AFTER).await;
        }
        let quota = json!({"resources": {"vcore": cores.to_string()}});
        let made =
            self.post("/headroom/v1/tenants", "make", &json!({"id": "a", "quota": quota})).await;
        assert_eq!(made.status, 201, "{made:?}");
    }

    /// End the process as by `kill -9`, and start one that goes on with its journal. The nodes are in that, and are
    /// sent again.
    pub(crate) fn kill(&self) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        drop(server.take());
        let started = Server::start(&self.folder, &ARGUMENTS);
        self.address.write().unwrap().clone_from(&started.address);
        *server = Some(started);
    }

    /// Ask until there is an answer: of whom the server died under asks the next one the same.
    async fn ask(&self, method: Method, path: &str, key: &str, body: Option<&Value>) -> Answer {
        let _one = self.connections.acquire().await.unwrap();
        let until = Instant::now() + PATIENCE;
        loop {
            let url = format!("http://{}{path}", self.address.read().unwrap());
            let mut request = self.client.request(method.clone(), url);
            if let Some(body) = body {
                let headers = [("x-headroom-request", "1"), ("idempotency-key", key)];
                request =
                    headers.iter().fold(request, |all, (name, value)| all.header(*name, *value));
                request = request.json(body);
            }
            if let Ok(answer) = request.send().await {
                let status = answer.status().as_u16();
                // While it reads its journal it answers nothing else.
                if let (true, Ok(body)) = (status != 503, answer.json().await) {
                    return Answer { status, body };
                }
            }
            assert!(Instant::now() < until, "nobody answers {path}: {}", self.folder.read("log"));
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.ask(Method::POST, path, key, Some(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.ask(Method::GET, path, "", None).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    /// The same with a path of its own.
    pub(crate) async fn get_at(&self, path: String) -> Value {
        self.get(&path).await
    }

    /// All of the audit, as soon as it has as many ends.
    pub(crate) async fn audit(&self, ends: usize) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let (mut all, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = self.get(&format!("/headroom/v1/audit?limit=1000{cursor}")).await;
                all.extend(page["items"].as_array().unwrap().iter().cloned());
                let Some(next) = page["cursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
            if all.iter().filter(|one| one["type"] == "TASK_ENDED").count() >= ends {
                return all;
            }
            assert!(Instant::now() < until, "the audit lacks ends");
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    /// The server finds nothing wrong, ends well, and what it leaves behind is whole: today's program decides all
    /// of it again, and the audit is what the journal says.
    pub(crate) fn judge_and_end(&self) {
        let mut server = self.server.lock().unwrap().take().unwrap();
        let health = server.get("/ws/v1/scheduler/healthcheck");
        assert!(health.contains("\"Healthy\":true"), "{health}");
        // Every start followed from what made room for it, and none took more than was left.
        let metrics = server.get("/metrics");
        for metric in ["sweep_rescued_total", "limit_violation_total", "ledger_drift"] {
            let line = format!("headroom_tenant_{metric}{{tenant=\"a\"}} 0\n");
            assert!(metrics.contains(&line), "{line}");
        }
        server.signal("TERM");
        assert_eq!(server.end().0.code(), Some(0), "{}", self.folder.read("log"));
        self.folder.succeed(&["journal", "verify"]);
        let audit = self.folder.succeed(&["audit", "verify"]);
        assert!(audit.stdout.contains("all valid and in order"), "{}", audit.stdout);
    }
}
