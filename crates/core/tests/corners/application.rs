//! The life of an application, and what it asks for.

use expect_test::expect;
use headroom_core::books::{ApplicationState, PLACEHOLDER_TIMEOUT};
use headroom_core::testkit::{amounts, leaf, parent};
use headroom_core::view::{ApplicationView, RejectedView};
use headroom_core::{
    ApplicationEvent, Ask, Command, Event, Millis, Name, Submit, Termination, Timestamp,
};

use crate::check;
use crate::cluster::{Cluster, ask, here, submit};

fn cluster() -> Cluster {
    let mut cluster = Cluster::with(parent("root", vec![parent("p", vec![leaf("a")])]));
    cluster.submit("app1", "root.p.a");
    cluster
}

#[test]
fn the_first_ask_accepts_its_withdrawal_completes_and_the_next_ask_runs() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        ask a2 app1 vcore=1
        show app1
        show root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            release a1: a1 withdrawn, app1 Completing
            ask a2: app1 Running
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
              app1: Running in root.a, no group, uses {}, user headroom none
              root.a: in force none, uses {}, headroom none, share 0, runs 1
        "#]],
    );
}

#[test]
fn withdrawing_the_only_ask_changes_nothing_while_an_allocation_runs() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        release a2
        show app1
        release a1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2
              a2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release a2: a2 withdrawn
              app1: Running in root.a, no group, uses {vcore: 1000 m}, user headroom none
            release a1: a1 released, app1 Completing
        "#]],
    );
}

#[test]
fn the_timer_of_an_application_that_was_removed_does_nothing_to_the_next_of_its_name() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 vcore=1
        release a1
        wait 10s
        remove app1
        app app1 root.a ann
        ask a2 app1 vcore=1
        wait 20s
        show app1
        release a2
        wait 29s
        show app1
        wait 1s
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            release a1: a1 withdrawn, app1 Completing
            wait 10s: nothing
            remove app1: app1 Completed, app1 gone
            ask a2: app1 Accepted
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
            wait 20s: nothing
              app1: Accepted in root.a, no group, uses {}, user headroom none
            release a2: a2 withdrawn, app1 Completing
            wait 29s: nothing
              app1: Completing in root.a, no group, uses {}, user headroom none
            wait 1s: app1 Completed
        "#]],
    );
}

#[test]
fn what_runs_already_accepts_its_application_and_leaves_nothing_waiting() {
    let mut cluster = cluster();
    cluster.add_node("n1", amounts([("vcore", 1)]));
    cluster.report("k1", "app1", "n1", amounts([("vcore", 5)]));
    let application = cluster.application("app1");
    let states: Vec<_> = application.state_log.iter().map(|(_, state)| *state).collect();
    assert_eq!(states, [ApplicationState::Accepted, ApplicationState::Running]);
    assert_eq!((application.pending, application.highest_priority), (amounts([]), None));
    for path in ["root.p.a", "root.p", "root"] {
        let queue = cluster.queue(path);
        assert_eq!((queue.pending, queue.priority), (amounts([]), None), "{path}");
        assert_eq!(queue.allocated, amounts([("vcore", 5)]), "{path}");
    }
}

#[test]
fn a_known_ask_or_allocation_changes_by_the_difference_wherever_it_is_counted() {
    let mut cluster = cluster();
    cluster.add_node("n1", amounts([("memory", 8)]));
    let counted = |cluster: &Cluster| {
        let application = cluster.application("app1");
        for path in ["root.p.a", "root.p", "root"] {
            let queue = cluster.queue(path);
            assert_eq!(queue.pending, application.pending, "{path}");
            assert_eq!(queue.allocated, application.used, "{path}");
        }
        (application.pending, application.used)
    };
    let none = || amounts([]);
    for (key, size, expected) in [
        ("k1", amounts([("vcore", 5)]), (amounts([("vcore", 5)]), none())),
        ("k2", amounts([("vcore", 2)]), (amounts([("vcore", 7)]), none())),
        // More, less, another type.
        ("k1", amounts([("vcore", 9)]), (amounts([("vcore", 11)]), none())),
        ("k1", amounts([("vcore", 1)]), (amounts([("vcore", 3)]), none())),
        ("k2", amounts([("gpu", 4)]), (amounts([("gpu", 4), ("vcore", 1)]), none())),
        ("k2", amounts([("memory", 4)]), (amounts([("vcore", 1)]), amounts([("memory", 4)]))),
        // It runs by now: less, and more than there is.
        ("k2", amounts([("memory", 1)]), (amounts([("vcore", 1)]), amounts([("memory", 1)]))),
        ("k2", amounts([("memory", 99)]), (amounts([("vcore", 1)]), amounts([("memory", 99)]))),
    ] {
        cluster.ask(key, "app1", size.clone());
        assert_eq!(counted(&cluster), expected, "{key} {size}");
    }
    assert_eq!(cluster.node("n1").available, amounts([("memory", -91)]));
    cluster.release("k1", "app1");
    cluster.release("k2", "app1");
    assert_eq!(counted(&cluster), (none(), none()));
    assert_eq!(cluster.node("n1").available, amounts([("memory", 8)]));
}

