//! A server whose clock and scheduler go by hand, and the resource manager that a history tells of.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use conformance_sockets::{ByHand, messages, without_strict_guarantee};
use headroom_api::headroomv1::LogLevel;
use headroom_api::si::headroom::rm_message::Content as Asked;
use headroom_api::si::headroom::scheduler_message::Content as Answered;
use headroom_api::si::headroom::scheduler_session_client::SchedulerSessionClient;
use headroom_api::si::headroom::{Ping, Register, RmMessage, SchedulerMessage};
use headroom_api::si::v1;
use headroom_server::listen::Routers;
use headroom_server::{Assembly, Caller, LogLevels, Service, Settings as WholeSettings};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;
use xtask::conformance::scenario::{Home, Outcome, Placed, Told};

use super::recorded::Part;

/// A history in the middle. The runtime is dropped last: everything else runs on it.
pub(crate) struct Server {
    config: String,
    address: String,
    http: reqwest::Client,
    channel: Channel,
    session: Option<Session>,
    told: Told,
    /// Only absent while the server is dropped.
    engine: Option<ByHand>,
    serving: JoinHandle<()>,
    runtime: Runtime,
}

/// The stream of the resource manager.
struct Session {
    requests: mpsc::UnboundedSender<RmMessage>,
    answers: Streaming<SchedulerMessage>,
    sent: u64,
    heard: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
        if let Some(engine) = self.engine.take() {
            // A history that failed has said so already.
            let _ = self.runtime.block_on(engine.stop());
        }
    }
}

impl Server {
    /// A server that knows of nothing; `config` is the queue file of the registration.
    pub(crate) fn start(config: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let engine = ByHand::start().unwrap();
        let service = runtime.block_on(engine.service()).unwrap();
        let (address, serving) = runtime.block_on(serve(&service));
        let url = format!("http://{address}");
        let channel = runtime
            .block_on(async { Channel::from_shared(url.clone()).unwrap().connect().await })
            .unwrap();
        Self {
            config: config.to_owned(),
            address: url,
            http: reqwest::Client::new(),
            channel,
            session: None,
            told: Told::default(),
            engine: Some(engine),
            serving,
            runtime,
        }
    }

    fn register(&mut self, value: &Value) -> Result<()> {
        let mut manager = messages::registration(value);
        manager.config = without_strict_guarantee(&self.config);
        let register =
            Register { manager: Some(manager), skip_recovery: true, ..Register::default() };
        let (requests, to_send) = mpsc::unbounded_channel();
        let content = Some(Asked::Register(register));
        requests.send(RmMessage { seq: 1, content, ..RmMessage::default() })?;
        let mut client = SchedulerSessionClient::new(self.channel.clone());
        let answers = self.runtime.block_on(async {
            Ok::<_, tonic::Status>(
                client.session(UnboundedReceiverStream::new(to_send)).await?.into_inner(),
            )
        })?;
        self.session = Some(Session { requests, answers, sent: 1, heard: 0 });
        self.hear(|answer| matches!(answer, Answered::Registered(_)))?;
        Ok(())
    }

    fn send(&mut self, content: Asked) -> Result<()> {
        let session = self.session.as_mut().context("nobody has registered")?;
        session.sent += 1;
        let (seq, ack_seq) = (session.sent, session.heard);
        let message = RmMessage { seq, ack_seq, content: Some(content), ..RmMessage::default() };
        session.requests.send(message).context("the server has ended the stream")
    }

    /// Hear everything up to the first answer that is `wanted`.
    fn hear(&mut self, wanted: impl Fn(&Answered) -> bool) -> Result<Answered> {
        let Self { session, told, runtime, .. } = self;
        let session = session.as_mut().context("nobody has registered")?;
        runtime.block_on(async {
            loop {
                let message = session.answers.message().await?;
                let message = message.context("the server has ended the stream")?;
                session.heard = session.heard.max(message.seq);
                let Some(content) = message.content else { continue };
                if wanted(&content) {
                    return Ok(content);
                }
                take_in(told, content)?;
            }
        })
    }

