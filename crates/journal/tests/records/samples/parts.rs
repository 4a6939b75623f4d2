//! What samples are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::books::{
    GangSettings, GangStyle, PartitionSettings, QueueSettings, TenantQueue,
};
use headroom_core::config::tenant::{
    OnLower, Oversized, TenantKind, TenantMapping, TenantSubject, WaitingPolicy, WaitingStrategy,
};
use headroom_core::config::{
    AccessList, ApplicationLimitsConfig, ApplicationOrder, CapacityConfig, CapacityShare,
    Configuration, FilterConfig, GangPlacement, LabelCapacity, LifetimesConfig, LimitConfig,
    LimitPrecedence, NodeLabelsConfig, NodeOrder, NodeSortConfig, OvertakingLimits,
    PartitionConfig, PreemptionConfig, PreemptionPolicy, PriorityPolicy, PropertyValues,
    QueueConfig, QueuePreemptionConfig, QueueStart, RuleConfig, TemplateConfig, TenantDefaults,
    TenantSettings, TenantsConfig, UserFactor, UserLimitsConfig, WithinQueue,
};
use headroom_core::id::{Id, Slot};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};
use headroom_core::{Millis, Name, TenantDrift};

pub(crate) fn id<I: Id>(slot: u32, generation: u32) -> I {
    I::from_slot(Slot::new(slot, generation))
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text)
}

pub(crate) fn names(texts: &[&str]) -> Vec<Name> {
    texts.iter().map(Name::new).collect()
}

pub(crate) fn amounts() -> Amounts {
    let extremes = [("least", Quantity::MIN), ("most", Quantity::MAX), ("none", Quantity::ZERO)];
    extremes.into_iter().chain([("vcore", Quantity::of(500))]).collect()
}

fn properties() -> BTreeMap<Name, Name> {
    [("zone", "a"), ("priority.offset", "-3"), ("", "")]
        .map(|(key, value)| (name(key), name(value)))
        .into()
}

fn template() -> TemplateConfig {
    TemplateConfig {
        max_applications: 4,
        properties: properties(),
        max: amounts(),
        guaranteed: Amounts::from([("memory", 1 << 40)]),
        user_limits: Some(user_limits()),
        application_limits: Some(application_limits()),
        capacity: Some(capacity(CapacityShare::Weight(Decimal::ZERO))),
    }
}

fn capacity(share: CapacityShare) -> CapacityConfig {
    CapacityConfig { share, maximum: Decimal::parse("66.666666") }
}

fn user_limits() -> UserLimitsConfig {
    let weight = |user: &str, text: &str| (name(user), Decimal::parse(text).expect("a decimal"));
    UserLimitsConfig {
        formula: Some(Formula::Yarn27),
        enforcement: Some(Enforcement::Overshoot),
        calculator: Some(Calculator::Dominant),
        floor: Decimal::parse("33.333333"),
        factor: Decimal::parse("2.5").map(UserFactor::Times),
        weights: vec![weight("ann", "0"), weight("bob", "1.000001")],
        minimum_allocation: Some(amounts()),
        increment: Some(Amounts::EMPTY),
        maximum_allocation: Some(Amounts::from([("memory", 1 << 40)])),
    }
}

/// The smallest block.
fn few_user_limits() -> UserLimitsConfig {
    UserLimitsConfig { factor: Some(UserFactor::Off), ..UserLimitsConfig::default() }
}

fn application_limits() -> ApplicationLimitsConfig {
    ApplicationLimitsConfig {
        max: Some(u64::MAX),
        max_per_user: Some(1_000),
        max_parallel: Some(200),
        max_parallel_per_user: Some(1),
        max_parallel_by_user: vec![(name("ann"), 5), (name("bob"), u64::MAX)],
        driver: Decimal::parse("0.000001"),
        max_per_queue: Some(7),
    }
}

/// A number that is zero, and written.
fn few_application_limits() -> ApplicationLimitsConfig {
    ApplicationLimitsConfig { driver: Some(Decimal::ZERO), ..ApplicationLimitsConfig::default() }
}

fn lifetimes() -> LifetimesConfig {
    LifetimesConfig { maximum: Some(Millis::from_secs(9)), default: Some(Millis::ZERO) }
}

