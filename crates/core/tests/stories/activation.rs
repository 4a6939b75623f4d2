//! Applications that wait before they start: `applicationlimits`.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "UH-20")]
fn one_application_always_starts_whatever_its_driver() {
    check(
        "
        queue root.q guaranteed vcore=10 max vcore=10 counts driver=0.1
        node n1 vcore=100
        app app1 root.q ann
        app app2 root.q bob
        ask driver1 app1 vcore=2
        ask driver2 app2 vcore=2
        remove app1
        ",
        expect![[r#"
            ask driver1: app1 Accepted, driver1 on n1, app1 Running
            ask driver2: app2 Accepted
              driver2 waits DRIVER_LIMIT_QUEUE: drivers in queue root.q use 2 of at most 1 vcore, and the driver of this application needs 2 more. Wait for an application to end, or raise `maximumdriverresourcepercent`.
            remove app1: driver1 released, app1 Completing, app1 gone, driver2 on n1, app2 Running
        "#]],
    );
}

#[test]
#[doc(alias = "UH-22")]
fn a_parallel_limit_holds_in_every_queue_above_and_for_each_user() {
    check(
        "
        queue root.a counts parallel=2
        queue root.a.x counts parallel=3;parallel-per-user=2;eve=1
        queue root.a.y
        node n1 vcore=100
        app app1 root.a.x ann
        app app2 root.a.y ann
        app app3 root.a.x bob
        app app4 root.a.x eve
        app app5 root.a.x eve
        ask a1 app1 vcore=1
        ask a2 app2 vcore=1
        ask a3 app3 vcore=1
        ask a4 app4 vcore=1
        ask a5 app5 vcore=1
        remove app1
        remove app2
        remove app3
        remove app4
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: app2 Accepted, a2 on n1, app2 Running
            ask a3: app3 Accepted
              a3 waits PARALLEL_LIMIT: queue root.a has 2 of at most 2 active applications. Wait for one to end, or raise `maxparallelapps`.
            ask a4: app4 Accepted
              a4 waits PARALLEL_LIMIT: queue root.a has 2 of at most 2 active applications. Wait for one to end, or raise `maxparallelapps`.
            ask a5: app5 Accepted
              a5 waits PARALLEL_LIMIT: queue root.a has 2 of at most 2 active applications. Wait for one to end, or raise `maxparallelapps`.
            remove app1: a1 released, app1 Completing, app1 gone, a3 on n1, app3 Running
            remove app2: a2 released, app2 Completing, app2 gone, a4 on n1, app4 Running
            remove app3: a3 released, app3 Completing, app3 gone
              a5 waits PARALLEL_LIMIT: user eve has 1 of at most 1 active application. Wait for one to end, or raise `maxparallelappsbyuser`.
            remove app4: a4 released, app4 Completing, app4 gone, a5 on n1, app5 Running
        "#]],
    );
}

#[test]
#[doc(alias = "C7")]
fn a_smaller_driver_passes_one_that_is_too_large() {
    check(
        "
        queue root.q guaranteed vcore=40 max vcore=80 counts driver=0.1
        node n1 vcore=100
        app app1 root.q ann
        app app2 root.q ann
        app app3 root.q ann
        ask d1 app1 vcore=4 originator
        ask d2 app2 vcore=6 originator
        ask d3 app3 vcore=4 originator
        ask w1 app1 vcore=20
        ",
        expect![[r#"
            ask d1: app1 Accepted, d1 on n1, app1 Running
            ask d2: app2 Accepted
              d2 waits DRIVER_LIMIT_QUEUE: drivers in queue root.q use 4 of at most 8 vcore, and the driver of this application needs 6 more. Wait for an application to end, or raise `maximumdriverresourcepercent`.
            ask d3: app3 Accepted, d3 on n1, app3 Running
              d2 waits DRIVER_LIMIT_QUEUE: drivers in queue root.q use 8 of at most 8 vcore, and the driver of this application needs 6 more. Wait for an application to end, or raise `maximumdriverresourcepercent`.
            ask w1: w1 on n1
        "#]],
    );
}

#[test]
#[doc(alias = "C7")]
fn a_user_whose_drivers_have_his_part_waits_and_others_start() {
    check(
        "
        queue root.q guaranteed vcore=40 max vcore=80 share p=25;f=1 counts driver=0.2
        node n1 vcore=100
        app app1 root.q ann
        app app2 root.q ann
        app app3 root.q bob
        ask d1 app1 vcore=4 originator
        ask d2 app2 vcore=4 originator
        ask d3 app3 vcore=4 originator
        remove app3
        ",
        expect![[r#"
            ask d1: app1 Accepted, d1 on n1, app1 Running
            ask d2: app2 Accepted
              d2 waits DRIVER_LIMIT_USER: drivers of user ann at root.q use 4 of at most 4 vcore, and the driver of this application needs 4 more. Wait for an application of this user to end, or raise `maximumdriverresourcepercent`.
            ask d3: app3 Accepted, d3 on n1, app3 Running, d2 on n1, app2 Running
            remove app3: d3 released, app3 Completing, app3 gone
        "#]],
    );
}

#[test]
fn the_driver_of_a_gang_is_all_of_its_first_task_group() {
    check(
        "
        queue root.q guaranteed vcore=40 max vcore=80 counts driver=0.1
        node n1 vcore=100
        app app0 root.q eve
        app app1 root.q ann gang vcore=6
        app app2 root.q bob
        ask d0 app0 vcore=3
        ask p1 app1 vcore=3 placeholder group g1
        ask p2 app1 vcore=3 placeholder group g1
        ask d2 app2 vcore=5
        ",
        expect![[r#"
            ask d0: app0 Accepted, d0 on n1, app0 Running
            ask p1: app1 Accepted, p1 on n1
            ask p2: p2 on n1, app1 Running
            ask d2: app2 Accepted
              d2 waits DRIVER_LIMIT_QUEUE: drivers in queue root.q use 6 of at most 8 vcore, and the driver of this application needs 5 more. Wait for an application to end, or raise `maximumdriverresourcepercent`.
        "#]],
    );
}

#[test]
fn what_runs_already_when_it_is_reported_is_activated_whatever_the_limits() {
    check(
        "
        queue root.q guaranteed vcore=10 counts parallel=1
        node n1 vcore=100
        app app1 root.q ann
        app app2 root.q bob
        ask a1 app1 vcore=1
        ask a2 app2 vcore=1 on n1
        ask a3 app1 vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: app2 Accepted, a2 on n1, app2 Running
            ask a3: a3 on n1
        "#]],
    );
}

#[test]
fn more_applications_than_a_queue_takes_in_are_rejected() {
    check(
        "
        queue root.a counts max=3
        queue root.a.x counts max=2
        queue root.a.y counts per-user=1
        app app1 root.a.x ann
        app app2 root.a.x bob
        app app3 root.a.x eve
        app app4 root.a.y ann
        app app5 root.a.y bob
        remove app1
        app app6 root.a.y ann
        app app7 root.a.y bob
        ",
        expect![[r#"
            app app3: rejected MAX_APPS_QUEUE: queue root.a.x has 2 of at most 2 applications. Wait for one to end, or raise `maximumapplications`.
            app app5: rejected MAX_APPS_QUEUE: queue root.a has 3 of at most 3 applications. Wait for one to end, or raise `maximumapplications`.
            remove app1: app1 gone
            app app6: rejected MAX_APPS_USER: user ann has 1 of at most 1 applications in queue root.a.y. Wait for one to end, or raise maximumapplicationsperuser.
        "#]],
    );
}
