use std::num::NonZeroU16;

use headroom_core::books::{
    ApplicationState, Away, LimitSettings, LimitSubject, NodeVerdict, QuestionMode,
    QuestionSubject, Questions, QueueState, TaskOutcome, TaskRequest, TaskSettings,
};
use headroom_core::resource::Quantity;
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, AskTraits, Event, ForeignEvent, Millis, NodeEvent,
    PartitionEvent, PreemptionCause, QueueEvent, TaskEvent, TaskStep, TenantEvent, Termination,
    Throttled, ThrottledType, Timestamp,
};

use super::parts::{
    amounts, drift, gang, id, name, names, partition_settings, queue_settings, tenant_as_limit,
    tenant_defaults,
};

/// Each group with its type, and in it each variant with the name of its sample.
macro_rules! named_events {
    ($($group:ident($type:ident) { $($variant:ident $name:literal)* })*) => {
        pub(crate) const NAMES: &[&str] = &["configured", $($($name),*),*];

        fn name_of(event: &Event) -> &'static str {
            match event {
                Event::Configured { .. } => "configured",
                $($(Event::$group($type::$variant { .. }) => $name,)*)*
            }
        }
    };
}

named_events! {
    Partition(PartitionEvent) {
        Added "partition-added"
        Changed "partition-changed"
        Removed "partition-removed"
        QuestionsSet "questions-set"
        RecoverySet "recovery-set"
        ManagerAway "manager-away"
    }
    Queue(QueueEvent) {
        Added "queue-added"
        Changed "queue-changed"
        Moved "queue-moved"
        Removed "queue-removed"
        LimitsChanged "limits-changed"
        QuotaClockStopped "quota-clock-stopped"
    }
    Node(NodeEvent) {
        Added "node-added"
        Resized "node-resized"
        Scheduling "node-scheduling"
        Removed "node-removed"
        Reported "node-reported"
        VerdictsVoid "verdicts-void"
    }
    Application(ApplicationEvent) {
        Added "application-added"
        Rejected "application-rejected"
        Linked "application-linked"
        GroupUnlinked "group-unlinked"
        Unlinked "application-unlinked"
        LifetimeSet "lifetime-set"
        LifetimeOver "lifetime-over"
        DeadlineSet "deadline-set"
        Overtaken "overtaken"
        Moved "application-moved"
        Activated "application-activated"
        Allocating "application-allocating"
        Removed "application-removed"
        BackedOff "backed-off"
        PlaceholdersExpired "placeholders-expired"
        TimerStopped "timer-stopped"
    }
    Task(TaskEvent) {
        Added "task-added"
        Throttled "task-throttled"
        Moved "task-moved"
    }
    Ask(AskEvent) {
        Added "ask-added"
        Removed "ask-removed"
        Placed "placed"
        Reserved "reserved"
        Unreserved "unreserved"
        Held "held"
        HoldEnded "hold-ended"
        Asked "asked"
        Answered "answered"
        PreemptionTriggered "preemption-triggered"
        PreemptionTried "preemption-tried"
        ScaleUpAsked "scale-up-asked"
    }
    Allocation(AllocationEvent) {
        Resized "resized"
        Released "released"
        SwapStarted "swap-started"
        SwapConfirmed "swap-confirmed"
        SwapDropped "swap-dropped"
        ReleaseAsked "release-asked"
        Preempted "preempted"
        PreemptionObserved "preemption-observed"
    }
    Foreign(ForeignEvent) {
        Set "foreign-set"
        Removed "foreign-removed"
    }
    Tenant(TenantEvent) {
        Set "tenant-set"
        Draining "tenant-draining"
        Removed "tenant-removed"
        DefaultsSet "tenant-defaults-set"
        DriftFound "drift-found"
    }
}

pub(crate) fn samples() -> Vec<(&'static str, Event)> {
    let mut all = of_structure();
    all.extend(of_applications());
    all.extend(of_allocations());
    all.extend(of_others());
    all.extend(of_tasks());
    all.into_iter().map(|event| (name_of(&event), event)).collect()
}

fn limits() -> Vec<LimitSettings> {
    [
        LimitSubject::User(name("ann")),
        LimitSubject::AnyUser,
        LimitSubject::Group(name("")),
        LimitSubject::AnyGroup,
    ]
    .map(|subject| LimitSettings { subject, max: amounts(), max_applications: 2 })
    .into()
}

fn traits() -> AskTraits {
    AskTraits {
        originator: true,
        placeholder: true,
        may_preempt: true,
        preemptable: true,
        task_group: Some(name("workers")),
        required_node: Some(name("")),
        node_label: Some(name("gpu")),
        blocked_nodes: names(&["n1", "n2"]),
    }
}

