//! Plays stories: each line is a notice or an answer, and its actions are printed below it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use headroom_pods::convert::event::{Event, EventKind, EventObject};
use headroom_pods::convert::node::NodeChange;
use headroom_pods::object::{Node, Pod, Text};
use headroom_pods::shim::{
    Action, ApiWrite, BindDone, BindError, ClaimName, Configuration, CoreAnswer, CoreMessage,
    CoreState, Moment, Notice, Outcome, PodIdentity, SettingsMap, Shim, Termination, WaitReason,
};
use serde_json::{Value, json};

/// Time at which stories start and pods are created, in seconds.
const START: i64 = 1_700_000_000;

struct Story {
    shim: Shim,
    now: Moment,
    pods: BTreeMap<String, Value>,
    /// Latest bind request of each pod.
    tickets: BTreeMap<String, u64>,
    /// Creations without outcome.
    creations: VecDeque<(Text, Value)>,
    listed_nodes: Vec<Arc<Node>>,
    listed_pods: Vec<Arc<Pod>>,
    shows_snapshot: bool,
    /// Pods with a bind request without outcome.
    binding: BTreeSet<String>,
    /// Names of placeholders, which stories write as `@1`, `@2`, and so on.
    names: Vec<String>,
    out: String,
}

/// Plays a story and returns its lines with the actions.
pub(crate) fn play(story: &str) -> String {
    play_after(story, 0).0
}

/// Plays a story of a scheduler with this seed. Returns its lines with the actions, and the names of the placeholders.
pub(crate) fn play_after(story: &str, seed: u64) -> (String, Vec<String>) {
    let mut player = Story {
        shim: Shim::new(Configuration::default(), seed),
        now: Moment(START * 1000),
        pods: BTreeMap::new(),
        tickets: BTreeMap::new(),
        creations: VecDeque::new(),
        listed_nodes: Vec::new(),
        listed_pods: Vec::new(),
        shows_snapshot: false,
        binding: BTreeSet::new(),
        names: Vec::new(),
        out: String::new(),
    };
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let _ = writeln!(player.out, "{line}");
        let mut full = line.to_owned();
        for (position, name) in player.names.iter().enumerate().rev() {
            full = full.replace(&format!("@{}", position + 1), name);
        }
        player.line(&full);
    }
    for (position, name) in player.names.iter().enumerate() {
        player.out = player.out.replace(name, &format!("@{}", position + 1));
    }
    (player.out, player.names)
}

impl Story {
    fn line(&mut self, line: &str) {
        let mut words = line.split(' ');
        let verb = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let name = rest.first().copied().unwrap_or_default();
        let text = || rest.get(1..).unwrap_or_default().join(" ");
        let second = rest.get(1).copied().unwrap_or_default();
        match verb {
            "show-snapshot" => self.shows_snapshot = true,
            "silent-node" | "change-node" => self.notice(Notice::Node(node(&rest))),
            "node" => {
                self.notice(Notice::Node(node(&rest)));
                self.answer(CoreAnswer::NodeAccepted { name: name.into() });
            }
            "node-accepted" => self.answer(CoreAnswer::NodeAccepted { name: name.into() }),
            "node-rejected" => {
                self.answer(CoreAnswer::NodeRejected { name: name.into(), reason: text() });
            }
            "node-gone" => self.notice(Notice::NodeGone { name: name.into() }),
            "pod" => {
                let pod = self.pod(&rest);
                self.notice(Notice::Pod(pod));
            }
            "ends" => {
                let pod = self.change(name, |pod| pod["status"]["phase"] = "Succeeded".into());
                self.binding.remove(name);
                self.notice(Notice::Pod(pod));
            }
            "gone" => {
                let pod = self.change(name, |_| {});
                self.binding.remove(name);
                self.notice(Notice::PodGone(pod));
            }
            "list-node" => self.listed_nodes.push(node(&rest)),
            "list-pod" => {
                let pod = self.pod(&rest);
                self.listed_pods.push(pod);
            }
            "start" => {
                let nodes = std::mem::take(&mut self.listed_nodes);
                let pods = std::mem::take(&mut self.listed_pods);
                self.notice(Notice::Listed { nodes, pods });
            }
            "bind-ok" => self.bind(name, Ok(BindDone::PodBound)),
            "volumes-assumed" => self.bind(name, Ok(BindDone::VolumesAssumed)),
            "volumes-bound" => self.bind(name, Ok(BindDone::VolumesBound)),
            "devices-allocated" => self.bind(name, Ok(BindDone::DevicesAllocated)),
            "bind-retry" => self.bind(name, Err(BindError::Retry(text()))),
            "bind-final" => self.bind(name, Err(BindError::Final(text()))),
            "bind-gone" => self.bind(name, Err(BindError::Gone)),
            "bind-elsewhere" => {
                self.bind(name, Err(BindError::BoundElsewhere { node: second.into() }));
            }
            "created" => self.created(),
            "refused" => {
                let Some((application, pod)) = self.creations.pop_front() else { return };
                let name = pod["metadata"]["name"].as_str().unwrap_or_default().into();
                let error = rest.join(" ");
                self.notice(Notice::Written(Outcome::PlaceholderRefused {
                    application,
                    name,
                    error,
                }));
            }
            "delete-failed" => {
                let pod = PodIdentity::from(&*self.change(name, |_| {}));
                let purpose = headroom_pods::shim::DeletePurpose::Cleanup;
                let error = "conflict".to_owned();
                self.notice(Notice::Written(Outcome::DeleteFailed { pod, purpose, error }));
            }
            "claim" | "claim-deleting" => {
                let claim = ClaimName { namespace: "lab".into(), name: name.into() };
                self.notice(Notice::Claim { claim, deleting: verb == "claim-deleting" });
            }
            "seconds" => {
                self.now = self.now.after_seconds(name.parse().expect("a number"));
                self.notice(Notice::Tick);
            }
            "setting" => self.settings(Some(json!({ "data": { name: second } }))),
            "compressed-setting" => self.settings(Some(json!({ "binaryData": { name: second } }))),
            "no-settings" => self.settings(None),
            _ => self.core_line(line, verb, &rest),
        }
    }