#[test]
fn its_priority_follows_asks_that_come_go_are_placed_and_wait_again() {
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    let gang = Submit { placeholder_ask: amounts([("vcore", 1)]), ..submit("app1", "root.a") };
    cluster.command(&Command::Submit(gang));
    let priority = |cluster: &Cluster| {
        let shown = cluster.application("app1").highest_priority;
        assert_eq!(cluster.queue("root").priority, shown);
        shown
    };
    assert_eq!(priority(&cluster), None);
    cluster.ask_with_priority("k5", "app1", 5);
    cluster.ask_with_priority("k9", "app1", 9);
    cluster.ask_with_priority("k9-too", "app1", 9);
    assert_eq!(priority(&cluster), Some(9));
    cluster.release("k9", "app1");
    assert_eq!(priority(&cluster), Some(9), "the other one is as urgent");
    cluster.release("k9-too", "app1");
    assert_eq!(priority(&cluster), Some(5));
    let group = |key: &str, placeholder, priority| {
        let (task_group, one) = (Name::new("g"), ask(key, "app1", amounts([("vcore", 1)])));
        Command::Ask(Ask { placeholder, task_group, priority, ..one })
    };
    cluster.command(&group("place", true, 7));
    assert_eq!(priority(&cluster), Some(7));
    cluster.add_node("n1", amounts([("vcore", 1)]));
    assert_eq!(priority(&cluster), Some(5), "the most urgent one has its room");
    cluster.command(&group("member", false, 20));
    assert_eq!(priority(&cluster), Some(5), "it takes the place of the placeholder");
    let node = Name::new("n1");
    cluster.command(&Command::RemoveNode { partition: here(), node });
    assert_eq!(priority(&cluster), Some(20), "the place is lost, and it waits again");
}

#[test]
fn who_waits_for_a_place_of_a_gang() {
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    cluster.add_node("n1", amounts([("vcore", 9)]));
    cluster.submit("app1", "root.a");
    let waits = |cluster: &Cluster| {
        let books = &cluster.world.books;
        let partition = books.partition(cluster.partition());
        let application = *partition.applications.get("app1").unwrap();
        ["", "other", "g"].map(|group| books.application(application).waits_for_place(group))
    };
    let group = |key: &str, placeholder| {
        let one = ask(key, "app1", amounts([("vcore", 1)]));
        Command::Ask(Ask { placeholder, task_group: "g".into(), ..one })
    };
    let (nobody, of_the_group) = ([false; 3], [false, false, true]);
    assert_eq!(waits(&cluster), nobody, "it has no gang");
    cluster.command(&group("p1", true));
    assert_eq!(waits(&cluster), of_the_group);
    cluster.command(&group("p2", true));
    cluster.command(&group("m1", false));
    assert_eq!(waits(&cluster), of_the_group, "no place was taken yet");
    cluster.release_as("p1", "app1", Termination::PlaceholderReplaced);
    assert_eq!(waits(&cluster), of_the_group, "one is left");
    cluster.release_as("p2", "app1", Termination::Timeout);
    assert_eq!(waits(&cluster), nobody, "one was taken, and one went");
    cluster.command(&group("p3", true));
    assert_eq!(waits(&cluster), of_the_group);
}

#[test]
fn it_is_as_old_as_its_oldest_ask_or_allocation_and_never_younger() {
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    cluster.add_node("n1", amounts([("vcore", 9)]));
    cluster.wait(100);
    cluster.submit("app1", "root.a");
    for (key, made, node, expected) in [
        ("k1", 120, None, 100),
        ("k2", 60, None, 60),
        ("k3", 80, None, 60),
        ("k4", 30, Some("n1"), 30),
        ("k5", 50, Some("n1"), 30),
    ] {
        let created = Some(Timestamp::ZERO + Millis::from_secs(made));
        let node = node.map(Name::new);
        let one = ask(key, "app1", amounts([("vcore", 1)]));
        cluster.command(&Command::Ask(Ask { created, node, ..one }));
        let submitted = cluster.application("app1").submitted.as_millis() / 1_000;
        assert_eq!(submitted, expected, "{key}");
    }
    cluster.release("k4", "app1");
    assert_eq!(cluster.application("app1").submitted.as_millis(), 30_000, "it stays so");
}

