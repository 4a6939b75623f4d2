//! `InterPodAffinity`: pods can attract and avoid each other.

use crate::object::{Labels, Pod, PodAffinityTerm, Text};

use super::domains::Domains;
use super::label::{is_everything, selects, selects_some};
use super::{Context, InterPodRefusal, NodeFacts, PodFacts, Predicate, Preparation, Refusal};

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct InterPodAffinity<'a> {
    /// Terms of affinity of the pod. Their domains have the pods that match all of them.
    affinity: Vec<Term<'a>>,
    /// Number of pods in the domains of all terms of affinity together.
    wanted: i64,
    /// Terms of anti-affinity of the pod. Their domains have the pods that match the term.
    anti_affinity: Vec<Term<'a>>,
    /// Terms of pods on nodes that avoid the pod, by the key of their label.
    avoiding: Vec<Domains<'a>>,
}

/// A term of the pod to place, with its namespaces and domains.
#[derive(Clone, Debug)]
struct Term<'a> {
    rule: &'a PodAffinityTerm,
    namespaces: Namespaces<'a>,
    domains: Domains<'a>,
}

#[derive(Clone, Debug)]
enum Namespaces<'a> {
    All,
    Listed(Vec<&'a str>),
}

impl<'a> Term<'a> {
    fn new(context: Context<'a>, rule: &'a PodAffinityTerm) -> Self {
        let mut listed: Vec<&str> = rule.namespaces.iter().map(Text::as_str).collect();
        let namespaces = match &rule.namespace_selector {
            Some(selector) if is_everything(selector) => Namespaces::All,
            Some(selector) => {
                let known = context.snapshot.namespaces();
                let selected = known.filter(|(_, labels)| selects(selector, labels));
                listed.extend(selected.map(|(name, _)| name.as_str()));
                Namespaces::Listed(listed)
            }
            None if listed.is_empty() => {
                Namespaces::Listed(vec![&context.pod.pod().metadata.namespace])
            }
            None => Namespaces::Listed(listed),
        };
        Self { rule, namespaces, domains: Domains::new(&rule.topology_key) }
    }

    fn matches(&self, pod: &Pod) -> bool {
        let in_namespace = match &self.namespaces {
            Namespaces::All => true,
            Namespaces::Listed(names) => names.contains(&pod.metadata.namespace.as_str()),
        };
        in_namespace && selects_some(self.rule.label_selector.as_ref(), &pod.metadata.labels)
    }
}

/// Returns whether a term of `owner`, which is on a node, is about the pod to place.
fn avoids(context: Context<'_>, owner: &Pod, rule: &PodAffinityTerm) -> bool {
    static UNKNOWN: std::sync::LazyLock<Labels> = std::sync::LazyLock::new(Labels::default);
    let pod = context.pod.pod();
    let namespace = &pod.metadata.namespace;
    let is_own = || {
        rule.namespaces.is_empty()
            && rule.namespace_selector.is_none()
            && owner.metadata.namespace == *namespace
    };
    let is_selected = || {
        let labels = context.snapshot.namespace(namespace).unwrap_or(&UNKNOWN);
        selects_some(rule.namespace_selector.as_ref(), labels)
    };
    (rule.namespaces.contains(namespace) || is_own() || is_selected())
        && selects_some(rule.label_selector.as_ref(), &pod.metadata.labels)
}

/// What the terms have to do with the pods of a class.
#[derive(Default)]
struct Matches<'a> {
    /// Whether the pods match all terms of affinity.
    affinity: bool,
    /// Positions of the terms of anti-affinity that the pods match.
    anti_affinity: Vec<usize>,
    /// Keys of the terms by which the pods avoid the pod to place.
    avoiding: Vec<&'a Text>,
}

impl Matches<'_> {
    fn is_empty(&self) -> bool {
        !self.affinity && self.anti_affinity.is_empty() && self.avoiding.is_empty()
    }
}

