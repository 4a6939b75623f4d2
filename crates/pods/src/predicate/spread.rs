//! `PodTopologySpread`: the numbers of matching pods in the domains of a label differ only by so much.

use crate::object::{InclusionPolicy, Pod, Text, TopologySpreadConstraint, UnsatisfiableAction};

use super::affinity::accepts;
use super::domains::Domains;
use super::label::{is_everything, selects_some};
use super::taint::untolerated;
use super::{Context, NodeFacts, PodFacts, Predicate, Preparation, Refusal, SpreadRefusal};

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct PodTopologySpread<'a> {
    constraints: Vec<Constraint<'a>>,
}

/// A constraint that must hold, and the pods of each domain that it counts.
#[derive(Clone, Debug)]
struct Constraint<'a> {
    rule: &'a TopologySpreadConstraint,
    /// Labels of the pod that counted pods must have with the same values.
    shared: Vec<(&'a Text, &'a Text)>,
    /// Number of counted pods in each domain.
    domains: Domains<'a>,
    /// Smallest number of counted pods in a domain.
    minimum: i64,
    /// Whether the pod itself counts.
    counts_itself: bool,
}

impl<'a> Constraint<'a> {
    fn new(pod: &'a Pod, rule: &'a TopologySpreadConstraint) -> Self {
        let labels = &pod.metadata.labels;
        let shared = |key: &'a Text| labels.get(key).map(|value| (key, value));
        let shared = rule.match_label_keys.iter().filter_map(shared).collect();
        let domains = Domains::new(&rule.topology_key);
        let mut constraint = Self { rule, shared, domains, minimum: 0, counts_itself: false };
        constraint.counts_itself = constraint.selects(pod);
        constraint
    }

    fn selects(&self, pod: &Pod) -> bool {
        let labels = &pod.metadata.labels;
        // Without a selector, the shared labels alone select.
        let by_shared_only = self.rule.label_selector.is_none() && !self.shared.is_empty();
        self.shared.iter().all(|(key, value)| labels.get(key) == Some(*value))
            && (by_shared_only || selects_some(self.rule.label_selector.as_ref(), labels))
    }

    /// Returns whether the constraint counts a pod. A selector without conditions counts none.
    fn counts(&self, context: Context<'_>, pod: &Pod) -> bool {
        let selects_all =
            self.shared.is_empty() && self.rule.label_selector.as_ref().is_some_and(is_everything);
        !selects_all
            && pod.metadata.namespace == context.pod.pod().metadata.namespace
            && !pod.metadata.is_deleting()
            && self.selects(pod)
    }

    /// Returns whether the policies of the constraint count pods on this node.
    fn includes(&self, context: Context<'_>, node: &NodeFacts) -> bool {
        let by_affinity = match self.rule.node_affinity_policy {
            None | Some(InclusionPolicy::Honor) => accepts(context.pod.pod(), node.node()),
            Some(InclusionPolicy::Ignore | InclusionPolicy::Unknown) => true,
        };
        let by_taints = match self.rule.node_taints_policy {
            Some(InclusionPolicy::Honor) => untolerated(context, node.node()).is_none(),
            None | Some(InclusionPolicy::Ignore | InclusionPolicy::Unknown) => true,
        };
        by_affinity && by_taints
    }

    /// Sets the minimum after all pods were counted.
    fn set_minimum(&mut self) {
        let domains = i64::try_from(self.domains.len()).unwrap_or(i64::MAX);
        let is_short = domains < i64::from(self.rule.min_domains.unwrap_or(1));
        // Without any domain, no difference is too great.
        let minimum = self.domains.minimum().unwrap_or(i64::from(i32::MAX));
        self.minimum = if is_short { 0 } else { minimum };
    }

    fn check(&self, node: &NodeFacts) -> Result<(), SpreadRefusal> {
        let TopologySpreadConstraint { topology_key, max_skew, .. } = self.rule;
        if !node.labels().contains(topology_key) {
            return Err(SpreadRefusal::NoDomain { key: topology_key.clone() });
        }
        let skew = self.domains.count(node) + i64::from(self.counts_itself) - self.minimum;
        let limit = i64::from(*max_skew);
        if skew > limit {
            return Err(SpreadRefusal::Skew { key: topology_key.clone(), skew, limit });
        }
        Ok(())
    }
}

impl PodTopologySpread<'_> {
    /// Returns whether the node is in a domain of every constraint. Others are left out of all counts.
    fn is_counted(&self, node: &NodeFacts) -> bool {
        self.constraints
            .iter()
            .all(|constraint| node.labels().contains(&constraint.rule.topology_key))
    }
}

impl<'a> Predicate<'a> for PodTopologySpread<'a> {
    const CHANGES: bool = true;

    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let pod = context.pod.pod();
        let rules = pod.spec.topology_spread_constraints.iter().filter(|rule| {
            match rule.when_unsatisfiable {
                UnsatisfiableAction::DoNotSchedule => true,
                UnsatisfiableAction::ScheduleAnyway | UnsatisfiableAction::Unknown => false,
            }
        });
        let mut state =
            Self { constraints: rules.map(|rule| Constraint::new(pod, rule)).collect() };
        if state.constraints.is_empty() {
            return Preparation::Skip;
        }
        let is_counted: Vec<Vec<bool>> = state
            .constraints
            .iter()
            .map(|constraint| {
                let counts = |example: &PodFacts| constraint.counts(context, example.pod());
                context.snapshot.for_classes(counts)
            })
            .collect();
        for node in context.snapshot.nodes() {
            if !state.is_counted(node) {
                continue;
            }
            for (constraint, is_counted) in state.constraints.iter_mut().zip(&is_counted) {
                if constraint.includes(context, node) {
                    let counted = node.classes().filter(|(class, _)| is_counted[class.index()]);
                    let count = counted.map(|(_, count)| i64::from(count)).sum();
                    constraint.domains.add(node.node(), count);
                }
            }
        }
        state.constraints.iter_mut().for_each(Constraint::set_minimum);
        Preparation::check(state)
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        self.constraints
            .iter()
            .try_for_each(|constraint| constraint.check(node))
            .map_err(Refusal::Spread)
    }

    fn remove(&mut self, context: Context<'a>, node: &NodeFacts, victim: &PodFacts) {
        if !self.is_counted(node) {
            return;
        }
        for constraint in &mut self.constraints {
            if constraint.counts(context, victim.pod())
                && constraint.includes(context, node)
                && let Some(count) = constraint.domains.remove(node)
            {
                constraint.minimum = constraint.minimum.min(count);
            }
        }
    }
}