    /// Replaces the config map, or deletes it.
    fn settings(&mut self, map: Option<Value>) {
        let map = map.map(|map| serde_json::from_value(map).expect("a config map"));
        let (which, map) = (SettingsMap::Configs, map.map(Box::new));
        self.notice(Notice::ConfigMap { which, map });
    }

    /// Plays an answer of the core about an application or an ask.
    fn core_line(&mut self, line: &str, verb: &str, rest: &[&str]) {
        let name = rest.first().copied().unwrap_or_default();
        let text = || rest.get(1..).unwrap_or_default().join(" ");
        let second = rest.get(1).copied().unwrap_or_default();
        match verb {
            "accepted" => self.answer(CoreAnswer::ApplicationAccepted { id: name.into() }),
            "rejected" => {
                self.answer(CoreAnswer::ApplicationRejected { id: name.into(), reason: text() });
            }
            "resuming" | "failing" | "failed" | "completed" => {
                let state = match verb {
                    "resuming" => CoreState::Resuming,
                    "failing" => CoreState::Failing,
                    "failed" => CoreState::Failed,
                    _ => CoreState::Completed,
                };
                let (id, message) = (name.into(), text());
                self.answer(CoreAnswer::ApplicationUpdated { id, state, message });
            }
            "allocated" => {
                self.answer(CoreAnswer::Allocated { key: name.into(), node: second.into() });
            }
            "ask-rejected" => {
                self.answer(CoreAnswer::AskRejected { key: name.into(), reason: text() });
            }
            "released" => {
                let termination = match second {
                    "timeout" => Termination::Timeout,
                    "preempted" => Termination::Preempted,
                    "replaced" => Termination::PlaceholderReplaced,
                    _ => Termination::StoppedByRm,
                };
                self.answer(CoreAnswer::Released { key: name.into(), termination });
            }
            "waits" => {
                let reason = if second == "quota" { WaitReason::Quota } else { WaitReason::NoNode };
                let message = "why".to_owned();
                self.answer(CoreAnswer::Waits { key: name.into(), reason, message });
            }
            _ => panic!("unknown line {line}"),
        }
    }

    fn notice(&mut self, notice: Notice) {
        let actions = self.shim.notice(self.now, notice);
        self.print(actions);
    }

    fn answer(&mut self, answer: CoreAnswer) {
        let actions = self.shim.answer(self.now, answer);
        self.print(actions);
    }

    fn bind(&mut self, name: &str, result: Result<BindDone, BindError>) {
        let Some(ticket) = self.tickets.get(name).copied() else { return };
        self.binding.remove(name);
        self.notice(Notice::Written(Outcome::Bind { uid: name.into(), ticket, result }));
    }

    /// Lets the oldest creation succeed, and shows the pod.
    fn created(&mut self) {
        let Some((application, mut pod)) = self.creations.pop_front() else { return };
        let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        pod["metadata"]["uid"] = name.as_str().into();
        pod["metadata"]["creationTimestamp"] = "2023-11-14T22:13:20Z".into();
        self.pods.insert(name.clone(), pod);
        let pod = self.change(&name, |_| {});
        let identity = PodIdentity::from(&*pod);
        let outcome = Outcome::PlaceholderCreated { application, pod: identity };
        self.notice(Notice::Written(outcome));
        self.notice(Notice::Pod(pod));
    }

