//! One scene for each kind of answer.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use headroom_core::explain::explain;
use headroom_core::testkit::{World, tell_world};
use headroom_core::{Scheduler, Timestamp};

use crate::shown::{explained, find};

#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn check(script: &str, ask: &str, expected: Expect) {
    expected.assert_eq(&explained(script, ask));
}

#[test]
fn all_checks_are_told_and_the_first_that_fails_is_the_reason() {
    check(
        "
        queue root.a max vcore=4
        limit root.a user ann vcore=3
        node n1 vcore=8
        node n2 vcore=2
        app app1 root.a ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=1
        app app2 root.a bob
        ask a3 app2 vcore=1
        ask a4 app1 vcore=2
        ",
        "a4",
        expect![[r#"
            waiting: ABS_USER_LIMIT user ann at root.a: 3 of 3 vcore used, needs 2
            1 of 1, 0 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ ABS_USER_LIMIT (d) user ann at root.a: vcore 3000 + 2000 of 3000 (2000)
                app1 has {vcore: 3000 m}
            ✗ QUEUE_MAX (c) root.a: vcore 4000 + 2000 of 4000 (2000)
                app1 has {vcore: 3000 m}
                app2 has {vcore: 1000 m}
            · ROOT_CAPACITY (c) root: vcore 4000 + 2000 of 10000 (-4000)
            · NO_NODE_FITS (b) every node: 
                1 of 2 nodes fit, 1 room
                n2 lacks vcore 1000 + 2000 of 2000 (1000)
        "#]],
    );
}

/// Returns the first line of the explanation of an ask.
fn line(script: &str, ask: &str) -> String {
    explained(script, ask).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_first_line_has_short_amounts_so_that_no_name_is_cut_for_them() {
    let name = "annabel";
    let script = |limit: i64, used: i64, asked: i64| {
        format!(
            "
            queue root.research.vision
            limit root.research.vision user {name} memory={limit}
            node n1 vcore=8 memory=1000000000000
            app app1 root.research.vision {name}
            ask a1 app1 memory={used}
            ask a2 app1 memory={asked}
            "
        )
    };
    let told = |figures: &str| {
        format!("waiting: ABS_USER_LIMIT user {name} at root.research.vision: {figures}")
    };
    // 384 GiB, of which 380 are used.
    assert_eq!(
        line(&script(384 << 30, 380 << 30, 5 << 30), "a2"),
        told("380Gi of 384Gi memory used, needs 5Gi")
    );
    // What is cut off does not make two amounts look the same.
    let close = line(&script((4 << 30) + 1, 4 << 30, 2), "a2");
    let figures = ": 4294967296 B of 4294967297 B memory used, needs 2 B";
    assert!(
        close.ends_with(figures) && close.contains(&format!("user {name} at root.")),
        "{close}"
    );
}

#[test]
fn what_is_larger_than_its_queue_can_never_run() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=5
        ",
        "a1",
        expect![[r#"
            impossible: QUEUE_MAX root.a: 0 of 4 vcore used, needs 5
            1 of 1, 0 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ IMPOSSIBLE root.a: vcore 0 + 5000 of 4000 (1000)
            ✗ QUEUE_MAX (c) root.a: vcore 0 + 5000 of 4000 (1000)
            · ROOT_CAPACITY (c) root: vcore 0 + 5000 of 8000 (-3000)
            · NO_NODE_FITS (b) every node: 
                1 of 1 nodes fit
        "#]],
    );
}

#[test]
fn of_nodes_it_is_told_how_many_there_are_and_the_three_that_lack_least() {
    check(
        "
        queue root.a
        node n1 vcore=4 memory=4
        node n2 vcore=4 memory=4
        node n3 vcore=4 memory=4
        node n4 vcore=4 memory=4
        node n5 vcore=1
        node n6 vcore=8 memory=8 drained
        app app1 root.a ann
        ask a1 app1 vcore=2 memory=1
        ask a2 app1 vcore=2 memory=2
        ask a3 app1 vcore=2 memory=3
        ask a4 app1 vcore=2 memory=4
        ask a5 app1 vcore=2
        ask a6 app1 vcore=2
        ask a7 app1 vcore=1
        ask a8 app1 vcore=3 memory=2
        ",
        "a8",
        expect![[r#"
            waiting: NO_NODE_FITS every node (6): most free 2 vcore, needs 3
            1 of 1, 0 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            · ROOT_CAPACITY (c) root: memory 10 + 2 of 24 (-12), vcore 13000 + 3000 of 25000 (-9000)
            ✗ NO_NODE_FITS (b) every node: vcore 0 + 3000 of 2000 (1000)
                0 of 6 nodes fit, 1 size, 1 drained, 4 room
                n3 lacks memory 3 + 2 of 4 (1), vcore 2000 + 3000 of 4000 (1000)
                n1 lacks vcore 4000 + 3000 of 4000 (3000)
                n2 lacks vcore 4000 + 3000 of 4000 (3000)
        "#]],
    );
}

#[test]
fn an_ask_that_no_node_could_ever_hold_is_impossible() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=5
        ",
        "a1",
        expect![[r#"
            impossible: NO_NODE_FITS every node (2): most free 4 vcore, needs 5
            1 of 1, 0 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ IMPOSSIBLE every node: 
                0 of 2 nodes fit, 2 size
            · ROOT_CAPACITY (c) root: vcore 0 + 5000 of 8000 (-3000)
            ✗ NO_NODE_FITS (b) every node: vcore 0 + 5000 of 4000 (1000)
                0 of 2 nodes fit, 2 size
        "#]],
    );
}

#[test]
fn where_others_go_first_and_it_would_fit_it_is_held_back() {
    check(
        "
        queue root.a max vcore=10 gpu=4 prop application.sort.policy=fifo-strict
        queue root.b
        node n0 vcore=4 gpu=2
        node n1 vcore=10 gpu=1
        app t0 root.b eve
        ask a0 t0 gpu=1 on n0
        app t1 root.a ann
        ask a1 t1 vcore=4 gpu=2
        app t2 root.a bob
        ask a2 t2 vcore=5
        app t3 root.a cid
        ask a3 t3 vcore=2
        ",
        "a3",
        expect![[r#"
            heldBack: BEHIND_HEAD root.a: 1 vcore left by the head, needs 2
            2 of 2, 1 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ BEHIND_HEAD root.a: vcore 0 + 2000 of 1000 (1000)
            · QUEUE_MAX (c) root.a: vcore 5000 + 2000 of 10000 (-3000)
            · ROOT_CAPACITY (c) root: vcore 5000 + 2000 of 14000 (-7000)
            · NO_NODE_FITS (b) every node: 
                2 of 2 nodes fit
        "#]],
    );
}

#[test]
fn numbers_of_applications_are_told_with_those_that_run() {
    check(
        "
        queue root.a apps=1
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        app app2 root.a bob
        ask a2 app2 vcore=2
        ",
        "a2",
        expect![[r#"
            waiting: MAX_APPS root.a: 1 of 1 applications
            1 of 1, 0 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ MAX_APPS (e) root.a: applications 1 + 1 of 1 (1)
                app1 has {}
            · ROOT_CAPACITY (c) root: vcore 2000 + 2000 of 8000 (-4000)
            · NO_NODE_FITS (b) every node: 
                1 of 1 nodes fit
        "#]],
    );
}

#[test]
fn numbers_that_may_be_activated_and_drivers_are_told() {
    check(
        "
        queue root.a counts parallel=1
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        app app2 root.a bob
        ask a2 app2 vcore=2
        ",
        "a2",
        expect![[r#"
            waiting: PARALLEL_LIMIT root.a: 1 of 1 applications
            1 of 1, 0 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ PARALLEL_LIMIT (e) root.a: applications 1 + 1 of 1 (1)
                app1 has {}
            · DRIVER_LIMIT_QUEUE (e) root.a: 
            · DRIVER_LIMIT_USER (e) user bob at root.a: 
            · ROOT_CAPACITY (c) root: vcore 2000 + 2000 of 8000 (-4000)
            · NO_NODE_FITS (b) every node: 
                1 of 1 nodes fit
        "#]],
    );
}

#[test]
fn an_allocation_says_where_it_is() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        ",
        "a1",
        expect![[r#"
            allocated on node n1, since 0
        "#]],
    );
}

#[test]
fn where_it_stands_is_told_among_all_that_wait_in_the_partition() {
    check(
        "
        queue root.a max vcore=2
        queue root.b max vcore=1
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=2
        app app2 root.a bob
        ask a3 app2 vcore=1
        ask a4 app2 vcore=1
        app app3 root.b bob
        ask b1 app3 vcore=2
        wait 5s
        ",
        "a4",
        expect![[r#"
            waiting: QUEUE_MAX root.a: 2 of 2 vcore used, needs 1
            3 of 3, 3 ahead, since 0
            · QUEUE_STATE (c) root.a: 
            · QUEUE_STATE (c) root: 
            ✗ QUEUE_MAX (c) root.a: vcore 2000 + 1000 of 2000 (1000)
                app1 has {vcore: 2000 m}
            · ROOT_CAPACITY (c) root: vcore 2000 + 1000 of 8000 (-5000)
            · NO_NODE_FITS (b) every node: 
                1 of 1 nodes fit
        "#]],
    );
}

#[test]
fn what_it_waited_for_is_told_in_order() {
    let world = tell_world(
        "
        queue root.a max vcore=4
        node n1 vcore=6
        app app1 root.a ann
        ask a1 app1 vcore=4
        wait 5s
        ask a2 app1 vcore=3
        wait 5s
        app app2 root.a ann
        ask b1 app2 vcore=3
        reload
        queue root.a max vcore=40
        resize n1 vcore=5
        ",
    );
    let of = |key| {
        let ask = find(&world, key);
        let explanation = explain(&world.books, &world.scheduler, ask).expect("it is there");
        let all = explanation.history.iter();
        all.map(|mark| (mark.at.as_millis(), mark.code.as_str())).collect::<Vec<_>>()
    };
    let both = [(5_000, "QUEUE_MAX"), (10_000, "ROOT_CAPACITY")];
    assert_eq!(of("a2"), both, "another queue file rebuilds all indexes, and loses nothing");
    let world = tell_world(
        "
        queue root.a max vcore=4
        node n1 vcore=5
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=2
        app app2 root.a bob
        ask b1 app2 vcore=3
        wait 5s
        release a1
        lose n1
        node n2 vcore=2
        wait 5s
        release a2
        ",
    );
    let ask = find(&world, "b1");
    let explanation = explain(&world.books, &world.scheduler, ask).expect("it is there");
    let all = explanation.history.iter();
    let told: Vec<_> = all.map(|mark| (mark.at.as_millis(), mark.code.as_str())).collect();
    assert_eq!(told, [(0, "QUEUE_MAX"), (5_000, "IMPOSSIBLE")]);
}

#[test]
fn a_reserved_node_makes_no_other_ask_of_it() {
    let world = tell_world(
        "
        queue root.a max vcore=8
        queue root.full
        node n1 vcore=10
        node n2 vcore=10
        app fill root.full zed
        ask x1 fill vcore=6
        ask x2 fill vcore=6
        app app1 root.a ann
        ask a1 app1 vcore=1
        app next root.a ann
        ask large next vcore=8
        wait 1s
        release a1
        wait 3s
        ",
    );
    let ask = find(&world, "large");
    assert!(world.books.allocation(ask).reservation().is_some(), "a node is reserved for it");
    let explanation = explain(&world.books, &world.scheduler, ask).expect("it is there");
    let told: Vec<_> = explanation.history.iter().map(|mark| mark.code.as_str()).collect();
    assert_eq!(told, ["QUEUE_MAX", "NO_NODE_FITS"], "with a reservation it is the same ask");
}

#[test]
fn nothing_starts_and_nobody_asks_for_nodes_while_the_resource_manager_is_away() {
    let script = "
        queue root.a max vcore=8
        node n1 vcore=4
        app app1 root.a ann
        wait 1s
        manager-away yunikorn 1000
        ask a1 app1 vcore=2
        ask a2 app1 vcore=3
        scan-outstanding
        wait 5s
        ";
    let world = tell_world(script);
    let codes = |world: &World| {
        ["a1", "a2"].map(|key| {
            let ask = find(world, key);
            let wait = world.scheduler.wait_of(&world.books, ask)?;
            Some(wait.code(&world.books, ask).as_str())
        })
    };
    assert_eq!(codes(&world), [Some("RM_AWAY"); 2]);
    let task = explain(&world.books, &world.scheduler, find(&world, "a1")).expect("it is there");
    assert_eq!(
        task.line(&world.books),
        "waiting: RM_AWAY resource manager yunikorn has been disconnected since 1000 ms"
    );
    assert_eq!(task.since, Some(Timestamp::from_millis(1_000)));
    let partition = *world.books.partitions().keys().next().unwrap();
    let mut scheduler = world.scheduler.clone();
    assert_eq!(scheduler.outstanding(&world.books, partition), []);
    let world = tell_world(&format!("{script}manager-back\nwait 1s\n"));
    assert_eq!(codes(&world), [None, Some("ROOT_CAPACITY")]);
    assert_eq!(world.scheduler.clone().outstanding(&world.books, partition).len(), 1);
}

/// Since when it waits as it does, and all changes: when, and for what.
fn changes(script: &str, key: &str) -> (Option<u64>, Vec<(u64, &'static str)>) {
    let world = tell_world(script);
    let found = explain(&world.books, &world.scheduler, find(&world, key)).expect("it is there");
    let all = found.history.iter().map(|mark| (mark.at.as_millis(), mark.code.as_str()));
    (found.since.map(Timestamp::as_millis), all.collect())
}

#[test]
#[doc(alias = "NS-50")]
fn since_when_a_tenant_is_suspended_is_told() {
    let script = "
        tenants root.tenants
        node n1 vcore=8
        tenant lab quota vcore=4
        task t1 lab ann vcore=3
        task t2 lab ann vcore=2
        wait 5s
        tenant lab quota vcore=4 suspended
        wait 5s
        task t3 lab ann vcore=1
        ";
    let both = vec![(0, "TENANT_QUOTA"), (5_000, "TENANT_SUSPENDED")];
    assert_eq!(changes(script, "t2"), (Some(5_000), both));
    let late = vec![(10_000, "TENANT_SUSPENDED")];
    assert_eq!(changes(script, "t3"), (Some(10_000), late), "it came then");
    let resumed = format!("{script}wait 1s\ntenant lab quota vcore=4\n");
    let (since, history) = changes(&resumed, "t2");
    assert_eq!(
        (since, history.last()),
        (Some(0), Some(&(0, "TENANT_QUOTA"))),
        "it waits for that again"
    );
    let again = format!("{resumed}wait 1s\ntenant lab quota vcore=4 suspended\n");
    assert_eq!(changes(&again, "t2").0, Some(12_000), "the last time counts");
}

#[test]
fn since_when_a_leaf_is_a_parent_is_told() {
    let script = "
        queue root.a max vcore=4
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=3
        wait 3s
        ask a2 app1 vcore=2
        wait 5s
        reload
        queue root.a.x
        ";
    let both = vec![(3_000, "QUEUE_MAX"), (8_000, "QUEUE_STATE")];
    assert_eq!(changes(script, "a2"), (Some(8_000), both));
}

#[test]
fn since_when_nodes_are_to_report_is_told() {
    let script = "
        tenants root.tenants
        node n1 vcore=8
        tenant lab quota vcore=4
        wait 5s
        recover
        task t1 lab ann vcore=3
        wait 2s
        task t2 lab ann vcore=1
        ";
    assert_eq!(changes(script, "t1"), (Some(5_000), vec![(5_000, "RECOVERING")]));
    assert_eq!(changes(script, "t2"), (Some(7_000), vec![(7_000, "RECOVERING")]));
}

#[test]
#[doc(alias = "NS-50")]
fn quotas_are_counted_under_the_codes_with_which_they_are_explained() {
    let world = tell_world(
        "
        tenants root.tenants
        node n1 vcore=64
        tenant quota quota vcore=8
        tenant one quota instances=1
        tenant above quota vcore=8
        tenant below of above
        tenant sibling of above
        tenant lowered quota vcore=8
        task q1 quota ann vcore=6
        task q2 quota ann vcore=4
        task q3 quota ann vcore=3
        task o1 one ann vcore=1
        task o2 one ann vcore=1
        task b1 sibling ann vcore=6
        task b2 below ann vcore=4
        task l1 lowered ann vcore=6
        tenant lowered quota vcore=4
        task l2 lowered ann vcore=1
        ",
    );
    let books = &world.books;
    let mut scheduler = Scheduler::watching(books);
    scheduler.next(books, world.now, &mut Vec::new());
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for (leaf, reason, sum) in scheduler.pending_counts() {
        let code = reason.as_reported(books, leaf).code(books, leaf).expect("all were looked at");
        *counted.entry(code.as_str()).or_default() += sum.asks;
    }
    let mut explained: BTreeMap<&str, u64> = BTreeMap::new();
    for (ask, _) in books.allocations().iter().filter(|(_, row)| row.is_pending()) {
        let found = explain(books, &scheduler, ask).expect("it waits");
        let first = found.blocked_by().next().expect("for something");
        *explained.entry(first.code.as_str()).or_default() += 1;
    }
    assert_eq!(counted, explained);
    let codes = ["ANCESTOR_QUOTA", "OVER_QUOTA_AFTER_LOWERING", "TENANT_INSTANCES", "TENANT_QUOTA"];
    assert!(codes.iter().all(|code| counted.contains_key(code)), "{counted:?}");
}
