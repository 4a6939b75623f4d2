//! Gangs: what follows from confirmations that are late, repeated or of another kind, from timers,
//! and from nodes that leave.

use expect_test::expect;

use crate::check;

#[test]
fn a_member_that_the_rm_withdraws_in_mid_swap_is_gone_for_good() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        ask r G c=2 group t
        release r
        release p1 as replaced
        show root.a
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            ask r: r takes the place of p1 on N1
            release r: r waits again, r withdrawn
            release p1: p1 released
              root.a: in force {c: 4}, uses {c: 2}, headroom {c: 2}, share 0.5, runs 1
        "#]],
    );
}

#[test]
fn a_placeholder_that_the_rm_stops_in_mid_swap_leaves_its_member_waiting() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        ask r G c=2 group t
        release p1
        release p1 as replaced G
        release p2 as replaced
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            ask r: r takes the place of p1 on N1
            release p1: r waits again, p1 released, r takes the place of p2 on N1
            release p1: nothing
            release p2: G Completing, p2 replaced, placeholders of G expired, G Running
        "#]],
    );
}

#[test]
fn completing_with_placeholders_left_gives_them_up_and_ends_with_the_last() {
    check(
        "
        queue root.a
        limit root.a user ann c=20 apps=1
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group u
        ask r G c=2 group t
        release p1 as replaced
        release r
        show user ann
        wait 30s
        wait 30s
        release p2 as timeout
        show user ann
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            ask r: r takes the place of p1 on N1
            release p1: p1 replaced
            release r: r released, G Completing
              ann at root.a: uses {c: 2}, left {c: 18}, runs 0
              ann at root: uses {c: 2}, left none, runs 0
            wait 30s: p2 to be released: Timeout, timer of G stopped
            wait 30s: nothing
            release p2: p2 released, placeholders of G expired, G Completed
              ann at root.a: uses {}, left {c: 20}, runs 0
              ann at root: uses {}, left none, runs 0
        "#]],
    );
}

#[test]
fn the_placeholder_timer_skips_what_the_rm_was_asked_for_already() {
    check(
        "
        queue root.a
        node N1 c=5
        app G root.a ann gang c=8 timeout 10s
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        ask p3 G c=2 placeholder group t
        ask r G c=2 group t
        wait 10s
        release p1 as replaced
        release p2 as timeout
        show G
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1
            ask p3
              p3 waits ROOT_CAPACITY: the cluster has 1 of 5 c available, but the ask needs 2. Wait for a release, or add nodes.
            ask r: r takes the place of p1 on N1
            wait 10s: placeholders of G expired, G Resuming, p2 to be released: Timeout, p3 withdrawn
            release p1: p1 replaced
            release p2: p2 released, G Accepted
              G: Accepted in root.a, no group, uses {c: 2}, user headroom none
        "#]],
    );
}

#[test]
fn a_soft_timeout_takes_back_members_that_run_already() {
    check(
        "
        queue root.a
        node N1 c=5
        app G root.a ann gang c=8 timeout 10s
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        ask p3 G c=2 placeholder group t
        ask r G c=2 group t
        release p1 as replaced
        wait 10s
        release p2 as timeout
        release r as timeout
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1
            ask p3
              p3 waits ROOT_CAPACITY: the cluster has 1 of 5 c available, but the ask needs 2. Wait for a release, or add nodes.
            ask r: r takes the place of p1 on N1
            release p1: p1 replaced
            wait 10s: placeholders of G expired, G Resuming, p2 to be released: Timeout, r to be released: Timeout, p3 withdrawn
            release p2: p2 released, G Accepted
            release r: r released, G Completing
        "#]],
    );
}

#[test]
fn all_given_back_at_once_leaves_it_completing_with_no_timer() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann
        ask r G c=2
        release-all G
        wait 3600s
        show G
        ask s G c=2
        release s
        wait 30s
        ",
        expect![[r#"
            ask r: G Accepted, r on N1, G Running
            release-all G: r released, G Completing
            wait 3600s: nothing
              G: Completing in root.a, no group, uses {}, user headroom none
            ask s: G Running, s on N1
            release s: s released, G Completing
            wait 30s: G Completed
        "#]],
    );
}

#[test]
fn a_node_that_leaves_takes_both_halves_of_a_swap_or_only_the_member() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        node N2 c=2
        ask r1 G c=2 group t requires N2
        lose N2
        release p1 as replaced
        node N3 c=2
        ask r2 G c=2 group t
        lose N1
        show G
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            ask r1: r1 takes the place of p1 on N2
            lose N2: r1 waits again
              r1 waits REQUIRED_NODE_ABSENT: the ask requires node N2, which is not registered. Register the node, or withdraw the ask.
            release p1: p1 released
            ask r2: r2 takes the place of p2 on N1
            lose N1: r2 waits again, p2 lost, placeholders of G expired, r2 on N3
              r1 waits IMPOSSIBLE: no release can start the ask: the ask requires node N2, which is not registered. Register the node, or withdraw the ask.
              G: Running in root.a, no group, uses {c: 2}, user headroom none
        "#]],
    );
}

#[test]
fn a_swap_goes_ahead_on_a_drained_node_and_none_for_an_unknown_group() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=2
        ask p G c=2 placeholder group t
        ask x G c=1 group unknown
        drain N1
        ask r G c=2 group t
        ask s G c=1 group t
        release p as replaced
        undrain N1
        ",
        expect![[r#"
            ask p: G Accepted, p on N1, G Running
            ask x: x on N1
            drain N1: nothing
            ask r: r takes the place of p on N1
            ask s
              s waits GANG_INCOMPLETE: application G has placeholders for task group t, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            release p: p replaced, placeholders of G expired
              s waits IMPOSSIBLE: no release can start the ask: every node that is large enough is draining. End the draining of such a node, or add nodes.
            undrain N1: s on N1
        "#]],
    );
}

#[test]
fn members_take_the_places_of_placeholders_that_were_reported_after_a_restart() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 on N1 placeholder group t
        ask p2 G c=2 on N1 placeholder group t
        ask r G c=1 group t
        release p1 as replaced
        show root.a
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            ask r: r takes the place of p1 on N1
            release p1: p1 replaced
              root.a: in force {c: 4}, uses {c: 3}, headroom {c: 1}, share 0.75, runs 1
        "#]],
    );
}

#[test]
fn an_application_whose_only_placeholder_goes_completes_although_nothing_ran() {
    check(
        "
        queue root.a
        node N1 c=4
        app G root.a ann gang c=4
        ask p1 G c=2 placeholder group t
        ask r G c=3 group t
        release r
        release p1
        wait 30s
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask r: p1 to be released: Timeout
              r waits GANG_INCOMPLETE: application G has placeholders for task group t, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            release r: r withdrawn
            release p1: p1 released, placeholders of G expired, G Completing
            wait 30s: G Completed
        "#]],
    );
}