    /// Creates or changes a pod: `p1 app=a1 node=n1 cpu=1 group=w groups=<JSON> claim=c devices=d gates=g foreign
    /// placeholder`. `old-app`, `queue`, and `old-queue` are other keys for the application and the queue, and
    /// `condition` is the reason for which the pod waits.
    fn pod(&mut self, words: &[&str]) -> Arc<Pod> {
        let name = words[0];
        self.pods.entry(name.to_owned()).or_insert_with(|| {
            json!({
                "metadata": {
                    "name": name, "namespace": "lab", "uid": name,
                    "creationTimestamp": "2023-11-14T22:13:20Z",
                },
                "spec": {
                    "schedulerName": "yunikorn",
                    "containers": [{ "name": "c", "resources": { "requests": { "cpu": "1" } } }],
                },
                "status": { "phase": "Pending" },
            })
        });
        self.change(name, |pod| {
            for word in &words[1..] {
                let (key, value) = word.split_once('=').unwrap_or((word, ""));
                let metadata = &mut pod["metadata"];
                match key {
                    "app" => metadata["labels"]["yunikorn.apache.org/app-id"] = value.into(),
                    "old-app" => metadata["labels"]["applicationId"] = value.into(),
                    "queue" => metadata["labels"]["yunikorn.apache.org/queue"] = value.into(),
                    "old-queue" => metadata["labels"]["queue"] = value.into(),
                    "group" => {
                        metadata["annotations"]["yunikorn.apache.org/task-group-name"] = value.into();
                    }
                    "groups" => {
                        metadata["annotations"]["yunikorn.apache.org/task-groups"] = value.into();
                    }
                    "policy" => {
                        let key = "yunikorn.apache.org/schedulingPolicyParameters";
                        metadata["annotations"][key] = value.replace('+', " ").into();
                    }
                    "placeholder" => {
                        let key = "internal.yunikorn.apache.org/placeholder";
                        metadata["annotations"][key] = "true".into();
                    }
                    "owner" => {
                        metadata["ownerReferences"] =
                            json!([{ "apiVersion": "v1", "kind": "Pod", "name": value, "uid": value }]);
                    }
                    "created" => metadata["creationTimestamp"] = value.into(),
                    "node" => pod["spec"]["nodeName"] = value.into(),
                    "foreign" => pod["spec"]["schedulerName"] = "default-scheduler".into(),
                    "phase" => pod["status"]["phase"] = value.into(),
                    "condition" => {
                        pod["status"]["conditions"] =
                            json!([{ "type": "PodScheduled", "status": "False", "reason": value }]);
                    }
                    "gates" if value.is_empty() => pod["spec"]["schedulingGates"] = json!([]),
                    "gates" => pod["spec"]["schedulingGates"] = json!([{ "name": value }]),
                    "cpu" => {
                        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = value.into();
                    }
                    "claim" => {
                        pod["spec"]["volumes"] = json!([
                            { "name": "v", "persistentVolumeClaim": { "claimName": value } }
                        ]);
                    }
                    "devices" => {
                        pod["spec"]["resourceClaims"] =
                            json!([{ "name": "d", "resourceClaimName": value }]);
                    }
                    _ => panic!("unknown word {word}"),
                }
            }
        })
    }

    fn change(&mut self, name: &str, change: impl FnOnce(&mut Value)) -> Arc<Pod> {
        let pod = self.pods.get_mut(name).expect("a pod of the story");
        change(pod);
        Arc::new(serde_json::from_value(pod.clone()).expect("a pod"))
    }

    fn print(&mut self, actions: Vec<Action>) {
        for action in actions {
            let line = match action {
                Action::Tell(message) => Some(sent(&message)),
                Action::Write(ApiWrite::ReadNamespace { name }) => {
                    // The namespace of the stories has no annotations.
                    self.notice(Notice::NamespaceRead { name, namespace: None });
                    None
                }
                Action::Write(write) => Some(self.written(write)),
                Action::Event(event) => Some(told(&event)),
                Action::Snapshot(change) => self.shows_snapshot.then(|| snapshot(&change)),
                Action::Log(line) => Some(format!("log: {line}")),
                Action::WakeAt(moment) => {
                    Some(format!("wake in {} s", (moment.0 - self.now.0) / 1000))
                }
            };
            if let Some(line) = line {
                let _ = writeln!(self.out, "    {line}");
            }
        }
    }

