//! An RM where there are tenants, whose tasks are not its own. Decision page 36.

use headroom_api::si::v1::NodeRequest;
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_core::books::{TaskSettings, TaskState};
use headroom_core::config::TenantSettings;
use headroom_core::resource::Amounts;
use headroom_core::{Ask, Command, Name, SetTenant, Submit, SubmitTask};
use headroom_engine::Origin;

use crate::support::{Rm, Server, ask, node, until};

const QUEUES: &str = "
partitions:
  - name: default
    tenants: {enabled: true}
    queues:
      - name: root
        submitacl: '*'
        queues: [{name: a}]
  - name: other
    queues: [{name: root, submitacl: '*'}]
";

async fn carry_out(server: &Server, command: Command) {
    server.handle.submit(command).await.unwrap().unwrap();
}

async fn task(server: &Server, id: &str, vcore: i64) {
    let (partition, application, tenant) = (Name::new("default"), Name::new(id), Name::new("t"));
    let submit = Submit {
        partition: partition.clone(),
        application: application.clone(),
        tenant: tenant.clone(),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let ask = Ask {
        partition,
        key: application.clone(),
        application,
        resources: Amounts::from([("vcore", vcore * 1_000)]),
        ..Ask::default()
    };
    let settings = TaskSettings { tenant, members: 1, ..TaskSettings::default() };
    let task = SubmitTask { submit, ask, settings };
    carry_out(server, Command::SubmitTask(Box::new(task))).await;
}

async fn state(server: &Server, id: &str) -> Option<TaskState> {
    let view = server.handle.views().at_least(0).await;
    let partition = view.books.partition_named("default")?;
    view.books.task_state(view.books.task_named(partition, &Name::new(id))?)
}

#[tokio::test]
#[doc(alias = "TR-54")]
async fn an_rm_that_registers_again_leaves_tenants_their_tasks_and_its_nodes() {
    let server = Server::start().await;
    server.service.queue_file.apply(Origin::default(), QUEUES).await.unwrap();
    let mut rm = Rm::on(&server, "").await;
    rm.create(&[("n1", 8), ("n2", 8)]).await;
    let tenant = SetTenant {
        partition: Name::new("default"),
        tenant: Name::new("t"),
        settings: TenantSettings::default(),
        ..SetTenant::default()
    };
    carry_out(&server, Command::SetTenant(Box::new(tenant))).await;
    task(&server, "runs", 6).await;
    rm.submit("plain", "root.a").await;
    rm.ask(vec![ask("plain", "p1", 6)]);
    until("the ask has come", async || {
        let books = &server.handle.views().at_least(0).await.books;
        books.allocations().iter().any(|(_, one)| *one.key == *"p1")
    })
    .await;
    server.turn(1_000).await;
    rm.allocated(1).await;
    assert_eq!(state(&server, "runs").await, Some(TaskState::Starting));
    // It is lost first, so that the scheduler holds everything for it.
    drop(rm);
    let asks = async || {
        let books = &server.handle.views().at_least(0).await.books;
        let partition = books.partition_named("default").unwrap();
        books.partition(partition).questions.is_some()
    };
    until("it is missed", asks).await;
    let before = server.handle.views().at_least(0).await.sequence;
    let mut rm = Rm::on(&server, "").await;
    assert!(!asks().await, "this one answers no questions, and is asked none");
    // Its own application is gone, the task is not.
    let view = server.handle.views().at_least(before + 1).await;
    let partition = view.books.partition_named("default").unwrap();
    let names: Vec<&str> = view
        .books
        .partition(partition)
        .applications
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["runs"]);
    assert_eq!(state(&server, "runs").await, Some(TaskState::Starting));
    task(&server, "waits", 1).await;
    server.turn(1_000).await;
    let sent = |id: &str, size| NodeRequest {
        nodes: vec![node(id, ActionFromRm::Create, size)],
        rm_id: "rm".into(),
    };
    rm.nodes.send(sent("n1", 8));
    assert_eq!(rm.nodes.next().await.accepted.len(), 1);
    server.turn(1_000).await;
    assert_eq!(state(&server, "waits").await, Some(TaskState::Waiting), "one node is missing");
    // With another size, by the way.
    rm.nodes.send(sent("n2", 4));
    assert_eq!(rm.nodes.next().await.accepted.len(), 1);
    server.turn(0).await;
    assert_eq!(state(&server, "waits").await, Some(TaskState::Starting));
    let view = server.handle.views().at_least(0).await;
    let root = view.books.queue_at(partition, "root").unwrap();
    let size = view.books.types().amounts(view.books.queue(root).max.as_ref().unwrap());
    assert_eq!(size.get("vcore").map(headroom_core::resource::Quantity::get), Some(12_000));
    view.books.check().unwrap();
}
