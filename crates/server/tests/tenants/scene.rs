//! A cluster of 128 cores and 256 GB with the tenants of the scenarios: `a` with 100 cores and 200 GB,
//! `b` with 40 and 80.

use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};
use headroom_engine::Pace;
use headroom_engine::testkit::MemoryJournal;
use headroom_server::{metrics, native};
use serde_json::{Value, json};

use crate::support::{CALLER, Exchange, Options, Server, amounts};

const QUEUES: &str = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*'}]
    tenants: {enabled: true}
";

pub(crate) const TENANTS: &str = "/headroom/v1/tenants";

pub(crate) struct Scene {
    pub(crate) server: Server,
}

impl Scene {
    /// A cluster without tenants.
    pub(crate) async fn empty() -> Self {
        Self::at(Pace::ByHand, &MemoryJournal::default()).await
    }

    /// The same, where the scheduler goes on by itself or not, on a journal.
    pub(crate) async fn at(pace: Pace, journal: &MemoryJournal) -> Self {
        Self::told(journal, Options { pace, ..Options::default() }).await
    }

    /// Starts it on a server with these options.
    pub(crate) async fn told(journal: &MemoryJournal, options: Options) -> Self {
        let scene = Self::with(journal, options).await;
        // On a journal of another server it is there already.
        let _ = scene.server.handle.submit(Self::node()).await.unwrap();
        scene
    }

    /// A server on the journal of another, that does not know whether the node is there still.
    pub(crate) async fn again(journal: &MemoryJournal) -> Self {
        Self::with(journal, Options { awaits_nodes: true, ..Options::default() }).await
    }

    /// Have the server finish, and end.
    pub(crate) async fn ends(self) {
        self.server.handle.stop().await;
        while self.server.handle.stopped().is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    /// That the node is there.
    pub(crate) fn node() -> Command {
        Command::AddNode(AddNode {
            partition: Name::new("default"),
            node: Name::new("n1"),
            capacity: amounts([("vcore", 128_000), ("memory", 256_000_000_000), ("gpu", 16)]),
            schedulable: true,
            ..AddNode::default()
        })
    }

    async fn with(journal: &MemoryJournal, options: Options) -> Self {
        let queues = Some(QUEUES.to_owned());
        let modules: Vec<headroom_server::mount::Handlers> =
            vec![native::handler, metrics::handler];
        let options = Options { queues, modules, ..options };
        Self { server: Server::on(journal, options).await }
    }

    pub(crate) async fn start() -> Self {
        Self::empty().await.with_both().await
    }

    /// The scene of the seed, where the scheduler goes on by itself.
    pub(crate) async fn live() -> Self {
        Self::at(Pace::Automatic, &MemoryJournal::default()).await.with_both().await
    }

    pub(crate) async fn with_both(self) -> Self {
        let scene = self;
        scene.make("a", json!({"vcore": "100", "memory": "200G"})).await;
        scene.make("b", json!({"vcore": "40", "memory": "80G"})).await;
        scene
    }

    /// Make a tenant with this quota.
    pub(crate) async fn make(&self, id: &str, resources: Value) {
        self.make_as(json!({"id": id, "quota": {"resources": resources}})).await;
    }

    pub(crate) async fn make_as(&self, tenant: Value) {
        let made = self.send("POST", TENANTS, &[], &tenant).await;
        assert_eq!(made.status, 201, "{}", made.text());
    }

    /// Send JSON, or nothing, with these headers.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Exchange {
        let mut request = self.server.raw();
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send(method, path).await
    }

    /// Read as this caller: `user groups roles tenants`.
    pub(crate) async fn read_as(&self, caller: &str, path: &str) -> Exchange {
        self.send("GET", path, &[(CALLER, caller)], &Value::Null).await
    }

    /// The present entity tag of a path.
    pub(crate) async fn tag(&self, path: &str) -> String {
        let answer = self.server.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.header("etag").unwrap().to_owned()
    }

