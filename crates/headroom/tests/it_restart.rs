//! Scene SD-09: what users and groups use is the same, to the byte, after the process was killed,
//! and after the resource manager has come back and reported what runs.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod support;

use std::time::{Duration, Instant};

use headroom_api::si::SESSION_METADATA;
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::scheduler_client::SchedulerClient;
use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, AllocationRelease, AllocationReleasesRequest,
    AllocationRequest, AllocationResponse, ApplicationRequest, ApplicationResponse, NodeInfo,
    NodeRequest, NodeResponse, Quantity, RegisterResourceManagerRequest, Resource, TerminationType,
    UserGroupInformation,
};
use support::Folder;
use support::server::Server;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::Channel;
use tonic::{Request, Streaming};

const PATIENCE: Duration = Duration::from_secs(30);

const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: a
            limits:
              - {limit: ann, users: [ann], maxresources: {vcore: 9}, maxapplications: 3}
              - {limit: dev, groups: [dev], maxresources: {vcore: 8}, maxapplications: 2}
";

/// What is compared.
const PATHS: [&str; 4] = ["users", "groups", "user/ann", "group/dev"];

/// A resource manager with its three streams.
struct Rm {
    to_nodes: UnboundedSender<NodeRequest>,
    to_applications: UnboundedSender<ApplicationRequest>,
    to_allocations: UnboundedSender<AllocationRequest>,
    nodes: Streaming<NodeResponse>,
    applications: Streaming<ApplicationResponse>,
    allocations: Streaming<AllocationResponse>,
}

/// The next answer, which is to come.
async fn next<T>(stream: &mut Streaming<T>) -> T {
    let next = tokio::time::timeout(PATIENCE, stream.message()).await;
    next.expect("an answer is to come").unwrap().expect("the stream goes on")
}

impl Rm {
    async fn register(server: &Server) -> Self {
        let url = format!("http://{}", server.address);
        let channel = Channel::from_shared(url).unwrap().connect().await.unwrap();
        let mut client = SchedulerClient::new(channel);
        let registration = RegisterResourceManagerRequest {
            rm_id: "rm".into(),
            config: QUEUES.into(),
            ..RegisterResourceManagerRequest::default()
        };
        let registered = client.register_resource_manager(registration).await.unwrap();
        let token = registered.metadata().get(SESSION_METADATA).unwrap().clone();
        let (to_nodes, nodes) = unbounded_channel();
        let (to_applications, applications) = unbounded_channel();
        let (to_allocations, allocations) = unbounded_channel();
        let mut nodes = Request::new(UnboundedReceiverStream::new(nodes));
        let mut applications = Request::new(UnboundedReceiverStream::new(applications));
        let mut allocations = Request::new(UnboundedReceiverStream::new(allocations));
        nodes.metadata_mut().insert(SESSION_METADATA, token.clone());
        applications.metadata_mut().insert(SESSION_METADATA, token.clone());
        allocations.metadata_mut().insert(SESSION_METADATA, token);
        Self {
            to_nodes,
            to_applications,
            to_allocations,
            nodes: client.update_node(nodes).await.unwrap().into_inner(),
            applications: client.update_application(applications).await.unwrap().into_inner(),
            allocations: client.update_allocation(allocations).await.unwrap().into_inner(),
        }
    }

    /// Two nodes; an application of its own and one of a gang, of a user with these groups.
    async fn come(&mut self, groups: &[&str]) {
        let node = |id: &str| NodeInfo {
            node_id: id.into(),
            action: ActionFromRm::Create.into(),
            schedulable_resource: size(8_000, 8),
            ..NodeInfo::default()
        };
        let nodes = vec![node("n1"), node("n2")];
        self.to_nodes.send(NodeRequest { nodes, rm_id: "rm".into() }).unwrap();
        assert_eq!(next(&mut self.nodes).await.accepted.len(), 2);
        let application = |id: &str| AddApplicationRequest {
            application_id: id.into(),
            queue_name: "root.a".into(),
            ugi: Some(UserGroupInformation {
                user: "ann".into(),
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            }),
            ..AddApplicationRequest::default()
        };
        let gang = AddApplicationRequest { placeholder_ask: size(4_000, 0), ..application("gang") };
        let new = vec![application("plain"), gang];
        let request = ApplicationRequest { new, rm_id: "rm".into(), ..Default::default() };
        self.to_applications.send(request).unwrap();
        assert_eq!(next(&mut self.applications).await.accepted.len(), 2);
    }

    fn ask(&self, allocations: Vec<Allocation>) {
        let request = AllocationRequest { allocations, rm_id: "rm".into(), ..Default::default() };
        self.to_allocations.send(request).unwrap();
    }

