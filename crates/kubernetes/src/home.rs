//! The loop that connects the watches, the state machine of pods, and the core.
//!
//! One task owns all state. It never waits for the API server or for the core alone: what does not fit into a queue
//! stays here, and while too much stays, the loop reads no more watches. Answers of the core are read all the time.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::OptionFuture;
use futures_util::{Stream, StreamExt as _};
use headroom_api::si::headroom::rm_message::Content;
use headroom_api::si::headroom::{RecoveryDone, RmMessage, SchedulerMessage};
use headroom_core::Name;
use headroom_pods::convert::amounts::Amounts;
use headroom_pods::object::{Container, Pod, Text};
use headroom_pods::predicate::{DeviceOffers, Options, PluginSet, PodFacts, Snapshot, is_by_class};
use headroom_pods::shim::{
    Action, ApiWrite, BindDone, BindError, BindRequest, BindStep, Configuration, CoreAnswer,
    CoreMessage, Moment, Notice, Outcome, PodIdentity, Shim, SnapshotChange, Standing, WaitReason,
};
use headroom_server::grpc::{AskWait, Interface, Lacking};
use headroom_server::{PodAnswer, PodQuestion};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, sleep_until};
use tonic::Status;

use crate::devices::{AssumedDevices, Settled};
use crate::link::{self, Received};
use crate::log_settings::LogSettings;
use crate::queue::{DeviceWrite, Observed, ToServer};
use crate::revisit::{self, Revisits};
use crate::verdicts::{Helpful, Predicates};
use crate::wait_reports::{self, WaitReports};

/// Number of messages that can wait here before the loop reads no more watches.
const WAITING_MAX: usize = 4_096;
/// Number of watch results that are processed before the loop looks at the core again.
const RESULTS_AT_ONCE: usize = 256;

/// Most resources with the names of classes. The core keeps each resource that it ever saw.
const BY_CLASS_MAX: usize = 64;
/// Most nodes whose verdicts are in a condition. With more, 40 pods in a round would keep the loop from its work.
const SURVEY_NODES_MAX: usize = 500;

/// Ends of the queues of the loop.
pub(crate) struct Queues {
    /// Results of the watches and writes.
    pub(crate) observed: mpsc::Receiver<Observed>,
    /// Writes to the API server.
    pub(crate) to_server: mpsc::Sender<ToServer>,
    /// Messages to the core.
    pub(crate) to_core: mpsc::Sender<RmMessage>,
    /// Questions of people about pods.
    pub(crate) questions: mpsc::Receiver<PodQuestion>,
}

/// State of the loop.
pub(crate) struct Home {
    /// ID of this resource manager.
    rm: String,
    log: LogSettings,
    shim: Shim,
    snapshot: Snapshot,
    options: Options,
    /// Messages to the core that wait for space in its queue.
    to_core: VecDeque<Content>,
    /// Writes that wait for space in their queue.
    to_server: VecDeque<ToServer>,
    /// Number of the last message to the core.
    sent: u64,
    /// Number of the last message of the core.
    processed: u64,
    /// Moment at which the state machine wants to be called, and the same by a clock that never steps back.
    wake_at: Option<(Moment, Instant)>,
    /// Waiting pods whose condition does not have the reason yet.
    reports: WaitReports,
    /// Waiting pods that nodes refused for reasons outside of these nodes.
    revisits: Revisits,
    /// Devices for pods that are being bound.
    devices: AssumedDevices,
    /// Nodes whose devices are to be counted.
    uncounted: BTreeSet<Text>,
    /// Resources with the names of classes that pods request.
    by_class: BTreeSet<Text>,
    /// Whether a node is gone since binds that wait for devices were checked.
    is_node_gone: bool,
    /// Outcomes of steps that ended here, for the state machine.
    own: VecDeque<Notice>,
    /// Whether these outcomes are being taken.
    takes_own: bool,
    start: Start,
}

/// How far the start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// The existing nodes and pods are not known yet.
    Unlisted,
    /// The existing nodes and pods are known.
    Listed,
    /// The core knows that all existing objects were sent.
    Recovered,
}

impl Home {
    pub(crate) fn new(configuration: Configuration, options: Options, log: LogSettings) -> Self {
        Self {
            rm: configuration.settings().cluster.to_string(),
            log,
            shim: Shim::new(configuration, rand::random()),
            snapshot: Snapshot::default(),
            options,
            to_core: VecDeque::new(),
            to_server: VecDeque::new(),
            sent: 0,
            processed: 0,
            wake_at: None,
            reports: WaitReports::default(),
            revisits: Revisits::default(),
            devices: AssumedDevices::default(),
            uncounted: BTreeSet::new(),
            by_class: BTreeSet::new(),
            is_node_gone: false,
            own: VecDeque::new(),
            takes_own: false,
            start: Start::Unlisted,
        }
    }

