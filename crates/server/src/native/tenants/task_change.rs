//! Handlers that submit and change tasks.
//!
//! A client that repeats a request with its `Idempotency-Key` gets the current state of the task. The response has the
//! status of the first response, and `Idempotent-Replay: true`. The key is part of the task, so it is durable together
//! with the effect of the request, also after a restart.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode};
use headroom_api::headroomv1::{self as api, Code, IDEMPOTENCY_KEY_MAX, ReleaseOutcome, Role};
use headroom_core::books::{TaskRequest, TaskSettings, TaskState};
use headroom_core::id::ApplicationId;
use headroom_core::{
    ApplicationEvent, Ask, Command, Event, Millis, Name, RefusalCode, Submit, SubmitTask,
    TaskChange, Timestamp,
};
use headroom_engine::{Accepted, View};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::super::answer::{Refused, json};
use super::super::request::NativeRequest;
use super::change::{judged, read, refused, unfit};
use super::scope::TenantScope;
use super::task::{Seen, task_body};
use super::{body, task};
use crate::secret::random;
use crate::service::Service;

/// Largest priority, positive or negative, that a tenant can set for its own tasks.
const PRIORITY_MOST: i32 = 100;

/// Longest wait of the response to a submission for the first decision of the scheduler about the task.
const DECIDED_WITHIN: Duration = Duration::from_millis(250);

/// Returns the identity of a request, by which a repeat is recognized: its key, and a digest of its content.
fn request_of(asked: &NativeRequest, body: &impl Serialize) -> Result<TaskRequest, Refused> {
    let Some(key) = asked.header("idempotency-key") else { return Ok(TaskRequest::default()) };
    if key.is_empty() || key.len() > IDEMPOTENCY_KEY_MAX {
        let detail = format!(
            "`Idempotency-Key` has {} characters, but it must have 1 to {IDEMPOTENCY_KEY_MAX}",
            key.len()
        );
        return Err(Refused::new(asked, Code::Malformed, detail));
    }
    let digest = Name::from(digest_of(body));
    Ok(TaskRequest { key: Name::new(key), digest })
}

/// Returns a digest of the content of a body, independent of its formatting.
fn digest_of(body: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(body).expect("bodies are maps of texts");
    hex::encode(&Sha256::digest(bytes)[..16])
}

fn mismatch(asked: &NativeRequest, key: &str, task: &str) -> Refused {
    let detail = format!(
        "the `Idempotency-Key` {key:?} was already sent with another body, for task {task}. Choose \
         another key for another request."
    );
    Refused::new(asked, Code::Invalid, detail).by_rule(RefusalCode::IdempotencyMismatch)
}

/// Returns the events of a command, and a view after the command.
async fn followed(service: &Service, accepted: Accepted) -> (Vec<Event>, Arc<View>) {
    let events = accepted.entry.map(|entry| entry.record.events.clone()).unwrap_or_default();
    (events, service.engine.views().at_least(accepted.sequence).await)
}

/// Returns the response about a task. `again` marks the response as a repetition.
fn answer(
    asked: &NativeRequest,
    view: &View,
    id: ApplicationId,
    status: StatusCode,
    again: bool,
) -> Response<Body> {
    let mut response = json(asked, &task_body(view, id));
    *response.status_mut() = status;
    if again {
        response.headers_mut().insert("idempotent-replay", HeaderValue::from_static("true"));
    }
    response
}

/// Returns 201 if the task started immediately, and otherwise 202.
fn started_at_once(view: &View, id: ApplicationId) -> StatusCode {
    let task = view.books.application(id).task.as_deref();
    let at_once = task.is_some_and(|task| task.started.is_some() && !task.waited);
    if at_once { StatusCode::CREATED } else { StatusCode::ACCEPTED }
}

