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

/// A filter of tenants. `None` matches all tenants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantFilter {
    /// Tenants of this kind.
    pub kind: Option<TenantKind>,
    /// Direct child tenants of this tenant.
    pub parent: Option<String>,
    /// Tenants over quota (`true`), or the others (`false`).
    pub over_quota: Option<bool>,
}

/// A filter of audit records. `None` matches all records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Records at or after this time (RFC 3339).
    pub from: Option<String>,
    /// Records before this time (RFC 3339).
    pub to: Option<String>,
    /// Records of this type.
    pub kind: Option<AuditType>,
}

/// The version that a change expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The object does not exist.
    Nothing,
    /// The object has this version.
    Version(u64),
    /// Any version. Only for administrators.
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
/// Every function fails with a [`ClientError`]. The table of routes lists the statuses of each
/// route.
#[expect(clippy::missing_errors_doc, reason = "documented once for all")]
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

    /// Lists the tenants that the caller can see, by name, from the page of `cursor` on.
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

    /// Creates a tenant.
    pub async fn create_tenant(&self, tenant: &Tenant) -> Result<Tenant, ClientError> {
        let request = self.request(Method::Post, self.url(&[TENANTS])?);
        self.json(sending(request, JSON, to_json(tenant))).await
    }

    /// Gets the settings of a tenant.
    pub async fn get_tenant(&self, tenant: &str) -> Result<Tenant, ClientError> {
        self.get(&[TENANTS, Once(tenant)], &[]).await
    }

    /// Replaces the settings of a tenant, or creates it.
    pub async fn put_tenant(
        &self,
        name: &str,
        tenant: &Tenant,
        expect: Expect,
    ) -> Result<Tenant, ClientError> {
        let request = self.change(Method::Put, &[TENANTS, Once(name)], &[], expect)?;
        self.json(sending(request, JSON, to_json(tenant))).await
    }

    /// Changes some settings of a tenant, with a JSON merge patch.
    pub async fn patch_tenant(
        &self,
        name: &str,
        patch: &Value,
        expect: Expect,
    ) -> Result<Tenant, ClientError> {
        let request = self.change(Method::Patch, &[TENANTS, Once(name)], &[], expect)?;
        self.json(sending(request, "application/merge-patch+json", to_json(patch))).await
    }

    /// Deletes a tenant, or drains it if `drain` is set and it has tasks. Returns the draining
    /// tenant.
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

    /// Gets the quota of a tenant.
    pub async fn get_tenant_quota(&self, tenant: &str) -> Result<TenantQuota, ClientError> {
        self.get(&[TENANTS, Once(tenant), QUOTA], &[]).await
    }

    /// Replaces the quota of a tenant, or only predicts the effect (`dry_run`).
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

    /// Gets the quota, usage, and waiting amounts of a tenant.
    pub async fn get_tenant_usage(&self, tenant: &str) -> Result<TenantUsage, ClientError> {
        self.get(&[TENANTS, Once(tenant), Fixed("usage")], &[]).await
    }

    /// Streams the events of a tenant, of the tenants below it, and of their tasks, after the
    /// record with this number if given.
    pub async fn watch_tenant(
        &self,
        tenant: &str,
        after: Option<u64>,
    ) -> Result<Frames<TenantEvent>, ClientError> {
        self.frames(self.url(&[TENANTS, Once(tenant), Fixed("events")])?, after).await
    }

    /// Lists the audit log of all tenants that the caller can see, from the page of `cursor` on.
    pub async fn get_audit(
        &self,
        filter: &AuditFilter,
        cursor: Option<&str>,
    ) -> Result<AuditPage, ClientError> {
        self.get(&[Fixed("headroom/v1/audit")], &audit_query(filter, cursor)).await
    }

    /// Lists the audit log of a tenant, from the page of `cursor` on.
    pub async fn get_tenant_audit(
        &self,
        tenant: &str,
        filter: &AuditFilter,
        cursor: Option<&str>,
    ) -> Result<AuditPage, ClientError> {
        let parts = [TENANTS, Once(tenant), Fixed("audit")];
        self.get(&parts, &audit_query(filter, cursor)).await
    }

    /// Compares the recorded usage of each tenant with the sum of its tasks.
    pub async fn verify_ledger(&self) -> Result<LedgerVerified, ClientError> {
        let request = self.request(Method::Post, self.url(&[Fixed("headroom/v1/ledger/verify")])?);
        self.json(request.header("X-Headroom-Request", "1")).await
    }

    /// Gets the default settings of tenants.
    pub async fn get_tenant_defaults(&self) -> Result<TenantDefaults, ClientError> {
        self.get(&[DEFAULTS], &[]).await
    }

    /// Replaces the default settings of tenants.
    pub async fn put_tenant_defaults(
        &self,
        defaults: &TenantDefaults,
        expect: Expect,
    ) -> Result<TenantDefaults, ClientError> {
        let request = self.change(Method::Put, &[DEFAULTS], &[], expect)?;
        self.json(sending(request, JSON, to_json(defaults))).await
    }
}
