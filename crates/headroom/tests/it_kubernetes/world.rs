//! A real API server with pretended kubelets, and `headroom kubernetes` as a process, started once for all tests.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tools::{Running, TOOLS, address_in};

/// Time within which something must happen.
const SOON: Duration = Duration::from_mins(1);
/// Exit code of `headroom plan` if the file changes something.
const PLAN_CHANGES: i32 = 2;
/// Time in which nothing may happen.
const WHILE: Duration = Duration::from_secs(2);

/// The queue file of all tests. Each test has a namespace of its own, and so a queue of its own.
pub(crate) const QUEUES: &str = "
partitions:
  - name: default
    preemption: {quotapreemptionenabled: true}
    placementrules:
      - name: provided
      - name: tag
        value: namespace
        create: true
        parent: {name: tag, value: namespace.parentqueue}
      - name: tag
        value: namespace
        create: true
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: x
          - name: prod
            parent: true
          - name: small
            resources: {max: {vcore: 1}}
          - name: planned
            resources: {max: {vcore: 1}}
          - name: fought
            parent: true
            resources: {max: {vcore: 4}}
            childtemplate:
              properties: {preemption.delay: 1s}
          - name: shrinking
            resources: {max: {vcore: 2}}
            properties: {quota.preemption.delay: 1s}
          - name: fair
            resources: {max: {vcore: 2}}
            properties: {application.sort.policy: fair}
          - name: ranked
            parent: true
            resources: {max: {vcore: 1}}
            queues:
              - name: low
              - name: high
                properties: {priority.offset: '100'}
          - name: limited
            limits:
              - {users: [ann], maxresources: {vcore: 1}}
              - {users: ['*'], maxresources: {vcore: 2}}
              - {groups: [crew], maxapplications: 1}
";

/// The cluster and its scheduler.
pub(crate) struct World {
    running: Running,
    scheduler: Mutex<Scheduler>,
    /// Tests that stop the scheduler write.
    shares: RwLock<()>,
}

struct Scheduler {
    child: Child,
    address: String,
}

/// A second scheduler of the same pods, which is killed at the end of the value.
pub(crate) struct Second {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Second {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Returns the world, or nothing without the tools. The first call starts it.
pub(crate) fn world() -> Option<&'static World> {
    static WORLD: OnceLock<Option<World>> = OnceLock::new();
    let world =
        WORLD.get_or_init(|| std::env::var_os(TOOLS).map(|tools| World::start(Path::new(&tools))));
    if world.is_none() {
        println!("skipped: {TOOLS} names no folder of tools that start a cluster");
    }
    world.as_ref()
}

impl World {
    fn start(tools: &Path) -> Self {
        let sizes = [("NODE_CPU", "8"), ("NODE_MEMORY", "32Gi")];
        let world = Self {
            running: Running::start(tools, "it-kubernetes", 3, &sizes),
            scheduler: Mutex::new(Scheduler { child: guard_of_nothing(), address: String::new() }),
            shares: RwLock::new(()),
        };
        world.configure(QUEUES);
        world.create_account();
        world.start_scheduler();
        world
    }