#[test]
fn what_has_its_node_is_placed_and_released_once() {
    let mut cluster = cluster();
    for node in ["n1", "n2"] {
        cluster.add_node(node, amounts([("vcore", 4)]));
    }
    cluster.report("k1", "app1", "n1", amounts([("vcore", 1)]));
    let again = Ask { node: Some("n2".into()), ..ask("k1", "app1", amounts([("vcore", 1)])) };
    assert_eq!(cluster.command(&Command::Ask(again)), [], "another node is not heeded");
    assert_eq!(cluster.application("app1").allocations[0].node, "n1");
    assert_eq!(cluster.queue("root").pending, amounts([]));
    cluster.ask("k2", "app1", amounts([("vcore", 9)]));
    cluster.release("k1", "app1");
    let before = cluster.world.books.clone();
    let again = Command::Release {
        partition: here(),
        application: "app1".into(),
        key: Some("k1".into()),
        termination: Termination::StoppedByRm,
    };
    assert_eq!(cluster.world.command(&again).unwrap_err().code().as_str(), "UNKNOWN_KEY");
    assert_eq!(cluster.world.books, before);
    assert_eq!(cluster.queue("root").pending, amounts([("vcore", 9)]));
}

#[test]
fn one_that_has_ended_asks_for_nothing_and_tells_its_queue_when_that_is_gone() {
    let mut cluster = Cluster::with(parent("root", vec![]));
    cluster.submit("app1", "root.made.here");
    cluster.ask("k1", "app1", amounts([("vcore", 1)]));
    cluster.release("k1", "app1");
    cluster.wait(30);
    cluster.wait(20);
    let (partition, books) = (cluster.partition(), &cluster.world.books);
    assert_eq!(books.queues().len(), 1, "only the root is left");
    let ended = ApplicationView::completed(books, partition);
    assert_eq!(ended.len(), 1);
    assert_eq!((ended[0].state, &*ended[0].queue), (ApplicationState::Completed, "root.made.here"));
    assert_eq!(ended[0].finished, Some(Timestamp::from_millis(30_000)));
    assert!(ended[0].requests.is_empty() && ended[0].allocations.is_empty());
    cluster.wait(72 * 3_600);
    assert_eq!(ApplicationView::completed(&cluster.world.books, partition), []);
}

#[test]
fn a_rejected_one_is_remembered_with_its_time_and_reason_and_enters_no_state() {
    let mut cluster = cluster();
    cluster.wait(7);
    let events = cluster.command(&Command::Submit(submit("app2", "root.p")));
    let [Event::Application(ApplicationEvent::Rejected { message, .. })] = &*events else {
        panic!("{events:?}");
    };
    assert!(
        message.contains("queue root.p is a parent, but applications run only in leaves"),
        "{message}"
    );
    let all = RejectedView::all(&cluster.world.books, cluster.partition());
    assert_eq!(all.len(), 1);
    let told = (all[0].at.as_millis(), &*all[0].code, &all[0].message);
    assert_eq!(told, (7_000, "PL-REJECTED", message));
    assert_eq!(cluster.world.books.applications().len(), 1, "the other one");
}

#[test]
fn a_gang_without_a_time_has_a_quarter_of_an_hour() {
    for (given, expected) in [(0, PLACEHOLDER_TIMEOUT), (1, Millis::new(1))] {
        let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
        cluster.add_node("n1", amounts([("vcore", 1)]));
        let gang = Submit {
            placeholder_ask: amounts([("vcore", 2)]),
            placeholder_timeout: Millis::new(given),
            ..submit("app1", "root.a")
        };
        cluster.command(&Command::Submit(gang));
        let one = ask("p1", "app1", amounts([("vcore", 1)]));
        let place = Ask { placeholder: true, task_group: "g".into(), ..one };
        cluster.command(&Command::Ask(place));
        let (_, row) = cluster.world.books.applications().iter().next().unwrap();
        let deadline = row.gang.as_ref().unwrap().deadline;
        assert_eq!(deadline, Some(Timestamp::ZERO + expected), "{given}");
    }
}
