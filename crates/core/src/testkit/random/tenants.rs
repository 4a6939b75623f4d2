//! Actions of random histories about tenants.

use crate::books::{Books, Partition};
use crate::command::{Command, SetTenant};
use crate::config::tenant::{
    OnLower, Oversized, TenantMapping, TenantSubject, WaitingPolicy, WaitingStrategy,
};
use crate::config::{PartitionConfig, TenantDefaults, TenantSettings, TenantsConfig};
use crate::name::Name;
use crate::resource::Amounts;
use crate::testkit::{amounts, parent};
use crate::time::Millis;

use super::{QUEUES, USERS};

/// Tenant names in use. Some of them are never created.
const NAMES: [&str; 6] = ["t0", "t1", "t2", "t3", "t4", "own"];

pub(in crate::testkit) fn name_of(number: u8) -> Name {
    Name::new(NAMES[if number == 255 { 5 } else { usize::from(number % 5) }])
}

/// Returns a tenant with allocations if `what` is a number that lowers a quota. `None` otherwise.
pub(in crate::testkit) fn to_lower(books: &Books, here: &Partition, what: u8) -> Option<u8> {
    let root = here.settings.tenants.as_ref().filter(|_| is_lowered(what))?;
    (0..5).find(|number| {
        let path = here.tenants.path_of(&root.root, &name_of(*number));
        let queue = path.and_then(|path| here.queues.get(&*path));
        queue.is_some_and(|queue| !books.queue(*queue).allocated.is_empty())
    })
}

const fn is_lowered(what: u8) -> bool {
    matches!(what % 32, 11..24)
}

/// Enables tenants in a partition.
pub(super) fn switch_on(partition: &mut PartitionConfig, die: u8) {
    partition.root.children.push(parent("tenants", alloc::vec::Vec::new()));
    let exempt = if die % 4 == 1 { alloc::vec![Name::new("t3")] } else { alloc::vec::Vec::new() };
    let defaults = defaults_of(die / 4);
    partition.tenants = Some(TenantsConfig { exempt, defaults, ..TenantsConfig::default() });
}

fn quota_of(die: u8) -> Amounts {
    let vcore = i64::from(die % 7);
    match die % 11 {
        0 => Amounts::EMPTY,
        1 => amounts([("instances", vcore)]),
        2 => amounts([("gpu", 0)]),
        3 => amounts([("vcore", -1)]),
        4 | 5 => amounts([("vcore", vcore), ("instances", 2)]),
        _ => amounts([("vcore", vcore + 2), ("memory", vcore + 3)]),
    }
}

fn defaults_of(die: u8) -> TenantDefaults {
    let quota = quota_of(die);
    let quota = if quota.iter().any(|(_, one)| one.get() < 0) { Amounts::EMPTY } else { quota };
    TenantDefaults {
        quota,
        max_waiting: (die % 5 == 2).then_some(3),
        oversized: if die.is_multiple_of(2) { Oversized::Park } else { Oversized::Reject },
        ..TenantDefaults::default()
    }
}

/// Returns a command about tenants, from small numbers.
pub(in crate::testkit) fn command_of(
    partition: Name,
    (tenant, what, die): (u8, u8, u8),
) -> Command {
    let name = name_of(tenant);
    match what % 32 {
        0..5 => {
            let expects = (die == 7).then_some(2);
            Command::RemoveTenant { partition, tenant: name, drain: die.is_multiple_of(2), expects }
        }
        5 => Command::SetTenantDefaults {
            partition,
            defaults: alloc::boxed::Box::new(defaults_of(die)),
            expects: (die == 9).then_some(1),
        },
        _ => Command::SetTenant(alloc::boxed::Box::new(SetTenant {
            partition,
            tenant: name,
            settings: settings_of(tenant, what, die),
            expects: match die {
                3 => Some(0),
                4 => Some(1),
                _ => None,
            },
            force: die.is_multiple_of(3),
        })),
    }
}

fn settings_of(tenant: u8, what: u8, die: u8) -> TenantSettings {
    let waiting = match die % 5 {
        0 => None,
        1 => Some(WaitingStrategy::Fifo),
        2 => Some(WaitingStrategy::FifoBackfill),
        3 => Some(WaitingStrategy::Priority),
        _ => Some(WaitingStrategy::Urgency),
    };
    let waiting = waiting.map(|strategy| WaitingPolicy { strategy, ..WaitingPolicy::default() });
    let on_lower = match die % 6 {
        0 => Some(OnLower::Refuse),
        1 | 2 => Some(OnLower::Preempt { grace: Millis::from_secs(u64::from(die % 4)) }),
        _ => None,
    };
    let subject = match die % 3 {
        0 => TenantSubject::Group(Name::new(["dev", "ops"][usize::from(die % 2)])),
        _ => TenantSubject::User(Name::new(USERS[usize::from(die % 4)])),
    };
    let limit = what % 32 == 6 || what % 32 == 7;
    let plain = TenantSettings {
        quota: (!die.is_multiple_of(4)).then(|| quota_of(die)),
        max_applications: u64::from(die % 17 == 3),
        oversized: (die % 3 == 1).then_some(Oversized::Park),
        on_lower,
        ..TenantSettings::default()
    };
    if limit {
        let queue = Name::new(QUEUES[usize::from(die) % QUEUES.len()]);
        let mapping = TenantMapping::Limit { queue, subject };
        return TenantSettings { mapping, on_lower: None, ..plain };
    }
    if is_lowered(what) {
        return lowered(plain, waiting, die);
    }
    TenantSettings {
        parent: match what % 8 {
            0..3 => Some(name_of(tenant.wrapping_add(1 + what / 8))),
            _ => None,
        },
        suspended: die % 13 == 5,
        guaranteed: if die % 5 == 1 {
            amounts([("vcore", i64::from(die % 4))])
        } else {
            Amounts::EMPTY
        },
        max_waiting: (die % 19 == 4).then_some(1),
        strict_sum: die % 11 == 6,
        waiting,
        ..plain
    }
}

/// Returns settings of a tenant with a very small quota, which soon requires that allocations are stopped.
fn lowered(plain: TenantSettings, waiting: Option<WaitingPolicy>, die: u8) -> TenantSettings {
    let (vcore, instances) = (i64::from(1 + die % 2), i64::from(1 + die % 3));
    let quota = match die % 3 {
        0 => amounts([("vcore", vcore)]),
        1 => amounts([("instances", instances)]),
        _ => amounts([("vcore", vcore), ("instances", instances)]),
    };
    let grace = Millis::from_secs(u64::from(die % 3));
    let on_lower = Some(OnLower::Preempt { grace });
    TenantSettings { quota: Some(quota), waiting, on_lower, ..plain }
}
