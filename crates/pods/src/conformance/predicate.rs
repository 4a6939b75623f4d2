//! Compares recorded answers of kube-scheduler's filter plugins with the answers of [`predicate`](crate::predicate).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::object::{
    Claim, CsiDriver, CsiNode, CsiStorageCapacity, DeviceClass, LabelOperator, Namespace, Node,
    PersistentVolume, PersistentVolumeClaim, Pod, ResourceSlice, StorageClass, Text,
    VolumeAttachment,
};
use crate::predicate::{
    Mode, Options, Plugin, PodFacts, Prepared, Refusal, Snapshot, fits_after_evictions,
};

use super::Decision;

/// Quirk of cases in which kube-scheduler's answer about affinity between pods follows from a fault.
const NEGATIVE_SELECTOR: &str = "negative-namespace-selector";

/// Returns whether a pod selects namespaces only by labels that they must not have.
///
/// kube-scheduler 1.36.3 takes all namespaces for it, so it can refuse a node for another reason than Headroom.
fn has_negative_selector(pod: &PodFacts) -> bool {
    let terms = pod.affinity_terms().iter().chain(pod.anti_affinity_terms());
    terms.filter_map(|term| term.namespace_selector.as_ref()).any(|selector| {
        selector.match_labels.is_empty()
            && !selector.match_expressions.is_empty()
            && selector.match_expressions.iter().all(|requirement| match requirement.operator {
                LabelOperator::NotIn | LabelOperator::DoesNotExist => true,
                LabelOperator::In | LabelOperator::Exists | LabelOperator::Unknown => false,
            })
    })
}

/// Feature gate that lets tolerations compare integers.
const COMPARES_TAINTS: &str = "TaintTolerationComparisonOperators";

/// One recorded case.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// What the input contains.
    pub covers: Vec<String>,
    quirks: Vec<String>,
    gates: BTreeMap<String, bool>,
    cluster: Cluster,
    pod: Pod,
    preempt: Option<Question>,
    result: Answer,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Cluster {
    nodes: Vec<Node>,
    namespaces: Vec<Namespace>,
    pods: Vec<Pod>,
    persistent_volumes: Vec<PersistentVolume>,
    persistent_volume_claims: Vec<PersistentVolumeClaim>,
    storage_classes: Vec<StorageClass>,
    csi_nodes: Vec<CsiNode>,
    csi_drivers: Vec<CsiDriver>,
    volume_attachments: Vec<VolumeAttachment>,
    csi_storage_capacities: Vec<CsiStorageCapacity>,
    resource_claims: Vec<Claim>,
    resource_slices: Vec<ResourceSlice>,
    device_classes: Vec<DeviceClass>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Question {
    node: Text,
    victims: Vec<Text>,
    start: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    pre_filter: BTreeMap<String, PreFilterAnswer>,
    filter: BTreeMap<String, BTreeMap<String, Verdict>>,
    fits: BTreeSet<String>,
    yunikorn: YuniKorn,
    preempt: Option<PreemptAnswer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PreFilterAnswer {
    code: Option<String>,
    reasons: Vec<String>,
    nodes: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Verdict {
    code: String,
    reasons: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct YuniKorn {
    reserve: BTreeMap<String, (String, String)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PreemptAnswer {
    fits_before: bool,
    kube: i64,
}

/// What a comparison is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The verdict of all plugins.
    Fits,
    /// The verdict of one plugin.
    Plugin(Plugin),
    /// The verdict for a reservation.
    Reserve,
    /// Evictions.
    Preempt,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits => f.write_str("fits"),
            Self::Plugin(plugin) => plugin.fmt(f),
            Self::Reserve => f.write_str("reserve"),
            Self::Preempt => f.write_str("preempt"),
        }
    }
}

/// How much differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The verdict.
    Verdict,
    /// Only the code of a refusal.
    Code,
    /// Only the text of the reasons.
    Reasons,
}

/// A difference between the recorded answer and ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What differs.
    pub subject: Subject,
    /// How much differs.
    pub weight: Weight,
    /// Node that the verdict is about. Empty for the pod as a whole.
    pub node: String,
    /// The recorded answer.
    pub recorded: String,
    /// Our answer.
    pub ours: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, node, recorded, ours, .. } = self;
        write!(f, "{subject} {node}: recorded {recorded}, ours {ours}")
    }
}