    /// Creates the account of the scheduler, with the permissions of the page for users.
    fn create_account(&self) {
        let page = include_str!("../../../../docs/kubernetes.md");
        let mut blocks =
            page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let account = blocks.find(|block| block.contains("kind: ClusterRole")).unwrap();
        let account = account.replace("namespace: yunikorn", "namespace: default");
        let (output, error) = self.kubectl_with(&["apply", "-f", "-"], Some(&account));
        assert!(output.is_some(), "{error}");
        let token = self.kubectl(&["create", "token", "headroom", "--duration=24h"]);
        let server = format!("https://127.0.0.1:{}", self.running.port);
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "headroom",
            // See `Running::unchecked_kubeconfig`.
            "clusters": [{"name": "headroom", "cluster": {"server": server, "insecure-skip-tls-verify": true}}],
            "users": [{"name": "headroom", "user": {"token": token.trim()}}],
            "contexts": [{"name": "headroom", "context": {"cluster": "headroom", "user": "headroom"}}],
        });
        std::fs::write(self.account(), config.to_string()).unwrap();
    }

    /// Writes a file that ends with the cluster. Returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.running.folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the path of the kubeconfig of the scheduler.
    fn account(&self) -> PathBuf {
        self.running.folder.join("kubeconfig-headroom")
    }

    /// Sets the queue file.
    pub(crate) fn configure(&self, queues: &str) {
        self.configure_all(json!({"queues.yaml": queues}));
    }

    /// Sets the entries of the config map.
    pub(crate) fn configure_all(&self, entries: Value) {
        self.apply(&json!({"metadata": {"name": "yunikorn-configs", "namespace": "default"},
            "data": entries, "apiVersion": "v1", "kind": "ConfigMap"}));
    }

    /// Uses the scheduler together with other tests.
    pub(crate) fn shared(&self) -> RwLockReadGuard<'_, ()> {
        self.shares.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the scheduler alone, to stop it.
    pub(crate) fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.shares.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn scheduler(&self) -> MutexGuard<'_, Scheduler> {
        self.scheduler.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the scheduler without a warning.
    pub(crate) fn kill_scheduler(&self) {
        let mut scheduler = self.scheduler();
        scheduler.child.kill().unwrap();
        scheduler.child.wait().unwrap();
    }

    pub(crate) fn stop_api_server(&self) {
        self.running.stop_part("kube-apiserver");
    }

    /// Starts the API server again, and waits until it is ready.
    pub(crate) fn start_api_server(&self) {
        self.running.start_parts();
    }

    pub(crate) fn start_scheduler(&self) {
        *self.scheduler() = self.start_process("headroom");
    }

    /// Starts one more scheduler. It ends with the value.
    pub(crate) fn start_second(&self) -> Second {
        let Scheduler { child, address } = self.start_process("second");
        Second { child, address }
    }

    fn start_process(&self, name: &str) -> Scheduler {
        let log = File::create(self.running.folder.join(format!("{name}.log"))).unwrap();
        let mut command = Running::scheduler_as(env!("CARGO_BIN_EXE_headroom"), &self.account());
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        self.running.ends_with_cluster(name, &child);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = address_in(&line).unwrap_or_else(|| panic!("{line}")).to_owned();
        Scheduler { child, address }
    }

    /// Returns the address of the scheduler's server.
    pub(crate) fn address(&self) -> String {
        self.scheduler().address.clone()
    }

    /// Calls `kubectl`, and returns its output. It must succeed.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let (output, error) = self.kubectl_with(arguments, None);
        output.unwrap_or_else(|| panic!("kubectl {arguments:?}: {error}"))
    }

    fn kubectl_with(&self, arguments: &[&str], input: Option<&str>) -> (Option<String>, String) {
        let mut child = Command::new(self.running.folder.join("bin/kubectl"))
            .env("KUBECONFIG", self.running.folder.join("kubeconfig"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.unwrap_or_default().as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success().then(|| text(&output.stdout)), text(&output.stderr))
    }

    /// Creates or changes an object.
    pub(crate) fn apply(&self, object: &Value) {
        let (output, error) = self.kubectl_with(&["apply", "-f", "-"], Some(&object.to_string()));
        assert!(output.is_some(), "{error}");
    }

    /// Creates an object. Returns whether the API server takes it.
    pub(crate) fn try_apply(&self, object: &Value) -> bool {
        self.kubectl_with(&["apply", "-f", "-"], Some(&object.to_string())).0.is_some()
    }

    /// Posts a body to a path of the API server.
    ///
    /// # Errors
    /// What `kubectl` prints if the API server refuses the body.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<String, String> {
        let arguments = ["create", "--raw", path, "-f", "-"];
        let (output, error) = self.kubectl_with(&arguments, Some(&body.to_string()));
        output.ok_or(error)
    }

    /// Returns an object. `None` if it does not exist.
    pub(crate) fn get(&self, arguments: &[&str]) -> Option<Value> {
        let arguments = [&["get", "-o", "json"], arguments].concat();
        let (output, error) = self.kubectl_with(&arguments, None);
        let Some(output) = output else {
            assert!(error.contains("NotFound"), "{error}");
            return None;
        };
        Some(serde_json::from_str(&output).unwrap())
    }

    /// Calls the scheduler's own command line. Returns what it prints.
    pub(crate) fn headroom(&self, arguments: &[&str]) -> String {
        let output = self.headroom_at("--server", arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the plan of a queue file, as people read it.
    pub(crate) fn plan(&self, file: &str) -> String {
        let output = self.headroom_at("--against", &["plan", file]);
        // It reports changes by its exit code.
        assert_eq!(output.status.code(), Some(PLAN_CHANGES), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn headroom_at(&self, flag: &str, arguments: &[&str]) -> Output {
        let server = format!("http://{}", self.address());
        let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
        command.args(arguments).args([flag, &server]).output().unwrap()
    }

    /// Reads from the scheduler's REST interface. `None` if the object does not exist.
    pub(crate) fn rest(&self, path: &str) -> Option<Value> {
        Self::rest_at(&self.address(), path)
    }

    /// Reads from the REST interface of the scheduler at an address. `None` if the object does not exist.
    pub(crate) fn rest_at(address: &str, path: &str) -> Option<Value> {
        Self::text_at(address, path).map(|text| serde_json::from_str(&text).unwrap())
    }

    /// Reads a text at an address. `None` if it does not exist.
    pub(crate) fn text_at(address: &str, path: &str) -> Option<String> {
        let url = format!("http://{address}{path}");
        let response = runtime().block_on(async {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let response = client.get(url).send().await.unwrap();
            let is_found = response.status().is_success();
            (is_found, response.text().await.unwrap())
        });
        response.0.then_some(response.1)
    }
}

fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap())
}

/// Returns a process that has ended, in the place of a scheduler.
fn guard_of_nothing() -> Child {
    Command::new("true").spawn().unwrap()
}

/// A namespace of one test.
pub(crate) struct Lab {
    pub(crate) world: &'static World,
    pub(crate) name: String,
}

/// The pods end with their test, so that the nodes have capacity for the other ones.
impl Drop for Lab {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.kubectl(&["delete", "pod,job,deployment", "--all", "--wait=false"]);
        }
    }
}