    fn confirm(&self, key: &str) {
        let release = AllocationRelease {
            application_id: "gang".into(),
            allocation_key: key.into(),
            termination_type: TerminationType::PlaceholderReplaced.into(),
            ..AllocationRelease::default()
        };
        let releases = AllocationReleasesRequest { allocations_to_release: vec![release] };
        let request = AllocationRequest {
            releases: Some(releases),
            rm_id: "rm".into(),
            ..AllocationRequest::default()
        };
        self.to_allocations.send(request).unwrap();
    }

    /// The next that are placed.
    async fn placed(&mut self, count: usize) -> Vec<Allocation> {
        let mut found = Vec::new();
        while found.len() < count {
            let answer = next(&mut self.allocations).await;
            assert!(answer.rejected_allocations.is_empty(), "{answer:?}");
            found.extend(answer.new);
        }
        found
    }

    /// The keys of the next that are to be stopped for members of their gang.
    async fn replaced(&mut self, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        while found.len() < count {
            for one in next(&mut self.allocations).await.released {
                assert_eq!(one.termination_type(), TerminationType::PlaceholderReplaced);
                found.push(one.allocation_key);
            }
        }
        found
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as messages have it")]
fn size(vcore: i64, memory: i64) -> Option<Resource> {
    let all = [("vcore", vcore), ("memory", memory)].into_iter().filter(|(_, value)| *value > 0);
    let all = all.map(|(name, value)| (name.to_owned(), Quantity { value }));
    Some(Resource { resources: all.collect() })
}

fn one(application: &str, key: &str, size: Option<Resource>) -> Allocation {
    Allocation {
        allocation_key: key.into(),
        application_id: application.into(),
        resource_per_alloc: size,
        ..Allocation::default()
    }
}

fn member(key: &str) -> Allocation {
    Allocation { task_group_name: "workers".into(), ..one("gang", key, size(1_000, 0)) }
}

/// What REST says of users and groups, byte by byte.
fn usage(server: &Server) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    let body = |path: &str| loop {
        let answer = server.get(&format!("/ws/v1/partition/default/usage/{path}"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if head.starts_with("HTTP/1.1 200") {
            return body.to_owned();
        }
        // It reads its journal yet.
        assert!(head.starts_with("HTTP/1.1 503") && Instant::now() < until, "{answer}");
        std::thread::sleep(Duration::from_millis(20));
    };
    PATHS.iter().map(|path| body(path)).collect()
}

/// Starts an ordinary allocation, and a gang of four, of which two members have replaced their placeholders; a third
/// is asked to, and has not yet. Returns the running allocations.
async fn half_replaced(rm: &mut Rm) -> Vec<Allocation> {
    rm.come(&["dev"]).await;
    let held =
        (1..=4).map(|number| Allocation { placeholder: true, ..member(&format!("p{number}")) });
    rm.ask(std::iter::once(one("plain", "a1", size(2_000, 1))).chain(held).collect());
    let mut running = rm.placed(5).await;
    rm.ask(vec![member("m1"), member("m2")]);
    for key in rm.replaced(2).await {
        rm.confirm(&key);
        running.retain(|one| one.allocation_key != key);
    }
    running.extend(rm.placed(2).await);
    rm.ask(vec![member("m3")]);
    rm.replaced(1).await;
    running
}

#[tokio::test(flavor = "multi_thread")]
#[doc(alias = "SD-09")]
async fn usage_is_the_same_to_the_byte_after_kill_9_and_when_the_rm_comes_back() {
    let folder = Folder::new("restart-usage");
    let mut server = Server::start(&folder, &[]);
    let mut rm = Rm::register(&server).await;
    let running = half_replaced(&mut rm).await;
    let before = usage(&server);
    let users: serde_json::Value = serde_json::from_str(&before[0]).unwrap();
    assert_eq!(users[0]["queues"]["resourceUsage"]["vcore"], 6_000, "{users}");
    assert_eq!(users[0]["groups"], serde_json::json!({"gang": "dev", "plain": "dev"}), "{users}");
    // On Unix this is kill -9.
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    drop(rm);

    let mut server = Server::start(&folder, &[]);
    assert_eq!(usage(&server), before, "after kill -9");

    // The RM registers again, which removes everything, and reports what runs, the newest first. By now the user is
    // in other groups too.
    let mut rm = Rm::register(&server).await;
    assert_ne!(usage(&server)[0], before[0], "nothing runs");
    rm.come(&["qa", "dev", "ops"]).await;
    rm.ask(running.iter().rev().cloned().collect());
    let echoes = rm.placed(running.len()).await;
    assert!(echoes.iter().all(|one| !one.node_id.is_empty()), "{echoes:?}");
    assert_eq!(usage(&server), before, "after the RM has come back");
    // The third member was not there yet, and waits again.
    rm.ask(vec![member("m3")]);
    let stopped = rm.replaced(1).await;
    assert_eq!(usage(&server), before, "as long as its placeholder is not stopped");
    rm.confirm(&stopped[0]);
    rm.placed(1).await;
    assert_eq!(usage(&server), before, "of the same size");
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0), "{}", folder.read("log"));
}
