//! Queues of several levels: what is counted, what is offered room, and in which order.

use expect_test::expect;
use headroom_core::books::QueueState;
use headroom_core::config::{ApplicationOrder, QueueConfig, TemplateConfig};
use headroom_core::testkit::{amounts, leaf, parent};
use headroom_core::{AllocationEvent, Command, Event, PreemptionCause};

use crate::check;
use crate::cluster::{Cluster, here};

fn with(mut queue: QueueConfig, properties: &[(&str, &str)]) -> QueueConfig {
    queue.properties.extend(properties.iter().map(|(key, value)| ((*key).into(), (*value).into())));
    queue
}

#[test]
#[doc(alias = "scheduling W8")]
fn priorities_of_queues() {
    check(
        "
        queue root.prod prop priority.offset=5
        queue root.prod.a
        queue root.dev prop priority.policy=fence prop priority.offset=2
        queue root.dev.b
        queue root.other
        node N1 c=1
        app taker root.other ann
        ask held taker c=1
        app A root.prod.a ann
        app B root.dev.b ann
        ask a1 A c=1 prio 3
        ask b1 B c=1 prio 100
        show priority root.prod.a
        show priority root.prod
        show priority root.dev.b
        show priority root.dev
        release held
        show priority root.prod
        release a1
        ",
        expect![[r#"
            ask held: taker Accepted, held on N1, taker Running
            ask a1: A Accepted
              a1 waits ROOT_CAPACITY: the cluster has 0 of 1 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask b1: B Accepted
              b1 waits ROOT_CAPACITY: the cluster has 0 of 1 c available, but the ask needs 1. Wait for a release, or add nodes.
              root.prod.a: priority 3
              root.prod: priority 8
              root.dev.b: priority 100
              root.dev: priority 2
            release held: held released, taker Completing, a1 on N1, A Running
              root.prod: priority none
            release a1: a1 released, A Completing, b1 on N1, B Running
        "#]],
    );
}

#[test]
fn priorities_of_queues_follow_applications_that_come_and_go_and_stay_within_their_type() {
    let lowest = [("priority.offset", "-2147483648")];
    let highest = [("priority.offset", "2147483647")];
    let fence = [("priority.policy", "fence"), ("priority.offset", "7")];
    let a = parent("p", vec![with(leaf("low"), &lowest), with(leaf("high"), &highest)]);
    let b = with(parent("f", vec![leaf("b")]), &fence);
    let mut cluster = Cluster::with(parent("root", vec![a, b]));
    let shown = |cluster: &Cluster| {
        ["root.p.low", "root.p.high", "root.p", "root.f", "root"]
            .map(|path| cluster.queue(path).priority)
    };
    assert_eq!(shown(&cluster), [None; 5]);
    cluster.submit("low", "root.p.low");
    cluster.ask_with_priority("k1", "low", -3);
    let min = Some(i32::MIN);
    assert_eq!(shown(&cluster), [min, None, min, None, min]);
    cluster.submit("b", "root.f.b");
    cluster.ask_with_priority("k2", "b", -9);
    assert_eq!(shown(&cluster), [min, None, min, Some(7), Some(7)]);
    cluster.submit("high", "root.p.high");
    cluster.ask_with_priority("k3", "high", 3);
    let max = Some(i32::MAX);
    assert_eq!(shown(&cluster), [min, max, max, Some(7), max]);
    cluster.ask_with_priority("k4", "high", -1);
    cluster.release("k3", "high");
    let less = Some(i32::MAX - 1);
    assert_eq!(shown(&cluster), [min, less, less, Some(7), less]);
    for application in ["high", "b", "low"] {
        let (partition, application) = (here(), application.into());
        cluster.command(&Command::RemoveApplication { partition, application });
    }
    assert_eq!(shown(&cluster), [None; 5]);
}

#[test]
fn what_waits_runs_and_is_taken_back_counts_up_to_the_root_and_down_to_nothing() {
    let a = parent("p", vec![leaf("a"), leaf("b")]);
    let mut cluster = Cluster::with(parent("root", vec![a, leaf("q")]));
    let all = |cluster: &Cluster| {
        ["root.p.a", "root.p.b", "root.p", "root.q", "root"].map(|path| {
            let queue = cluster.queue(path);
            [queue.pending, queue.allocated, queue.preempting].map(|amounts| {
                amounts.get("vcore").map_or(0, headroom_core::resource::Quantity::get)
            })
        })
    };
    let zero = [[0; 3]; 5];
    for (application, queue, key, size) in
        [("app1", "root.p.a", "k1", 1), ("app2", "root.p.b", "k2", 2), ("app3", "root.q", "k3", 4)]
    {
        cluster.submit(application, queue);
        cluster.ask(key, application, amounts([("vcore", size)]));
    }
    assert_eq!(all(&cluster), [[1, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0], [7, 0, 0]]);
    cluster.add_node("n1", amounts([("vcore", 7)]));
    assert_eq!(all(&cluster), [[0, 1, 0], [0, 2, 0], [0, 3, 0], [0, 4, 0], [0, 7, 0]]);
    let books = &cluster.world.books;
    let victim = *books.partition(cluster.partition()).allocations.get("k2").unwrap();
    let quota = books.queue_at(cluster.partition(), "root.p").unwrap();
    cluster.apply(&Event::Allocation(AllocationEvent::Preempted {
        victim,
        cause: PreemptionCause::Quota(quota),
    }));
    assert_eq!(all(&cluster), [[0, 1, 0], [0, 2, 2], [0, 3, 2], [0, 4, 0], [0, 7, 2]]);
    cluster.release("k2", "app2");
    assert_eq!(all(&cluster), [[0, 1, 0], [0, 0, 0], [0, 1, 0], [0, 4, 0], [0, 5, 0]]);
    cluster.release("k1", "app1");
    cluster.release("k3", "app3");
    assert_eq!(all(&cluster), zero);
    assert_eq!(cluster.queue("root").allocated, amounts([]), "no type is left with zero");
}

#[test]
fn siblings_share_what_is_left_at_each_of_three_levels() {
    check(
        "
        queue root.p max memory=20 vcore=8
        queue root.p.a max memory=15
        queue root.p.b max memory=10
        queue root.p.c
        queue root.q
        node n1 memory=30 vcore=10
        app a root.p.a ann
        app q root.q ann
        ask a1 a memory=12 vcore=1
        ask q1 q memory=4 vcore=3
        show root
        show root.q
        show root.p
        show root.p.a
        show root.p.b
        show root.p.c
        ",
        expect![[r#"
            ask a1: a Accepted, a1 on n1, a Running
            ask q1: q Accepted, q1 on n1, q Running
              root: in force {memory: 30 B, vcore: 10000 m}, uses {memory: 16 B, vcore: 4000 m}, headroom {memory: 14 B, vcore: 6000 m}, share 0.5333333333333333, runs 2
              root.q: in force {memory: 30 B, vcore: 10000 m}, uses {memory: 4 B, vcore: 3000 m}, headroom {memory: 14 B, vcore: 6000 m}, share 0.3, runs 1
              root.p: in force {memory: 20 B, vcore: 8000 m}, uses {memory: 12 B, vcore: 1000 m}, headroom {memory: 8 B, vcore: 6000 m}, share 0.6, runs 1
              root.p.a: in force {memory: 15 B, vcore: 8000 m}, uses {memory: 12 B, vcore: 1000 m}, headroom {memory: 3 B, vcore: 6000 m}, share 0.8, runs 1
              root.p.b: in force {memory: 10 B, vcore: 8000 m}, uses {}, headroom {memory: 8 B, vcore: 6000 m}, share 0, runs 0
              root.p.c: in force {memory: 20 B, vcore: 8000 m}, uses {}, headroom {memory: 8 B, vcore: 6000 m}, share 0, runs 0
        "#]],
    );
}

#[test]
fn a_type_of_which_the_cluster_has_none_left_is_no_measure() {
    check(
        "
        queue root.a
        queue root.b max gpu=4
        node n1 vcore=4 gpu=2
        node n2 vcore=4
        app a root.a ann
        app b root.b ann
        ask a1 a vcore=1 gpu=1
        ask b1 b vcore=1 gpu=1
        show root.a
        show root.b
        resize n1 vcore=4 gpu=0
        show root
        show root.a
        show root.b
        ",
        expect![[r#"
            ask a1: a Accepted, a1 on n1, a Running
            ask b1: b Accepted, b1 on n1, b Running
              root.a: in force {gpu: 2, vcore: 8000 m}, uses {gpu: 1, vcore: 1000 m}, headroom {gpu: 0, vcore: 6000 m}, share 0.5, runs 1
              root.b: in force {gpu: 2, vcore: 8000 m}, uses {gpu: 1, vcore: 1000 m}, headroom {gpu: 0, vcore: 6000 m}, share 0.25, runs 1
            resize n1: nothing
              root: in force {vcore: 8000 m}, uses {gpu: 2, vcore: 2000 m}, headroom {vcore: 6000 m}, share 0.25, runs 2
              root.a: in force {vcore: 8000 m}, uses {gpu: 1, vcore: 1000 m}, headroom {vcore: 6000 m}, share 0.125, runs 1
              root.b: in force {gpu: 4, vcore: 8000 m}, uses {gpu: 1, vcore: 1000 m}, headroom {gpu: 3, vcore: 6000 m}, share 0.25, runs 1
        "#]],
    );
}

#[test]
fn a_stopped_queue_and_all_below_it_are_offered_nothing_and_a_draining_one_is() {
    let a = parent("p", vec![leaf("a")]);
    let mut cluster = Cluster::with(parent("root", vec![a, leaf("b")]));
    cluster.submit("app1", "root.p.a");
    cluster.submit("app2", "root.b");
    cluster.add_node("n1", amounts([("vcore", 8)]));
    let used = |cluster: &Cluster| {
        ["app1", "app2"].map(|name| cluster.application(name).allocations.len())
    };
    for (path, state, key, expected) in [
        ("root.p.a", QueueState::Stopped, "1", [0, 1]),
        ("root.p.a", QueueState::Active, "2", [2, 2]),
        ("root.p", QueueState::Stopped, "3", [2, 3]),
        ("root.p", QueueState::Draining, "4", [4, 4]),
    ] {
        cluster.move_queue(path, state);
        cluster.ask(&format!("a{key}"), "app1", amounts([("vcore", 1)]));
        cluster.ask(&format!("b{key}"), "app2", amounts([("vcore", 1)]));
        // One for each, without the nodes being full.
        cluster.add_node(&format!("m{key}"), amounts([("vcore", 1)]));
        assert_eq!(used(&cluster), expected, "{path} {state}");
    }
}

#[test]
fn any_number_of_applications_run_where_none_is_set() {
    check(
        "
        queue root.a apps=0
        node n1 vcore=8
        app app1 root.a ann
        app app2 root.a bob
        app app3 root.a cid
        ask a1 app1 vcore=1
        ask b1 app2 vcore=1
        ask c1 app3 vcore=1
        show root.a
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted, b1 on n1, app2 Running
            ask c1: app3 Accepted, c1 on n1, app3 Running
              root.a: in force {vcore: 8000 m}, uses {vcore: 3000 m}, headroom {vcore: 5000 m}, share 0.375, runs 3
        "#]],
    );
}

#[test]
fn an_application_that_is_starting_takes_its_place_once() {
    check(
        "
        queue root.a apps=1
        node n1 vcore=1
        app g root.a ann gang vcore=2
        app h root.a bob
        ask p1 g vcore=1 placeholder group w
        show g
        ask h1 h vcore=1
        ask p2 g vcore=1 placeholder group w
        resize n1 vcore=3
        show root.a
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1
              g: Accepted in root.a, no group, uses {vcore: 1000 m}, user headroom none
            ask h1: h Accepted
              h1 waits MAX_APPS: queue root.a runs 0 of at most 1 application; 1 more is starting. Wait for one to end, or raise `maxapplications`.
            ask p2
              p2 waits ROOT_CAPACITY: the cluster has 0 of 1 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            resize n1: p2 on n1, g Running
              h1 waits MAX_APPS: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
              root.a: in force {vcore: 3000 m}, uses {vcore: 2000 m}, headroom {vcore: 1000 m}, share 0.6666666666666666, runs 1
        "#]],
    );
}

#[test]
fn a_child_takes_over_the_sort_policy_and_neither_priority_policy_nor_offset() {
    let above = [
        ("application.sort.policy", "fair"),
        ("application.sort.priority", "disabled"),
        ("priority.policy", "fence"),
        ("priority.offset", "5"),
    ];
    let cluster = Cluster::with(parent("root", vec![with(parent("p", vec![leaf("a")]), &above)]));
    let (p, a) = (cluster.queue("root.p"), cluster.queue("root.p.a"));
    assert_eq!((p.priority_fence, p.priority_offset), (true, 5));
    assert_eq!((a.priority_fence, a.priority_offset), (false, 0));
    assert_eq!((a.order, a.priority_first), (ApplicationOrder::Fair, false));
}

#[test]
fn the_clock_of_quota_preemption_runs_in_queues_of_the_file_only() {
    let delay = ("quota.preemption.delay".into(), "60s".into());
    let template = TemplateConfig {
        max: amounts([("memory", 50)]),
        properties: [delay].into_iter().collect(),
        ..TemplateConfig::default()
    };
    let p = QueueConfig { template: Some(template), ..parent("p", vec![]) };
    let q = QueueConfig { max: amounts([("memory", 50)]), ..leaf("q") };
    let q = with(q, &[("quota.preemption.delay", "60s")]);
    let mut file = Cluster::file(parent("root", vec![p, q]));
    file.partitions[0].preemption.quota_enabled = true;
    let mut cluster = Cluster::default();
    cluster.configure(file);
    cluster.add_node("n1", amounts([("memory", 99)]));
    for (application, queue, runs) in [("app1", "root.p.made", false), ("app2", "root.q", true)] {
        cluster.submit(application, queue);
        cluster.report(application, application, "n1", amounts([("memory", 90)]));
        let view = cluster.queue(queue);
        assert_eq!(view.quota_preemption_delay.get(), 60_000, "{queue}");
        assert_eq!(view.headroom.get("memory").map(|left| left.get() < 0), Some(true));
        let books = &cluster.world.books;
        let row = books.queue(books.queue_at(cluster.partition(), queue).unwrap());
        assert_eq!(row.quota_preemption_at.is_some(), runs, "{queue}");
    }
}
