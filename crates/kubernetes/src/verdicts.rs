//! Questions of the core about nodes, answered by the predicates.

use std::collections::BTreeSet;
use std::sync::Arc;

use headroom_api::headroomv1::{ExplainedPod, RefusedNodes};
use headroom_api::si::headroom::callback_reply::Answer;
use headroom_api::si::headroom::callback_request::Question;
use headroom_api::si::headroom::state_dump::Outcome;
use headroom_api::si::headroom::{
    CallbackReply, CallbackRequest, NodeVerdict, PredicatesBatch, PredicatesVerdicts,
    PreemptionPredicatesBatch, PreemptionPredicatesVerdicts, StateDump,
};
use headroom_api::si::v1::{PreemptionPredicatesArgs, PreemptionPredicatesResponse};
use headroom_pods::object::{Claim, Pod, Text};
use headroom_pods::predicate::{
    self, Code, Mode, NodeFacts, Options, PluginSet, PodFacts, Prepared, Refusal, Snapshot, Survey,
    fits_after_evictions,
};
use headroom_pods::shim::Shim;

use crate::dump;

/// Reason for all nodes if the pod of an ask is gone.
const POD_GONE: &str = "the pod is gone";
/// Reason for a node that is gone.
const NODE_GONE: &str = "the node is gone";

/// Most nodes about which the core is asked again at once for one pod.
const NODES_AT_ONCE: usize = 8;

/// What the predicates read for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predicates<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) options: Options,
}

/// Verdict on a pod and some nodes.
#[derive(Debug)]
pub(crate) struct Judged {
    /// UID of the pod.
    pub(crate) pod: Text,
    /// The plugins that refused nodes. `None` if no node was refused.
    pub(crate) refused: Option<PluginSet>,
    /// Whether the pod has devices that can keep it from other nodes, although it does not run.
    pub(crate) has_idle_devices: bool,
}

/// What can help a pod that nodes refused.
#[derive(Debug)]
pub(crate) enum Helpful {
    /// Nodes that can take the pod now, and that the core does not know yet.
    Nodes(Vec<Text>),
    /// No node can take the pod, but another one might if this claim loses its devices.
    Claim(Box<Claim>),
    /// Nothing.
    Nothing,
}

