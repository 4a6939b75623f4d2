//! A real API server with pretended kubelets, and a client that speaks to it directly.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::{TryStreamExt as _, stream};
use reqwest::{Method, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::tools::Running;

/// Requests at once. One HTTP/2 connection carries them all.
pub(crate) const AT_ONCE: usize = 32;
/// Time within which something must happen.
const WAITS_MAX: Duration = Duration::from_mins(20);

/// A cluster, which ends with its value.
pub(crate) struct Cluster {
    pub(crate) running: Running,
    client: Client,
}

/// A client of the API server.
#[derive(Clone)]
pub(crate) struct Client {
    server: String,
    token: String,
    http: reqwest::Client,
}

/// A pod that got its node.
pub(crate) struct Bound {
    pub(crate) pod: String,
    /// When a watch first had the pod.
    pub(crate) seen: Instant,
    pub(crate) at: Instant,
}

#[derive(Deserialize)]
struct WatchEvent {
    object: WatchedPod,
}

#[derive(Deserialize)]
struct WatchedPod {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default, rename = "nodeName")]
    node_name: String,
}

impl Cluster {
    /// Starts a cluster with the tools in a folder. `name` makes its folder unique.
    pub(crate) fn start(tools: &Path, name: &str, nodes: usize) -> Result<Self> {
        let running =
            Running::start(tools, &format!("bench-{name}"), nodes, &[("NODE_PODS", "500")]);
        let tokens = std::fs::read_to_string(running.folder.join("pki/tokens.csv"))?;
        let token = tokens.split(',').next().context("there is no token")?.to_owned();
        // The certificate of the tools is an authority itself, which rustls refuses.
        let http = reqwest::Client::builder().no_proxy().tls_danger_accept_invalid_certs(true);
        let server = format!("https://127.0.0.1:{}", running.port);
        let client = Client { server, token, http: http.build()? };
        Ok(Self { running, client })
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }
}

impl Client {
    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response> {
        let request = self.http.request(method.clone(), format!("{}{path}", self.server));
        let request = request.bearer_auth(&self.token);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = request.send().await?;
        if !response.status().is_success() {
            bail!("{method} {path}: {} {}", response.status(), response.text().await?);
        }
        Ok(response)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<()> {
        self.send(Method::POST, path, Some(body)).await?.bytes().await?;
        Ok(())
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        Ok(self.send(Method::GET, path, None).await?.json().await?)
    }

    /// Creates a namespace, and waits for its service account, without which it takes no pods.
    pub(crate) async fn namespace(&self, name: &str) -> Result<()> {
        self.post("/api/v1/namespaces", &json!({"metadata": {"name": name}})).await?;
        let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        let begin = Instant::now();
        while self.get(&account).await.is_err() {
            ensure!(begin.elapsed() < WAITS_MAX, "namespace {name} has no service account");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Sends all requests, some at a time.
    pub(crate) async fn post_all(
        &self,
        requests: impl Iterator<Item = (String, Value)>,
    ) -> Result<()> {
        stream::iter(requests.map(Ok))
            .try_for_each_concurrent(AT_ONCE, |(path, body)| async move {
                self.post(&path, &body).await
            })
            .await
    }

    /// Deletes all pods of a namespace, and waits until they are gone.
    pub(crate) async fn clear(&self, namespace: &str) -> Result<()> {
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        let begin = Instant::now();
        loop {
            let options = json!({"gracePeriodSeconds": 0});
            let deleted = self.send(Method::DELETE, &pods, Some(&options)).await;
            // A large deletion can exceed the time limit of the API server, and is then repeated.
            let left = self.get(&format!("{pods}?limit=1")).await?;
            if deleted.is_ok() && left["items"].as_array().is_none_or(Vec::is_empty) {
                return Ok(());
            }
            ensure!(begin.elapsed() < WAITS_MAX, "the pods of {namespace} stay");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Follows the pods of a namespace. Sends each pod once, when it has a node.
    pub(crate) async fn follow(&self, namespace: &str) -> Result<mpsc::UnboundedReceiver<Bound>> {
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        let list = self.get(&format!("{pods}?limit=1")).await?;
        let version = list["metadata"]["resourceVersion"].as_str().context("a version")?;
        let path = format!("{pods}?watch=true&resourceVersion={version}&timeoutSeconds=3600");
        let mut response = self.send(Method::GET, &path, None).await?;
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut bound = HashSet::new();
            let mut first_seen = HashMap::new();
            let mut buffer: Vec<u8> = Vec::new();
            while let Ok(Some(chunk)) = response.chunk().await {
                let at = Instant::now();
                buffer.extend_from_slice(&chunk);
                while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = buffer.drain(..=end).collect();
                    let Ok(event) = serde_json::from_slice::<WatchEvent>(&line) else { continue };
                    let WatchedPod { metadata, spec } = event.object;
                    let seen = *first_seen.entry(metadata.name.clone()).or_insert(at);
                    let is_new = !spec.node_name.is_empty() && bound.insert(metadata.name.clone());
                    if is_new && sender.send(Bound { pod: metadata.name, seen, at }).is_err() {
                        return;
                    }
                }
            }
        });
        Ok(receiver)
    }

    /// Returns the number of successful requests of this kind so far.
    pub(crate) async fn requests(&self, resource: &str, verbs: &[&str]) -> Result<u64> {
        let text = self.send(Method::GET, "/metrics", None).await?.text().await?;
        let lines = text.lines().filter(|line| line.starts_with("apiserver_request_total{"));
        let of_resource = format!("resource=\"{resource}\"");
        let wanted = lines.filter(|line| {
            line.contains(&of_resource)
                && line.contains("code=\"2")
                && verbs.iter().any(|verb| line.contains(&format!("verb=\"{verb}\"")))
        });
        let number = |line: &str| line.rsplit(' ').next().and_then(|text| text.parse::<f64>().ok());
        let sum: f64 = wanted.filter_map(number).sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        Ok(sum as u64)
    }
}

/// Returns the body of a pod.
pub(crate) fn pod(name: &str, scheduler: &str, application: &str, cpu: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"applicationId": application}},
        "spec": {
            "schedulerName": scheduler,
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "main",
                "image": "registry.k8s.io/pause:3.7",
                "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}
            }]
        }
    })
}
