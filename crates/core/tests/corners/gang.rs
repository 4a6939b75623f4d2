//! Gangs: placeholders that come, go and give their places.

use expect_test::expect;
use headroom_core::books::ApplicationState;
use headroom_core::testkit::{amounts, leaf, parent};
use headroom_core::{
    AllocationEvent, Ask, Command, Event, Name, PreemptionCause, Submit, Termination,
};

use crate::check;
use crate::cluster::{Cluster, ask, here, submit};

#[test]
fn placeholders_leave_it_accepted_until_they_have_all_and_a_member_starts_nothing() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app g root.a ann gang vcore=4
        ask p1 g vcore=2 placeholder group w
        show g
        ask p2 g vcore=2 placeholder group w
        ask m1 g vcore=2 group w
        release p1 as replaced
        show g
        show root.a
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1
              g: Accepted in root.a, no group, uses {vcore: 2000 m}, user headroom none
            ask p2: p2 on n1, g Running
            ask m1: m1 takes the place of p1 on n1
            release p1: p1 replaced
              g: Running in root.a, no group, uses {vcore: 4000 m}, user headroom none
              root.a: in force {vcore: 8000 m}, uses {vcore: 4000 m}, headroom {vcore: 4000 m}, share 0.5, runs 1
        "#]],
    );
}

#[test]
fn a_gang_of_which_nothing_ran_completes_with_its_last_placeholder() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app g root.a ann gang vcore=4
        ask p1 g vcore=2 placeholder group w
        ask p2 g vcore=9 placeholder group w
        release p2
        show g
        release p1
        wait 30s
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1
            ask p2
              p2 waits IMPOSSIBLE: no release can start the ask: the ask needs 9 vcore, but no node in use has more than 8. Add a larger node, or request less.
            release p2: p2 withdrawn
              g: Accepted in root.a, no group, uses {vcore: 2000 m}, user headroom none
            release p1: p1 released, placeholders of g expired, g Completing
            wait 30s: g Completed
        "#]],
    );
}

#[test]
fn whoever_has_no_place_to_take_is_placed_as_any_other() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app g root.a ann gang vcore=1
        ask p1 g vcore=1 placeholder group w
        ask o1 g vcore=1 group other
        ask m1 g vcore=1 group w
        release p1 as replaced
        ask m2 g vcore=1 group w
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1, g Running
            ask o1: o1 on n1
            ask m1: m1 takes the place of p1 on n1
            release p1: p1 replaced, placeholders of g expired
            ask m2: m2 on n1
        "#]],
    );
}

#[test]
fn placeholders_that_are_too_small_are_given_up_at_once_whatever_their_sizes() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app g root.a ann gang vcore=6
        ask p1 g vcore=1 placeholder group w
        ask p2 g vcore=2 placeholder group w
        ask p3 g vcore=3 placeholder group w
        ask other g vcore=1 placeholder group x
        ask m1 g vcore=4 group w
        release p1 as timeout
        release p3 as timeout
        release p2 as timeout
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1
            ask p2: p2 on n1
            ask p3: p3 on n1, g Running
            ask other: other on n1
            ask m1: p1 to be released: Timeout, p2 to be released: Timeout, p3 to be released: Timeout
              m1 waits GANG_INCOMPLETE: application g has placeholders for task group w, but the ask cannot replace any of them yet. Wait until a placeholder is placed or released.
            release p1: p1 released
            release p3: p3 released
            release p2: p2 released, m1 on n1
        "#]],
    );
}

#[test]
fn a_release_that_comes_twice_counts_once() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app g root.a ann gang vcore=2
        ask p1 g vcore=1 placeholder group w
        ask p2 g vcore=1 placeholder group w
        ask m1 g vcore=1 group w
        release p1 as replaced
        release p1 as replaced g
        release p2 as timeout
        release p2 as timeout g
        show g
        show root.a
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1
            ask p2: p2 on n1, g Running
            ask m1: m1 takes the place of p1 on n1
            release p1: p1 replaced
            release p1: nothing
            release p2: p2 released, placeholders of g expired
            release p2: nothing
              g: Running in root.a, no group, uses {vcore: 1000 m}, user headroom none
              root.a: in force {vcore: 8000 m}, uses {vcore: 1000 m}, headroom {vcore: 7000 m}, share 0.125, runs 1
        "#]],
    );
}

