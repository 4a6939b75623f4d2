//! Binds, retries, and rollbacks.

use expect_test::expect;

use crate::check;
use crate::story::play;

#[test]
fn a_failed_bind_is_tried_again_and_then_rolled_back() {
    check(
        "
        show-snapshot
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-retry p1 timeout
        seconds 1
        bind-retry p1 timeout
        seconds 1
        seconds 1
        bind-retry p1 timeout
        seconds 4
        bind-retry p1 timeout
        seconds 8
        bind-retry p1 timeout
        seconds 16
        bind-retry p1 timeout
        seconds 30
        bind-retry p1 timeout
        seconds 30
        bind-retry p1 timeout
        seconds 30
        bind-retry p1 timeout
        allocated p1 n1
        bind-ok p1
        ",
        &expect![[r#"
            show-snapshot
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                snapshot: node n1
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                snapshot: p1 on n1
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 1 s
            seconds 1
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                event p1: PodBindDelayed
                wake in 2 s
            seconds 1
            seconds 1
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 4 s
            seconds 4
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 8 s
            seconds 8
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 16 s
            seconds 16
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 30 s
            seconds 30
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 30 s
            seconds 30
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 30 s
            seconds 30
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                event p1: PodBindFailure
                snapshot: p1 left n1
                tell: release p1 SCHEDULING_FAILED_ON_RM
            allocated p1 n1
                snapshot: p1 on n1
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
        "#]],
    );
}

#[test]
fn volumes_come_before_the_pod() {
    check(
        "
        claim c1
        node n1
        pod p1 app=a1 claim=c1
        accepted a1
        allocated p1 n1
        volumes-assumed p1
        bind-retry p1 not yet
        seconds 1
        volumes-bound p1
        bind-ok p1
        ",
        &expect![[r#"
            claim c1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 claim=c1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: AssumeVolumes
            volumes-assumed p1
                bind p1 to n1: BindVolumes
            bind-retry p1 not yet
                wake in 1 s
            seconds 1
                bind p1 to n1: BindVolumes
            volumes-bound p1
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
        "#]],
    );
}

#[test]
fn a_final_error_of_volumes_rolls_back_at_once() {
    check(
        "
        claim c1
        node n1
        pod p1 app=a1 claim=c1
        accepted a1
        allocated p1 n1
        volumes-assumed p1
        bind-final p1 binding volumes: timed out
        ",
        &expect![[r#"
            claim c1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 claim=c1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: AssumeVolumes
            volumes-assumed p1
                bind p1 to n1: BindVolumes
            bind-final p1 binding volumes: timed out
                undo the volumes of p1
                event p1: PodVolumesBindFailure
                tell: release p1 SCHEDULING_FAILED_ON_RM
        "#]],
    );
}

#[test]
fn a_pod_that_is_gone_at_the_bind_ends_with_the_watch() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-gone p1
        gone p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-gone p1
            gone p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
        "#]],
    );
}

#[test]
fn a_pod_that_another_scheduler_bound_is_recorded_on_its_node() {
    check(
        "
        node n1
        node n2
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-elsewhere p1 n2
        allocated p1 n2
        pod p1 node=n2 phase=Running
        ends p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            node n2
                tell: node n2 create drained
                event n2: NodeAccepted
                tell: node n2 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-elsewhere p1 n2
                tell: release p1 STOPPED_BY_RM
                tell: allocation p1 1000m on n2, originator
            allocated p1 n2
            pod p1 node=n2 phase=Running
            ends p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
        "#]],
    );
}

#[test]
fn the_watch_can_show_another_node_first() {
    check(
        "
        node n1
        node n2
        pod p1 app=a1
        accepted a1
        pod p1 node=n2 phase=Running
        allocated p1 n1
        allocated p1 n2
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            node n2
                tell: node n2 create drained
                event n2: NodeAccepted
                tell: node n2 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            pod p1 node=n2 phase=Running
                tell: release p1 STOPPED_BY_RM
                tell: allocation p1 1000m on n2, originator
            allocated p1 n1
            allocated p1 n2
        "#]],
    );
}

#[test]
fn a_pod_on_an_unknown_node_is_withdrawn_until_the_node_appears() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        pod p1 node=n2 phase=Running
        node n2
        allocated p1 n2
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            pod p1 node=n2 phase=Running
                tell: release p1 STOPPED_BY_RM
            node n2
                tell: node n2 create drained
                event n2: NodeAccepted
                tell: allocation p1 1000m on n2, originator
                tell: node n2 resume
            allocated p1 n2
        "#]],
    );
}

#[test]
fn an_outcome_of_an_earlier_bind_is_ignored() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        released p1 preempted
        gone p1
        bind-ok p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            released p1 preempted
                delete p1 (Released)
            gone p1
                tell: release p1 PREEMPTED_BY_SCHEDULER
                event p1: TaskCompleted
            bind-ok p1
        "#]],
    );
}

