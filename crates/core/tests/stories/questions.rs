//! Questions to the RM about nodes.

use expect_test::{Expect, expect};

/// Two nodes, the first in order n1, and an RM that answers questions.
pub(crate) fn check(script: &str, expected: Expect) {
    let scene = "
        queue root.a
        queue root.b
        node n1 vcore=4
        node n2 vcore=4
        questions on
        app app1 root.a ann
    ";
    crate::check(&format!("{scene}{script}"), expected);
}

#[test]
fn an_ask_waits_for_the_answer_and_takes_the_first_node_that_the_rm_accepts() {
    check(
        "
        ask a1 app1 vcore=2
        wait 1s
        answer a1 n1=taint n2=ok
        show root.a
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            wait 1s: nothing
            answer a1: RM says of a1: n1=taint n2=ok, a1 on n2, app1 Running
              root.a: in force {vcore: 8000 m}, uses {vcore: 2000 m}, headroom {vcore: 6000 m}, share 0.25, runs 1
        "#]],
    );
}

#[test]
fn while_one_ask_waits_for_the_rm_others_go_on_and_equal_asks_are_told_apart() {
    check(
        "
        app app2 root.b bob
        ask a1 app1 vcore=2
        ask a2 app1 vcore=2
        ask b1 app2 vcore=2
        answer b1 n1=ok n2=ok
        answer a2 n2=ok n1=ok
        answer a1 n1=taint n2=affinity
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask a2: RM asked whether a2 may run on n1 n2
              a2 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask b1: app2 Accepted, RM asked whether b1 may run on n1 n2
              b1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer b1: RM says of b1: n1=ok n2=ok, b1 on n1, app2 Running
            answer a2: RM says of a2: n1=ok n2=ok, a2 on n2, app1 Running
            answer a1: RM says of a1: n1=taint n2=affinity, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 4, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
        "#]],
    );
}

#[test]
fn a_node_that_changed_since_the_question_is_asked_about_again() {
    check(
        "
        ask a1 app1 vcore=2
        ask a2 app1 vcore=1 on n1
        answer a1 n1=ok n2=taint
        answer a1 n1=ok
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask a2: a2 on n1, app1 Running
            answer a1: RM says of a1: n1=ok n2=taint, RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok, a1 on n1
        "#]],
    );
}

#[test]
fn an_accepted_node_that_stands_goes_before_one_that_is_to_be_asked_about_again() {
    check(
        "
        ask a1 app1 vcore=2
        ask a2 app1 vcore=1 on n1
        ask a3 app1 vcore=2 on n2
        release a3
        void n1
        undrain n1
        node n0 vcore=4
        lose n2
        node n3 vcore=4
        answer a1 n1=ok n2=ok
        answer a1 n0=no n3=ok n1=ok
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask a2: a2 on n1, app1 Running
            ask a3: a3 on n2
            release a3: a3 released
            void n1: nothing
            undrain n1: nothing
            lose n2: nothing
            answer a1: RM says of a1: n1=ok, RM asked whether a1 may run on n0 n3 n1
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 3 nodes. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n0=no n3=ok n1=ok, a1 on n3
        "#]],
    );
}

#[test]
fn an_ask_that_the_rm_refuses_every_node_waits_until_one_of_them_changes() {
    check(
        "
        node n3 vcore=1
        ask a1 app1 vcore=2 made 0s
        answer a1 n1=taint n2=taint
        ask a2 app1 vcore=4 on n2
        release a2
        answer a1 n2=taint
        resize n3 vcore=2
        answer a1 n3=affinity
        resize n2 vcore=1
        void n1
        answer a1 n1=ok
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=taint n2=taint
              a1 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            ask a2: a2 on n2, app1 Running
              a1 waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            release a2: a2 released, RM asked whether a1 may run on n2
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n2=taint
              a1 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            resize n3: RM asked whether a1 may run on n3
              a1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n3=affinity
              a1 waits NODE_CONSTRAINT: predicates reject all 3 nodes with enough free capacity, 2 because: taint, 1 because: affinity. Change the node requirements of the ask, or add matching nodes.
            resize n2
              a1 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity, 1 because: affinity, 1 because: taint. Change the node requirements of the ask, or add matching nodes.
            void n1: RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 4, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok, a1 on n1
        "#]],
    );
}

