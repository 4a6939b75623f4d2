//! A server on loopback, and an RM that talks to it.

use std::sync::Arc;
use std::time::Duration;

use headroom_api::headroomv1::LogLevel;
use headroom_api::si::SESSION_METADATA;
use headroom_api::si::v1::scheduler_client::SchedulerClient;
use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, AllocationRelease, AllocationReleasesRequest,
    AllocationRequest, AllocationResponse, ApplicationRequest, ApplicationResponse, NodeInfo,
    NodeRequest, NodeResponse, Quantity, RegisterResourceManagerRequest, RemoveApplicationRequest,
    Resource, TerminationType, UserGroupInformation, node_info::ActionFromRm,
};
use headroom_core::{Millis, Timestamp};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Handle, Pace, Settings as EngineSettings};
use headroom_server::grpc::{Interface, Settings};
use headroom_server::listen::Routers;
use headroom_server::{
    About, Assembly, Caller, LogLevels, Parts, QueueFile, Service, Settings as WholeSettings,
};
use tokio::sync::mpsc;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

/// When every test begins: 2026-01-01.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// For so long nothing may come where nothing is to come.
pub(crate) const SILENCE: Duration = Duration::from_millis(500);

/// For so long something is waited for that is to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// One leaf for each kind of test, and room for all.
pub(crate) const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: a
          - name: small
            resources: {max: {vcore: 4}}
          - name: fair
            properties: {application.sort.policy: fair}
          - name: parent
            parent: true
";

