//! What would start an ask: scenes, and on random histories that each change is enough and nothing less is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use headroom_core::books::Books;
use headroom_core::explain::explain;
use headroom_core::explain::remedy::{
    Edit, Remedies, RemedyKind, StartsAfter, TRIALS, remedies, starts,
};
use headroom_core::testkit::tell_world;
use headroom_core::{Scheduler, Timestamp};

use crate::shown::find;

#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
pub(crate) fn check(script: &str, ask: &str, expected: Expect) {
    let world = tell_world(script);
    let waits = explain(&world.books, &world.scheduler, find(&world, ask)).expect("it is there");
    let found = remedies(&world.books, world.now, &waits, &RemedyKind::ALL, TRIALS);
    expected.assert_eq(&told(&world.books, &found));
}

fn told(books: &Books, found: &Remedies) -> String {
    let mut text = String::new();
    match found.starts_after {
        Some(StartsAfter::Others) => text.push_str("starts as it is when it is next\n"),
        Some(StartsAfter::RmAccepts) => {
            text.push_str("starts as it is when the RM accepts a node\n");
        }
        None => {}
    }
    for remedy in &found.found {
        let edits: Vec<String> = remedy.edits.iter().map(|edit| one(books, edit)).collect();
        let about = if remedy.exact { "" } else { "about " };
        let words = [about, remedy.kind.word(), ": ", &edits.join(", "), "\n"];
        text.push_str(&words.concat());
    }
    if found.ran_out {
        text.push_str("there may be more\n");
    }
    text
}

fn one(books: &Books, edit: &Edit) -> String {
    let path = |queue| &books.queue(queue).path;
    let type_of = |one| books.types().name(one);
    match edit {
        Edit::QueueMax { queue, resource, from, to } => {
            format!("{} max {} {from} -> {to}", path(*queue), type_of(*resource))
        }
        Edit::Limit { partition, level, resource, from, to } => {
            let trackers = &books.partition(*partition).trackers;
            let level = trackers.level(*level);
            let name = &trackers.tracker(level.tracker).name;
            format!("{name} at {} {} {from} -> {to}", path(level.queue), type_of(*resource))
        }
        Edit::QueueApplications { queue, from, to } => {
            format!("{} applications {from} -> {to}", path(*queue))
        }
        Edit::LimitApplications { partition, level, from, to } => {
            let trackers = &books.partition(*partition).trackers;
            let level = trackers.level(*level);
            let name = &trackers.tracker(level.tracker).name;
            format!("{name} at {} applications {from} -> {to}", path(level.queue))
        }
        Edit::ParallelApplications { queue, from, to } => {
            format!("{} activated {from} -> {to}", path(*queue))
        }
        Edit::ParallelOfUser { user, from, to, .. } => format!("{user} activated {from} -> {to}"),
        Edit::Setting { queue, setting, from, to } => {
            format!("{} {} {from} -> {to}", path(*queue), setting.key())
        }
        Edit::Resume { tenant, .. } => format!("{tenant}"),
        Edit::End { allocation, at } => {
            format!("{} at {}", books.allocation(*allocation).key, at.as_millis())
        }
        Edit::Release { allocation } => format!("{}", books.allocation(*allocation).key),
        Edit::Size { resource, from, to, .. } => format!("{} {from} -> {to}", type_of(*resource)),
        Edit::Node { name, label, capacity, .. } => format!("node {name}{label}{capacity}"),
        Edit::Larger { node, by } => format!("{} by {by}", books.node(*node).name),
        Edit::Leaf { queue, .. } => format!("to {}", path(*queue)),
    }
}