pub(super) async fn submit(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let submission: api::TaskSubmission = read(&asked, &body)?;
    let request = request_of(&asked, &submission)?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (tenant, _) = here.tenant()?;
    here.may_act(&tenant)?;
    if let Some(answer) =
        repeated(&view, &here, (&tenant, &submission, &request), service.clock.now())?
    {
        return Ok(answer);
    }
    let command = here.submission(&tenant, &submission, request.clone())?;
    let name = command.submit.application.clone();
    let outcome = judged(&service, &asked, Command::SubmitTask(Box::new(command))).await?;
    let (events, view) = match outcome {
        Ok(accepted) => followed(&service, accepted).await,
        Err(rejection) => {
            // Another client might have sent the same request meanwhile.
            let view = service.engine.views().at_least(0).await;
            let here = TenantScope::of(&view, &asked)?;
            let again =
                repeated(&view, &here, (&tenant, &submission, &request), service.clock.now())?;
            return again.ok_or_else(|| refused(&asked, &rejection));
        }
    };
    if let Some(Event::Application(ApplicationEvent::Rejected { code, message, .. })) =
        events.last()
    {
        return Err(rejected(&asked, code, message));
    }
    let view = decided(&service, view, &asked, &name).await;
    let here = TenantScope::of(&view, &asked)?;
    let id = view.books.task_named(here.partition, &name);
    let id = id.ok_or_else(|| task::no_task(&asked, &name))?;
    Ok(answer(&asked, &view, id, started_at_once(&view, id), false))
}

/// Returns a view in which the scheduler has evaluated a task. If this takes too long, returns the newest view.
async fn decided(
    service: &Service,
    view: Arc<View>,
    asked: &NativeRequest,
    name: &Name,
) -> Arc<View> {
    let is_decided = |view: &View| {
        let id = TenantScope::of(view, asked)
            .ok()
            .and_then(|here| view.books.task_named(here.partition, name));
        let is_reported = |id: ApplicationId| {
            let task = view.books.application(id).task.as_deref();
            task.is_none_or(|task| task.throttled.is_some())
        };
        id.is_none_or(|id| view.books.task_state(id) != Some(TaskState::Waiting) || is_reported(id))
    };
    let mut newest = view;
    let _ = tokio::time::timeout(DECIDED_WITHIN, async {
        while !is_decided(&newest) {
            newest = service.engine.views().at_least(newest.sequence + 1).await;
        }
    })
    .await;
    newest
}

/// Returns the rejection of a task. The core stores the rejection, so that the audit log contains it.
fn rejected(asked: &NativeRequest, code: &str, message: &str) -> Refused {
    let rule = RefusalCode::named(code);
    let kind = match rule {
        Some(RefusalCode::WaitingListFull) => Code::TooManyRequests,
        Some(RefusalCode::TenantDraining | RefusalCode::TenantClosed) => Code::Conflict,
        Some(RefusalCode::UnknownTenant) => Code::NotFound,
        _ => Code::Invalid,
    };
    let refused = Refused::new(asked, kind, message);
    match rule {
        Some(rule) => refused.by_rule(rule),
        None => refused,
    }
}

/// Returns the response to a request that was already executed, with the same key or for the same id.
fn repeated(
    view: &View,
    here: &TenantScope<'_>,
    (tenant, submission, request): (&Name, &api::TaskSubmission, &TaskRequest),
    now: Timestamp,
) -> Result<Option<Response<Body>>, Refused> {
    let asked = here.asked;
    let task_of = |id: ApplicationId| view.books.application(id).task.as_deref();
    if !request.key.is_empty() {
        let found = here.row.tasks.submitted(tenant, &request.key);
        let found = found
            .filter(|id| now < view.books.application(*id).submitted + here.config.idempotency_ttl);
        if let Some((id, task)) = found.and_then(|id| Some((id, task_of(id)?))) {
            if task.settings.request.digest != request.digest {
                let name = &view.books.application(id).name;
                return Err(mismatch(asked, &request.key, name));
            }
            return Ok(Some(answer(asked, view, id, started_at_once(view, id), true)));
        }
    }
    // An id that the client chose also acts as a key.
    let Some(name) = &submission.id else { return Ok(None) };
    let found = view.books.task_named(here.partition, &Name::new(name));
    let same = found.filter(|id| {
        let digest = digest_of(submission);
        task_of(*id).is_some_and(|task| {
            task.settings.tenant == *tenant && *task.settings.request.digest == *digest
        })
    });
    Ok(same.map(|id| answer(asked, view, id, started_at_once(view, id), true)))
}

