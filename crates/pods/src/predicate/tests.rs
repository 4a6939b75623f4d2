//! Corner cases of predicates, with readable inputs.

mod devices;
mod pods;
mod preempt;
mod resources;
mod survey;
mod volumes;

use std::sync::Arc;

use crate::object::{Node, Pod};

use super::{Mode, Options, Plugin, PodFacts, Prepared, Refusal, Snapshot};

/// A cluster under construction.
#[derive(Default)]
struct Cluster(Snapshot);

impl Cluster {
    /// Adds a node that takes ten pods, with labels such as `zone=a`, and with a JSON of `spec` and `status` fields.
    fn node(mut self, name: &str, labels: &str, more: &str) -> Self {
        let labels = map(labels);
        let more = if more.is_empty() { String::new() } else { format!(",{more}") };
        let mut node: Node = read(&format!(r#"{{"metadata":{{"labels":{labels}}}{more}}}"#));
        node.metadata.name = name.into();
        if node.status.allocatable.is_empty() {
            node.status.allocatable = read(r#"{"cpu":"4","memory":"8Gi","pods":"10"}"#);
        }
        self.0.put_node(Arc::new(node));
        self
    }

    /// Places a pod, whose UID is its name.
    fn pod(mut self, node: &str, name: &str, labels: &str, spec: &str) -> Self {
        let pod = Arc::new(pod(name, labels, spec));
        assert!(self.0.put_pod(node, pod), "{node} is a node");
        self
    }

    fn namespace(mut self, name: &str, labels: &str) -> Self {
        self.0.put_namespace(name.into(), read(&map(labels)));
        self
    }

    /// Returns what each plugin says about a node.
    fn refusals(&self, pod: &PodFacts, node: &str) -> Vec<Refusal> {
        let prepared = Prepared::new(&self.0, pod, Mode::Allocate, Options::default());
        let node = self.0.node(node).expect("a node");
        Plugin::ALL.iter().filter_map(|plugin| prepared.check_plugin(*plugin, node).err()).collect()
    }

    /// Returns the plugins that refuse a node.
    fn refusing(&self, pod: &PodFacts, node: &str) -> Vec<Plugin> {
        self.refusals(pod, node).iter().map(Refusal::plugin).collect()
    }

    fn fits(&self, pod: &PodFacts, node: &str) -> bool {
        self.fits_in(pod, node, Mode::Allocate)
    }

    fn fits_in(&self, pod: &PodFacts, node: &str, mode: Mode) -> bool {
        let prepared = Prepared::new(&self.0, pod, mode, Options::default());
        prepared.check(self.0.node(node).expect("a node")).is_ok()
    }
}

/// Returns a pod of the namespace `lab`, or of that before a slash in its name.
fn pod(name: &str, labels: &str, spec: &str) -> PodFacts {
    let (namespace, name) = name.split_once('/').unwrap_or(("lab", name));
    let labels = map(labels);
    let spec = if spec.is_empty() { "{}" } else { spec };
    let mut pod: Pod = read(&format!(r#"{{"metadata":{{"labels":{labels}}},"spec":{spec}}}"#));
    pod.metadata.namespace = namespace.into();
    pod.metadata.name = name.into();
    pod.metadata.uid = name.into();
    PodFacts::new(Arc::new(pod))
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

/// Returns `a=1 b=2` as JSON.
fn map(text: &str) -> String {
    let pairs: Vec<_> = text
        .split_whitespace()
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            format!("{key:?}:{value:?}")
        })
        .collect();
    format!("{{{}}}", pairs.join(","))
}
