//! Item 6 of the list: what is to be stopped for others counts until the RM has stopped it.

use headroom_api::si::v1::{Allocation, PreemptionPolicy, TerminationType};

use crate::support::{Rm, Server, ask, placed, until};

const PREEMPTED: TerminationType = TerminationType::PreemptedByScheduler;

const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: rich
          - name: poor
            resources: {guaranteed: {vcore: 6}}
            properties: {preemption.delay: 1s}
";

/// A full node of ten, all of it used by the rich, and somebody poor who waits.
async fn full(server: &Server) -> Rm {
    let mut rm = Rm::on(server, QUEUES).await;
    rm.create(&[("n1", 10)]).await;
    rm.submit("rich", "root.rich").await;
    rm.submit("poor", "root.poor").await;
    let policy = |to_self| {
        Some(PreemptionPolicy { allow_preempt_self: to_self, allow_preempt_other: !to_self })
    };
    let rich =
        |key: &str| Allocation { preemption_policy: policy(true), ..placed("rich", key, 5, "n1") };
    rm.ask(vec![rich("r1"), rich("r2")]);
    rm.allocated(2).await;
    rm.ask(vec![Allocation { preemption_policy: policy(false), ..ask("poor", "k1", 5) }]);
    until("the ask is there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 3
    })
    .await;
    server.turn(10).await;
    server.turn(60_000).await;
    rm
}

/// Item 6: a victim is stopped, confirmed, and its room given away; twice confirmed is once.
#[tokio::test]
async fn a_victim_that_is_confirmed_makes_room() {
    let server = Server::start().await;
    let mut rm = full(&server).await;
    let told = rm.allocations.next().await;
    assert_eq!(told.released.len(), 1, "{told:?}");
    let victim = &told.released[0];
    assert_eq!(victim.termination_type(), PREEMPTED);
    assert!(victim.message.contains("k1"), "{victim:?}");
    let key = victim.allocation_key.clone();
    rm.release("rich", &key, PREEMPTED);
    rm.release("rich", &key, PREEMPTED);
    until("the victim is gone", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 2
    })
    .await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await, [("k1".to_owned(), "n1".to_owned())]);
    rm.allocations.silent().await;
}

/// Item 6: while the confirmation is missing the victim counts, and nobody else is stopped.
#[tokio::test]
async fn a_victim_that_is_not_confirmed_keeps_its_room() {
    let server = Server::start().await;
    let mut rm = full(&server).await;
    rm.released(1).await;
    for _ in 0..5 {
        server.turn(60_000).await;
    }
    rm.allocations.silent().await;
    let view = server.handle.views().at_least(0).await;
    let (_, node) = view.books.nodes().iter().next().unwrap();
    assert_eq!(view.books.types().amounts(&node.allocated), [("vcore", 10_000)].into());
}