fn of_structure() -> Vec<Event> {
    vec![
        Event::Partition(PartitionEvent::Added {
            partition: name("partition"),
            settings: Box::new(partition_settings()),
            root: Box::new(queue_settings()),
        }),
        Event::Partition(PartitionEvent::Changed {
            partition: id(1, 1),
            settings: Box::new(partition_settings()),
        }),
        Event::Partition(PartitionEvent::Removed { partition: id(2, 2) }),
        Event::Configured { checksum: name("checksum") },
        Event::Queue(QueueEvent::Added {
            partition: id(3, 0),
            parent: name("parent"),
            name: name("name"),
            leaf: true,
            managed: true,
            settings: Box::new(queue_settings()),
        }),
        Event::Queue(QueueEvent::Changed {
            partition: id(4, 1),
            queue: name("queue"),
            leaf: true,
            managed: true,
            settings: Box::new(queue_settings()),
        }),
        Event::Queue(QueueEvent::Moved {
            partition: id(5, 2),
            queue: name("queue"),
            state: QueueState::Draining,
        }),
        Event::Queue(QueueEvent::Removed { queue: id(6, 0) }),
        Event::Queue(QueueEvent::LimitsChanged {
            partition: id(7, 1),
            queue: name("queue"),
            limits: limits(),
        }),
        Event::Node(NodeEvent::Added {
            partition: id(8, 2),
            node: name("node"),
            capacity: amounts(),
            schedulable: true,
            attributes: [("si/rackname", "r1")].into_iter().collect(),
        }),
        Event::Node(NodeEvent::Resized { node: id(9, 0), capacity: amounts() }),
        Event::Node(NodeEvent::Scheduling { node: id(10, 1), schedulable: true }),
        Event::Node(NodeEvent::Removed { node: id(11, 2) }),
    ]
}

fn of_applications() -> Vec<Event> {
    vec![
        Event::Application(ApplicationEvent::Added {
            partition: id(12, 0),
            queue: name("queue"),
            application: name("application"),
            user: name("user"),
            groups: names(&["dev", "ops"]),
            gang: gang(),
        }),
        Event::Application(ApplicationEvent::Rejected {
            partition: id(13, 1),
            queue: name("queue"),
            application: name("application"),
            user: name("user"),
            groups: names(&["dev", "ops"]),
            code: name("code"),
            message: name("message"),
        }),
        Event::Application(ApplicationEvent::Linked {
            application: id(14, 2),
            group: Some(name("*")),
        }),
        Event::Application(ApplicationEvent::GroupUnlinked { application: id(15, 0) }),
        Event::Application(ApplicationEvent::Unlinked { application: id(16, 1) }),
        Event::Application(ApplicationEvent::Moved {
            application: id(17, 2),
            state: ApplicationState::Failing,
            timer: Some(Timestamp::ZERO),
        }),
        Event::Application(ApplicationEvent::Allocating { application: id(18, 0) }),
        Event::Application(ApplicationEvent::Activated {
            application: id(18, 1),
            driver: amounts(),
        }),
        Event::Application(ApplicationEvent::LifetimeSet {
            application: id(18, 2),
            since: Timestamp::from_millis(7),
            asked: Some(Millis::from_secs(9)),
        }),
        Event::Application(ApplicationEvent::LifetimeOver { application: id(18, 3) }),
        Event::Application(ApplicationEvent::DeadlineSet {
            application: id(18, 4),
            deadline: Some(Timestamp::from_millis(11)),
            estimate: Millis::from_secs(13),
        }),
        Event::Application(ApplicationEvent::Overtaken {
            application: id(18, 5),
            by: Some(id(19, 6)),
        }),
        Event::Application(ApplicationEvent::Removed { application: id(19, 1) }),
        Event::Application(ApplicationEvent::BackedOff {
            application: id(20, 2),
            until: Timestamp::from_millis(u64::MAX),
        }),
        Event::Application(ApplicationEvent::PlaceholdersExpired { application: id(21, 0) }),
        Event::Application(ApplicationEvent::TimerStopped { application: id(22, 1) }),
    ]
}