/// Returns whether a pod matches all terms. Without terms, none does.
fn matches_all(terms: &[Term<'_>], pod: &Pod) -> bool {
    !terms.is_empty() && terms.iter().all(|term| term.matches(pod))
}

impl<'a> InterPodAffinity<'a> {
    /// Counts pods of a class on a node.
    fn count(&mut self, node: &'a NodeFacts, matches: &Matches<'a>, pods: i64) {
        if matches.affinity {
            for term in &mut self.affinity {
                term.domains.add(node.node(), pods);
                let in_domain = node.labels().contains(&term.rule.topology_key);
                self.wanted += if in_domain { pods } else { 0 };
            }
        }
        for position in &matches.anti_affinity {
            self.anti_affinity[*position].domains.add(node.node(), pods);
        }
        for key in &matches.avoiding {
            if !node.labels().contains(key) {
                continue;
            }
            if let Some(domains) = self.avoiding.iter_mut().find(|it| it.key() == *key) {
                domains.add(node.node(), pods);
            } else {
                let mut domains = Domains::new(key);
                domains.add(node.node(), pods);
                self.avoiding.push(domains);
            }
        }
    }

    fn is_wanted_here(&self, context: Context<'_>, node: &NodeFacts) -> bool {
        if !self.affinity.iter().all(|term| node.labels().contains(&term.rule.topology_key)) {
            return false;
        }
        if self.affinity.iter().all(|term| term.domains.count(node) > 0) {
            return true;
        }
        // The first pod of a group cannot wait for others, so it can attract itself.
        self.wanted == 0 && matches_all(&self.affinity, context.pod.pod())
    }
}

impl<'a> Predicate<'a> for InterPodAffinity<'a> {
    const CHANGES: bool = true;

    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let terms = |rules: &'a [PodAffinityTerm]| -> Vec<_> {
            rules.iter().map(|rule| Term::new(context, rule)).collect()
        };
        let mut state = Self {
            affinity: terms(context.pod.affinity_terms()),
            wanted: 0,
            anti_affinity: terms(context.pod.anti_affinity_terms()),
            avoiding: Vec::new(),
        };
        let matches = context.snapshot.for_classes(|example| Matches {
            affinity: matches_all(&state.affinity, example.pod()),
            anti_affinity: state
                .anti_affinity
                .iter()
                .enumerate()
                .filter(|(_, term)| term.matches(example.pod()))
                .map(|(position, _)| position)
                .collect(),
            avoiding: example
                .anti_affinity_terms()
                .iter()
                .filter(|rule| avoids(context, example.pod(), rule))
                .map(|rule| &rule.topology_key)
                .collect(),
        });
        if matches.iter().any(|matches| !matches.is_empty()) {
            for node in context.snapshot.nodes() {
                for (class, pods) in node.classes() {
                    let matches = &matches[class.index()];
                    if !matches.is_empty() {
                        state.count(node, matches, i64::from(pods));
                    }
                }
            }
        }
        let has_terms = !state.affinity.is_empty() || !state.anti_affinity.is_empty();
        if !has_terms && state.avoiding.is_empty() {
            return Preparation::Skip;
        }
        Preparation::check(state)
    }

    fn check(&self, context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        let refuse = |refusal| Err(Refusal::InterPod(refusal));
        if !self.is_wanted_here(context, node) {
            return refuse(InterPodRefusal::Affinity);
        }
        if self.anti_affinity.iter().any(|term| term.domains.count(node) > 0) {
            return refuse(InterPodRefusal::AntiAffinity);
        }
        if self.avoiding.iter().any(|domains| domains.count(node) > 0) {
            return refuse(InterPodRefusal::ExistingAntiAffinity);
        }
        Ok(())
    }

    fn remove(&mut self, context: Context<'a>, node: &NodeFacts, victim: &PodFacts) {
        if matches_all(&self.affinity, victim.pod()) {
            for term in &mut self.affinity {
                self.wanted -= i64::from(term.domains.remove(node).is_some());
            }
        }
        for term in self.anti_affinity.iter_mut().filter(|term| term.matches(victim.pod())) {
            term.domains.remove(node);
        }
        let rules = victim.anti_affinity_terms().iter();
        for rule in rules.filter(|rule| avoids(context, victim.pod(), rule)) {
            let key = &rule.topology_key;
            if let Some(domains) = self.avoiding.iter_mut().find(|it| it.key() == key) {
                domains.remove(node);
            }
        }
    }
}