    /// Runs until the session or the watches end. `first` registers at the core.
    ///
    /// # Errors
    /// Returns why the core ended the session.
    pub(crate) async fn run(
        mut self,
        mut queues: Queues,
        first: Content,
        answers: impl Stream<Item = Result<SchedulerMessage, Status>>,
        core: &Interface,
    ) -> Result<(), Status> {
        tokio::pin!(answers);
        let mut reports = tokio::time::interval(wait_reports::EVERY);
        reports.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rounds = tokio::time::interval(revisit::EVERY);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (whys, mut found) = mpsc::channel(1);
        // One question at a time, so a slow core is not asked more and more.
        let mut is_asking = false;
        self.to_core.push_back(first);
        let mut batch = Vec::with_capacity(RESULTS_AT_ONCE);
        loop {
            self.changed();
            let waiting = self.to_core.len() + self.to_server.len();
            let wake = OptionFuture::from(self.wake_at.map(|(_, at)| sleep_until(at)));
            let devices = OptionFuture::from(self.devices.deadline().map(sleep_until));
            // What is due comes first. It comes at intervals, so it delays the rest only a little.
            tokio::select! {
                biased;
                Some(()) = wake => self.tick(),
                Some(()) = devices => self.settle_devices(),
                _ = reports.tick(), if !is_asking && !self.reports.is_empty() => {
                    let keys = self.reports.due(now());
                    is_asking = !keys.is_empty();
                    if !is_asking {
                        continue;
                    }
                    let (core, whys) = (core.clone(), whys.clone());
                    tokio::spawn(async move {
                        // The loop has ended if nobody waits for this.
                        let _ = whys.send(core.waits(keys).await).await;
                    });
                }
                _ = rounds.tick(), if self.has_round() => {
                    self.count_devices();
                    self.revisit();
                }
                space = queues.to_core.reserve(), if !self.to_core.is_empty() => {
                    let Ok(space) = space else { return Ok(()) };
                    if let Some(message) = self.next_message() {
                        space.send(message);
                    }
                }
                space = queues.to_server.reserve(), if !self.to_server.is_empty() => {
                    let Ok(space) = space else { return Ok(()) };
                    if let Some(write) = self.to_server.pop_front() {
                        space.send(write);
                    }
                }
                answer = answers.next() => match answer {
                    Some(answer) => self.take(answer?),
                    None => return Ok(()),
                },
                Some(waits) = found.recv() => {
                    is_asking = false;
                    self.report(waits);
                }
                input = input(&mut queues.observed, &mut queues.questions, waiting < WAITING_MAX, &mut batch) => match input {
                    Input::Observed => {
                        for observed in batch.drain(..) {
                            self.observe(observed);
                        }
                    }
                    // The answer costs a check of each node, and the caller might have disconnected.
                    Input::Question(PodQuestion { namespace, name, answer }) => {
                        if !answer.is_closed() {
                            let _ = answer.send(self.explained(&namespace, &name));
                        }
                    }
                    Input::Ended => return Ok(()),
                },
            }
        }
    }

    /// Notes which verdicts can have changed.
    fn changed(&mut self) {
        let mut changed = self.snapshot.take_changed();
        let has_devices_changed = !changed.common(PluginSet::BY_DEVICES).is_empty();
        if has_devices_changed || std::mem::take(&mut self.is_node_gone) {
            self.settle_devices();
            changed = changed.with(self.snapshot.take_changed());
        }
        self.revisits.changed(changed);
    }

    /// Returns whether something is to be done in the next round.
    fn has_round(&self) -> bool {
        self.revisits.is_due() || self.snapshot.is_device_due() || !self.uncounted.is_empty()
    }

    /// Tells the core how many devices nodes have, after they can have changed.
    fn count_devices(&mut self) {
        self.uncounted.extend(self.snapshot.take_devices_due());
        if self.uncounted.is_empty() {
            return;
        }
        let until = Instant::now() + revisit::BUDGET;
        let offers = DeviceOffers::new(self.snapshot.devices(), &self.by_class);
        let mut counted = Vec::new();
        while let Some(name) = self.uncounted.pop_first() {
            let Some(node) = self.snapshot.node(&name) else { continue };
            let mut amounts = Amounts::default();
            for (resource, number) in offers.on_node(node) {
                amounts.set(resource, number);
            }
            counted.push(Notice::NodeDevices { name, amounts });
            if Instant::now() >= until {
                break;
            }
        }
        for notice in counted {
            let actions = self.shim.notice(now(), notice);
            self.perform(actions);
        }
    }

