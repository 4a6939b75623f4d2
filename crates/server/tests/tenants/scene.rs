//! A cluster of 128 cores and 256 GB with the tenants of the scenarios: `a` with 100 cores and 200 GB,
//! `b` with 40 and 80.

use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};
use headroom_server::native;
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
        let queues = Some(QUEUES.to_owned());
        let modules: Vec<headroom_server::mount::Handlers> = vec![native::handler];
        let server = Server::with(Options { queues, modules, ..Options::default() }).await;
        let node = AddNode {
            partition: Name::new("default"),
            node: Name::new("n1"),
            capacity: amounts([("vcore", 128_000), ("memory", 256_000_000_000), ("gpu", 16)]),
            schedulable: true,
            ..AddNode::default()
        };
        server.accept(Command::AddNode(node)).await;
        Self { server }
    }

    pub(crate) async fn start() -> Self {
        let scene = Self::empty().await;
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
