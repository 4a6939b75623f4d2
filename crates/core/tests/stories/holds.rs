//! Room that queues hold for asks which have waited too long. No-starvation NS-20, NS-21.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "NS-20")]
fn what_is_released_below_a_full_parent_stays_for_a_large_ask_that_has_waited_too_long() {
    check(
        "
        starvation 60s
        queue root.team max vcore=10 parent
        queue root.team.small
        queue root.team.large
        node n1 vcore=20
        app s root.team.small ann
        ask s1 s vcore=3
        ask s2 s vcore=3
        ask s3 s vcore=3
        app l root.team.large bob
        ask l1 l vcore=8
        release s1
        ask s4 s vcore=3
        wait 61s
        release s2
        ask s5 s vcore=3
        ask s6 s vcore=2
        release s3
        release s4
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask s2: s2 on n1
            ask s3: s3 on n1
            ask l1: l Accepted
              l1 waits QUEUE_MAX: queue root.team has 1 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            release s1: s1 released
              l1 waits QUEUE_MAX: queue root.team has 4 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            ask s4: s4 on n1
              l1 waits QUEUE_MAX: queue root.team has 1 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            wait 61s: root.team holds room for l1
            release s2: s2 released
              l1 waits QUEUE_MAX: queue root.team has 4 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            ask s5
              s5 waits HELD: queue root.team holds capacity since 61000 ms for an ask that has waited too long. That leaves 0 vcore for others, but this ask needs 3. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
            ask s6
              s6 waits HELD: queue root.team holds capacity since 61000 ms for an ask that has waited too long. That leaves 0 vcore for others, but this ask needs 2. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
            release s3: s3 released
              l1 waits QUEUE_MAX: queue root.team has 7 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            release s4: s4 released, l1 on n1, l Running, s6 on n1
              s5 waits QUEUE_MAX: queue root.team has 0 of 10 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "NS-20")]
fn types_that_the_ask_with_the_hold_does_not_need_are_for_everybody() {
    check(
        "
        starvation 10s
        queue root.team max vcore=10 gpu=2 parent
        queue root.team.small
        queue root.team.large
        node n1 vcore=20 gpu=2
        app s root.team.small ann
        ask s1 s vcore=9
        app l root.team.large bob
        ask l1 l vcore=8
        wait 11s
        ask s2 s gpu=1
        ask s3 s vcore=1 gpu=1
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask l1: l Accepted
              l1 waits QUEUE_MAX: queue root.team has 1 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            wait 11s: root.team holds room for l1
            ask s2: s2 on n1
            ask s3
              s3 waits HELD: queue root.team holds capacity since 11000 ms for an ask that has waited too long. That leaves 0 vcore for others, but this ask needs 1. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
        "#]],
    );
}

#[test]
#[doc(alias = "NS-21")]
fn a_hold_that_is_not_filled_in_time_goes_to_the_next_and_its_owner_to_the_end() {
    check(
        "
        starvation 10s
        queue root.team max vcore=10 parent
        queue root.team.small
        queue root.team.one
        queue root.team.two
        node n1 vcore=20
        app s root.team.small ann
        ask s1 s vcore=7
        ask s2 s vcore=2
        app a root.team.one bob
        ask a1 a vcore=8
        app b root.team.two eve
        ask b1 b vcore=3
        wait 11s
        wait 30s
        wait 11s
        release s2
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask s2: s2 on n1
            ask a1: a Accepted
              a1 waits QUEUE_MAX: queue root.team has 1 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            ask b1: b Accepted
              b1 waits QUEUE_MAX: queue root.team has 1 of 10 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            wait 11s: root.team holds room for a1
            wait 30s: nothing
            wait 11s: no room is held for a1, root.team holds room for b1
            release s2: s2 released, b1 on n1, b Running
              a1 waits QUEUE_MAX: queue root.team has 0 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "NS-21")]
