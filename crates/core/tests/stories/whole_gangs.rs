//! Gangs that are placed as a whole: in one step, or not at all, and one at a time where there is no room for all.

use expect_test::expect;

use super::check;

/// All placeholders are placed in the step in which the last one arrives. Until then, none is.
#[test]
#[doc(alias = "NS-30")]
fn the_placeholders_of_a_gang_are_placed_in_one_step() {
    check(
        "
        gangs whole
        queue root.a
        node n1 vcore=2
        node n2 vcore=2
        app train root.a ann gang vcore=3
        ask p1 train vcore=1 placeholder group w
        ask p2 train vcore=1 placeholder group w
        ask p3 train vcore=1 placeholder group w
        ",
        expect![[r#"
            ask p1: train Accepted
              p1 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p2
              p2 waits GANG_INCOMPLETE: application train has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask p3: p1 on n1, p2 on n2, p3 on n1, train Running
        "#]],
    );
}

/// Placed one by one, each of two gangs holds what the other needs, until one of them times out.
#[test]
#[doc(alias = "NS-30")]
fn two_gangs_wait_for_each_other_where_placeholders_are_placed_one_by_one() {
    check(
        TWO_GANGS,
        expect![[r#"
            ask one-1: one Accepted, one-1 on n1
            ask two-1: two Accepted, two-1 on n1
            ask one-2: one-2 on n1
            ask two-2: two-2 on n1
            ask one-3
              one-3 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask two-3
              two-3 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask three-1: three Accepted
              three-1 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask three-2
              three-2 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release one-1: one-1 released, one-3 on n1
            release one-2: one-2 released, two-3 on n1, two Running
            wait 60s: placeholders of one expired, one Resuming, one-3 to be released: Timeout, placeholders of two expired, two-1 to be released: Timeout, two-2 to be released: Timeout, two-3 to be released: Timeout
        "#]],
    );
}

/// As a whole, one of them gathers what becomes free, and the other waits and holds nothing.
#[test]
#[doc(alias = "NS-30")]
fn of_two_gangs_one_takes_room_as_it_comes_and_the_other_takes_none() {
    check(
        &format!("gangs whole\n{TWO_GANGS}"),
        expect![[r#"
        ask one-1: one Accepted
          one-1 waits GANG_INCOMPLETE: application one has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask two-1: two Accepted
          two-1 waits GANG_INCOMPLETE: application two has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask one-2
          one-2 waits GANG_INCOMPLETE: application one has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask two-2
          two-2 waits GANG_INCOMPLETE: application two has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask one-3: one-1 on n1, one-2 on n1, one-3 on n1, one Running
        ask two-3: two-1 on n1
          two-2 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
          two-3 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        ask three-1: three Accepted
          three-1 waits GANG_INCOMPLETE: application three has not requested all placeholders of its gang yet, which need vcore 2 in all. Request the missing placeholders, or submit the application with a smaller gang.
        ask three-2
          three-1 waits BEHIND_GANG: gang two reserves capacity until it is complete, and there is not enough capacity for all placeholders of this gang at once. Wait until gang two is complete or its timeout ends, or add nodes.
          three-2 waits BEHIND_GANG: gang two reserves capacity until it is complete, and there is not enough capacity for all placeholders of this gang at once. Wait until gang two is complete or its timeout ends, or add nodes.
        release one-1: one-1 released, two-2 on n1
        release one-2: one-2 released, two-3 on n1, two Running
          three-1 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
          three-2 waits ROOT_CAPACITY: the cluster has 0 of 4 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        wait 60s: placeholders of one expired, one-3 to be released: Timeout, placeholders of two expired, two-1 to be released: Timeout, two-2 to be released: Timeout, two-3 to be released: Timeout
    "#]],
    );
}

const TWO_GANGS: &str = "
    queue root.a
    node n1 vcore=4
    app one root.a ann gang vcore=3 timeout 60s
    app two root.a eve gang vcore=3 timeout 60s
    ask one-1 one vcore=1 placeholder group w
    ask two-1 two vcore=1 placeholder group w
    ask one-2 one vcore=1 placeholder group w
    ask two-2 two vcore=1 placeholder group w
    ask one-3 one vcore=1 placeholder group w
    ask two-3 two vcore=1 placeholder group w
    app three root.a dan gang vcore=2 timeout 60s
    ask three-1 three vcore=1 placeholder group w
    ask three-2 three vcore=1 placeholder group w
    release one-1
    release one-2
    wait 60s
    ";

/// A gang that fits at once starts although another gathers.
#[test]
#[doc(alias = "NS-30")]
fn a_gang_that_fits_at_once_passes_one_that_gathers() {
    check(
        "
        gangs whole
        queue root.a max vcore=4
        queue root.b
        node n1 vcore=8
        app now root.a bob
        ask now-1 now vcore=2
        app one root.a ann gang vcore=4
        ask one-1 one vcore=2 placeholder group w
        ask one-2 one vcore=2 placeholder group w
        app two root.b eve gang vcore=4
        ask two-1 two vcore=2 placeholder group w
        ask two-2 two vcore=2 placeholder group w
        app three root.b eve gang vcore=3
        ask three-1 three vcore=1 placeholder group v
        ask three-2 three vcore=2 placeholder group w
        release two-1
        release now-1
        ",
        expect![[r#"
            ask now-1: now Accepted, now-1 on n1, now Running
            ask one-1: one Accepted
              one-1 waits GANG_INCOMPLETE: application one has not requested all placeholders of its gang yet, which need vcore 4 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask one-2: one-1 on n1
              one-2 waits QUEUE_MAX: queue root.a has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            ask two-1: two Accepted
              two-1 waits GANG_INCOMPLETE: application two has not requested all placeholders of its gang yet, which need vcore 4 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask two-2: two-1 on n1, two-2 on n1, two Running
            ask three-1: three Accepted
              three-1 waits GANG_INCOMPLETE: application three has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask three-2
              three-1 waits BEHIND_GANG: gang one reserves capacity until it is complete, and there is not enough capacity for all placeholders of this gang at once. Wait until gang one is complete or its timeout ends, or add nodes.
              three-2 waits BEHIND_GANG: gang one reserves capacity until it is complete, and there is not enough capacity for all placeholders of this gang at once. Wait until gang one is complete or its timeout ends, or add nodes.
            release two-1: two-1 released
            release now-1: now-1 released, now Completing, three-1 on n1, three-2 on n1, three Running
              one-2 waits ROOT_CAPACITY: the cluster has 1 of 8 vcore available, but the ask needs 2. Wait for a release, or add nodes.
        "#]],
    );
}

/// The gang that gathers gives up when its time is over, and the next one starts.
#[test]
#[doc(alias = "NS-30")]
fn a_gang_gathers_for_no_longer_than_its_timeout() {
    check(
        "
        gangs whole
        queue root.a
        node n1 vcore=3
        app now root.a bob
        ask now-1 now vcore=1
        app one root.a ann gang vcore=3 timeout 60s
        ask one-1 one vcore=1 placeholder group w
        ask one-2 one vcore=1 placeholder group w
        ask one-3 one vcore=1 placeholder group w
        app two root.a eve gang vcore=2 timeout 60s
        ask two-1 two vcore=1 placeholder group w
        ask two-2 two vcore=1 placeholder group w
        wait 60s
        release one-1 as timeout
        release one-2 as timeout
        ",
        expect![[r#"
            ask now-1: now Accepted, now-1 on n1, now Running
            ask one-1: one Accepted
              one-1 waits GANG_INCOMPLETE: application one has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask one-2
              one-2 waits GANG_INCOMPLETE: application one has not requested all placeholders of its gang yet, which need vcore 3 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask one-3: one-1 on n1, one-2 on n1
              one-3 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            ask two-1: two Accepted
              two-1 waits GANG_INCOMPLETE: application two has not requested all placeholders of its gang yet, which need vcore 2 in all. Request the missing placeholders, or submit the application with a smaller gang.
            ask two-2
              two-1 waits BEHIND_GANG: gang one reserves capacity until it is complete, and there is not enough capacity for all placeholders of this gang at once. Wait until gang one is complete or its timeout ends, or add nodes.
              two-2 waits BEHIND_GANG: gang one reserves capacity until it is complete, and there is not enough capacity for all placeholders of this gang at once. Wait until gang one is complete or its timeout ends, or add nodes.
            wait 60s: placeholders of one expired, one Resuming, one-1 to be released: Timeout, one-2 to be released: Timeout, one-3 withdrawn
              two-1 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
              two-2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
            release one-1: one-1 released, two-1 on n1
            release one-2: one-2 released, one Accepted, two-2 on n1, two Running
        "#]],
    );
}

/// A gang for which there can never be room places nothing, and the next one starts.
#[test]
#[doc(alias = "NS-01")]
#[doc(alias = "NS-02")]
fn a_gang_larger_than_the_cluster_places_nothing() {
    check(
        "
        gangs whole
        queue root.a
        queue root.b prop application.sort.policy=fifo-strict
        node n1 vcore=2
        node n2 vcore=2
        app big root.a ann gang vcore=5
        ask p1 big vcore=1 placeholder group w
        ask p2 big vcore=1 placeholder group w
        ask p3 big vcore=1 placeholder group w
        ask p4 big vcore=1 placeholder group w
        ask p5 big vcore=1 placeholder group w
        app mixed root.b ann gang vcore=5
        ask m1 mixed vcore=2 placeholder group w
        ask m2 mixed vcore=3 placeholder group v
        app next root.b bob
        ask next next vcore=1
        node n3 vcore=4
        ",
        expect![[r#"
            ask p1: big Accepted
              p1 waits IMPOSSIBLE: no release can start the gang: its 5 placeholders need vcore 1 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
            ask p2
              p2 waits IMPOSSIBLE: no release can start the gang: its 5 placeholders need vcore 1 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
            ask p3
              p3 waits IMPOSSIBLE: no release can start the gang: its 5 placeholders need vcore 1 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
            ask p4
              p4 waits IMPOSSIBLE: no release can start the gang: its 5 placeholders need vcore 1 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
            ask p5
              p5 waits IMPOSSIBLE: no release can start the gang: its 5 placeholders need vcore 1 each, but the nodes in use can hold 4 of them. Add nodes, or request less.
            ask m1: mixed Accepted
              m1 waits IMPOSSIBLE: no release can start the gang: its placeholders need 5 vcore in all, but the nodes have 4. Add nodes, or request less.
            ask m2
              m2 waits IMPOSSIBLE: no release can start the ask: the ask needs 3 vcore, but no node in use has more than 2. Add a larger node, or request less.
            ask next: next Accepted, next on n1, next Running
            node n3: p1 on n2, p2 on n3, p3 on n3, p4 on n1, p5 on n2, big Running, m1 on n3
              m2 waits ROOT_CAPACITY: the cluster has 0 of 8 vcore available, but the ask needs 3. Wait for a release, or add nodes.
        "#]],
    );
}