#[test]
fn what_an_answer_leaves_out_does_not_suit_the_ask() {
    check(
        "
        ask a1 app1 vcore=2
        answer a1 n2=taint
        void n1
        answer a1
        void n2
        answer a1 n2=ok
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=no answer n2=taint
              a1 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity, 1 because: no answer, 1 because: taint. Change the node requirements of the ask, or add matching nodes.
            void n1: RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=no answer
              a1 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity, 1 because: no answer, 1 because: taint. Change the node requirements of the ask, or add matching nodes.
            void n2: RM asked whether a1 may run on n2
              a1 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n2=ok, a1 on n2, app1 Running
        "#]],
    );
}

#[test]
fn answers_that_come_late_or_twice_change_nothing() {
    check(
        "
        ask a1 app1 vcore=2
        answer a1 n1=ok n2=ok
        answer a1 n1=ok n2=ok question 1
        ask a2 app1 vcore=2
        release a2
        answer a2 n1=ok question 2
        ask a3 app1 vcore=2
        answer a3 n1=taint n2=taint
        void n2
        answer a3 n1=ok n2=ok question 3
        answer a3 n2=ok
        ask a4 app1 vcore=1
        lose n1
        answer a4 n1=ok n2=taint
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer a1: RM says of a1: n1=ok n2=ok, a1 on n1, app1 Running
            answer a1: nothing
            ask a2: RM asked whether a2 may run on n2 n1
              a2 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            release a2: a2 withdrawn
            answer a2: nothing
            ask a3: RM asked whether a3 may run on n2 n1
              a3 waits AWAITING_RM: the resource manager has not answered question 3, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer a3: RM says of a3: n2=taint n1=taint
              a3 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            void n2: RM asked whether a3 may run on n2
              a3 waits AWAITING_RM: the resource manager has not answered question 4, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a3: nothing
            answer a3: RM says of a3: n2=ok, a3 on n2
            ask a4: RM asked whether a4 may run on n1 n2
              a4 waits AWAITING_RM: the resource manager has not answered question 5, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            lose n1: a1 lost
            answer a4: RM says of a4: n2=taint
              a4 waits NODE_CONSTRAINT: predicates reject the only node with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
        "#]],
    );
}

