//! The state machine between Kubernetes and the core.
//!
//! [`Shim::notice`] takes what happened outside, [`Shim::answer`] takes what the core says, and both return the actions
//! that follow, in order. The machine does no I/O and has no clock: the time comes with each call. Equal calls give
//! equal actions.
//!
//! The cost of a call depends on the pods, tasks, and applications that it is about, never on how many exist.
//! A call that does not fit the state is logged and changes nothing.

mod application;
mod bind;
mod claim;
mod configuration;
mod gang;
mod message;
mod node;
mod pod;
mod recovery;
mod standing;
mod state;
mod task;
mod timer;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::convert::amounts::Amounts;
use crate::convert::ask::ClassPreemption;
use crate::convert::event::{Event, EventKind, EventObject, Frequency};
use crate::convert::namespace::{IgnoredAnnotation, NamespaceLimits, namespace_limits};
use crate::object::{Namespace, Pod, Text};

pub use configuration::Configuration;
pub use message::{
    Action, ApiWrite, BindDone, BindError, BindRequest, BindStep, ClaimName, CoreAnswer,
    CoreMessage, CoreState, DeletePurpose, Moment, Notice, Outcome, PodIdentity, SettingsMap,
    SnapshotChange, Termination, WaitReason,
};

pub use standing::{KnownPod, Standing};

use recovery::Phase;
use state::{Age, Application, NodeEntry, PodEntry};
use timer::Timers;

/// State machine between Kubernetes and the core.
#[derive(Debug)]
pub struct Shim {
    configuration: Configuration,
    phase: Phase,
    nodes: HashMap<Text, NodeEntry>,
    /// Numbers of devices of nodes, by resource.
    devices: HashMap<Text, Amounts>,
    pods: HashMap<Text, PodEntry>,
    /// UIDs of our pods, by namespace and name.
    names: HashMap<(Text, Text), Text>,
    /// UIDs of the pods on each unknown node.
    orphans: HashMap<Text, BTreeSet<Text>>,
    applications: HashMap<Text, Application>,
    /// Limits of namespaces, with the annotations that are ignored.
    namespaces: HashMap<Text, (NamespaceLimits, Vec<IgnoredAnnotation>)>,
    /// Pods that wait until their namespace is read.
    awaited_namespaces: HashMap<Text, BTreeSet<Age>>,
    classes: HashMap<Text, ClassPreemption>,
    /// Claims that exist, and whether they are being deleted.
    claims: HashMap<ClaimName, bool>,
    /// New tasks that wait for a claim.
    blocked: BTreeMap<ClaimName, BTreeSet<Text>>,
    timers: Timers,
    now: Moment,
    /// Number of the last ticket, and of the last pod.
    counter: u64,
    /// State of the generator of placeholder names.
    seed: u64,
    actions: Vec<Action>,
}

impl Shim {
    /// Creates the machine. `seed` must differ between starts, because it makes the names of placeholders unique.
    pub fn new(configuration: Configuration, seed: u64) -> Self {
        Self {
            configuration,
            phase: Phase::Live,
            nodes: HashMap::new(),
            devices: HashMap::new(),
            pods: HashMap::new(),
            names: HashMap::new(),
            orphans: HashMap::new(),
            applications: HashMap::new(),
            namespaces: HashMap::new(),
            awaited_namespaces: HashMap::new(),
            classes: HashMap::new(),
            claims: HashMap::new(),
            blocked: BTreeMap::new(),
            timers: Timers::default(),
            now: Moment::default(),
            counter: 0,
            seed,
            actions: Vec::new(),
        }
    }

    /// Takes a notice, and returns what follows.
    pub fn notice(&mut self, now: Moment, notice: Notice) -> Vec<Action> {
        self.now = self.now.max(now);
        self.fire_timers();
        self.take_notice(notice);
        self.finish()
    }

    /// Takes a message of the core, and returns what follows.
    pub fn answer(&mut self, now: Moment, answer: CoreAnswer) -> Vec<Action> {
        self.now = self.now.max(now);
        self.fire_timers();
        match answer {
            CoreAnswer::NodeAccepted { name } => self.node_accepted(&name),
            CoreAnswer::NodeRejected { name, reason } => self.node_rejected(&name, &reason),
            CoreAnswer::ApplicationAccepted { id } => self.application_accepted(&id),
            CoreAnswer::ApplicationRejected { id, reason } => {
                self.application_rejected(&id, &reason);
            }
            CoreAnswer::ApplicationUpdated { id, state, message } => {
                self.application_updated(&id, state, &message);
            }
            CoreAnswer::Allocated { key, node } => self.allocated(&key, &node),
            CoreAnswer::Unsuited { key } => self.unsuited(&key),
            CoreAnswer::AskRejected { key, reason } => self.ask_rejected(&key, &reason),
            CoreAnswer::Released { key, termination } => self.released(&key, termination),
            CoreAnswer::Waits { key, reason, message } => self.waits(&key, reason, message),
            CoreAnswer::ConfigurationRefused { reason } => self.configuration_refused(&reason),
        }
        self.finish()
    }