#[test]
fn limits_are_raised_to_what_is_used_and_asked_for_and_no_further() {
    check(
        "
        queue root.a max vcore=4
        queue root.b max vcore=1
        limit root.a user ann vcore=3
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=1
        app app2 root.a bob
        ask a3 app2 vcore=1
        ask a4 app1 vcore=2
        ",
        "a4",
        expect![[r#"
            raise: ann at root.a vcore 3000 -> 5000, root.a max vcore 4000 -> 6000
            release: a1
        "#]],
    );
}

#[test]
fn of_nodes_the_smallest_releases_and_the_least_room_are_found() {
    check(
        "
        queue root.a
        queue root.b
        node n1 vcore=4
        node n2 vcore=4
        app app1 root.b ann
        ask b1 app1 vcore=3
        ask b2 app1 vcore=2
        ask b3 app1 vcore=1
        ask b4 app1 vcore=1
        app app2 root.a bob
        ask a1 app2 vcore=3
        ",
        "a1",
        expect![[r#"
            shrink: vcore 3000 -> 1000
            release: b2
            add: node {vcore: 3000 m}
            add: n2 by {vcore: 2000 m}
        "#]],
    );
}

#[test]
fn numbers_of_applications_are_raised_by_one() {
    check(
        "
        queue root.p parent apps=1
        queue root.p.a
        limit root.p user ann apps=1
        node n1 vcore=8
        app app1 root.p.a ann
        ask a1 app1 vcore=2
        app app2 root.p.a ann
        ask a2 app2 vcore=2
        ",
        "a2",
        expect![[r#"
            raise: root.p applications 1 -> 2, ann at root.p applications 1 -> 2
            release: a1
        "#]],
    );
}

#[test]
fn who_is_held_back_for_others_alone_starts_as_it_is() {
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
            starts as it is when it is next
        "#]],
    );
}

#[test]
fn a_node_that_is_missing_is_told_with_its_name_or_its_label() {
    check(
        "
        queue root.a
        node n1 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=2 requires n7
        ",
        "a1",
        expect![[r#"
            add: node n7{vcore: 2000 m}
        "#]],
    );
    check(
        "
        queue root.a
        node n1 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=2 labelled gpu
        ",
        "a1",
        expect![[r#"
            add: node gpu{vcore: 2000 m}
        "#]],
    );
}

#[test]
fn another_leaf_that_has_room_is_told_if_the_user_may_submit_there() {
    let script = |who: &str| {
        format!(
            "
            queue root.a max vcore=1
            queue root.b max vcore=4
            queue root submit {who}
            queue root.a submit ann
            node n1 vcore=8
            app app1 root.a ann
            ask a1 app1 vcore=2
            "
        )
    };
    check(
        &script("ann"),
        "a1",
        expect![[r#"
        raise: root.a max vcore 1000 -> 2000
        shrink: vcore 2000 -> 1000
        move: to root.b
    "#]],
    );
    check(
        &script("bob"),
        "a1",
        expect![[r#"
        raise: root.a max vcore 1000 -> 2000
        shrink: vcore 2000 -> 1000
    "#]],
    );
}

#[test]
fn a_larger_ask_than_all_limits_needs_them_raised_and_a_node() {
    check(
        "
        queue root.a max vcore=4
        limit root.a user ann vcore=6
        node n1 vcore=5
        app app1 root.a ann
        ask a1 app1 vcore=7
        ",
        "a1",
        expect![[r#"
            shrink: vcore 7000 -> 4000
            add: node {vcore: 7000 m}, ann at root.a vcore 6000 -> 7000, root.a max vcore 4000 -> 7000
        "#]],
    );
}

#[test]
fn where_drivers_are_limited_the_part_that_they_may_have_is_raised() {
    check(
        "
        queue root.a counts driver=0.25
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        app app2 root.a bob
        ask a2 app2 vcore=3
        ",
        "a2",
        expect![[r#"
            raise: root.a maximumdriverresourcepercent 0.25 -> 0.624876
        "#]],
    );
}

#[test]
fn where_a_user_has_all_that_he_may_the_factor_is_raised_or_less_is_asked_for() {
    check(
        "
        queue root.a percent=50/100 share f=1
        queue root.b percent=50/100
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=3
        ",
        "a2",
        expect![[r#"
            raise: root.a userlimitfactor 1 -> 1.5
            shrink: vcore 3000 -> 1000
            move: to root.b
            release: a1
        "#]],
    );
}

#[test]
fn a_maximum_that_is_a_part_of_the_parent_is_raised_as_that() {
    check(
        "
        queue root.a percent=40/50
        queue root.b percent=60/100
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=3
        ",
        "a2",
        expect![[r#"
            raise: root.a capacity.maximum 50 -> 75
            shrink: vcore 3000 -> 1000
            move: to root.b
            release: a1
        "#]],
    );
}

#[test]
fn the_number_of_a_users_applications_is_raised_where_that_holds_him_back() {
    check(
        "
        queue root.a counts parallel-per-user=1
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=2
        app app2 root.a ann
        ask a2 app2 vcore=2
        ",
        "a2",
        expect![[r#"
            raise: ann activated 1 -> 2
        "#]],
    );
}

#[test]
fn a_gang_starts_as_a_whole_or_the_change_is_none() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=8
        app app1 root.a bob
        ask a1 app1 vcore=2
        app g1 root.a ann gang vcore=4
        ask p1 g1 vcore=1 placeholder group workers
        ask p2 g1 vcore=1 placeholder group workers
        ask p3 g1 vcore=1 placeholder group workers
        ask p4 g1 vcore=1 placeholder group workers
        ",
        "p3",
        expect![[r#"
            raise: root.a max vcore 4000 -> 6000
            release: a1
        "#]],
    );
}

#[test]
fn a_member_that_waits_for_a_place_starts_when_one_placeholder_has_its_node() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=8
        app app1 root.a bob
        ask a1 app1 vcore=3
        app g1 root.a ann gang vcore=4
        ask p1 g1 vcore=2 placeholder group workers
        ask p2 g1 vcore=2 placeholder group workers
        ask m1 g1 vcore=2 group workers
        ",
        "m1",
        expect![[r#"
            raise: root.a max vcore 4000 -> 5000
            release: a1
        "#]],
    );
}

#[test]
fn where_a_node_is_kept_for_others_and_a_limit_is_in_the_way_both_are_lifted() {
    check(
        "
        queue root.a
        queue root.b max vcore=3
        node n1 vcore=10
        node n2 vcore=10
        app full root.a ann
        ask f1 full vcore=5 on n1
        ask f2 full vcore=7 on n2
        app first root.a ann
        ask large first vcore=8
        wait 3s
        app second root.b bob
        ask b1 second vcore=4
        ",
        "b1",
        expect![[r#"
            shrink: vcore 4000 -> 3000
            release: root.b max vcore 3000 -> 4000, f2
            add: node {vcore: 4000 m}, root.b max vcore 3000 -> 4000
            add: n2 by {vcore: 1000 m}, root.b max vcore 3000 -> 4000
        "#]],
    );
}

#[test]
fn an_ask_for_which_a_node_is_kept_may_be_withdrawn_where_no_release_helps() {
    check(
        "
        queue root.a
        queue root.b max vcore=3
        queue root.full
        node n1 vcore=10
        node n2 vcore=3
        app fill root.full zed
        ask x1 fill vcore=5
        app first root.a ann
        ask large first vcore=8
        wait 3s
        app second root.b bob
        ask b1 second vcore=4
        ",
        "b1",
        expect![[r#"
            shrink: vcore 4000 -> 3000
            release: root.b max vcore 3000 -> 4000, large
            add: node {vcore: 4000 m}, root.b max vcore 3000 -> 4000
        "#]],
    );
}

#[test]
fn what_ends_by_itself_is_waited_for() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=8
        app short root.a ann tags headroom/lifetime=10
        ask s1 short vcore=1
        app long root.a ann tags headroom/lifetime=1000
        ask l1 long vcore=2
        app free root.a ann
        ask f1 free vcore=1
        app app1 root.a bob
        ask a1 app1 vcore=2
        ",
        "a1",
        expect![[r#"
            wait: l1 at 1000000
            raise: root.a max vcore 4000 -> 6000
            release: l1
        "#]],
    );
}

/// Each change that is reported for asks of a settled state starts its ask. With a number one unit less, or with an
/// edit left out, it does not.
pub(crate) fn are_minimal(books: &Books, now: Timestamp, counts: &mut BTreeMap<&'static str, u64>) {
    let mut scheduler = Scheduler::new(books);
    scheduler.next(books, now, &mut Vec::new());
    let waiting = books.allocations().iter().filter(|(_, row)| row.is_pending());
    for (ask, _) in waiting.take(3) {
        let explained = explain(books, &scheduler, ask).expect("it is there");
        let found = remedies(books, now, &explained, &RemedyKind::ALL, TRIALS);
        let text = told(books, &found);
        for remedy in &found.found {
            *counts.entry(remedy.kind.word()).or_default() += 1;
            for edit in &remedy.edits {
                if let Edit::Setting { setting, .. } = edit {
                    let key = match setting.key() {
                        Cow::Borrowed(key) => key,
                        Cow::Owned(_) => "part of a label",
                    };
                    *counts.entry(key).or_default() += 1;
                }
            }
            assert!(starts(books, now, ask, &remedy.edits), "{ask} does not start with {text}");
            for less in remedy.lessened() {
                assert!(!starts(books, now, ask, &less), "{ask} starts with {less:?}, of {text}");
            }
        }
        if found.starts_after.is_some() {
            *counts.entry("starts alone").or_default() += 1;
        } else if found.found.is_empty() {
            *counts.entry("no remedy").or_default() += 1;
        }
    }
}
