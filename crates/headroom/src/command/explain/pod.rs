//! Verdicts of the nodes of a cluster on a pod.

use std::fmt::Write as _;

use headroom_api::headroomv1::ExplainedPod;

/// Adds the verdicts of the nodes, with what would let them take the pod.
pub(super) fn show(text: &mut String, pod: &ExplainedPod) {
    // Writing to a string cannot fail.
    if let Some(node) = &pod.node {
        let _ = writeln!(text, "\nnode {node}");
    }
    let (Some(nodes), Some(fitting)) = (pod.nodes, pod.fitting) else { return };
    let _ = writeln!(text, "\nnodes, apart from quotas: {fitting} of {nodes} can take the pod");
    for group in &pod.refused {
        let (count, plugin, reason) = (group.nodes, &group.plugin, &group.reason);
        let noun = if count == 1 { "node" } else { "nodes" };
        let _ = writeln!(text, "  ✗ {plugin} refuses {count} {noun}: {reason}");
        if let Some(change) = &group.change {
            let _ = writeln!(text, "      {change}");
        }
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::headroomv1::RefusedNodes;

    use super::*;

    #[test]
    fn each_plugin_has_its_nodes_and_what_would_help() {
        let group = |plugin: &str, nodes, change: Option<&str>| RefusedNodes {
            plugin: plugin.to_owned(),
            reason: "a reason".to_owned(),
            nodes,
            example: "n1".to_owned(),
            change: change.map(str::to_owned),
            preemptable: false,
        };
        let pod = ExplainedPod {
            nodes: Some(4),
            fitting: Some(1),
            refused: vec![
                group("NodeAffinity", 2, Some("uncordon n1")),
                group("NodePorts", 1, None),
            ],
            ..ExplainedPod::default()
        };
        let mut text = String::new();
        show(&mut text, &pod);
        assert_eq!(
            text,
            "\nnodes, apart from quotas: 1 of 4 can take the pod\n  ✗ NodeAffinity refuses 2 nodes: a reason\n      \
             uncordon n1\n  ✗ NodePorts refuses 1 node: a reason\n"
        );
    }
}
