//! What this resource manager knows, for the state dump of the server.

use std::collections::BTreeMap;

use headroom_pods::predicate::Snapshot;
use headroom_pods::shim::{KnownPod, Shim};
use serde::Serialize;

/// Most pods, nodes, or applications whose entries are in a dump. With more, a dump would keep the loop from its work, and has only the
/// numbers.
const ENTRIES_MAX: usize = 20_000;

#[derive(Serialize)]
struct Dump<'a> {
    cache: Cache<'a>,
    /// States of the applications. Absent in a large cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    applications: Option<BTreeMap<&'a str, &'static str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cache<'a> {
    /// Absent in a large cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<BTreeMap<&'a str, Node<'a>>>,
    /// Pods by namespace and name. Absent in a large cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pods: Option<BTreeMap<String, Pod<'a>>>,
    statistics: Statistics,
}

#[derive(Serialize)]
struct Node<'a> {
    uid: &'a str,
    unschedulable: bool,
    pods: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pod<'a> {
    uid: &'a str,
    /// Empty without a node.
    node: &'a str,
    /// Whether another scheduler places the pod.
    foreign: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    application_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    nodes: usize,
    pods: usize,
    foreign_pods: usize,
    applications: usize,
    /// Number of our pods in each state.
    states: BTreeMap<&'static str, usize>,
}

/// Returns the dump as JSON.
///
/// # Errors
/// Returns why there is no JSON.
pub(crate) fn of(shim: &Shim, snapshot: &Snapshot) -> Result<String, String> {
    let mut statistics = Statistics { nodes: snapshot.nodes().len(), ..Statistics::default() };
    for KnownPod { is_foreign, state, .. } in shim.known_pods() {
        statistics.pods += 1;
        statistics.foreign_pods += usize::from(is_foreign);
        if let Some(state) = state {
            *statistics.states.entry(state).or_default() += 1;
        }
    }
    statistics.applications = shim.application_states().len();
    let Statistics { nodes, pods, applications, .. } = statistics;
    let is_small = nodes.max(pods).max(applications) <= ENTRIES_MAX;
    let states = || shim.application_states().map(|(id, state)| (id.as_str(), state)).collect();
    let applications = is_small.then(states);
    let nodes = is_small.then(|| {
        let nodes = snapshot.nodes().map(|facts| {
            let node = facts.node();
            let entry = Node {
                uid: &node.metadata.uid,
                unschedulable: node.spec.unschedulable,
                pods: facts.pods().len(),
            };
            (node.metadata.name.as_str(), entry)
        });
        nodes.collect()
    });
    let pods = is_small.then(|| shim.known_pods().map(entry).collect());
    let dump = Dump { cache: Cache { nodes, pods, statistics }, applications };
    serde_json::to_string(&dump).map_err(|error| error.to_string())
}

fn entry(known: KnownPod<'_>) -> (String, Pod<'_>) {
    let KnownPod { pod, node, is_foreign, application, state } = known;
    let metadata = &pod.metadata;
    let entry =
        Pod { uid: &metadata.uid, node, foreign: is_foreign, application_id: application, state };
    (format!("{}/{}", metadata.namespace, metadata.name), entry)
}
