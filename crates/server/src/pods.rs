//! Questions about the pods of a Kubernetes cluster, for the scheduler that runs in this process.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use headroom_api::headroomv1::ExplainedPod;
use headroom_core::Name;
use tokio::sync::{mpsc, oneshot};

/// Tag of an allocation that is a pod: the namespace of the pod.
pub const POD_NAMESPACE: &str = "kubernetes.io/meta/namespace";
/// Tag of an allocation that is a pod: the name of the pod.
pub const POD_NAME: &str = "kubernetes.io/meta/podName";

/// Returns the name of the pod that an allocation is, as `namespace/name`. `None` if it is no pod, or if its key is its
/// name already.
pub fn pod_name(key: &str, tags: &BTreeMap<String, String>) -> Option<String> {
    let (namespace, name) = (tags.get(POD_NAMESPACE)?, tags.get(POD_NAME)?);
    (name != key).then(|| format!("{namespace}/{name}"))
}

/// Questions that can wait for an answer. More are refused.
const QUESTIONS_MAX: usize = 64;

/// A question about a pod.
#[derive(Debug)]
pub struct PodQuestion {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// Takes the answer. `None` if no such pod is scheduled here.
    pub answer: oneshot::Sender<Option<PodAnswer>>,
}

/// What the scheduler knows about a pod.
#[derive(Clone, Debug)]
pub struct PodAnswer {
    /// ID of its application.
    pub application: Name,
    /// Key of its ask or allocation.
    pub ask: Name,
    /// Why the core has no ask for the pod, as a sentence. `None` if the core has one.
    pub unasked: Option<String>,
    /// Verdicts of the nodes.
    pub pod: ExplainedPod,
}

/// Where questions about pods go. Without a Kubernetes scheduler, every question has no answer.
#[derive(Clone, Debug, Default)]
pub struct PodQuestions(Arc<OnceLock<mpsc::Sender<PodQuestion>>>);

/// Reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// No Kubernetes scheduler runs here, or it knows no such pod.
    NoPod,
    /// Too many questions wait, or the scheduler is ending.
    Busy,
}

impl PodQuestions {
    /// Returns the questions from now on. `None` after the first call.
    pub fn take(&self) -> Option<mpsc::Receiver<PodQuestion>> {
        let (sender, receiver) = mpsc::channel(QUESTIONS_MAX);
        self.0.set(sender).ok().map(|()| receiver)
    }

    pub(crate) async fn ask(&self, namespace: &str, name: &str) -> Result<PodAnswer, NoAnswer> {
        let questions = self.0.get().ok_or(NoAnswer::NoPod)?;
        let (answer, answered) = oneshot::channel();
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let question = PodQuestion { namespace, name, answer };
        questions.try_send(question).map_err(|_| NoAnswer::Busy)?;
        answered.await.map_err(|_| NoAnswer::Busy)?.ok_or(NoAnswer::NoPod)
    }
}
