use std::num::NonZeroU16;

use headroom_core::books::{
    ApplicationState, Away, LimitSettings, LimitSubject, NodeVerdict, QuestionMode,
    QuestionSubject, Questions, QueueState, TaskOutcome, TaskRequest, TaskSettings,
};
use headroom_core::resource::Quantity;
use headroom_core::{
    AskTraits, Event, Millis, PreemptionCause, TaskStep, Termination, Throttled, ThrottledType,
    Timestamp,
};

use super::named;
use super::parts::{
    amounts, drift, gang, id, name, names, partition_settings, queue_settings, tenant_as_limit,
    tenant_defaults,
};

named!(Event {
    PartitionAdded "partition-added"
    PartitionChanged "partition-changed"
    PartitionRemoved "partition-removed"
    Configured "configured"
    QueueAdded "queue-added"
    QueueChanged "queue-changed"
    QueueMoved "queue-moved"
    QueueRemoved "queue-removed"
    LimitsChanged "limits-changed"
    NodeAdded "node-added"
    NodeResized "node-resized"
    NodeScheduling "node-scheduling"
    NodeRemoved "node-removed"
    ApplicationAdded "application-added"
    ApplicationRejected "application-rejected"
    ApplicationLinked "application-linked"
    GroupUnlinked "group-unlinked"
    ApplicationUnlinked "application-unlinked"
    ApplicationMoved "application-moved"
    ApplicationAllocating "application-allocating"
    ApplicationActivated "application-activated"
    LifetimeSet "lifetime-set"
    LifetimeOver "lifetime-over"
    DeadlineSet "deadline-set"
    Overtaken "overtaken"
    ApplicationRemoved "application-removed"
    AskAdded "ask-added"
    AskRemoved "ask-removed"
    Placed "placed"
    Resized "resized"
    Released "released"
    Reserved "reserved"
    Unreserved "unreserved"
    SwapStarted "swap-started"
    SwapConfirmed "swap-confirmed"
    SwapDropped "swap-dropped"
    ReleaseAsked "release-asked"
    Preempted "preempted"
    PreemptionObserved "preemption-observed"
    PreemptionTriggered "preemption-triggered"
    PreemptionTried "preemption-tried"
    QuotaClockStopped "quota-clock-stopped"
    BackedOff "backed-off"
    PlaceholdersExpired "placeholders-expired"
    TimerStopped "timer-stopped"
    ScaleUpAsked "scale-up-asked"
    ForeignSet "foreign-set"
    ForeignRemoved "foreign-removed"
    QuestionsSet "questions-set"
    Asked "asked"
    Answered "answered"
    VerdictsVoid "verdicts-void"
    TenantSet "tenant-set"
    TenantDraining "tenant-draining"
    TenantRemoved "tenant-removed"
    TenantDefaultsSet "tenant-defaults-set"
    DriftFound "drift-found"
    RecoverySet "recovery-set"
    ManagerAway "manager-away"
    NodeReported "node-reported"
    TaskAdded "task-added"
    TaskThrottled "task-throttled"
    TaskMoved "task-moved"
});

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
        Event::PartitionAdded {
            partition: name("partition"),
            settings: partition_settings(),
            root: queue_settings(),
        },
        Event::PartitionChanged { partition: id(1, 1), settings: partition_settings() },
        Event::PartitionRemoved { partition: id(2, 2) },
        Event::Configured { checksum: name("checksum") },
        Event::QueueAdded {
            partition: id(3, 0),
            parent: name("parent"),
            name: name("name"),
            leaf: true,
            managed: true,
            settings: queue_settings(),
        },
        Event::QueueChanged {
            partition: id(4, 1),
            queue: name("queue"),
            leaf: true,
            managed: true,
            settings: queue_settings(),
        },
        Event::QueueMoved {
            partition: id(5, 2),
            queue: name("queue"),
            state: QueueState::Draining,
        },
        Event::QueueRemoved { queue: id(6, 0) },
        Event::LimitsChanged { partition: id(7, 1), queue: name("queue"), limits: limits() },
        Event::NodeAdded {
            partition: id(8, 2),
            node: name("node"),
            capacity: amounts(),
            schedulable: true,
            attributes: [("si/rackname", "r1")].into_iter().collect(),
        },
        Event::NodeResized { node: id(9, 0), capacity: amounts() },
        Event::NodeScheduling { node: id(10, 1), schedulable: true },
        Event::NodeRemoved { node: id(11, 2) },
    ]
}

