//! Handlers that change tenants: `POST`, `PUT`, `PATCH`, and `DELETE`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Response, StatusCode};
use headroom_api::headroomv1::{self as api, Code, TenantQuota};
use headroom_core::config::TenantSettings;
use headroom_core::config::tenant::OnLower;
use headroom_core::view::QuotaReductionView;
use headroom_core::{
    Command, Name, RefusalCode, Rejection, SetTenant, TaskRejection, TenantRejection, decide, view,
};
use headroom_engine::{Origin, Outcome, Submission, View};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::answer::{Refused, tag_of, versioned};
use super::super::request::{Expected, NativeRequest};
use super::body::{self, Unfit};
use super::scope::TenantScope;
use super::whole::whole_numbers;
use crate::audit;
use crate::convert::value::resources;
use crate::service::Service;

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// Parses a body.
pub(in super::super) fn read<T: DeserializeOwned>(
    asked: &NativeRequest,
    body: &[u8],
) -> Result<T, Refused> {
    asked.sends(&[JSON])?;
    // A list would be parsed as the fields of an object, in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Refused::new(asked, Code::Malformed, "the body: expected an object"));
    }
    serde_json::from_slice(&whole_numbers(body)).map_err(|error| unreadable(asked, &error))
}

fn unreadable(asked: &NativeRequest, error: &serde_json::Error) -> Refused {
    Refused::new(asked, Code::Malformed, format!("the body: {error}"))
}

pub(super) fn unfit(asked: &NativeRequest, unfit: Unfit) -> Refused {
    Refused::new(asked, Code::Invalid, unfit.detail).by_rule(unfit.rule)
}

/// Returns the refusal for a rejection of the core.
pub(super) fn refused(asked: &NativeRequest, rejection: &Rejection) -> Refused {
    use TaskRejection as Task;
    use TenantRejection as Tenant;
    let (code, tag) = match rejection {
        Rejection::Tenant(Tenant::Unknown { .. }) | Rejection::Task(Task::Unknown { .. }) => {
            (Code::NotFound, None)
        }
        Rejection::Tenant(Tenant::Exists { version, .. }) if asked.expected().is_some() => {
            (Code::PreconditionFailed, Some(tag_of(*version)))
        }
        Rejection::Tenant(
            Tenant::Version { version, .. } | Tenant::DefaultsVersion { version, .. },
        ) => (Code::PreconditionFailed, (*version > 0).then(|| tag_of(*version))),
        Rejection::Tenant(
            Tenant::Off { .. }
            | Tenant::Exists { .. }
            | Tenant::Many { .. }
            | Tenant::BelowUse { .. }
            | Tenant::HasTasks { .. }
            | Tenant::HasBelow { .. }
            | Tenant::Draining { .. }
            | Tenant::LimitTaken { .. },
        )
        | Rejection::Task(
            Task::Exists { .. }
            | Task::KeySpent { .. }
            | Task::State { .. }
            | Task::Quota { .. }
            | Task::NoRoom { .. },
        ) => (Code::Conflict, None),
        Rejection::Task(Task::ManyKeys { .. }) => (Code::TooManyRequests, None),
        _ => (Code::Invalid, None),
    };
    Refused::new(asked, code, rejection.to_string()).by_rule(rejection.code()).with_tag(tag)
}

/// Executes a command in the core, and waits until its result is durable.
pub(super) async fn judged(
    service: &Service,
    asked: &NativeRequest,
    command: Command,
) -> Result<Outcome, Refused> {
    let any_version = asked.expected() == Some(Expected::Any);
    let origin = Origin { any_version, ..audit::origin(&asked.caller, &asked.request_id) };
    let outcome =
        service.engine.submit(Submission { origin: Some(Arc::new(origin)), command }).await;
    outcome.map_err(|why| Refused::unavailable(asked, &why))
}

/// Executes a command. Returns a view after the command, or the rejection of the core.
async fn carry_out(
    service: &Service,
    asked: &NativeRequest,
    command: Command,
) -> Result<Arc<View>, Refused> {
    let outcome = judged(service, asked, command).await?;
    let accepted = outcome.map_err(|rejection| refused(asked, &rejection))?;
    Ok(service.engine.views().at_least(accepted.sequence).await)
}

