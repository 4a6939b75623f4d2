//! Waiting pods that nodes refused for reasons outside of these nodes.
//!
//! The home lets the core ask again about a node that changes. A pod of another node, a volume, or a device can also let
//! a node take a pod that it refused before. After such a change, the refused pods are checked again, a few at a time. The
//! core then asks again about a node that can take one now.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::time::Duration;

use headroom_pods::object::Text;
use headroom_pods::predicate::PluginSet;
use tokio::time::Instant;

use crate::verdicts::Judged;

/// Time between two rounds of checks.
pub(crate) const EVERY: Duration = Duration::from_millis(100);
/// Time for checks in a round, a tenth of the time between rounds.
pub(crate) const BUDGET: Duration = Duration::from_millis(10);

/// Most names of nodes that are remembered for a pod. After more, nodes are named again.
const NAMED_MAX: usize = 64;

/// Refused pods, and what has changed since.
#[derive(Debug, Default)]
pub(crate) struct Revisits {
    /// Refused pods, by UID. A pod leaves when it is bound or gone.
    refused: BTreeMap<Text, Refused>,
    /// Refused pods that changed themselves. These are checked first.
    changed_pods: BTreeSet<Text>,
    /// Refused pods that are checked again at a time, whether something changes or not.
    later: BTreeMap<Text, Instant>,
    /// Plugins whose verdicts changed since the present pass began.
    changed: PluginSet,
    pass: Option<Pass>,
}

/// A pod that nodes refused.
#[derive(Debug, Default)]
struct Refused {
    /// The plugins that refused a node and read more than the node.
    plugins: PluginSet,
    /// The nodes that can take the pod, and that were named to the core since the last verdict. The pod can still wait,
    /// for example for a quota, and the core need not ask about these nodes once more.
    named: BTreeSet<Text>,
}

/// One pass through the refused pods.
#[derive(Debug)]
struct Pass {
    changed: PluginSet,
    /// The last pod that was looked at.
    last: Option<Text>,
}

impl Revisits {
    /// Notes the verdicts on a batch of nodes.
    pub(crate) fn judged(&mut self, judged: Judged) {
        let Judged { pod, refused, has_idle_devices } = judged;
        if let Some(plugins) = refused {
            // Nothing else changes before these devices are taken back.
            if has_idle_devices {
                self.changed_pods.insert(pod.clone());
            }
            let all = self.refused.entry(pod).or_default();
            all.plugins = all.plugins.with(plugins.common(PluginSet::WIDE));
            all.named.clear();
        }
    }

    pub(crate) fn is_refused(&self, pod: &Text) -> bool {
        self.refused.contains_key(pod)
    }

    /// Notes that a refused pod changed, so that every node can judge it differently.
    pub(crate) fn pod_changed(&mut self, pod: &Text) {
        if let Some(refused) = self.refused.get_mut(pod) {
            refused.named.clear();
            self.changed_pods.insert(pod.clone());
        }
    }

    /// Returns the nodes that can take a refused pod, and that were named since the last verdict on the pod.
    pub(crate) fn named(&self, pod: &Text) -> &BTreeSet<Text> {
        static NONE: BTreeSet<Text> = BTreeSet::new();
        self.refused.get(pod).map_or(&NONE, |refused| &refused.named)
    }

    /// Notes that a node can take a refused pod, and is named to the core.
    pub(crate) fn name(&mut self, pod: &Text, node: &Text) {
        let Some(refused) = self.refused.get_mut(pod) else { return };
        if refused.named.len() >= NAMED_MAX {
            refused.named.clear();
        }
        refused.named.insert(node.clone());
    }

    /// Notes that verdicts of these plugins can have changed.
    pub(crate) fn changed(&mut self, plugins: PluginSet) {
        if !self.refused.is_empty() {
            self.changed = self.changed.with(plugins);
        }
    }

    /// Lets a refused pod be checked at a time.
    pub(crate) fn check_later(&mut self, pod: Text, at: Instant) {
        self.later.insert(pod, at);
    }

