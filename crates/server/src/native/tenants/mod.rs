//! `/headroom/v1/tenants` and `…/tenant-defaults`: settings and usage of tenants.
//!
//! A change is one command, which the core evaluates. This module parses the request, and reports the outcome in terms
//! of HTTP. Versions are the versions of the core. They detect two clients that change a tenant at the same time.

mod audit;
mod body;
mod change;
mod check;
mod events;
mod scope;
mod task;
mod task_change;
mod waiting;
mod whole;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use headroom_api::headroomv1::{
    AncestorLimit, Code, LedgerDrift, LedgerVerified, Page, TaskSubmission, TenantMeasured,
    TenantUsage, TenantWaiting,
};
use headroom_core::books::TaskRequest;
use headroom_core::id::PartitionId;
use headroom_core::resource::Amounts;
use headroom_core::{Name, SubmitTask, view};
use headroom_engine::View;

use super::answer::{Refused, json, versioned};
use super::request::NativeRequest;
use super::words::{stamp, time};
use crate::audit::origin;
use crate::convert::value::resources;
use crate::service::Service;
pub(super) use change::read;
use scope::TenantScope;
pub(super) use task_change::are_few;

/// Returns a hypothetical task for a tenant that the caller sees.
///
/// # Errors
/// If the caller does not see the tenant, or is not allowed to set a field.
pub(super) fn supposed(
    view: &View,
    asked: &NativeRequest,
    (partition, tenant): (PartitionId, &Name),
    submission: &TaskSubmission,
) -> Result<SubmitTask, Refused> {
    let here = TenantScope::of(view, asked)?;
    if here.partition != partition || here.tenants().get(tenant).is_none() || !here.sees(tenant) {
        return Err(here.not_visible(tenant));
    }
    here.submission(tenant, submission, TaskRequest::default())
}

/// Parses amounts. `what` is the name of the amounts in rejections.
///
/// # Errors
/// If the amounts are not valid.
pub(super) fn amounts(
    asked: &NativeRequest,
    what: &str,
    sent: &headroom_api::headroomv1::Amounts,
) -> Result<Amounts, Refused> {
    body::amounts(what, sent).map_err(|why| change::unfit(asked, why))
}

/// Returns the handler of an operation in the table of routes. `None` for operations of other modules.
pub(super) fn handler(operation: &str) -> Option<MethodRouter<Service>> {
    Some(match operation {
        "listTenants" => get(list),
        "createTenant" => post(change::create),
        "getTenant" => get(one),
        "putTenant" => put(change::put),
        "patchTenant" => patch(change::patch),
        "deleteTenant" => delete(change::remove),
        "getTenantQuota" => get(quota),
        "putTenantQuota" => put(change::put_quota),
        "getTenantUsage" => get(usage),
        "watchTenant" => get(events::watch),
        "getTenantAudit" => get(audit::one),
        "getAudit" => get(audit::all),
        "verifyLedger" => post(verify),
        "getTenantDefaults" => get(defaults),
        "putTenantDefaults" => put(change::put_defaults),
        "checkQuota" => post(check::check),
        "submitTask" => post(task_change::submit),
        "listTasks" => get(task::list),
        "getTask" => get(task::one),
        "confirmTask" => post(task_change::confirm),
        "resizeTask" => post(task_change::resize),
        "measureTask" => post(task_change::measure),
        "releaseTask" => post(task_change::release),
        "cancelTask" => post(task_change::cancel),
        "listWaiting" => get(waiting::list),
        "getWaiting" => get(waiting::one),
        "rankTask" => patch(task_change::rank),
        _ => return None,
    })
}

