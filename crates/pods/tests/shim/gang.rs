//! Gangs.

use std::collections::BTreeSet;

use expect_test::expect;

use crate::check;
use crate::story::play_after;

#[test]
fn members_run_after_all_placeholders_have_nodes_and_replace_them() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        pod p2 app=a1 group=w
        allocated @1 n1
        bind-ok @1
        pod @1 node=n1 phase=Running
        allocated @2 n1
        bind-ok @2
        pod @2 node=n1 phase=Running
        released @1 replaced
        gone @1
        allocated p1 n1
        bind-ok p1
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            pod p2 app=a1 group=w
            allocated @1 n1
                bind @1 to n1: BindPod
            bind-ok @1
                event @1: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
            pod @1 node=n1 phase=Running
            allocated @2 n1
                bind @2 to n1: BindPod
            bind-ok @2
                event @2: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
                event p1: GangReservationComplete
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
                tell: ask p2 1000m
                event p2: Scheduling
                event p1: TaskGroupMatch
            pod @2 node=n1 phase=Running
            released @1 replaced
                delete @1 (Released)
            gone @1
                tell: release @1 PLACEHOLDER_REPLACED
                event p1: TaskCompleted
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
        "#]],
    );
}

#[test]
fn a_placeholder_that_the_core_takes_back_ends_the_reservation() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        allocated @1 n1
        bind-ok @1
        released @1 preempted
        gone @1
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            allocated @1 n1
                bind @1 to n1: BindPod
            bind-ok @1
                event @1: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
            released @1 preempted
                delete @1 (Released)
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
            gone @1
                tell: release @1 PREEMPTED_BY_SCHEDULER
                event p1: TaskCompleted
        "#]],
    );
}

#[test]
fn a_soft_gang_resumes_after_its_timeout() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        resuming a1
        released @1 timeout
        released @2 timeout
        gone @1
        gone @2
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            resuming a1
                event p1: GangSchedulingFailed
            released @1 timeout
                event p1: PlaceholderTimeOut
                delete @1 (Released)
            released @2 timeout
                event p1: PlaceholderTimeOut
                delete @2 (Released)
            gone @1
                tell: release @1 TIMEOUT
                event p1: TaskCompleted
            gone @2
                tell: release @2 TIMEOUT
                event p1: TaskCompleted
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
        "#]],
    );
}

#[test]
fn a_hard_gang_fails_after_its_timeout() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w policy=gangSchedulingStyle=Hard groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        failing a1 application failed with ResourceReservationTimeout
        failed a1
        gone @1
        gone @2
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w policy=gangSchedulingStyle=Hard groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            failing a1 application failed with ResourceReservationTimeout
                delete @2 (Cleanup)
                delete @1 (Cleanup)
                fail p1: ResourceReservationTimeout: Scheduling has timed out due to insufficient resources
                event p1: ApplicationFailed
                tell: release @2 STOPPED_BY_RM
                tell: release @1 STOPPED_BY_RM
            failed a1
            gone @1
            gone @2
        "#]],
    );
}