impl Lab {
    /// Creates a namespace with annotations.
    pub(crate) fn new(world: &'static World, annotations: Value) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let name = format!("lab-{}", LAST.fetch_add(1, Ordering::Relaxed));
        Self::named(world, &name, annotations)
    }

    /// Creates a namespace with this name.
    pub(crate) fn named(world: &'static World, name: &str, annotations: Value) -> Self {
        let name = name.to_owned();
        world.apply(&json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "annotations": annotations}}));
        let lab = Self { world, name };
        lab.eventually("the service account exists", || lab.get(&["serviceaccount", "default"]));
        lab
    }

    /// Returns an object of the namespace.
    pub(crate) fn get(&self, arguments: &[&str]) -> Option<Value> {
        self.world.get(&[&["-n", &*self.name], arguments].concat())
    }

    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        self.world.kubectl(&[&["-n", &*self.name], arguments].concat())
    }

    /// Creates a pod. `more` is merged into its metadata, and `spec` into its specification.
    pub(crate) fn pod(&self, name: &str, more: Value, spec: Value) {
        let mut metadata = json!({"name": name, "namespace": self.name});
        merge(&mut metadata, more);
        let mut whole = json!({
            "schedulerName": "yunikorn",
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.7"}]
        });
        merge(&mut whole, spec);
        self.world.apply(
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole}),
        );
    }

    /// Waits until a pod runs. Returns its node.
    pub(crate) fn runs(&self, name: &str) -> String {
        self.eventually(&format!("pod {name} runs"), || {
            let pod = self.get(&["pod", name])?;
            let runs = pod["status"]["phase"] == "Running";
            runs.then(|| pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned())
        })
    }

    /// Waits until the condition `PodScheduled` of a pod is false. Returns its reason and message.
    pub(crate) fn waits(&self, name: &str) -> (String, String) {
        self.eventually(&format!("pod {name} has a condition"), || {
            let pod = self.get(&["pod", name])?;
            let conditions = pod["status"]["conditions"].as_array()?.clone();
            let one = conditions.into_iter().find(|one| one["type"] == "PodScheduled")?;
            let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
            (one["status"] == "False").then(|| (text("reason"), text("message")))
        })
    }

    /// Checks that a pod gets no node for a while.
    pub(crate) fn stays_pending(&self, name: &str) {
        std::thread::sleep(WHILE);
        let pod = self.get(&["pod", name]).unwrap();
        assert_eq!(pod["spec"]["nodeName"], Value::Null, "pod {name} was bound");
    }

    /// Waits for an event of an object with this reason. Returns its notes.
    pub(crate) fn event(&self, object: &str, reason: &str) -> String {
        self.eventually(&format!("event {reason} of {object}"), || {
            let events = self.get(&["events"])?;
            events["items"].as_array()?.iter().find_map(|event| {
                let is_it = event["involvedObject"]["name"] == object && event["reason"] == reason;
                is_it.then(|| event["message"].as_str().unwrap_or_default().to_owned())
            })
        })
    }

    /// Waits for an application of the scheduler.
    pub(crate) fn application(&self, id: &str) -> Value {
        let path = format!("/ws/v1/partition/default/application/{id}");
        self.eventually(&format!("application {id}"), || self.world.rest(&path))
    }

    /// Waits for a queue of the scheduler.
    pub(crate) fn queue(&self, path: &str) -> Value {
        let url = format!("/ws/v1/partition/default/queue/{path}");
        self.eventually(path, || self.world.rest(&url))
    }

    /// Returns the cores that the own queue of the namespace uses, in thousandths.
    pub(crate) fn used(&self) -> i64 {
        let queue = self.queue(&format!("root.{}", self.name));
        queue["allocatedResource"]["vcore"].as_i64().unwrap_or_default()
    }

    /// Waits for the amounts that a pod asks for or has, by its application.
    pub(crate) fn amounts(&self, id: &str) -> Value {
        let application = self.application(id);
        let all =
            ["allocations", "requests"].map(|field| application[field][0]["resource"].clone());
        let [placed, asked] = all;
        if placed.is_null() { asked } else { placed }
    }

    /// Waits until something is there.
    pub(crate) fn eventually<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            if begin.elapsed() > SOON {
                let log = std::fs::read_to_string(self.world.running.folder.join("headroom.log"));
                let pods = self.world.kubectl(&["get", "pods,events", "-n", &self.name]);
                panic!("not within a minute: {what}\n{pods}\n{}", log.unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Adds the fields of an object to another one. Objects are merged, everything else is replaced.
fn merge(to: &mut Value, more: Value) {
    match (to, more) {
        (Value::Object(to), Value::Object(more)) => {
            for (key, value) in more {
                merge(to.entry(key).or_insert(Value::Null), value);
            }
        }
        (to, more) => *to = more,
    }
}
