//! Rejections of commands about tenants.

use super::RefusalCode;
use crate::books::Tenants;
use crate::config::legal::QUEUE_NAME_MAX;
use crate::config::tenant::{INSTANCES, OWN_LEAF};
use crate::name::Name;
use crate::resource::{Quantity, format_quantities};

/// Reason why a command about a tenant, or a command that a tenant prevents, was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenantRejection {
    /// Tenants are not enabled in the partition.
    #[error(
        "partition {partition} has no tenants. Enable tenants in the queue file with `tenants: \
         {{enabled: true}}`."
    )]
    Off {
        /// Name of the partition.
        partition: Name,
    },
    /// The tenant does not exist.
    #[error(
        "tenant {tenant} does not exist in partition {partition}. Check the name, or create the tenant."
    )]
    Unknown {
        /// Requested tenant.
        tenant: Name,
        /// Partition that was searched.
        partition: Name,
    },
    /// The name is not valid for a tenant.
    #[error(
        "{tenant:?} is not a valid tenant name. Use 1 to {QUEUE_NAME_MAX} characters, each one of \
         a-z 0-9 _ : # / @ -, and use neither {OWN_LEAF} nor @recovery@."
    )]
    Name {
        /// Name in the request.
        tenant: Name,
    },
    /// The request requires that no tenant has this name, but one exists.
    #[error(
        "tenant {tenant} already exists, at version {version}. Change this tenant, or use another \
         name."
    )]
    Exists {
        /// Name of the tenant.
        tenant: Name,
        /// Version of the tenant.
        version: u64,
    },
    /// The version of the tenant is not the expected one.
    #[error(
        "tenant {tenant} is at version {version}, but the request expects version {expected}. Read the tenant again, and retry with its version."
    )]
    Version {
        /// Name of the tenant.
        tenant: Name,
        /// Current version. 0 if the tenant does not exist.
        version: u64,
        /// Expected version.
        expected: u64,
    },
    /// The version of the defaults is not the expected one.
    #[error(
        "the tenant defaults are at version {version}, but the request expects version {expected}. Read the defaults again, and retry with their version."
    )]
    DefaultsVersion {
        /// Current version.
        version: u64,
        /// Expected version.
        expected: u64,
    },
    /// The partition would have too many tenants.
    #[error("partition {partition} has {count} tenants, but at most {limit} are allowed. Delete a tenant first.", limit = Tenants::MAX)]
    Many {
        /// Name of the partition.
        partition: Name,
        /// Number of tenants.
        count: usize,
    },
    /// The parent of the tenant does not exist.
    #[error(
        "tenant {tenant} has {parent} as its parent, but {parent} does not exist. Create {parent} \
         first."
    )]
    UnknownParent {
        /// Name of the tenant.
        tenant: Name,
        /// Requested parent.
        parent: Name,
    },
    /// The tenant would be its own ancestor.
    #[error("{parent} is {tenant} itself or one of its descendants. Choose another parent.")]
    Cycle {
        /// Name of the tenant.
        tenant: Name,
        /// Requested parent.
        parent: Name,
    },
    /// The tenants would have too many levels.
    #[error(
        "tenant {tenant} would create {levels} levels of tenants, but at most {limit} are allowed. Choose a parent at a higher level.",
        limit = Tenants::LEVELS_MAX
    )]
    Depth {
        /// Name of the tenant.
        tenant: Name,
        /// Number of levels, with those of the descendants.
        levels: usize,
    },
    /// An amount is negative.
    #[error(
        "the {what} of {whose} is {amount} {resource}, but no amount can be negative. Set 0 or more.",
        amount = format_quantities(resource, [*amount])[0]
    )]
    Amount {
        /// Kind of the amounts: quota or guarantee.
        what: &'static str,
        /// Tenant that has the amounts, or the defaults.
        whose: Name,
        /// Resource type.
        resource: Name,
        /// Amount in the request.
        amount: Quantity,
    },
    /// The name of a resource type is empty, or contains a label.
    #[error(
        "the {what} of {whose} names the type {resource:?}, which cannot be limited. Use a type \
         name of at least one character and without a label."
    )]
    Type {
        /// Kind of the amounts: quota or guarantee.
        what: &'static str,
        /// Tenant that has the amounts, or the defaults.
        whose: Name,
        /// Resource type.
        resource: Name,
    },
    /// The guarantee exceeds the quota.
    #[error(
        "tenant {tenant} would have a guarantee of {guaranteed} {resource}, but its quota is {quota}. Set a guarantee of at most the quota.",
        guaranteed = format_quantities(resource, [*guaranteed, *quota])[0],
        quota = format_quantities(resource, [*guaranteed, *quota])[1]
    )]
    Guarantee {
        /// Name of the tenant.
        tenant: Name,
        /// Resource type.
        resource: Name,
        /// Requested guarantee.
        guaranteed: Quantity,
        /// Quota of the tenant.
        quota: Quantity,
    },
    /// The quotas of the children exceed the quota of a parent that sets `strictSum`.
    #[error(
        "the child tenants of {parent} would have quotas of {sum} {resource} in total, but {parent} has a quota of {quota} and sets `strictSum`. Lower a child quota, or raise the quota of {parent}.",
        sum = format_quantities(resource, [*sum, *quota])[0],
        quota = format_quantities(resource, [*sum, *quota])[1]
    )]
    Sum {
        /// Name of the parent.
        parent: Name,
        /// Resource type.
        resource: Name,
        /// Sum of the quotas of the children.
        sum: Quantity,
        /// Quota of the parent.
        quota: Quantity,
    },
    /// A tenant has no quota of a type in which its parent has a quota and sets `strictSum`.
    #[error(
        "tenant {tenant} has no quota of {resource}, but its parent {parent} has a quota of {quota} and sets `strictSum`. Set a quota for {tenant}.",
        quota = format_quantities(resource, [*quota])[0]
    )]
    Unlimited {
        /// Name of the tenant.
        tenant: Name,
        /// Name of the parent.
        parent: Name,
        /// Resource type.
        resource: Name,
        /// Quota of the parent.
        quota: Quantity,
    },
    /// The new quota is less than the usage of a tenant that sets `onLower: refuse`.
    #[error(
        "tenant {tenant} uses {used} {resource}, but the new quota would be {quota}, and the \
         tenant sets `onLower: refuse`. Wait until the tenant uses less, or set `onLower` to \
         `block` or `preempt`.",
        used = format_quantities(resource, [*used, *quota])[0],
        quota = format_quantities(resource, [*used, *quota])[1]
    )]
    BelowUse {
        /// Name of the tenant.
        tenant: Name,
        /// Resource type.
        resource: Name,
        /// Usage of the tenant.
        used: Quantity,
        /// Requested quota.
        quota: Quantity,
    },
    /// The tenant has tasks that have not ended.
    #[error(
        "tenant {tenant} has {count} tasks that have not ended, so the tenant cannot {what}. Wait \
         until these tasks end, or cancel them."
    )]
    HasTasks {
        /// Name of the tenant.
        tenant: Name,
        /// Number of unfinished tasks.
        count: u64,
        /// Refused action, as a verb phrase.
        what: &'static str,
    },
    /// The tenant has child tenants.
    #[error(
        "tenant {tenant} has {count} child tenants, so the tenant cannot {what}. Move or delete \
         the child tenants first."
    )]
    HasBelow {
        /// Name of the tenant.
        tenant: Name,
        /// Number of children.
        count: usize,
        /// Refused action, as a verb phrase.
        what: &'static str,
    },
    /// The tenant is draining.
    #[error(
        "tenant {tenant} is draining and will be deleted after its last task ends. Wait until the \
         tenant is deleted, and then create the tenant again."
    )]
    Draining {
        /// Name of the tenant.
        tenant: Name,
    },
    /// A tenant that is a limit has a setting that needs a queue.
    #[error(
        "tenant {tenant} is a limit in queue {queue}, but {what}. Give the tenant its own queue, or remove that setting."
    )]
    Mode {
        /// Name of the tenant.
        tenant: Name,
        /// Queue in which the tenant is a limit.
        queue: Name,
        /// Unsupported setting, as a clause.
        what: &'static str,
    },
    /// The queue of a tenant that is a limit does not exist, or the queue file does not define it.
    #[error(
        "tenant {tenant} is a limit in queue {queue}, but the queue file of partition {partition} \
         does not define this queue. Specify a queue that the queue file defines and that belongs \
         to no tenant."
    )]
    UnknownQueue {
        /// Name of the tenant.
        tenant: Name,
        /// Requested queue.
        queue: Name,
        /// Name of the partition.
        partition: Name,
    },
    /// The user or group already has a limit in the queue.
    #[error(
        "tenant {tenant} would limit {subject} in queue {queue}, but {holder} already has such a limit. Remove that limit first."
    )]
    LimitTaken {
        /// Name of the tenant.
        tenant: Name,
        /// Path of the queue.
        queue: Name,
        /// User or group of the limit.
        subject: Name,
        /// Holder of the limit: `the queue file`, or a tenant.
        holder: Name,
    },
    /// A queue file removes something that existing tenants need.
    #[error(
        "partition {partition} has {count} tenants, but the queue file {what}. Nothing was \
         changed. Delete the tenants, and then apply the file again."
    )]
    InForce {
        /// Name of the partition.
        partition: Name,
        /// Number of tenants.
        count: usize,
        /// Effect of the file, as a verb phrase.
        what: &'static str,
    },
    /// The configured root queue cannot contain the queues of tenants.
    #[error(
        "partition {partition}: queue {queue} cannot contain the queues of tenants: {what}. \
         Nothing was changed."
    )]
    Root {
        /// Name of the partition.
        partition: Name,
        /// Path of the queue.
        queue: Name,
        /// Obstacle, as a clause.
        what: &'static str,
    },
    /// A second partition enables tenants.
    #[error(
        "partitions {first} and {second} both have tenants, but only one partition of a queue file \
         can have tenants. Set `tenants: {{enabled: false}}` in one of these partitions."
    )]
    Twice {
        /// First partition.
        first: Name,
        /// Second partition.
        second: Name,
    },
    /// A request names `instances`, which the scheduler counts automatically.
    #[error(
        "{what} names {INSTANCES}, which counts the tasks of tenants in partition {partition} \
         automatically. Remove this resource type."
    )]
    Instances {
        /// Object that names the type.
        what: &'static str,
        /// Name of the partition.
        partition: Name,
    },
    /// An ask exceeds a quota, so it could never start.
    #[error(
        "ask {key} needs {asked} {resource}, but the quota of tenant {tenant} is {most}. Split the ask, raise the quota, or set `oversized: park` for the tenant.",
        asked = format_quantities(resource, [*asked, *most])[0],
        most = format_quantities(resource, [*asked, *most])[1]
    )]
    ExceedsQuota {
        /// Allocation key of the ask.
        key: Name,
        /// Tenant whose quota is too small.
        tenant: Name,
        /// Resource type.
        resource: Name,
        /// Requested amount.
        asked: Quantity,
        /// Quota of the tenant.
        most: Quantity,
    },
}

impl TenantRejection {
    /// Returns a short, stable code for programs and logs.
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
