//! `GET …/tenants/{tenant}/waiting` and `…/waiting/{task}`: the waiting tasks, their order, and the reasons.
//!
//! The scheduler is queried together with its current books, so order, figures, and reasons are from one moment. The
//! scheduler is blocked while the order, and the reasons of the requested part, are computed.

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{Code, ShortType, TaskReason, WaitingList, WaitingTask};
use headroom_core::books::Books;
use headroom_core::id::{AllocationId, QueueId};
use headroom_core::view::{self, WaitingView};
use headroom_core::{
    Blocker, Name, RefusalCode, Scheduler, TenantReason, TenantShort, Timestamp, Wait,
};
use headroom_engine::WriterState;

use super::super::answer::{Refused, json};
use super::super::request::NativeRequest;
use super::super::words::time;
use super::body::waiting_body;
use super::scope::TenantScope;
use crate::convert::value::resources;
use crate::service::Service;

/// Waiting tasks, before the rights of the caller are applied.
struct Found {
    sequence: u64,
    time: Timestamp,
    total: usize,
    tasks: Vec<(WaitingTask, Option<Reason>)>,
}

/// Reason why a task waits, for any caller.
pub(super) struct Reason {
    code: &'static str,
    /// The object that the task waits for.
    subject: String,
    /// The quota, if that is the reason.
    quota: Option<TenantReason>,
    sentence: String,
    /// Whether the sentence is only about the tenant's own tasks.
    own: bool,
}

/// Part of the waiting tasks.
enum Part {
    /// A number of tasks, from a position on: position, and number.
    From(usize, usize),
    /// The task with this id.
    One(Name),
}

impl Part {
    fn has(&self, books: &Books, place: usize, one: &WaitingView) -> bool {
        match self {
            Self::From(from, limit) => (*from..from.saturating_add(*limit)).contains(&place),
            Self::One(task) => books.application(one.application).name == *task,
        }
    }
}

fn find(moment: &WriterState<'_>, now: Timestamp, leaf: QueueId, part: &Part) -> Found {
    let WriterState { books, scheduler, sequence, time, .. } = *moment;
    let all = view::waiting(books, now, leaf);
    // A task that can never start does not block the others.
    let is_impossible = |one: &WaitingView| scheduler.is_impossible(books, one.ask);
    let head = all.iter().position(|one| !is_impossible(one));
    let chosen = all.iter().enumerate().filter(|(place, one)| part.has(books, *place, one));
    let tasks = chosen.map(|(place, one)| {
        let row = books.application(one.application);
        let line = &books.queue(leaf).settings.values.line;
        let task = WaitingTask {
            task: row.name.to_string(),
            position: place as u64 + 1,
            of: all.len() as u64,
            effective_priority: one.priority,
            waited_seconds: now.since(row.submitted).get() / 1_000,
            resources: resources(&books.types().amounts(&row.pending)),
            first_throttled_at: throttled(books, one),
            overtaken_by: row.overtaken,
            last_overtaken_by: row.overtaken_by.as_ref().map(Name::to_string),
            hold: head == Some(place) && row.holds(line, now),
            unsatisfiable: is_impossible(one),
            ..WaitingTask::default()
        };
        (task, reason(books, scheduler, one))
    });
    Found { sequence, time, total: all.len(), tasks: tasks.collect() }
}

fn throttled(books: &Books, one: &WaitingView) -> Option<jiff::Timestamp> {
    let (first, _) = books.application(one.application).task.as_ref()?.throttled.as_ref()?;
    Some(time(*first))
}

fn reason(books: &Books, scheduler: &Scheduler, one: &WaitingView) -> Option<Reason> {
    Some(Reason::of(books, one.ask, scheduler.wait_of(books, one.ask)?))
}

impl Reason {
    /// Returns the reason why an ask waits.
    pub(super) fn of(books: &Books, ask: AllocationId, wait: Wait) -> Self {
        let quota = wait.tenant_reason(books, ask);
        Self {
            code: wait.code(books, ask).as_str(),
            subject: wait.blocker.subject(books),
            quota,
            sentence: wait.sentence(books, ask),
            own: matches!(wait.blocker, Blocker::BehindHead(..)),
        }
    }
}

