//! Why a command about a tenant was not carried out.

use super::RefusalCode;
use crate::books::Tenants;
use crate::config::legal::QUEUE_NAME_MAX;
use crate::config::tenant::{INSTANCES, OWN_LEAF};
use crate::name::Name;
use crate::resource::{Quantity, figures};

/// Why a command about a tenant, or one that a tenant is in the way of, was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenantRejection {
    /// The partition has no tenants.
    #[error(
        "partition {partition} has no tenants; switch them on in its queue file with `tenants: {{enabled: true}}`"
    )]
    Off {
        /// The partition.
        partition: Name,
    },
    /// No such tenant.
    #[error("tenant {tenant} does not exist in partition {partition}")]
    Unknown {
        /// As asked for.
        tenant: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// A name that no tenant can have.
    #[error(
        "{tenant:?} is no name that a tenant can have; a name is 1 to {QUEUE_NAME_MAX} of a-z 0-9 _ : # / @ - and neither {OWN_LEAF} nor @recovery@"
    )]
    Name {
        /// As given.
        tenant: Name,
    },
    /// There must be none of this name, and there is one.
    #[error("tenant {tenant} exists already, in version {version}; change it, or use another name")]
    Exists {
        /// Its name.
        tenant: Name,
        /// Its version.
        version: u64,
    },
    /// Somebody else has changed it since.
    #[error(
        "tenant {tenant} is in version {version} and was to be in version {expected}; read it again and decide anew"
    )]
    Version {
        /// Its name.
        tenant: Name,
        /// In force; 0 if there is no such tenant.
        version: u64,
        /// As expected.
        expected: u64,
    },
    /// Somebody else has changed the defaults since.
    #[error(
        "the defaults of tenants are in version {version} and were to be in version {expected}; read them again and decide anew"
    )]
    DefaultsVersion {
        /// In force.
        version: u64,
        /// As expected.
        expected: u64,
    },
    /// More tenants than there can be.
    #[error("partition {partition} has {count} tenants, and no more than {limit} can be; remove one first", limit = Tenants::MAX)]
    Many {
        /// The partition.
        partition: Name,
        /// How many it has.
        count: usize,
    },
    /// The tenant above it is not there.
    #[error(
        "tenant {tenant} names {parent} as the tenant above it, which does not exist; make that first"
    )]
    UnknownParent {
        /// Its name.
        tenant: Name,
        /// As named.
        parent: Name,
    },
    /// It would be above itself.
    #[error(
        "tenant {tenant} names {parent} as the tenant above it, which is {tenant} itself or below it"
    )]
    Cycle {
        /// Its name.
        tenant: Name,
        /// As named.
        parent: Name,
    },
    /// Too many tenants are above each other.
    #[error(
        "tenant {tenant} would make {levels} levels of tenants, and no more than {limit} can be",
        limit = Tenants::LEVELS_MAX
    )]
    Depth {
        /// Its name.
        tenant: Name,
        /// How many levels there would be, those below it included.
        levels: usize,
    },
    /// An amount below zero.
    #[error(
        "the {what} of {whose} is {amount} {resource}; no amount may be below zero",
        amount = figures(resource, [*amount])[0]
    )]
    Amount {
        /// Quota or guarantee.
        what: &'static str,
        /// Whose: a tenant, or the defaults.
        whose: Name,
        /// Resource type.
        resource: Name,
        /// As given.
        amount: Quantity,
    },
    /// A type without a name, or in types of a label.
    #[error(
        "the {what} of {whose} names a type {resource:?}; name a plain type of at least one character"
    )]
    Type {
        /// Quota or guarantee.
        what: &'static str,
        /// Whose: a tenant, or the defaults.
        whose: Name,
        /// Resource type.
        resource: Name,
    },
    /// More is guaranteed than allowed.
    #[error(
        "tenant {tenant} is to be guaranteed {guaranteed} {resource}, and its quota is {quota}; guarantee no more than the quota",
        guaranteed = figures(resource, [*guaranteed, *quota])[0],
        quota = figures(resource, [*guaranteed, *quota])[1]
    )]
    Guarantee {
        /// Its name.
        tenant: Name,
        /// Resource type.
        resource: Name,
        /// What is to be guaranteed.
        guaranteed: Quantity,
        /// Its quota.
        quota: Quantity,
    },
    /// The quotas right below one sum up to more than its own, which it forbids.
    #[error(
        "the quotas of the tenants right below {parent} would sum up to {sum} {resource}, its own is {quota}, and it says `strictSum`; lower one, or raise that of {parent}",
        sum = figures(resource, [*sum, *quota])[0],
        quota = figures(resource, [*sum, *quota])[1]
    )]
    Sum {
        /// The tenant above.
        parent: Name,
        /// Resource type.
        resource: Name,
        /// Their sum.
        sum: Quantity,
        /// Its quota.
        quota: Quantity,
    },
    /// One has no quota in a type of which the one above it shares out its own.
    #[error(
        "tenant {tenant} has no quota of {resource}; tenant {parent} above it has one of {quota} and says `strictSum`, so {tenant} needs one too",
        quota = figures(resource, [*quota])[0]
    )]
    Unlimited {
        /// Its name.
        tenant: Name,
        /// The tenant above.
        parent: Name,
        /// Resource type.
        resource: Name,
        /// The quota of the one above.
        quota: Quantity,
    },
    /// A quota below what is used, of a tenant that does not allow that.
    #[error(
        "tenant {tenant} uses {used} {resource}, its quota was to be {quota}, and it says `onLower: refuse`; wait until it uses less, or choose `block` or `preempt`",
        used = figures(resource, [*used, *quota])[0],
        quota = figures(resource, [*used, *quota])[1]
    )]
    BelowUse {
        /// Its name.
        tenant: Name,
        /// Resource type.
        resource: Name,
        /// In use.
        used: Quantity,
        /// As given.
        quota: Quantity,
    },
    /// It has tasks that have not ended.
    #[error(
        "tenant {tenant} has {count} tasks that have not ended, so it cannot {what}; wait until they have, or cancel them"
    )]
    HasTasks {
        /// Its name.
        tenant: Name,
        /// How many.
        count: u64,
        /// What was to happen.
        what: &'static str,
    },
    /// There are tenants below it.
    #[error(
        "tenant {tenant} has {count} tenants below it, so it cannot {what}; move or remove them first"
    )]
    HasBelow {
        /// Its name.
        tenant: Name,
        /// How many are right below it.
        count: usize,
        /// What was to happen.
        what: &'static str,
    },
    /// It goes.
    #[error("tenant {tenant} is going, with the last of its tasks; make it anew when it is gone")]
    Draining {
        /// Its name.
        tenant: Name,
    },
    /// Something that a tenant which is a limit cannot have.
    #[error(
        "tenant {tenant} is to be a limit in queue {queue}, and {what}; give it a queue of its own, or leave that out"
    )]
    Mode {
        /// Its name.
        tenant: Name,
        /// The queue where it is a limit.
        queue: Name,
        /// What it cannot have.
        what: &'static str,
    },
    /// The queue where a tenant is a limit is not there, or not one of the queue file.
    #[error(
        "tenant {tenant} is to be a limit in queue {queue}, which is not in the queue file of partition {partition}; name one that is, and belongs to no tenant"
    )]
    UnknownQueue {
        /// Its name.
        tenant: Name,
        /// As named.
        queue: Name,
        /// The partition.
        partition: Name,
    },
    /// Two limits for one.
    #[error(
        "tenant {tenant} is to be the limit of {subject} in queue {queue}, who has one there already by {holder}; remove that first"
    )]
    LimitTaken {
        /// Its name.
        tenant: Name,
        /// The queue.
        queue: Name,
        /// Who is limited.
        subject: Name,
        /// Whose limit it is: `the queue file`, or a tenant.
        holder: Name,
    },
    /// A queue file that leaves tenants without what they stand on.
    #[error(
        "partition {partition} has {count} tenants, and the file {what}; remove the tenants first. The file changes nothing"
    )]
    InForce {
        /// The partition.
        partition: Name,
        /// How many.
        count: usize,
        /// What the file does.
        what: &'static str,
    },
    /// The queue for tenants cannot be that.
    #[error(
        "partition {partition}: queue {queue} is to hold the queues of tenants, and {what}. The file changes nothing"
    )]
    Root {
        /// The partition.
        partition: Name,
        /// The queue.
        queue: Name,
        /// What is in the way.
        what: &'static str,
    },
    /// A second partition with tenants.
    #[error("partitions {first} and {second} both have tenants; one partition of a file may")]
    Twice {
        /// One.
        first: Name,
        /// The other.
        second: Name,
    },
    /// The type that counts tasks, where it cannot be asked for.
    #[error(
        "{what} names {INSTANCES}, which counts the tasks of tenants in partition {partition} by itself; leave it out"
    )]
    Instances {
        /// What names it.
        what: &'static str,
        /// The partition.
        partition: Name,
    },
    /// An ask that can never run.
    #[error(
        "ask {key} needs {asked} {resource}, and tenant {tenant} may have {most} in all; ask for less in more pieces, raise the quota, or have the tenant park what is too large (`oversized: park`)",
        asked = figures(resource, [*asked, *most])[0],
        most = figures(resource, [*asked, *most])[1]
    )]
    ExceedsQuota {
        /// Its key.
        key: Name,
        /// The tenant whose quota is too small.
        tenant: Name,
        /// Resource type.
        resource: Name,
        /// What it needs.
        asked: Quantity,
        /// The quota.
        most: Quantity,
    },
}

