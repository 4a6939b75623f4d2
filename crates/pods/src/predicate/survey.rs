//! How many nodes refuse a pod, why, and what would help.

use std::collections::BTreeMap;

use crate::object::Text;

use super::{Code, NodeFacts, Plugin, Prepared, Refusal, Shortage};

/// Verdicts of all nodes on a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of nodes that can take the pod now.
    pub fitting: usize,
    /// The refusals, the most frequent first.
    pub refused: Vec<RefusedNodes>,
}

/// Nodes that refuse a pod for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedNodes {
    /// The plugin that refuses. Each node counts for the first plugin.
    pub plugin: Plugin,
    /// The reasons as Kubernetes words them.
    pub reason: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Whether evictions can help.
    pub code: Code,
    /// The node that is closest to taking the pod.
    pub example: Text,
    /// What would let this node take the pod.
    pub change: Option<String>,
}

/// The refusals of one kind, and the closest of them.
struct Group<'a> {
    nodes: usize,
    closest: (&'a NodeFacts, Refusal),
}

impl Survey {
    /// Checks every node. The cost is that of a check for each node.
    pub fn of(prepared: &Prepared<'_>) -> Self {
        let snapshot = prepared.context.snapshot;
        let mut fitting = 0;
        let mut groups: BTreeMap<(Plugin, String), Group<'_>> = BTreeMap::new();
        let mut nodes: Vec<&NodeFacts> = snapshot.nodes().collect();
        nodes.sort_by_key(|node| node.name());
        for node in &nodes {
            let Err(refusal) = prepared.check(node) else {
                fitting += 1;
                continue;
            };
            let key = (refusal.plugin(), refusal.reasons().join(", "));
            match groups.get_mut(&key) {
                None => {
                    groups.insert(key, Group { nodes: 1, closest: (node, refusal) });
                }
                Some(group) => {
                    group.nodes += 1;
                    if missing(&refusal) < missing(&group.closest.1) {
                        group.closest = (node, refusal);
                    }
                }
            }
        }
        let pod = prepared.context.pod.pod();
        let mut refused: Vec<RefusedNodes> = groups
            .into_iter()
            .map(|((plugin, reason), Group { nodes, closest: (node, refusal) })| RefusedNodes {
                plugin,
                reason,
                nodes,
                code: refusal.code(),
                example: node.name().clone(),
                change: refusal.change(pod, node),
            })
            .collect();
        // Stable, so equal numbers stay in the order of the plugins.
        refused.sort_by_key(|group| std::cmp::Reverse(group.nodes));
        Self { nodes: nodes.len(), fitting, refused }
    }

    /// Returns one line, as Kubernetes words it: `0/3 nodes are available: 2 Insufficient cpu.`
    pub fn line(&self) -> String {
        let head = format!("{}/{} nodes are available", self.fitting, self.nodes);
        if self.refused.is_empty() {
            return format!("{head}.");
        }
        let parts = self.refused.iter().map(|one| format!("{} {}", one.nodes, one.reason));
        format!("{head}: {}.", parts.collect::<Vec<_>>().join(", "))
    }
}

/// Returns how much a node lacks, to compare refusals for the same reason. Only amounts differ.
fn missing(refusal: &Refusal) -> i64 {
    let Refusal::Fit(shortages) = refusal else { return 0 };
    let Some(Shortage::Resource { requested, used, offered, .. }) = shortages.first() else {
        return 0;
    };
    requested.saturating_sub(offered.saturating_sub(*used))
}