fn node_labels() -> NodeLabelsConfig {
    NodeLabelsConfig {
        accessible: Some(names(&["fpga", "gpu"])),
        default: Some(name("gpu")),
        exclusive: names(&["*"]),
        lends: names(&["gpu"]),
    }
}

fn label_capacity(share: CapacityShare) -> LabelCapacity {
    LabelCapacity { label: name("gpu"), capacity: capacity(share) }
}

fn rule() -> RuleConfig {
    let filter =
        FilterConfig { kind: "deny".into(), users: names(&["^adm"]), groups: names(&["dev"]) };
    let parent =
        RuleConfig { name: "fixed".into(), value: "root.users".into(), ..RuleConfig::default() };
    RuleConfig {
        name: "tag".into(),
        create: true,
        filter,
        parent: Some(Box::new(parent)),
        value: "namespace".into(),
    }
}

fn node_sort() -> NodeSortConfig {
    let weights = vec![(name("vcore"), 0.1), (name("memory"), -0.0)];
    NodeSortConfig { order: NodeOrder::BinPacking, weights }
}

const PREEMPTION: PreemptionConfig = PreemptionConfig {
    enabled: true,
    quota_enabled: true,
    strict_guarantee: true,
    balance: true,
    intra_queue_enabled: true,
    observe_only: true,
};

const fn queue_preemption(balance: Option<bool>) -> QueuePreemptionConfig {
    QueuePreemptionConfig {
        disabled: Some(true),
        intra_queue_disabled: Some(false),
        balance,
        within_queue: Some(WithinQueue::Priority),
        min_runtime: Some(Millis::new(9)),
    }
}

pub(crate) fn configuration() -> Configuration {
    let limit = LimitConfig {
        description: "for all".into(),
        users: names(&["ann", "*"]),
        groups: names(&["dev"]),
        max_resources: amounts(),
        max_applications: 3,
    };
    let queue = |name: &str, children| QueueConfig {
        name: name.into(),
        parent: true,
        children,
        max: amounts(),
        guaranteed: Amounts::from([("gpu", 1)]),
        max_applications: 9,
        properties: properties(),
        admin_acl: "ann dev".into(),
        submit_acl: "*".into(),
        template: Some(template()),
        limits: vec![limit.clone()],
        user_limits: Some(few_user_limits()),
        application_limits: Some(few_application_limits()),
        capacity: Some(CapacityConfig { share: CapacityShare::Absolute, maximum: None }),
        label_capacities: vec![label_capacity(CapacityShare::Weight(Decimal::ONE))],
        preemption: queue_preemption(None),
        start: Some(QueueStart::Stopped),
        lifetimes: lifetimes(),
        node_labels: Some(NodeLabelsConfig {
            accessible: Some(Vec::new()),
            ..NodeLabelsConfig::default()
        }),
    };
    let lone = |name: &str| QueueConfig { name: name.into(), ..QueueConfig::default() };
    let deep = queue("b", vec![queue("c", vec![lone("d")]), lone("e")]);
    let root = queue("root", vec![lone("a"), deep, lone("f")]);
    let full = PartitionConfig {
        placement_rules: vec![rule(), RuleConfig::default()],
        node_sort: node_sort(),
        preemption: PREEMPTION,
        limit_precedence: LimitPrecedence::User,
        gang_placement: GangPlacement::Whole,
        starvation_after: Millis::from_secs(300),
        reservation_share: Some(Decimal::TENTH),
        user_group_resolver: "os".into(),
        user_limits: Some(user_limits()),
        application_limits: Some(application_limits()),
        tenants: Some(tenants()),
        ..PartitionConfig::new("default", root)
    };
    let empty = PartitionConfig::new("gpu", lone("root"));
    Configuration { partitions: vec![full, empty], checksum: name("00ff") }
}

pub(crate) fn partition_settings() -> PartitionSettings {
    PartitionSettings {
        node_sort: node_sort(),
        preemption: PREEMPTION,
        limit_precedence: LimitPrecedence::User,
        placement_rules: [rule(), RuleConfig::default()].into(),
        user_group_resolver: name("os"),
        tenants: Some(Arc::new(tenants())),
        gang_placement: GangPlacement::Whole,
        starvation_after: Millis::from_secs(300),
        reservation_share: Some(Decimal::TENTH),
    }
}

