//! An ordinary client: it reads, submits, and connects anew, and measures how long that takes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use headroom_api::si::v1;
use headroom_api::si::v1::scheduler_client::SchedulerClient;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;

/// How often each is done.
const READ_EVERY: Duration = Duration::from_millis(10);
const SUBMIT_EVERY: Duration = Duration::from_millis(20);
const CONNECT_EVERY: Duration = Duration::from_millis(50);
/// What takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long things took, and how many failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    took: Vec<Duration>,
    /// How many did not come to a good end.
    pub(crate) failed: usize,
}

impl Series {
    fn note(&mut self, took: Option<Duration>) {
        match took {
            Some(took) => self.took.push(took),
            None => self.failed += 1,
        }
    }

    /// How many were done.
    pub(crate) fn count(&self) -> usize {
        self.took.len()
    }

    /// What half took at most, 99 of 100, and the longest.
    pub(crate) fn quantiles(&mut self) -> [Duration; 3] {
        self.took.sort_unstable();
        let at = |share: usize| {
            let place = (self.took.len() * share).div_ceil(100).saturating_sub(1);
            self.took.get(place).copied().unwrap_or_default()
        };
        [at(50), at(99), at(100)]
    }
}

/// How long things took, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    /// A page of REST on a connection that is there.
    pub(crate) reads: Series,
    /// From an ask to its place on a node.
    pub(crate) submissions: Series,
    /// A new connection, and whether the server lives.
    pub(crate) connections: Series,
}

/// An ordinary client, on a thread of its own. It goes on until the process ends.
#[derive(Clone, Debug)]
pub(crate) struct Ordinary(Arc<Mutex<Latencies>>);

impl Ordinary {
    /// Begin to use the server at this address.
    pub(crate) fn start(address: SocketAddr) -> Self {
        Self::doing(address, true)
    }

    /// The same, without submissions.
    pub(crate) fn reading(address: SocketAddr) -> Self {
        Self::doing(address, false)
    }

    fn doing(address: SocketAddr, submits: bool) -> Self {
        let shared = Arc::new(Mutex::default());
        let noted = Arc::clone(&shared);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("there are threads");
            runtime.block_on(async {
                let submissions = async {
                    if submits {
                        submit(address, &noted).await;
                    }
                };
                tokio::join!(read(address, &noted), submissions, reach(address, &noted))
            });
        });
        Self(shared)
    }

    /// What was measured since this was asked last.
    pub(crate) fn take(&self) -> Latencies {
        std::mem::take(&mut lock(&self.0))
    }
}

fn lock(latencies: &Mutex<Latencies>) -> MutexGuard<'_, Latencies> {
    latencies.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ticks that are not left out when one took long: whoever comes meanwhile waits as well.
fn ticks(every: Duration) -> tokio::time::Interval {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    ticks
}

/// How long it is since it should have begun.
fn since(begun: Instant, is_good: bool) -> Option<Duration> {
    is_good.then(|| begun.elapsed())
}

async fn read(address: SocketAddr, noted: &Mutex<Latencies>) {
    const PATHS: [&str; 3] = [
        "/ws/v1/partitions",
        "/ws/v1/partition/default/queue/root.a",
        "/headroom/v1/partitions/default/summary",
    ];
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build();
    let client = client.expect("there is nothing to go wrong");
    let mut ticks = ticks(READ_EVERY);
    for path in PATHS.iter().cycle() {
        let begun = ticks.tick().await;
        let got = async {
            let response = client.get(format!("http://{address}{path}")).send().await?;
            response.error_for_status()?.bytes().await
        };
        let is_good = got.await.is_ok();
        lock(noted).reads.note(since(begun, is_good));
    }
}

async fn reach(address: SocketAddr, noted: &Mutex<Latencies>) {
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).pool_max_idle_per_host(0);
    let client = client.build().expect("there is nothing to go wrong");
    let mut ticks = ticks(CONNECT_EVERY);
    loop {
        let begun = ticks.tick().await;
        let got = client.get(format!("http://{address}/livez")).send().await;
        lock(noted).connections.note(since(begun, got.is_ok_and(|got| got.status() == 200)));
    }
}

pub(crate) fn registration() -> v1::RegisterResourceManagerRequest {
    v1::RegisterResourceManagerRequest {
        rm_id: "rm".to_owned(),
        version: "1".to_owned(),
        policy_group: "queues".to_owned(),
        config: "partitions: [{name: default, tenants: {enabled: true}, \
                 queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]"
            .to_owned(),
        ..v1::RegisterResourceManagerRequest::default()
    }
}

