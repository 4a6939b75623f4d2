//! Item 3 of the list: the script of a recovery, step by step. Scheduler interface §5.3.

use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{Allocation, NodeRequest};

use crate::support::{Rm, START, Server, ask, new, node, placed};

const QUEUES: &str = "
partitions:
  - name: default
    placementrules:
      - name: provided
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: a
            resources: {max: {vcore: 3}}
            limits:
              - limit: all
                users: ['*']
                maxresources: {vcore: 2}
";

/// Item 3: nodes first and drained, forced applications, what runs with its age, foreign pods,
/// asks, and then the nodes are opened.
#[tokio::test]
async fn everything_that_exists_is_taken_in_whatever_the_limits_say() {
    let server = Server::start().await;
    let mut rm = Rm::on(&server, QUEUES).await;
    let drained = ["n1", "n2"].map(|id| node(id, ActionFromRm::CreateDrain, 8));
    rm.nodes.send(NodeRequest { nodes: drained.into(), rm_id: "rm".into() });
    assert_eq!(rm.nodes.next().await.accepted.len(), 2);

    let forced = |id: &str, queue: &str| {
        let mut one = new(id, queue);
        one.tags = [("application.create.force".to_owned(), "true".to_owned())].into();
        one
    };
    rm.add(forced("runs", "root.a"));
    rm.add(forced("lost", "root.gone"));
    let mut gang = forced("gang", "root.a");
    gang.placeholder_ask = crate::support::vcores(1);
    gang.execution_timeout_milli_seconds = 1_000;
    let created = (START.as_millis() / 1_000 - 600).to_string();
    gang.tags.insert("yunikorn.apache.org/creationTime".into(), created.clone());
    rm.add(gang);
    for _ in 0..3 {
        assert_eq!(rm.applications.next().await.accepted.len(), 1);
    }

    let tagged = |one: Allocation, key: &str, value: &str| {
        let mut one = one;
        one.allocation_tags.insert(key.into(), value.into());
        one
    };
    let aged = |one| tagged(one, "creationTime", &created);
    let placeholder = Allocation {
        task_group_name: "tg".into(),
        placeholder: true,
        ..placed("gang", "p1", 1, "n1")
    };
    rm.ask(vec![
        // More than the queue and the user may have.
        aged(placed("runs", "k1", 4, "n1")),
        aged(placed("lost", "k2", 2, "n2")),
        aged(placeholder),
        tagged(placed("", "foreign", 2, "n2"), "foreign", "static"),
        ask("runs", "waits", 1),
        ask("lost", "next", 1),
    ]);
    let mut keys: Vec<String> = rm.allocated(3).await.into_iter().map(|(key, _)| key).collect();
    keys.sort();
    assert_eq!(keys, ["k1", "k2", "p1"]);
    server.turn(10).await;
    // The gang's time was over before; only what it holds is given up.
    assert_eq!(rm.released(1).await[0].0, "p1");
    for id in ["n1", "n2"] {
        rm.act(id, ActionFromRm::DrainToSchedulable);
    }
    crate::support::until("the nodes are open", async || {
        let view = server.handle.views().at_least(0).await;
        view.books.nodes().iter().all(|(_, row)| row.is_open())
    })
    .await;
    server.turn(10).await;
    let new = rm.allocated(1).await;
    assert_eq!(new[0].0, "next", "what is over its limits waits, what has none does not");
    rm.allocations.silent().await;
    let view = server.handle.views().at_least(0).await;
    let lost = view.books.applications().iter().find(|(_, row)| &*row.name == "lost").unwrap().1;
    assert_eq!(&*view.books.queue(lost.queue).path, "root.@recovery@");
    let (_, first) = view.books.allocations().iter().find(|(_, row)| &*row.key == "k1").unwrap();
    assert_eq!(first.created.as_millis(), START.as_millis() - 600_000, "its age is preserved");
}

/// Item 3: what is sent again changes nothing.
#[tokio::test]
async fn what_is_there_already_is_not_counted_twice() {
    let server = Server::start().await;
    let mut rm = Rm::on(&server, QUEUES).await;
    rm.create(&[("n1", 8)]).await;
    rm.submit("runs", "root.a").await;
    let all = || vec![placed("runs", "k1", 1, "n1"), ask("runs", "k2", 1)];
    rm.ask(all());
    rm.allocated(1).await;
    rm.ask(all());
    rm.allocations.silent().await;
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.allocations().iter().count(), 2);
}
