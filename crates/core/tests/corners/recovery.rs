//! What an RM reports that runs already: after a restart of either side, and over any limit.
//! Scheduling §16, scheduler interface §5.3.

use std::collections::BTreeMap;

use expect_test::expect;
use headroom_core::config::QueueConfig;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, amounts, leaf, limit, parent};
use headroom_core::view::{NodeView, QueueView, groups, users};
use headroom_core::{Ask, Command, Scheduler, Submit, Termination};

use crate::check;
use crate::cluster::{Cluster, ask, submit};

#[test]
#[doc(alias = "scheduling W39")]
fn recovery_over_quota() {
    check(
        "
        queue root.q max m=10
        node n1 m=20
        app A root.q ann
        ask a1 A m=6 on n1
        ask a2 A m=7 on n1
        show root.q
        ask a3 A m=1
        release a2
        ",
        expect![[r#"
            ask a1: A Accepted, a1 on n1, A Running
            ask a2: a2 on n1
              root.q: in force {m: 10}, uses {m: 13}, headroom {m: -3}, share 1.3, runs 1
            ask a3
              a3 waits QUEUE_MAX: queue root.q uses 13 m, which is above its maximum of 10, and the ask needs 1. Wait for releases, or raise the maximum.
            release a2: a2 released, a3 on n1
        "#]],
    );
}

#[test]
fn what_runs_already_is_taken_in_over_the_limits_of_queue_user_group_number_and_node() {
    check(
        "
        queue root.q max memory=10 apps=1
        limit root.q user ann memory=5 apps=1
        limit root.q group dev memory=7
        node n1 memory=4 drained
        app app1 root.q ann groups dev
        app app2 root.q ann groups dev
        ask k1 app1 memory=8 on n1
        ask k2 app2 memory=6 on n1
        show root.q
        show user ann
        show group dev
        ask k3 app1 memory=1
        ask k4 app9 memory=1 on n1
        ask k5 app1 memory=1 on n9
        ",
        expect![[r#"
            ask k1: app1 Accepted, app1 counts for group dev, k1 on n1, app1 Running
            ask k2: app2 Accepted, app2 counts for group dev, k2 on n1, app2 Running
              root.q: in force {memory: 4 B}, uses {memory: 14 B}, headroom {memory: -10 B}, share 1.4, runs 2
              ann at root.q: uses {memory: 14 B}, left {memory: -9 B}, runs 2
              ann at root: uses {memory: 14 B}, left none, runs 2
              dev at root.q: uses {memory: 14 B}, left {memory: -7 B}, runs 2
              dev at root: uses {memory: 14 B}, left none, runs 2
            ask k3
              k3 waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            ask k4: refused UNKNOWN_APPLICATION: application app9 does not exist in partition default, or has ended. Check the application ID, or submit the application.
            ask k5: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
        "#]],
    );
}

#[test]
fn a_forced_application_that_no_rule_places_runs_in_the_recovery_queue() {
    check(
        "
        queue root fair submit eve
        queue root.a
        node n1 vcore=2
        app app1 root.gone ann tags application.create.force=true
        wait 1s
        app app2 root.gone bob tags application.create.force=true
        ask k1 app1 vcore=2 on n1
        ask k2 app2 vcore=1
        ask k3 app1 vcore=1
        show app1
        reload
        queue root fair submit eve prop application.sort.priority=disabled
        queue root.a
        resize n1 vcore=3
        show root.@recovery@
        resize n1 vcore=4
        ",
        expect![[r#"
            app app1: root.@recovery@ made
            wait 1s: nothing
            ask k1: app1 Accepted, k1 on n1, app1 Running
            ask k2: app2 Accepted
              k2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask k3
              k3 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              app1: Running in root.@recovery@, no group, uses {vcore: 2000 m}, user headroom none
            reload: root changed, root.a changed
            resize n1: k3 on n1
              k2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              root.@recovery@: in force {vcore: 3000 m}, uses {vcore: 3000 m}, headroom {vcore: 0 m}, share 1, runs 1
            resize n1: k2 on n1, app2 Running
        "#]],
    );
}

#[test]
fn a_gang_that_is_reported_runs_when_it_is_complete_and_waits_no_longer_than_before() {
    let again = "
        queue root.a
        node n1 vcore=8
        wait 100s
        app g1 root.a ann gang vcore=4 timeout 300s tags yunikorn.apache.org/creationTime=40
        ask p1 g1 vcore=2 on n1 placeholder group w
        show g1
        ";
    check(
        &format!(
            "{again}
            ask p2 g1 vcore=2 on n1 placeholder group w
            show g1
            "
        ),
        expect![[r#"
            wait 100s: nothing
            app g1: g1 lives since 40000 ms
            ask p1: g1 Accepted, p1 on n1
              g1: Accepted in root.a, no group, uses {vcore: 2000 m}, user headroom none
            ask p2: p2 on n1, g1 Running
              g1: Running in root.a, no group, uses {vcore: 4000 m}, user headroom none
        "#]],
    );
    check(
        &format!(
            "{again}
            wait 239s
            wait 1s
            show g1
            "
        ),
        expect![[r#"
            wait 100s: nothing
            app g1: g1 lives since 40000 ms
            ask p1: g1 Accepted, p1 on n1
              g1: Accepted in root.a, no group, uses {vcore: 2000 m}, user headroom none
            wait 239s: nothing
            wait 1s: placeholders of g1 expired, g1 Resuming, p1 to be released: Timeout
              g1: Resuming in root.a, no group, uses {vcore: 2000 m}, user headroom none
        "#]],
    );
}

#[test]
fn a_resource_manager_that_comes_back_reports_step_by_step() {
    check(
        "
        queue root.q max vcore=3
        queue root.late max vcore=9
        node n1 vcore=4 drained
        node n2 vcore=4 drained
        app old root.q ann
        app forced root.gone bob tags application.create.force=true
        app gang root.late cid gang vcore=2 timeout 60s tags yunikorn.apache.org/creationTime=0
        ask o1 old vcore=4 on n1
        ask f1 forced vcore=1 on n2
        ask g1 gang vcore=1 on n2 placeholder group w
        foreign system n2 vcore=1
        ask o2 old vcore=1
        ask g2 gang vcore=1 placeholder group w
        show root
        undrain n1
        undrain n2
        show gang
        release o1
        ",
        expect![[r#"
            app forced: root.@recovery@ made
            ask o1: old Accepted, o1 on n1, old Running
            ask f1: forced Accepted, f1 on n2, forced Running
            ask g1: gang Accepted, g1 on n2
            foreign system: system occupies n2
            ask o2
              o2 waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            ask g2
              g2 waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
              root: in force {vcore: 8000 m}, uses {vcore: 6000 m}, headroom {vcore: 2000 m}, share 0.75, runs 2
            undrain n1
              o2 waits QUEUE_MAX: queue root.q uses 4 vcore, which is above its maximum of 3, and the ask needs 1. Wait for releases, or raise the maximum.
              g2 waits NO_NODE_FITS: the ask needs 1 vcore, but no node that the ask can use has more than 0 free. Wait for a release, or add nodes.
            undrain n2: g2 on n2, gang Running
              gang: Running in root.late, no group, uses {vcore: 2000 m}, user headroom none
            release o1: o1 released, o2 on n1
        "#]],
    );
}

/// One thing that runs: key, application, node, size.
type Running = (&'static str, &'static str, &'static str, [(&'static str, i64); 2]);

const RUNNING: [Running; 7] = [
    ("a1", "app1", "n1", [("vcore", 3), ("memory", 1)]),
    ("a2", "app1", "n2", [("vcore", 1), ("memory", 9)]),
    ("b1", "app2", "n1", [("vcore", 2), ("memory", 2)]),
    ("b2", "app2", "n3", [("vcore", 7), ("gpu", 1)]),
    ("c1", "app3", "n2", [("vcore", 4), ("memory", 4)]),
    ("c2", "app3", "n3", [("vcore", 1), ("gpu", 2)]),
    ("d1", "app4", "n1", [("vcore", 1), ("memory", 1)]),
];

/// What is counted anywhere: of each queue, node, user and group.
fn usage(cluster: &Cluster) -> BTreeMap<String, String> {
    let (books, partition) = (&cluster.world.books, cluster.partition());
    let mut counted = BTreeMap::new();
    for (id, _) in books.queues().iter() {
        let queue = QueueView::alone(books, id);
        let counts =
            (&queue.allocated, &queue.pending, &queue.headroom, queue.running, &queue.starting);
        counted.insert(format!("queue {}", queue.path), format!("{counts:?}"));
    }
    for node in NodeView::all(books, partition) {
        let keys: Vec<_> = node.allocations.iter().map(|one| one.key.clone()).collect();
        let counts = (&node.allocated, &node.available, keys);
        counted.insert(format!("node {}", node.node), format!("{counts:?}"));
    }
    for user in users(books, partition) {
        counted.insert(format!("user {}", user.user), format!("{user:?}"));
    }
    for group in groups(books, partition) {
        counted.insert(format!("group {}", group.group), format!("{group:?}"));
    }
    counted
}

/// A cluster after a restart: the RM reports what runs in this order.
fn restarted(order: impl Iterator<Item = usize>) -> Cluster {
    let limits = vec![
        limit(&["ann"], &[], amounts([("vcore", 4)]), 1),
        limit(&[], &["dev"], amounts([("vcore", 6)]), 0),
        limit(&[], &["*"], amounts([("memory", 3)]), 1),
    ];
    let a = QueueConfig { max: amounts([("vcore", 5)]), max_applications: 1, ..leaf("a") };
    let p = QueueConfig { limits, ..parent("p", vec![a, leaf("b")]) };
    let mut cluster = Cluster::with(parent("root", vec![p]));
    for node in ["n1", "n2", "n3"] {
        cluster.add_node(node, amounts([("vcore", 8), ("memory", 8), ("gpu", 4)]));
    }
    for (application, queue, user, group) in [
        ("app1", "root.p.a", "ann", "dev"),
        ("app2", "root.p.a", "bob", "dev"),
        ("app3", "root.p.b", "ann", "ops"),
        ("app4", "root.p.made", "cid", "qa"),
    ] {
        let groups = vec![group.into()];
        let submit = Submit { user: user.into(), groups, ..submit(application, queue) };
        cluster.command(&Command::Submit(submit));
    }
    for one in order {
        let (key, application, node, size) = RUNNING[one];
        let one = ask(key, application, Amounts::from(size));
        cluster.command(&Command::Ask(Ask { node: Some(node.into()), ..one }));
    }
    cluster
}

#[test]
fn use_is_the_same_in_whatever_order_it_is_reported_after_a_restart() {
    let count = RUNNING.len();
    let first = usage(&restarted(0..count));
    assert_eq!(first.len(), 5 + 3 + 3 + 2, "queues, nodes, users, groups: {first:#?}");
    // Every step is coprime with the prime number of things that run: all are reported once.
    for step in 1..count {
        for start in 0..count {
            let order = (0..count).map(|turn| (start + turn * step) % count);
            assert_eq!(usage(&restarted(order)), first, "from {start} in steps of {step}");
        }
    }
}

/// Limits for a user and the user's group, and their gang, half of whose members have replaced placeholders.
fn half_replaced() -> Cluster {
    let mut cluster = limited();
    come(&mut cluster, &["dev"]);
    let size = || amounts([("vcore", 1)]);
    cluster.ask("a1", "plain", amounts([("vcore", 2), ("memory", 1)]));
    for key in ["p1", "p2", "p3", "p4"] {
        let task_group = "workers".into();
        cluster.command(&Command::Ask(Ask {
            placeholder: true,
            task_group,
            ..ask(key, "gang", size())
        }));
    }
    for key in ["m1", "m2"] {
        let task_group = "workers".into();
        cluster.command(&Command::Ask(Ask { task_group, ..ask(key, "gang", size()) }));
    }
    for key in ["p1", "p2"] {
        cluster.release_as(key, "gang", Termination::PlaceholderReplaced);
    }
    cluster
}

fn limited() -> Cluster {
    let limits = vec![
        limit(&["ann"], &[], amounts([("vcore", 9)]), 3),
        limit(&[], &["dev"], amounts([("vcore", 8)]), 2),
    ];
    let mut cluster =
        Cluster::with(parent("root", vec![QueueConfig { limits, ..leaf("a") }, leaf("b")]));
    for node in ["n1", "n2"] {
        cluster.add_node(node, amounts([("vcore", 8), ("memory", 8)]));
    }
    cluster
}

fn come(cluster: &mut Cluster, groups: &[&str]) {
    let groups: Vec<_> = groups.iter().map(|group| (*group).into()).collect();
    let plain = Submit { groups: groups.clone(), ..submit("plain", "root.a") };
    let placeholder_ask = amounts([("vcore", 4)]);
    let gang = Submit { groups, placeholder_ask, ..submit("gang", "root.a") };
    cluster.command(&Command::Submit(plain));
    cluster.command(&Command::Submit(gang));
}

#[test]
#[doc(alias = "SD-09")]
fn usage_is_the_same_after_a_restart() {
    let before = half_replaced();
    let books = before.world.replayed();
    assert_eq!(books, before.world.books);
    let now = before.world.now;
    let world = World { scheduler: Scheduler::new(&books), books, now, ..World::default() };
    assert_eq!(usage(&Cluster { world }), usage(&before));
}

#[test]
#[doc(alias = "SD-09")]
fn usage_is_the_same_after_an_rm_registers_anew_with_another_list_of_groups() {
    let before = half_replaced();
    let ann = users(&before.world.books, before.partition()).remove(0);
    assert_eq!(ann.usage.used, amounts([("memory", 1), ("vcore", 6)]));
    let held = NodeView::all(&before.world.books, before.partition());
    let held = held.iter().flat_map(|node| &node.allocations);
    let (places, took): (Vec<_>, Vec<_>) = held.partition(|one| one.placeholder);
    assert_eq!((places.len(), took.iter().filter(|one| one.took_place).count()), (2, 2));
    let mut after = limited();
    come(&mut after, &["qa", "dev", "ops"]);
    for node in NodeView::all(&before.world.books, before.partition()) {
        for one in node.allocations {
            let task_group = one.task_group.clone().unwrap_or_default();
            after.command(&Command::Ask(Ask {
                node: Some(node.node.clone()),
                placeholder: one.placeholder,
                task_group,
                ..ask(&one.key, &one.application, one.resources.clone())
            }));
        }
    }
    assert_eq!(usage(&after), usage(&before));
}