fn vcores(vcores: i64) -> v1::Resource {
    let quantity = v1::Quantity { value: vcores * 1_000 };
    v1::Resource { resources: [("vcore".to_owned(), quantity)].into() }
}

pub(crate) fn application(id: &str) -> v1::ApplicationRequest {
    let new = v1::AddApplicationRequest {
        application_id: id.to_owned(),
        queue_name: "root.a".to_owned(),
        ugi: Some(v1::UserGroupInformation {
            user: "ann".to_owned(),
            groups: vec!["dev".to_owned()],
        }),
        ..v1::AddApplicationRequest::default()
    };
    v1::ApplicationRequest { new: vec![new], rm_id: "rm".to_owned(), remove: Vec::new() }
}

pub(crate) fn ask(application: &str, key: &str) -> v1::Allocation {
    v1::Allocation {
        allocation_key: key.to_owned(),
        application_id: application.to_owned(),
        resource_per_alloc: Some(vcores(1)),
        ..v1::Allocation::default()
    }
}

/// A node, an application, and one ask after the other; each is released when it has its place.
#[expect(clippy::print_stderr, reason = "the output explains a missing measurement")]
async fn submit(address: SocketAddr, noted: &Mutex<Latencies>) {
    let done = async {
        let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
        let mut client = SchedulerClient::new(channel);
        client.register_resource_manager(registration()).await?;
        let node = v1::NodeInfo {
            node_id: "n1".to_owned(),
            action: v1::node_info::ActionFromRm::Create.into(),
            schedulable_resource: Some(vcores(100)),
            ..v1::NodeInfo::default()
        };
        let nodes = v1::NodeRequest { nodes: vec![node], rm_id: "rm".to_owned() };
        let (keep_nodes, nodes_sent) = mpsc::channel(1);
        keep_nodes.send(nodes).await?;
        let mut nodes = client.update_node(ReceiverStream::new(nodes_sent)).await?.into_inner();
        nodes.message().await?;
        let (keep_applications, sent) = mpsc::channel(1);
        keep_applications.send(application("app")).await?;
        let applications = client.update_application(ReceiverStream::new(sent)).await?;
        let mut applications = applications.into_inner();
        applications.message().await?;
        tokio::spawn(async move { while let Ok(Some(_)) = applications.message().await {} });
        tokio::spawn(async move { while let Ok(Some(_)) = nodes.message().await {} });
        let (to_asks, sent) = mpsc::channel(64);
        let answers = client.update_allocation(ReceiverStream::new(sent)).await?.into_inner();
        let never: Result<(), anyhow::Error> = asks(&to_asks, answers, noted).await;
        never
    };
    if let Err(error) = done.await {
        eprintln!("the ordinary client has ended: {error:#}");
    }
}

async fn asks(
    to_asks: &mpsc::Sender<v1::AllocationRequest>,
    mut answers: tonic::Streaming<v1::AllocationResponse>,
    noted: &Mutex<Latencies>,
) -> Result<(), anyhow::Error> {
    let mut ticks = ticks(SUBMIT_EVERY);
    for number in 0_u64.. {
        let begun = ticks.tick().await;
        let key = format!("ask-{number}");
        let rm_id = || "rm".to_owned();
        let allocations = vec![ask("app", &key)];
        to_asks.send(v1::AllocationRequest { allocations, rm_id: rm_id(), releases: None }).await?;
        let placed = async {
            while let Some(answer) = answers.message().await? {
                if answer.new.iter().any(|one| one.allocation_key == key) {
                    return Ok(true);
                }
            }
            Ok::<_, tonic::Status>(false)
        };
        let placed = timeout(PATIENCE, placed).await;
        lock(noted).submissions.note(since(begun, matches!(placed, Ok(Ok(true)))));
        if let Ok(ended) = placed {
            anyhow::ensure!(ended?, "the stream has ended");
        }
        let release = v1::AllocationRelease {
            application_id: "app".to_owned(),
            allocation_key: key,
            termination_type: v1::TerminationType::StoppedByRm.into(),
            ..v1::AllocationRelease::default()
        };
        let releases =
            Some(v1::AllocationReleasesRequest { allocations_to_release: vec![release] });
        let release = v1::AllocationRequest { releases, rm_id: rm_id(), allocations: Vec::new() };
        to_asks.send(release).await?;
    }
    Ok(())
}
