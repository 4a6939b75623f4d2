//! Gangs: the worked examples of scheduling §23, W13 to W19.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "scheduling W13")]
fn a_gang_counts_as_running_while_its_placeholders_are_placed() {
    check(
        "
        queue root.a apps=1
        node N1 c=1
        app G root.a ann gang c=2
        app H root.a bob
        ask g1 G c=1 placeholder group t
        ask g2 G c=1 placeholder group t
        ask h H c=1
        node N2 c=2
        show root.a
        release-all G
        ask g3 G c=1
        show root.a
        ",
        expect![[r#"
            ask g1: G Accepted, g1 on N1
            ask g2
              g2 waits ROOT_CAPACITY: the cluster has 0 of 1 c available, but the ask needs 1. Wait for a release, or add nodes.
            ask h: H Accepted
              h waits MAX_APPS: queue root.a runs 0 of at most 1 application; 1 more is starting. Wait for one to end, or raise `maxapplications`.
            node N2: g2 on N2, G Running
              h waits MAX_APPS: queue root.a runs 1 of at most 1 application. Wait for one to end, or raise `maxapplications`.
              root.a: in force {c: 3}, uses {c: 2}, headroom {c: 1}, share 0.6666666666666666, runs 1
            release-all G: g1 released, g2 released, placeholders of G expired, G Completing, h on N1, H Running
            ask g3: G Running, g3 on N2
              root.a: in force {c: 3}, uses {c: 2}, headroom {c: 1}, share 0.6666666666666666, runs 2
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W14")]
fn a_smaller_member_gives_the_rest_back_when_it_is_confirmed() {
    check(
        "
        queue root.a
        node N1 m=40
        app G root.a ann gang m=20
        ask p1 G m=10 placeholder group t
        ask p2 G m=10 placeholder group t
        show root.a
        ask r G m=6 group t
        show root.a
        show user ann
        release p1 as replaced
        show root.a
        show user ann
        release p1 as replaced G
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
              root.a: in force {m: 40}, uses {m: 20}, headroom {m: 20}, share 0.5, runs 1
            ask r: r takes the place of p1 on N1
              root.a: in force {m: 40}, uses {m: 20}, headroom {m: 20}, share 0.5, runs 1
              ann at root.a: uses {m: 20}, left none, runs 1
              ann at root: uses {m: 20}, left none, runs 1
            release p1: p1 replaced
              root.a: in force {m: 40}, uses {m: 16}, headroom {m: 24}, share 0.4, runs 1
              ann at root.a: uses {m: 16}, left none, runs 1
              ann at root: uses {m: 16}, left none, runs 1
            release p1: nothing
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W15")]
fn placeholders_that_are_too_small_are_all_given_up() {
    check(
        "
        queue root.a
        node N1 m=12
        app G root.a ann gang m=10
        ask p1 G m=5 placeholder group t
        ask p2 G m=5 placeholder group t
        ask r G m=8 group t
        release p1 as timeout
        release p2 as timeout
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1, G Running
            ask r: p1 to be released: Timeout, p2 to be released: Timeout
              r waits GANG_INCOMPLETE: application G has placeholders for task group t, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            release p1: p1 released
            release p2: p2 released, placeholders of G expired, r on N1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W16")]
fn a_member_on_another_node_is_confirmed_when_the_placeholders_node_is_lost() {
    check(
        "
        queue root.a
        node N1 m=4
        app G root.a ann gang m=4
        ask ph G m=4 placeholder group t
        node N2 m=5
        ask r G m=3 group t requires N2
        show root.a
        lose N1
        show root.a
        show user ann
        ",
        expect![[r#"
            ask ph: G Accepted, ph on N1, G Running
            ask r: r takes the place of ph on N2
              root.a: in force {m: 9}, uses {m: 4}, headroom {m: 5}, share 0.4444444444444444, runs 1
            lose N1: G Completing, ph replaced, placeholders of G expired, G Running
              root.a: in force {m: 5}, uses {m: 3}, headroom {m: 2}, share 0.6, runs 1
              ann at root.a: uses {m: 3}, left none, runs 1
              ann at root: uses {m: 3}, left none, runs 1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W17")]
fn a_soft_gang_that_is_not_complete_in_time_starts_again_without_one() {
    check(
        "
        queue root.a
        node N1 c=5
        app G root.a ann gang c=6
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        ask p3 G c=2 placeholder group t
        wait 899s
        wait 1s
        show root.a
        release p1 as timeout
        show root.a
        release p2 as timeout
        show root.a
        ask r G c=2 group t
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1
            ask p3
              p3 waits ROOT_CAPACITY: the cluster has 1 of 5 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 899s: nothing
            wait 1s: placeholders of G expired, G Resuming, p1 to be released: Timeout, p2 to be released: Timeout, p3 withdrawn
              root.a: in force {c: 5}, uses {c: 4}, headroom {c: 1}, share 0.8, runs 0
            release p1: p1 released
              root.a: in force {c: 5}, uses {c: 2}, headroom {c: 3}, share 0.4, runs 0
            release p2: p2 released, G Accepted
              root.a: in force {c: 5}, uses {}, headroom {c: 5}, share 0, runs 0
            ask r: r on N1, G Running
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W18")]
fn a_hard_gang_that_is_not_complete_in_time_fails() {
    check(
        "
        queue root.a
        node N1 c=5
        app G root.a ann gang c=6 hard timeout 60s
        ask p1 G c=2 placeholder group t
        ask p2 G c=2 placeholder group t
        ask p3 G c=2 placeholder group t
        wait 60s
        wait 3600s
        show root.a
        release p1 as timeout
        release p2 as timeout
        show root.a
        show user ann
        ",
        expect![[r#"
            ask p1: G Accepted, p1 on N1
            ask p2: p2 on N1
            ask p3
              p3 waits ROOT_CAPACITY: the cluster has 1 of 5 c available, but the ask needs 2. Wait for a release, or add nodes.
            wait 60s: placeholders of G expired, G Failing, p1 to be released: Timeout, p2 to be released: Timeout, p3 withdrawn
            wait 3600s: nothing
              root.a: in force {c: 5}, uses {c: 4}, headroom {c: 1}, share 0.8, runs 0
            release p1: p1 released
            release p2: p2 released, G Failed
              root.a: in force {c: 5}, uses {}, headroom {c: 5}, share 0, runs 0
              ann: no tracker
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W19")]
fn the_last_placeholder_has_its_application_complete_and_run_again() {
    check(
        "
        queue root.a
        node N1 m=10
        app G root.a ann gang m=10
        ask p G m=10 placeholder group t
        ask r G m=10 group t
        release p as replaced
        show root.a
        wait 30s
        show G
        ",
        expect![[r#"
            ask p: G Accepted, p on N1, G Running
            ask r: r takes the place of p on N1
            release p: G Completing, p replaced, placeholders of G expired, G Running
              root.a: in force {m: 10}, uses {m: 10}, headroom {m: 0}, share 1, runs 1
            wait 30s: nothing
              G: Running in root.a, no group, uses {m: 10}, user headroom none
        "#]],
    );
}

#[test]
fn the_example_of_the_guide_happens_as_it_is_told() {
    let page = include_str!("../../../../docs/gangs.md");
    let block = |kind: &str| {
        let (_, after) = page.split_once(&format!("```{kind}\n")).expect("the page has the block");
        after.split_once("```").expect("a block ends").0
    };
    assert_eq!(headroom_core::testkit::tell(block("story")), block("text"));
}