impl TenantScope<'_> {
    /// Returns the path that the queue of a tenant has, or would have.
    fn path(&self, tenant: &str, parent: Option<&str>) -> String {
        let above =
            parent.and_then(|one| self.tenants().path_of(&self.config.root, &Name::new(one)));
        format!("{}.{tenant}", above.as_ref().unwrap_or(&self.config.root))
    }

    /// Returns the command that sets all settings of a tenant, if the caller has the right to send it.
    fn set(&self, tenant: &api::Tenant, expects: u64) -> Result<Command, Refused> {
        let path = self.path(&tenant.id, tenant.parent.as_deref());
        let settings = body::settings(tenant, &path).map_err(|why| unfit(self.asked, why))?;
        self.setting(Name::new(&tenant.id), settings, expects)
    }

    fn setting(
        &self,
        tenant: Name,
        settings: TenantSettings,
        expects: u64,
    ) -> Result<Command, Refused> {
        self.may_set(&tenant, &settings)?;
        let (partition, expects, force) = (self.row.name.clone(), Some(expects), false);
        Ok(Command::SetTenant(Box::new(SetTenant { partition, tenant, settings, expects, force })))
    }

    /// Checks that the ID in the body equals the ID in the path. The body can omit the ID.
    fn same(&self, tenant: &mut api::Tenant) -> Result<(), Refused> {
        let named = self.named();
        if tenant.id.is_empty() {
            tenant.id = named.to_string();
        }
        if *tenant.id == *named {
            return Ok(());
        }
        let detail = format!(
            "the path names tenant {named}, but the body names {}. A tenant cannot be renamed.",
            tenant.id
        );
        Err(Refused::new(self.asked, Code::Invalid, detail).by_rule(RefusalCode::TenantName))
    }
}

/// Returns the current state of the tenant.
fn tenant_response(
    asked: &NativeRequest,
    view: &View,
    name: &str,
    status: StatusCode,
) -> Result<Response<Body>, Refused> {
    let here = TenantScope::of(view, asked)?;
    let name = Name::new(name);
    let Some(row) = here.tenants().get(&name) else { return Err(here.not_visible(&name)) };
    let body = body::tenant(&name, row, here.tenants(), &here.config.root);
    Ok(versioned(asked, status, row.version, &body))
}

pub(super) async fn create(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let tenant: api::Tenant = read(&asked, &body)?;
    let view = service.engine.views().at_least(0).await;
    let command = TenantScope::of(&view, &asked)?.set(&tenant, 0)?;
    let view = carry_out(&service, &asked, command).await?;
    tenant_response(&asked, &view, &tenant.id, StatusCode::CREATED)
}

pub(super) async fn put(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let mut tenant: api::Tenant = read(&asked, &body)?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    here.same(&mut tenant)?;
    let named = here.named();
    let seen = here.sees(&named);
    let known = here.tenants().get(&named).filter(|_| seen).map(|row| row.version);
    let expects = here.expected(&format!("tenant {named}"), known)?;
    let command = here.set(&tenant, expects)?;
    let view = carry_out(&service, &asked, command).await?;
    let status = if expects == 0 { StatusCode::CREATED } else { StatusCode::OK };
    tenant_response(&asked, &view, &tenant.id, status)
}

pub(super) async fn patch(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    asked.sends(&[MERGE_PATCH, JSON])?;
    let changes = serde_json::from_slice(&whole_numbers(&body));
    let changes: Value = changes.map_err(|why| unreadable(&asked, &why))?;
    if !changes.is_object() {
        let detail = "the body: a merge patch of a tenant must be an object";
        return Err(Refused::new(&asked, Code::Malformed, detail));
    }
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (name, row) = here.tenant()?;
    let expects = here.expected(&format!("tenant {name}"), Some(row.version))?;
    let before = body::tenant(&name, row, here.tenants(), &here.config.root);
    let mut after = serde_json::to_value(&before).expect("its keys are texts");
    if changes.get("parent").is_some() {
        // The queue depends on the new parent.
        after.as_object_mut().map(|fields| fields.remove("mapping"));
    }
    merge(&mut after, changes);
    let mut tenant: api::Tenant =
        serde_json::from_value(after).map_err(|why| unreadable(&asked, &why))?;
    here.same(&mut tenant)?;
    let command = here.set(&tenant, expects)?;
    let view = carry_out(&service, &asked, command).await?;
    tenant_response(&asked, &view, &name, StatusCode::OK)
}