#[test]
fn members_take_places_that_were_reported_after_a_restart() {
    check(
        "
        queue root.a
        node n1 vcore=8
        app g root.a ann gang vcore=2
        ask p1 g vcore=1 on n1 placeholder group w
        ask p2 g vcore=1 on n1 placeholder group w
        ask m1 g vcore=1 group w
        ask m2 g vcore=1 group w
        release p1 as replaced
        release p2 as replaced
        show root.a
        ",
        expect![[r#"
            ask p1: g Accepted, p1 on n1
            ask p2: p2 on n1, g Running
            ask m1: m1 takes the place of p1 on n1
            ask m2: m2 takes the place of p2 on n1
            release p1: p1 replaced
            release p2: p2 replaced, placeholders of g expired
              root.a: in force {vcore: 8000 m}, uses {vcore: 2000 m}, headroom {vcore: 6000 m}, share 0.25, runs 1
        "#]],
    );
}

fn gang(vcore: i64) -> Cluster {
    let mut cluster = Cluster::with(parent("root", vec![leaf("a")]));
    for node in ["n1", "n2"] {
        cluster.add_node(node, amounts([("vcore", 2)]));
    }
    let placeholder_ask = amounts([("vcore", vcore)]);
    cluster.command(&Command::Submit(Submit { placeholder_ask, ..submit("g", "root.a") }));
    cluster
}

fn one(cluster: &mut Cluster, key: &str, placeholder: bool, vcore: i64, node: Option<&str>) {
    let (task_group, node) = (Name::new("w"), node.map(Name::new));
    let one = ask(key, "g", amounts([("vcore", vcore)]));
    cluster.command(&Command::Ask(Ask { placeholder, task_group, node, ..one }));
}

fn preempt(cluster: &mut Cluster, key: &str) {
    let (books, partition) = (&cluster.world.books, cluster.partition());
    let victim = *books.partition(partition).allocations.get(key).unwrap();
    let cause = PreemptionCause::Quota(books.queue_at(partition, "root.a").unwrap());
    cluster.apply(&Event::Allocation(AllocationEvent::Preempted { victim, cause }));
}

/// How many placeholders the group had, replaced ones, and those that went otherwise.
fn counts(cluster: &Cluster) -> [u64; 3] {
    let group = &cluster.application("g").task_groups[0];
    [group.count, group.replaced, group.timed_out]
}

#[test]
fn a_placeholder_counts_as_timed_out_however_it_went_without_a_member() {
    let mut cluster = gang(6);
    for (key, vcore, node) in [("p1", 1, "n1"), ("p2", 1, "n1"), ("p3", 1, "n2")] {
        one(&mut cluster, key, true, vcore, Some(node));
    }
    one(&mut cluster, "p4", true, 3, None);
    assert_eq!(counts(&cluster), [4, 0, 0]);
    preempt(&mut cluster, "p1");
    assert_eq!(counts(&cluster), [4, 0, 0], "it is there still");
    cluster.release_as("p1", "g", Termination::Preempted);
    assert_eq!(counts(&cluster), [4, 0, 1]);
    cluster.command(&Command::RemoveNode { partition: here(), node: "n2".into() });
    assert_eq!(counts(&cluster), [4, 0, 2]);
    cluster.wait(15 * 60);
    assert_eq!(counts(&cluster), [4, 0, 3], "the one that waits");
    cluster.release_as("p2", "g", Termination::Timeout);
    assert_eq!(counts(&cluster), [4, 0, 4]);
}

#[test]
fn no_member_takes_the_place_of_a_placeholder_that_others_need() {
    let mut cluster = gang(1);
    one(&mut cluster, "p1", true, 1, Some("n1"));
    preempt(&mut cluster, "p1");
    one(&mut cluster, "m1", false, 1, None);
    let waits = |cluster: &Cluster| cluster.application("g").requests.len();
    assert_eq!((waits(&cluster), counts(&cluster)), (1, [1, 0, 0]));
    cluster.release_as("p1", "g", Termination::Preempted);
    assert_eq!((waits(&cluster), counts(&cluster)), (0, [1, 0, 1]), "it is placed by itself");
    assert!(!cluster.application("g").allocations[0].took_place);
}

#[test]
fn the_number_of_placeholders_follows_them_wherever_they_go() {
    let mut cluster = gang(4);
    let number = |cluster: &Cluster| {
        let row = cluster.world.books.partition(cluster.partition());
        (row.allocation_count, row.placeholder_count)
    };
    for (key, node) in [("p1", "n1"), ("p2", "n1"), ("p3", "n2"), ("p4", "n2")] {
        one(&mut cluster, key, true, 1, Some(node));
    }
    assert_eq!(number(&cluster), (4, 4));
    one(&mut cluster, "m1", false, 1, None);
    assert_eq!(number(&cluster), (4, 4), "on its way");
    cluster.release_as("p1", "g", Termination::PlaceholderReplaced);
    assert_eq!(number(&cluster), (4, 3));
    cluster.release("p2", "g");
    assert_eq!(number(&cluster), (3, 2));
    cluster.command(&Command::RemoveNode { partition: here(), node: "n1".into() });
    assert_eq!(number(&cluster), (2, 2));
    let application = "g".into();
    cluster.command(&Command::RemoveApplication { partition: here(), application });
    assert_eq!(number(&cluster), (0, 0));
}

#[test]
fn the_timer_of_placeholders_asks_back_neither_swapped_nor_preempted_ones() {
    // The gang is complete, and the application runs; or it is not, and starts again.
    for (size, state) in [(3, ApplicationState::Running), (9, ApplicationState::Resuming)] {
        let mut cluster = gang(size);
        for (key, node) in [("p1", "n1"), ("p2", "n1"), ("p3", "n2")] {
            one(&mut cluster, key, true, 1, Some(node));
        }
        preempt(&mut cluster, "p1");
        one(&mut cluster, "m1", false, 1, None);
        let start = cluster.world.journal.len();
        cluster.wait(15 * 60);
        let key = |(_, event): &(_, Event)| match event {
            Event::Allocation(AllocationEvent::ReleaseAsked { allocation, .. }) => {
                Some(cluster.world.books.allocation(*allocation).key.clone())
            }
            _ => None,
        };
        let asked: Vec<Name> = cluster.world.journal[start..].iter().filter_map(key).collect();
        assert_eq!(asked, ["p3"], "{state}");
        assert_eq!(cluster.application("g").state, state);
    }
}
