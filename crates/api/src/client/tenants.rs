//! Routes of tenants.

use reqwest::RequestBuilder;
use reqwest::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use serde::Serialize;
use serde_json::Value;

use super::Part::{self, Fixed, Once};
use super::{Client, ClientError, Frames, JSON, sending, with_query};
use crate::headroomv1::{
    AuditPage, AuditType, LedgerVerified, Page, Tenant, TenantDefaults, TenantEvent, TenantKind,
    TenantQuota, TenantUsage,
};
use crate::routes::Method;

/// Which tenants. What is `None` lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantFilter {
    /// Those that stand for this.
    pub kind: Option<TenantKind>,
    /// Those right below this one.
    pub parent: Option<String>,
    /// Those that use more than they may, or the others.
    pub over_quota: Option<bool>,
}

/// Which records of the audit. What is `None` lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// From this time on, in RFC 3339.
    pub from: Option<String>,
    /// Before this time.
    pub to: Option<String>,
    /// Of this type.
    pub kind: Option<AuditType>,
}

/// In which version something must be for a change of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It is not there yet.
    Nothing,
    /// In this one, as it was read.
    Version(u64),
    /// Whatever it is; for administrators.
    Any,
}

impl Expect {
    fn header(self) -> (HeaderName, String) {
        match self {
            Self::Nothing => (IF_NONE_MATCH, "*".to_owned()),
            Self::Version(version) => (IF_MATCH, format!("\"{version}\"")),
            Self::Any => (IF_MATCH, "*".to_owned()),
        }
    }
}

pub(super) const TENANTS: Part<'static> = Fixed("headroom/v1/tenants");
const QUOTA: Part<'static> = Fixed("quota");
const DEFAULTS: Part<'static> = Fixed("headroom/v1/tenant-defaults");

pub(super) fn to_json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("its keys are texts")
}