/// Merges a patch into a value. Source: RFC 7396.
fn merge(into: &mut Value, patch: Value) {
    let Value::Object(changes) = patch else {
        *into = patch;
        return;
    };
    if !into.is_object() {
        *into = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = into else { return };
    for (key, change) in changes {
        if change.is_null() {
            fields.remove(&key);
        } else {
            merge(fields.entry(key).or_insert(Value::Null), change);
        }
    }
}

pub(super) async fn remove(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let drain = match asked.parameters(&["mode"])?.get("mode") {
        None | Some("refuse") => false,
        Some("drain") => true,
        Some(other) => {
            let detail = format!("mode is {other:?}, but it must be refuse or drain");
            return Err(Refused::new(&asked, Code::Malformed, detail));
        }
    };
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (tenant, row) = here.tenant()?;
    here.may_remove(row)?;
    let expects = Some(here.expected(&format!("tenant {tenant}"), Some(row.version))?);
    let (partition, name) = (here.row.name.clone(), tenant.clone());
    let command = Command::RemoveTenant { partition, tenant, drain, expects };
    let view = carry_out(&service, &asked, command).await?;
    if TenantScope::of(&view, &asked)?.tenants().get(&name).is_some() {
        return tenant_response(&asked, &view, &name, StatusCode::ACCEPTED);
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

pub(super) async fn put_quota(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let dry = asked.parameters(&["dryRun"])?.flag("dryRun")?.unwrap_or(false);
    let quota: TenantQuota = read(&asked, &body)?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (name, row) = here.tenant()?;
    let expects = here.expected(&format!("the quota of tenant {name}"), Some(row.version))?;
    let mut settings = TenantSettings::clone(&row.settings);
    body::set_quota(&mut settings, Some(&quota)).map_err(|why| unfit(&asked, why))?;
    let command = here.setting(name.clone(), settings.clone(), expects)?;
    if dry {
        decide(&view.books, view.time, &command).map_err(|why| refused(&asked, &why))?;
        let mut used = view::tenant(&view.books, here.partition, &name).unwrap_or_default();
        if !here.config.is_exempt(&name) {
            used.quota = here.tenants().quota_of(&settings).clone();
        }
        let body = with_excess(body::quota(&settings), &used);
        let ahead = view::lowering(&view.books, here.partition, &name, &used.quota);
        let on_lower = here.tenants().on_lower_of(&settings);
        let stops = matches!(on_lower, OnLower::Preempt { .. });
        let body = with_victims(body, ahead.filter(|_| stops).unwrap_or_default());
        return Ok(versioned(&asked, StatusCode::OK, row.version, &body));
    }
    let view = carry_out(&service, &asked, command).await?;
    let here = TenantScope::of(&view, &asked)?;
    let (name, row) = here.tenant()?;
    let used = view::tenant(&view.books, here.partition, &name).unwrap_or_default();
    let body = with_excess(body::quota(&row.settings), &used);
    Ok(versioned(&asked, StatusCode::OK, row.version, &body))
}

/// Adds the usage above a quota to this quota.
fn with_excess(quota: TenantQuota, used: &view::TenantView) -> TenantQuota {
    let excess = used.excess();
    let over = !excess.is_empty();
    TenantQuota { over_quota: Some(over), excess: over.then(|| resources(&excess)), ..quota }
}

/// Adds the tasks that would be stopped for a quota to this quota, which is not set yet.
fn with_victims(quota: TenantQuota, ahead: QuotaReductionView) -> TenantQuota {
    let QuotaReductionView { victims, rest, .. } = ahead;
    let victims = victims.into_iter().map(|one| api::TenantVictim {
        task: one.application.to_string(),
        key: one.key.to_string(),
        priority: one.priority,
        resources: resources(&one.resources),
    });
    let remains = (!rest.is_empty()).then(|| resources(&rest));
    TenantQuota { victims: Some(victims.collect()), remains, ..quota }
}

pub(super) async fn put_defaults(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let defaults: api::TenantDefaults = read(&asked, &body)?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let known = here.tenants().defaults_version();
    let expects = Some(here.expected("the tenant defaults", Some(known))?);
    let defaults = Box::new(body::defaults(&defaults).map_err(|why| unfit(&asked, why))?);
    let partition = here.row.name.clone();
    let command = Command::SetTenantDefaults { partition, defaults, expects };
    let view = carry_out(&service, &asked, command).await?;
    let tenants = TenantScope::of(&view, &asked)?.tenants();
    let body = body::defaults_body(tenants);
    Ok(versioned(&asked, StatusCode::OK, tenants.defaults_version(), &body))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::merge;

    #[test]
    fn a_merge_patch_changes_what_it_names_and_takes_away_nulls() {
        let mut value = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": [1, 2]});
        merge(&mut value, json!({"a": null, "b": {"c": 4, "x": {"y": null}}, "e": [3]}));
        assert_eq!(value, json!({"b": {"c": 4, "d": 3, "x": {}}, "e": [3]}));
    }
}