    /// Returns whether the start is over, so that all recovered allocations are in the core and nodes take asks.
    pub fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Live)
    }

    /// Returns the IDs of the applications, sorted.
    pub fn applications(&self) -> Vec<Text> {
        let mut ids: Vec<Text> = self.applications.keys().cloned().collect();
        ids.sort();
        ids
    }

    /// Returns the pod with this UID.
    pub fn pod(&self, uid: &str) -> Option<Arc<Pod>> {
        Some(Arc::clone(&self.pods.get(uid)?.pod))
    }

    /// Returns the state of the task of a pod.
    pub fn task_state(&self, uid: &str) -> Option<&'static str> {
        Some(self.pods.get(uid)?.task()?.state.name())
    }

    fn take_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Listed { nodes, pods } => self.listed(&nodes, pods),
            Notice::ConfigMap { which, map } => self.config_map(which, map.as_deref()),
            Notice::Namespace(namespace) => self.namespace_applied(&namespace),
            Notice::NamespaceGone { name } => {
                self.namespaces.remove(&name);
            }
            Notice::NamespaceRead { name, namespace } => {
                self.namespace_read(&name, namespace.as_deref());
            }
            Notice::PriorityClass(class) => {
                let preemption = ClassPreemption::from(&*class);
                self.classes.insert(class.metadata.name.clone(), preemption);
            }
            Notice::PriorityClassGone { name } => {
                self.classes.remove(&name);
            }
            Notice::Claim { claim, deleting } => self.claim_applied(claim, deleting),
            Notice::ClaimGone { claim } => {
                self.claims.remove(&claim);
            }
            Notice::Node(node) => self.node_applied(&node),
            Notice::NodeDevices { name, amounts } => self.node_devices(&name, amounts),
            Notice::NodeGone { name } => self.node_gone(&name),
            Notice::Pod(pod) => self.pod_noticed(pod),
            Notice::PodGone(pod) => self.pod_gone_noticed(&pod),
            Notice::Written(outcome) => self.written(outcome),
            Notice::Tick => {}
        }
    }

    fn written(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Bind { uid, ticket, result } => self.bind_ended(&uid, ticket, result),
            Outcome::PlaceholderCreated { application, pod } => {
                self.placeholder_created(&application, pod);
            }
            Outcome::PlaceholderRefused { application, name, error } => {
                self.placeholder_refused(&application, &name, &error);
            }
            Outcome::DeleteFailed { pod, purpose, error } => {
                self.delete_failed(pod, purpose, &error);
            }
        }
    }

    fn namespace_applied(&mut self, namespace: &Namespace) {
        let name = &namespace.metadata.name;
        let (limits, ignored) = namespace_limits(namespace);
        // A repeated notice of the same annotations must not repeat the events.
        let new = (limits, ignored);
        if self.namespaces.get(name) != Some(&new) {
            for annotation in &new.1 {
                let about = EventObject::Namespace { name: name.clone() };
                self.event(about, EventKind::NamespaceIgnored, annotation.to_string());
            }
            self.namespaces.insert(name.clone(), new);
        }
    }

    fn namespace_read(&mut self, name: &Text, namespace: Option<&Namespace>) {
        if let Some(namespace) = namespace
            && !self.namespaces.contains_key(name)
        {
            self.namespace_applied(namespace);
        }
        for (_, _, uid) in self.awaited_namespaces.remove(name).unwrap_or_default() {
            self.ensure_task(&uid, NamespaceLookup::Done);
        }
        self.check_recovered();
    }

    fn finish(&mut self) -> Vec<Action> {
        if let Some(moment) = self.timers.changed_wake() {
            self.actions.push(Action::WakeAt(moment));
        }
        std::mem::take(&mut self.actions)
    }

    fn tell(&mut self, message: CoreMessage) {
        self.actions.push(Action::Tell(message));
    }

    fn write(&mut self, write: ApiWrite) {
        self.actions.push(Action::Write(write));
    }

    fn snapshot(&mut self, change: SnapshotChange) {
        self.actions.push(Action::Snapshot(change));
    }

    fn log(&mut self, line: String) {
        self.actions.push(Action::Log(line));
    }

    fn event(&mut self, about: EventObject, kind: EventKind, note: String) {
        self.actions.push(Action::Event(Event { about, kind, note }));
    }

    /// Emits an event about the pod of a task. A series is written on the originator of the application.
    fn task_event(&mut self, uid: &Text, kind: EventKind, note: String) {
        let Some(entry) = self.pods.get(uid) else { return };
        let originator = match kind.frequency() {
            Frequency::Each => None,
            Frequency::Series => entry
                .task()
                .and_then(|task| self.applications.get(&task.application))
                .and_then(|application| self.pods.get(&application.originator)),
        };
        let about = EventObject::from(&*originator.unwrap_or(entry).pod);
        self.event(about, kind, note);
    }

    /// Emits an event about the originator of an application, if its pod exists.
    fn originator_event(&mut self, application: &Text, kind: EventKind, note: String) {
        let Some(application) = self.applications.get(application) else { return };
        let Some(entry) = self.pods.get(&application.originator) else { return };
        self.event(EventObject::from(&*entry.pod), kind, note);
    }

    /// Returns the name of a pod for a note. Empty if the pod is unknown.
    fn pod_name(&self, uid: &str) -> Text {
        self.pods.get(uid).map(|entry| entry.pod.metadata.name.clone()).unwrap_or_default()
    }

    fn next_number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    fn class_of(&self, pod: &Pod) -> ClassPreemption {
        self.classes.get(&pod.spec.priority_class_name).copied().unwrap_or_default()
    }
}

/// Whether the namespace of a new application was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamespaceLookup {
    /// An unknown namespace is read first.
    Open,
    /// An unknown namespace has no limits.
    Done,
}
