//! Records of applications, their asks and allocations, and of those who are charged.

use expect_test::expect;

use crate::check;

#[test]
fn a_full_life_gives_the_records_of_the_table_in_the_order_of_the_reference() {
    check(
        "
        queue root.a
        limit root.a group dev vcore=100
        node n1 vcore=10
        app app1 root.a ann groups dev
        ask a1 app1 vcore=3
        release a1
        ask a2 app1 vcore=2
        release a2
        wait 30s
        wait 259200s
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              USERGROUP SET UG_GROUP_LIMIT dev root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 3000 m}
              APP SET APP_ACCEPTED app1
              USERGROUP SET UG_APP_LINK dev app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              USERGROUP ADD UG_GROUP_RESOURCE dev root.a {vcore: 3000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 3000 m}
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              USERGROUP REMOVE UG_GROUP_RESOURCE dev root.a {vcore: 3000 m}
              USERGROUP REMOVE UG_APP_LINK dev app1
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 3000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 3000 m}
            ask a2
              APP ADD APP_REQUEST app1 a2 {vcore: 2000 m}
              APP SET APP_RUNNING app1
              USERGROUP SET UG_APP_LINK dev app1
              NODE ADD NODE_ALLOC n1 a2 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              USERGROUP ADD UG_GROUP_RESOURCE dev root.a {vcore: 2000 m}
              APP ADD APP_ALLOC app1 a2 {vcore: 2000 m}
            release a2
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              USERGROUP REMOVE UG_GROUP_RESOURCE dev root.a {vcore: 2000 m}
              USERGROUP REMOVE UG_APP_LINK dev app1
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_CANCEL app1 a2 {vcore: 2000 m}
              NODE REMOVE NODE_ALLOC n1 a2 {vcore: 2000 m}
              APP REMOVE REQUEST_CANCEL app1 a2 {vcore: 2000 m}
            wait 30s
              APP SET APP_COMPLETED app1
              APP REMOVE DETAILS_NONE app1
              QUEUE REMOVE QUEUE_APP root.a app1
              summary of app1: Completed, submitted 0 ms, started 0 ms, finished 30000 ms, used UNKNOWN {vcore: 0 m}, placeholders, preempted
            wait 259200s
              APP SET APP_EXPIRED app1
        "#]],
    );
}

#[test]
fn a_withdrawn_ask_and_a_removed_application_are_told() {
    check(
        "
        queue root.a
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=30
        release a2
        remove app1
        app app1 root.nowhere ann
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 3000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 3000 m}
            ask a2
              APP ADD APP_REQUEST app1 a2 {vcore: 30000 m}
              REQUEST NONE DETAILS_NONE a2 app1 {vcore: 30000 m}: the cluster has 7 of 10 vcore available, but the ask needs 30. Wait for a release, or add nodes.
            release a2
              APP REMOVE REQUEST_CANCEL app1 a2 {vcore: 30000 m}
            remove app1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 3000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 3000 m}
              APP REMOVE DETAILS_NONE app1
              QUEUE REMOVE QUEUE_APP root.a app1
            app app1
              APP ADD APP_NEW app1
              APP SET APP_REJECT app1: no placement rule matched: rule 1 (provided): queue root.nowhere does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
        "#]],
    );
}

