//! Why a command about a tenant was not carried out.

use super::RefusalCode;
use crate::books::Tenants;
use crate::config::legal::QUEUE_NAME_MAX;
use crate::config::tenant::{INSTANCES, OWN_LEAF};
use crate::name::Name;
use crate::resource::{Quantity, format_quantities};

/// Why a command about a tenant, or one that a tenant is in the way of, was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenantRejection {
    /// The partition has no tenants.
    #[error(
        "partition {partition} has no tenants. Enable tenants in the queue file with `tenants: \
         {{enabled: true}}`."
    )]
    Off {
        /// The partition.
        partition: Name,
    },
    /// No such tenant.
    #[error(
        "tenant {tenant} does not exist in partition {partition}. Check the name, or create the tenant."
    )]
    Unknown {
        /// As asked for.
        tenant: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// A name that no tenant can have.
    #[error(
        "{tenant:?} is not a valid tenant name. Use 1 to {QUEUE_NAME_MAX} characters, each one of \
         a-z 0-9 _ : # / @ -, and use neither {OWN_LEAF} nor @recovery@."
    )]
    Name {
        /// As given.
        tenant: Name,
    },
    /// There must be none of this name, and there is one.
    #[error(
        "tenant {tenant} already exists, at version {version}. Change this tenant, or use another \
         name."
    )]
    Exists {
        /// Its name.
        tenant: Name,
        /// Its version.
        version: u64,
    },
    /// Somebody else has changed it since.
    #[error(
        "tenant {tenant} is at version {version}, but the request expects version {expected}. Read the tenant again, and retry with its version."
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
        "the tenant defaults are at version {version}, but the request expects version {expected}. Read the defaults again, and retry with their version."
    )]
    DefaultsVersion {
        /// In force.
        version: u64,
        /// As expected.
        expected: u64,
    },
    /// More tenants than there can be.
    #[error("partition {partition} has {count} tenants, but at most {limit} are allowed. Delete a tenant first.", limit = Tenants::MAX)]
    Many {
        /// The partition.
        partition: Name,
        /// How many it has.
        count: usize,
    },
    /// The tenant above it is not there.
    #[error(
        "tenant {tenant} has {parent} as its parent, but {parent} does not exist. Create {parent} \
         first."
    )]
    UnknownParent {
        /// Its name.
        tenant: Name,
        /// As named.
        parent: Name,
    },
    /// It would be above itself.
    #[error(
        "tenant {tenant} has {parent} as its parent, but {parent} is {tenant} itself or a tenant \
         below. Choose another parent."
    )]
    Cycle {
        /// Its name.
        tenant: Name,
        /// As named.
        parent: Name,
    },
    /// Too many tenants are above each other.
    #[error(
        "tenant {tenant} would create {levels} levels of tenants, but at most {limit} are allowed. Choose a parent at a higher level.",
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
        "the {what} of {whose} is {amount} {resource}, but no amount can be negative. Set 0 or more.",
        amount = format_quantities(resource, [*amount])[0]
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
        "the {what} of {whose} names the type {resource:?}, which cannot be limited. Use a type \
         name of at least one character and without a label."
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
        "tenant {tenant} would have a guarantee of {guaranteed} {resource}, but its quota is {quota}. Set a guarantee of at most the quota.",
        guaranteed = format_quantities(resource, [*guaranteed, *quota])[0],
        quota = format_quantities(resource, [*guaranteed, *quota])[1]
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
        "the child tenants of {parent} would have quotas of {sum} {resource} in total, but {parent} has a quota of {quota} and sets `strictSum`. Lower a child quota, or raise the quota of {parent}.",
        sum = format_quantities(resource, [*sum, *quota])[0],
        quota = format_quantities(resource, [*sum, *quota])[1]
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
        "tenant {tenant} has no quota of {resource}, but its parent {parent} has a quota of {quota} and sets `strictSum`. Set a quota for {tenant}.",
        quota = format_quantities(resource, [*quota])[0]
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
        "tenant {tenant} uses {used} {resource}, but the new quota would be {quota}, and the \
         tenant sets `onLower: refuse`. Wait until the tenant uses less, or set `onLower` to \
         `block` or `preempt`.",
        used = format_quantities(resource, [*used, *quota])[0],
        quota = format_quantities(resource, [*used, *quota])[1]
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
        "tenant {tenant} has {count} tasks that have not ended, so the tenant cannot {what}. Wait \
         until these tasks end, or cancel them."
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
        "tenant {tenant} has {count} child tenants, so the tenant cannot {what}. Move or delete \
         the child tenants first."
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
    #[error(
        "tenant {tenant} is draining and will be deleted after its last task ends. Wait until the \
         tenant is deleted, and then create the tenant again."
    )]
    Draining {
        /// Its name.
        tenant: Name,
    },
    /// Something that a tenant which is a limit cannot have.
    #[error(
        "tenant {tenant} is a limit in queue {queue}, but {what}. Give the tenant its own queue, or remove that setting."
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
        "tenant {tenant} is a limit in queue {queue}, but the queue file of partition {partition} \
         does not define this queue. Specify a queue that the queue file defines and that belongs \
         to no tenant."
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
        "tenant {tenant} would limit {subject} in queue {queue}, but {holder} already has such a limit. Remove that limit first."
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
        "partition {partition} has {count} tenants, but the queue file {what}. Nothing was \
         changed. Delete the tenants, and then apply the file again."
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
        "partition {partition}: queue {queue} cannot contain the queues of tenants: {what}. \
         Nothing was changed."
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
    #[error(
        "partitions {first} and {second} both have tenants, but only one partition of a queue file \
         can have tenants. Set `tenants: {{enabled: false}}` in one of these partitions."
    )]
    Twice {
        /// One.
        first: Name,
        /// The other.
        second: Name,
    },
    /// The type that counts tasks, where it cannot be asked for.
    #[error(
        "{what} names {INSTANCES}, which counts the tasks of tenants in partition {partition} \
         automatically. Remove this resource type."
    )]
    Instances {
        /// What names it.
        what: &'static str,
        /// The partition.
        partition: Name,
    },
    /// An ask that can never run.
    #[error(
        "ask {key} needs {asked} {resource}, but the quota of tenant {tenant} is {most}. Split the ask, raise the quota, or set `oversized: park` for the tenant.",
        asked = format_quantities(resource, [*asked, *most])[0],
        most = format_quantities(resource, [*asked, *most])[1]
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