    /// Hear everything that was told up to now.
    fn catch_up(&mut self) -> Result<()> {
        if self.session.is_some() {
            self.send(Asked::Ping(Ping { id: 1 }))?;
            self.hear(|answer| matches!(answer, Answered::Pong(_)))?;
        }
        Ok(())
    }

    /// The engine, and the runtime that waits for it.
    fn engine(&mut self) -> (&mut ByHand, &Runtime) {
        let Self { engine: Some(engine), runtime, .. } = self else {
            panic!("the engine is there until the server is dropped")
        };
        (engine, runtime)
    }

    fn advance(&mut self, millis: u64) -> Result<()> {
        let (engine, runtime) = self.engine();
        runtime.block_on(engine.advance(millis))
    }

    fn schedule(&mut self, most: u64) -> Result<()> {
        let (engine, runtime) = self.engine();
        // This resource manager answers no questions, so there are none.
        runtime.block_on(engine.schedule(most, async |_| Ok(())))
    }

    fn scan_quotas(&mut self) -> Result<()> {
        let (engine, runtime) = self.engine();
        runtime.block_on(engine.scan_quotas())
    }

    fn configure(&mut self, text: &str) -> Result<bool> {
        let config = without_strict_guarantee(text);
        let request =
            v1::UpdateConfigurationRequest { config, ..v1::UpdateConfigurationRequest::default() };
        self.send(Asked::Configuration(request))?;
        match self.hear(|answer| matches!(answer, Answered::ConfigurationResult(_)))? {
            Answered::ConfigurationResult(result) => Ok(result.error.is_empty()),
            other => bail!("{other:?} came in the place of a result"),
        }
    }

    /// Confirm all releases that were not confirmed yet, one by one; how many.
    fn confirm(&mut self) -> Result<usize> {
        let releases = self.told.take_unconfirmed();
        for one in &releases {
            let mut one = one.clone();
            one["partitionName"] = one["partition"].take();
            let releases = vec![messages::release(&one)?];
            let releases = v1::AllocationReleasesRequest { allocations_to_release: releases };
            self.send(Asked::Allocation(v1::AllocationRequest {
                releases: Some(releases),
                ..v1::AllocationRequest::default()
            }))?;
        }
        Ok(releases.len())
    }

    fn get(&self, path: &str) -> Result<Value> {
        let url = format!("{}/ws/v1/{path}", self.address);
        self.runtime.block_on(async {
            let response = self.http.get(&url).send().await?;
            if response.status() == reqwest::StatusCode::NOT_FOUND {
                return Ok(Value::Null);
            }
            Ok(response.error_for_status()?.json().await?)
        })
    }

    /// What REST shows, in the parts of the record.
    fn snapshot(&self) -> Result<Value> {
        let partitions = self.get("partitions")?;
        let (mut users, mut groups) = (Vec::new(), Vec::new());
        for one in partitions.as_array().into_iter().flatten() {
            let name = one["name"].as_str().unwrap_or_default();
            users.extend(elements(self.get(&format!("partition/{name}/usage/users"))?));
            groups.extend(elements(self.get(&format!("partition/{name}/usage/groups"))?));
        }
        // One list for all partitions, as the reference has it.
        users.sort_by_key(|one| one["userName"].as_str().unwrap_or_default().to_owned());
        groups.sort_by_key(|one| one["groupName"].as_str().unwrap_or_default().to_owned());
        let mut applications = Map::new();
        for state in ["active", "completed", "rejected"] {
            let all = self.get(&format!("partition/default/applications/{state}"))?;
            applications.insert(state.to_owned(), Part::Applications.of(all));
        }
        Ok(json!({
            "partitions": Part::Partitions.of(partitions),
            "users": Part::Usage.of(users.into()),
            "groups": Part::Usage.of(groups.into()),
            "queues": Part::Queues.of(self.get("partition/default/queues")?),
            "nodes": Part::Nodes.of(self.get("partition/default/nodes")?),
            "applications": applications,
        }))
    }
}