/// Rejects more members or blocked nodes than a task can have, before they are processed.
pub(in super::super) fn are_few(
    asked: &NativeRequest,
    members: u32,
    blocked_nodes: &[String],
) -> Result<(), Refused> {
    let most = SubmitTask::MEMBERS_MAX;
    if !(1..=most).contains(&members) {
        let detail = format!("`members` is {members}, but it must be from 1 to {most}");
        return Err(Refused::new(asked, Code::Invalid, detail).by_rule(RefusalCode::TaskMembers));
    }
    let (count, most) = (blocked_nodes.len(), Ask::BLOCKED_NODES_MAX);
    if count > most {
        let detail = format!("`blockedNodes` names {count} nodes, but at most {most} are allowed");
        let rule = RefusalCode::ManyBlockedNodes;
        return Err(Refused::new(asked, Code::Invalid, detail).by_rule(rule));
    }
    Ok(())
}

/// Returns the tags for the deadline and the estimate of a task.
fn tags_of(submission: &api::TaskSubmission) -> Vec<(Name, Name)> {
    let mut tags = Vec::new();
    if let Some(deadline) = submission.deadline {
        let second = deadline.as_second().max(0).to_string();
        tags.push((Name::new("headroom/deadline"), Name::new(&second)));
    }
    if let Some(estimate) = submission.estimate_seconds {
        tags.push((Name::new("headroom/estimate"), Name::from(estimate.to_string())));
    }
    tags
}

impl TenantScope<'_> {
    /// Returns the command that submits a task, if the caller is allowed to set all of its fields.
    pub(super) fn submission(
        &self,
        tenant: &Name,
        submission: &api::TaskSubmission,
        request: TaskRequest,
    ) -> Result<SubmitTask, Refused> {
        let asked = self.asked;
        let caller = &asked.caller;
        let is_admin = caller.is(Role::Admin);
        self.may_rank(submission.priority)?;
        let own = if caller.user.is_empty() { &caller.identity } else { caller.user.as_str() };
        let user = submission.user.as_deref().unwrap_or(own);
        if user != own && !is_admin {
            let detail =
                format!("{} can submit tasks only as {own}, not as {user:?}", caller.identity);
            return Err(Refused::new(asked, Code::Forbidden, detail));
        }
        let resources = body::amounts("the task", &submission.resources);
        let resources = resources.map_err(|why| unfit(asked, why))?;
        are_few(asked, submission.members, &submission.blocked_nodes)?;
        let id = match &submission.id {
            Some(id) => Name::new(id),
            None => made_id(asked)?,
        };
        let seconds = |span: u32| Millis::from_secs(span.into());
        let usual = self
            .tenants()
            .get(tenant)
            .and_then(|row| self.tenants().waiting_of(&row.settings).max_wait);
        let partition = self.row.name.clone();
        let submit = Submit {
            partition: partition.clone(),
            application: id.clone(),
            tenant: tenant.clone(),
            user: Name::new(user),
            groups: if user == own { caller.groups.clone() } else { Vec::new() },
            tags: tags_of(submission),
            ..Submit::default()
        };
        let ask = Ask {
            partition,
            application: id.clone(),
            key: id.clone(),
            resources,
            priority: submission.priority,
            preemptable: submission.preemptible,
            node_label: submission.node_label.as_deref().map(Name::new).unwrap_or_default(),
            blocked_nodes: submission.blocked_nodes.iter().map(Name::new).collect(),
            ..Ask::default()
        };
        // The digest is stored without a key too, because an id that the client chose acts as a key.
        let digest =
            if request.key.is_empty() { Name::from(digest_of(submission)) } else { request.digest };
        let settings = TaskSettings {
            members: submission.members,
            requeue: submission.requeue,
            restarts: submission.restarts,
            max_wait: submission
                .max_wait_seconds
                .map_or(usual, |span| (span > 0).then(|| seconds(span))),
            request: TaskRequest { key: request.key, digest },
            ..TaskSettings::default()
        };
        Ok(SubmitTask { submit, ask, settings })
    }

    /// Checks that the caller is allowed to set this priority.
    fn may_rank(&self, priority: i32) -> Result<(), Refused> {
        let within = (-PRIORITY_MOST..=PRIORITY_MOST).contains(&priority);
        if within || self.asked.caller.is(Role::Admin) {
            return Ok(());
        }
        let detail = format!(
            "the priority is {priority}, but tenants can set only -{PRIORITY_MOST} to {PRIORITY_MOST} for their own tasks. Ask a user with the role `admin`."
        );
        Err(Refused::new(self.asked, Code::Forbidden, detail))
    }
}