fn of_allocations() -> Vec<Event> {
    vec![
        Event::Ask(AskEvent::Added {
            application: id(23, 2),
            key: name("key"),
            resources: amounts(),
            priority: -1,
            created: Timestamp::from_millis(u64::MAX),
            traits: traits(),
        }),
        Event::Ask(AskEvent::Removed {
            ask: id(24, 0),
            termination: Termination::PlaceholderReplaced,
        }),
        Event::Ask(AskEvent::Placed { ask: id(25, 1), node: id(26, 2) }),
        Event::Allocation(AllocationEvent::Resized { allocation: id(27, 0), resources: amounts() }),
        Event::Allocation(AllocationEvent::Released {
            allocation: id(28, 1),
            termination: Termination::PlaceholderReplaced,
        }),
        Event::Ask(AskEvent::Reserved { ask: id(29, 2), node: id(30, 0) }),
        Event::Ask(AskEvent::Unreserved { ask: id(31, 1) }),
        Event::Ask(AskEvent::Held { ask: id(31, 2), top: id(3, 1) }),
        Event::Ask(AskEvent::HoldEnded { ask: id(31, 3) }),
        Event::Allocation(AllocationEvent::SwapStarted {
            ask: id(32, 2),
            placeholder: id(33, 0),
            node: id(34, 1),
        }),
        Event::Allocation(AllocationEvent::SwapConfirmed { placeholder: id(35, 2) }),
        Event::Allocation(AllocationEvent::SwapDropped { ask: id(36, 0) }),
        Event::Allocation(AllocationEvent::ReleaseAsked {
            allocation: id(37, 1),
            termination: Termination::PlaceholderReplaced,
        }),
        Event::Allocation(AllocationEvent::Preempted {
            victim: id(38, 2),
            cause: PreemptionCause::Quota(id(3, 0)),
        }),
        Event::Allocation(AllocationEvent::PreemptionObserved {
            victim: id(38, 3),
            cause: PreemptionCause::Priority(id(9, 1)),
        }),
        Event::Ask(AskEvent::PreemptionTriggered { ask: id(39, 0) }),
        Event::Ask(AskEvent::PreemptionTried { ask: id(40, 1) }),
        Event::Queue(QueueEvent::QuotaClockStopped { queue: id(41, 2) }),
    ]
}

fn of_others() -> Vec<Event> {
    vec![
        Event::Ask(AskEvent::ScaleUpAsked { ask: id(42, 0) }),
        Event::Foreign(ForeignEvent::Set {
            partition: id(43, 1),
            key: name("key"),
            node: id(44, 2),
            resources: amounts(),
            preemptable: true,
        }),
        Event::Foreign(ForeignEvent::Removed { partition: id(45, 0), key: name("key") }),
        Event::Partition(PartitionEvent::QuestionsSet {
            partition: id(46, 1),
            questions: Some(Questions { victims: false, at_once: NonZeroU16::MAX }),
        }),
        Event::Ask(AskEvent::Asked {
            ask: id(47, 2),
            subject: QuestionSubject::Nodes(QuestionMode::Reserve, vec![id(0, 0), id(70_000, 1)]),
        }),
        Event::Ask(AskEvent::Answered {
            ask: id(48, 0),
            verdicts: vec![
                (id(0, 0), NodeVerdict::Suits),
                (id(1, 2), NodeVerdict::Refused(name("taint"))),
                (id(2, 2), NodeVerdict::SuitsWithout(2)),
            ],
        }),
        Event::Node(NodeEvent::VerdictsVoid { node: id(49, 1) }),
        Event::Tenant(TenantEvent::Set {
            partition: id(50, 0),
            tenant: name("tenant-b"),
            settings: Box::new(tenant_as_limit()),
        }),
        Event::Tenant(TenantEvent::Draining { partition: id(51, 1), tenant: name("tenant-b") }),
        Event::Tenant(TenantEvent::Removed { partition: id(52, 2), tenant: name("tenant-b") }),
        Event::Tenant(TenantEvent::DefaultsSet {
            partition: id(53, 0),
            defaults: Box::new(tenant_defaults()),
        }),
        Event::Tenant(TenantEvent::DriftFound { partition: id(57, 0), drift: drift() }),
        Event::Partition(PartitionEvent::RecoverySet {
            partition: id(58, 0),
            until: Some(Timestamp::from_millis(9)),
        }),
        Event::Node(NodeEvent::Reported { node: id(59, 3) }),
        Event::Partition(PartitionEvent::ManagerAway {
            partition: id(60, 1),
            away: Some(Away { manager: name("rm"), since: Timestamp::from_millis(8) }),
        }),
    ]
}

fn of_tasks() -> Vec<Event> {
    let request = TaskRequest { key: name("key"), digest: name("af05") };
    let settings = TaskSettings {
        tenant: name("tenant-a"),
        members: 2,
        requeue: true,
        restarts: 3,
        max_wait: Some(Millis::new(7_000)),
        request: request.clone(),
    };
    let short = |amount: i64| ThrottledType {
        resource: name("vcore"),
        used: Quantity::of(amount),
        asked: Quantity::of(2),
        limit: Quantity::MAX,
    };
    let types = vec![short(1), short(-1)];
    let reason = Throttled { code: name("TENANT_QUOTA"), scope: name("tenant-a"), types };
    let step = TaskStep::Ended { outcome: TaskOutcome::Evicted, request };
    vec![
        Event::Task(TaskEvent::Added { application: id(54, 0), settings }),
        Event::Task(TaskEvent::Throttled { application: id(55, 1), reason }),
        Event::Task(TaskEvent::Moved { application: id(56, 0), step }),
    ]
}
