//! Queues that are stopped and started: `state`. User headroom §10 (C12).

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "C12")]
fn a_stopped_queue_takes_in_nothing_and_what_is_there_finishes() {
    check(
        "
        queue root.a.x
        queue root.a.y
        queue root.b
        node n1 vcore=10
        app app1 root.a.x ann
        ask a1 app1 vcore=1
        reload
        queue root.a stopped
        queue root.a.x
        queue root.a.y
        queue root.b
        app app2 root.a.x ann
        app app3 root.a.y ann
        app app4 root.b ann
        ask b1 app4 vcore=1
        # The asks of what is there go on being placed.
        ask a2 app1 vcore=1
        release a1
        release a2
        wait 30s
        wait 0s
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            reload: root.a Draining, root.a changed, root.a.x Draining, root.a.x changed, root.a.y Stopped, root.a.y changed
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.a.x is Draining because root.a sets `state: stopped`, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.a.y is Stopped because root.a sets `state: stopped`, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            ask b1: app4 Accepted, b1 on n1, app4 Running
            ask a2: a2 on n1
            release a1: a1 released
            release a2: a2 released, app1 Completing
            wait 30s: app1 Completed
            wait 0s: root.a Stopped, root.a.x Stopped
        "#]],
    );
}

#[test]
#[doc(alias = "C12")]
fn a_queue_that_is_started_again_is_active_at_once() {
    check(
        "
        queue root.a stopped
        node n1 vcore=10
        app app1 root.a ann
        reload
        queue root.a running
        app app2 root.a ann
        ask a1 app2 vcore=1
        reload
        queue root.a stopped
        reload
        queue root.a
        ask a2 app2 vcore=1
        ",
        expect![[r#"
            node n1: root.a Stopped
            app app1: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.a is Stopped because root.a sets `state: stopped`, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            reload: root.a Active, root.a changed
            ask a1: app2 Accepted, a1 on n1, app2 Running
            reload: root.a Draining, root.a changed
            reload: root.a Active, root.a changed
            ask a2: a2 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "C12")]
fn a_queue_starts_only_below_one_that_runs() {
    check(
        "
        queue root.a.x
        reload
        queue root.a stopped
        queue root.a.x running
        app app1 root.a.x ann
        ",
        expect![[r#"
            reload: refused RUNS_BELOW_STOPPED: queue root.a.x sets `state: running`, but a queue above root.a.x is stopped. Nothing was changed. Start the queues above, or remove `state` from root.a.x.
        "#]],
    );
}

#[test]
#[doc(alias = "C12")]
fn a_stopped_queue_that_no_file_names_any_more_goes_when_it_is_empty() {
    check(
        "
        queue root.a
        queue root.b
        queue root.c
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=1
        reload
        queue root.a stopped
        queue root.b stopped
        queue root.c
        reload
        queue root.c
        wait 10s
        remove app1
        wait 10s
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            reload: root.a Draining, root.a changed, root.b Stopped, root.b changed
            reload: root.a changed, root.b changed, root.b Draining
            wait 10s: root.b gone
            remove app1: a1 released, app1 Completing, app1 gone
            wait 10s: root.a gone
        "#]],
    );
}

#[test]
#[doc(alias = "C12")]
fn queues_that_rules_have_made_stop_and_start_with_the_queue_above() {
    check(
        "
        rule provided create
        queue root.p parent
        node n1 vcore=10
        app app1 root.p.made ann
        ask a1 app1 vcore=1
        reload
        rule provided create
        queue root.p parent stopped
        app app2 root.p.made ann
        app app3 root.p.other ann
        reload
        rule provided create
        queue root.p parent
        app app4 root.p.made ann
        remove app1
        remove app4
        reload
        rule provided create
        queue root.p parent stopped
        wait 10s
        ",
        expect![[r#"
            app app1: root.p.made made
            ask a1: app1 Accepted, a1 on n1, app1 Running
            reload: root.p Draining, root.p changed, root.p.made Draining
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.p.made is Draining because root.p sets `state: stopped`, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.p is Draining because root.p sets `state: stopped`, but only an Active queue accepts applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            reload: root.p Active, root.p changed, root.p.made Active
            remove app1: a1 released, app1 Completing, app1 gone
            remove app4: app4 gone
            reload: root.p Stopped, root.p changed, root.p.made Draining
            wait 10s: root.p.made gone
        "#]],
    );
}

#[test]
#[doc(alias = "C12")]
fn what_must_not_be_lost_comes_below_a_stopped_root() {
    check(
        "
        queue root stopped
        node n1 vcore=10
        app app1 root.a ann tags application.create.force=true
        ask a1 app1 vcore=1 on n1
        ask a2 app1 vcore=1
        remove app1
        wait 0s
        ",
        expect![[r#"
            node n1: root Stopped
            app app1: root.@recovery@ made, root Draining
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            remove app1: a1 released, a2 released, app1 Completing, app1 gone
            wait 0s: root Stopped
        "#]],
    );
}