    /// Lets the pods be checked whose time has come.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.changed_pods.extend(self.later.extract_if(.., |_, at| *at <= now).map(|(pod, _)| pod));
    }

    pub(crate) fn forget(&mut self, pod: &Text) {
        self.refused.remove(pod);
        self.later.remove(pod);
        self.changed_pods.remove(pod);
    }

    /// Returns whether a pod has to be checked, now or at its time.
    pub(crate) fn is_due(&self) -> bool {
        let has_pass = self.pass.is_some() || !self.changed.is_empty();
        let has_pods = !self.changed_pods.is_empty() || !self.later.is_empty();
        has_pods || (has_pass && !self.refused.is_empty())
    }

    /// Returns the next pod to check. After the last one of a pass, returns `None`.
    pub(crate) fn next(&mut self) -> Option<Text> {
        if let Some(pod) = self.changed_pods.pop_first() {
            return Some(pod);
        }
        if self.pass.is_none() {
            let changed = std::mem::take(&mut self.changed);
            self.pass = (!changed.is_empty()).then_some(Pass { changed, last: None });
        }
        let pass = self.pass.as_mut()?;
        let from = pass.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut later = self.refused.range::<Text, _>((from, Bound::Unbounded));
        let found = later.find(|(_, one)| !one.plugins.common(pass.changed).is_empty());
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

    fn judged(revisits: &mut Revisits, pod: &str, refused: Option<PluginSet>) {
        let has_idle_devices = false;
        revisits.judged(Judged { pod: pod.into(), refused, has_idle_devices });
    }

    fn pass(revisits: &mut Revisits) -> Vec<String> {
        std::iter::from_fn(|| revisits.next()).map(|pod| pod.to_string()).collect()
    }

    #[test]
    fn a_change_revisits_the_pods_that_it_can_help() {
        let mut revisits = Revisits::default();
        revisits.changed(SPREAD);
        assert!(!revisits.is_due(), "nothing was refused");
        for (pod, plugins) in [("a", SPREAD), ("b", VOLUMES), ("c", TAINTS), ("d", SPREAD)] {
            judged(&mut revisits, pod, Some(plugins));
        }
        assert!(!revisits.is_due());
        revisits.changed(SPREAD);
        assert!(revisits.is_due());
        assert_eq!(pass(&mut revisits), ["a", "d"]);
        assert!(!revisits.is_due());
        // A verdict on one node says nothing about the others.
        judged(&mut revisits, "b", None);
        for gone in ["a", "d"] {
            revisits.forget(&gone.into());
        }
        revisits.changed(SPREAD.with(VOLUMES).with(TAINTS));
        assert_eq!(
            pass(&mut revisits),
            ["b"],
            "the core asks again about a node without its taint"
        );
        revisits.pod_changed(&"c".into());
        assert!(revisits.is_due());
        assert_eq!(pass(&mut revisits), ["c"], "the pod has a toleration now");
        assert!(!revisits.is_due());
    }

    #[test]
    fn a_change_during_a_pass_begins_another_one() {
        let mut revisits = Revisits::default();
        for pod in ["a", "b"] {
            judged(&mut revisits, pod, Some(SPREAD));
        }
        revisits.changed(SPREAD);
        assert_eq!(revisits.next().as_deref(), Some("a"));
        revisits.changed(SPREAD);
        assert_eq!(pass(&mut revisits), ["b"]);
        assert!(revisits.is_due());
        assert_eq!(pass(&mut revisits), ["a", "b"]);
    }

    #[test]
    fn a_node_is_named_once_for_each_verdict() {
        let mut revisits = Revisits::default();
        let (pod, node) = ("a".into(), "n1".into());
        revisits.name(&pod, &node);
        assert!(revisits.named(&pod).is_empty(), "the pod was not refused");
        judged(&mut revisits, "a", Some(SPREAD));
        revisits.name(&pod, &node);
        revisits.name(&pod, &"n2".into());
        assert_eq!(revisits.named(&pod).len(), 2);
        judged(&mut revisits, "a", Some(TAINTS));
        assert!(revisits.named(&pod).is_empty(), "a node refused the pod meanwhile");
        for node in 0..100 {
            revisits.name(&pod, &format!("n{node}").into());
        }
        assert!(revisits.named(&pod).len() <= NAMED_MAX);
    }

    #[test]
    fn a_pod_with_idle_devices_is_checked_at_once() {
        let mut revisits = Revisits::default();
        revisits.judged(Judged { pod: "a".into(), refused: Some(TAINTS), has_idle_devices: true });
        assert!(revisits.is_due());
        assert_eq!(pass(&mut revisits), ["a"]);
        assert!(!revisits.is_due());
    }

    #[test]
    fn a_pod_is_checked_when_its_time_comes() {
        let mut revisits = Revisits::default();
        let now = Instant::now();
        judged(&mut revisits, "a", Some(TAINTS));
        revisits.check_later("a".into(), now + EVERY);
        revisits.wake(now);
        assert!(revisits.is_due(), "the rounds go on");
        assert!(pass(&mut revisits).is_empty());
        revisits.wake(now + EVERY);
        assert_eq!(pass(&mut revisits), ["a"]);
        assert!(!revisits.is_due());
        revisits.check_later("a".into(), now);
        revisits.forget(&"a".into());
        assert!(!revisits.is_due());
    }
}