impl Predicates<'_> {
    /// Answers a question about the pods of the state machine. The second result is the verdict on the pod, if the
    /// question was about nodes for its start.
    pub(crate) fn answer(
        self,
        request: CallbackRequest,
        shim: &Shim,
    ) -> (CallbackReply, Option<Judged>) {
        let pod = |key: &str| shim.pod(key);
        let mut judged = None;
        let answer = request.question.map(|question| match question {
            Question::PredicatesBatch(batch) => {
                let (verdicts, about) = self.nodes(&batch, pod(&batch.allocation_key));
                // A reservation ignores volumes and devices, so its verdicts say nothing about the start.
                judged = batch.allocate.then_some(about);
                Answer::PredicatesBatch(verdicts)
            }
            Question::PreemptionPredicatesBatch(batch) => {
                Answer::PreemptionPredicatesBatch(self.evictions(batch, pod))
            }
            Question::StateDump(_) => Answer::StateDump(StateDump {
                outcome: Some(match dump::of(shim, self.snapshot) {
                    Ok(json) => Outcome::Json(json),
                    Err(error) => Outcome::Error(error),
                }),
            }),
        });
        (CallbackReply { id: request.id, answer }, judged)
    }

    /// Returns why a node cannot take a pod now, as a sentence. `None` if it can.
    pub(crate) fn refusal(self, pod: &Arc<Pod>, node: &str) -> Option<String> {
        let facts = PodFacts::new(Arc::clone(pod));
        let prepared = Prepared::new(self.snapshot, &facts, Mode::Allocate, self.options);
        let Some(node) = self.snapshot.node(node) else { return Some(NODE_GONE.to_owned()) };
        prepared.check(node).err().map(|refusal| sentence(&refusal))
    }

    /// Returns the verdicts of all nodes on a pod, unless the pod has a node.
    pub(crate) fn survey(self, pod: Arc<Pod>) -> ExplainedPod {
        let mut explained = ExplainedPod {
            namespace: pod.metadata.namespace.to_string(),
            name: pod.metadata.name.to_string(),
            ..ExplainedPod::default()
        };
        if !pod.spec.node_name.is_empty() {
            explained.node = Some(pod.spec.node_name.to_string());
            return explained;
        }
        let facts = PodFacts::new(pod);
        let prepared = Prepared::new(self.snapshot, &facts, Mode::Allocate, self.options);
        let Survey { nodes, fitting, refused } = Survey::of(&prepared);
        explained.nodes = Some(nodes as u64);
        explained.fitting = Some(fitting as u64);
        explained.refused = refused.into_iter().map(refused_nodes).collect();
        explained
    }

    /// Returns how many nodes can take a pod, and why others cannot, in one line.
    pub(crate) fn survey_line(self, pod: Arc<Pod>) -> String {
        let facts = PodFacts::new(pod);
        Survey::of(&Prepared::new(self.snapshot, &facts, Mode::Allocate, self.options)).line()
    }

    /// Returns what can help a pod that nodes refused: some of the nodes that can take it, except those in `known`.
    pub(crate) fn helpful(self, pod: &Arc<Pod>, known: &BTreeSet<Text>) -> Helpful {
        let facts = PodFacts::new(Arc::clone(pod));
        let prepared = Prepared::new(self.snapshot, &facts, Mode::Allocate, self.options);
        let (mut fits, mut nodes) = (false, Vec::new());
        for name in prepared.fitting().map(NodeFacts::name) {
            fits = true;
            // The pod waits for something else, such as a quota, so other nodes do not help either.
            if known.contains(name) {
                return Helpful::Nothing;
            }
            nodes.push(name.clone());
            if nodes.len() == NODES_AT_ONCE {
                break;
            }
        }
        match prepared.idle_device_claim() {
            _ if fits => Helpful::Nodes(nodes),
            Some(claim) => Helpful::Claim(Box::new(claim.clone())),
            None => Helpful::Nothing,
        }
    }

    fn nodes(self, batch: &PredicatesBatch, pod: Option<Arc<Pod>>) -> (PredicatesVerdicts, Judged) {
        let mode = if batch.allocate { Mode::Allocate } else { Mode::Reserve };
        let facts = pod.map(PodFacts::new);
        let prepared =
            facts.as_ref().map(|facts| Prepared::new(self.snapshot, facts, mode, self.options));
        let mut plugins = PluginSet::NONE;
        let mut verdict = |name: &String| -> Result<(), String> {
            let prepared = prepared.as_ref().ok_or(POD_GONE)?;
            let node = self.snapshot.node(name).ok_or(NODE_GONE)?;
            let verdict = prepared.check(node);
            if let Err(refusal) = &verdict {
                plugins = plugins.with(PluginSet::of(&[refusal.plugin()]));
            }
            verdict.map_err(|refusal| sentence(&refusal))
        };
        let nodes = batch.node_i_ds.iter().map(|name| {
            let verdict = verdict(name);
            NodeVerdict {
                node_id: name.clone(),
                ok: verdict.is_ok(),
                reason: verdict.err().unwrap_or_default(),
            }
        });
        let verdicts = PredicatesVerdicts { nodes: nodes.collect() };
        let has_idle_devices = !plugins.common(PluginSet::BY_DEVICES).is_empty()
            && prepared.as_ref().is_some_and(|prepared| prepared.idle_device_claim().is_some());
        let judged = Judged {
            pod: Text::from(&*batch.allocation_key),
            refused: (!plugins.is_empty()).then_some(plugins),
            has_idle_devices,
        };
        (verdicts, judged)
    }

    fn evictions(
        self,
        batch: PreemptionPredicatesBatch,
        pod: impl Fn(&str) -> Option<Arc<Pod>>,
    ) -> PreemptionPredicatesVerdicts {
        let candidates = batch.candidates.into_iter().map(|one| {
            let index = self.index_after_evictions(&one, pod(&one.allocation_key));
            PreemptionPredicatesResponse {
                success: index.is_some(),
                index: index.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1),
            }
        });
        PreemptionPredicatesVerdicts { candidates: candidates.collect() }
    }

    fn index_after_evictions(
        self,
        asked: &PreemptionPredicatesArgs,
        pod: Option<Arc<Pod>>,
    ) -> Option<usize> {
        let facts = PodFacts::new(pod?);
        let node = self.snapshot.node(&asked.node_id)?;
        let prepared = Prepared::new(self.snapshot, &facts, Mode::Allocate, self.options);
        let victims: Vec<Text> =
            asked.preempt_allocation_keys.iter().map(|key| Text::from(&**key)).collect();
        let start = usize::try_from(asked.start_index).unwrap_or_default();
        fits_after_evictions(&prepared, node, &victims, start)
    }
}

fn refused_nodes(group: predicate::RefusedNodes) -> RefusedNodes {
    let predicate::RefusedNodes { plugin, reason, nodes, code, example, change } = group;
    RefusedNodes {
        plugin: plugin.to_string(),
        reason,
        nodes: nodes as u64,
        example: example.to_string(),
        change,
        preemptable: match code {
            Code::Unschedulable => true,
            Code::UnschedulableAndUnresolvable | Code::Error => false,
        },
    }
}

/// Returns the message of a refusal. Suites of the reference look for its first line.
fn sentence(refusal: &Refusal) -> String {
    format!("failed plugin: '{}'\n{}", refusal.plugin(), refusal.reasons().join(", "))
}
