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
                tell: configuration with queue file partitions
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

#[test]
fn a_pod_that_is_deleted_is_released_once_in_every_state() {
    check(
        "
        node n1
        pod new app=a1 claim=c1
        pod waiting app=a1
        pod allocated app=a1
        pod bound app=a1
        pod stays app=a1
        accepted a1
        allocated allocated n1
        allocated bound n1
        bind-ok bound
        gone new
        gone waiting
        gone allocated
        gone bound
        gone bound
        ",
        &expect![[r#"
            node n1
                tell: node n1 create drained
                event n1: NodeAccepted
                tell: node n1 resume
            pod new app=a1 claim=c1
                tell: application a1
            pod waiting app=a1
            pod allocated app=a1
            pod bound app=a1
            pod stays app=a1
            accepted a1
                event new: FailedScheduling
                tell: ask waiting 1000m
                event waiting: Scheduling
                tell: ask allocated 1000m
                event allocated: Scheduling
                tell: ask bound 1000m
                event bound: Scheduling
                tell: ask stays 1000m
                event stays: Scheduling
            allocated allocated n1
                bind allocated to n1: BindPod
            allocated bound n1
                bind bound to n1: BindPod
            bind-ok bound
                event bound: Scheduled
                event new: PodBindSuccessful
            gone new
                tell: release new STOPPED_BY_RM
                event new: TaskCompleted
            gone waiting
                tell: release waiting STOPPED_BY_RM
                event waiting: TaskCompleted
            gone allocated
                tell: release allocated STOPPED_BY_RM
                event allocated: TaskCompleted
            gone bound
                tell: release bound STOPPED_BY_RM
                event bound: TaskCompleted
            gone bound
        "#]],
    );
}

#[test]
fn an_allocation_of_an_ended_pod_is_released() {
    check(
        "
        node n1
        pod p1 app=a1
        pod p2 app=a1
        accepted a1
        ends p1
        allocated p1 n1
        gone p2
        allocated p2 n1
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
            ends p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
            allocated p1 n1
                tell: release p1 STOPPED_BY_RM
            gone p2
                tell: release p2 STOPPED_BY_RM
                event p2: TaskCompleted
            allocated p2 n1
                tell: release p2 STOPPED_BY_RM
        "#]],
    );
}

#[test]
fn a_pod_ends_only_once() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-ok p1
        pod p1 node=n1 phase=Running
        ends p1
        ends p1
        gone p1
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
            ends p1
                tell: release p1 STOPPED_BY_RM
                event p1: TaskCompleted
            ends p1
            gone p1
            gone p1
        "#]],
    );
}