#[test]
fn a_refused_placeholder_gives_up_the_gang() {
    check(
        r#"
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        refused exceeded quota
        pod @1
        "#,
        &expect![[r#"
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            refused exceeded quota
                event p1: PlaceholderCreateFailed
                delete @1 (Cleanup)
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
            pod @1
        "#]],
    );
}

#[test]
fn a_placeholder_that_appears_after_the_gang_was_given_up_is_deleted() {
    check(
        r#"
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        refused exceeded quota
        created
        "#,
        &expect![[r#"
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            refused exceeded quota
                event p1: PlaceholderCreateFailed
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
            created
                delete @2 (Cleanup)
                delete @2 (Cleanup)
        "#]],
    );
}

#[test]
fn a_soft_gang_whose_time_is_over_at_the_start_runs() {
    check(
        r#"
        pod p1 app=a1 created=2023-11-14T21:13:20Z groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        "#,
        &expect![[r#"
            pod p1 app=a1 created=2023-11-14T21:13:20Z groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: PlaceholderTimeout
                tell: ask p1 1000m, originator
                event p1: Scheduling
        "#]],
    );
}

#[test]
fn a_hard_gang_whose_time_is_over_at_the_start_fails() {
    check(
        r#"
        pod p1 app=a1 created=2023-11-14T22:12:20Z policy=placeholderTimeoutInSeconds=60+gangSchedulingStyle=Hard groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        "#,
        &expect![[r#"
            pod p1 app=a1 created=2023-11-14T22:12:20Z policy=placeholderTimeoutInSeconds=60+gangSchedulingStyle=Hard groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: PlaceholderTimeout
                tell: remove application a1
                fail p1: ResourceReservationTimeout: Scheduling has timed out due to insufficient resources
                event p1: ApplicationFailed
        "#]],
    );
}

#[test]
fn invalid_task_groups_run_as_a_plain_application() {
    check(
        r#"
        pod p1 app=a1 groups=[{"name":"w","minMember":0,"minResource":{}}]
        accepted a1
        "#,
        &expect![[r#"
            pod p1 app=a1 groups=[{"name":"w","minMember":0,"minResource":{}}]
                event p1: TaskGroupsError
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
        "#]],
    );
}

#[test]
fn a_completed_application_deletes_its_placeholders() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        allocated @1 n1
        bind-ok @1
        pod @1 node=n1 phase=Running
        allocated @2 n1
        bind-ok @2
        pod @2 node=n1 phase=Running
        completed a1
        delete-failed @1
        seconds 5
        gone @1
        gone @2
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            allocated @1 n1
                bind @1 to n1: BindPod
            bind-ok @1
                event @1: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
            pod @1 node=n1 phase=Running
            allocated @2 n1
                bind @2 to n1: BindPod
            bind-ok @2
                event @2: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
                event p1: GangReservationComplete
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
            pod @2 node=n1 phase=Running
            completed a1
                delete @2 (Cleanup)
                delete @1 (Cleanup)
                tell: application a1
            delete-failed @1
                log: pod lab/@1 was not deleted: conflict
                wake in 5 s
            seconds 5
                delete @1 (Cleanup)
            gone @1
            gone @2
        "#]],
    );
}

#[test]
fn many_placeholders_are_created_a_few_at_a_time() {
    check(
        r#"
        pod p1 app=a1 groups=[{"name":"w","minMember":34,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        created
        "#,
        &expect![[r#"
            pod p1 app=a1 groups=[{"name":"w","minMember":34,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
                create @3
                create @4
                create @5
                create @6
                create @7
                create @8
                create @9
                create @10
                create @11
                create @12
                create @13
                create @14
                create @15
                create @16
                create @17
                create @18
                create @19
                create @20
                create @21
                create @22
                create @23
                create @24
                create @25
                create @26
                create @27
                create @28
                create @29
                create @30
                create @31
                create @32
            created
                create @33
                tell: ask @1 1000m
                event @1: Scheduling
            created
                create @34
                tell: ask @2 1000m
                event @2: Scheduling
            created
                tell: ask @3 1000m
                event @3: Scheduling
        "#]],
    );
}

#[test]
fn a_placeholder_that_is_rejected_waits_for_the_timeout() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        ask-rejected @1 too large
        pod @1
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            ask-rejected @1 too large
                event @1: TaskRejected
                tell: release @1 STOPPED_BY_RM
                event p1: TaskFailed
            pod @1
        "#]],
    );
}

#[test]
fn an_originator_that_is_seen_after_its_placeholder_is_the_originator() {
    check(
        r#"
        list-node n1
        list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}] node=n1 phase=Running
        list-pod p2 app=a1 group=w created=2023-11-14T22:13:21Z
        list-pod p1 app=a1 group=w created=2023-11-14T22:13:22Z
        start
        node-accepted n1
        accepted a1
        allocated ph1 n1
        "#,
        &expect![[r#"
            list-node n1
            list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}] node=n1 phase=Running
            list-pod p2 app=a1 group=w created=2023-11-14T22:13:21Z
            list-pod p1 app=a1 group=w created=2023-11-14T22:13:22Z
            start
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: application a1, forced
            accepted a1
                tell: allocation ph1 1000m on n1
            allocated ph1 n1
                tell: node n1 resume
                event p1: PlaceholderAllocated
                event p1: GangReservationComplete
                tell: ask p2 1000m
                event p2: Scheduling
                event p1: TaskGroupMatch
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
        "#]],
    );
}

#[test]
fn an_originator_that_is_gone_has_no_successor() {
    check(
        r#"
        list-node n1
        list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}] node=n1 phase=Running
        list-pod p2 app=a1 group=w created=2023-11-14T22:13:21Z
        start
        node-accepted n1
        accepted a1
        allocated ph1 n1
        "#,
        &expect![[r#"
            list-node n1
            list-pod ph1 app=a1 group=w placeholder owner=p1 groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}] node=n1 phase=Running
            list-pod p2 app=a1 group=w created=2023-11-14T22:13:21Z
            start
                tell: node n1 create drained
            node-accepted n1
                event n1: NodeAccepted
                tell: application a1, forced
            accepted a1
                tell: allocation ph1 1000m on n1
            allocated ph1 n1
                tell: node n1 resume
                tell: ask p2 1000m
                event p2: Scheduling
                event p2: TaskGroupMatch
        "#]],
    );
}

#[test]
fn a_placeholder_that_is_deleted_while_the_gang_reserves_is_released_and_the_timeout_decides() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        created
        allocated @1 n1
        bind-ok @1
        pod @1 node=n1 phase=Running
        gone @1
        allocated @2 n1
        bind-ok @2
        pod @2 node=n1 phase=Running
        resuming a1
        released @2 timeout
        gone @2
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":2,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
                create @2
            created
                tell: ask @1 1000m
                event @1: Scheduling
            created
                tell: ask @2 1000m
                event @2: Scheduling
            allocated @1 n1
                bind @1 to n1: BindPod
            bind-ok @1
                event @1: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
            pod @1 node=n1 phase=Running
            gone @1
                tell: release @1 STOPPED_BY_RM
                event p1: TaskCompleted
            allocated @2 n1
                bind @2 to n1: BindPod
            bind-ok @2
                event @2: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
            pod @2 node=n1 phase=Running
            resuming a1
                event p1: GangSchedulingFailed
            released @2 timeout
                event p1: PlaceholderTimeOut
                delete @2 (Released)
            gone @2
                tell: release @2 TIMEOUT
                event p1: TaskCompleted
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
        "#]],
    );
}

#[test]
fn a_member_beyond_the_size_of_its_group_asks_as_an_ordinary_pod() {
    check(
        r#"
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}]
        accepted a1
        created
        pod p2 app=a1 group=w
        allocated @1 n1
        bind-ok @1
        pod p3 app=a1 group=w
        pod p4 app=a1 group=other
        "#,
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}]
                tell: application a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
            created
                tell: ask @1 1000m
                event @1: Scheduling
            pod p2 app=a1 group=w
            allocated @1 n1
                bind @1 to n1: BindPod
            bind-ok @1
                event @1: Scheduled
                event p1: PodBindSuccessful
                event p1: PlaceholderAllocated
                event p1: GangReservationComplete
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
                tell: ask p2 1000m
                event p2: Scheduling
                event p1: TaskGroupMatch
            pod p3 app=a1 group=w
                tell: ask p3 1000m
                event p3: Scheduling
                event p1: TaskGroupMatch
            pod p4 app=a1 group=other
                tell: ask p4 1000m
                event p4: Scheduling
                event p1: TaskGroupMatch
        "#]],
    );
}

#[test]
fn names_of_placeholders_are_unique_also_between_starts() {
    let story = r#"
        pod p1 app=a1 groups=[{"name":"w","minMember":20,"minResource":{}},{"name":"v","minMember":12,"minResource":{}}]
        accepted a1
        "#;
    let names: Vec<String> = (0..3).flat_map(|seed| play_after(story, seed).1).collect();
    assert_eq!(names.len(), 96);
    let unique: BTreeSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
    assert!(names.iter().all(|name| name.len() <= 63), "{names:?}");
}
