//! Settings of tenants, by the names that the interface has for them. Amounts are numbers in the units of
//! the core, times seconds.

use headroom_core::config::tenant::{
    OnLower, TenantKind, TenantMapping, TenantSubject, WaitingPolicy,
};
use headroom_core::config::{TenantDefaults, TenantSettings};
use headroom_core::resource::Amounts;
use headroom_core::{Millis, Name};
use serde_json::{Map, Value, json};

use super::record::{AuditFields, AuditType};

/// Amounts by type.
pub(super) fn amounts(amounts: &Amounts) -> Value {
    let all = amounts.iter().map(|(name, amount)| (name.to_string(), Value::from(amount.get())));
    Value::Object(all.collect::<Map<_, _>>())
}

/// All settings of a tenant, in the order of types.
const KINDS: [AuditType; 3] =
    [AuditType::QuotaChanged, AuditType::OrderChanged, AuditType::TenantChanged];

/// All settings of a tenant.
pub(super) fn all(settings: &TenantSettings) -> AuditFields {
    parts(settings).into_iter().flatten().collect()
}

/// Changed settings, by type.
pub(super) fn changes(
    before: &TenantSettings,
    after: &TenantSettings,
) -> impl Iterator<Item = (AuditType, AuditFields, AuditFields)> {
    differences(parts(before), parts(after))
}

/// The same of what holds for tenants that do not say otherwise.
pub(super) fn default_changes(
    before: &TenantDefaults,
    after: &TenantDefaults,
) -> impl Iterator<Item = (AuditType, AuditFields, AuditFields)> {
    differences(default_parts(before), default_parts(after))
}

type Parts = [AuditFields; 3];

fn differences(
    before: Parts,
    after: Parts,
) -> impl Iterator<Item = (AuditType, AuditFields, AuditFields)> {
    KINDS.into_iter().zip(before.into_iter().zip(after)).filter_map(|(kind, (old, new))| {
        let other = |fields: &AuditFields, than: &AuditFields| -> AuditFields {
            let differs = fields.iter().filter(|(name, value)| than.get(*name) != Some(value));
            differs.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        (old != new).then(|| (kind, other(&old, &new), other(&new, &old)))
    })
}

fn fields<const N: usize>(all: [(&str, Value); N]) -> AuditFields {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What belongs to its quota, to the order of its tasks, and all else. Fields are named one by one, so that
/// another field of a tenant does not compile before it has a place here.
fn parts(settings: &TenantSettings) -> Parts {
    let TenantSettings {
        display_name,
        kind,
        parent,
        suspended,
        quota,
        guaranteed,
        max_waiting,
        max_applications,
        strict_sum,
        waiting,
        on_lower,
        oversized,
        mapping,
        labels,
    } = settings;
    let quota = fields([
        ("quota", quota.as_ref().map_or(Value::Null, amounts)),
        ("guaranteed", amounts(guaranteed)),
        ("maxWaiting", json!(max_waiting)),
        ("maxApplications", json!(max_applications)),
        ("strictSum", json!(strict_sum)),
    ]);
    let order = fields([("waiting", waiting.as_ref().map_or(Value::Null, policy))]);
    let labels = labels.iter().map(|(key, value)| (key.to_string(), json!(value.as_str())));
    let rest = fields([
        ("displayName", json!(display_name.as_str())),
        ("kind", json!(kind_word(*kind))),
        ("parent", json!(parent.as_deref())),
        ("state", json!(if *suspended { "suspended" } else { "active" })),
        ("onLower", on_lower.map_or(Value::Null, lowering)),
        ("oversized", oversized.map_or(Value::Null, |one| json!(one.word()))),
        ("mapping", place(mapping)),
        ("labels", Value::Object(labels.collect())),
    ]);
    [quota, order, rest]
}

fn default_parts(defaults: &TenantDefaults) -> Parts {
    let TenantDefaults { quota, max_waiting, waiting, on_lower, oversized } = defaults;
    let quota = fields([("quota", amounts(quota)), ("maxWaiting", json!(max_waiting))]);
    let rest = fields([("onLower", lowering(*on_lower)), ("oversized", json!(oversized.word()))]);
    [quota, fields([("waiting", policy(waiting))]), rest]
}

/// An object with its fields in order, whatever keeps them.
fn object<const N: usize>(mut fields: [(&str, Value); N]) -> Value {
    fields.sort_by_key(|(name, _)| *name);
    let there = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(there.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Seconds; with milliseconds where they are not whole.
fn seconds(span: Option<Millis>) -> Value {
    span.map_or(Value::Null, |span| match span.get() % 1_000 {
        0 => json!(span.get() / 1_000),
        _ => json!(format!("{}ms", span.get())),
    })
}

fn policy(policy: &WaitingPolicy) -> Value {
    let WaitingPolicy {
        strategy,
        aging_interval,
        aging_step,
        aging_max,
        max_overtakes,
        max_head_wait,
        max_wait,
    } = policy;
    object([
        ("strategy", json!(strategy.word())),
        ("agingIntervalSeconds", seconds(*aging_interval)),
        ("agingStep", json!(aging_step)),
        ("agingMax", json!(aging_max)),
        ("maxOvertakes", json!(max_overtakes)),
        ("maxHeadWaitSeconds", seconds(*max_head_wait)),
        ("maxWaitSeconds", seconds(*max_wait)),
    ])
}

const fn kind_word(kind: TenantKind) -> &'static str {
    match kind {
        TenantKind::User => "user",
        TenantKind::Project => "project",
        TenantKind::Department => "department",
    }
}

fn lowering(on_lower: OnLower) -> Value {
    let grace = match on_lower {
        OnLower::Block | OnLower::Refuse => None,
        OnLower::Preempt { grace } => Some(grace),
    };
    object([("action", json!(on_lower.word())), ("graceSeconds", seconds(grace))])
}

fn place(mapping: &TenantMapping) -> Value {
    match mapping {
        TenantMapping::Queue => object([("mode", json!("queue"))]),
        TenantMapping::Limit { queue, subject } => {
            let (user, group) = match subject {
                TenantSubject::User(user) => (Some(user), None),
                TenantSubject::Group(group) => (None, Some(group)),
            };
            object([
                ("mode", json!("limit")),
                ("queue", json!(queue.as_str())),
                ("user", json!(user.map(Name::as_str))),
                ("group", json!(group.map(Name::as_str))),
            ])
        }
    }
}
