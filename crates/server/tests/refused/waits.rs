//! Tasks that wait for what their tenant may have. Other reasons to wait have their examples elsewhere.

use headroom_api::headroomv1::TaskReason;
use headroom_core::TenantCode;

use crate::example::Example;
use crate::scene::{Scene, TENANTS};

const SALES: &str = r#"{"id": "sales", "quota": {"resources": {"vcore": "8"}}}"#;

pub(crate) async fn examples() -> Vec<Example> {
    vec![quota().await, instances().await, ancestor().await, lowered().await]
}

/// The reason that is told of `t2`, which waits.
async fn waits(scene: &Scene, code: TenantCode, tenant: &str, before: &str) -> Example {
    let path = format!("{TENANTS}/{tenant}/waiting/t2");
    let told = scene.0.json(&path).await["reason"].take();
    let reason: TaskReason = serde_json::from_value(told).unwrap();
    let asked = format!("{before} `GET {path}` returns this `reason`:");
    Example::reason(code.as_str(), &asked, &reason)
}

async fn quota() -> Example {
    let scene = Scene::with(&[SALES]).await;
    scene.task("sales", "t1", 6).await;
    scene.task("sales", "t2", 4).await;
    let before = "Tenant `sales` has a quota of 8 cores and uses 6. Its task `t2` needs 4.";
    waits(&scene, TenantCode::TenantQuota, "sales", before).await
}

async fn instances() -> Example {
    let scene = Scene::with(&[r#"{"id": "sales", "quota": {"instances": 1}}"#]).await;
    scene.task("sales", "t1", 1).await;
    scene.task("sales", "t2", 1).await;
    let before =
        "Tenant `sales` has `instances: 1` and has a task that runs. Task `t2` is submitted.";
    waits(&scene, TenantCode::TenantInstances, "sales", before).await
}

async fn ancestor() -> Example {
    let below = |id: &str| format!(r#"{{"id": "{id}", "parent": "sales"}}"#);
    let scene = Scene::with(&[SALES, &below("emea"), &below("apac")]).await;
    scene.task("emea", "t1", 6).await;
    scene.task("apac", "t2", 4).await;
    let before = "Tenants `emea` and `apac` are below tenant `sales`, which has a quota of 8 cores. `emea` uses 6, and task `t2` of `apac` needs 4.";
    waits(&scene, TenantCode::AncestorQuota, "apac", before).await
}

async fn lowered() -> Example {
    let scene = Scene::with(&[SALES]).await;
    scene.task("sales", "t1", 6).await;
    let path = format!("{TENANTS}/sales/quota");
    scene.changes("PUT", &path, r#"{"resources": {"vcore": "4"}}"#).await;
    scene.task("sales", "t2", 1).await;
    let before =
        "Tenant `sales` uses 6 cores, and its quota was lowered to 4. Its task `t2` needs 1.";
    waits(&scene, TenantCode::OverQuotaAfterLowering, "sales", before).await
}
