//! A client of the API server, which creates and deletes pods at random.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use reqwest::Method;
use serde_json::{Value, json};

use crate::scheduler::Scheduler;
use crate::tools::Running;
use crate::{LIMITS, QUEUES, QUOTAS};

/// Pods that live at once, about twice as many as the quotas allow.
const POPULATION: usize = 50;
/// Time between two changes.
const PAUSE: Duration = Duration::from_millis(30);
/// Time within which the API server must answer.
const ANSWERS_WITHIN: Duration = Duration::from_mins(2);

/// Reads a quantity of processors, in thousandths.
pub(crate) fn millis(text: &str) -> u64 {
    text.strip_suffix('m')
        .map_or_else(|| text.parse::<u64>().unwrap() * 1_000, |text| text.parse().unwrap())
}

/// What the test needs to know about a pod.
pub(crate) struct Pod {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) cpu: u64,
    pub(crate) node: String,
    pub(crate) is_in_gang: bool,
}

impl Pod {
    /// Reads a pod of the API server.
    pub(crate) fn of(pod: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let annotations = &pod["metadata"]["annotations"];
        let info = &annotations["yunikorn.apache.org/user.info"];
        let info: Value = serde_json::from_str(info.as_str().unwrap_or("{}")).unwrap();
        let requests = &pod["spec"]["containers"][0]["resources"]["requests"];
        Self {
            namespace: text(&pod["metadata"]["namespace"]),
            name: text(&pod["metadata"]["name"]),
            user: text(&info["user"]),
            cpu: millis(requests["cpu"].as_str().unwrap_or("0")),
            node: text(&pod["spec"]["nodeName"]),
            is_in_gang: annotations["yunikorn.apache.org/task-group-name"].is_string(),
        }
    }

    pub(crate) fn is_bound(&self) -> bool {
        !self.node.is_empty()
    }
}

/// Waits until something is there.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < ANSWERS_WITHIN, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    runtime: Arc<tokio::runtime::Runtime>,
    http: reqwest::Client,
    server: String,
    token: String,
}

impl Client {
    pub(crate) fn new(cluster: &Running) -> Self {
        let tokens = std::fs::read_to_string(cluster.folder.join("pki/tokens.csv")).unwrap();
        // The certificate of the tools is an authority itself, which rustls refuses.
        let http = reqwest::Client::builder()
            .no_proxy()
            .tls_danger_accept_invalid_certs(true)
            .timeout(Duration::from_secs(10));
        Self {
            runtime: Arc::new(tokio::runtime::Runtime::new().unwrap()),
            http: http.build().unwrap(),
            server: format!("https://127.0.0.1:{}", cluster.port),
            token: tokens.split(',').next().unwrap().to_owned(),
        }
    }

    /// Sends a request. `None` if it fails.
    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Option<Value> {
        let request =
            self.http.request(method, format!("{}{path}", self.server)).bearer_auth(&self.token);
        let request = body.into_iter().fold(request, reqwest::RequestBuilder::json);
        self.runtime.block_on(async {
            let response = request.send().await.ok()?.error_for_status().ok()?;
            response.json().await.ok()
        })
    }

    /// Waits until the API server is ready.
    pub(crate) fn wait(&self) {
        eventually("the API server is ready", || {
            let pods = "/api/v1/namespaces/default/pods?limit=1";
            self.send(Method::GET, "/readyz?verbose", None);
            self.send(Method::GET, pods, None)
        });
    }

    /// Creates the queue file and the namespaces.
    pub(crate) fn prepare(&self) {
        let map =
            json!({"metadata": {"name": "yunikorn-configs"}, "data": {"queues.yaml": QUEUES}});
        let maps = "/api/v1/namespaces/default/configmaps";
        eventually("the queue file", || self.send(Method::POST, maps, Some(&map)));
        for (name, cpu) in QUOTAS {
            let quota = json!({"cpu": format!("{cpu}m")}).to_string();
            let annotations = json!({"yunikorn.apache.org/namespace.quota": quota});
            let space = json!({"metadata": {"name": name, "annotations": annotations}});
            eventually("a namespace", || {
                self.send(Method::POST, "/api/v1/namespaces", Some(&space))
            });
            let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
            eventually("its account", || self.send(Method::GET, &account, None));
        }
    }

    /// Returns the pods of all namespaces of the test.
    pub(crate) fn pods(&self) -> Vec<Pod> {
        eventually("the pods", || {
            let mut all = Vec::new();
            for (namespace, _) in QUOTAS {
                let list =
                    self.send(Method::GET, &format!("/api/v1/namespaces/{namespace}/pods"), None)?;
                all.extend(list["items"].as_array()?.iter().map(Pod::of));
            }
            Some(all)
        })
    }

    pub(crate) fn delete(&self, namespace: &str, name: &str) {
        let options = json!({"gracePeriodSeconds": 0});
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        // The pod can be gone, and a request that fails is repeated later.
        let _ = self.send(Method::DELETE, &path, Some(&options));
    }