fn made_id(asked: &NativeRequest) -> Result<Name, Refused> {
    let bytes: [u8; 8] =
        random().map_err(|why| Refused::new(asked, Code::Internal, why.to_string()))?;
    Ok(Name::from(format!("t-{}", hex::encode(bytes))))
}

/// Changes the task of the path. A missing task takes precedence over faults in the body.
async fn change(
    service: &Service,
    asked: &NativeRequest,
    change: Result<TaskChange, Refused>,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    let seen = Seen::of(&view, asked)?;
    seen.here.may_act(&seen.task.settings.tenant)?;
    let change = change?;
    let (partition, id) = (seen.here.row.name.clone(), seen.id);
    let task = view.books.application(id).name.clone();
    let cancels = change == TaskChange::Cancel;
    let ends = matches!(change, TaskChange::End { .. });
    let command = Command::ChangeTask { partition, task: task.clone(), change };
    let outcome = judged(service, asked, command).await?;
    let accepted = outcome.map_err(|rejection| refused(asked, &rejection))?;
    let (events, view) = followed(service, accepted).await;
    // The task has ended, and was perhaps removed from the books.
    if view.books.applications().get(id).is_none() {
        return Err(task::no_task(asked, &task));
    }
    let stopping = view.books.task_state(id) == Some(TaskState::Cancelling);
    let status = if cancels && stopping { StatusCode::ACCEPTED } else { StatusCode::OK };
    // A second report of the end with the same key changes nothing.
    Ok(answer(asked, &view, id, status, ends && events.is_empty()))
}

pub(super) async fn confirm(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    change(&service, &asked, Ok(TaskChange::Confirm)).await
}

pub(super) async fn cancel(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    change(&service, &asked, Ok(TaskChange::Cancel)).await
}

pub(super) async fn release(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let release: api::TaskRelease = read(&asked, &body)?;
    let request = request_of(&asked, &release)?;
    let succeeded = release.outcome == ReleaseOutcome::Succeeded;
    change(&service, &asked, Ok(TaskChange::End { succeeded, request })).await
}

pub(super) async fn resize(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let resize: api::TaskResize = read(&asked, &body)?;
    let resources = body::amounts("the task", &resize.resources);
    let resized = resources.map(|resources| TaskChange::Resize { resources });
    change(&service, &asked, resized.map_err(|why| unfit(&asked, why))).await
}

pub(super) async fn measure(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let measurement: api::TaskMeasurement = read(&asked, &body)?;
    let resources = body::amounts("the measured usage", &measurement.resources);
    let measured = resources.map(|resources| TaskChange::Measure { resources });
    change(&service, &asked, measured.map_err(|why| unfit(&asked, why))).await
}

pub(super) async fn rank(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let rank: api::TaskRank = read(&asked, &body)?;
    let view = service.engine.views().at_least(0).await;
    let seen = Seen::of(&view, &asked)?;
    let (tenant, _) = seen.here.tenant()?;
    if seen.task.settings.tenant != tenant {
        let name = asked.named("task").unwrap_or_default();
        return Err(task::no_task(&asked, name));
    }
    seen.here.may_rank(rank.priority.unwrap_or_default())?;
    let deadline = rank
        .deadline
        .map(|at| Timestamp::from_millis(u64::try_from(at.as_millisecond()).unwrap_or_default()));
    drop(view);
    change(&service, &asked, Ok(TaskChange::Rank { priority: rank.priority, deadline })).await
}
