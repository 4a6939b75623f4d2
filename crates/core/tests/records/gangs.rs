//! Records of gangs and reservations, from asking to the end.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W19")]
fn a_gang_of_one_is_replaced_and_completes_for_a_moment() {
    check(
        "
        queue root.a
        node n1 memory=20
        app g1 root.a ann gang memory=10
        ask p1 g1 memory=10 placeholder group w
        ask m1 g1 memory=10 group w
        release p1 as replaced
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {memory: 20 B}
              NODE ADD DETAILS_NONE n1 {memory: 20 B}
            app g1
              APP ADD APP_NEW g1
              QUEUE ADD QUEUE_APP root.a g1
            ask p1
              APP ADD APP_REQUEST g1 p1 {memory: 10 B}
              APP SET APP_ACCEPTED g1
              NODE ADD NODE_ALLOC n1 p1 {memory: 10 B}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {memory: 10 B}
              APP SET APP_RUNNING g1
              APP ADD APP_ALLOC g1 p1 {memory: 10 B}
            ask m1
              APP ADD APP_REQUEST g1 m1 {memory: 10 B}
            release p1
              APP SET APP_COMPLETING g1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {memory: 10 B}
              APP REMOVE ALLOC_REPLACED g1 p1 {memory: 10 B}
              APP REMOVE REQUEST_CANCEL g1 p1 {memory: 10 B}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {memory: 10 B}
              APP SET APP_RUNNING g1
              APP ADD APP_ALLOC g1 m1 {memory: 10 B}
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W15")]
fn placeholders_that_are_too_small_are_told_of_one_by_one() {
    check(
        "
        queue root.a
        node n1 memory=12
        app g1 root.a ann gang memory=10
        ask p1 g1 memory=5 placeholder group w
        ask p2 g1 memory=5 placeholder group w
        ask m1 g1 memory=8 group w
        release p1 as timeout
        release p2 as timeout
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {memory: 12 B}
              NODE ADD DETAILS_NONE n1 {memory: 12 B}
            app g1
              APP ADD APP_NEW g1
              QUEUE ADD QUEUE_APP root.a g1
            ask p1
              APP ADD APP_REQUEST g1 p1 {memory: 5 B}
              APP SET APP_ACCEPTED g1
              NODE ADD NODE_ALLOC n1 p1 {memory: 5 B}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {memory: 5 B}
              APP ADD APP_ALLOC g1 p1 {memory: 5 B}
            ask p2
              APP ADD APP_REQUEST g1 p2 {memory: 5 B}
              NODE ADD NODE_ALLOC n1 p2 {memory: 5 B}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {memory: 5 B}
              APP SET APP_RUNNING g1
              APP ADD APP_ALLOC g1 p2 {memory: 5 B}
            ask m1
              APP ADD APP_REQUEST g1 m1 {memory: 8 B}
              REQUEST NONE DETAILS_NONE p1 g1 {memory: 5 B}: the placeholder is smaller than a member of its task group
              REQUEST NONE DETAILS_NONE p2 g1 {memory: 5 B}: the placeholder is smaller than a member of its task group
            release p1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {memory: 5 B}
              APP REMOVE ALLOC_TIMEOUT g1 p1 {memory: 5 B}
              NODE REMOVE NODE_ALLOC n1 p1 {memory: 5 B}
            release p2
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {memory: 5 B}
              APP REMOVE ALLOC_TIMEOUT g1 p2 {memory: 5 B}
              NODE REMOVE NODE_ALLOC n1 p2 {memory: 5 B}
              NODE ADD NODE_ALLOC n1 m1 {memory: 8 B}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {memory: 8 B}
              APP ADD APP_ALLOC g1 m1 {memory: 8 B}
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W17")]
fn a_soft_gang_that_is_late_starts_again_and_says_why() {
    check(
        "
        queue root.a
        node n1 vcore=5
        app g1 root.a ann gang vcore=6 timeout 60s
        ask p1 g1 vcore=2 placeholder group w
        ask p2 g1 vcore=2 placeholder group w
        ask p3 g1 vcore=2 placeholder group w
        wait 60s
        release p1 as timeout
        release p2 as timeout
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 5000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 5000 m}
            app g1
              APP ADD APP_NEW g1
              QUEUE ADD QUEUE_APP root.a g1
            ask p1
              APP ADD APP_REQUEST g1 p1 {vcore: 2000 m}
              APP SET APP_ACCEPTED g1
              NODE ADD NODE_ALLOC n1 p1 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP ADD APP_ALLOC g1 p1 {vcore: 2000 m}
            ask p2
              APP ADD APP_REQUEST g1 p2 {vcore: 2000 m}
              NODE ADD NODE_ALLOC n1 p2 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP ADD APP_ALLOC g1 p2 {vcore: 2000 m}
            ask p3
              APP ADD APP_REQUEST g1 p3 {vcore: 2000 m}
              REQUEST NONE DETAILS_NONE p3 g1 {vcore: 2000 m}: the cluster has 1 of 5 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s
              APP SET APP_RESUMING g1: ResourceReservationTimeout
              APP REMOVE REQUEST_TIMEOUT g1 p3 {vcore: 2000 m}
            release p1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP REMOVE ALLOC_TIMEOUT g1 p1 {vcore: 2000 m}
              NODE REMOVE NODE_ALLOC n1 p1 {vcore: 2000 m}
            release p2
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP SET APP_ACCEPTED g1
              APP REMOVE ALLOC_TIMEOUT g1 p2 {vcore: 2000 m}
              NODE REMOVE NODE_ALLOC n1 p2 {vcore: 2000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W18")]
fn a_hard_gang_that_is_late_fails_and_says_why() {
    check(
        "
        queue root.a
        node n1 vcore=3
        app g1 root.a ann gang vcore=4 hard timeout 60s
        ask p1 g1 vcore=2 placeholder group w
        ask p2 g1 vcore=2 placeholder group w
        wait 60s
        release p1 as timeout
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 3000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 3000 m}
            app g1
              APP ADD APP_NEW g1
              QUEUE ADD QUEUE_APP root.a g1
            ask p1
              APP ADD APP_REQUEST g1 p1 {vcore: 2000 m}
              APP SET APP_ACCEPTED g1
              NODE ADD NODE_ALLOC n1 p1 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP ADD APP_ALLOC g1 p1 {vcore: 2000 m}
            ask p2
              APP ADD APP_REQUEST g1 p2 {vcore: 2000 m}
              REQUEST NONE DETAILS_NONE p2 g1 {vcore: 2000 m}: the cluster has 1 of 3 vcore available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s
              APP SET APP_FAILING g1: ResourceReservationTimeout
              APP REMOVE REQUEST_TIMEOUT g1 p2 {vcore: 2000 m}
            release p1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP SET APP_FAILED g1
              APP REMOVE DETAILS_NONE g1
              QUEUE REMOVE QUEUE_APP root.a g1
              APP REMOVE ALLOC_TIMEOUT g1 p1 {vcore: 2000 m}
              NODE REMOVE NODE_ALLOC n1 p1 {vcore: 2000 m}
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W12")]
fn a_reservation_is_told_and_dropped_by_the_placement_elsewhere() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=4
        app app1 root.a ann
        ask a1 app1 vcore=3 on n1
        ask a2 app1 vcore=2 on n2
        wait 10s
        ask a3 app1 vcore=3 made 1s
        release a1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 4000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 4000 m}
            node n2
              NODE SET NODE_SCHEDULABLE n2: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 8000 m}
              NODE ADD DETAILS_NONE n2 {vcore: 4000 m}
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
              NODE ADD NODE_ALLOC n2 a2 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP ADD APP_ALLOC app1 a2 {vcore: 2000 m}
            wait 10s
            ask a3
              APP ADD APP_REQUEST app1 a3 {vcore: 3000 m}
              NODE ADD NODE_RESERVATION n2 a3 {vcore: 3000 m}
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 3000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_RESERVATION n2 a3 {vcore: 3000 m}
              NODE ADD NODE_ALLOC n1 a3 {vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP ADD APP_ALLOC app1 a3 {vcore: 3000 m}
        "#]],
    );
}