    /// Notes the resources with the names of classes that a pod requests.
    fn note_classes(&mut self, pod: &Pod) {
        let containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
        for (name, _) in containers.flat_map(Container::requests) {
            let is_new = is_by_class(name) && self.by_class.len() < BY_CLASS_MAX;
            if is_new && self.by_class.insert(name.clone()) {
                self.snapshot.count_all_devices();
            }
        }
    }

    /// Ends the waits of binds whose devices are ready, or cannot become ready.
    fn settle_devices(&mut self) {
        for Settled { pod: uid, ticket, result } in self.devices.settled(&self.snapshot) {
            let outcome = Outcome::Bind { uid, ticket, result };
            let actions = self.shim.notice(now(), Notice::Written(outcome));
            self.perform(actions);
        }
    }

    /// Calls the state machine at the moment that it requested, also if the system's clock was set back meanwhile.
    fn tick(&mut self) {
        let Some((at, _)) = self.wake_at.take() else { return };
        let actions = self.shim.notice(now().max(at), Notice::Tick);
        self.perform(actions);
    }

    fn next_message(&mut self) -> Option<RmMessage> {
        let content = self.to_core.pop_front()?;
        self.sent += 1;
        Some(RmMessage {
            seq: self.sent,
            ack_seq: self.processed,
            content: Some(content),
            ..RmMessage::default()
        })
    }

    fn observe(&mut self, observed: Observed) {
        match observed {
            Observed::Notice(notice) => self.notice(notice),
            Observed::Change(change) => (change.0)(&mut self.snapshot),
        }
    }

    fn notice(&mut self, notice: Notice) {
        if let Notice::Listed { pods, .. } = &notice {
            if self.start == Start::Unlisted {
                self.start = Start::Listed;
            }
            for pod in pods {
                self.note_classes(pod);
            }
        }
        if let Notice::Pod(pod) = &notice {
            self.note_classes(pod);
            let uid = &pod.metadata.uid;
            let is_changed =
                || self.shim.pod(uid).is_some_and(|old| has_changed_for_nodes(&old, pod));
            if self.revisits.is_refused(uid) && is_changed() {
                self.revisits.pod_changed(uid);
            }
        }
        if let Notice::Written(Outcome::Bind { uid, result: Ok(BindDone::PodBound), .. }) = &notice
        {
            self.devices.take(uid);
            self.revisits.forget(uid);
        }
        if let Notice::Written(Outcome::Bind {
            uid,
            ticket,
            result: Ok(BindDone::DevicesAllocated),
        }) = &notice
            && self.devices.wait(uid, *ticket)
        {
            return self.settle_devices();
        }
        let gone = if let Notice::PodGone(pod) = &notice { Some(Arc::clone(pod)) } else { None };
        let actions = self.shim.notice(now(), notice);
        self.perform(actions);
        if let Some(pod) = gone {
            self.revisits.forget(&pod.metadata.uid);
            // The state machine has taken the devices back, if it was binding the pod.
            let left = self.devices.take(&pod.metadata.uid);
            if left.is_empty() {
                self.drop_assumed(&pod.metadata.uid);
            } else {
                let undo = DeviceWrite::Undo(PodIdentity::from(&*pod), left);
                self.to_server.push_back(ToServer::Devices(undo));
            }
        }
    }

    /// Drops what is still assumed for the claims of a pod that is gone. Events of the claims can be missing, if they were
    /// created and deleted between two lists.
    fn drop_assumed(&mut self, uid: &str) {
        if self.snapshot.devices().is_assumed_for(uid) {
            self.snapshot.devices_mut().drop_assumed_for(uid);
        }
    }

    /// Takes a message of the core.
    fn take(&mut self, message: SchedulerMessage) {
        self.processed = self.processed.max(message.seq);
        for received in link::received(message) {
            match received {
                Received::Answer(answer) => {
                    let answer = self.checked(answer);
                    let actions = self.shim.answer(now(), answer);
                    self.perform(actions);
                }
                Received::Question(question) => {
                    let (reply, judged) = self.predicates().answer(question, &self.shim);
                    if let Some(judged) = judged {
                        self.revisits.judged(judged);
                    }
                    self.to_core.push_back(Content::CallbackReply(reply));
                }
                // The explanation is more precise than the message.
                Received::Waits(key) => {
                    if self.shim.written_reason(&key) != Some(WaitReason::NoNode) {
                        self.reports.add_changed(now(), key);
                    }
                }
                Received::Registered => tracing::info!("the core took over the session"),
                Received::Fault(fault) => tracing::error!("the core refused a request: {fault}"),
            }
        }
    }

