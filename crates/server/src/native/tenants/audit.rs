//! The audit log: who changed what on tenants and their tasks, when, and why.
//!
//! A caller who reads everything sees the whole log. Other callers see records of their tenants with descendants, and
//! records about all tenants. They do not see figures of ancestors, and do not see for which other tenant one of their
//! tasks was stopped. The hash of a record always covers the whole record.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{self as api, AuditPage, Code};
use headroom_core::{Name, Timestamp};
use headroom_engine::{AuditRecord, AuditType, AuditWanted, written_time};

use super::super::answer::{Refused, json};
use super::super::request::{NativeRequest, Parameters};
use super::super::words::stamp;
use super::scope::TenantScope;
use crate::service::Service;

/// Filter of a request.
struct Wanted {
    after: u64,
    from: Option<String>,
    to: Option<String>,
    kind: Option<AuditType>,
    limit: usize,
}

impl Wanted {
    fn read(asked: &NativeRequest, parameters: &Parameters<'_>) -> Result<Self, Refused> {
        let malformed = |detail: String| Refused::new(asked, Code::Malformed, detail);
        let time = |name: &str| -> Result<Option<String>, Refused> {
            let Some(text) = parameters.get(name) else { return Ok(None) };
            let time: jiff::Timestamp = text.parse().map_err(|_| {
                malformed(format!(
                    "{name} is {text:?}, but it must be a time such as 2026-05-01T00:00:00Z (RFC 3339)"
                ))
            })?;
            let millis = u64::try_from(time.as_millisecond()).unwrap_or(0);
            Ok(Some(written_time(Timestamp::from_millis(millis))))
        };
        let kind = parameters.get("type").map(|name| {
            AuditType::named(name).ok_or_else(|| {
                let all: Vec<&str> = AuditType::ALL.iter().map(|(name, _)| *name).collect();
                malformed(format!("type is {name:?}, but it must be one of {}", all.join(", ")))
            })
        });
        let after = parameters.get("cursor").map(|cursor| {
            let number: Option<u64> =
                cursor.strip_prefix("a-").and_then(|number| number.parse().ok());
            number.ok_or_else(|| {
                malformed(
                    "the cursor belongs to another list; start again without a cursor".to_owned(),
                )
            })
        });
        Ok(Self {
            after: after.transpose()?.unwrap_or(0),
            from: time("from")?,
            to: time("to")?,
            kind: kind.transpose()?,
            limit: parameters.limit()?,
        })
    }
}

/// Tenants whose records are sent.
enum Whose {
    All,
    /// Records of these tenants, and records without a tenant.
    Of(BTreeSet<Name>),
    One(Name),
}

impl Whose {
    fn has(&self, record: &AuditRecord) -> bool {
        match (self, record.tenant.as_deref()) {
            (Self::All, _) | (Self::Of(_), None) => true,
            (Self::One(_), None) => false,
            (Self::Of(tenants), Some(tenant)) => tenants.contains(tenant),
            (Self::One(one), Some(tenant)) => **one == *tenant,
        }
    }
}

pub(super) async fn all(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let wanted = wanted(&asked)?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let whose = if here.sees(&Name::default()) {
        Whose::All
    } else {
        let seen = here.tenants().iter().map(|(name, _)| name).filter(|name| here.sees(name));
        Whose::Of(seen.cloned().collect())
    };
    let stamp = stamp(&service, &view);
    let mut page = answer(&service, &asked, stamp, (wanted, whose)).await?;
    page.items.iter_mut().for_each(|record| here.blacken(record));
    Ok(json(&asked, &page))
}

pub(super) async fn one(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let wanted = wanted(&asked)?;
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let name = here.named();
    let is_gone = here.tenants().get(&name).is_none();
    // Records of a deleted tenant are only for callers who read everything.
    if !here.sees(&name) || name.is_empty() {
        return Err(here.not_visible(&name));
    }
    let is_first = wanted.after == 0 && wanted.kind.is_none() && wanted.from.is_none();
    let stamp = stamp(&service, &view);
    let mut page = answer(&service, &asked, stamp, (wanted, Whose::One(name.clone()))).await?;
    page.items.iter_mut().for_each(|record| here.blacken(record));
    if is_gone && is_first && page.items.is_empty() && page.cursor.is_none() {
        return Err(here.not_visible(&name));
    }
    Ok(json(&asked, &page))
}

