//! Applications that come in random histories.

use alloc::format;

use crate::books::{GangStyle, Partition};
use crate::command::{Command, Submit};
use crate::name::Name;
use crate::time::Millis;

use crate::testkit::random::{QUEUES, USERS, gang_of, groups_of, tags_of, tenant_name};

/// One that names its queue.
pub(super) fn submit(partition: Name, (number, queue, user, gang): (u8, u8, u8, u8)) -> Command {
    Command::Submit(Submit {
        partition,
        application: Name::from(format!("app{number}")),
        queue: Name::new(QUEUES[usize::from(queue)]),
        tenant: Name::default(),
        user: Name::new(USERS[usize::from(user)]),
        groups: groups_of(user),
        tags: tags_of(number, user),
        placeholder_ask: gang_of(gang),
        gang_style: if gang < 128 { GangStyle::Soft } else { GangStyle::Hard },
        placeholder_timeout: Millis::from_secs(u64::from(gang % 32)),
    })
}

/// One of a tenant.
pub(super) fn task(
    partition: Name,
    here: &Partition,
    (number, tenant, user, gang): (u8, u8, u8, u8),
) -> Command {
    let there = here.tenants.iter().nth(usize::from(tenant) % here.tenants.len().max(1));
    let tenant = there.map_or_else(|| tenant_name(tenant), |(name, _)| name.clone());
    Command::Submit(Submit {
        partition,
        application: Name::from(format!("app{number}")),
        tenant,
        user: Name::new(USERS[usize::from(user)]),
        groups: groups_of(user),
        placeholder_ask: gang_of(gang),
        placeholder_timeout: Millis::from_secs(u64::from(gang % 32)),
        ..Submit::default()
    })
}
