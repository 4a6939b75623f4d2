//! Lines about tenants.

use alloc::boxed::Box;

use crate::command::{Command, SetTenant};
use crate::config::tenant::{
    OnLower, Oversized, TenantKind, TenantMapping, TenantSubject, WaitingPolicy, WaitingStrategy,
};
use crate::config::{PartitionConfig, TenantDefaults, TenantSettings, TenantsConfig};
use crate::name::Name;

use super::{Words, count, queue_at};

/// Reads `tenants root.tenants exempt a,b no-reclaim quota vcore=4 order priority lower refuse park waiting 5`: the
/// parent queue of the tenants, which is created, and the default settings.
pub(super) fn tenants(partition: &mut PartitionConfig, words: &mut Words<'_>) {
    let path = words.next("a path");
    queue_at(&mut partition.root, path).parent = true;
    let mut config = TenantsConfig { root: Name::new(path), ..TenantsConfig::default() };
    if words.take("exempt") {
        config.exempt = words.list("tenants");
    }
    config.reclaim = !words.take("no-reclaim");
    config.defaults = defaults(words);
    partition.tenants = Some(config);
}

fn defaults(words: &mut Words<'_>) -> TenantDefaults {
    let mut settings = TenantSettings::default();
    while let Some(word) = words.rest.next_if(|word| *word != "expects") {
        common(&mut settings, word, words);
    }
    TenantDefaults {
        quota: settings.quota.unwrap_or_default(),
        max_waiting: settings.max_waiting,
        waiting: settings.waiting.unwrap_or_default(),
        on_lower: settings.on_lower.unwrap_or_default(),
        oversized: settings.oversized.unwrap_or_default(),
    }
}

/// Reads `tenant-defaults quota vcore=4 order priority expects 1`.
pub(super) fn set_defaults(partition: Name, words: &mut Words<'_>) -> Command {
    let defaults = Box::new(defaults(words));
    Command::SetTenantDefaults { partition, defaults, expects: expects(words) }
}

/// Reads `tenant a of p quota vcore=4 instances=3 guaranteed vcore=1 apps=2 waiting 9 suspended strict-sum order
/// priority lower preempt 30s park user expects 1 force`, with all settings of a tenant. `as user ann in root.q` is for
/// a tenant that is a limit. `quota` without amounts is unlimited.
pub(super) fn set(partition: Name, words: &mut Words<'_>) -> Command {
    let mut set = SetTenant { partition, tenant: words.name("a tenant"), ..SetTenant::default() };
    let settings = &mut set.settings;
    while let Some(word) = words.rest.next_if(|word| !matches!(*word, "expects" | "force")) {
        match word {
            "of" => settings.parent = Some(words.name("a tenant")),
            "user" => settings.kind = TenantKind::User,
            "department" => settings.kind = TenantKind::Department,
            "called" => settings.display_name = words.name("a name"),
            "suspended" => settings.suspended = true,
            "guaranteed" => settings.guaranteed = words.amounts(),
            "strict-sum" => settings.strict_sum = true,
            "as" => {
                let who = words.next("user or group");
                let name = words.name("a name");
                let subject = match who {
                    "user" => TenantSubject::User(name),
                    _ => TenantSubject::Group(name),
                };
                assert!(words.take("in"), "`as user ann in root.q`");
                settings.mapping = TenantMapping::Limit { queue: words.name("a path"), subject };
            }
            _ if word.starts_with("apps=") => settings.max_applications = count(word),
            _ => common(settings, word, words),
        }
    }
    set.expects = expects(words);
    set.force = words.take("force");
    Command::SetTenant(Box::new(set))
}

fn common(settings: &mut TenantSettings, word: &str, words: &mut Words<'_>) {
    match word {
        "quota" => settings.quota = Some(words.amounts()),
        "waiting" => settings.max_waiting = words.next("a number").parse().ok(),
        "park" => settings.oversized = Some(Oversized::Park),
        "order" => {
            let strategy = match words.next("an order") {
                "fifo" => WaitingStrategy::Fifo,
                "fifo-backfill" => WaitingStrategy::FifoBackfill,
                "priority" => WaitingStrategy::Priority,
                _ => WaitingStrategy::Urgency,
            };
            settings.waiting = Some(WaitingPolicy { strategy, ..WaitingPolicy::default() });
        }
        "aging" => {
            let policy = settings.waiting.get_or_insert_default();
            policy.aging_interval = Some(words.seconds());
            policy.aging_step = words.next("a step").parse().ok();
            policy.aging_max = words.next("the most").parse().ok();
        }
        "overtakes" => {
            let policy = settings.waiting.get_or_insert_default();
            policy.max_overtakes = words.next("a number").parse().ok();
            policy.max_head_wait = Some(words.seconds());
        }
        "lower" => {
            settings.on_lower = Some(match words.next("what to do") {
                "block" => OnLower::Block,
                "refuse" => OnLower::Refuse,
                _ => OnLower::Preempt { grace: words.seconds() },
            });
        }
        _ => panic!("nobody understands `{word}` of a tenant"),
    }
}

/// Reads `tenant-gone a drain expects 3`.
pub(super) fn remove(partition: Name, words: &mut Words<'_>) -> Command {
    let tenant = words.name("a tenant");
    let drain = words.take("drain");
    Command::RemoveTenant { partition, tenant, drain, expects: expects(words) }
}

fn expects(words: &mut Words<'_>) -> Option<u64> {
    let version = words.take("expects").then(|| words.next("a version"));
    version.map(|text| text.parse().expect("a version is a whole number"))
}