    /// Returns what is known about a pod, with the verdicts of all nodes if it has none.
    fn explained(&self, namespace: &str, name: &str) -> Option<PodAnswer> {
        let Standing { pod, application, unasked } = self.shim.standing(namespace, name)?;
        let ask = Name::from(pod.metadata.uid.as_str());
        let application = Name::from(application.as_str());
        let pod = self.predicates().survey(pod);
        Some(PodAnswer { application, ask, unasked, pod })
    }

    const fn predicates(&self) -> Predicates<'_> {
        Predicates { snapshot: &self.snapshot, options: self.options }
    }

    /// Checks the node of a new allocation again. Several pods can be asked about at once, and each answer ignores the
    /// others. So two pods that avoid each other could come together.
    fn checked(&self, answer: CoreAnswer) -> CoreAnswer {
        let CoreAnswer::Allocated { key, node } = &answer else { return answer };
        let Some(pod) = self.shim.pod(key).filter(|pod| pod.spec.node_name.is_empty()) else {
            return answer;
        };
        match self.predicates().refusal(&pod, node) {
            None => answer,
            Some(reason) => {
                tracing::debug!(pod = %key, %node, "not bound: {reason}");
                CoreAnswer::Unsuited { key: key.clone() }
            }
        }
    }

    /// Checks refused pods again after a change that can help them. If a node can take one now, lets the core ask about
    /// this node again.
    fn revisit(&mut self) {
        let now = Instant::now();
        let until = now + revisit::BUDGET;
        self.revisits.wake(now);
        while let Some(uid) = self.revisits.next() {
            let waits = self.shim.pod(&uid).filter(|pod| pod.spec.node_name.is_empty());
            let Some(pod) = waits else {
                self.revisits.forget(&uid);
                continue;
            };
            // A pod that is being bound counts on its node already.
            if !self.shim.waits_for_node(&uid) {
                continue;
            }
            match self.predicates().helpful(&pod, self.revisits.named(&uid)) {
                Helpful::Nodes(nodes) => {
                    for node in nodes {
                        self.revisits.name(&uid, &node);
                        self.ask_again_about(&node);
                    }
                }
                // The devices of a pod that is being bound belong to the bind.
                Helpful::Claim(claim) if !self.devices.has(&uid) => {
                    match self.devices.free(&mut self.snapshot, &uid, &claim) {
                        Ok(write) => {
                            let free = DeviceWrite::Free(PodIdentity::from(&*pod), write);
                            self.to_server.push_back(ToServer::Devices(free));
                        }
                        Err(at) => self.revisits.check_later(uid.clone(), at),
                    }
                }
                Helpful::Claim(_) | Helpful::Nothing => {}
            }
            if Instant::now() >= until {
                return;
            }
        }
    }

    /// Queues a write. Devices are selected here, because they depend on the snapshot.
    fn write(&mut self, write: ApiWrite) {
        let write = match write {
            ApiWrite::Bind(request) if request.step == BindStep::AllocateDevices => {
                return self.allocate_devices(request);
            }
            ApiWrite::UndoDevices { pod } => {
                let claims = self.devices.take(&pod.uid);
                if claims.is_empty() {
                    return;
                }
                ToServer::Devices(DeviceWrite::Undo(pod, claims))
            }
            write => ToServer::Write(write),
        };
        self.to_server.push_back(write);
    }

    fn allocate_devices(&mut self, request: BindRequest) {
        let BindRequest { pod, node, ticket, .. } = &request;
        let selected = match self.shim.pod(&pod.uid) {
            Some(pod) => self.devices.assume(&mut self.snapshot, self.options, pod, node),
            None => Err("the pod is gone".to_owned()),
        };
        match selected {
            Ok(claims) if claims.is_empty() => {
                let (uid, ticket) = (pod.uid.clone(), *ticket);
                let result = Ok(BindDone::DevicesAllocated);
                self.own.push_back(Notice::Written(Outcome::Bind { uid, ticket, result }));
            }
            Ok(claims) => {
                let write = DeviceWrite::Allocate(request, claims);
                self.to_server.push_back(ToServer::Devices(write));
            }
            Err(reason) => {
                let (uid, ticket) = (pod.uid.clone(), *ticket);
                let result = Err(BindError::Retry(format!("devices: {reason}")));
                self.own.push_back(Notice::Written(Outcome::Bind { uid, ticket, result }));
            }
        }
    }

    /// Sends the amounts of a node again, so that the core asks about the node again.
    fn ask_again_about(&mut self, node: &str) {
        if let Some(message) = self.shim.ask_again_about(node) {
            self.to_core.extend(link::requests(&self.rm, message, |key| self.shim.ask(key)));
        }
    }

    /// Performs actions in their order.
    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Tell(message) => {
                    if let CoreMessage::Ask(ask) = &message
                        && ask.node.is_empty()
                    {
                        self.reports.add(now(), ask.key.clone());
                    }
                    if let CoreMessage::Configuration { extra, .. } = &message {
                        self.log.apply(extra);
                    }
                    let contents = link::requests(&self.rm, message, |key| self.shim.ask(key));
                    self.to_core.extend(contents);
                }
                Action::Write(write) => self.write(write),
                Action::Event(event) => self.to_server.push_back(ToServer::Event(event)),
                Action::Snapshot(change) => self.change(change),
                Action::Log(line) => tracing::warn!("{line}"),
                Action::WakeAt(moment) => {
                    let millis = moment.0.saturating_sub(now().0);
                    let left = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
                    self.wake_at = Some((moment, Instant::now() + left));
                }
            }
        }
        // The outermost call takes all of them, so that the calls do not nest.
        if !std::mem::replace(&mut self.takes_own, true) {
            while let Some(notice) = self.own.pop_front() {
                self.notice(notice);
            }
            self.takes_own = false;
        }
        if self.start == Start::Listed && self.shim.is_ready() {
            self.start = Start::Recovered;
            self.to_core.push_back(Content::RecoveryDone(RecoveryDone {}));
        }
    }

    /// Reports the reasons of waiting pods to the state machine, which writes the conditions.
    fn report(&mut self, waits: Vec<AskWait>) {
        let is_small = self.snapshot.nodes().len() <= SURVEY_NODES_MAX;
        for AskWait { key, lacks, line } in waits {
            let key = Text::from(&*key);
            let reason = match lacks {
                Lacking::Nothing => {
                    self.reports.add_later(now(), key);
                    continue;
                }
                Lacking::Node => WaitReason::NoNode,
                Lacking::Other => WaitReason::Quota,
            };
            let pod = self.shim.pod(&key).filter(|_| lacks == Lacking::Node);
            let message = match pod {
                Some(pod) if is_small => {
                    format!("{line}. {}", self.predicates().survey_line(pod))
                }
                Some(_) | None => line,
            };
            let answer = CoreAnswer::Waits { key, reason, message };
            let actions = self.shim.answer(now(), answer);
            self.perform(actions);
        }
    }

    fn change(&mut self, change: SnapshotChange) {
        match change {
            SnapshotChange::SetNode(node) => {
                let name = node.metadata.name.clone();
                let is_changed = self.snapshot.node(&name).is_some_and(|old| *old.node() != *node);
                self.snapshot.put_node(node);
                if is_changed {
                    self.ask_again_about(&name);
                }
            }
            SnapshotChange::RemoveNode { name } => {
                self.snapshot.remove_node(&name);
                self.is_node_gone = true;
            }
            SnapshotChange::Place { pod, node } => {
                self.snapshot.put_pod(&node, facts(pod));
            }
            SnapshotChange::Remove { uid, node } => {
                self.snapshot.remove_pod(&node, &uid);
            }
        }
    }
}

