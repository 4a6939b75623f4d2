//! Records of queues and limits.

use expect_test::expect;

use crate::check;

#[test]
fn a_changed_queue_file_is_told_queue_by_queue_and_limit_by_limit() {
    check(
        "
        queue root.a max vcore=4 guaranteed vcore=1
        queue root.b
        queue root.c
        limit root.a user ann,bob group dev vcore=3
        node n1 vcore=10
        reload
        queue root.a max vcore=5
        queue root.b.d
        queue root.e
        limit root.a user ann,* vcore=3
        limit root.a user bob vcore=2
        wait 10s
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              USERGROUP SET UG_USER_LIMIT ann root.a
              USERGROUP SET UG_USER_LIMIT bob root.a
              USERGROUP SET UG_GROUP_LIMIT dev root.a
              QUEUE ADD DETAILS_NONE root.b
              QUEUE ADD DETAILS_NONE root.c
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            reload
              QUEUE SET QUEUE_MAX root.a {vcore: 5000 m}
              QUEUE SET QUEUE_GUARANTEED root.a
              QUEUE SET QUEUE_TYPE root.b: leaf queue: false
              QUEUE ADD DETAILS_NONE root.b.d
              QUEUE ADD DETAILS_NONE root.e
              USERGROUP REMOVE UG_GROUP_LIMIT dev root.a
              USERGROUP SET UG_USER_LIMIT * root.a
              USERGROUP SET UG_USER_LIMIT bob root.a
            wait 10s
              QUEUE REMOVE DETAILS_NONE root.c
        "#]],
    );
}

#[test]
fn a_queue_that_a_rule_makes_is_told_as_dynamic_and_goes_so() {
    check(
        "
        queue root.p parent
        rule user create below fixed root.p
        node n1 vcore=10
        app app1 - ann
        remove app1
        wait 10s
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.p
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              QUEUE ADD QUEUE_DYNAMIC root.p.ann
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.p.ann app1
            remove app1
              APP REMOVE DETAILS_NONE app1
              QUEUE REMOVE QUEUE_APP root.p.ann app1
            wait 10s
              QUEUE REMOVE QUEUE_DYNAMIC root.p.ann
        "#]],
    );
}

#[test]
fn a_partition_that_goes_takes_all_along_and_says_so() {
    check(
        "
        partition default
        queue root.a
        partition gpu
        queue root.b
        wait 1s
        partition gpu
        node n1 vcore=10
        app app1 root.b ann
        ask a1 app1 vcore=3
        partition default
        reload
        partition default
        queue root.a
        ",
        expect![[r#"
            wait 1s
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.b
            node n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.b app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 3000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.b {vcore: 3000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 3000 m}
            reload
              APP SET APP_FAILING app1: ResourceReservationTimeout
              USERGROUP REMOVE UG_USER_RESOURCE ann root.b {vcore: 3000 m}
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 3000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 3000 m}
              APP REMOVE DETAILS_NONE app1
              QUEUE REMOVE QUEUE_APP root.b app1
              QUEUE SET QUEUE_MAX root
              NODE REMOVE NODE_DECOMISSION n1
              QUEUE REMOVE DETAILS_NONE root.b
              QUEUE REMOVE DETAILS_NONE root
        "#]],
    );
}
