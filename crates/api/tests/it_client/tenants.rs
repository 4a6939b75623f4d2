//! Routes of tenants: what is sent, and in which version it is to be.

use headroom_api::client::{AuditFilter, Client, Expect, TenantFilter};
use headroom_api::headroomv1::{AuditType, Tenant, TenantDefaults, TenantKind, TenantQuota};
use serde_json::json;

use super::every_route::{Asked, ONCE};
use super::example;

impl Asked {
    /// A header of the last request; empty if it has none of the name.
    pub(super) async fn header(&self, name: &str) -> String {
        let request = self.server.received_requests().await.unwrap().remove(0);
        request.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
    }
}

pub(super) async fn tenants(asked: &mut Asked) {
    let body = example("headroomv1/tenants");
    let filter = TenantFilter {
        kind: Some(TenantKind::Department),
        parent: Some("a&b".into()),
        over_quota: Some(false),
    };
    let query = Some("kind=department&parent=a%26b&overQuota=false&cursor=t-x");
    asked
        .check("listTenants", &body, query, async |c: Client| {
            c.list_tenants(&filter, Some("t-x")).await
        })
        .await;
    let body = example("headroomv1/tenant");
    let tenant: Tenant = serde_json::from_str(&body).unwrap();
    asked
        .check("createTenant", &body, None, async |c: Client| c.create_tenant(&tenant).await)
        .await;
    asked.check("getTenant", &body, None, async |c: Client| c.get_tenant(ONCE).await).await;
    for (expect, name, value) in [
        (Expect::Nothing, "if-none-match", "*"),
        (Expect::Version(7), "if-match", "\"7\""),
        (Expect::Any, "if-match", "*"),
    ] {
        asked
            .check("putTenant", &body, None, async |c: Client| {
                c.put_tenant(ONCE, &tenant, expect).await
            })
            .await;
        assert_eq!(asked.header(name).await, value, "{expect:?}");
    }
    let (patch, seven) = (json!({"labels": {"x": null}}), Expect::Version(7));
    asked
        .check("patchTenant", &body, None, async |c: Client| {
            c.patch_tenant(ONCE, &patch, seven).await
        })
        .await;
    assert_eq!(asked.header("content-type").await, "application/merge-patch+json");
    for (body, drain, query) in [("", false, "mode=refuse"), (&*body, true, "mode=drain")] {
        let left = asked.check("deleteTenant", body, Some(query), async |c: Client| {
            c.delete_tenant(ONCE, drain, seven).await
        });
        assert_eq!(left.await.is_some(), drain);
        assert_eq!(asked.header("x-headroom-request").await, "1");
    }
    quota(asked).await;
}

async fn quota(asked: &mut Asked) {
    let body = example("headroomv1/tenant-quota");
    let quota: TenantQuota = serde_json::from_str(&body).unwrap();
    asked
        .check("getTenantQuota", &body, None, async |c: Client| c.get_tenant_quota(ONCE).await)
        .await;
    for (dry, query) in [(false, None), (true, Some("dryRun=true"))] {
        asked
            .check("putTenantQuota", &body, query, async |c: Client| {
                c.put_tenant_quota(ONCE, &quota, dry, Expect::Version(7)).await
            })
            .await;
    }
    let body = example("headroomv1/tenant-usage");
    asked
        .check("getTenantUsage", &body, None, async |c: Client| c.get_tenant_usage(ONCE).await)
        .await;
    let body = example("headroomv1/ledger-verified");
    asked.check("verifyLedger", &body, None, async |c: Client| c.verify_ledger().await).await;
    assert_eq!(asked.header("x-headroom-request").await, "1");
    asked
        .check("watchTenant", "", None, async |c: Client| {
            c.watch_tenant(ONCE, Some(7)).await?.next().await
        })
        .await;
    assert_eq!(asked.header("last-event-id").await, "7");
    assert_eq!(asked.header("accept").await, "text/event-stream");
    let body = example("headroomv1/audit");
    let filter = AuditFilter {
        from: Some("2026-05-01T00:00:00Z".into()),
        to: None,
        kind: Some(AuditType::QuotaChanged),
    };
    let query = Some("from=2026-05-01T00%3A00%3A00Z&type=QUOTA_CHANGED&cursor=a-17");
    asked
        .check("getAudit", &body, query, async |c: Client| c.get_audit(&filter, Some("a-17")).await)
        .await;
    asked
        .check("getTenantAudit", &body, query, async |c: Client| {
            c.get_tenant_audit(ONCE, &filter, Some("a-17")).await
        })
        .await;
    let body = example("headroomv1/tenant-defaults");
    let defaults: TenantDefaults = serde_json::from_str(&body).unwrap();
    asked
        .check("getTenantDefaults", &body, None, async |c: Client| c.get_tenant_defaults().await)
        .await;
    asked
        .check("putTenantDefaults", &body, None, async |c: Client| {
            c.put_tenant_defaults(&defaults, Expect::Version(7)).await
        })
        .await;
    assert_eq!(asked.header("if-match").await, "\"7\"");
}
