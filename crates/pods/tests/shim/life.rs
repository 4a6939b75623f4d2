//! The life of applications and tasks.

use expect_test::expect;

use crate::check;

#[test]
fn a_pod_is_submitted_bound_and_completed() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-ok p1
        pod p1 node=n1 phase=Running
        ends p1
        gone p1
        completed a1
        pod p2 app=a1
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
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
            pod p1 node=n1 phase=Running
            ends p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
            gone p1
            completed a1
            pod p2 app=a1
                tell: application a1
        "#]],
    );
}

#[test]
fn a_pod_that_is_deleted_before_acceptance_is_released_afterwards() {
    check(
        "
        pod p1 app=a1
        pod p2 app=a1
        gone p1
        gone p1
        accepted a1
        ",
        &expect![[r#"
            pod p1 app=a1
                tell: application a1
            pod p2 app=a1
            gone p1
            gone p1
            accepted a1
                tell: release p1 STOPPED_BY_RM
                tell: ask p2 1000m
                event p2: Scheduling
        "#]],
    );
}

#[test]
fn an_application_without_pods_at_acceptance_is_removed() {
    check(
        "
        pod p1 app=a1
        gone p1
        accepted a1
        pod p2 app=a1
        ",
        &expect![[r#"
            pod p1 app=a1
                tell: application a1
            gone p1
            accepted a1
                tell: remove application a1
            pod p2 app=a1
                tell: application a1
        "#]],
    );
}

#[test]
fn a_terminated_pod_at_first_sight_has_no_task() {
    check(
        "
        pod p1 app=a1 phase=Succeeded
        gone p1
        ",
        &expect![[r#"
            pod p1 app=a1 phase=Succeeded
            gone p1
        "#]],
    );
}

#[test]
fn tasks_are_submitted_in_the_order_of_their_creation() {
    check(
        "
        pod p1 app=a1 created=2023-11-14T22:13:22Z
        pod p2 app=a1 created=2023-11-14T22:13:21Z
        pod p3 app=a1 created=2023-11-14T22:13:21Z
        accepted a1
        ",
        &expect![[r#"
            pod p1 app=a1 created=2023-11-14T22:13:22Z
                tell: application a1
            pod p2 app=a1 created=2023-11-14T22:13:21Z
            pod p3 app=a1 created=2023-11-14T22:13:21Z
            accepted a1
                tell: ask p2 1000m
                event p2: Scheduling
                tell: ask p3 1000m
                event p3: Scheduling
                tell: ask p1 1000m, originator
                event p1: Scheduling
        "#]],
    );
}

#[test]
fn a_rejection_fails_the_pods_with_its_reason() {
    check(
        "
        pod p1 app=a1
        rejected a1  queue root.a: no such queue
        pod p1 app=a1
        pod p2 app=a1
        ",
        &expect![[r#"
            pod p1 app=a1
                tell: application a1
            rejected a1  queue root.a: no such queue
                fail p1: ApplicationRejected: queue root.a: no such queue
                event p1: ApplicationFailed
            pod p1 app=a1
            pod p2 app=a1
                tell: application a1
        "#]],
    );
}

#[test]
fn a_failed_application_stays_until_its_tasks_end() {
    check(
        "
        node n1
        pod p1 app=a1
        pod p2 app=a1
        accepted a1
        allocated p1 n1
        bind-ok p1
        failing a1 quota
        pod p3 app=a1
        failed a1 quota
        ends p1
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            pod p2 app=a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
                tell: ask p2 1000m
                event p2: Scheduling
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
            failing a1 quota
                event p2: ApplicationFailed
                tell: release p2 STOPPED_BY_RM
            pod p3 app=a1
            failed a1 quota
            ends p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
                tell: application a1
        "#]],
    );
}

#[test]
fn gates_hold_back_the_application() {
    check(
        "
        pod p1 app=a1 gates=g1
        pod p1 gates=g2
        pod p1 gates=
        ",
        &expect![[r#"
            pod p1 app=a1 gates=g1
                event p1: Scheduling
            pod p1 gates=g2
            pod p1 gates=
                tell: application a1
        "#]],
    );
}

#[test]
fn a_missing_claim_holds_back_the_ask_and_is_reported_once() {
    check(
        "
        pod p1 app=a1 claim=c1
        accepted a1
        claim-deleting c1
        claim-deleting c1
        claim c1
        ",
        &expect![[r#"
            pod p1 app=a1 claim=c1
                tell: application a1
            accepted a1
                event p1: FailedScheduling
            claim-deleting c1
                event p1: FailedScheduling
            claim-deleting c1
            claim c1
                tell: ask p1 1000m, originator
                event p1: Scheduling
        "#]],
    );
}

#[test]
fn a_resize_is_sent_in_every_state() {
    check(
        "
        node n1
        pod p1 app=a1
        pod p1 cpu=2
        accepted a1
        pod p1 cpu=2
        pod p1 cpu=3
        allocated p1 n1
        bind-ok p1
        pod p1 node=n1 cpu=4
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            pod p1 cpu=2
                tell: ask p1 2000m, originator
            accepted a1
                tell: ask p1 2000m, originator
                event p1: Scheduling
            pod p1 cpu=2
            pod p1 cpu=3
                tell: ask p1 3000m, originator
            allocated p1 n1
                bind p1 to n1: BindPod
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
            pod p1 node=n1 cpu=4
                tell: allocation p1 4000m on n1, originator
        "#]],
    );
}

#[test]
fn a_rejected_ask_fails_its_task_once() {
    check(
        "
        pod p1 app=a1
        accepted a1
        ask-rejected p1 too large
        pod p1 cpu=2
        allocated p1 n1
        gone p1
        ",
        &expect![[r#"
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            ask-rejected p1 too large
                event p1: TaskRejected
                tell: release p1 STOPPED_BY_RM
                event p1: TaskFailed
            pod p1 cpu=2
            allocated p1 n1
                tell: release p1 STOPPED_BY_RM
            gone p1
        "#]],
    );
}

#[test]
fn a_condition_is_written_once_for_each_reason() {
    check(
        "
        node n1
        pod p1 app=a1
        waits p1 quota
        accepted a1
        waits p1 quota
        waits p1 quota
        waits p1 no-node
        allocated p1 n1
        waits p1 quota
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod p1 app=a1
                tell: application a1
            waits p1 quota
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            waits p1 quota
                event p1: PodUnschedulable
                condition of p1: SchedulingSkipped why
            waits p1 quota
            waits p1 no-node
                event p1: PodUnschedulable
                condition of p1: Unschedulable why
            allocated p1 n1
                bind p1 to n1: BindPod
            waits p1 quota
        "#]],
    );
}

#[test]
fn a_preempted_pod_is_released_when_it_is_gone() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-ok p1
        pod p1 node=n1 phase=Running
        released p1 preempted
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
            bind-ok p1
                event p1: Scheduled
                event p1: PodBindSuccessful
            pod p1 node=n1 phase=Running
            released p1 preempted
                delete p1 (Released)
            gone p1
                tell: release p1 PREEMPTED_BY_SCHEDULER
                event p1: TaskCompleted
        "#]],
    );
}

#[test]
fn unknown_names_change_nothing() {
    check(
        "
        accepted a1
        rejected a1 why
        completed a1
        failing a1 why
        allocated p1 n1
        ask-rejected p1 why
        released p1 preempted
        waits p1 quota
        node-accepted n1
        node-rejected n1 why
        node-gone n1
        ",
        &expect![[r#"
            accepted a1
                log: application a1 is unknown, but was accepted
            rejected a1 why
                log: application a1 is unknown, but was rejected: why
            completed a1
            failing a1 why
            allocated p1 n1
                tell: release p1 STOPPED_BY_RM
            ask-rejected p1 why
                log: ask p1 is unknown, but was rejected: why
            released p1 preempted
            waits p1 quota
            node-accepted n1
                log: node n1 is unknown, but was accepted
            node-rejected n1 why
                log: node n1 is unknown, but was rejected: why
            node-gone n1
        "#]],
    );
}

#[test]
fn a_task_without_ask_does_not_keep_its_application() {
    check(
        "
        pod p1 app=a1 claim=c1
        accepted a1
        gone p1
        ",
        &expect![[r#"
            pod p1 app=a1 claim=c1
                tell: application a1
            accepted a1
                event p1: FailedScheduling
            gone p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
                tell: remove application a1
        "#]],
    );
}

#[test]
fn a_change_of_the_configuration_is_sent() {
    check(
        "
        setting service.clusterId other
        setting queues.yaml partitions
        setting service.enableConfigHotRefresh yes
        setting service.enableConfigHotRefresh false
        setting queues.yaml other
        ",
        &expect![[r#"
            setting service.clusterId other
                log: the change of service.clusterId takes effect after a restart
                tell: configuration
            setting queues.yaml partitions
                log: the change of service.clusterId takes effect after a restart
                tell: configuration
            setting service.enableConfigHotRefresh yes
                event yunikorn-configs: ChangeRefused
                log: the change is refused, and the former configuration stays: service.enableConfigHotRefresh is "yes". Write true or false.
            setting service.enableConfigHotRefresh false
                tell: configuration
            setting queues.yaml other
                log: the change of the configuration takes effect after a restart
        "#]],
    );
}
