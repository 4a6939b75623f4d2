//! Who asks for decisions: an RM that sends asks at a steady rate, and gives back its oldest
//! allocations, so that the cluster stays as full as it is.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use headroom_api::si::v1;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;
use v1::scheduler_client::SchedulerClient;

const RM: &str = "bench";
/// How often a batch is due.
const EVERY: Duration = Duration::from_millis(5);
/// How many allocations there are once as many go as come.
pub(crate) const HELD: usize = 20_000;
const NODES: u64 = 1_000;
/// Room on a node; in all it is twice what is held.
const ROOM: i64 = 40;
const LEAVES: u64 = 40;
pub(crate) const APPLICATIONS: u64 = 1_000;
pub(crate) const USERS: u64 = 200;

/// A load that goes on until it is told to end.
pub(crate) struct Decisions {
    made: Arc<AtomicU64>,
    asker: JoinHandle<Result<()>>,
    /// It is registered as long as these are open.
    others: Others,
}

/// The streams of nodes and applications.
struct Others {
    _to_nodes: mpsc::Sender<v1::NodeRequest>,
    _nodes: Streaming<v1::NodeResponse>,
    _to_applications: mpsc::Sender<v1::ApplicationRequest>,
    _applications: Streaming<v1::ApplicationResponse>,
}

/// Applications that wait, each with as many asks, in a queue that has room for one.
pub(crate) const STUCK: u64 = 100;
const STUCK_ASKS: u64 = 100;

/// A queue file with as many leaves as a page of 64 KiB has place for, and one that has room for one ask.
fn queues() -> String {
    let leaves = (0..LEAVES).map(|leaf| format!("{{name: leaf-{leaf}}}"));
    let full = std::iter::once("{name: full, resources: {max: {vcore: 1}}}".to_owned());
    let leaves: Vec<String> = leaves.chain(full).collect();
    format!(
        "partitions: [{{name: default, queues: [{{name: root, submitacl: '*', queues: [{}]}}]}}]",
        leaves.join(", ")
    )
}

/// So many times the size of an ask.
fn resource(times: i64) -> v1::Resource {
    let amounts = [("memory", 1 << 30), ("vcore", 1_000)];
    let amount = |(name, one): (&str, i64)| (name.to_owned(), v1::Quantity { value: one * times });
    v1::Resource { resources: amounts.map(amount).into() }
}

fn node(number: u64) -> v1::NodeInfo {
    v1::NodeInfo {
        node_id: format!("node-{number}"),
        action: v1::node_info::ActionFromRm::Create.into(),
        schedulable_resource: Some(resource(ROOM)),
        ..v1::NodeInfo::default()
    }
}

/// The name of an application, and of the one who owns it.
pub(crate) fn application(number: u64) -> (String, String) {
    (format!("app-{number}"), format!("user-{}", number % USERS))
}

fn add(number: u64) -> v1::AddApplicationRequest {
    let (application_id, user) = application(number);
    v1::AddApplicationRequest {
        application_id,
        queue_name: format!("root.leaf-{}", number % LEAVES),
        partition_name: "default".to_owned(),
        ugi: Some(v1::UserGroupInformation { user, groups: vec!["people".to_owned()] }),
        ..v1::AddApplicationRequest::default()
    }
}

/// The name of an application that waits.
pub(crate) fn stuck(number: u64) -> String {
    format!("stuck-{number}")
}

fn add_stuck(number: u64) -> v1::AddApplicationRequest {
    let (application_id, queue_name) = (stuck(number), "root.full".to_owned());
    v1::AddApplicationRequest { application_id, queue_name, ..add(number) }
}

/// What waits all the time.
fn stuck_asks() -> Vec<v1::Allocation> {
    let all = (0..STUCK).flat_map(|number| (0..STUCK_ASKS).map(move |ask| (number, ask)));
    let one = |(number, one)| v1::Allocation {
        allocation_key: format!("stuck-{number}-{one}"),
        application_id: stuck(number),
        ..ask(0)
    };
    all.map(one).collect()
}

fn ask(number: u64) -> v1::Allocation {
    v1::Allocation {
        allocation_key: format!("ask-{number}"),
        application_id: application(number % APPLICATIONS).0,
        partition_name: "default".to_owned(),
        resource_per_alloc: Some(resource(1)),
        ..v1::Allocation::default()
    }
}

fn release(number: u64) -> v1::AllocationRelease {
    v1::AllocationRelease {
        partition_name: "default".to_owned(),
        application_id: application(number % APPLICATIONS).0,
        allocation_key: format!("ask-{number}"),
        termination_type: v1::TerminationType::StoppedByRm.into(),
        ..v1::AllocationRelease::default()
    }
}

/// A stream of requests that we send into, and that of answers.
macro_rules! open {
    ($client:ident.$method:ident) => {{
        let (sender, requests) = mpsc::channel(64);
        let answers = $client.$method(ReceiverStream::new(requests)).await?.into_inner();
        (sender, answers)
    }};
}