impl Home for Server {
    fn step(&mut self, step: &Value) -> Result<Outcome> {
        let input = step.as_object().context("a step must be an object")?;
        self.advance(1)?;
        let mut result = None;
        for (key, value) in input {
            match key.as_str() {
                "register" => self.register(value)?,
                "applications" => self.send(Asked::Application(messages::applications(value)?))?,
                "nodes" => self.send(Asked::Node(messages::nodes(value)?))?,
                "allocations" => self.send(Asked::Allocation(messages::allocations(value)?))?,
                "config" => {
                    let text = value.as_str().context("config must be a text")?;
                    result = Some(json!({"ok": self.configure(text)?}));
                }
                "schedule" => self.schedule(count(value, key)?)?,
                "confirm" => result = Some(json!(self.confirm()?)),
                "quota_preemption" => self.scan_quotas()?,
                "advance_ms" => self.advance(count(value, key)?)?,
                "responses" | "result" | "snapshot" | "cycles" | "settled" | "error"
                | "unstable" => {}
                _ => bail!("a step with {key:?} is unknown"),
            }
        }
        self.catch_up()?;
        let snapshot = input.contains_key("snapshot").then(|| self.snapshot()).transpose()?;
        Ok(Outcome { responses: self.told.take().into_responses(), result, snapshot })
    }
}

fn count(value: &Value, key: &str) -> Result<u64> {
    value.as_u64().with_context(|| format!("{key} must be a whole number"))
}

/// Everything on one port of loopback.
async fn serve(service: &Service) -> (std::net::SocketAddr, JoinHandle<()>) {
    let levels = Arc::new(LogLevels::new(LogLevel::default(), drop));
    let Routers { rest, rpc } = Assembly::of(service, &levels, &WholeSettings::default()).routers;
    let router = rest.merge(rpc.reset_fallback()).layer(axum::Extension(Caller::open()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

fn take_in(told: &mut Told, content: Answered) -> Result<()> {
    match content {
        Answered::Application(one) => {
            for accepted in &one.accepted {
                told.accept_application(&accepted.application_id);
            }
            for rejected in &one.rejected {
                told.refuse_application(&rejected.application_id);
            }
            for updated in &one.updated {
                told.update_application(&updated.application_id, &updated.state);
            }
        }
        Answered::Node(one) => {
            for accepted in &one.accepted {
                told.accept_node(&accepted.node_id);
            }
            for rejected in &one.rejected {
                told.refuse_node(&rejected.node_id);
            }
        }
        Answered::Allocation(one) => take_in_allocations(told, &one),
        Answered::RequestError(error) => bail!("the server refuses: {error:?}"),
        _ => {}
    }
    Ok(())
}

fn take_in_allocations(told: &mut Told, one: &v1::AllocationResponse) {
    for new in &one.new {
        let placed = Placed {
            application: &new.application_id,
            key: &new.allocation_key,
            node: &new.node_id,
            task_group: &new.task_group_name,
            placeholder: new.placeholder,
            originator: new.originator,
        };
        told.allocate(placed, messages::amounts(new.resource_per_alloc.as_ref()));
    }
    for gone in &one.released {
        let kind = gone.termination_type();
        let to_confirm = kind != v1::TerminationType::StoppedByRm;
        let named = (gone.application_id.as_str(), gone.allocation_key.as_str());
        told.release(&gone.partition_name, named, kind.as_str_name(), to_confirm);
    }
    for rejected in &one.rejected_allocations {
        told.refuse_allocation(&rejected.allocation_key, &rejected.application_id);
    }
}

fn elements(list: Value) -> Vec<Value> {
    match list {
        Value::Array(all) => all,
        _ => Vec::new(),
    }
}
