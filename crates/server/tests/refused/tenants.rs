//! Invalid settings of tenants.

use headroom_core::{Command, Name, RefusalCode, SetTenant};

use crate::cluster::Cluster;
use crate::example::Example;
use crate::scene::{Scene, TENANTS};
use crate::sent::Sent;

const SALES: &str = r#"{"id": "sales"}"#;
const ONE: &str = "/headroom/v1/tenants/sales";

pub(crate) async fn examples() -> Vec<Example> {
    let mut all = made().await;
    all.extend(limits().await);
    all.extend(sizes().await);
    all.extend(trees().await);
    all.extend(going().await);
    all.extend([off().await, defaults().await, version()]);
    all
}

async fn off() -> Example {
    let scene = Scene::of("partitions: [{name: default, queues: [{name: root}]}]").await;
    let before = "The queue file has no block `tenants`.";
    scene.refuses("TENANTS_OFF", before, Sent::get(TENANTS)).await
}

/// Tenants that cannot be made.
async fn made() -> Vec<Example> {
    let scene = Scene::with(&[SALES]).await;
    let mut all = Vec::new();
    for (code, before, body) in [
        ("TENANT_NAME", "", r#"{"id": "Sales"}"#),
        ("TENANT_EXISTS", "There is a tenant `sales`.", SALES),
        ("TENANT_PARENT", "There is no tenant `emea`.", r#"{"id": "shop", "parent": "emea"}"#),
        ("TENANT_AMOUNT", "", r#"{"id": "shop", "quota": {"resources": {"vcore": -1}}}"#),
        ("TENANT_TYPE", "", r#"{"id": "shop", "quota": {"resources": {"": 8}}}"#),
        ("RESERVED_TYPE", "", r#"{"id": "shop", "quota": {"resources": {"instances": 5}}}"#),
        (
            "TENANT_GUARANTEE",
            "",
            r#"{"id": "shop", "quota": {"resources": {"vcore": "4"}}, "guaranteed": {"vcore": "8"}}"#,
        ),
    ] {
        all.push(scene.refuses(code, before, Sent::post(TENANTS).json(body)).await);
    }
    let nowhere = Sent::get("/headroom/v1/tenants/nowhere");
    all.push(scene.refuses("UNKNOWN_TENANT", "There is no such tenant.", nowhere).await);
    all
}

/// Tenants that are to be limits in queues that others use too.
async fn limits() -> Vec<Example> {
    let scene = Scene::with(&[]).await;
    let mut all = Vec::new();
    for (code, before, body) in [
        (
            "TENANT_MODE",
            "",
            r#"{"id": "bob", "mapping": {"mode": "limit", "queue": "root.shared", "user": "bob"}, "guaranteed": {"vcore": "2"}}"#,
        ),
        (
            "TENANT_QUEUE",
            "The queue file has no `root.common`.",
            r#"{"id": "bob", "mapping": {"mode": "limit", "queue": "root.common", "user": "bob"}}"#,
        ),
        (
            "TENANT_LIMIT_TAKEN",
            "The queue file has a limit of user `ann` in queue `root.shared`.",
            r#"{"id": "ann", "mapping": {"mode": "limit", "queue": "root.shared", "user": "ann"}}"#,
        ),
    ] {
        all.push(scene.refuses(code, before, Sent::post(TENANTS).json(body)).await);
    }
    all
}

/// Quotas that do not fit others, or what is used.
async fn sizes() -> Vec<Example> {
    let dept = r#"{"id": "dept", "strictSum": true, "quota": {"resources": {"vcore": "10"}}}"#;
    let lab = r#"{"id": "lab", "parent": "dept", "quota": {"resources": {"vcore": "8"}}}"#;
    let sales = r#"{"id": "sales", "onLower": {"action": "refuse"}, "quota": {"resources": {"vcore": "8"}}}"#;
    let scene = Scene::with(&[dept, lab, sales]).await;
    scene.task("sales", "t1", 4).await;
    let shop = r#"{"id": "shop", "parent": "dept", "quota": {"resources": {"vcore": "4"}}}"#;
    let before = "Tenant `dept` has `strictSum` and a quota of 10 cores, and `lab` below it has 8.";
    let sum = scene.refuses("TENANT_SUM", before, Sent::post(TENANTS).json(shop)).await;
    let quota = format!("{ONE}/quota");
    let tag = scene.tag(&quota).await;
    let lower = Sent::new("PUT", &quota).with("If-Match", &tag);
    let lower = lower.json(r#"{"resources": {"vcore": "2"}}"#);
    let before = "Tenant `sales` has `onLower: refuse`, and uses 4 cores.";
    vec![sum, scene.refuses("TENANT_BELOW_USE", before, lower).await]
}

/// Tenants above and below each other.
async fn trees() -> Vec<Example> {
    let scene = Scene::with(&[SALES, r#"{"id": "emea", "parent": "sales"}"#]).await;
    let tag = scene.tag(ONE).await;
    let below = "Tenant `emea` is below tenant `sales`.";
    let patch = Sent::new("PATCH", ONE).with("If-Match", &tag).json(r#"{"parent": "emea"}"#);
    let cycle = scene.refuses("TENANT_CYCLE", below, patch).await;
    let remove = Sent::new("DELETE", ONE).with("If-Match", &tag);
    let above = scene.refuses("TENANT_HAS_TENANTS", below, remove).await;
    for level in 1..=8 {
        let parent = if level == 1 { "sales".to_owned() } else { format!("l{}", level - 1) };
        let body = format!(r#"{{"id": "l{level}", "parent": "{parent}"}}"#);
        if level < 8 {
            scene.does(Sent::post(TENANTS).json(&body)).await;
            continue;
        }
        let before = "Tenant `l7` is the lowest of eight tenants, each below another.";
        let deep = scene.refuses("TENANT_DEPTH", before, Sent::post(TENANTS).json(&body)).await;
        return vec![cycle, above, deep];
    }
    unreachable!("the eighth is refused")
}

/// Tenants that are to go.
async fn going() -> Vec<Example> {
    let scene = Scene::with(&[SALES]).await;
    scene.task("sales", "t1", 4).await;
    let tag = scene.tag(ONE).await;
    let remove = |path: &str| Sent::new("DELETE", path).with("If-Match", &tag);
    let before = "Tenant `sales` has a task that runs.";
    let busy = scene.refuses("TENANT_HAS_TASKS", before, remove(ONE)).await;
    scene.does(remove(&format!("{ONE}?mode=drain"))).await;
    let before = "Tenant `sales` was removed with `mode=drain`, and a task of it runs.";
    let task = Sent::post(&format!("{ONE}/tasks")).json(r#"{"resources": {"vcore": "1"}}"#);
    vec![busy, scene.refuses("TENANT_DRAINING", before, task).await]
}

async fn defaults() -> Example {
    let path = "/headroom/v1/tenant-defaults";
    let scene = Scene::with(&[]).await;
    let tag = scene.tag(path).await;
    let body = r#"{"quota": {"maxApplications": 4}}"#;
    let put = Sent::new("PUT", path).with("If-Match", &tag).json(body);
    scene.refuses("TENANT_DEFAULTS", "", put).await
}

/// Over HTTP the version is compared earlier, so one of two clients that send at the same time gets this.
fn version() -> Example {
    let mut cluster = Cluster::of(
        "partitions: [{name: default, tenants: {enabled: true}, queues: [{name: root, submitacl: '*'}]}]",
    );
    let set = |display_name: &str, expects: u64| {
        let settings = headroom_core::config::TenantSettings {
            display_name: Name::new(display_name),
            ..Default::default()
        };
        let (partition, tenant) = (crate::cluster::default(), Name::new("sales"));
        let expects = Some(expects);
        Command::SetTenant(Box::new(SetTenant {
            partition,
            tenant,
            settings,
            expects,
            force: false,
        }))
    };
    cluster.take(&set("Sales", 0));
    cluster.take(&set("Sales of shoes", 1));
    let asked = "Two clients read version 1 of tenant `sales`, and both send a change with `If-Match: \"1\"`. One gets:";
    cluster.refuses(RefusalCode::TenantVersion, asked, &set("Sales of hats", 1))
}
