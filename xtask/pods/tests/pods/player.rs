//! Plays a history as pods: the engine goes by hand, and everything else is the Kubernetes scheduler.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use conformance_sockets::{ByHand, messages, without_strict_guarantee};
use headroom_api::headroomv1::LogLevel;
use headroom_api::si::v1;
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_core::books::{Books, Partition};
use headroom_core::resource::Resources;
use headroom_core::{Name, Scheduler};
use headroom_engine::{Handle, Notice, NoticeKind};
use headroom_kubernetes::Options;
use headroom_kubernetes::client::path;
use headroom_server::grpc::{Interface, Settings};
use headroom_server::{LogLevels, Service};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use xtask::conformance::scenario::{Home, Outcome, Told, snapshot};

use super::extent::Extent;
use super::objects::{self, Submitted};
use super::ruled::without_pods;
use super::world::{DEFAULT, World};

/// Time within which something must happen.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks at something that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The only partition.
const PARTITION: &str = "default";

/// A history in the middle.
pub(crate) struct Player<'w> {
    world: &'w World,
    config: String,
    extent: Extent,
    /// Only absent while the player is dropped.
    engine: Option<ByHand>,
    handle: Handle,
    service: Service,
    interface: Interface,
    scheduler: Option<JoinHandle<()>>,
    told: Told,
    /// Last record of the engine that was heard.
    heard: u64,
    manager: String,
    applications: BTreeMap<String, Application>,
    /// Pods of asks and allocations by recorded key.
    pods: BTreeMap<String, Made>,
    /// Recorded keys by UID.
    keys: BTreeMap<String, String>,
    /// Applications that the core accepted or rejected.
    accepted: BTreeSet<String>,
    rejected: BTreeSet<String>,
}

/// A pod that was created.
#[derive(Clone, Debug)]
struct Made {
    namespace: String,
    name: String,
    uid: String,
}

#[derive(Debug)]
struct Application {
    submitted: Submitted,
    /// The pod that waits for its claim.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    pod: Made,
    claim: String,
    /// Key of the ask that the pod becomes. `None` if it only submits the application.
    key: Option<String>,
}

impl Drop for Player<'_> {
    fn drop(&mut self) {
        if let Some(scheduler) = self.scheduler.take() {
            scheduler.abort();
        }
        self.interface.shut_down();
        if let Some(engine) = self.engine.take() {
            // A history that failed has said so already.
            let _ = self.world.runtime.block_on(engine.stop());
        }
    }
}

impl<'w> Player<'w> {
    /// Returns a player that knows of nothing. `config` is the queue file of the registration.
    pub(crate) fn start(world: &'w World, config: &str, extent: Extent) -> Result<Self> {
        let engine = ByHand::start()?;
        let service = world.runtime.block_on(engine.service())?;
        // A busy machine must not turn a late answer into a refusal.
        let settings = Settings { answer_within: PATIENCE, ..Settings::default() };
        let interface = world.runtime.block_on(async { Interface::new(service.clone(), settings) });
        Ok(Self {
            world,
            config: config.to_owned(),
            extent,
            handle: engine.handle().clone(),
            engine: Some(engine),
            service,
            interface,
            scheduler: None,
            told: Told::default(),
            heard: 0,
            manager: String::new(),
            applications: BTreeMap::new(),
            pods: BTreeMap::new(),
            keys: BTreeMap::new(),
            accepted: BTreeSet::new(),
            rejected: BTreeSet::new(),
        })
    }

    fn engine(&mut self) -> Result<&mut ByHand> {
        self.engine.as_mut().context("the engine is there until the player is dropped")
    }

    async fn play(&mut self, step: &Value) -> Result<Option<Value>> {
        let input = step.as_object().context("a step must be an object")?;
        self.engine()?.advance(1).await?;
        let mut result = None;
        for (key, value) in input {
            match key.as_str() {
                "register" => self.register(value).await?,
                "applications" => self.applications(&messages::applications(value)?).await?,
                "nodes" => self.nodes(&messages::nodes(value)?).await?,
                "allocations" => self.allocations(&messages::allocations(value)?).await?,
                "config" => {
                    let text = value.as_str().context("config must be a text")?;
                    result = Some(json!({"ok": self.configure(text).await?}));
                }
                "schedule" => {
                    let most = value.as_u64().context("schedule must be a whole number")?;
                    self.engine()?.schedule(most, answered).await?;
                }
                "confirm" => result = Some(json!(self.confirm().await?)),
                "quota_preemption" => self.engine()?.scan_quotas().await?,
                "advance_ms" => {
                    let millis = value.as_u64().context("advance_ms must be a whole number")?;
                    self.engine()?.advance(millis).await?;
                }
                "responses" | "result" | "snapshot" | "cycles" | "settled" | "error"
                | "unstable" => {}
                _ => bail!("a step with {key:?} is unknown"),
            }
        }
        self.settle().await?;
        Ok(result)
    }