impl Decisions {
    /// Register, furnish a cluster and begin to ask for so many decisions a second.
    pub(crate) async fn begin(address: SocketAddr, per_second: u64) -> Result<Self> {
        let channel = Channel::from_shared(format!("http://{address}"))?.connect().await?;
        let mut client = SchedulerClient::new(channel).max_decoding_message_size(1 << 30);
        let registration = v1::RegisterResourceManagerRequest {
            rm_id: RM.to_owned(),
            config: queues(),
            ..v1::RegisterResourceManagerRequest::default()
        };
        client.register_resource_manager(registration).await?;
        let (to_nodes, mut nodes) = open!(client.update_node);
        let (to_applications, mut applications) = open!(client.update_application);
        let (to_allocations, allocations) = open!(client.update_allocation);
        let rm_id = RM.to_owned();
        let request = v1::NodeRequest { nodes: (0..NODES).map(node).collect(), rm_id };
        to_nodes.send(request).await?;
        let mut accepted = 0;
        while accepted < NODES {
            let answer = nodes.message().await?.context("the stream of nodes has ended")?;
            accepted += answer.accepted.len() as u64;
        }
        let all = (0..APPLICATIONS).map(add).chain((0..STUCK).map(add_stuck));
        let (new, rm_id) = (all.collect(), RM.to_owned());
        let request = v1::ApplicationRequest { new, rm_id, ..Default::default() };
        to_applications.send(request).await?;
        let mut accepted = 0;
        while accepted < APPLICATIONS + STUCK {
            let answer = applications.message().await?;
            let answer = answer.context("the stream of applications has ended")?;
            ensure!(answer.rejected.is_empty(), "refused: {:?}", answer.rejected.first());
            accepted += answer.accepted.len() as u64;
        }
        let (allocations_that_wait, rm_id) = (stuck_asks(), RM.to_owned());
        let request =
            v1::AllocationRequest { allocations: allocations_that_wait, releases: None, rm_id };
        to_allocations.send(request).await?;
        let (made, mut asker) = (Arc::default(), Asker::new(to_allocations, per_second));
        let counter = Arc::clone(&made);
        let asker = tokio::spawn(async move { asker.run(allocations, &counter).await });
        let others = Others {
            _to_nodes: to_nodes,
            _nodes: nodes,
            _to_applications: to_applications,
            _applications: applications,
        };
        Ok(Self { made, asker, others })
    }

    /// How many were made so far.
    pub(crate) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Whether it has failed.
    pub(crate) fn has_ended(&self) -> bool {
        self.asker.is_finished()
    }

    /// Ask for no more.
    ///
    /// # Errors
    /// When it had failed before.
    pub(crate) async fn end(self) -> Result<()> {
        let Self { asker, others, .. } = self;
        if asker.is_finished() {
            return asker.await?;
        }
        asker.abort();
        drop(others);
        Ok(())
    }
}

struct Asker {
    requests: mpsc::Sender<v1::AllocationRequest>,
    per_batch: u64,
    /// The number of the next ask.
    next: u64,
    /// What runs, oldest first.
    running: VecDeque<u64>,
}

impl Asker {
    fn new(requests: mpsc::Sender<v1::AllocationRequest>, per_second: u64) -> Self {
        let batches = 1_000 / u64::try_from(EVERY.as_millis()).expect("a few");
        Self { requests, per_batch: per_second / batches, next: 0, running: VecDeque::new() }
    }

    async fn run(
        &mut self,
        mut answers: Streaming<v1::AllocationResponse>,
        made: &AtomicU64,
    ) -> Result<()> {
        let mut due = interval(EVERY);
        // What was missed is sent at once.
        due.set_missed_tick_behavior(MissedTickBehavior::Burst);
        loop {
            tokio::select! {
                _ = due.tick() => self.send().await?,
                answer = answers.message() => {
                    let answer = answer?.context("the stream of allocations has ended")?;
                    let refused = &answer.rejected_allocations;
                    ensure!(refused.is_empty(), "refused: {:?}", refused.first());
                    for one in &answer.new {
                        let Some(number) = one.allocation_key.strip_prefix("ask-") else {
                            continue; // The one of those that wait that has room.
                        };
                        self.running.push_back(number.parse().context("a key that nobody sent")?);
                    }
                    made.fetch_add(answer.new.len() as u64, Ordering::Relaxed);
                }
            }
        }
    }

    /// Send the batch that is due, and give back what is too many.
    async fn send(&mut self) -> Result<()> {
        let allocations = (self.next..self.next + self.per_batch).map(ask).collect();
        self.next += self.per_batch;
        let excess = self.running.len().saturating_sub(HELD);
        let given_back = self.running.drain(..excess).map(release).collect();
        let releases = v1::AllocationReleasesRequest { allocations_to_release: given_back };
        let (releases, rm_id) = (Some(releases), RM.to_owned());
        let request = v1::AllocationRequest { allocations, releases, rm_id };
        self.requests.send(request).await?;
        Ok(())
    }
}