pub(crate) fn queue_settings() -> QueueSettings {
    let list = |text| AccessList::parse(text).expect("two words");
    QueueSettings {
        max: Some(amounts()),
        guaranteed: Some(Amounts::EMPTY),
        max_applications: u64::MAX,
        properties: properties(),
        values: PropertyValues {
            application_order: ApplicationOrder::Fair,
            priority_first: true,
            backoff: 2,
            backoff_delay: Millis::new(3),
            priority_policy: PriorityPolicy::Fence,
            priority_offset: -3,
            preemption_policy: PreemptionPolicy::Disabled,
            preemption_delay: Millis::new(4),
            quota_preemption_delay: Millis::new(5),
            line: OvertakingLimits {
                aging_interval: Millis::new(6),
                aging_step: 7,
                aging_max: 8,
                max_overtakes: 9,
                max_head_wait: Millis::new(10),
            },
        },
        submit_acl: list("ann,bob dev,ops"),
        admin_acl: list("*"),
        template: Some(Arc::new(template())),
        user_limits: Some(Arc::new(user_limits())),
        application_limits: Some(Arc::new(application_limits())),
        capacity: Some(capacity(CapacityShare::Percent(Decimal::HUNDRED))),
        label_capacities: vec![label_capacity(CapacityShare::Percent(Decimal::ZERO))],
        preemption: queue_preemption(Some(false)),
        stopped: true,
        lifetimes: lifetimes(),
        node_labels: Some(Arc::new(node_labels())),
        tenant: Some(TenantQueue { tenant: name("tenant-a"), suspended: true }),
    }
}

fn tenants() -> TenantsConfig {
    TenantsConfig {
        root: name("root.tenants"),
        exempt: names(&["operations", "system"]),
        defaults: tenant_defaults(),
        recovery_timeout: Millis::new(6),
        verify_interval: Millis::new(7),
        idempotency_ttl: Millis::new(8),
        audit_retention_days: 31,
        reclaim: false,
    }
}

pub(crate) fn drift() -> Vec<TenantDrift> {
    let (tenant, resource) = (name("tenant-a"), name("vcore"));
    let counted = Quantity::of(-7);
    vec![TenantDrift { tenant, resource, counted, found: Quantity::MAX }, TenantDrift::default()]
}

pub(crate) fn tenant_defaults() -> TenantDefaults {
    TenantDefaults {
        quota: amounts(),
        max_waiting: Some(0),
        waiting: waiting(),
        on_lower: OnLower::Preempt { grace: Millis::new(9) },
        oversized: Oversized::Park,
    }
}

fn waiting() -> WaitingPolicy {
    WaitingPolicy {
        strategy: WaitingStrategy::Urgency,
        aging_interval: Some(Millis::new(10)),
        aging_step: Some(1),
        aging_max: Some(u32::MAX),
        max_overtakes: Some(0),
        max_head_wait: Some(Millis::new(11)),
        max_wait: Some(Millis::new(12)),
    }
}

pub(crate) fn tenant_settings() -> TenantSettings {
    TenantSettings {
        display_name: name("Tenant A, ü"),
        kind: TenantKind::Department,
        parent: Some(name("tenant-p")),
        suspended: true,
        quota: Some(amounts()),
        guaranteed: amounts(),
        max_waiting: Some(10_000),
        max_applications: 13,
        strict_sum: true,
        waiting: Some(waiting()),
        on_lower: Some(OnLower::Refuse),
        oversized: Some(Oversized::Reject),
        mapping: TenantMapping::Queue,
        labels: properties(),
    }
}

/// A tenant with few settings.
pub(crate) fn tenant_as_limit() -> TenantSettings {
    TenantSettings {
        quota: Some(Amounts::EMPTY),
        waiting: Some(WaitingPolicy::default()),
        on_lower: Some(OnLower::Block),
        mapping: TenantMapping::Limit {
            queue: name("root.b"),
            subject: TenantSubject::Group(name("dev")),
        },
        ..TenantSettings::default()
    }
}

pub(crate) fn gang() -> GangSettings {
    GangSettings { ask: amounts(), style: GangStyle::Hard, timeout: Millis::from_secs(9) }
}
