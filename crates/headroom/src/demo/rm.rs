//! The connection of the demo to the scheduler interface: registers, opens the three streams, and passes messages to
//! the resource manager.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use headroom_api::client::{Client, ClientError};
use headroom_api::si::{SESSION_METADATA, v1};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};
use v1::scheduler_client::SchedulerClient;

use super::message::RM;
use super::play::{Play, Requests};
use super::scene::QUEUES;
use super::tenants::{self, TenantPlay};
use crate::built;

/// Interval at which the time of the simulation advances.
const BEAT: Duration = Duration::from_millis(100);
/// Maximum number of requests that wait to be sent.
const WAITING: usize = 64;

/// The three streams.
struct Streams {
    to_nodes: mpsc::Sender<v1::NodeRequest>,
    to_applications: mpsc::Sender<v1::ApplicationRequest>,
    to_allocations: mpsc::Sender<v1::AllocationRequest>,
    nodes: Streaming<v1::NodeResponse>,
    applications: Streaming<v1::ApplicationResponse>,
    allocations: Streaming<v1::AllocationResponse>,
}

/// Runs the demo until the server ends.
pub(super) async fn run(channel: Channel, client: Client, seed: u64) -> Result<()> {
    match play(channel, client, seed).await {
        // The server has ended.
        Err(error) if is_unavailable(&error) => Ok(()),
        ended => ended,
    }
}

fn is_unavailable(error: &anyhow::Error) -> bool {
    let of_grpc = error.downcast_ref::<Status>();
    of_grpc.is_some_and(|status| status.code() == Code::Unavailable)
        || match error.downcast_ref::<ClientError>() {
            Some(ClientError::Unreachable { .. }) => true,
            Some(ClientError::Refused(refusal)) => refusal.status == 503,
            Some(_) | None => false,
        }
}

/// Registers these nodes without a queue file, and keeps the connection open until the server ends.
pub(super) async fn bring(channel: Channel, nodes: Vec<v1::NodeInfo>) -> Result<()> {
    match stay(channel, nodes).await {
        Err(error) if is_unavailable(&error) => Ok(()),
        ended => ended,
    }
}

async fn stay(channel: Channel, nodes: Vec<v1::NodeInfo>) -> Result<()> {
    let mut streams = Streams::open(SchedulerClient::new(channel), "").await?;
    streams.send(Requests { nodes, ..Requests::default() }).await?;
    while let Some(answer) = streams.nodes.message().await? {
        for refused in answer.rejected {
            tracing::error!(node = refused.node_id, "a node was rejected: {}", refused.reason);
        }
    }
    Ok(())
}

/// All parts of the demo, connected to a server.
pub(super) struct Player {
    streams: Streams,
    play: Play,
    tenants: TenantPlay,
    tenants_next: u64,
}

impl Player {
    /// Registers the resource manager and its nodes, and creates the tenants.
    pub(super) async fn begin(channel: Channel, client: Client, seed: u64) -> Result<Self> {
        let mut streams = Streams::open(SchedulerClient::new(channel), QUEUES).await?;
        let Requests { nodes, allocations, .. } = Play::cluster();
        streams.send(Requests { nodes, ..Requests::default() }).await?;
        // Nodes and allocations are on separate streams, so the nodes must be registered first.
        streams.nodes.message().await?;
        streams.send(Requests { allocations, ..Requests::default() }).await?;
        let tenants = TenantPlay::begin(client, seed).await?;
        Ok(Self { streams, play: Play::new(seed), tenants, tenants_next: 0 })
    }

    /// Handles one message. Returns `false` after the server has ended.
    pub(super) async fn hear(&mut self, now: impl Fn() -> u64) -> Result<bool> {
        let Self { streams, play, .. } = self;
        tokio::select! {
            heard = streams.applications.message() => match heard? {
                Some(response) => play.hear_applications(&response),
                None => return Ok(false),
            },
            heard = streams.allocations.message() => match heard? {
                Some(response) => play.hear_allocations(now(), &response),
                None => return Ok(false),
            },
            heard = streams.nodes.message() => return Ok(heard?.is_some()),
        }
        Ok(true)
    }

    /// Sends the requests that are due at `now`, in milliseconds since the start.
    pub(super) async fn send(&mut self, now: u64) -> Result<()> {
        self.streams.send(self.play.until(now)).await
    }

    /// Sends the due requests of the tenants.
    pub(super) async fn tenants(&mut self, now: u64) -> Result<()> {
        if self.tenants_next > now {
            return Ok(());
        }
        self.tenants_next = now + tenants::BEAT;
        self.tenants.beat(now).await
    }
}

async fn play(channel: Channel, client: Client, seed: u64) -> Result<()> {
    let begun = Instant::now();
    let now = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut player = Player::begin(channel, client, seed).await?;
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = beat.tick() => player.tenants(now()).await?,
            goes_on = player.hear(now) => if !goes_on? {
                return Ok(());
            },
        }
        player.send(now()).await?;
    }
}

impl Streams {
    async fn open(mut client: SchedulerClient<Channel>, queues: &str) -> Result<Self> {
        let registration = v1::RegisterResourceManagerRequest {
            rm_id: RM.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            policy_group: "queues".to_owned(),
            config: queues.to_owned(),
            build_info: built::facts_of_rm(),
            ..v1::RegisterResourceManagerRequest::default()
        };
        let registered = client.register_resource_manager(registration).await;
        let registered = registered.context("the demo cannot register")?;
        let session = registered.metadata().get(SESSION_METADATA).cloned();
        let (to_nodes, nodes) = mpsc::channel(WAITING);
        let (to_applications, applications) = mpsc::channel(WAITING);
        let (to_allocations, allocations) = mpsc::channel(WAITING);
        let nodes = client.update_node(stream(nodes, session.as_ref())).await?;
        let applications =
            client.update_application(stream(applications, session.as_ref())).await?;
        let allocations = client.update_allocation(stream(allocations, session.as_ref())).await?;
        Ok(Self {
            to_nodes,
            to_applications,
            to_allocations,
            nodes: nodes.into_inner(),
            applications: applications.into_inner(),
            allocations: allocations.into_inner(),
        })
    }

    async fn send(&self, requests: Requests) -> Result<()> {
        let Requests { nodes, applications, allocations, releases } = requests;
        let rm_id = RM.to_owned();
        if !nodes.is_empty() {
            self.to_nodes.send(v1::NodeRequest { nodes, rm_id: rm_id.clone() }).await?;
        }
        if !applications.is_empty() {
            let (new, rm_id) = (applications, rm_id.clone());
            let request = v1::ApplicationRequest { new, rm_id, ..Default::default() };
            self.to_applications.send(request).await?;
        }
        if !allocations.is_empty() || !releases.is_empty() {
            let releases = v1::AllocationReleasesRequest { allocations_to_release: releases };
            let request = v1::AllocationRequest { releases: Some(releases), rm_id, allocations };
            self.to_allocations.send(request).await?;
        }
        Ok(())
    }
}

/// Opens a stream of requests that belongs to a session.
fn stream<T>(
    requests: mpsc::Receiver<T>,
    session: Option<&MetadataValue<Ascii>>,
) -> Request<ReceiverStream<T>> {
    let mut request = Request::new(ReceiverStream::new(requests));
    if let Some(session) = session {
        request.metadata_mut().insert(SESSION_METADATA, session.clone());
    }
    request
}