fn of_applications() -> Vec<Event> {
    vec![
        Event::ApplicationAdded {
            partition: id(12, 0),
            queue: name("queue"),
            application: name("application"),
            user: name("user"),
            groups: names(&["dev", "ops"]),
            gang: gang(),
        },
        Event::ApplicationRejected {
            partition: id(13, 1),
            queue: name("queue"),
            application: name("application"),
            user: name("user"),
            groups: names(&["dev", "ops"]),
            code: name("code"),
            message: name("message"),
        },
        Event::ApplicationLinked { application: id(14, 2), group: Some(name("*")) },
        Event::GroupUnlinked { application: id(15, 0) },
        Event::ApplicationUnlinked { application: id(16, 1) },
        Event::ApplicationMoved {
            application: id(17, 2),
            state: ApplicationState::Failing,
            timer: Some(Timestamp::ZERO),
        },
        Event::ApplicationAllocating { application: id(18, 0) },
        Event::ApplicationActivated { application: id(18, 1), driver: amounts() },
        Event::LifetimeSet {
            application: id(18, 2),
            since: Timestamp::from_millis(7),
            asked: Some(Millis::from_secs(9)),
        },
        Event::LifetimeOver { application: id(18, 3) },
        Event::DeadlineSet {
            application: id(18, 4),
            deadline: Some(Timestamp::from_millis(11)),
            estimate: Millis::from_secs(13),
        },
        Event::Overtaken { application: id(18, 5) },
        Event::ApplicationRemoved { application: id(19, 1) },
        Event::BackedOff { application: id(20, 2), until: Timestamp::from_millis(u64::MAX) },
        Event::PlaceholdersExpired { application: id(21, 0) },
        Event::TimerStopped { application: id(22, 1) },
    ]
}

fn of_allocations() -> Vec<Event> {
    vec![
        Event::AskAdded {
            application: id(23, 2),
            key: name("key"),
            resources: amounts(),
            priority: -1,
            created: Timestamp::from_millis(u64::MAX),
            traits: traits(),
        },
        Event::AskRemoved { ask: id(24, 0), termination: Termination::PlaceholderReplaced },
        Event::Placed { ask: id(25, 1), node: id(26, 2) },
        Event::Resized { allocation: id(27, 0), resources: amounts() },
        Event::Released { allocation: id(28, 1), termination: Termination::PlaceholderReplaced },
        Event::Reserved { ask: id(29, 2), node: id(30, 0) },
        Event::Unreserved { ask: id(31, 1) },
        Event::SwapStarted { ask: id(32, 2), placeholder: id(33, 0), node: id(34, 1) },
        Event::SwapConfirmed { placeholder: id(35, 2) },
        Event::SwapDropped { ask: id(36, 0) },
        Event::ReleaseAsked {
            allocation: id(37, 1),
            termination: Termination::PlaceholderReplaced,
        },
        Event::Preempted { victim: id(38, 2), cause: PreemptionCause::Quota(id(3, 0)) },
        Event::PreemptionObserved { victim: id(38, 3), cause: PreemptionCause::Share(id(9, 1)) },
        Event::PreemptionTriggered { ask: id(39, 0) },
        Event::PreemptionTried { ask: id(40, 1) },
        Event::QuotaClockStopped { queue: id(41, 2) },
    ]
}

fn of_others() -> Vec<Event> {
    vec![
        Event::ScaleUpAsked { ask: id(42, 0) },
        Event::ForeignSet {
            partition: id(43, 1),
            key: name("key"),
            node: id(44, 2),
            resources: amounts(),
            preemptable: true,
        },
        Event::ForeignRemoved { partition: id(45, 0), key: name("key") },
        Event::QuestionsSet {
            partition: id(46, 1),
            questions: Some(Questions { victims: false, at_once: NonZeroU16::MAX }),
        },
        Event::Asked {
            ask: id(47, 2),
            subject: QuestionSubject::Nodes(QuestionMode::Reserve, vec![id(0, 0), id(70_000, 1)]),
        },
        Event::Answered {
            ask: id(48, 0),
            verdicts: vec![
                (id(0, 0), NodeVerdict::Suits),
                (id(1, 2), NodeVerdict::Refused(name("taint"))),
                (id(2, 2), NodeVerdict::SuitsWithout(2)),
            ],
        },
        Event::VerdictsVoid { node: id(49, 1) },
        Event::TenantSet {
            partition: id(50, 0),
            tenant: name("tenant-b"),
            settings: tenant_as_limit(),
        },
        Event::TenantDraining { partition: id(51, 1), tenant: name("tenant-b") },
        Event::TenantRemoved { partition: id(52, 2), tenant: name("tenant-b") },
        Event::TenantDefaultsSet { partition: id(53, 0), defaults: tenant_defaults() },
        Event::DriftFound { partition: id(57, 0), drift: drift() },
        Event::RecoverySet { partition: id(58, 0), until: Some(Timestamp::from_millis(9)) },
        Event::NodeReported { node: id(59, 3) },
        Event::ManagerAway {
            partition: id(60, 1),
            away: Some(Away { manager: name("rm"), since: Timestamp::from_millis(8) }),
        },
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
        Event::TaskAdded { application: id(54, 0), settings },
        Event::TaskThrottled { application: id(55, 1), reason },
        Event::TaskMoved { application: id(56, 0), step },
    ]
}