impl TenantRejection {
    /// A short code that does not change, for programs and logs.
    pub const fn code(&self) -> RefusalCode {
        match self {
            Self::Off { .. } => RefusalCode::TenantsOff,
            Self::Unknown { .. } => RefusalCode::UnknownTenant,
            Self::Name { .. } => RefusalCode::TenantName,
            Self::Exists { .. } => RefusalCode::TenantExists,
            Self::Version { .. } | Self::DefaultsVersion { .. } => RefusalCode::TenantVersion,
            Self::Many { .. } => RefusalCode::TooManyTenants,
            Self::UnknownParent { .. } => RefusalCode::TenantParent,
            Self::Cycle { .. } => RefusalCode::TenantCycle,
            Self::Depth { .. } => RefusalCode::TenantDepth,
            Self::Amount { .. } => RefusalCode::TenantAmount,
            Self::Type { .. } => RefusalCode::TenantType,
            Self::Guarantee { .. } => RefusalCode::TenantGuarantee,
            Self::Sum { .. } | Self::Unlimited { .. } => RefusalCode::TenantSum,
            Self::BelowUse { .. } => RefusalCode::TenantBelowUse,
            Self::HasTasks { .. } => RefusalCode::TenantHasTasks,
            Self::HasBelow { .. } => RefusalCode::TenantHasTenants,
            Self::Draining { .. } => RefusalCode::TenantDraining,
            Self::Mode { .. } => RefusalCode::TenantMode,
            Self::UnknownQueue { .. } => RefusalCode::TenantQueue,
            Self::LimitTaken { .. } => RefusalCode::TenantLimitTaken,
            Self::InForce { .. } => RefusalCode::TenantsInForce,
            Self::Root { .. } => RefusalCode::TenantsRoot,
            Self::Twice { .. } => RefusalCode::TenantsTwice,
            Self::Instances { .. } => RefusalCode::ReservedType,
            Self::ExceedsQuota { .. } => RefusalCode::ExceedsQuotaAlways,
        }
    }
}
