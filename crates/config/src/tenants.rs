//! Values of a valid block `tenants` of a partition.

use headroom_core::config::tenant::{OnLower, Oversized, WaitingPolicy, WaitingStrategy};
use headroom_core::config::{QueueConfig, TenantDefaults, TenantsConfig};
use headroom_core::{Millis, Name};

use crate::raw::{Defaults, Tenants, Text, Waiting};
use crate::vector::Vector;

/// Returns the path of the parent queue of tenants in lower case.
pub(crate) fn root_of(block: &Tenants) -> String {
    match &block.root {
        Some(text) => text.value.to_lowercase(),
        None => TenantsConfig::ROOT.to_owned(),
    }
}

/// Parses a whole number in digits. Rejects a leading zero, because YAML then interprets the number differently.
pub(crate) fn whole(text: &Text) -> Option<u32> {
    let digits = &text.value;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|_| is_plain)
}

pub(crate) fn strategy(word: &str) -> Option<WaitingStrategy> {
    use WaitingStrategy::{Fifo, FifoBackfill, Priority, Urgency};
    [Fifo, FifoBackfill, Priority, Urgency].into_iter().find(|one| one.word() == word)
}

pub(crate) fn oversized(word: &str) -> Option<Oversized> {
    [Oversized::Reject, Oversized::Park].into_iter().find(|one| one.word() == word)
}

/// Default time for which tasks of a lowered tenant continue.
const GRACE: Millis = Millis::from_secs(60);

pub(crate) fn on_lower(word: &str, grace: Option<&Text>) -> Option<OnLower> {
    let grace = grace.and_then(seconds).unwrap_or(GRACE);
    let all = [OnLower::Block, OnLower::Refuse, OnLower::Preempt { grace }];
    all.into_iter().find(|one| one.word() == word)
}

fn seconds(text: &Text) -> Option<Millis> {
    whole(text).map(|seconds| Millis::from_secs(seconds.into()))
}

/// Returns whether a partition with this block has tenants.
pub(crate) fn are_enabled(block: Option<&Tenants>) -> bool {
    block.is_some_and(|block| block.enabled == Some(true))
}

/// Returns the settings of tenants of a partition. `None` if tenants are not enabled.
pub(crate) fn build(block: Option<&Tenants>) -> Option<TenantsConfig> {
    let block = block.filter(|block| are_enabled(Some(block)))?;
    let usual = TenantsConfig::default();
    let span = |text: &Option<Text>, usual| text.as_ref().and_then(seconds).unwrap_or(usual);
    let mut exempt: Vec<Name> = block.exempt.iter().map(|one| Name::new(&one.value)).collect();
    exempt.sort();
    exempt.dedup();
    Some(TenantsConfig {
        root: Name::from(root_of(block)),
        exempt,
        defaults: block.defaults.as_deref().map(defaults).unwrap_or_default(),
        recovery_timeout: span(&block.recovery, usual.recovery_timeout),
        verify_interval: span(&block.verify, usual.verify_interval),
        idempotency_ttl: span(&block.idempotency, usual.idempotency_ttl),
        audit_retention_days: block
            .audit
            .retention_days
            .as_ref()
            .and_then(whole)
            .unwrap_or(usual.audit_retention_days),
        reclaim: block.reclaim.unwrap_or(usual.reclaim),
    })
}

fn defaults(from: &Defaults) -> TenantDefaults {
    TenantDefaults {
        quota: Vector::of(from.quota.as_ref()).amounts(),
        max_waiting: from.max_waiting.as_ref().and_then(whole).map(u64::from),
        waiting: from.waiting.as_deref().map(waiting).unwrap_or_default(),
        on_lower: from
            .lowered
            .action
            .as_ref()
            .and_then(|word| on_lower(&word.value, from.lowered.grace.as_ref()))
            .unwrap_or_default(),
        oversized: from
            .oversized
            .as_ref()
            .and_then(|word| oversized(&word.value))
            .unwrap_or_default(),
    }
}

fn waiting(from: &Waiting) -> WaitingPolicy {
    let number = |text: &Option<Text>| text.as_ref().and_then(whole);
    let span = |text: &Option<Text>| text.as_ref().and_then(seconds);
    WaitingPolicy {
        strategy: from.strategy.as_ref().and_then(|word| strategy(&word.value)).unwrap_or_default(),
        aging_interval: span(&from.aging_interval),
        aging_step: number(&from.aging_step),
        aging_max: number(&from.aging_max),
        max_overtakes: number(&from.max_overtakes),
        max_head_wait: span(&from.max_head_wait),
        max_wait: span(&from.max_wait).filter(|wait| wait.get() > 0),
    }
}

/// Adds the parent queue of tenants to a tree, unless the queue exists.
pub(crate) fn plant(root: &mut QueueConfig, path: &str) {
    let mut at = root;
    for name in path.split('.').skip(1) {
        let position = at.children.iter().position(|child| *child.name == *name);
        let position = position.unwrap_or_else(|| {
            let name = Name::new(name);
            at.children.push(QueueConfig { name, parent: true, ..QueueConfig::default() });
            at.children.len() - 1
        });
        at = &mut at.children[position];
    }
}