    async fn register(&mut self, value: &Value) -> Result<()> {
        self.manager = messages::registration(value).rm_id;
        self.world.prepare(&self.extent.namespaces, &self.extent.classes).await?;
        self.world.configure(&without_strict_guarantee(&self.config)).await?;
        let interface = self.interface.clone();
        let kubeconfig = Some(self.world.kubeconfig.clone());
        let levels = Arc::new(LogLevels::new(LogLevel::default(), drop));
        let options = Options { kubeconfig, namespace: DEFAULT.to_owned(), levels };
        self.scheduler = Some(tokio::spawn(async move {
            if let Err(error) = headroom_kubernetes::run(interface, options).await {
                println!("the scheduler ended: {error}");
            }
        }));
        // All existing objects are known, and the scheduler answers questions.
        self.books_have("the scheduler to begin", |books| {
            default_of(books).is_some_and(|one| one.away.is_none() && one.questions.is_some())
        })
        .await
    }

    async fn configure(&self, text: &str) -> Result<bool> {
        let text = without_strict_guarantee(text);
        let refused = self.world.refused_changes().await?;
        self.world.configure(&text).await?;
        let begin = Instant::now();
        loop {
            if self.service.queue_file.in_force().text == text {
                return Ok(true);
            }
            if self.world.refused_changes().await? > refused {
                return Ok(false);
            }
            ensure!(begin.elapsed() < PATIENCE, "the queue file was neither taken nor refused");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn applications(&mut self, request: &v1::ApplicationRequest) -> Result<()> {
        for new in &request.new {
            self.application(new).await?;
        }
        for gone in &request.remove {
            // Nothing was asked for, so the deletion of the last pod removes the application.
            let waiting = self.applications.get_mut(&gone.application_id);
            let Some(waiting) = waiting.and_then(|one| one.waiting.take()) else { continue };
            self.end(&waiting.pod).await?;
            let id = gone.application_id.clone();
            self.books_have("the application to be removed", move |books| {
                default_of(books).is_some_and(|one| one.applications.get(&*id).is_none())
            })
            .await?;
        }
        Ok(())
    }

    /// Submits an application by a pod that waits for a claim, because no pod asks for anything yet.
    async fn application(&mut self, new: &v1::AddApplicationRequest) -> Result<()> {
        let (id, submitted) = (&new.application_id, Submitted::of(new));
        let name = self.world.new_name("pod");
        let claim = self.world.new_name("claim");
        let originator = self.extent.originators.get(id);
        let pod = match originator {
            Some(ask) => submitted.pod_with_claim(&name, ask, &claim),
            None => submitted.gate(&name, &claim),
        };
        let key = originator.map(|ask| ask.allocation_key.clone());
        if key.is_some() {
            let volume = objects::volume(&claim, &submitted.namespace);
            self.world.create(path::VOLUMES, &volume).await?;
        }
        let pod = self.create(&pod).await?;
        self.until("the application to be answered", async |player| {
            player.hear()?;
            Ok(player.accepted.contains(id) || player.rejected.contains(id))
        })
        .await?;
        if self.rejected.contains(id) {
            let uid = pod.uid.clone();
            self.until("the pod of a rejected application to fail", async |player| {
                Ok(player.world.seen(&uid).is_some_and(|one| one.is_terminated))
            })
            .await?;
        }
        let waiting = Some(Waiting { pod, claim, key });
        self.applications.insert(id.clone(), Application { submitted, waiting });
        Ok(())
    }

    async fn nodes(&self, request: &v1::NodeRequest) -> Result<()> {
        for node in &request.nodes {
            let (name, size) = (&node.node_id, node.schedulable_resource.as_ref());
            let one = format!("{}/{name}", path::NODES);
            match node.action() {
                action @ (ActionFromRm::Create | ActionFromRm::CreateDrain) => {
                    let is_cordoned = action == ActionFromRm::CreateDrain;
                    let node = objects::node(name, size, is_cordoned);
                    self.world.create(path::NODES, &node).await?;
                    self.has_size(name, size).await?;
                    self.is_schedulable(name, !is_cordoned).await?;
                }
                ActionFromRm::Update if size.is_none() => {}
                ActionFromRm::Update => {
                    let patch = json!({"status": objects::node_size(size)});
                    self.world.merge(&format!("{one}/status"), &patch).await?;
                    self.has_size(name, size).await?;
                }
                ActionFromRm::DrainNode | ActionFromRm::DrainToSchedulable => {
                    let is_cordoned = node.action() == ActionFromRm::DrainNode;
                    let patch = json!({"spec": {"unschedulable": is_cordoned}});
                    self.world.merge(&one, &patch).await?;
                    self.is_schedulable(name, !is_cordoned).await?;
                }
                ActionFromRm::Decomission => self.lose_node(name, &one).await?,
                ActionFromRm::UnknownActionFromRm => bail!("a node has no action"),
            }
        }
        Ok(())
    }

    /// Deletes a node. Then its pods end, as the controller of pods does it.
    async fn lose_node(&self, name: &str, path: &str) -> Result<()> {
        self.world.delete(path).await?;
        let id = name.to_owned();
        self.books_have("the node to be gone", move |books| {
            default_of(books).is_some_and(|one| one.nodes.get(&*id).is_none())
        })
        .await?;
        let there = |made: &&Made| self.world.seen(&made.uid).is_some_and(|one| one.node == name);
        for made in self.pods.values().filter(there) {
            self.end(made).await?;
        }
        Ok(())
    }

    async fn has_size(&self, node: &str, size: Option<&v1::Resource>) -> Result<()> {
        let (node, size) = (node.to_owned(), amounts(size));
        self.books_have("the size of a node", move |books| {
            let id = default_of(books).and_then(|one| one.nodes.get(&*node));
            id.is_some_and(|id| own_amounts(books, &books.node(*id).capacity) == size)
        })
        .await
    }

    async fn is_schedulable(&self, node: &str, expected: bool) -> Result<()> {
        let node = node.to_owned();
        self.books_have("a node to take pods, or no more", move |books| {
            let id = default_of(books).and_then(|one| one.nodes.get(&*node));
            id.is_some_and(|id| books.node(*id).schedulable == expected)
        })
        .await
    }

    async fn allocations(&mut self, request: &v1::AllocationRequest) -> Result<()> {
        for one in &request.allocations {
            self.allocation(one).await?;
        }
        let releases = request.releases.iter().flat_map(|all| &all.allocations_to_release);
        for one in releases {
            let Some(made) = self.pods.remove(&one.allocation_key) else { continue };
            self.end(&made).await?;
            self.is_released(&made).await?;
        }
        Ok(())
    }

    async fn allocation(&mut self, one: &v1::Allocation) -> Result<()> {
        if let Some(made) = self.pods.get(&one.allocation_key) {
            return self.resize(made, one.resource_per_alloc.as_ref()).await;
        }
        if one.allocation_tags.contains_key("foreign") {
            let pod = objects::foreign(&self.world.new_name("foreign"), one);
            let made = self.create(&pod).await?;
            self.keys.insert(made.uid.clone(), one.allocation_key.clone());
            let uid = made.uid.clone();
            self.pods.insert(one.allocation_key.clone(), made);
            return self
                .books_have("a foreign pod", move |books| {
                    default_of(books).is_some_and(|one| one.foreign.get(&*uid).is_some())
                })
                .await;
        }
        self.ask(one).await
    }

    async fn ask(&mut self, one: &v1::Allocation) -> Result<()> {
        let (id, key) = (&one.application_id, &one.allocation_key);
        let application = self.applications.get_mut(id).context("an unknown application")?;
        let is_this =
            |waiting: &mut Waiting| waiting.key.as_ref().is_some_and(|waiting| waiting == key);
        let namespace = application.submitted.namespace.clone();
        let made = if let Some(waiting) = application.waiting.take_if(is_this) {
            let claims = format!("{}/persistentvolumeclaims", path::namespace(&namespace));
            self.world.create(&claims, &objects::claim(&waiting.claim)).await?;
            waiting.pod
        } else {
            let pod = application.submitted.pod(&self.world.new_name("pod"), one);
            self.create(&pod).await?
        };
        self.keys.insert(made.uid.clone(), key.clone());
        let uid = made.uid.clone();
        self.pods.insert(key.clone(), made);
        self.books_have("an ask", move |books| {
            default_of(books).is_some_and(|one| one.allocations.get(&*uid).is_some())
        })
        .await?;
        // The application lives by its asks now.
        let is_gate = |waiting: &mut Waiting| waiting.key.is_none();
        let application = self.applications.get_mut(id);
        if let Some(gate) = application.and_then(|one| one.waiting.take_if(is_gate)) {
            self.end(&gate.pod).await?;
        }
        Ok(())
    }

    async fn resize(&self, made: &Made, size: Option<&v1::Resource>) -> Result<()> {
        let path = format!("{}/resize", path::pod(&made.namespace, &made.name));
        self.world.merge_lists(&path, &objects::resize(size)).await?;
        let (uid, size) = (made.uid.clone(), amounts(size));
        self.books_have("the size of an allocation", move |books| {
            let id = default_of(books).and_then(|one| one.allocations.get(&*uid));
            id.is_some_and(|id| own_amounts(books, books.resources_of(*id)) == size)
        })
        .await
    }

    async fn is_released(&self, made: &Made) -> Result<()> {
        let uid = made.uid.clone();
        self.books_have("a release", move |books| {
            default_of(books).is_some_and(|one| {
                one.allocations.get(&*uid).is_none() && one.foreign.get(&*uid).is_none()
            })
        })
        .await
    }

    /// Confirms all releases that were not confirmed yet, one by one. Returns how many.
    async fn confirm(&mut self) -> Result<usize> {
        self.hear()?;
        let releases = self.told.take_unconfirmed();
        for one in &releases {
            let key = one["allocationKey"].as_str().unwrap_or_default();
            let Some(made) = self.pods.remove(key) else { continue };
            self.end(&made).await?;
            self.is_released(&made).await?;
        }
        Ok(releases.len())
    }

    async fn create(&self, pod: &Value) -> Result<Made> {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let created = self.world.create(&path::pods(&namespace), pod).await?;
        let text = |field: &str| created["metadata"][field].as_str().unwrap_or_default().to_owned();
        Ok(Made { namespace, name: text("name"), uid: text("uid") })
    }

    async fn end(&self, made: &Made) -> Result<()> {
        self.world.end_pod(&made.namespace, &made.name).await
    }

    /// Waits until the API server has what the core decided: each allocation is a bound pod, and each pod that the
    /// core wants to be stopped is being deleted.
    async fn settle(&mut self) -> Result<()> {
        answered(&self.handle).await?;
        let placed = self.handle.inspect(|books, _| placed(books)).await?;
        for (uid, node) in placed {
            self.until("a pod to be bound", async |player| {
                Ok(player.world.seen(&uid).is_some_and(|one| one.node == node))
            })
            .await
            .with_context(|| format!("pod {uid} on {node}"))?;
        }
        self.hear()?;
        let keys = self.told.unconfirmed().iter().filter_map(|one| one["allocationKey"].as_str());
        let stopped: Vec<Made> = keys.filter_map(|key| self.pods.get(key).cloned()).collect();
        for Made { name, uid, .. } in stopped {
            self.until("a pod to be deleted", async |player| {
                Ok(player.world.seen(&uid).is_none_or(|one| one.is_deleting))
            })
            .await
            .with_context(|| name)?;
        }
        Ok(())
    }

    /// Hears what the engine has told since the last call.
    fn hear(&mut self) -> Result<()> {
        for entry in self.handle.feed().read(self.heard + 1, usize::MAX)? {
            self.heard = entry.record.sequence;
            for notice in &entry.notices {
                match &notice.news {
                    NoticeKind::ApplicationAccepted { application } => {
                        self.accepted.insert(application.to_string());
                    }
                    NoticeKind::ApplicationRejected { application, .. } => {
                        self.rejected.insert(application.to_string());
                    }
                    NoticeKind::ApplicationMoved { .. }
                    | NoticeKind::ApplicationExpired { .. }
                    | NoticeKind::NodeAccepted { .. }
                    | NoticeKind::Allocated(_)
                    | NoticeKind::Released(_)
                    | NoticeKind::ScaleUp { .. }
                    | NoticeKind::Asked(_) => {}
                }
                self.told.take_in(self.renamed(notice.clone()));
            }
        }
        Ok(())
    }

    /// Returns a notice with the recorded key in the place of the UID.
    fn renamed(&self, mut notice: Notice) -> Notice {
        let rename = |key: &mut Name| {
            if let Some(recorded) = self.keys.get(&**key) {
                *key = Name::new(recorded);
            }
        };
        match &mut notice.news {
            NoticeKind::Allocated(one) => rename(&mut one.key),
            NoticeKind::Released(one) => rename(&mut one.key),
            NoticeKind::ApplicationAccepted { .. }
            | NoticeKind::ApplicationRejected { .. }
            | NoticeKind::ApplicationMoved { .. }
            | NoticeKind::ApplicationExpired { .. }
            | NoticeKind::NodeAccepted { .. }
            | NoticeKind::ScaleUp { .. }
            | NoticeKind::Asked(_) => {}
        }
        notice
    }

    async fn books_have(
        &self,
        what: &str,
        look: impl Fn(&Books) -> bool + Clone + Send + 'static,
    ) -> Result<()> {
        until(&mut (), what, async |()| {
            let look = look.clone();
            Ok(self.handle.inspect(move |books, _: &Scheduler| look(books)).await?)
        })
        .await
    }

    async fn until(
        &mut self,
        what: &str,
        condition: impl AsyncFnMut(&mut Self) -> Result<bool>,
    ) -> Result<()> {
        until(self, what, condition).await
    }

    /// Returns values with the recorded keys in the place of UIDs.
    fn recorded(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match self.keys.get(text) {
                Some(key) => (**key).into(),
                None => value.clone(),
            },
            Value::Array(all) => {
                let mut recorded: Vec<Value> = all.iter().map(|one| self.recorded(one)).collect();
                if recorded != *all && recorded.iter().all(Value::is_string) {
                    // Sorted, as the UIDs were.
                    recorded.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
                }
                recorded.into()
            }
            Value::Object(map) => {
                map.iter().map(|(key, value)| (key.clone(), self.recorded(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

impl Home for Player<'_> {
    fn step(&mut self, step: &Value) -> Result<Outcome> {
        let world = self.world;
        let result = world.runtime.block_on(self.play(step))?;
        let responses = without_pods(&self.told.take().into_responses());
        let shown = if step.get("snapshot").is_some() {
            let manager = self.manager.clone();
            let look = self.handle.inspect(move |books, _| snapshot(books, &manager));
            Some(without_pods(&self.recorded(&world.runtime.block_on(look)?)))
        } else {
            None
        };
        Ok(Outcome { responses, result, snapshot: shown })
    }
}

/// Waits until a condition holds.
async fn until<T: ?Sized>(
    of: &mut T,
    what: &str,
    mut condition: impl AsyncFnMut(&mut T) -> Result<bool>,
) -> Result<()> {
    let begin = Instant::now();
    while !condition(of).await? {
        ensure!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Waits until the scheduler has answered all questions of the core.
async fn answered(handle: &Handle) -> Result<()> {
    let open = |books: &Books| default_of(books).is_some_and(|one| one.open_questions.count > 0);
    until(&mut (), "an answer to a question", async |()| {
        Ok(!handle.inspect(move |books, _| open(books)).await?)
    })
    .await
}

fn default_of(books: &Books) -> Option<&Partition> {
    books.partition_named(PARTITION).map(|id| books.partition(id))
}

/// Returns the allocations with their nodes.
fn placed(books: &Books) -> Vec<(String, String)> {
    let all = default_of(books).into_iter().flat_map(|one| one.allocations.iter());
    let placed = all.filter_map(|(key, id)| {
        let node = books.allocation(*id).node?;
        Some((key.to_string(), books.node(node).name.to_string()))
    });
    placed.collect()
}

/// Returns the amounts of a request that are not zero.
fn amounts(size: Option<&v1::Resource>) -> BTreeMap<String, i64> {
    let all = size.into_iter().flat_map(|size| &size.resources);
    let all = all.map(|(name, one)| (name.clone(), one.value));
    all.filter(|(_, amount)| *amount != 0).collect()
}

/// Returns amounts of the books that are not zero, without the number of pods.
fn own_amounts(books: &Books, size: &Resources) -> BTreeMap<String, i64> {
    let amounts = books.types().amounts(size);
    let all = amounts.iter().map(|(name, amount)| (name.to_string(), amount.get()));
    all.filter(|(name, amount)| name != "pods" && *amount != 0).collect()
}