/// Result of the comparison of one case.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Differences of verdicts and codes.
    pub differences: Vec<Difference>,
    /// Differences only of words, which do not count.
    pub wording: Vec<Difference>,
    /// Decisions that explain differences. These differences are left out.
    pub decisions: BTreeSet<Decision>,
}

/// Compares one case.
pub fn compare(case: Case) -> Comparison {
    let has_quirk = case.quirks.iter().any(|quirk| quirk == NEGATIVE_SELECTOR);
    let options =
        Options { compares_taints: case.gates.get(COMPARES_TAINTS).copied().unwrap_or(false) };
    let snapshot = snapshot(case.cluster);
    let pod = PodFacts::new(Arc::new(case.pod));
    let prepared = Prepared::new(&snapshot, &pod, Mode::Allocate, options);
    let mut comparison = Comparison::default();
    for plugin in Plugin::ALL {
        comparison.compare_plugin(*plugin, &snapshot, &prepared, &case.result);
    }
    let reserve = Prepared::new(&snapshot, &pod, Mode::Reserve, options);
    for node in snapshot.nodes() {
        let name = node.name().to_string();
        let fits = case.result.fits.contains(&name);
        comparison.compare_passing(Subject::Fits, &name, fits, prepared.check(node));
        let fits = !case.result.yunikorn.reserve.contains_key(&name);
        comparison.compare_passing(Subject::Reserve, &name, fits, reserve.check(node));
    }
    if let (Some(question), Some(answer)) = (case.preempt, case.result.preempt) {
        comparison.compare_evictions(&snapshot, &prepared, &question, &answer);
    }
    if has_quirk || has_negative_selector(&pod) {
        comparison.accept_negative_selector(has_quirk);
    }
    comparison
}

impl Comparison {
    /// Leaves out what follows from the meaning of a negative namespace selector.
    ///
    /// The answer of `InterPodAffinity` has another code, or, with the quirk, is another verdict of this plugin and
    /// of all plugins together.
    fn accept_negative_selector(&mut self, has_quirk: bool) {
        let before = self.differences.len();
        self.differences.retain(|difference| match difference.subject {
            Subject::Plugin(Plugin::InterPodAffinity) => {
                !has_quirk && difference.weight != Weight::Code
            }
            Subject::Plugin(_) => true,
            Subject::Fits | Subject::Reserve | Subject::Preempt => !has_quirk,
        });
        if self.differences.len() < before {
            self.decisions.insert(Decision::NegativeSelector);
        }
    }

    fn differ(
        &mut self,
        subject: Subject,
        weight: Weight,
        node: &str,
        recorded: impl fmt::Debug,
        ours: impl fmt::Debug,
    ) {
        let differences = match weight {
            Weight::Verdict | Weight::Code => &mut self.differences,
            Weight::Reasons => &mut self.wording,
        };
        differences.push(Difference {
            subject,
            weight,
            node: node.to_owned(),
            recorded: format!("{recorded:?}"),
            ours: format!("{ours:?}"),
        });
    }

    fn compare_passing(
        &mut self,
        subject: Subject,
        node: &str,
        recorded: bool,
        ours: Result<(), Refusal>,
    ) {
        if recorded != ours.is_ok() {
            self.differ(subject, Weight::Verdict, node, recorded, ours);
        }
    }

    fn compare_plugin(
        &mut self,
        plugin: Plugin,
        snapshot: &Snapshot,
        prepared: &Prepared<'_>,
        answer: &Answer,
    ) {
        let subject = Subject::Plugin(plugin);
        let prepare = answer.pre_filter.get(plugin.name());
        let recorded = prepare.and_then(|answer| {
            let code = answer.code.clone()?;
            Some(Verdict { code, reasons: answer.reasons.clone() })
        });
        let ours = prepared.plugin_refusal(plugin).map(verdict);
        self.compare_verdicts(subject, "", recorded.as_ref(), ours.as_ref());
        if recorded.is_some() || ours.is_some() {
            return;
        }
        if plugin == Plugin::NodeAffinity {
            let recorded = prepare.and_then(|answer| answer.nodes.clone());
            let ours = prepared.eligible_nodes();
            let ours = ours.map(|names| names.iter().map(ToString::to_string).collect());
            if recorded != ours {
                self.differ(subject, Weight::Verdict, "", recorded, ours);
            }
        }
        for node in snapshot.nodes() {
            let name = node.name().as_str();
            let recorded = answer.filter.get(name).and_then(|it| it.get(plugin.name()));
            let ours = prepared.check_plugin(plugin, node).err();
            let ours = ours.as_ref().map(verdict);
            self.compare_verdicts(subject, name, recorded, ours.as_ref());
        }
    }

