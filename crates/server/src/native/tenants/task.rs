//! Tasks in responses, and their visibility.

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{self as api, Code, Page};
use headroom_core::books::{Task, TaskOutcome, TaskState};
use headroom_core::id::ApplicationId;
use headroom_core::{Name, RefusalCode, view};
use headroom_engine::View;

use super::super::answer::{Refused, json};
use super::super::request::NativeRequest;
use super::super::words::{stamp, time};
use super::scope::TenantScope;
use crate::convert::value::resources;
use crate::service::Service;

/// A task that the caller sees.
pub(super) struct Seen<'a> {
    pub(super) here: TenantScope<'a>,
    pub(super) id: ApplicationId,
    pub(super) task: &'a Task,
}

impl<'a> Seen<'a> {
    /// Returns the task of the path, if it belongs to a tenant that the caller can see. The rejections of hidden and
    /// missing tasks have the same text.
    ///
    /// # Errors
    /// If the task is missing or hidden.
    pub(super) fn of(view: &'a View, asked: &'a NativeRequest) -> Result<Self, Refused> {
        let here = TenantScope::of(view, asked)?;
        let name = Name::new(asked.named("task").unwrap_or_default());
        let found = view.books.task_named(here.partition, &name).and_then(|id| {
            let task = view.books.application(id).task.as_deref()?;
            here.sees(&task.settings.tenant).then_some((id, task))
        });
        match found {
            Some((id, task)) => Ok(Self { here, id, task }),
            None => Err(no_task(asked, &name)),
        }
    }
}

pub(super) fn no_task(asked: &NativeRequest, name: &str) -> Refused {
    let detail = format!(
        "task {name:?} belongs to no tenant that you can see, or ended too long ago. Check the ID."
    );
    Refused::new(asked, Code::NotFound, detail).by_rule(RefusalCode::UnknownTask)
}

/// Returns the current state of a task.
pub(super) fn task_body(view: &View, id: ApplicationId) -> api::Task {
    let books = &view.books;
    let row = books.application(id);
    let task = row.task.as_deref().cloned().unwrap_or_default();
    let mut members: Vec<_> = books.allocations_of(id).map(|(_, one)| one).collect();
    members.reverse(); // The first that it asked for comes first.
    let member = members.first();
    let node = |id| books.node(id).name.to_string();
    let started = task.started.filter(|_| row.ask_count == 0);
    let nodes: Vec<String> = if task.end.is_some() {
        task.nodes.iter().map(Name::to_string).collect()
    } else {
        members.iter().filter_map(|one| one.node).map(node).collect()
    };
    api::Task {
        id: row.name.to_string(),
        tenant: task.settings.tenant.to_string(),
        user: row.user.to_string(),
        state: books.task_state(id).map(state).unwrap_or_default(),
        members: task.settings.members.max(1),
        resources: resources(&books.types().amounts(&task.size)),
        priority: member.map_or(0, |one| one.priority),
        deadline: row.deadline.at.map(time),
        node: nodes.first().cloned(),
        nodes,
        submitted_at: time(row.submitted),
        started_at: started.map(time),
        ended_at: task.end.as_ref().map(|end| time(end.at)),
        restarted: task.restarted,
        evicted: task.evicted,
        first_throttled_at: task.throttled.as_ref().map(|(first, _)| time(*first)),
        resource_seconds: resources(&view::task_seconds(books, id, view.time)),
        measured: task.measured.as_ref().map(|measured| api::TaskMeasured {
            at: time(measured.at),
            resources: resources(&books.types().amounts(&measured.resources)),
        }),
        ledger_version: view.sequence,
        as_of: time(view.time),
    }
}

pub(super) const fn state(state: TaskState) -> api::TaskState {
    match state {
        TaskState::Waiting => api::TaskState::Waiting,
        TaskState::Starting => api::TaskState::Starting,
        TaskState::Running => api::TaskState::Running,
        TaskState::Cancelling => api::TaskState::Cancelling,
        TaskState::Evicting => api::TaskState::Evicting,
        TaskState::Ended(TaskOutcome::Succeeded) => api::TaskState::Succeeded,
        TaskState::Ended(TaskOutcome::Failed) => api::TaskState::Failed,
        TaskState::Ended(TaskOutcome::Cancelled) => api::TaskState::Cancelled,
        TaskState::Ended(TaskOutcome::Evicted) => api::TaskState::Evicted,
        TaskState::Ended(TaskOutcome::Expired) => api::TaskState::Expired,
    }
}

pub(super) async fn one(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    let seen = Seen::of(&view, &asked)?;
    Ok(json(&asked, &task_body(&view, seen.id)))
}

pub(super) async fn list(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let parameters = asked.parameters(&["state", "limit", "cursor"])?;
    let limit = parameters.limit()?;
    let wanted = parameters.get("state").map(|text| {
        let value = serde_json::Value::from(text);
        serde_json::from_value::<api::TaskState>(value).map_err(|_| {
            let detail = format!("state is {text:?}, but it must be a state such as WAITING");
            Refused::new(&asked, Code::Malformed, detail)
        })
    });
    let wanted = wanted.transpose()?;
    let behind = parameters.get("cursor").map_or(Some(0), |cursor| {
        cursor.strip_prefix("k-").and_then(|number| number.parse::<u64>().ok())
    });
    let behind = behind.ok_or_else(|| {
        let detail = "the cursor belongs to another list; start again without a cursor";
        Refused::new(&asked, Code::Malformed, detail)
    })?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (tenant, _) = here.tenant()?;
    let (mut items, mut last, mut more) = (Vec::new(), behind, false);
    for (number, id) in here.row.tasks.of_tenant(&tenant, behind) {
        let state = view.books.task_state(id).map(state);
        if wanted.is_some() && state != wanted {
            continue;
        }
        if items.len() == limit {
            more = true;
            break;
        }
        last = number;
        items.push(task_body(&view, id));
    }
    let cursor = more.then(|| format!("k-{last}"));
    let stamp = stamp(&service, &view);
    Ok(json(&asked, &Page { stamp, items, cursor, ..Page::default() }))
}
