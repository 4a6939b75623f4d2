//! Tasks that are not taken in, and what cannot happen to one.

use headroom_core::books::{SpentKeys, TaskRequest, TaskSettings};
use headroom_core::config::TenantSettings;
use headroom_core::{
    ApplicationEvent, Command, Event, Name, RefusalCode, Submit, SubmitTask, TaskChange,
};

use crate::cluster::{Cluster, amounts, ask, default, submit};
use crate::example::Example;
use crate::scene::{FILE, Scene};
use crate::sent::Sent;

const TASKS: &str = "/headroom/v1/tenants/sales/tasks";
/// A tenant with 8 cores.
const SALES: &str = r#"{"id": "sales", "quota": {"resources": {"vcore": "8"}}}"#;

pub(crate) async fn examples() -> Vec<Example> {
    let mut all = submitted().await;
    all.extend(changed().await);
    all.extend(taken().await);
    all.extend(commands());
    all.extend([tenant_user().await, tenant_closed().await, waiting_list_full().await]);
    all
}

fn act(task: &str, what: &str) -> Sent {
    Sent::post(&format!("/headroom/v1/tasks/{task}/{what}"))
}

async fn submitted() -> Vec<Example> {
    let scene = Scene::with(&[SALES]).await;
    let large = Sent::post(TASKS).json(r#"{"id": "t1", "resources": {"vcore": "12"}}"#);
    let many =
        Sent::post(TASKS).json(r#"{"id": "t1", "resources": {"vcore": "1m"}, "members": 2000}"#);
    let before = "Tenant `sales` has a quota of 8 cores.";
    vec![
        scene.refuses("EXCEEDS_QUOTA_ALWAYS", before, large).await,
        scene.refuses("TASK_MEMBERS", "", many).await,
    ]
}

/// Ids and keys that are those of others.
async fn taken() -> Vec<Example> {
    let scene = Scene::with(&[SALES, r#"{"id": "lab"}"#]).await;
    scene.task("lab", "t1", 1).await;
    let same = Sent::post(TASKS).json(r#"{"id": "t1", "resources": {"vcore": "1"}}"#);
    let exists = scene.refuses("TASK_EXISTS", "Tenant `lab` has a task `t1`.", same).await;
    let keyed = |body: &str| Sent::post(TASKS).with("Idempotency-Key", "run-17").json(body);
    scene.does(keyed(r#"{"id": "t2", "resources": {"vcore": "1"}}"#)).await;
    let other = keyed(r#"{"id": "t2", "resources": {"vcore": "2"}}"#);
    let before = "Task `t2` was submitted under the key `run-17`, with 1 core.";
    vec![exists, scene.refuses("IDEMPOTENCY_MISMATCH", before, other).await]
}

async fn changed() -> Vec<Example> {
    let scene = Scene::with(&[SALES]).await;
    scene.task("sales", "t1", 4).await;
    scene.task("sales", "t2", 4).await;
    let before =
        "Tenant `sales` has a quota of 8 cores, and its tasks `t1` and `t2` run with 4 each.";
    let grow = act("t1", "resize").json(r#"{"resources": {"vcore": "6"}}"#);
    let measured = act("t1", "measured").json(r#"{"resources": {"vcore": -2000}}"#);
    let nowhere = Sent::get("/headroom/v1/tasks/t7");
    let mut all = vec![
        scene.refuses("MEASURED_BELOW_ZERO", "Task `t1` runs.", measured).await,
        scene.refuses("UNKNOWN_TASK", "There is no such task.", nowhere).await,
    ];
    all.push(scene.refuses("QUOTA", before, grow).await);
    scene.does(act("t1", "release").json(r#"{"outcome": "succeeded"}"#)).await;
    all.push(scene.refuses("TASK_STATE", "Task `t1` has ended.", act("t1", "confirm")).await);
    all
}

async fn tenant_user() -> Example {
    let bob =
        r#"{"id": "bob", "mapping": {"mode": "limit", "queue": "root.shared", "user": "bob"}}"#;
    let scene = Scene::with(&[bob]).await;
    let task = Sent::post("/headroom/v1/tenants/bob/tasks");
    let task = task.json(r#"{"id": "t1", "user": "ann", "resources": {"vcore": "1"}}"#);
    let before = "Tenant `bob` is the limit of user `bob` in queue `root.shared`.";
    scene.refuses("TENANT_USER", before, task).await
}

async fn tenant_closed() -> Example {
    let scene = Scene::with(&[SALES]).await;
    let file = format!("{FILE}          - {{name: tenants, parent: true, state: stopped}}\n");
    scene.does(Sent::post("/headroom/v1/apply?force=true").text(&file)).await;
    let task = Sent::post(TASKS).json(r#"{"id": "t1", "resources": {"vcore": "1"}}"#);
    let before = "The queue file sets `state: stopped` for `root.tenants`.";
    scene.refuses("TENANT_CLOSED", before, task).await
}

async fn waiting_list_full() -> Example {
    let sales = r#"{"id": "sales", "quota": {"resources": {"vcore": "4"}, "maxWaiting": 1}}"#;
    let scene = Scene::with(&[sales]).await;
    scene.task("sales", "t1", 4).await;
    scene.task("sales", "t2", 4).await;
    let task = Sent::post(TASKS).json(r#"{"id": "t3", "resources": {"vcore": "4"}}"#);
    let before = "Tenant `sales` has `maxWaiting: 1`, and a task of it waits.";
    scene.refuses("WAITING_LIST_FULL", before, task).await
}

/// A task of `sales` under a key, with members of one core.
fn task(id: &str, key: &str, members: u32) -> SubmitTask {
    let (key, digest) = (Name::new(key), Name::new(id));
    let request = TaskRequest { key, digest };
    let settings = TaskSettings { members, request, ..TaskSettings::default() };
    let submit = Submit { tenant: Name::new("sales"), ..submit(id, "") };
    SubmitTask { submit, ask: ask(id, id, 1), settings }
}

/// A task was submitted under a key, ended, and was forgotten.
fn spend(cluster: &mut Cluster, key: &str) {
    let application = cluster.0.books.applications().next_id();
    cluster.take(&Command::SubmitTask(Box::new(task(key, key, 1))));
    let (partition, task) = (default(), Name::new(key));
    cluster.take(&Command::ChangeTask { partition, task, change: TaskChange::Cancel });
    cluster.0.apply(&Event::Application(ApplicationEvent::Removed { application }));
}

/// What no request over HTTP can say.
fn commands() -> Vec<Example> {
    let mut cluster = Cluster::of(
        "partitions: [{name: default, tenants: {enabled: true}, queues: [{name: root, submitacl: '*'}]}]",
    );
    let (partition, tenant) = (default(), Name::new("sales"));
    let set = headroom_core::SetTenant { partition, tenant, ..Default::default() };
    cluster.take(&Command::SetTenant(Box::new(set)));
    cluster.take(&Command::SubmitTask(Box::new(task("t1", "run-17", 1))));
    let mut pinned = task("t2", "", 2);
    pinned.ask.required_node = Name::new("n1");
    let mut large = task("t3", "", 1_000);
    large.ask.blocked_nodes =
        (1..=100).map(|number| Name::from(format!("node-{number:03}.rack-7.example"))).collect();
    let mut huge = task("t4", "", 1);
    huge.ask.resources = amounts([("memory", i64::MAX)]);
    for number in 0..SpentKeys::MAX {
        spend(&mut cluster, &format!("spent-{number}"));
    }
    let labels = (0..65).map(|number| (Name::from(format!("label-{number}")), Name::default()));
    let settings = TenantSettings { labels: labels.collect(), ..TenantSettings::default() };
    let labelled = headroom_core::SetTenant {
        partition: default(),
        tenant: Name::new("labels"),
        settings,
        ..Default::default()
    };
    vec![
        cluster.refuses(
            RefusalCode::CommandTooLarge,
            "A task of 1,000 members names 100 blocked nodes, each with a name of 23 bytes:",
            &Command::SubmitTask(Box::new(large)),
        ),
        cluster.refuses(
            RefusalCode::TaskAmount,
            "A task asks for 9223372036854775807 bytes of memory:",
            &Command::SubmitTask(Box::new(huge)),
        ),
        cluster.refuses(
            RefusalCode::KeySpent,
            "A task was submitted under the key `spent-7`, ended, and was forgotten since many others of the tenant ended later. Another is submitted under the same key within a day:",
            &Command::SubmitTask(Box::new(task("t5", "spent-7", 1))),
        ),
        cluster.refuses(
            RefusalCode::ManyKeys,
            "65,536 tasks of a tenant were submitted under keys within a day, ended, and were forgotten. Another is submitted under a key of its own:",
            &Command::SubmitTask(Box::new(task("t5", "run-18", 1))),
        ),
        cluster.refuses(
            RefusalCode::TooMany,
            "A tenant is created with 65 labels:",
            &Command::SetTenant(Box::new(labelled)),
        ),
        cluster.refuses(
            RefusalCode::TaskAsk,
            "Task `t1` was submitted over HTTP. An RM asks for 1 core for application `t1`, with the key `k1`:",
            &Command::Ask(ask("t1", "k1", 1)),
        ),
        cluster.refuses(
            RefusalCode::KeyTaken,
            "A program with an embedded core submits tasks `t1` and `t2` with the key `run-17`. The second submission returns:",
            &Command::SubmitTask(Box::new(task("t2", "run-17", 1))),
        ),
        cluster.refuses(
            RefusalCode::TaskMembersUnlike,
            "A program that embeds Headroom's core submits task `t2` with two members that both require node `n1`; no request over HTTP can ask for this:",
            &Command::SubmitTask(Box::new(pinned)),
        ),
    ]
}

#[tokio::test]
async fn a_task_that_is_not_taken_in_is_told_the_rule_that_declines_it() {
    let scene = Scene::with(&[SALES]).await;
    let late = r#"{"id": "t1", "resources": {"vcore": "1"}, "deadline": "2200-01-01T00:00:00Z"}"#;
    let answer = Sent::post(TASKS).json(late).to(scene.0.address).await;
    assert_eq!((answer.status, &answer.json()["code"]), (422, &"DEADLINE".into()));
}