#[test]
fn a_bind_is_not_tried_again_after_a_preemption() {
    check(
        "
        claim c1
        node n1
        pod p1 app=a1 claim=c1
        accepted a1
        allocated p1 n1
        volumes-assumed p1
        released p1 preempted
        bind-retry p1 conflict
        gone p1
        ",
        &expect![[r#"
            claim c1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 claim=c1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: AssumeVolumes
            volumes-assumed p1
                bind p1 to n1: BindVolumes
            released p1 preempted
                delete p1 (Released)
            bind-retry p1 conflict
            gone p1
                undo the volumes of p1
                tell: release p1 PREEMPTED_BY_SCHEDULER
                event p1: TaskCompleted
        "#]],
    );
}

#[test]
fn devices_come_after_volumes_and_are_taken_back_with_a_rollback() {
    check(
        "
        claim c1
        node n1
        pod p1 app=a1 claim=c1 devices=d1
        accepted a1
        allocated p1 n1
        volumes-assumed p1
        volumes-bound p1
        bind-retry p1 no device
        seconds 1
        devices-allocated p1
        bind-final p1 refused
        pod p2 app=a1 devices=d2
        allocated p2 n1
        devices-allocated p2
        bind-ok p2
        ",
        &expect![[r#"
            claim c1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 claim=c1 devices=d1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: AssumeVolumes
            volumes-assumed p1
                bind p1 to n1: BindVolumes
            volumes-bound p1
                bind p1 to n1: AllocateDevices
            bind-retry p1 no device
                wake in 1 s
            seconds 1
                bind p1 to n1: AllocateDevices
            devices-allocated p1
                bind p1 to n1: BindPod
            bind-final p1 refused
                undo the volumes of p1
                undo the devices of p1
                event p1: PodBindFailure
                tell: release p1 SCHEDULING_FAILED_ON_RM
            pod p2 app=a1 devices=d2
                tell: ask p2 1000m
                event p2: Scheduling
            allocated p2 n1
                bind p2 to n1: AllocateDevices
            devices-allocated p2
                bind p2 to n1: BindPod
            bind-ok p2
                event p2: Scheduled
                event p1: PodBindSuccessful
        "#]],
    );
}

#[test]
fn a_bind_that_fails_twice_can_succeed() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-retry p1 timeout
        seconds 1
        bind-retry p1 timeout
        seconds 2
        bind-ok p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                wake in 1 s
            seconds 1
                bind p1 to n1: BindPod
            bind-retry p1 timeout
                event p1: PodBindDelayed
                wake in 2 s
            seconds 2
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
        "#]],
    );
}

#[test]
fn volumes_that_cannot_be_assumed_are_tried_thirty_times() {
    let fails = "bind-retry p1 no such volume\nseconds 1\n".repeat(29);
    let story = format!(
        "claim c1
        node n1
        pod p1 app=a1 claim=c1
        accepted a1
        allocated p1 n1
        {fails}"
    );
    let output = play(&story);
    assert_eq!(output.matches("bind p1 to n1: AssumeVolumes").count(), 30, "{output}");
    assert!(!output.contains("AssumePodFailed"), "{output}");
    let output = play(&format!("{story}\nbind-retry p1 no such volume"));
    let last: Vec<&str> = output.lines().rev().take(3).map(str::trim).collect();
    assert_eq!(
        last,
        [
            "tell: release p1 SCHEDULING_FAILED_ON_RM",
            "event p1: AssumePodFailed",
            "undo the volumes of p1",
        ]
    );
}

#[test]
fn a_placeholder_that_cannot_be_assumed_fails() {
    check(
        r#"
        claim c1
        node n1
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}]
        pod ph1 app=a1 group=w placeholder owner=p1 claim=c1
        accepted a1
        allocated ph1 n1
        bind-final ph1 no such volume
        pod ph1 cpu=1
        "#,
        &expect![[r#"
            claim c1
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}]
                tell: application a1
            pod ph1 app=a1 group=w placeholder owner=p1 claim=c1
            accepted a1
                tell: ask ph1 1000m
                event ph1: Scheduling
            allocated ph1 n1
                bind ph1 to n1: AssumeVolumes
            bind-final ph1 no such volume
                event ph1: AssumePodError
                tell: release ph1 STOPPED_BY_RM
                event p1: TaskFailed
            pod ph1 cpu=1
        "#]],
    );
}

#[test]
fn a_pod_whose_rolled_back_ask_is_rejected_fails() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-final p1 refused
        ask-rejected p1 too late
        allocated p1 n1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-final p1 refused
                event p1: PodBindFailure
                tell: release p1 SCHEDULING_FAILED_ON_RM
            ask-rejected p1 too late
                event p1: TaskRejected
                tell: release p1 STOPPED_BY_RM
                event p1: TaskFailed
            allocated p1 n1
                tell: release p1 STOPPED_BY_RM
        "#]],
    );
}