    fn compare_verdicts(
        &mut self,
        subject: Subject,
        node: &str,
        recorded: Option<&Verdict>,
        ours: Option<&Verdict>,
    ) {
        let code = |verdict: Option<&Verdict>| verdict.map(|verdict| verdict.code.clone());
        if recorded.is_some() != ours.is_some() {
            self.differ(subject, Weight::Verdict, node, recorded, ours);
        } else if code(recorded) != code(ours) {
            self.differ(subject, Weight::Code, node, recorded, ours);
        } else if recorded != ours {
            self.differ(subject, Weight::Reasons, node, recorded, ours);
        }
    }

    fn compare_evictions(
        &mut self,
        snapshot: &Snapshot,
        prepared: &Prepared<'_>,
        question: &Question,
        answer: &PreemptAnswer,
    ) {
        let Some(node) = snapshot.node(&question.node) else { return };
        let before = prepared.check(node);
        self.compare_passing(Subject::Preempt, &question.node, answer.fits_before, before);
        let recorded = usize::try_from(answer.kube).ok();
        let ours = fits_after_evictions(prepared, node, &question.victims, question.start);
        if recorded != ours {
            self.differ(Subject::Preempt, Weight::Verdict, &question.node, recorded, ours);
        }
    }
}

fn verdict(refusal: &Refusal) -> Verdict {
    let mut reasons = refusal.reasons();
    reasons.sort();
    Verdict { code: refusal.code().name().to_owned(), reasons }
}

/// Builds the facts of a recorded cluster.
fn snapshot(cluster: Cluster) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for node in cluster.nodes {
        snapshot.put_node(Arc::new(node));
    }
    for namespace in cluster.namespaces {
        snapshot.put_namespace(namespace.metadata.name, namespace.metadata.labels);
    }
    for pod in cluster.pods.into_iter().filter(|pod| !pod.is_terminated()) {
        let node = pod.spec.node_name.clone();
        snapshot.put_pod(&node, Arc::new(PodFacts::new(Arc::new(pod))));
    }
    macro_rules! fill {
        ($table:expr, $objects:expr) => {
            for object in $objects {
                $table.insert(object.metadata.name.clone(), Arc::new(object));
            }
        };
    }
    macro_rules! fill_namespaced {
        ($table:expr, $objects:expr) => {
            for object in $objects {
                let metadata = &object.metadata;
                let (namespace, name) = (metadata.namespace.clone(), metadata.name.clone());
                $table.insert(namespace, name, Arc::new(object));
            }
        };
    }
    let storage = snapshot.storage_mut();
    fill!(storage.volumes, cluster.persistent_volumes);
    fill!(storage.classes, cluster.storage_classes);
    fill!(storage.csi_nodes, cluster.csi_nodes);
    fill!(storage.csi_drivers, cluster.csi_drivers);
    fill!(storage.attachments, cluster.volume_attachments);
    fill_namespaced!(storage.claims, cluster.persistent_volume_claims);
    fill_namespaced!(storage.capacities, cluster.csi_storage_capacities);
    for slice in cluster.resource_slices {
        let name = slice.metadata.name.clone();
        snapshot.set_slice(&name, Some(Arc::new(slice)));
    }
    for class in cluster.device_classes {
        let name = class.metadata.name.clone();
        snapshot.set_device_class(&name, Some(Arc::new(class)));
    }
    for claim in cluster.resource_claims {
        snapshot.devices_mut().put_claim(Arc::new(claim));
    }
    snapshot
}
