//! Conversion of tenant settings between the interface and the core.

use std::collections::BTreeMap;

use headroom_api::headroomv1::{
    self as api, Amount, TenantMode, TenantQuota, TenantState, display_amount,
};
use headroom_core::books::{Tenant, Tenants};
use headroom_core::config::tenant::{
    INSTANCES, OnLower, Oversized, TenantKind, TenantMapping, TenantSubject, WaitingPolicy,
    WaitingStrategy,
};
use headroom_core::config::{TenantDefaults, TenantSettings};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{Millis, Name, RefusalCode};

/// A value that is not allowed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// Code of the broken rule.
    pub(super) rule: RefusalCode,
    /// Explanation as a sentence.
    pub(super) detail: String,
}

/// Default time for which tasks of a lowered tenant continue, in seconds.
const GRACE_SECONDS: u32 = 60;

/// Parses amounts. `what` is their name in refusals.
pub(super) fn amounts(what: &str, sent: &api::Amounts) -> Result<Amounts, Unfit> {
    let one = |(resource, amount): (&String, &Amount)| {
        if resource == INSTANCES {
            let detail = format!(
                "{what} names {INSTANCES} in `resources`. Use the field {INSTANCES} of the quota."
            );
            return Err(Unfit { rule: RefusalCode::ReservedType, detail });
        }
        let amount = match amount {
            Amount::Units(units) => Quantity::of(*units),
            Amount::Text(text) => Quantity::parse(resource, text).map_err(|error| {
                let detail = format!("{what}: {resource} is {text:?}: {error}");
                Unfit { rule: RefusalCode::TenantAmount, detail }
            })?,
        };
        Ok((Name::new(resource), amount))
    };
    sent.iter().map(one).collect()
}

/// Returns the amounts of a quota. `None` if the quota has no amounts.
fn quota_amounts(quota: &TenantQuota) -> Result<Option<Amounts>, Unfit> {
    if quota.resources.is_none() && quota.instances.is_none() {
        return Ok(None);
    }
    let nothing = api::Amounts::new();
    let mut all = amounts("the quota", quota.resources.as_ref().unwrap_or(&nothing))?;
    match quota.instances {
        // Some clients write `-1` for an unlimited number.
        None | Some(-1) => {}
        Some(count) => {
            all.set(INSTANCES, Quantity::of(count));
        }
    }
    Ok(Some(all))
}

/// Writes the quota of a request into settings.
pub(super) fn set_quota(
    settings: &mut TenantSettings,
    quota: Option<&TenantQuota>,
) -> Result<(), Unfit> {
    let usual = TenantQuota::default();
    let quota = quota.unwrap_or(&usual);
    settings.quota = quota_amounts(quota)?;
    settings.max_waiting = quota.max_waiting;
    settings.max_applications = quota.max_applications.unwrap_or(0);
    Ok(())
}

/// Returns all settings of a tenant. `path` is the path of its queue, if the tenant has its own queue.
pub(super) fn settings(tenant: &api::Tenant, path: &str) -> Result<TenantSettings, Unfit> {
    let mut settings = TenantSettings {
        display_name: Name::new(&tenant.display_name),
        kind: match tenant.kind {
            api::TenantKind::User => TenantKind::User,
            api::TenantKind::Project => TenantKind::Project,
            api::TenantKind::Department => TenantKind::Department,
        },
        parent: tenant.parent.as_ref().map(Name::new),
        suspended: tenant.state == TenantState::Suspended,
        guaranteed: amounts("the guarantee", &tenant.guaranteed)?,
        strict_sum: tenant.strict_sum,
        waiting: tenant.waiting.as_ref().map(waiting),
        on_lower: tenant.on_lower.map(on_lower),
        oversized: tenant.oversized.map(oversized),
        mapping: mapping(tenant.mapping.as_ref(), path)?,
        labels: tenant
            .labels
            .iter()
            .map(|(key, value)| (Name::new(key), Name::new(value)))
            .collect(),
        ..TenantSettings::default()
    };
    set_quota(&mut settings, tenant.quota.as_ref())?;
    Ok(settings)
}

