//! What the scheduler knows about one of our pods, for people who ask.

use std::sync::Arc;

use crate::convert::identity::application_id;
use crate::object::{Pod, Text};

use super::Shim;
use super::state::{ApplicationState, Place, PodKind, TaskState};

/// What the scheduler knows about one of our pods.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The pod.
    pub pod: Arc<Pod>,
    /// ID of its application.
    pub application: Text,
    /// Why the core has no ask for the pod, as a sentence. `None` if the core has one.
    pub unasked: Option<String>,
}

/// What the state dump has about a pod.
#[derive(Clone, Copy, Debug)]
pub struct KnownPod<'a> {
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// Name of its node, also of a node that the API server does not know yet. Empty without a node.
    pub node: &'a str,
    /// Whether another scheduler places the pod.
    pub is_foreign: bool,
    /// ID of its application. `None` for a foreign pod, or one that no application has yet.
    pub application: Option<&'a str>,
    /// State of its task, under the same condition.
    pub state: Option<&'static str>,
}

impl Shim {
    /// Returns all pods that have not ended, in no order.
    pub fn known_pods(&self) -> impl Iterator<Item = KnownPod<'_>> {
        self.pods.values().map(|entry| KnownPod {
            pod: &entry.pod,
            node: match &entry.place {
                Place::Nowhere => "",
                Place::Node(node) | Place::Orphan(node) => node,
            },
            is_foreign: matches!(entry.kind, PodKind::Foreign { .. }),
            application: entry.task().map(|task| task.application.as_str()),
            state: entry.task().map(|task| task.state.name()),
        })
    }

    /// Returns the applications with their states, in no order.
    pub fn application_states(&self) -> impl ExactSizeIterator<Item = (&Text, &'static str)> {
        self.applications.iter().map(|(id, application)| (id, application.state.name()))
    }

    /// Returns what is known about a pod. `None` if it is not one of ours, or has ended.
    pub fn standing(&self, namespace: &str, name: &str) -> Option<Standing> {
        let uid = self.names.get(&(Text::from(namespace), Text::from(name)))?;
        let entry = self.pods.get(uid)?;
        let settings = self.configuration.settings();
        let application = match entry.task() {
            Some(task) => task.application.clone(),
            None => application_id(&entry.pod, settings.generated_ids),
        };
        let unasked = self.why_unasked(uid, &application);
        Some(Standing { pod: Arc::clone(&entry.pod), application, unasked })
    }

    /// Returns whether the core has the ask of a pod, and the pod is not being bound.
    pub fn waits_for_node(&self, uid: &str) -> bool {
        let task = self.pods.get(uid).and_then(|entry| entry.task());
        task.is_some_and(|task| matches!(task.state, TaskState::Scheduling { .. }))
    }

    fn why_unasked(&self, uid: &Text, application: &Text) -> Option<String> {
        let entry = self.pods.get(uid)?;
        if let Place::Orphan(node) = &entry.place {
            return Some(format!("The pod is on node {node}, which the scheduler does not know."));
        }
        let Some(task) = entry.task() else {
            let gates = &entry.pod.spec.scheduling_gates;
            if gates.is_empty() {
                return Some(format!(
                    "Application {application} ends first. Then the pod starts a new application."
                ));
            }
            let gates: Vec<&str> = gates.iter().map(|gate| &*gate.name).collect();
            let gates = gates.join(", ");
            return Some(format!(
                "The pod waits until another controller removes its scheduling gates: {gates}."
            ));
        };
        match &task.state {
            TaskState::Scheduling { .. } | TaskState::Allocated(_) | TaskState::Bound(_) => None,
            TaskState::Failed => {
                Some("The scheduler refused the pod. Its events have the reason.".to_owned())
            }
            TaskState::New => Some(self.why_new(task.claim_fault.is_some(), application)),
        }
    }

    fn why_new(&self, lacks_claim: bool, application: &Text) -> String {
        if lacks_claim {
            return "A claim of the pod is missing or being deleted. Create the claim.".to_owned();
        }
        let state = self.applications.get(application).map(|application| application.state);
        match state {
            Some(ApplicationState::Reserving) => format!(
                "The pod waits until all placeholders of the gang of application {application} have nodes."
            ),
            Some(ApplicationState::Resuming) => format!(
                "The pod waits until the placeholders of application {application} are deleted."
            ),
            Some(ApplicationState::Failing | ApplicationState::Failed) => {
                format!("Application {application} has failed. Its events have the reason.")
            }
            Some(ApplicationState::Submitted | ApplicationState::Running) | None => {
                format!("The pod waits until application {application} is accepted.")
            }
        }
    }
}