#[test]
fn a_rejection_drops_the_releases_that_waited_for_acceptance() {
    check(
        "
        pod p1 app=a1
        pod p2 app=a1
        gone p1
        rejected a1 why
        pod p3 app=a1
        accepted a1
        ",
        &expect![[r#"
            pod p1 app=a1
                tell: application a1
            pod p2 app=a1
            gone p1
            rejected a1 why
                fail p2: ApplicationRejected: why
                event p2: ApplicationFailed
            pod p3 app=a1
                tell: application a1
            accepted a1
                tell: ask p3 1000m, originator
                event p3: Scheduling
        "#]],
    );
}

#[test]
fn only_a_reserving_application_resumes() {
    check(
        r#"
        pod p1 app=a1 group=w groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}]
        resuming a1
        accepted a1
        refused exceeded quota
        resuming a1
        "#,
        &expect![[r#"
            pod p1 app=a1 group=w groups=[{"name":"w","minMember":1,"minResource":{"cpu":"1"}}]
                tell: application a1
            resuming a1
            accepted a1
                event p1: CreatingPlaceholders
                create @1
            refused exceeded quota
                event p1: PlaceholderCreateFailed
                tell: ask p1 1000m, originator
                event p1: Scheduling
                event p1: TaskGroupMatch
            resuming a1
        "#]],
    );
}

#[test]
fn a_failing_application_deletes_the_pods_that_the_core_releases() {
    check(
        "
        node n1
        pod p1 app=a1
        accepted a1
        allocated p1 n1
        bind-ok p1
        failing a1 why
        released p1 preempted
        gone p1
        failed a1 why
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
            failing a1 why
            released p1 preempted
                delete p1 (Released)
            gone p1
                tell: release p1 PREEMPTED_BY_SCHEDULER
                event p1: TaskCompleted
            failed a1 why
        "#]],
    );
}

#[test]
fn tasks_that_waited_for_one_claim_are_submitted_in_the_order_of_their_creation() {
    check(
        "
        pod p1 app=a1
        accepted a1
        pod p2 app=a1 claim=c1 created=2023-11-14T22:13:23Z
        pod p3 app=a1 claim=c1 created=2023-11-14T22:13:21Z
        pod p4 app=a1 claim=c1 created=2023-11-14T22:13:22Z
        claim c1
        ",
        &expect![[r#"
            pod p1 app=a1
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            pod p2 app=a1 claim=c1 created=2023-11-14T22:13:23Z
                event p2: FailedScheduling
            pod p3 app=a1 claim=c1 created=2023-11-14T22:13:21Z
                event p3: FailedScheduling
            pod p4 app=a1 claim=c1 created=2023-11-14T22:13:22Z
                event p4: FailedScheduling
            claim c1
                tell: ask p3 1000m
                event p3: Scheduling
                tell: ask p4 1000m
                event p4: Scheduling
                tell: ask p2 1000m
                event p2: Scheduling
        "#]],
    );
}

#[test]
fn ignored_values_are_reported_once_for_each_property() {
    check(
        "
        pod p1 app=a1 old-app=b1 queue=root.a old-queue=root.b
        accepted a1
        pod p1 cpu=2
        ",
        &expect![[r#"
            pod p1 app=a1 old-app=b1 queue=root.a old-queue=root.b
                tell: application a1
            accepted a1
                event p1: Scheduling: the pod has several application IDs: a1 counts, ignored are label applicationId: b1
                event p1: Scheduling: the pod has several queue names: root.a counts, ignored are label queue: root.b
                tell: ask p1 1000m, originator
                event p1: Scheduling
            pod p1 cpu=2
                tell: ask p1 2000m, originator
        "#]],
    );
}

#[test]
fn the_condition_of_an_earlier_run_is_not_written_again() {
    check(
        "
        list-pod p1 app=a1 condition=SchedulingSkipped
        start
        accepted a1
        waits p1 quota
        waits p1 no-node
        ",
        &expect![[r#"
            list-pod p1 app=a1 condition=SchedulingSkipped
            start
                tell: application a1
            accepted a1
                tell: ask p1 1000m, originator
                event p1: Scheduling
            waits p1 quota
            waits p1 no-node
                event p1: PodUnschedulable
                condition of p1: Unschedulable why
        "#]],
    );
}

#[test]
fn a_deleted_config_map_has_no_entries() {
    check(
        "
        setting queues.yaml partitions
        no-settings
        no-settings
        ",
        &expect![[r#"
            setting queues.yaml partitions
                tell: configuration with queue file partitions
            no-settings
                tell: configuration
            no-settings
        "#]],
    );
}

#[test]
fn a_log_level_that_does_not_exist_is_reported_once() {
    check(
        "
        setting log.level loud
        setting log.core.level DEBUG
        setting log.core.level -2
        ",
        &expect![[r#"
            setting log.level loud
                event yunikorn-configs: EntryIgnored
                tell: configuration
            setting log.core.level DEBUG
                tell: configuration
            setting log.core.level -2
                event yunikorn-configs: EntryIgnored
                tell: configuration
        "#]],
    );
}

#[test]
fn a_corrupt_entry_is_reported_and_its_last_value_stays() {
    check(
        "
        compressed-setting queues.yaml.gz H4sIAAAAAAACAytILCrJLMnMzyu2UoiOBQB6zh47DgAAAA==
        compressed-setting queues.yaml.gz aGVsbG8=
        setting other value
        compressed-setting queues.yaml.gz aGVsbG8=
        ",
        &expect![[r#"
            compressed-setting queues.yaml.gz H4sIAAAAAAACAytILCrJLMnMzyu2UoiOBQB6zh47DgAAAA==
                tell: configuration with queue file partitions: []
            compressed-setting queues.yaml.gz aGVsbG8=
                event yunikorn-configs: EntryIgnored
            setting other value
                tell: configuration
            compressed-setting queues.yaml.gz aGVsbG8=
                event yunikorn-configs: EntryIgnored
                tell: configuration
        "#]],
    );
}