fn mapping(mapping: Option<&api::TenantMapping>, path: &str) -> Result<TenantMapping, Unfit> {
    let Some(mapping) = mapping else { return Ok(TenantMapping::Queue) };
    let unfit = |detail: String| Err(Unfit { rule: RefusalCode::TenantMode, detail });
    let whose = (mapping.user.as_deref(), mapping.group.as_deref());
    match (mapping.mode, whose, mapping.queue.as_deref()) {
        (TenantMode::Queue, (None, None), queue) => match queue {
            Some(queue) if !queue.eq_ignore_ascii_case(path) => unfit(format!(
                "`mapping` has queue {queue}, but the queue of this tenant is {path}. Set the \
                 queue to {path}, or omit the queue."
            )),
            _ => Ok(TenantMapping::Queue),
        },
        (TenantMode::Queue, ..) => unfit(
            "`mapping` has a user or group, but mode `queue` does not allow them. Set mode \
             `limit`, or omit the user and group."
                .into(),
        ),
        (TenantMode::Limit, _, None) => unfit(
            "`mapping` of mode `limit` has no `queue`. Set `queue` to the queue that the \
                   tenant limits."
                .into(),
        ),
        (TenantMode::Limit, (Some(user), None), Some(queue)) => Ok(TenantMapping::Limit {
            queue: Name::new(queue),
            subject: TenantSubject::User(Name::new(user)),
        }),
        (TenantMode::Limit, (None, Some(group)), Some(queue)) => Ok(TenantMapping::Limit {
            queue: Name::new(queue),
            subject: TenantSubject::Group(Name::new(group)),
        }),
        (TenantMode::Limit, ..) => unfit(
            "`mapping` of mode `limit` needs either `user` or `group`. Set one of them.".into(),
        ),
    }
}

fn seconds(span: Option<u32>) -> Option<Millis> {
    span.map(|seconds| Millis::from_secs(seconds.into()))
}

fn waiting(policy: &api::WaitingPolicy) -> WaitingPolicy {
    WaitingPolicy {
        strategy: match policy.strategy {
            api::WaitingStrategy::Fifo => WaitingStrategy::Fifo,
            api::WaitingStrategy::FifoBackfill => WaitingStrategy::FifoBackfill,
            api::WaitingStrategy::Priority => WaitingStrategy::Priority,
            api::WaitingStrategy::Urgency => WaitingStrategy::Urgency,
        },
        aging_interval: seconds(policy.aging_interval_seconds),
        aging_step: policy.aging_step,
        aging_max: policy.aging_max,
        max_overtakes: policy.max_overtakes,
        max_head_wait: seconds(policy.max_head_wait_seconds),
        max_wait: seconds(policy.max_wait_seconds).filter(|wait| *wait > Millis::ZERO),
    }
}

fn on_lower(on_lower: api::OnLower) -> OnLower {
    match on_lower.action {
        api::OnLowerAction::Block => OnLower::Block,
        api::OnLowerAction::Refuse => OnLower::Refuse,
        api::OnLowerAction::Preempt => {
            let grace = on_lower.grace_seconds.unwrap_or(GRACE_SECONDS);
            OnLower::Preempt { grace: Millis::from_secs(grace.into()) }
        }
    }
}

fn oversized(oversized: api::Oversized) -> Oversized {
    match oversized {
        api::Oversized::Reject => Oversized::Reject,
        api::Oversized::Park => Oversized::Park,
    }
}

/// Returns the defaults of tenants.
pub(super) fn defaults(defaults: &api::TenantDefaults) -> Result<TenantDefaults, Unfit> {
    let usual = TenantQuota::default();
    let quota = defaults.quota.as_ref().unwrap_or(&usual);
    if quota.max_applications.is_some() {
        let detail = "the defaults set `maxApplications`, which has no default. Remove \
                      `maxApplications` from the defaults.";
        return Err(Unfit { rule: RefusalCode::TenantDefaults, detail: detail.into() });
    }
    Ok(TenantDefaults {
        quota: quota_amounts(quota)?.unwrap_or_default(),
        max_waiting: quota.max_waiting,
        waiting: waiting(&defaults.waiting),
        on_lower: on_lower(defaults.on_lower),
        oversized: oversized(defaults.oversized),
    })
}