#[test]
fn an_answer_to_what_was_not_asked_is_refused() {
    check(
        "
        answer a1 n1=ok
        drain n2
        ask a1 app1 vcore=2
        answer a1 n1=ok question 2
        answer a1 n1=ok n2=ok
        answer a1 nowhere=ok n1=ok
        void nowhere
        ",
        expect![[r#"
            questions on: nothing
            answer a1: refused UNKNOWN_QUESTION: question 0 was never sent. The last question is 0 (0 means none). Answer only questions that were sent.
            drain n2: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer a1: refused UNKNOWN_QUESTION: question 2 was never sent. The last question is 1 (0 means none). Answer only questions that were sent.
            answer a1: refused NODE_NOT_ASKED: question 1 about ask a1 does not list node n2. Answer only for the nodes that the question lists.
            answer a1: RM says of a1: n1=ok, a1 on n1, app1 Running
            void nowhere: refused UNKNOWN_NODE: node nowhere is not registered in partition default. Check the node ID, or register the node.
        "#]],
    );
}

#[test]
fn an_ask_that_changes_its_size_is_asked_about_anew() {
    check(
        "
        ask a1 app1 vcore=2
        ask a1 app1 vcore=3
        answer a1 n1=ok n2=ok question 1
        answer a1 n1=taint n2=ok
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            ask a1: a1 resized, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            answer a1: nothing
            answer a1: RM says of a1: n1=taint n2=ok, a1 on n2, app1 Running
        "#]],
    );
}

#[test]
fn an_rm_that_answers_no_more_is_not_waited_for() {
    check(
        "
        ask a1 app1 vcore=2
        questions off
        ask a2 app1 vcore=2
        questions on
        ask a3 app1 vcore=2
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            questions off: a1 on n1, app1 Running
            ask a2: a2 on n2
            questions on: nothing
            ask a3: RM asked whether a3 may run on n1 n2
              a3 waits AWAITING_RM: the resource manager has not answered question 2, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
        "#]],
    );
}

#[test]
fn a_required_node_is_asked_about_and_not_kept_when_the_rm_refuses_it() {
    check(
        "
        drain n2
        ask d1 app1 vcore=2 requires n2
        answer d1 n2=taint
        wait 5s
        void n2
        answer d1 n2=ok
        ask d2 app1 vcore=2 requires n3
        node n3 vcore=4
        answer d2 n3=taint
        lose n3
        ",
        expect![[r#"
            questions on: nothing
            drain n2: nothing
            ask d1: app1 Accepted, RM asked whether d1 may run on n2
              d1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer d1: RM says of d1: n2=taint
              d1 waits NODE_CONSTRAINT: the ask requires node n2, which predicates reject because: taint. Change the node requirements of the ask, or withdraw the ask.
            wait 5s: nothing
            void n2: RM asked whether d1 may run on n2
              d1 waits AWAITING_RM: the resource manager has not answered question 2, sent at 5000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer d1: RM says of d1: n2=ok, d1 on n2, app1 Running
            ask d2
              d2 waits IMPOSSIBLE: no release can start the ask: the ask requires node n3, which is not registered. Register the node, or withdraw the ask.
            node n3: RM asked whether d2 may run on n3
              d2 waits AWAITING_RM: the resource manager has not answered question 3, sent at 5000 ms, about 1 node. Wait for the answer, or check the resource manager.
            answer d2: RM says of d2: n3=taint
              d2 waits NODE_CONSTRAINT: the ask requires node n3, which predicates reject because: taint. Change the node requirements of the ask, or withdraw the ask.
            lose n3
              d2 waits IMPOSSIBLE: no release can start the ask: the ask requires node n3, which is not registered. Register the node, or withdraw the ask.
        "#]],
    );
}

#[test]
fn no_more_nodes_are_asked_for_while_the_rm_has_not_answered() {
    check(
        "
        ask a1 app1 vcore=2
        scan-outstanding
        answer a1 n1=taint n2=taint
        scan-outstanding
        ",
        expect![[r#"
            questions on: nothing
            ask a1: app1 Accepted, RM asked whether a1 may run on n1 n2
              a1 waits AWAITING_RM: the resource manager has not answered question 1, sent at 0 ms, about 2 nodes. Wait for the answer, or check the resource manager.
            scan-outstanding: nothing
            answer a1: RM says of a1: n1=taint n2=taint
              a1 waits NODE_CONSTRAINT: predicates reject all 2 nodes with enough free capacity because: taint. Change the node requirements of the ask, or add matching nodes.
            scan-outstanding: more nodes would help a1
        "#]],
    );
}

#[test]
fn one_question_is_about_64_nodes_at_most_and_the_next_about_those_behind() {
    let nodes: Vec<String> = (1..=67).map(|number| format!("node m{number:02} vcore=2")).collect();
    let refused: Vec<String> = (1..=64).map(|number| format!("m{number:02}=no")).collect();
    let (nodes, refused) = (nodes.join("\n"), refused.join(" "));
    let script = format!(
        "queue root.a
        {nodes}
        questions on
        app app1 root.a ann
        ask a1 app1 vcore=2
        answer a1 {refused}
        answer a1 m65=no m66=no m67=ok"
    );
    let told = headroom_core::testkit::tell(&script);
    assert!(told.contains("whether a1 may run on m01 m02"), "{told}");
    assert!(told.contains("about 64 nodes. Wait"), "{told}");
    assert!(told.contains("m64=no, RM asked whether a1 may run on m65 m66 m67\n"), "{told}");
    assert!(told.ends_with("a1 on m67, app1 Running\n"), "{told}");
}

#[test]
fn the_first_question_lists_eight_nodes_for_each_question_that_is_accepted_at_once() {
    let nodes: Vec<String> = (1..=67).map(|number| format!("node m{number:02} vcore=2")).collect();
    let named = |from: u64, to: u64| -> Vec<String> {
        (from..=to).map(|number| format!("m{number:02}")).collect()
    };
    for (at_once, first) in [(1, 8), (2, 16), (8, 64), (64, 64)] {
        let refused: Vec<String> =
            named(1, first).into_iter().map(|node| format!("{node}=no")).collect();
        let script = format!(
            "queue root.a
            {}
            questions on at-once {at_once}
            app app1 root.a ann
            ask a1 app1 vcore=2
            answer a1 {}",
            nodes.join("\n"),
            refused.join(" ")
        );
        let output = headroom_core::testkit::tell(&script);
        let asked =
            |nodes: Vec<String>| format!("RM asked whether a1 may run on {}\n", nodes.join(" "));
        assert!(output.contains(&asked(named(1, first))), "{at_once} at once: {output}");
        // Once there are verdicts, a question lists as many nodes as it can.
        let last = 67.min(first + 64);
        assert!(output.contains(&asked(named(first + 1, last))), "{at_once} at once: {output}");
    }
}
