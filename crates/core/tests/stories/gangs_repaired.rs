//! Gangs that lose members with a node, and replace them. No-starvation NS-33.

use expect_test::expect;

use crate::check;

/// The gang precedes an older application of its leaf, and its queue holds capacity at once.
#[test]
#[doc(alias = "NS-33")]
fn a_gang_that_lost_a_member_comes_first_and_gets_a_hold_at_once() {
    check(
        "
        gangs whole
        starvation 600s
        queue root.a max vcore=4
        queue root.b
        node n1 vcore=2
        node n2 vcore=2
        app old root.a ann
        ask o1 old vcore=1
        app train root.a ann gang vcore=3 timeout 120s
        ask p1 train vcore=1 placeholder group w
        ask p2 train vcore=1 placeholder group w
        ask p3 train vcore=1 placeholder group w
        ask m1 train vcore=1 group w
        ask m2 train vcore=1 group w
        ask m3 train vcore=1 group w
        release p1 as replaced
        release p2 as replaced
        release p3 as replaced
        ask o2 old vcore=1
        lose n2
        ask m4 train vcore=1 group w
        ask m5 train vcore=1 group w
        app small root.b bob
        ask s1 small vcore=1
        node n3 vcore=1
        release o1
        ",
        expect![[r#"
            ask o1: old Accepted, o1 on n1, old Running
            ask p1: train Accepted
              p1 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p2
              p2 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p3: p1 on n2, p2 on n1, p3 on n2, train Running
            ask m1: m1 takes the place of p1 on n2
            ask m2: m2 takes the place of p2 on n1
            ask m3: m3 takes the place of p3 on n2
            release p1: p1 replaced
            release p2: p2 replaced
            release p3: p3 replaced, placeholders of train expired
            ask o2
              o2 waits QUEUE_MAX: queue root.a has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or raise the maximum.
            lose n2: m1 lost, m3 lost
              o2 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask m4: root holds room for m4
              m4 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask m5
              m5 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask s1: small Accepted
              s1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            node n3: m4 on n3, root holds room for m5
              o2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              m5 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              s1 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release o1: o1 released, m5 on n1
        "#]],
    );
}

/// With the style `hard`, a gang that is not repaired in time fails.
#[test]
#[doc(alias = "NS-33")]
fn a_hard_gang_that_is_not_repaired_in_time_fails() {
    check(
        &NOT_REPAIRED.replace("STYLE", "hard"),
        expect![[r#"
        ask p1: train Accepted
          p1 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask p2
          p2 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask p3: p1 on n1, p2 on n2, p3 on n1, train Running
        ask m1: m1 takes the place of p1 on n1
        ask m2: m2 takes the place of p2 on n2
        ask m3: m3 takes the place of p3 on n1
        release p1: p1 replaced
        release p2: p2 replaced
        release p3: p3 replaced, placeholders of train expired
        lose n2: m2 lost
        wait 100s: nothing
        wait 100s: placeholders of train expired, train Failing, m1 to be released: Timeout, m3 to be released: Timeout
        ask l1: later Accepted
          l1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        ask m4
          m4 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        node n3: l1 on n3, later Running
          m4 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
    "#]],
    );
}

/// With the style `soft`, it continues with fewer members, and comes first no longer.
#[test]
#[doc(alias = "NS-33")]
fn a_soft_gang_that_is_not_repaired_in_time_continues() {
    check(
        &NOT_REPAIRED.replace("STYLE ", ""),
        expect![[r#"
        ask p1: train Accepted
          p1 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask p2
          p2 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask p3: p1 on n1, p2 on n2, p3 on n1, train Running
        ask m1: m1 takes the place of p1 on n1
        ask m2: m2 takes the place of p2 on n2
        ask m3: m3 takes the place of p3 on n1
        release p1: p1 replaced
        release p2: p2 replaced
        release p3: p3 replaced, placeholders of train expired
        lose n2: m2 lost
        wait 100s: nothing
        wait 100s: placeholders of train expired
        ask l1: later Accepted
          l1 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        ask m4
          m4 waits ROOT_CAPACITY: the cluster has 0 of 2 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        node n3: l1 on n3, later Running
          m4 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
    "#]],
    );
}

const NOT_REPAIRED: &str = "
    gangs whole
    queue root.a
    node n1 vcore=2
    node n2 vcore=2
    app later root.a ann
    app train root.a ann gang vcore=3 STYLE timeout 120s
    ask p1 train vcore=1 placeholder group w
    ask p2 train vcore=1 placeholder group w
    ask p3 train vcore=1 placeholder group w
    ask m1 train vcore=1 group w
    ask m2 train vcore=1 group w
    ask m3 train vcore=1 group w
    release p1 as replaced
    release p2 as replaced
    release p3 as replaced
    lose n2
    wait 100s
    wait 100s
    ask l1 later vcore=1
    ask m4 train vcore=1 group w
    node n3 vcore=1
    ";

/// Members beyond the minimum are not missed: nothing changes the order, and no timer starts.
#[test]
#[doc(alias = "NS-33")]
fn a_gang_does_not_miss_members_beyond_its_minimum() {
    check(
        "
        gangs whole
        queue root.a
        node n1 vcore=2
        node n2 vcore=1
        app train root.a ann gang vcore=2 hard timeout 120s
        ask p1 train vcore=1 placeholder group w
        ask p2 train vcore=1 placeholder group w
        ask m1 train vcore=1 group w
        ask m2 train vcore=1 group w
        release p1 as replaced
        release p2 as replaced
        ask m3 train vcore=1 group w
        lose n2
        wait 300s
        ",
        expect![[r#"
            ask p1: train Accepted
              p1 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 2 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p2: p1 on n1, p2 on n2, train Running
            ask m1: m1 takes the place of p1 on n1
            ask m2: m2 takes the place of p2 on n2
            release p1: p1 replaced
            release p2: p2 replaced, placeholders of train expired
            ask m3: m3 on n1
            lose n2: m2 lost
            wait 300s: nothing
        "#]],
    );
}