/// Returns a tenant for a response.
pub(super) fn tenant(name: &Name, row: &Tenant, tenants: &Tenants, root: &Name) -> api::Tenant {
    let settings = &row.settings;
    let quota = quota(settings);
    api::Tenant {
        id: name.to_string(),
        display_name: settings.display_name.to_string(),
        kind: match settings.kind {
            TenantKind::User => api::TenantKind::User,
            TenantKind::Project => api::TenantKind::Project,
            TenantKind::Department => api::TenantKind::Department,
        },
        parent: settings.parent.as_ref().map(Name::to_string),
        state: if settings.suspended { TenantState::Suspended } else { TenantState::Active },
        quota: (quota != TenantQuota::default()).then_some(quota),
        guaranteed: amounts_body(&settings.guaranteed).0,
        strict_sum: settings.strict_sum,
        waiting: settings.waiting.as_ref().map(waiting_body),
        on_lower: settings.on_lower.map(on_lower_body),
        oversized: settings.oversized.map(oversized_body),
        mapping: Some(match &settings.mapping {
            TenantMapping::Queue => api::TenantMapping {
                queue: tenants.path_of(root, name).as_ref().map(Name::to_string),
                ..api::TenantMapping::default()
            },
            TenantMapping::Limit { queue, subject } => {
                let (user, group) = match subject {
                    TenantSubject::User(user) => (Some(user.to_string()), None),
                    TenantSubject::Group(group) => (None, Some(group.to_string())),
                };
                let queue = Some(queue.to_string());
                api::TenantMapping { mode: TenantMode::Limit, queue, user, group }
            }
        }),
        labels: settings
            .labels
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        version: row.version,
        draining: row.draining,
    }
}

/// Returns the quota of a tenant for a response.
pub(super) fn quota(settings: &TenantSettings) -> TenantQuota {
    TenantQuota {
        max_waiting: settings.max_waiting,
        max_applications: Some(settings.max_applications).filter(|most| *most > 0),
        ..settings.quota.as_ref().map(quota_body).unwrap_or_default()
    }
}

fn quota_body(quota: &Amounts) -> TenantQuota {
    let (mut resources, display) = amounts_body(quota);
    resources.remove(INSTANCES);
    TenantQuota {
        resources: Some(resources),
        instances: quota.get(INSTANCES).map(Quantity::get),
        display,
        ..TenantQuota::default()
    }
}

/// Returns amounts for a response, and as text for people.
fn amounts_body(amounts: &Amounts) -> (api::Amounts, BTreeMap<String, String>) {
    let units = |(name, amount): (&Name, Quantity)| (name.to_string(), Amount::Units(amount.get()));
    let shown =
        |(name, amount): (&Name, Quantity)| (name.to_string(), display_amount(name, amount.get()));
    (amounts.iter().map(units).collect(), amounts.iter().map(shown).collect())
}

/// Returns whole seconds. A value that is too large for the field becomes the largest.
fn whole_seconds(span: Option<Millis>) -> Option<u32> {
    span.map(|span| u32::try_from(span.get() / 1_000).unwrap_or(u32::MAX))
}

pub(super) fn waiting_body(policy: &WaitingPolicy) -> api::WaitingPolicy {
    api::WaitingPolicy {
        strategy: match policy.strategy {
            WaitingStrategy::Fifo => api::WaitingStrategy::Fifo,
            WaitingStrategy::FifoBackfill => api::WaitingStrategy::FifoBackfill,
            WaitingStrategy::Priority => api::WaitingStrategy::Priority,
            WaitingStrategy::Urgency => api::WaitingStrategy::Urgency,
        },
        aging_interval_seconds: whole_seconds(policy.aging_interval),
        aging_step: policy.aging_step,
        aging_max: policy.aging_max,
        max_overtakes: policy.max_overtakes,
        max_head_wait_seconds: whole_seconds(policy.max_head_wait),
        max_wait_seconds: whole_seconds(policy.max_wait),
    }
}

fn on_lower_body(on_lower: OnLower) -> api::OnLower {
    match on_lower {
        OnLower::Block => api::OnLower::default(),
        OnLower::Refuse => api::OnLower { action: api::OnLowerAction::Refuse, grace_seconds: None },
        OnLower::Preempt { grace } => api::OnLower {
            action: api::OnLowerAction::Preempt,
            grace_seconds: whole_seconds(Some(grace)),
        },
    }
}

const fn oversized_body(oversized: Oversized) -> api::Oversized {
    match oversized {
        Oversized::Reject => api::Oversized::Reject,
        Oversized::Park => api::Oversized::Park,
    }
}

/// Returns the defaults of tenants for a response.
pub(super) fn defaults_body(tenants: &Tenants) -> api::TenantDefaults {
    let defaults = tenants.defaults();
    let quota = TenantQuota { max_waiting: defaults.max_waiting, ..quota_body(&defaults.quota) };
    api::TenantDefaults {
        quota: Some(quota),
        waiting: waiting_body(&defaults.waiting),
        on_lower: on_lower_body(defaults.on_lower),
        oversized: oversized_body(defaults.oversized),
        version: tenants.defaults_version(),
    }
}