async fn list(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let parameters = asked.parameters(&["kind", "parent", "overQuota", "limit", "cursor"])?;
    let (limit, over) = (parameters.limit()?, parameters.flag("overQuota")?);
    let kind = parameters.get("kind");
    if let Some(other) = kind.filter(|kind| !["user", "project", "department"].contains(kind)) {
        let detail = format!("kind is {other:?}, but it must be user, project, or department");
        return Err(Refused::new(&asked, Code::Malformed, detail));
    }
    let parent = parameters.get("parent").map(Name::new);
    let after = match parameters.get("cursor").map(|cursor| cursor.strip_prefix("t-")) {
        None => Name::default(),
        Some(Some(last)) => Name::new(last),
        Some(None) => {
            let detail = "the cursor belongs to another list; start again without a cursor";
            return Err(Refused::new(&asked, Code::Malformed, detail));
        }
    };
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (mut items, mut more) = (Vec::new(), false);
    for (name, row) in here.tenants().iter() {
        // The number of other tenants is hidden too.
        if !here.sees(name) {
            continue;
        }
        if *name <= after || parent.is_some() && parent != row.settings.parent {
            continue;
        }
        let body = body::tenant(name, row, here.tenants(), &here.config.root);
        if kind.is_some_and(|kind| kind != format!("{:?}", body.kind).to_lowercase()) {
            continue;
        }
        if let Some(over) = over {
            let used = view::tenant(&view.books, here.partition, name).unwrap_or_default();
            if used.excess().is_empty() == over {
                continue;
            }
        }
        if items.len() == limit {
            more = true;
            break;
        }
        items.push(body);
    }
    let cursor = items.last().filter(|_| more).map(|last| format!("t-{}", last.id));
    let stamp = stamp(&service, &view);
    Ok(json(&asked, &Page { stamp, items, cursor, ..Page::default() }))
}

async fn verify(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    TenantScope::of(&view, &asked)?;
    let origin = origin(&asked.caller, &asked.request_id);
    let verified = service.engine.verify(origin).await;
    let verified = verified.map_err(|why| Refused::unavailable(&asked, &why))?;
    let drift = verified.drift.iter().map(|one| LedgerDrift {
        tenant: one.tenant.to_string(),
        r#type: one.resource.to_string(),
        counted: one.counted.get(),
        found: one.found.get(),
        by: one.by().get(),
    });
    let body = LedgerVerified {
        ledger_version: verified.sequence,
        as_of: time(verified.time),
        drift: drift.collect(),
    };
    Ok(json(&asked, &body))
}

async fn one(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (name, row) = here.tenant()?;
    let body = body::tenant(&name, row, here.tenants(), &here.config.root);
    Ok(versioned(&asked, StatusCode::OK, row.version, &body))
}

async fn quota(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    let (_, row) = TenantScope::of(&view, &asked)?.tenant()?;
    Ok(versioned(&asked, StatusCode::OK, row.version, &body::quota(&row.settings)))
}

async fn defaults(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    let tenants = TenantScope::of(&view, &asked)?.tenants();
    let body = body::defaults_body(tenants);
    Ok(versioned(&asked, StatusCode::OK, tenants.defaults_version(), &body))
}

async fn usage(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let now = service.clock.now();
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (name, _) = here.tenant()?;
    let used =
        |tenant: &Name| view::tenant(&view.books, here.partition, tenant).unwrap_or_default();
    let own = used(&name);
    let excess = own.excess();
    let above = here.tenants().up(&name).skip(1);
    let with_below = here.tenants().with_below(&name);
    let (measured, tasks) = view::tenant_measured(&view.books, here.partition, &with_below);
    let body = TenantUsage {
        tenant: name.to_string(),
        ledger_version: view.sequence,
        as_of: time(view.time),
        over_quota: !excess.is_empty(),
        quota: resources(&own.quota),
        used: resources(&own.used),
        free: resources(&own.free()),
        excess: (!excess.is_empty()).then(|| resources(&excess)),
        waiting: TenantWaiting {
            tasks: own.waiting,
            resources: resources(&own.pending),
            oldest_seconds: own.oldest.map_or(0, |oldest| now.since(oldest).get() / 1_000),
        },
        by_ancestor: above
            .map(|(above, _)| AncestorLimit {
                tenant: above.to_string(),
                limited: used(above).leaves_less_than(&own),
            })
            .collect(),
        resource_seconds: resources(&view::tenant_seconds(
            &view.books,
            here.partition,
            &with_below,
            view.time,
        )),
        measured: (tasks > 0).then(|| TenantMeasured { tasks, resources: resources(&measured) }),
        throttled_total: with_below
            .iter()
            .flat_map(|tenant| view.tally.tenants.throttled(tenant))
            .map(|(_, count)| count)
            .sum(),
    };
    Ok(json(&asked, &body))
}