#[test]
fn what_the_rm_placed_and_resized_is_told_by_the_difference() {
    check(
        "
        queue root.a
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=3 memory=5 on n1
        ask a1 app1 vcore=4 memory=2 gpu=1
        lose n1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {memory: 5 B, vcore: 3000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {memory: 5 B, vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {memory: 5 B, vcore: 3000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {memory: 5 B, vcore: 3000 m}
            ask a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {memory: 3 B}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {gpu: 1, vcore: 1000 m}
            lose n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: false
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {gpu: 1, memory: 2 B, vcore: 4000 m}
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_NODEREMOVED app1 a1 {gpu: 1, memory: 2 B, vcore: 4000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {gpu: 1, memory: 2 B, vcore: 4000 m}
              QUEUE SET QUEUE_MAX root
              NODE REMOVE NODE_DECOMISSION n1
        "#]],
    );
}

#[test]
fn an_application_is_told_when_it_may_not_run_and_when_it_may_again() {
    check(
        "
        queue root.a apps=1
        limit root.a user bob vcore=10000 apps=1
        node n1 vcore=10
        app app1 root.a ann
        app app2 root.a ann
        app app3 root.a ann
        ask a1 app1 vcore=1
        ask a2 app2 vcore=1
        ask a3 app3 vcore=1
        release a1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              USERGROUP SET UG_USER_LIMIT bob root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            app app2
              APP ADD APP_NEW app2
              QUEUE ADD QUEUE_APP root.a app2
            app app3
              APP ADD APP_NEW app3
              QUEUE ADD QUEUE_APP root.a app3
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 1000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 1000 m}
            ask a2
              APP ADD APP_REQUEST app2 a2 {vcore: 1000 m}
              APP SET APP_ACCEPTED app2
              APP NONE APP_CANNOTRUN_QUEUE app2: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            ask a3
              APP ADD APP_REQUEST app3 a3 {vcore: 1000 m}
              APP SET APP_ACCEPTED app3
              APP NONE APP_CANNOTRUN_QUEUE app3: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 1000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 1000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 1000 m}
              APP NONE APP_RUNNABLE_QUEUE app2
              NODE ADD NODE_ALLOC n1 a2 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_RUNNING app2
              APP ADD APP_ALLOC app2 a2 {vcore: 1000 m}
        "#]],
    );
}

#[test]
fn a_user_who_runs_enough_holds_his_application_back() {
    check(
        "
        queue root.a
        limit root.a user ann vcore=10 apps=1
        node n1 vcore=10
        app app1 root.a ann
        app app2 root.a ann
        ask a1 app1 vcore=1
        ask a2 app2 vcore=1
        release a1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              USERGROUP SET UG_USER_LIMIT ann root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            app app2
              APP ADD APP_NEW app2
              QUEUE ADD QUEUE_APP root.a app2
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 1000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 1000 m}
            ask a2
              APP ADD APP_REQUEST app2 a2 {vcore: 1000 m}
              APP SET APP_ACCEPTED app2
              APP NONE APP_CANNOTRUN_QUOTA app2: user ann at root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 1000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 1000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 1000 m}
              APP NONE APP_RUNNABLE_QUOTA app2
              NODE ADD NODE_ALLOC n1 a2 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_RUNNING app2
              APP ADD APP_ALLOC app2 a2 {vcore: 1000 m}
        "#]],
    );
}

#[test]
fn an_ask_is_told_when_it_does_not_fit_its_queue_and_when_it_does_again() {
    check(
        "
        queue root.a max vcore=4
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=3
        ask a2 app1 vcore=2
        wait 20s
        release a1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 3000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 3000 m}
            ask a2
              APP ADD APP_REQUEST app1 a2 {vcore: 2000 m}
              REQUEST NONE DETAILS_NONE a2 app1 {vcore: 2000 m}: queue root.a has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            wait 20s
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 3000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 3000 m}
              REQUEST NONE DETAILS_NONE a2 app1 {vcore: 2000 m}: the ask fits the maximum of its queue again
              NODE ADD NODE_ALLOC n1 a2 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP ADD APP_ALLOC app1 a2 {vcore: 2000 m}
        "#]],
    );
}

#[test]
fn an_ask_is_told_when_it_exceeds_a_limit_and_when_it_does_no_more() {
    check(
        "
        queue root.a
        limit root.a user ann vcore=2
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=2
        ask a2 app1 vcore=1
        ask a3 app1 vcore=1
        release a1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              USERGROUP SET UG_USER_LIMIT ann root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 2000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 2000 m}
            ask a2
              APP ADD APP_REQUEST app1 a2 {vcore: 1000 m}
              REQUEST NONE DETAILS_NONE a2 app1 {vcore: 1000 m}: user ann at root.a has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or raise the limit.
            ask a3
              APP ADD APP_REQUEST app1 a3 {vcore: 1000 m}
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 2000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 2000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 2000 m}
              REQUEST NONE DETAILS_NONE a2 app1 {vcore: 1000 m}: the ask fits the limits of its user and group again
              NODE ADD NODE_ALLOC n1 a2 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP ADD APP_ALLOC app1 a2 {vcore: 1000 m}
              NODE ADD NODE_ALLOC n1 a3 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP ADD APP_ALLOC app1 a3 {vcore: 1000 m}
        "#]],
    );
}