/// A server on a port of its own. Its engine goes by hand.
pub(crate) struct Server {
    pub(crate) engine: Option<Engine>,
    pub(crate) handle: Handle,
    pub(crate) clock: HandClock,
    pub(crate) interface: Interface,
    pub(crate) service: Service,
    pub(crate) channel: Channel,
    /// Where REST is, too.
    pub(crate) url: String,
    serving: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(&MemoryJournal::default(), Settings::default(), |_| {}).await
    }

    pub(crate) async fn with_settings(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        Self::with(&MemoryJournal::default(), settings, |_| {}).await
    }

    pub(crate) async fn with(
        journal: &MemoryJournal,
        settings: Settings,
        change: impl FnOnce(&mut EngineSettings),
    ) -> Self {
        Self::with_caller(journal, settings, change, Some(Caller::open())).await
    }

    pub(crate) async fn with_caller(
        journal: &MemoryJournal,
        settings: Settings,
        change: impl FnOnce(&mut EngineSettings),
        caller: Option<Caller>,
    ) -> Self {
        let clock = HandClock::at(START);
        let mut of_engine = EngineSettings::with(clock.clone());
        of_engine.pace = Pace::ByHand;
        change(&mut of_engine);
        let engine = Engine::start(Box::new(journal.open()), of_engine).unwrap();
        let handle = engine.handle();
        let service = service(&handle, &clock).await;
        let levels = Arc::new(LogLevels::new(LogLevel::default(), drop));
        let settings = WholeSettings { si: settings, ..WholeSettings::default() };
        let Assembly { routers: Routers { rest, rpc }, interface, .. } =
            Assembly::of(&service, &levels, &settings);
        let mut router = rest.merge(rpc.reset_fallback());
        if let Some(caller) = caller {
            router = router.layer(axum::Extension(caller));
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let channel = Channel::from_shared(url.clone()).unwrap().connect().await.unwrap();
        Self { engine: Some(engine), handle, clock, interface, service, channel, url, serving }
    }

    /// Let some time pass, and the scheduler take all its steps.
    pub(crate) async fn turn(&self, millis: u64) {
        self.clock.advance(Millis::new(millis));
        self.handle.step(u32::MAX).await.unwrap();
    }

    /// The status and the body of what REST answers here.
    pub(crate) async fn rest(&self, path: &str) -> (u16, String) {
        let answer = reqwest::get(format!("{}{path}", self.url)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// What REST answers here as JSON, with status 200.
    pub(crate) async fn json(&self, path: &str) -> serde_json::Value {
        let (status, body) = self.rest(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// A client on a connection of its own.
    pub(crate) fn client(&self) -> SchedulerClient<Channel> {
        SchedulerClient::new(self.channel.clone())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn service(handle: &Handle, clock: &HandClock) -> Service {
    let users = Arc::new(Users::default());
    let (engine, of_queues) = (handle.clone(), Arc::new(clock.clone()));
    let queue_file = QueueFile::resume(engine, of_queues, Arc::clone(&users), None).await;
    Service::new(Parts {
        engine: handle.clone(),
        clock: Arc::new(clock.clone()),
        users,
        queue_file,
        about: About::this([].into()).unwrap(),
    })
}

/// One stream of an RM.
pub(crate) struct Pipe<Q, A> {
    pub(crate) requests: mpsc::UnboundedSender<Q>,
    pub(crate) answers: Streaming<A>,
}

impl<Q: std::fmt::Debug, A> Pipe<Q, A> {
    pub(crate) fn send(&self, request: Q) {
        self.requests.send(request).unwrap();
    }

    /// The next answer, which is to come.
    pub(crate) async fn next(&mut self) -> A {
        let next = tokio::time::timeout(PATIENCE, self.answers.message()).await;
        next.expect("an answer is to come").unwrap().expect("the stream goes on")
    }

    /// Why the stream has ended.
    pub(crate) async fn end(&mut self) -> Status {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.answers.message()).await;
            match next.expect("the stream is to end") {
                Ok(Some(_)) => {}
                Ok(None) => return Status::ok(""),
                Err(status) => return status,
            }
        }
    }

    /// Nothing comes for a while. A test goes on with something that does come on this stream.
    pub(crate) async fn quiet_for_a_while(&mut self)
    where
        A: std::fmt::Debug,
    {
        let next = tokio::time::timeout(SILENCE, self.answers.message()).await;
        assert!(next.is_err(), "nothing was to come, but {next:?}");
    }
}

/// What the server knows nothing of, so that it rejects it under this name.
const PROBE: &str = "probe";

/// A stream is silent if the rejection of a probe is the next message. Everything that this stream has
/// sent before is processed then.
impl Pipe<AllocationRequest, AllocationResponse> {
    pub(crate) async fn silent(&mut self) {
        let allocations = vec![ask("no-such-application", PROBE, 1)];
        self.send(AllocationRequest { allocations, rm_id: "rm".into(), ..Default::default() });
        let AllocationResponse { new, released, rejected_allocations: rejected } =
            self.next().await;
        assert_eq!((new, released), (Vec::new(), Vec::new()), "nothing was to come");
        let rejected: Vec<&str> = rejected.iter().map(|one| &*one.allocation_key).collect();
        assert_eq!(rejected, [PROBE], "nothing was to come but the probe");
    }
}

impl Pipe<ApplicationRequest, ApplicationResponse> {
    pub(crate) async fn silent(&mut self) {
        let mut probe = new(PROBE, "root.a");
        probe.partition_name = "no-such-partition".into();
        let new = vec![probe];
        self.send(ApplicationRequest { new, rm_id: "rm".into(), ..Default::default() });
        let ApplicationResponse { rejected, accepted, updated } = self.next().await;
        assert_eq!((accepted, updated), (Vec::new(), Vec::new()), "nothing was to come");
        let rejected: Vec<&str> = rejected.iter().map(|one| &*one.application_id).collect();
        assert_eq!(rejected, [PROBE], "nothing was to come but the probe");
    }
}

impl Pipe<NodeRequest, NodeResponse> {
    pub(crate) async fn silent(&mut self) {
        let probe = NodeInfo {
            attributes: [("si/node-partition".to_owned(), "no-such-partition".to_owned())].into(),
            ..node(PROBE, ActionFromRm::Create, 1)
        };
        self.send(NodeRequest { nodes: vec![probe], rm_id: "rm".into() });
        let NodeResponse { rejected, accepted } = self.next().await;
        assert_eq!(accepted, [], "nothing was to come");
        let rejected: Vec<&str> = rejected.iter().map(|one| &*one.node_id).collect();
        assert_eq!(rejected, [PROBE], "nothing was to come but the probe");
    }
}

/// An RM with its three streams.
pub(crate) struct Rm {
    pub(crate) token: String,
    pub(crate) applications: Pipe<ApplicationRequest, ApplicationResponse>,
    pub(crate) allocations: Pipe<AllocationRequest, AllocationResponse>,
    pub(crate) nodes: Pipe<NodeRequest, NodeResponse>,
}

/// A request with the token of a session.
pub(crate) fn with_token<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(SESSION_METADATA, MetadataValue::try_from(token).unwrap());
    request
}

pub(crate) fn registration(rm_id: &str, config: &str) -> RegisterResourceManagerRequest {
    RegisterResourceManagerRequest {
        rm_id: rm_id.into(),
        version: "1".into(),
        policy_group: "queues".into(),
        config: config.into(),
        ..RegisterResourceManagerRequest::default()
    }
}

/// Register, and the token of the session.
pub(crate) async fn register(
    server: &Server,
    request: RegisterResourceManagerRequest,
) -> Result<String, Status> {
    let response = server.client().register_resource_manager(request).await?;
    Ok(response.metadata().get(SESSION_METADATA).unwrap().to_str().unwrap().to_owned())
}

/// Open a stream of this kind.
macro_rules! open {
    ($server:expr, $token:expr, $call:ident) => {{
        let (requests, receiver) = tokio::sync::mpsc::unbounded_channel();
        let receiver = tokio_stream::wrappers::UnboundedReceiverStream::new(receiver);
        let request = $crate::support::with_token($token, receiver);
        let answers = $server.client().$call(request).await.unwrap().into_inner();
        $crate::support::Pipe { requests, answers }
    }};
}
pub(crate) use open;

impl Rm {
    /// An RM named `rm` with these queues.
    pub(crate) async fn on(server: &Server, config: &str) -> Self {
        let token = register(server, registration("rm", config)).await.unwrap();
        Self::with_token(server, &token).await
    }

    /// An RM, its node `n1` of 10 vcores, and its application `app` in `root.a`.
    pub(crate) async fn furnished(server: &Server) -> Self {
        let mut rm = Self::on(server, QUEUES).await;
        rm.create(&[("n1", 10)]).await;
        rm.submit("app", "root.a").await;
        rm
    }

    pub(crate) async fn with_token(server: &Server, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            applications: open!(server, token, update_application),
            allocations: open!(server, token, update_allocation),
            nodes: open!(server, token, update_node),
        }
    }

    /// Have nodes come, and see them accepted.
    pub(crate) async fn create(&mut self, nodes: &[(&str, i64)]) {
        let infos = nodes.iter().map(|(id, vcores)| node(id, ActionFromRm::Create, *vcores));
        self.nodes.send(NodeRequest { nodes: infos.collect(), rm_id: "rm".into() });
        let answer = self.nodes.next().await;
        assert_eq!((answer.accepted.len(), answer.rejected.len()), (nodes.len(), 0), "{answer:?}");
    }

    /// Submit an application, and see it accepted.
    pub(crate) async fn submit(&mut self, application: &str, queue: &str) {
        self.add(new(application, queue));
        let answer = self.applications.next().await;
        assert_eq!(answer.accepted.len(), 1, "{answer:?}");
    }

    pub(crate) fn add(&self, new: AddApplicationRequest) {
        let new = vec![new];
        let request = ApplicationRequest { new, rm_id: "rm".into(), ..Default::default() };
        self.applications.send(request);
    }

    pub(crate) fn remove(&self, application: &str) {
        let remove = vec![RemoveApplicationRequest {
            application_id: application.into(),
            partition_name: "[rm]default".into(),
        }];
        let request = ApplicationRequest { remove, rm_id: "rm".into(), ..Default::default() };
        self.applications.send(request);
    }

    pub(crate) fn act(&self, id: &str, action: ActionFromRm) {
        let nodes =
            vec![NodeInfo { node_id: id.into(), action: action.into(), ..NodeInfo::default() }];
        self.nodes.send(NodeRequest { nodes, rm_id: "rm".into() });
    }

    pub(crate) fn ask(&self, allocations: Vec<Allocation>) {
        self.allocations.send(AllocationRequest {
            allocations,
            rm_id: "rm".into(),
            ..AllocationRequest::default()
        });
    }

    pub(crate) fn release(&self, application: &str, key: &str, kind: TerminationType) {
        let release = AllocationRelease {
            application_id: application.into(),
            allocation_key: key.into(),
            termination_type: kind.into(),
            ..AllocationRelease::default()
        };
        let releases = AllocationReleasesRequest { allocations_to_release: vec![release] };
        self.allocations.send(AllocationRequest {
            releases: Some(releases),
            rm_id: "rm".into(),
            ..AllocationRequest::default()
        });
    }

    /// The states that an application enters next.
    pub(crate) async fn states(&mut self, count: usize) -> Vec<String> {
        let mut states = Vec::new();
        while states.len() < count {
            let answer = self.applications.next().await;
            states.extend(answer.updated.into_iter().map(|one| one.state));
        }
        states
    }

    /// The keys that are allocated next, and on which nodes.
    pub(crate) async fn allocated(&mut self, count: usize) -> Vec<(String, String)> {
        let mut found = Vec::new();
        while found.len() < count {
            let answer = self.allocations.next().await;
            assert!(answer.released.is_empty(), "{answer:?}");
            assert!(answer.rejected_allocations.is_empty(), "{answer:?}");
            found.extend(answer.new.into_iter().map(|one| (one.allocation_key, one.node_id)));
        }
        found
    }

    /// The keys that are released next, and of which kind.
    pub(crate) async fn released(&mut self, count: usize) -> Vec<(String, TerminationType)> {
        let mut found = Vec::new();
        while found.len() < count {
            let answer = self.allocations.next().await;
            assert!(answer.new.is_empty(), "{answer:?}");
            assert!(answer.rejected_allocations.is_empty(), "{answer:?}");
            let released = answer.released.into_iter();
            found.extend(released.map(|one| (one.allocation_key.clone(), one.termination_type())));
        }
        found
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as messages have it")]
pub(crate) fn vcores(vcores: i64) -> Option<Resource> {
    let quantity = Quantity { value: vcores * 1_000 };
    Some(Resource { resources: [("vcore".to_owned(), quantity)].into() })
}

pub(crate) fn node(id: &str, action: ActionFromRm, size: i64) -> NodeInfo {
    NodeInfo {
        node_id: id.into(),
        action: action.into(),
        schedulable_resource: vcores(size),
        ..NodeInfo::default()
    }
}

pub(crate) fn new(application: &str, queue: &str) -> AddApplicationRequest {
    AddApplicationRequest {
        application_id: application.into(),
        queue_name: queue.into(),
        ugi: Some(UserGroupInformation { user: "ann".into(), groups: vec!["dev".into()] }),
        ..AddApplicationRequest::default()
    }
}

pub(crate) fn ask(application: &str, key: &str, size: i64) -> Allocation {
    Allocation {
        allocation_key: key.into(),
        application_id: application.into(),
        resource_per_alloc: vcores(size),
        ..Allocation::default()
    }
}

pub(crate) fn placed(application: &str, key: &str, size: i64, node: &str) -> Allocation {
    Allocation { node_id: node.into(), ..ask(application, key, size) }
}

/// Wait until this is so.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begin = tokio::time::Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE, "it is to be so that {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
