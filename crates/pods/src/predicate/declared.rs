//! `NodeDeclaredFeatures`: the kubelet of a node must declare the features that the pod needs.

use crate::object::Pod;

use super::{Context, NodeFacts, Predicate, Preparation, Refusal};

/// A feature and whether a pod needs it.
type Feature = (&'static str, fn(&Pod) -> bool);

const FEATURES: [Feature; 2] = [
    ("RestartAllContainersOnContainerExits", restarts_all_containers),
    ("UserNamespacesHostNetworkSupport", has_own_users_on_host_network),
];

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct NodeDeclaredFeatures {
    /// Features that the pod needs.
    needed: Vec<&'static str>,
}

impl<'a> Predicate<'a> for NodeDeclaredFeatures {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let needs = |feature: &&Feature| feature.1(context.pod.pod());
        let needed: Vec<_> = FEATURES.iter().filter(needs).map(|(name, _)| *name).collect();
        if needed.is_empty() { Preparation::Skip } else { Preparation::check(Self { needed }) }
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        let declared = &node.node().status.declared_features;
        let is_missing = |name: &&&str| !declared.iter().any(|feature| feature == **name);
        match self.needed.iter().find(is_missing) {
            None => Ok(()),
            Some(feature) => Err(Refusal::DeclaredFeature(feature)),
        }
    }
}

fn restarts_all_containers(pod: &Pod) -> bool {
    let mut containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    containers.any(|container| {
        container.restart_policy_rules.iter().any(|rule| rule.action == "RestartAllContainers")
    })
}

fn has_own_users_on_host_network(pod: &Pod) -> bool {
    pod.spec.host_network && pod.spec.host_users == Some(false)
}
