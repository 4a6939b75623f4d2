//! Settings of tenants, with their names in the interface. Amounts are numbers in core units, and durations are in
//! seconds.

use headroom_core::config::tenant::{
    OnLower, TenantKind, TenantMapping, TenantSubject, WaitingPolicy,
};
use headroom_core::config::{TenantDefaults, TenantSettings};
use headroom_core::resource::Amounts;
use headroom_core::{Millis, Name};
use serde_json::{Map, Value, json};

use super::record::{AuditFields, AuditType};

/// Returns amounts by type.
pub(super) fn amounts(amounts: &Amounts) -> Value {
    let all = amounts.iter().map(|(name, amount)| (name.to_string(), Value::from(amount.get())));
    Value::Object(all.collect::<Map<_, _>>())
}

/// Types of records for the parts of the settings of a tenant, in order.
const KINDS: [AuditType; 3] =
    [AuditType::QuotaChanged, AuditType::OrderChanged, AuditType::TenantChanged];

/// Returns all settings of a tenant.
pub(super) fn all(settings: &TenantSettings) -> AuditFields {
    parts(settings).into_iter().flatten().collect()
}

/// Returns the changed settings of a tenant, by type of record.
pub(super) fn changes(
    before: &TenantSettings,
    after: &TenantSettings,
) -> impl Iterator<Item = (AuditType, AuditFields, AuditFields)> {
    differences(parts(before), parts(after))
}

/// Returns the changed defaults of tenants, by type of record.
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

/// Returns the settings of the quota, the settings of the order of tasks, and all other settings. The function names
/// each field, so a new field does not compile before it is assigned to a part.
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

/// Returns an object with its fields in alphabetical order, even if the map preserves the order of insertion.
fn object<const N: usize>(mut fields: [(&str, Value); N]) -> Value {
    fields.sort_by_key(|(name, _)| *name);
    let there = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(there.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns a duration in seconds. If the duration has milliseconds, returns a text.
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
