//! Item 4 of the list: each row of the tables of requests and releases, over the three streams,
//! the silent cases included.

use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{
    Allocation, AllocationRequest, ApplicationRequest, NodeInfo, NodeRequest, TerminationType,
};

use crate::support::{QUEUES, Rm, Server, ask, new, node, placed, vcores};

/// Item 4, scheduler interface §6.1: one answer accepts or rejects all new nodes of a request.
#[tokio::test]
async fn nodes_that_join_are_answered_in_one_message() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let elsewhere = NodeInfo {
        attributes: [("si/node-partition".to_owned(), "none".to_owned())].into(),
        ..node("n9", ActionFromRm::Create, 1)
    };
    let nodes = vec![
        node("n2", ActionFromRm::Create, 1),
        node("n1", ActionFromRm::Create, 1),
        node("n3", ActionFromRm::CreateDrain, 1),
        elsewhere,
        node("", ActionFromRm::Create, 1),
    ];
    rm.nodes.send(NodeRequest { nodes, rm_id: "rm".into() });
    let answer = rm.nodes.next().await;
    let accepted: Vec<&str> = answer.accepted.iter().map(|one| one.node_id.as_str()).collect();
    let rejected: Vec<&str> = answer.rejected.iter().map(|one| one.node_id.as_str()).collect();
    assert_eq!((accepted, rejected), (vec!["n2", "n3"], vec!["n1", "n9", ""]));
    let view = server.handle.views().at_least(0).await;
    let drained = view.books.nodes().iter().filter(|(_, row)| !row.is_open()).count();
    assert_eq!(drained, 1, "what joins as drained takes nothing");
}

/// Item 4, scheduler interface §6.1: other actions have no answer, with or without a known node.
#[tokio::test]
async fn changes_of_nodes_are_silent() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let mut larger = node("n1", ActionFromRm::Update, 20);
    larger.attributes = [("si/hostname".to_owned(), "ignored".to_owned())].into();
    let mut without_size = node("n1", ActionFromRm::Update, 1);
    without_size.schedulable_resource = None;
    let unknown = NodeInfo { action: 99, ..node("n1", ActionFromRm::Update, 1) };
    let mut nodes = vec![larger, without_size, unknown];
    for action in [ActionFromRm::DrainNode, ActionFromRm::DrainToSchedulable] {
        nodes.push(node("n1", action, 0));
        nodes.push(node("n1", action, 0));
        nodes.push(node("none", action, 0));
    }
    nodes.push(node("none", ActionFromRm::Decomission, 0));
    nodes.push(node("none", ActionFromRm::Update, 1));
    nodes.push(node("n1", ActionFromRm::UnknownActionFromRm, 1));
    rm.nodes.send(NodeRequest { nodes, rm_id: "rm".into() });
    rm.nodes.silent().await;
    let view = server.handle.views().at_least(0).await;
    let (_, row) = view.books.nodes().iter().next().unwrap();
    assert!(row.is_open());
    assert_eq!(view.books.types().amounts(&row.capacity), [("vcore", 20_000)].into());
    assert_eq!(row.attributes.get("si/hostname"), None, "attributes are read when it joins");
}

/// Item 4, scheduler interface §6.2: each reason to reject an application.
#[tokio::test]
async fn applications_are_accepted_or_rejected_in_one_message() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let of = |id: &str, queue: &str| new(id, queue);
    let mut elsewhere = of("partition", "root.a");
    elsewhere.partition_name = "none".into();
    let mut nobody = of("user", "root.a");
    nobody.ugi = None;
    let mut illegal = of("illegal", "root.a");
    illegal.ugi.as_mut().unwrap().user = "1 2".into();
    let mut gang = of("fair-gang", "root.fair");
    gang.placeholder_ask = vcores(1);
    let mut large = of("large-gang", "root.small");
    large.placeholder_ask = vcores(5);
    let all = vec![
        of("fine", "root.a"),
        elsewhere,
        nobody,
        illegal,
        of("app", "root.a"),
        of("missing", "root.none"),
        of("parent", "root.parent"),
        gang,
        large,
        of("", "root.a"),
    ];
    let request = ApplicationRequest { new: all, rm_id: "rm".into(), ..Default::default() };
    rm.applications.send(request);
    let answer = rm.applications.next().await;
    let accepted: Vec<&str> =
        answer.accepted.iter().map(|one| one.application_id.as_str()).collect();
    let rejected: Vec<&str> =
        answer.rejected.iter().map(|one| one.application_id.as_str()).collect();
    assert_eq!(accepted, ["fine"]);
    let expected =
        ["partition", "user", "illegal", "app", "missing", "parent", "fair-gang", "large-gang", ""];
    assert_eq!(rejected, expected);
    assert!(answer.rejected.iter().all(|one| !one.reason.is_empty()), "{answer:?}");
    // To be removed, and not there: silent.
    rm.remove("none");
    rm.applications.silent().await;
}