    fn written(&mut self, write: ApiWrite) -> String {
        match write {
            ApiWrite::Bind(request) => {
                let uid = request.pod.uid.to_string();
                assert!(self.binding.insert(uid.clone()), "two binds of {uid}:\n{}", self.out);
                self.tickets.insert(uid, request.ticket);
                format!("bind {} to {}: {:?}", request.pod.name, request.node, request.step)
            }
            ApiWrite::UndoDevices { pod } => format!("undo the devices of {}", pod.name),
            ApiWrite::UndoVolumes { pod } => format!("undo the volumes of {}", pod.name),
            ApiWrite::CreatePlaceholder { application, placeholder } => {
                let name = placeholder.name.clone();
                self.names.push(name.to_string());
                self.creations.push_back((application, placeholder.body));
                format!("create {name}")
            }
            ApiWrite::DeletePod { pod, purpose } => format!("delete {} ({purpose:?})", pod.name),
            ApiWrite::Condition { pod, reason, message } => {
                format!("condition of {}: {} {message}", pod.name, reason.condition())
            }
            ApiWrite::FailPod { pod, reason, message } => {
                format!("fail {}: {reason}: {message}", pod.name)
            }
            ApiWrite::ReadNamespace { name } => format!("read namespace {name}"),
        }
    }
}

fn node(words: &[&str]) -> Arc<Node> {
    let mut cpu = "4";
    let mut cordoned = false;
    for word in &words[1..] {
        match word.split_once('=') {
            Some(("cpu", value)) => cpu = value,
            Some(_) => panic!("unknown word {word}"),
            None => cordoned = *word == "cordoned",
        }
    }
    let node = json!({
        "metadata": { "name": words[0] },
        "spec": { "unschedulable": cordoned },
        "status": { "allocatable": { "cpu": cpu } },
    });
    Arc::new(serde_json::from_value(node).expect("a node"))
}

fn told(event: &Event) -> String {
    let (about, action) = (about(&event.about), event.kind.action());
    if event.kind == EventKind::Conflict {
        return format!("event {about}: {action}: {}", event.note);
    }
    format!("event {about}: {action}")
}

fn about(object: &EventObject) -> String {
    match object {
        EventObject::Pod { name, .. }
        | EventObject::Node { name, .. }
        | EventObject::Namespace { name }
        | EventObject::ConfigMap { name } => name.to_string(),
    }
}

fn sent(message: &CoreMessage) -> String {
    match message {
        CoreMessage::Configuration { queue_file, .. } => {
            let file = queue_file.as_ref().map(|file| format!(" with queue file {file}"));
            format!("tell: configuration{}", file.unwrap_or_default())
        }
        CoreMessage::Application(application) => {
            let force = application.tags.get("application.create.force").map(Text::as_str);
            let force = if force == Some("true") { ", forced" } else { "" };
            format!("tell: application {}{force}", application.id)
        }
        CoreMessage::RemoveApplication { id } => format!("tell: remove application {id}"),
        CoreMessage::Ask(ask) => {
            let vcore = ask.amounts.get("vcore").unwrap_or(0);
            let kind = if ask.node.is_empty() {
                format!("ask {} {vcore}m", ask.key)
            } else {
                format!("allocation {} {vcore}m on {}", ask.key, ask.node)
            };
            let originator = if ask.originator { ", originator" } else { "" };
            format!("tell: {kind}{originator}")
        }
        CoreMessage::Foreign(foreign) => {
            format!("tell: foreign {} on {}", foreign.key, foreign.node)
        }
        CoreMessage::Release { key, termination, .. } => {
            format!("tell: release {key} {}", termination.name())
        }
        CoreMessage::Node(node) => {
            let change = match &node.change {
                NodeChange::CreateDrained { .. } => "create drained",
                NodeChange::Update { .. } => "update",
                NodeChange::Drain => "drain",
                NodeChange::Resume => "resume",
                NodeChange::Decommission => "decommission",
            };
            format!("tell: node {} {change}", node.name)
        }
    }
}

fn snapshot(change: &headroom_pods::shim::SnapshotChange) -> String {
    use headroom_pods::shim::SnapshotChange;
    match change {
        SnapshotChange::SetNode(node) => format!("snapshot: node {}", node.metadata.name),
        SnapshotChange::RemoveNode { name } => format!("snapshot: no node {name}"),
        SnapshotChange::Place { pod, node } => {
            format!("snapshot: {} on {node}", pod.metadata.name)
        }
        SnapshotChange::Remove { uid, node } => format!("snapshot: {uid} left {node}"),
    }
}