impl TenantScope<'_> {
    /// Returns the part of a reason that the caller can see. For ancestors of the tenant, this is the limit, but not
    /// the usage of other tenants. For the cluster, this is only the missing resource type.
    pub(super) fn shown(&self, reason: Reason) -> TaskReason {
        let Reason { code, subject, quota, sentence, own } = reason;
        let all = self.sees(&Name::default());
        let open = all || own || quota.as_ref().is_some_and(|quota| self.sees(&quota.scope));
        let types = quota.iter().flat_map(|quota| &quota.types).map(|short| shown(short, open));
        TaskReason {
            code: code.to_owned(),
            types: types.collect(),
            scope: Some(quota.as_ref().map_or(subject, |quota| quota.scope.to_string())),
            sentence: open.then_some(sentence),
        }
    }

    /// Returns the leaf of the tenant in the path.
    fn leaf(&self, books: &Books) -> Result<(Name, QueueId), Refused> {
        let (tenant, _) = self.tenant()?;
        let leaf = view::leaf_of_tenant(books, self.partition, &tenant);
        let leaf = leaf.ok_or_else(|| {
            let detail = format!(
                "tenant {tenant} is a limit in a shared queue, so it has no waiting list of its own"
            );
            Refused::new(self.asked, Code::Conflict, detail).by_rule(RefusalCode::TenantMode)
        })?;
        Ok((tenant, leaf))
    }
}

fn shown(short: &TenantShort, open: bool) -> ShortType {
    ShortType {
        resource: short.resource.to_string(),
        used: open.then(|| short.used.get()),
        asked: short.asked.get(),
        limit: short.limit.get(),
        short: open.then(|| short.short.get()),
    }
}

/// Returns a part of the waiting tasks, from the view of the caller.
async fn waiting_list(
    service: &Service,
    asked: &NativeRequest,
    part: Part,
) -> Result<WaitingList, Refused> {
    let now = service.clock.now();
    let view = service.engine.views().at_least(0).await;
    let (tenant, leaf) = TenantScope::of(&view, asked)?.leaf(&view.books)?;
    let path = view.books.queue(leaf).path.clone();
    let partition = TenantScope::of(&view, asked)?.partition;
    let found = service.engine.inspect_at(move |moment| {
        // The queue might have been removed meanwhile.
        let leaf = moment.books.queue_at(partition, &path)?;
        Some(find(moment, now, leaf, &part))
    });
    let found = found.await.map_err(|why| Refused::unavailable(asked, &why))?;
    // The list is sent only when the books that it is based on are durable.
    let sequence = found.as_ref().map_or(0, |found| found.sequence);
    let view = service.engine.views().at_least(sequence).await;
    let here = TenantScope::of(&view, asked)?;
    let (_, row) = here.tenant()?;
    let found = found.ok_or_else(|| here.not_visible(&tenant))?;
    let strategy = waiting_body(here.tenants().waiting_of(&row.settings)).strategy;
    let items = found.tasks.into_iter().map(|(task, reason)| WaitingTask {
        strategy,
        reason: reason.map(|reason| here.shown(reason)),
        ..task
    });
    Ok(WaitingList {
        tenant: tenant.to_string(),
        ledger_version: found.sequence,
        as_of: time(found.time),
        items: items.collect(),
        total: found.total as u64,
        cursor: None,
    })
}

pub(super) async fn list(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let parameters = asked.parameters(&["limit", "cursor"])?;
    let limit = parameters.limit()?;
    let from = parameters.get("cursor").map_or(Some(0), |cursor| {
        cursor.strip_prefix("w-").and_then(|place| place.parse::<usize>().ok())
    });
    let malformed = || {
        let detail = "the cursor belongs to another list; start again without a cursor";
        Refused::new(&asked, Code::Malformed, detail)
    };
    let from = from.ok_or_else(malformed)?;
    let mut list = waiting_list(&service, &asked, Part::From(from, limit)).await?;
    let next = from.saturating_add(list.items.len());
    let more = !list.items.is_empty() && (next as u64) < list.total;
    list.cursor = more.then(|| format!("w-{next}"));
    Ok(json(&asked, &list))
}

pub(super) async fn one(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let task = Name::new(asked.named("task").unwrap_or_default());
    let mut list = waiting_list(&service, &asked, Part::One(task.clone())).await?;
    let Some(found) = list.items.pop() else {
        let detail = format!("tenant {} has no waiting task {task:?}", list.tenant);
        return Err(Refused::new(&asked, Code::NotFound, detail));
    };
    Ok(json(&asked, &found))
}
