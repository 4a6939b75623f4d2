//! Item 6 of the list: what is to be stopped for others counts until the RM has stopped it.

use headroom_api::si::headroom::scheduler_session_client::SchedulerSessionClient;
use headroom_api::si::v1::{
    Allocation, PreemptionPolicy, TerminationType, UpdateConfigurationRequest,
};
use headroom_core::resource::Amounts;

use crate::support::{Rm, Server, ask, placed, until};

pub(crate) const PREEMPTED: TerminationType = TerminationType::PreemptedByScheduler;

pub(crate) const QUEUES: &str = "
partitions:
  - name: default
    preemption: {quotapreemptionenabled: true}
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: rich
            resources: {max: {vcore: 20}}
            properties: {quota.preemption.delay: 1m}
          - name: poor
            resources: {guaranteed: {vcore: 6}}
            properties: {preemption.delay: 1s}
";

/// One that offers itself to be stopped, and for which nobody is.
pub(crate) fn victim(one: Allocation) -> Allocation {
    let policy = PreemptionPolicy { allow_preempt_self: true, allow_preempt_other: false };
    Allocation { preemption_policy: Some(policy), ..one }
}

/// One for which others may be stopped.
pub(crate) fn preemptor(one: Allocation) -> Allocation {
    let policy = PreemptionPolicy { allow_preempt_self: false, allow_preempt_other: true };
    Allocation { preemption_policy: Some(policy), ..one }
}

/// These nodes, and an application for each of the queues.
pub(crate) async fn estate(server: &Server, nodes: &[(&str, i64)]) -> Rm {
    let mut rm = Rm::on(server, QUEUES).await;
    rm.create(nodes).await;
    rm.submit("rich", "root.rich").await;
    rm.submit("poor", "root.poor").await;
    rm
}

/// So many asks and allocations are there.
pub(crate) async fn there_are(server: &Server, count: usize) {
    until("so many are there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == count
    })
    .await;
}

/// What a node has given away.
async fn allocated(server: &Server, node: &str) -> Amounts {
    let view = server.handle.views().at_least(0).await;
    let (_, row) = view.books.nodes().iter().find(|(_, row)| &*row.name == node).unwrap();
    view.books.types().amounts(&row.allocated)
}

fn thousandths(vcore: i64) -> Amounts {
    [("vcore", vcore)].into()
}

/// A full node of ten, all of it used by the rich, and somebody poor who waits.
async fn full(server: &Server) -> Rm {
    let mut rm = estate(server, &[("n1", 10)]).await;
    rm.ask(["r1", "r2"].map(|key| victim(placed("rich", key, 5, "n1"))).into());
    rm.allocated(2).await;
    rm.ask(vec![preemptor(ask("poor", "k1", 5))]);
    there_are(server, 3).await;
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
    there_are(&server, 2).await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await, [("k1".to_owned(), "n1".to_owned())]);
    // Once more, when its room is somebody else's.
    rm.release("rich", &key, PREEMPTED);
    rm.allocations.silent().await;
    assert_eq!(allocated(&server, "n1").await, thousandths(10_000));
}

/// Item 6: while the confirmation is missing the victim counts, and nobody else is stopped.
#[tokio::test]
async fn a_victim_that_is_not_confirmed_keeps_its_room() {
    let server = Server::start().await;
    let mut rm = full(&server).await;
    let lost = rm.released(1).await.remove(0).0;
    for _ in 0..5 {
        server.turn(60_000).await;
    }
    rm.allocations.silent().await;
    assert_eq!(allocated(&server, "n1").await, thousandths(10_000));
    let shown = server.json("/ws/v1/partition/default/queue/root.rich").await;
    assert_eq!(shown["allocatedResource"]["vcore"], 10_000, "{shown}");
    assert_eq!(shown["preemptingResource"]["vcore"], 5_000, "{shown}");
    // It comes after all, however late.
    rm.release("rich", &lost, PREEMPTED);
    there_are(&server, 2).await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await, [("k1".to_owned(), "n1".to_owned())]);
}