fn wanted(asked: &NativeRequest) -> Result<Wanted, Refused> {
    let parameters = asked.parameters(&["from", "to", "type", "limit", "cursor"])?;
    Wanted::read(asked, &parameters)
}

async fn answer(
    service: &Service,
    asked: &NativeRequest,
    stamp: api::Stamp,
    (wanted, whose): (Wanted, Whose),
) -> Result<AuditPage, Refused> {
    let reader = service.engine.audit().clone();
    // Reading files blocks.
    let read = tokio::task::spawn_blocking(move || {
        let Wanted { after, from, to, kind, limit } = wanted;
        let which = |record: &AuditRecord| whose.has(record);
        reader.find(&AuditWanted { after, from, to, kind, which: &which, limit })
    });
    let failed = |why: String| {
        Refused::new(asked, Code::Internal, format!("the audit log cannot be read: {why}"))
    };
    let found = read.await.map_err(|error| failed(error.to_string()))?;
    let found = found.map_err(|error| failed(error.to_string()))?;
    let cursor = found.more_after.map(|after| format!("a-{after}"));
    Ok(AuditPage { stamp, items: found.records.into_iter().map(record_body).collect(), cursor })
}

impl TenantScope<'_> {
    /// Removes the parts of a record that belong to tenants that the caller does not see.
    fn blacken(&self, record: &mut api::AuditRecord) {
        if self.sees(&Name::default()) {
            return;
        }
        // An ask or a queue of the tenant for which it was stopped.
        record.after.remove("for");
        let scope = record.after.get("scope").and_then(|scope| scope.as_str());
        let hidden = scope.is_some_and(|scope| !scope.is_empty() && !self.sees(&Name::new(scope)));
        let types = record.after.get_mut("types").filter(|_| hidden);
        let types = types.and_then(|types| types.as_object_mut());
        for one in types.into_iter().flat_map(|types| types.values_mut()) {
            if let Some(amounts) = one.as_object_mut() {
                amounts.retain(|name, _| name != "used" && name != "short");
            }
        }
    }
}

fn record_body(record: AuditRecord) -> api::AuditRecord {
    use api::AuditType as Kind;
    api::AuditRecord {
        seq: record.seq,
        at: record.at,
        actor: record.actor,
        request_id: record.request_id,
        r#type: match record.kind {
            AuditType::TenantCreated => Kind::TenantCreated,
            AuditType::TenantChanged => Kind::TenantChanged,
            AuditType::TenantDeleted => Kind::TenantDeleted,
            AuditType::QuotaChanged => Kind::QuotaChanged,
            AuditType::TaskSubmitted => Kind::TaskSubmitted,
            AuditType::TaskThrottled => Kind::TaskThrottled,
            AuditType::TaskStarted => Kind::TaskStarted,
            AuditType::TaskEnded => Kind::TaskEnded,
            AuditType::TaskConfirmed => Kind::TaskConfirmed,
            AuditType::TaskMeasured => Kind::TaskMeasured,
            AuditType::TaskResized => Kind::TaskResized,
            AuditType::TaskRanked => Kind::TaskRanked,
            AuditType::TaskCancelled => Kind::TaskCancelled,
            AuditType::TaskEvicted => Kind::TaskEvicted,
            AuditType::TaskRejected => Kind::TaskRejected,
            AuditType::OrderChanged => Kind::OrderChanged,
            AuditType::LedgerRebuilt => Kind::LedgerRebuilt,
            AuditType::LedgerDrift => Kind::LedgerDrift,
        },
        tenant: record.tenant,
        task: record.task,
        before: record.before,
        after: record.after,
        reason: record.reason,
        ledger_version: record.ledger_version,
        prev_hash: record.prev_hash,
        hash: record.hash,
    }
}