/// Item 4, scheduler interface §6.2: a forced application is accepted without a user or a queue.
#[tokio::test]
async fn a_forced_application_needs_no_user() {
    let server = Server::start().await;
    let mut rm = Rm::on(&server, QUEUES).await;
    let mut forced = new("forced", "root.none");
    forced.ugi = None;
    forced.tags = [("application.create.force".to_owned(), "true".to_owned())].into();
    rm.add(forced);
    let answer = rm.applications.next().await;
    assert_eq!((answer.accepted.len(), answer.rejected.len()), (1, 0), "{answer:?}");
    let view = server.handle.views().at_least(0).await;
    let (_, row) = view.books.applications().iter().next().unwrap();
    let user = (&*row.user, &*view.books.queue(row.queue).path);
    assert_eq!(user, ("nobody", "root.@recovery@"));
}

/// Item 4, scheduler interface §6.3: rejections come in one message after the echoes.
#[tokio::test]
async fn allocations_are_echoed_one_by_one_and_rejected_together() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    rm.submit("other", "root.a").await;
    let foreign = |key: &str, node: &str| Allocation {
        allocation_tags: [("foreign".to_owned(), "static".to_owned())].into(),
        ..placed("", key, 1, node)
    };
    let mut elsewhere = ask("app", "partition", 1);
    elsewhere.partition_name = "none".into();
    let mut negative = ask("app", "negative", 1);
    negative.resource_per_alloc = vcores(-1);
    let mut nothing = ask("app", "nothing", 1);
    nothing.resource_per_alloc = None;
    let mut lonely = ask("app", "lonely", 1);
    lonely.placeholder = true;
    rm.ask(vec![
        placed("app", "here", 2, "n1"),
        ask("none", "application", 1),
        placed("app", "node", 1, "none"),
        nothing,
        negative,
        elsewhere,
        foreign("foreign-nowhere", ""),
        foreign("foreign-none", "none"),
        lonely,
        placed("other", "here", 1, "n1"),
        ask("app", "", 1),
        foreign("foreign-here", "n1"),
        ask("app", "waits", 1),
    ]);
    let mut told = rm.allocations.next().await;
    assert_eq!(told.new.len(), 1, "{told:?}");
    let echo = told.new.remove(0);
    let shown = (&*echo.allocation_key, &*echo.node_id, &*echo.application_id);
    assert_eq!(shown, ("here", "n1", "app"));
    assert_eq!(echo.resource_per_alloc, vcores(2));
    assert_eq!((&*echo.partition_name, echo.allocation_tags.len()), ("", 0));
    let told = rm.allocations.next().await;
    let rejected = told.rejected_allocations.iter();
    let rejected: Vec<(&str, &str)> =
        rejected.map(|one| (&*one.allocation_key, &*one.application_id)).collect();
    let of_app = |key: &'static str| (key, "app");
    assert_eq!(
        rejected,
        [
            ("application", "none"),
            of_app("node"),
            of_app("nothing"),
            of_app("negative"),
            of_app("partition"),
            ("foreign-nowhere", ""),
            ("foreign-none", ""),
            of_app("lonely"),
            ("here", "other"),
            of_app(""),
        ]
    );
    rm.allocations.silent().await;
}