/// What the loop takes when nothing else is due.
enum Input {
    /// Results of the watches, which are in the batch.
    Observed,
    Question(PodQuestion),
    /// The watches have ended.
    Ended,
}

/// Waits for results of the watches, if the loop reads them now, and for questions. If both are there, each comes first
/// half of the time, so neither can keep the other from being read.
async fn input(
    observed: &mut mpsc::Receiver<Observed>,
    questions: &mut mpsc::Receiver<PodQuestion>,
    reads_watches: bool,
    batch: &mut Vec<Observed>,
) -> Input {
    let watches = async {
        if !reads_watches {
            return std::future::pending().await;
        }
        match observed.recv_many(batch, RESULTS_AT_ONCE).await {
            0 => Input::Ended,
            _ => Input::Observed,
        }
    };
    let asked = async {
        match questions.recv().await {
            Some(question) => Input::Question(question),
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        input = watches => input,
        input = asked => input,
    }
}

/// Returns whether nodes can judge a changed pod differently.
fn has_changed_for_nodes(old: &Pod, new: &Pod) -> bool {
    old.spec != new.spec
        || old.metadata.labels != new.metadata.labels
        || old.status.resource_claim_statuses != new.status.resource_claim_statuses
}

fn facts(pod: Arc<Pod>) -> Arc<PodFacts> {
    Arc::new(PodFacts::new(pod))
}

/// Returns the current time of the system.
fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