    /// Returns how the scheduler's usage differs from the sum over live pods, and which pods wait although they could
    /// run.
    pub(crate) fn differences(&self, scheduler: &mut Scheduler) -> Vec<String> {
        let address = scheduler.address();
        let rest = |path: &str| {
            let url = format!("http://{address}{path}");
            self.runtime.block_on(async {
                let response = self.http.get(url).send().await.ok()?.error_for_status().ok()?;
                response.json::<Value>().await.ok()
            })
        };
        let mut wrong = Vec::new();
        let pods = self.pods();
        let mut of_namespace = BTreeMap::new();
        let mut of_user = BTreeMap::new();
        for pod in pods.iter().filter(|pod| pod.is_bound()) {
            *of_namespace.entry(&*pod.namespace).or_insert(0) += pod.cpu;
            *of_user.entry(&*pod.user).or_insert(0) += pod.cpu;
        }
        let mut compare = |what: &str, shown: &Value, live: Option<&u64>| {
            let (shown, live) = (shown.as_u64().unwrap_or(0), live.copied().unwrap_or(0));
            if shown != live {
                wrong.push(format!("{what}: the scheduler shows {shown}, pods have {live}"));
            }
        };
        for (namespace, _) in QUOTAS {
            // An empty queue is removed after some time.
            let queue = rest(&format!("/ws/v1/partition/default/queue/root.{namespace}"))
                .unwrap_or_default();
            compare(namespace, &queue["allocatedResource"]["vcore"], of_namespace.get(namespace));
        }
        for (user, _) in LIMITS {
            let usage =
                rest(&format!("/ws/v1/partition/default/usage/user/{user}")).unwrap_or_default();
            compare(user, &usage["queues"]["resourceUsage"]["vcore"], of_user.get(user));
        }
        let left = |limits: &[(&str, u64)], used: &BTreeMap<&str, u64>, name: &str| {
            let limit = limits.iter().find(|(known, _)| *known == name).unwrap().1;
            limit.saturating_sub(used.get(name).copied().unwrap_or(0))
        };
        for pod in pods.iter().filter(|pod| !pod.is_bound() && !pod.is_in_gang) {
            let room = left(&QUOTAS, &of_namespace, &pod.namespace)
                .min(left(&LIMITS, &of_user, &pod.user));
            if pod.cpu <= room {
                wrong.push(format!("{}/{} waits, and {room} are free", pod.namespace, pod.name));
            }
        }
        wrong
    }
}

/// Creates and deletes pods until it is stopped.
pub(crate) struct Load {
    thread: std::thread::JoinHandle<u64>,
    stops: Arc<AtomicBool>,
}

impl Load {
    pub(crate) fn start(client: Client, seed: u64) -> Self {
        let stops = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stops);
        let thread = std::thread::spawn(move || {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let (mut created, mut number, mut live) = (0, 0_u64, Vec::new());
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(PAUSE);
                if live.len() > POPULATION || (!live.is_empty() && random.random_bool(0.4)) {
                    let (namespace, name): (&str, String) =
                        live.swap_remove(random.random_range(0..live.len()));
                    client.delete(namespace, &name);
                    continue;
                }
                number += 1;
                let (namespace, _) = QUOTAS.choose(&mut random).unwrap();
                let members = if random.random_bool(0.2) { 2 } else { 1 };
                for (name, pod) in bodies(&mut random, namespace, number, members) {
                    let path = format!("/api/v1/namespaces/{namespace}/pods");
                    created += u64::from(client.send(Method::POST, &path, Some(&pod)).is_some());
                    live.push((namespace, name));
                }
            }
            created
        });
        Self { thread, stops }
    }

    /// Stops the load. Returns how many pods it has created.
    pub(crate) fn stop(self) -> u64 {
        self.stops.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Returns the pods of an application: one pod, or a gang.
fn bodies(
    random: &mut Pcg64Mcg,
    namespace: &str,
    number: u64,
    members: u64,
) -> Vec<(String, Value)> {
    let cpu = ["250m", "500m", "1"].choose(random).unwrap();
    let (user, _) = LIMITS.choose(random).unwrap();
    // The pods of an application have one user and one namespace, as the application has.
    let application = if members > 1 {
        format!("gang-{number}")
    } else {
        format!("{namespace}-{user}-{}", number % 4)
    };
    let mut annotations = json!({
        "yunikorn.apache.org/user.info": json!({"user": user, "groups": ["people"]}).to_string()
    });
    if members > 1 {
        let group = json!([{"name": "w", "minMember": members, "minResource": {"cpu": cpu}}]);
        annotations["yunikorn.apache.org/task-group-name"] = json!("w");
        annotations["yunikorn.apache.org/task-groups"] = json!(group.to_string());
    }
    let body = |name: &str| {
        json!({
            "metadata": {"name": name, "labels": {"applicationId": application}, "annotations": annotations},
            "spec": {
                "schedulerName": "yunikorn",
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.7",
                    "resources": {"requests": {"cpu": cpu}}}]
            }
        })
    };
    (0..members)
        .map(|member| format!("p{number}-{member}"))
        .map(|name| (name.clone(), body(&name)))
        .collect()
}