fn audit_query(filter: &AuditFilter, cursor: Option<&str>) -> Vec<(&'static str, String)> {
    let kind = filter.kind.map(serde_json::to_value).and_then(Result::ok);
    let all = [
        ("from", filter.from.clone()),
        ("to", filter.to.clone()),
        ("type", kind.and_then(|kind| kind.as_str().map(str::to_owned))),
        ("cursor", cursor.map(str::to_owned)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// # Errors
/// Every function fails as [`ClientError`] says; which statuses a route may answer, and what they
/// mean, stands in the table of routes.
#[expect(clippy::missing_errors_doc, reason = "said once for all")]
impl Client {
    fn change(
        &self,
        method: Method,
        parts: &[Part<'_>],
        query: &[(&str, String)],
        expect: Expect,
    ) -> Result<RequestBuilder, ClientError> {
        let (name, value) = expect.header();
        Ok(self.request(method, with_query(self.url(parts)?, query)).header(name, value))
    }

    /// The tenants that the caller sees, by name; behind this cursor if one is given.
    pub async fn list_tenants(
        &self,
        filter: &TenantFilter,
        cursor: Option<&str>,
    ) -> Result<Page<Tenant>, ClientError> {
        let kind = filter.kind.map(|kind| format!("{kind:?}").to_lowercase());
        let over = filter.over_quota.map(|over| over.to_string());
        let all = [
            ("kind", kind),
            ("parent", filter.parent.clone()),
            ("overQuota", over),
            ("cursor", cursor.map(str::to_owned)),
        ];
        let query: Vec<_> =
            all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.get(&[TENANTS], &query).await
    }

    /// Make a tenant.
    pub async fn create_tenant(&self, tenant: &Tenant) -> Result<Tenant, ClientError> {
        let request = self.request(Method::Post, self.url(&[TENANTS])?);
        self.json(sending(request, JSON, to_json(tenant))).await
    }

    /// What is said of a tenant.
    pub async fn get_tenant(&self, tenant: &str) -> Result<Tenant, ClientError> {
        self.get(&[TENANTS, Once(tenant)], &[]).await
    }

    /// Say all of a tenant anew, or make it.
    pub async fn put_tenant(
        &self,
        name: &str,
        tenant: &Tenant,
        expect: Expect,
    ) -> Result<Tenant, ClientError> {
        let request = self.change(Method::Put, &[TENANTS, Once(name)], &[], expect)?;
        self.json(sending(request, JSON, to_json(tenant))).await
    }

    /// Say some things of a tenant anew: a merge patch.
    pub async fn patch_tenant(
        &self,
        name: &str,
        patch: &Value,
        expect: Expect,
    ) -> Result<Tenant, ClientError> {
        let request = self.change(Method::Patch, &[TENANTS, Once(name)], &[], expect)?;
        self.json(sending(request, "application/merge-patch+json", to_json(patch))).await
    }

    /// Have a tenant go: with the last of its tasks if it may `drain`. What there still is of it.
    pub async fn delete_tenant(
        &self,
        name: &str,
        drain: bool,
        expect: Expect,
    ) -> Result<Option<Tenant>, ClientError> {
        let query = [("mode", if drain { "drain" } else { "refuse" }.to_owned())];
        let request = self.change(Method::Delete, &[TENANTS, Once(name)], &query, expect)?;
        let (url, body) = self.bytes(request.header("X-Headroom-Request", "1")).await?;
        if body.is_empty() {
            return Ok(None);
        }
        let read = serde_json::from_slice(&body);
        read.map(Some).map_err(|source| ClientError::Unreadable { url, source })
    }

    /// What is said of what a tenant may use.
    pub async fn get_tenant_quota(&self, tenant: &str) -> Result<TenantQuota, ClientError> {
        self.get(&[TENANTS, Once(tenant), QUOTA], &[]).await
    }

    /// Say anew what a tenant may use, or only ask what would come of it (`dry_run`).
    pub async fn put_tenant_quota(
        &self,
        name: &str,
        quota: &TenantQuota,
        dry_run: bool,
        expect: Expect,
    ) -> Result<TenantQuota, ClientError> {
        let query: &[_] = if dry_run { &[("dryRun", "true".to_owned())] } else { &[] };
        let request = self.change(Method::Put, &[TENANTS, Once(name), QUOTA], query, expect)?;
        self.json(sending(request, JSON, to_json(quota))).await
    }

    /// What a tenant may use, uses and waits for.
    pub async fn get_tenant_usage(&self, tenant: &str) -> Result<TenantUsage, ClientError> {
        self.get(&[TENANTS, Once(tenant), Fixed("usage")], &[]).await
    }

    /// What happens to a tenant, those below it and their tasks, behind the record with this number if one is given.
    pub async fn watch_tenant(
        &self,
        tenant: &str,
        after: Option<u64>,
    ) -> Result<Frames<TenantEvent>, ClientError> {
        self.frames(self.url(&[TENANTS, Once(tenant), Fixed("events")])?, after).await
    }

    /// Who did what to tenants that the caller sees; behind this cursor if one is given.
    pub async fn get_audit(
        &self,
        filter: &AuditFilter,
        cursor: Option<&str>,
    ) -> Result<AuditPage, ClientError> {
        self.get(&[Fixed("headroom/v1/audit")], &audit_query(filter, cursor)).await
    }

    /// Who did what to one tenant; behind this cursor if one is given.
    pub async fn get_tenant_audit(
        &self,
        tenant: &str,
        filter: &AuditFilter,
        cursor: Option<&str>,
    ) -> Result<AuditPage, ClientError> {
        let parts = [TENANTS, Once(tenant), Fixed("audit")];
        self.get(&parts, &audit_query(filter, cursor)).await
    }

    /// Compare what is counted of tenants with what their tasks have.
    pub async fn verify_ledger(&self) -> Result<LedgerVerified, ClientError> {
        let request = self.request(Method::Post, self.url(&[Fixed("headroom/v1/ledger/verify")])?);
        self.json(request.header("X-Headroom-Request", "1")).await
    }

    /// What holds for tenants that do not say otherwise.
    pub async fn get_tenant_defaults(&self) -> Result<TenantDefaults, ClientError> {
        self.get(&[DEFAULTS], &[]).await
    }

    /// Say anew what holds for tenants that do not say otherwise.
    pub async fn put_tenant_defaults(
        &self,
        defaults: &TenantDefaults,
        expect: Expect,
    ) -> Result<TenantDefaults, ClientError> {
        let request = self.change(Method::Put, &[DEFAULTS], &[], expect)?;
        self.json(sending(request, JSON, to_json(defaults))).await
    }
}
