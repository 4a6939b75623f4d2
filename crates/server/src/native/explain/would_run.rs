//! `POST /headroom/v1/partitions/{partition}/explain`: predicts the outcome of a hypothetical submission.
//!
//! The commands of the submission run on a copy of the books, in parallel with the writer. The copy is then dropped.
//! Callers without a role that reads everything can ask only on their own behalf. They get no reason for a rejection if
//! the reason would reveal a hidden queue.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{
    Code, ExplainedState, Explanation, Stamp, TaskSubmission, WouldRun,
};
use headroom_core::books::Books;
use headroom_core::explain::{
    self, Hypothetical, Verdict, WHAT_IF_STEPS, WhatIfAccepted, WhatIfOutcome, unused_name, what_if,
};
use headroom_core::id::PartitionId;
use headroom_core::resource::Amounts;
use headroom_core::{Ask, Name, Submit, SubmitTask, Timestamp};

use super::super::answer::{Refused, json};
use super::super::partitions::of_path;
use super::super::request::NativeRequest;
use super::super::words::{epoch, time};
use super::super::{tenants, visible};
use super::{Sought, Viewer, explained, wanted};
use crate::service::Service;

mod hidden;

pub(in super::super) async fn would_run(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let sought = wanted(&asked, false)?;
    let request: WouldRun = tenants::read(&asked, &body)?;
    let view = service.engine.views().at_least(0).await;
    let books = &view.books;
    let partition = of_path(books, &asked)?;
    let supposed = match &request.tenant {
        Some(tenant) => {
            let task = as_task(&asked, &request)?;
            let task = tenants::supposed(&view, &asked, (partition, &Name::new(tenant)), &task)?;
            Hypothetical::Task(named(task, books, partition))
        }
        None => application(&asked, &request, (books, partition))?,
    };
    let stamp = Stamp { sequence: view.sequence, epoch: epoch(&service), as_of: time(view.time) };
    let now = service.clock.now().max(view.time);
    let (copy, viewer) = (books.clone(), Viewer::of(&asked));
    let looked = tokio::task::spawn_blocking(move || {
        let imagined = what_if(&copy, now, &supposed, WHAT_IF_STEPS);
        visible_outcome(&viewer, (&copy, partition), now, (imagined, &supposed), &sought)
    });
    let found = looked.await.map_err(|_| {
        Refused::new(
            &asked,
            Code::Internal,
            "the server could not predict the outcome. See the log of the server.",
        )
    })?;
    Ok(json(&asked, &Explanation { stamp, ..found }))
}

/// Returns the response to the caller.
fn visible_outcome(
    viewer: &Viewer,
    (books, partition): (&Books, PartitionId),
    now: Timestamp,
    (imagined, supposed): (WhatIfOutcome, &Hypothetical),
    sought: &Sought,
) -> Explanation {
    let caller = &viewer.caller;
    let submit = match supposed {
        Hypothetical::Application(submit, ..) => submit,
        Hypothetical::Task(task) => &task.submit,
    };
    match imagined {
        WhatIfOutcome::Rejected { code, message } => {
            let (code, message) =
                hidden::unless_seen((books, partition), caller, (&code, &message));
            Explanation {
                application: submit.application.to_string(),
                queue: submit.queue.to_string(),
                user: submit.user.to_string(),
                state: ExplainedState::Rejected,
                line: explain::cut(&format!("rejected: {code} {message}")),
                code: Some(code),
                sentence: Some(message),
                would_start: Some(0),
                ..Explanation::default()
            }
        }
        WhatIfOutcome::TakenIn(taken) => {
            let WhatIfAccepted { books, explanation, starts, ran_out, .. } = *taken;
            let mut body = explained(&books, caller, &explanation);
            body.would_start = Some(starts as u64);
            if explanation.verdict != Verdict::StartsNext && !sought.is_empty() {
                sought.look(&books, viewer, now, &explanation).show(&mut body);
            }
            if ran_out {
                body.remedies.get_or_insert_default().ran_out = true;
            }
            body
        }
    }
}