/// Scheduler interface §7.3: one message names all victims. It names no more than needed, and none
/// with a higher priority than the ask.
#[tokio::test]
async fn victims_of_one_ask_go_in_one_message_and_none_of_higher_priority() {
    let server = Server::start().await;
    let mut rm = estate(&server, &[("n1", 10)]).await;
    let of = |key: &str, priority| Allocation { priority, ..victim(placed("rich", key, 2, "n1")) };
    rm.ask(vec![of("low1", 1), of("high1", 9), of("low2", 1), of("high2", 9), of("high3", 9)]);
    rm.allocated(5).await;
    rm.ask(vec![Allocation { priority: 5, ..preemptor(ask("poor", "k1", 4)) }]);
    there_are(&server, 6).await;
    server.turn(10).await;
    server.turn(60_000).await;
    let told = rm.allocations.next().await;
    let mut keys: Vec<&str> = told.released.iter().map(|one| &*one.allocation_key).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["low1", "low2"]);
    // Half of the room is not enough.
    rm.release("rich", "low1", PREEMPTED);
    there_are(&server, 5).await;
    server.turn(10).await;
    rm.allocations.silent().await;
    rm.release("rich", "low2", PREEMPTED);
    there_are(&server, 4).await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await, [("k1".to_owned(), "n1".to_owned())]);
}

/// Scheduler interface §7.3: an ask with a required node preempts on that node, whatever its queue allows.
#[tokio::test]
async fn an_ask_that_requires_a_node_has_others_stopped_there() {
    let server = Server::start().await;
    let mut rm = estate(&server, &[("n1", 4), ("n2", 4)]).await;
    rm.ask(vec![victim(placed("rich", "r1", 4, "n1")), victim(placed("rich", "r2", 1, "n2"))]);
    rm.allocated(2).await;
    let requires = ("yunikorn.apache.org/requiredNode".to_owned(), "n1".to_owned());
    let tags = [requires].into();
    rm.ask(vec![Allocation { allocation_tags: tags, ..ask("rich", "daemon", 1) }]);
    there_are(&server, 3).await;
    server.turn(10).await;
    let told = rm.allocations.next().await;
    let one = &told.released[0];
    assert_eq!((told.released.len(), &*one.allocation_key), (1, "r1"), "{told:?}");
    assert_eq!(one.termination_type(), PREEMPTED);
    assert!(one.message.contains("daemon"), "{one:?}");
    server.turn(60_000).await;
    rm.allocations.silent().await;
    assert_eq!(allocated(&server, "n1").await, thousandths(4_000));
    rm.release("rich", "r1", PREEMPTED);
    there_are(&server, 2).await;
    server.turn(10).await;
    assert_eq!(rm.allocated(1).await, [("daemon".to_owned(), "n1".to_owned())]);
    assert_eq!(allocated(&server, "n1").await, thousandths(1_000));
}

/// Scheduler interface §7.3: a queue above a lowered maximum gives back the excess, from any application,
/// once for each change. Several entries may share a message: scheduler interface §12.6.
#[tokio::test]
async fn a_lowered_maximum_is_asked_back_once() {
    let server = Server::start().await;
    let mut rm = estate(&server, &[("n1", 20)]).await;
    rm.submit("second", "root.rich").await;
    let of = |application: &'static str| {
        move |key: &str| victim(placed(application, &format!("{application}-{key}"), 2, "n1"))
    };
    rm.ask(["1", "2"].map(of("rich")).into());
    rm.ask(["1", "2"].map(of("second")).into());
    rm.allocated(4).await;
    let config = QUEUES.replace("max: {vcore: 20}", "max: {vcore: 2}");
    let update = UpdateConfigurationRequest { rm_id: "rm".into(), config, ..Default::default() };
    let mut client = SchedulerSessionClient::new(server.channel.clone());
    client.update_configuration(update).await.unwrap();
    server.turn(59_000).await;
    rm.allocations.silent().await;
    server.turn(2_000).await;
    let mut victims = Vec::new();
    while victims.len() < 3 {
        victims.extend(rm.allocations.next().await.released);
    }
    assert_eq!(victims.len(), 3, "{victims:?}");
    for one in &victims {
        assert_eq!(one.termination_type(), PREEMPTED);
        assert!(one.message.contains("root.rich"), "{one:?}");
        // Twice is once.
        rm.release(&one.application_id, &one.allocation_key, PREEMPTED);
        rm.release(&one.application_id, &one.allocation_key, PREEMPTED);
    }
    there_are(&server, 1).await;
    server.turn(120_000).await;
    rm.allocations.silent().await;
    assert_eq!(allocated(&server, "n1").await, thousandths(2_000));
}