    /// Change what a path shows, as it is now.
    pub(crate) async fn change(&self, method: &str, path: &str, body: &Value) -> Exchange {
        let read = path.split('?').next().unwrap();
        let tag = self.tag(read).await;
        self.send(method, path, &[("if-match", &tag)], body).await
    }

    /// What a tenant uses.
    pub(crate) async fn usage(&self, tenant: &str) -> Value {
        self.server.json(&format!("{TENANTS}/{tenant}/usage")).await
    }

    /// An amount of what a tenant uses.
    pub(crate) async fn used(&self, tenant: &str, resource: &str) -> i64 {
        self.usage(tenant).await["used"][resource].as_i64().unwrap_or(0)
    }

    /// Submit a task of a tenant that asks for so many cores and GB, and let the scheduler go on.
    pub(crate) async fn task(&self, tenant: &str, task: &str, vcores: i64, gigabytes: i64) {
        let submit = Submit {
            partition: Name::new("default"),
            application: Name::new(task),
            tenant: Name::new(tenant),
            user: Name::new("ann"),
            ..Submit::default()
        };
        let resources = amounts([("vcore", vcores * 1_000), ("memory", gigabytes * 1_000_000_000)]);
        let ask = Ask {
            partition: Name::new("default"),
            application: Name::new(task),
            key: Name::new(task),
            resources,
            preemptable: true,
            ..Ask::default()
        };
        self.server.accept(Command::Submit(submit)).await;
        self.server.accept(Command::Ask(ask)).await;
        self.server.turn(1_000).await;
    }

    /// Submit a task over HTTP.
    pub(crate) async fn submit(&self, tenant: &str, task: &Value) -> Exchange {
        self.send("POST", &format!("{TENANTS}/{tenant}/tasks"), &[], task).await
    }

    /// Submit one of so many cores and GB; its status.
    pub(crate) async fn submits(&self, tenant: &str, id: &str, vcore: u32, gigabytes: u32) -> u16 {
        let resources = json!({"vcore": vcore.to_string(), "memory": format!("{gigabytes}G")});
        let answer = self.submit(tenant, &json!({"id": id, "resources": resources})).await;
        assert!(matches!(answer.status, 201 | 202), "{}", answer.text());
        answer.status
    }

    /// Have something happen to a task over HTTP.
    pub(crate) async fn act(&self, task: &str, what: &str, body: &Value) -> Exchange {
        let headers = [("x-headroom-request", "1")];
        self.send("POST", &format!("/headroom/v1/tasks/{task}/{what}"), &headers, body).await
    }

    /// Report the end of a task.
    pub(crate) async fn release(&self, task: &str, outcome: &str) {
        let answer = self.act(task, "release", &json!({"outcome": outcome})).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Where a task stands, as soon as the scheduler has looked at what happened before.
    pub(crate) async fn state(&self, task: &str) -> String {
        let shown = self.server.json(&format!("/headroom/v1/tasks/{task}")).await;
        shown["state"].as_str().unwrap().to_owned()
    }

    /// Wait until a task stands there: the scheduler goes on by itself.
    pub(crate) async fn until(&self, task: &str, state: &str) {
        for _ in 0..1_000 {
            if self.state(task).await == state {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("task {task} is {}, not {state}", self.state(task).await);
    }

    /// End a task, and let the scheduler go on.
    pub(crate) async fn end(&self, task: &str) {
        let release = Command::Release {
            partition: Name::new("default"),
            application: Name::new(task),
            key: None,
            termination: Termination::StoppedByRm,
        };
        self.server.accept(release).await;
        self.server.turn(1_000).await;
    }
}

/// A refusal: its status and its code.
pub(crate) fn problem(answer: &Exchange) -> (u16, String) {
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json"),
        "{}",
        answer.text()
    );
    (answer.status, answer.json()["code"].as_str().unwrap().to_owned())
}