/// Item 4, scheduler interface §6.3: a known allocation is changed, and only a placement is echoed.
#[tokio::test]
async fn known_asks_and_allocations_change_in_silence_unless_they_are_placed() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    rm.ask(vec![ask("app", "k1", 1), placed("app", "k2", 1, "n1")]);
    assert_eq!(rm.allocated(1).await, [("k2".to_owned(), "n1".to_owned())]);
    let foreign = |size| Allocation {
        allocation_tags: [("foreign".to_owned(), String::new())].into(),
        ..placed("", "f", size, "n1")
    };
    // Another size for an ask, for an allocation, and for something foreign; another node.
    rm.ask(vec![ask("app", "k1", 2), ask("app", "k2", 3), foreign(1), foreign(2)]);
    rm.create(&[("n2", 10)]).await;
    rm.ask(vec![placed("app", "k2", 3, "n2")]);
    rm.allocations.silent().await;
    // An update to nothing is refused, and the old size stays.
    rm.ask(vec![ask("app", "k2", 0)]);
    assert_eq!(rm.allocations.next().await.rejected_allocations.len(), 1);
    rm.ask(vec![placed("app", "k1", 2, "n2")]);
    assert_eq!(rm.allocated(1).await, [("k1".to_owned(), "n2".to_owned())]);
    let view = server.handle.views().at_least(0).await;
    let sizes = view.books.nodes().iter().map(|(_, row)| {
        let (allocated, occupied) = (&row.allocated, &row.occupied);
        (view.books.types().amounts(allocated), view.books.types().amounts(occupied))
    });
    let of = |vcores| headroom_core::resource::Amounts::from([("vcore", vcores)]);
    let sizes: Vec<_> = sizes.collect();
    assert_eq!(sizes[0], (of(3_000), of(2_000)), "{sizes:?}");
    assert_eq!(sizes[1].0, of(2_000));
}

/// Item 4, scheduler interface §7.2: a release by the RM is acknowledged if it was an allocation.
#[tokio::test]
async fn releases_by_the_rm_are_acknowledged_for_allocations_alone() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    let keys = ["k1", "k2", "k3", "k4", "k5"];
    rm.ask(keys.map(|key| placed("app", key, 1, "n1")).into());
    rm.allocated(5).await;
    rm.ask(vec![ask("app", "waits", 1)]);
    rm.release("app", "k1", TerminationType::StoppedByRm);
    rm.release("app", "k2", TerminationType::UnknownTerminationType);
    let stopped = |key: &str| (key.to_owned(), TerminationType::StoppedByRm);
    assert_eq!(rm.released(2).await, [stopped("k1"), stopped("k2")]);
    // Only an ask; nothing; what was released already; of nobody; foreign; confirmations.
    rm.release("app", "waits", TerminationType::StoppedByRm);
    rm.release("app", "none", TerminationType::StoppedByRm);
    rm.release("app", "k1", TerminationType::StoppedByRm);
    rm.release("none", "k3", TerminationType::StoppedByRm);
    rm.release("", "none", TerminationType::StoppedByRm);
    rm.release("app", "k3", TerminationType::Timeout);
    rm.release("app", "k4", TerminationType::PreemptedByScheduler);
    rm.allocations.silent().await;
    // Everything of the application.
    rm.release("app", "", TerminationType::StoppedByRm);
    assert_eq!(rm.released(1).await, [stopped("k5")]);
}

/// Item 4, scheduler interface §7.3: the removal of an application releases all its allocations in one message.
#[tokio::test]
async fn the_allocations_of_an_application_or_a_node_go_in_one_message() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    rm.submit("two", "root.a").await;
    rm.ask(["k1", "k2", "k3"].map(|key| placed("app", key, 1, "n1")).into());
    rm.ask(["l1", "l2"].map(|key| placed("two", key, 1, "n1")).into());
    rm.allocated(5).await;
    rm.remove("app");
    let told = rm.allocations.next().await;
    assert_eq!(told.released.len(), 3, "{told:?}");
    let one = &told.released[0];
    assert_eq!((&*one.partition_name, &*one.application_id), ("[rm]default", "app"));
    assert_eq!(one.termination_type(), TerminationType::StoppedByRm);
    rm.act("n1", ActionFromRm::Decomission);
    let told = rm.allocations.next().await;
    assert_eq!(told.released.len(), 2, "{told:?}");
    rm.allocations.silent().await;
    let view = server.handle.views().at_least(0).await;
    assert_eq!(view.books.nodes().iter().count(), 0);
}

/// Item 4: what a client sends that makes no sense is answered or passed over.
#[tokio::test]
async fn empty_requests_are_passed_over() {
    let server = Server::start().await;
    let mut rm = Rm::furnished(&server).await;
    rm.allocations.send(AllocationRequest::default());
    rm.applications.send(ApplicationRequest::default());
    rm.nodes.send(NodeRequest::default());
    rm.allocations.silent().await;
    rm.applications.silent().await;
    rm.nodes.silent().await;
    rm.ask(vec![placed("app", "k1", 1, "n1")]);
    rm.allocated(1).await;
}
