//! Waiting pods that nodes refused for reasons outside of these nodes.
//!
//! The core asks again about a node that changes. A pod of another node, a volume, or a device can also let a node take
//! a pod that it refused before. After such a change, the refused pods are checked again, a few at a time, and the core
//! is told about the nodes that can take one now.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use headroom_pods::object::Text;
use headroom_pods::predicate::PluginSet;

/// Time between two rounds of checks.
pub(crate) const EVERY: Duration = Duration::from_millis(100);
/// Time for checks in a round, a tenth of the time between rounds.
pub(crate) const BUDGET: Duration = Duration::from_millis(10);

/// Refused pods, and what has changed since.
#[derive(Debug, Default)]
pub(crate) struct Revisits {
    /// UIDs, with the plugins that refused a node and read more than the node.
    refused: BTreeMap<Text, PluginSet>,
    /// Plugins whose verdicts changed since the present pass began.
    changed: PluginSet,
    pass: Option<Pass>,
}

/// One pass through the refused pods.
#[derive(Debug)]
struct Pass {
    changed: PluginSet,
    /// The last pod that was looked at.
    last: Option<Text>,
}

impl Revisits {
    /// Notes the verdicts on a batch of nodes: the plugins that refused nodes, or `None` if a node can take the pod.
    pub(crate) fn judged(&mut self, pod: &Text, refused: Option<PluginSet>) {
        let Some(plugins) = refused else {
            self.refused.remove(pod);
            return;
        };
        let plugins = plugins.common(PluginSet::WIDE);
        if !plugins.is_empty() {
            let all = self.refused.entry(pod.clone()).or_default();
            *all = all.with(plugins);
        }
    }

    /// Notes that verdicts of these plugins can have changed.
    pub(crate) fn changed(&mut self, plugins: PluginSet) {
        if !self.refused.is_empty() {
            self.changed = self.changed.with(plugins);
        }
    }

    pub(crate) fn forget(&mut self, pod: &Text) {
        self.refused.remove(pod);
    }

    /// Returns whether a pod has to be checked.
    pub(crate) fn is_due(&self) -> bool {
        !self.refused.is_empty() && (self.pass.is_some() || !self.changed.is_empty())
    }

    /// Returns the next pod to check. After the last one of a pass, returns `None`.
    pub(crate) fn next(&mut self) -> Option<Text> {
        if self.pass.is_none() {
            let changed = std::mem::take(&mut self.changed);
            self.pass = (!changed.is_empty()).then_some(Pass { changed, last: None });
        }
        let pass = self.pass.as_mut()?;
        let from = pass.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut later = self.refused.range::<Text, _>((from, Bound::Unbounded));
        let found = later.find(|(_, plugins)| !plugins.common(pass.changed).is_empty());
        let pod = found.map(|(pod, _)| pod.clone());
        if pod.is_some() {
            pass.last.clone_from(&pod);
        } else {
            self.pass = None;
        }
        pod
    }
}

#[cfg(test)]
mod tests {
    use headroom_pods::predicate::Plugin;

    use super::*;

    const SPREAD: PluginSet = PluginSet::of(&[Plugin::PodTopologySpread]);
    const VOLUMES: PluginSet = PluginSet::of(&[Plugin::VolumeBinding]);
    const TAINTS: PluginSet = PluginSet::of(&[Plugin::TaintToleration]);

    fn pass(revisits: &mut Revisits) -> Vec<String> {
        std::iter::from_fn(|| revisits.next()).map(|pod| pod.to_string()).collect()
    }

    #[test]
    fn a_change_revisits_the_pods_that_it_can_help() {
        let mut revisits = Revisits::default();
        revisits.changed(SPREAD);
        assert!(!revisits.is_due(), "nothing was refused");
        for (pod, plugins) in [("a", SPREAD), ("b", VOLUMES), ("c", TAINTS), ("d", SPREAD)] {
            revisits.judged(&pod.into(), Some(plugins));
        }
        assert!(!revisits.is_due());
        revisits.changed(SPREAD);
        assert!(revisits.is_due());
        assert_eq!(pass(&mut revisits), ["a", "d"]);
        assert!(!revisits.is_due());
        revisits.judged(&"a".into(), None);
        revisits.forget(&"d".into());
        revisits.changed(SPREAD.with(VOLUMES).with(TAINTS));
        assert_eq!(
            pass(&mut revisits),
            ["b"],
            "the core asks again about a node without its taint"
        );
    }

    #[test]
    fn a_change_during_a_pass_begins_another_one() {
        let mut revisits = Revisits::default();
        for pod in ["a", "b"] {
            revisits.judged(&pod.into(), Some(SPREAD));
        }
        revisits.changed(SPREAD);
        assert_eq!(revisits.next().as_deref(), Some("a"));
        revisits.changed(SPREAD);
        assert_eq!(pass(&mut revisits), ["b"]);
        assert!(revisits.is_due());
        assert_eq!(pass(&mut revisits), ["a", "b"]);
    }
}
