//! Applications that may live so long: `maximumapplicationlifetime`. User headroom §10 (C27).

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "C27")]
fn an_application_whose_lifetime_is_over_gives_back_what_it_has_and_fails() {
    check(
        "
        queue root.a lifetime 60s
        node n1 vcore=3
        app app1 root.a ann
        ask a1 app1 vcore=1
        ask a2 app1 vcore=1
        ask a3 app1 vcore=5
        app app2 root.a bob
        ask b1 app2 vcore=3
        wait 59s
        wait 1s
        ask a4 app1 vcore=1
        release a1 as timeout
        release a2 as timeout
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: a2 on n1
            ask a3
              a3 waits IMPOSSIBLE: no release can start the ask: the ask needs 5 vcore, but no node in use has more than 3. Add a larger node, or request less.
            ask b1: app2 Accepted
              b1 waits ROOT_CAPACITY: the cluster has 1 of 3 vcore available, but the ask needs 3. Wait for a release, or add nodes.
            wait 59s: nothing
            wait 1s: lifetime of app1 over, app1 Failing, a1 to be released: LifetimeOver, a2 to be released: LifetimeOver, a3 withdrawn, lifetime of app2 over, app2 Failing, b1 withdrawn, app2 Failed
            ask a4: refused LIFETIME_OVER: the lifetime of application app1 is over, so ask a4 receives nothing. The allocations of the application are being released. Submit a new application.
            release a1: a1 released
            release a2: a2 released, app1 Failed
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn what_an_application_asks_for_holds_up_to_the_maximum() {
    check(
        "
        queue root.a lifetime 60s usual-lifetime 30s
        queue root.b
        node n1 vcore=9
        app usual root.a ann
        app short root.a ann tags headroom/lifetime=10
        app long root.a ann tags headroom/lifetime=1000
        app free root.b ann tags headroom/lifetime=100
        app wrong root.b ann tags headroom/lifetime=1h
        wait 10s
        wait 20s
        wait 30s
        wait 40s
        ",
        expect![[r#"
            app short: short lives since 0 ms, asks for 10000 ms
            app long: long lives since 0 ms, asks for 1000000 ms
            app free: free lives since 0 ms, asks for 100000 ms
            app wrong: rejected LIFETIME: the tag headroom/lifetime is "1h", but it must be a whole number of seconds from 1 to 4294967295. Write the tag in digits only.
            wait 10s: lifetime of short over, short Failing, short Failed
            wait 20s: lifetime of usual over, usual Failing, usual Failed
            wait 30s: lifetime of long over, long Failing, long Failed
            wait 40s: lifetime of free over, free Failing, free Failed
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn lifetimes_are_inherited_and_zero_is_none() {
    check(
        "
        rule provided create
        queue root lifetime 20s
        queue root.a
        queue root.b lifetime 0s
        queue root.p parent
        app app1 root.a ann
        app app2 root.b ann
        app app3 root.p.made ann
        wait 20s
        wait 1000s
        ",
        expect![[r#"
            app app3: root.p.made made
            wait 20s: lifetime of app1 over, app1 Failing, app1 Failed, lifetime of app3 over, app3 Failing, app3 Failed
            wait 1000s: root.p.made gone
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn a_changed_file_moves_the_ends_of_those_that_are_there() {
    check(
        "
        rule provided create
        queue root.a lifetime 20s
        queue root.p parent
        node n1 vcore=9
        app app1 root.a ann
        app app2 root.p.made ann
        ask a1 app1 vcore=1
        ask a2 app2 vcore=1
        wait 10s
        reload
        rule provided create
        queue root.a lifetime 100s
        queue root.p parent lifetime 5s
        wait 0s
        wait 89s
        wait 1s
        ",
        expect![[r#"
            app app2: root.p.made made
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a2: app2 Accepted, a2 on n1, app2 Running
            wait 10s: nothing
            reload: root.a changed, root.p changed
            wait 0s: lifetime of app2 over, app2 Failing, a2 to be released: LifetimeOver
            wait 89s: nothing
            wait 1s: lifetime of app1 over, app1 Failing, a1 to be released: LifetimeOver
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn a_lifetime_counts_from_the_making_of_an_application() {
    check(
        "
        queue root.a lifetime 60s
        app app1 root.a ann
        wait 50s
        app app2 root.a ann tags yunikorn.apache.org/creationTime=5
        app app3 root.a ann tags yunikorn.apache.org/creationTime=5000
        wait 10s
        wait 5s
        wait 45s
        ",
        expect![[r#"
            wait 50s: nothing
            app app2: app2 lives since 5000 ms
            wait 10s: lifetime of app1 over, app1 Failing, app1 Failed
            wait 5s: lifetime of app2 over, app2 Failing, app2 Failed
            wait 45s: lifetime of app3 over, app3 Failing, app3 Failed
        "#]],
    );
}

/// So the making is noted whether a lifetime is in force or not.
#[test]
#[doc(alias = "C27")]
fn a_lifetime_that_a_later_file_brings_counts_from_the_making() {
    check(
        "
        queue root.a
        wait 50s
        app app1 root.a ann
        app app2 root.a ann tags yunikorn.apache.org/creationTime=5
        reload
        queue root.a lifetime 60s
        wait 14s
        wait 1s
        wait 45s
        ",
        expect![[r#"
            wait 50s: nothing
            app app2: app2 lives since 5000 ms
            reload: root.a changed
            wait 14s: nothing
            wait 1s: lifetime of app2 over, app2 Failing, app2 Failed
            wait 45s: lifetime of app1 over, app1 Failing, app1 Failed
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn an_application_that_has_nothing_left_completes() {
    check(
        "
        queue root.a lifetime 60s
        node n1 vcore=9
        wait 1s
        app app1 root.a ann
        ask a1 app1 vcore=1
        wait 45s
        release a1
        wait 15s
        ",
        expect![[r#"
            wait 1s: nothing
            ask a1: app1 Accepted, a1 on n1, app1 Running
            wait 45s: nothing
            release a1: a1 released, app1 Completing
            wait 15s: lifetime of app1 over, timer of app1 stopped, app1 Completed
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn a_gang_gives_back_its_placeholders_and_members_do_not_take_their_places() {
    check(
        "
        queue root.a lifetime 60s
        node n1 vcore=9
        app g1 root.a ann gang vcore=2
        ask p1 g1 vcore=1 placeholder group w
        ask p2 g1 vcore=1 placeholder group w
        ask m1 g1 vcore=1 group w
        wait 60s
        release p2 as timeout
        release p1 as replaced
        ",
        expect![[r#"
            ask p1: g1 Accepted, p1 on n1
            ask p2: p2 on n1, g1 Running
            ask m1: m1 takes the place of p1 on n1
            wait 60s: lifetime of g1 over, g1 Failing, placeholders of g1 expired, m1 waits again, p2 to be released: LifetimeOver, m1 withdrawn
            release p2: p2 released
            release p1: p1 released, g1 Failed
        "#]],
    );
}

#[test]
#[doc(alias = "C27")]
fn a_gang_that_starts_anew_fails_in_the_end() {
    check(
        "
        queue root.a lifetime 60s
        node n1 vcore=9
        app g1 root.a ann gang vcore=4 timeout 50s
        ask p1 g1 vcore=1 placeholder group w
        wait 50s
        wait 10s
        release p1 as timeout
        ",
        expect![[r#"
            ask p1: g1 Accepted, p1 on n1
            wait 50s: placeholders of g1 expired, g1 Resuming, p1 to be released: Timeout
            wait 10s: lifetime of g1 over
            release p1: p1 released, g1 Accepted, g1 Failing, g1 Failed
        "#]],
    );
}