/// Returns the fields of a task, as for a submission.
fn as_task(asked: &NativeRequest, request: &WouldRun) -> Result<TaskSubmission, Refused> {
    tenants::are_few(asked, request.members, &request.blocked_nodes)?;
    let not_of_tasks = [
        ("queue", request.queue.is_some()),
        ("groups", request.groups.as_ref().is_some_and(|groups| !groups.is_empty())),
        ("gang", request.gang),
        ("requiredNode", request.required_node.is_some()),
        ("mayPreempt", request.may_preempt),
        ("tags", !request.tags.is_empty()),
    ];
    if let Some((field, _)) = not_of_tasks.iter().find(|(_, is_set)| *is_set) {
        let detail = format!(
            "the request has `tenant` and `{field}`, but a task of a tenant cannot have `{field}`. \
             Omit one of them."
        );
        return Err(Refused::new(asked, Code::Invalid, detail));
    }
    Ok(TaskSubmission {
        user: request.user.clone(),
        resources: request.resources.clone(),
        members: request.members,
        priority: request.priority,
        preemptible: true,
        node_label: request.node_label.clone(),
        blocked_nodes: request.blocked_nodes.clone(),
        ..TaskSubmission::default()
    })
}

/// Returns the task with an unused name.
fn named(mut task: SubmitTask, books: &Books, partition: PartitionId) -> SubmitTask {
    let name = unused_name(books, partition, task.members());
    task.ask.application = name.clone();
    task.ask.key = name.clone();
    task.submit.application = name;
    task
}

/// Returns an application of the caller. Callers who see everything can choose any user.
fn application(
    asked: &NativeRequest,
    request: &WouldRun,
    (books, partition): (&Books, PartitionId),
) -> Result<Hypothetical, Refused> {
    tenants::are_few(asked, request.members, &request.blocked_nodes)?;
    let (user, groups) = who(asked, request)?;
    let resources = tenants::amounts(asked, "the request", &request.resources)?;
    let members = request.members;
    let application = unused_name(books, partition, members);
    let partition = books.partition(partition).name.clone();
    let name = |text: &Option<String>| text.as_deref().map(Name::new).unwrap_or_default();
    let submit = Submit {
        partition: partition.clone(),
        application: application.clone(),
        queue: name(&request.queue),
        user,
        groups,
        tags: request.tags.iter().map(|(key, value)| (Name::new(key), Name::new(value))).collect(),
        placeholder_ask: if request.gang {
            resources.times(members.into())
        } else {
            Amounts::EMPTY
        },
        ..Submit::default()
    };
    let ask = Ask {
        partition,
        application: application.clone(),
        resources,
        priority: request.priority,
        placeholder: request.gang,
        task_group: if request.gang { Name::new("members") } else { Name::default() },
        required_node: name(&request.required_node),
        may_preempt: request.may_preempt,
        preemptable: true,
        node_label: name(&request.node_label),
        blocked_nodes: request.blocked_nodes.iter().map(Name::new).collect(),
        ..Ask::default()
    };
    Ok(Hypothetical::Application(submit, ask, members))
}

/// Returns the user and groups of the submission.
fn who(asked: &NativeRequest, request: &WouldRun) -> Result<(Name, Vec<Name>), Refused> {
    let caller = &asked.caller;
    let sees_all = visible::everything(caller);
    let forbidden = |detail: String| Err(Refused::new(asked, Code::Forbidden, detail));
    if !sees_all && !visible::counts_hidden(caller) {
        let identity = &caller.identity;
        return forbidden(format!(
            "{identity} can read tenants, but cannot submit to queues. Set `tenant`."
        ));
    }
    let own = if caller.user.is_empty() { caller.identity.as_str() } else { &*caller.user };
    let user = request.user.as_deref().unwrap_or(own);
    let given =
        request.groups.as_ref().map(|groups| groups.iter().map(Name::new).collect::<Vec<_>>());
    if sees_all {
        let usual = if user == own { caller.groups.clone() } else { Vec::new() };
        return Ok((Name::new(user), given.unwrap_or(usual)));
    }
    if user != own {
        let identity = &caller.identity;
        return forbidden(format!(
            "{identity} can ask only for user {own}, not for {user:?}. Ask with a role that reads everything."
        ));
    }
    if given.is_some_and(|given| given != caller.groups) {
        return forbidden(format!("the groups of {own} are known. Omit `groups`."));
    }
    Ok((Name::new(own), caller.groups.clone()))
}