fn no_queue_holds_room_for_two_and_holds_of_other_queues_do_not_mind() {
    check(
        "
        starvation 10s
        queue root.x max vcore=4 parent
        queue root.x.a
        queue root.x.b
        queue root.y max vcore=4 parent
        queue root.y.c
        node n1 vcore=20
        app s root.x.a ann
        ask s1 s vcore=3
        app t root.y.c ann
        ask t1 t vcore=3
        app a root.x.a bob
        ask a1 a vcore=3
        app b root.x.b eve
        ask b1 b vcore=4
        app c root.y.c eve
        ask c1 c vcore=4
        wait 11s
        release s1
        release t1
        release a1
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask t1: t Accepted, t1 on n1, t Running
            ask a1: a Accepted
              a1 waits QUEUE_MAX: queue root.x has 1 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            ask b1: b Accepted
              b1 waits QUEUE_MAX: queue root.x has 1 of 4 vcore available, but the ask needs 4. Wait for a release, or raise the maximum.
            ask c1: c Accepted
              c1 waits QUEUE_MAX: queue root.y has 1 of 4 vcore available, but the ask needs 4. Wait for a release, or raise the maximum.
            wait 11s: root.x holds room for b1, root.y holds room for c1
            release s1: s1 released, s Completing, b1 on n1, b Running, root.x holds room for a1
              a1 waits QUEUE_MAX: queue root.x has 0 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            release t1: t1 released, t Completing, c1 on n1, c Running
            release a1: a1 withdrawn, a Completing
        "#]],
    );
}

#[test]
#[doc(alias = "NS-20")]
fn a_hold_grows_when_a_higher_queue_lacks_the_room() {
    check(
        "
        starvation 10s
        queue root.team max vcore=4 parent
        queue root.team.a
        queue root.other
        node n1 vcore=7
        app s root.team.a ann
        ask s1 s vcore=3
        app l root.team.a bob
        ask l1 l vcore=4
        wait 11s
        app o root.other eve
        ask o1 o vcore=4
        release s1
        ask o2 o vcore=3
        ask o3 o vcore=1
        release o1
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask l1: l Accepted
              l1 waits QUEUE_MAX: queue root.team has 1 of 4 vcore available, but the ask needs 4. Wait for a release, or raise the maximum.
            wait 11s: root.team holds room for l1
            ask o1: o Accepted, o1 on n1, o Running
            release s1: s1 released, s Completing, root holds room for l1
              l1 waits ROOT_CAPACITY: the cluster has 3 of 7 vcore available, but the ask needs 4. Wait for a release, or add nodes.
            ask o2
              o2 waits HELD: queue root holds capacity since 11000 ms for an ask that has waited too long. That leaves 0 vcore for others, but this ask needs 3. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
            ask o3
              o3 waits HELD: queue root holds capacity since 11000 ms for an ask that has waited too long. That leaves 0 vcore for others, but this ask needs 1. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
            release o1: o1 released, o2 on n1, l1 on n1, l Running
              o3 waits ROOT_CAPACITY: the cluster has 0 of 7 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
fn without_the_key_nothing_is_held() {
    check(
        "
        queue root.team max vcore=10 parent
        queue root.team.small
        queue root.team.large
        node n1 vcore=20
        app s root.team.small ann
        ask s1 s vcore=9
        app l root.team.large bob
        ask l1 l vcore=8
        wait 3600s
        ask s2 s vcore=1
        ",
        expect![[r#"
            ask s1: s Accepted, s1 on n1, s Running
            ask l1: l Accepted
              l1 waits QUEUE_MAX: queue root.team has 1 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
            wait 3600s: nothing
            ask s2: s2 on n1
              l1 waits QUEUE_MAX: queue root.team has 0 of 10 vcore available, but the ask needs 8. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "NS-24")]
fn urgent_asks_of_a_sibling_do_not_come_first_for_ever() {
    check(
        "
        starvation 10s
        queue root.team max vcore=4 parent
        queue root.team.urgent
        queue root.team.calm
        node n1 vcore=8
        app u root.team.urgent ann
        ask u1 u vcore=2 prio 9
        ask u2 u vcore=2 prio 9
        app c root.team.calm bob
        ask c1 c vcore=3
        ask u3 u vcore=2 prio 9
        wait 11s
        release u1
        release u2
        ",
        expect![[r#"
            ask u1: u Accepted, u1 on n1, u Running
            ask u2: u2 on n1
            ask c1: c Accepted
              c1 waits QUEUE_MAX: queue root.team has 0 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
            ask u3
              u3 waits QUEUE_MAX: queue root.team has 0 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
            wait 11s: root.team holds room for c1
            release u1: u1 released
              c1 waits QUEUE_MAX: queue root.team has 2 of 4 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
              u3 waits HELD: queue root.team holds capacity since 11000 ms for an ask that has waited too long. That leaves 0 vcore for others, but this ask needs 2. Wait until that ask starts or its hold ends, or raise the maximum of the queue.
            release u2: u2 released, c1 on n1, c Running, root.team holds room for u3
              u3 waits QUEUE_MAX: queue root.team has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
        "#]],
    );
}
