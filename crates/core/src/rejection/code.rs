//! The codes of refusals.

use crate::codes::codes;

codes! {
    /// Which rule a refusal is named after, of the core or of what serves it. A code does not change: it is what
    /// programs, logs and the pages of errors call the rule.
    RefusalCode {
        /// The ask is larger than the queue takes.
        AboveMaximumAllocation = "ABOVE_MAXIMUM_ALLOCATION",
        /// An access list cannot be read.
        AccessList = "ACCESS_LIST",
        /// An ask for nothing, or for less than nothing.
        AskSize = "ASK_SIZE",
        /// The record of the request would be too large.
        CommandTooLarge = "COMMAND_TOO_LARGE",
        /// The tag for a deadline or an estimate is no time.
        Deadline = "DEADLINE",
        /// An application of this id is there.
        DuplicateApplication = "DUPLICATE_APPLICATION",
        /// An allocation key belongs to another application.
        DuplicateKey = "DUPLICATE_KEY",
        /// A node of this id is registered already.
        DuplicateNode = "DUPLICATE_NODE",
        /// A queue file names a partition twice.
        DuplicatePartition = "DUPLICATE_PARTITION",
        /// A queue file has two queues of one path.
        DuplicateQueue = "DUPLICATE_QUEUE",
        /// A name that has to be there is empty.
        EmptyName = "EMPTY_NAME",
        /// The task is larger than a quota by itself.
        ExceedsQuotaAlways = "EXCEEDS_QUOTA_ALWAYS",
        /// What runs on a node takes nothing, or less than nothing.
        ForeignSize = "FOREIGN_SIZE",
        /// Gangs cannot run in a queue that is ordered by fair share.
        GangOrder = "GANG_ORDER",
        /// The gang can never run in this queue.
        GangSize = "GANG_SIZE",
        /// The same key came with another body.
        IdempotencyMismatch = "IDEMPOTENCY_MISMATCH",
        /// The task of the key is no longer remembered.
        KeySpent = "KEY_SPENT",
        /// The key was used for another task.
        KeyTaken = "KEY_TAKEN",
        /// The tag `headroom/lifetime` of an application is no time.
        Lifetime = "LIFETIME",
        /// The application's time is over.
        LifetimeOver = "LIFETIME_OVER",
        /// A name is longer than any real one.
        LongName = "LONG_NAME",
        /// An ask leaves out too many nodes.
        ManyBlockedNodes = "MANY_BLOCKED_NODES",
        /// The tenant has used as many keys as are remembered.
        ManyKeys = "MANY_KEYS",
        /// The largest ask that a queue takes would become smaller.
        MaximumAllocationLowered = "MAXIMUM_ALLOCATION_LOWERED",
        /// The queue takes in no more applications.
        MaxAppsQueue = "MAX_APPS_QUEUE",
        /// The user may have no more applications in this queue.
        MaxAppsUser = "MAX_APPS_USER",
        /// The reported use of a task is less than nothing.
        MeasuredBelowZero = "MEASURED_BELOW_ZERO",
        /// An answer names a node that the question does not.
        NodeNotAsked = "NODE_NOT_ASKED",
        /// The node of a task has no room for it to grow.
        NodeResources = "NODE_RESOURCES",
        /// A node with an impossible size.
        NodeSize = "NODE_SIZE",
        /// The queue has no access to nodes of the label.
        NoPartitionAccess = "NO_PARTITION_ACCESS",
        /// A placeholder without a task group.
        NoTaskGroup = "NO_TASK_GROUP",
        /// The queue cannot be made.
        PlCreate = "PL-CREATE",
        /// The partition has no placement rules that work.
        PlNoRules = "PL-NO-RULES",
        /// No placement rule found a queue for the application.
        PlRejected = "PL-REJECTED",
        /// A placement rule failed on this application.
        PlRuleError = "PL-RULE-ERROR",
        /// A queue file would do something else by now than its plan announced. Only the server
        /// sends it.
        PlanMoved = "PLAN_MOVED",
        /// The filter of a placement rule has an expression for groups that cannot be read.
        PrGroups = "PR-FGROUP",
        /// The filter of a placement rule has an expression for users that cannot be read.
        PrUsers = "PR-FUSER",
        /// The recovery rule cannot be written.
        PrRecovery = "PR-RECOVERY",
        /// A placement rule of this name does not exist.
        PrUnknown = "PR-UNKNOWN",
        /// A placement rule has no value, or an impossible one.
        PrValue = "PR-VALUE",
        /// A running task cannot become that large.
        Quota = "QUOTA",
        /// A tenant sends more requests than are taken of it. Only the server sends it.
        RateLimited = "RATE_LIMITED",
        /// `instances` is named as a resource.
        ReservedType = "RESERVED_TYPE",
        /// A queue says that it runs, below one that is stopped.
        RunsBelowStopped = "RUNS_BELOW_STOPPED",
        /// A sum would not fit into 64 bits.
        SumTooLarge = "SUM_TOO_LARGE",
        /// A task asks for more than any machine has.
        TaskAmount = "TASK_AMOUNT",
        /// A task cannot ask for more.
        TaskAsk = "TASK_ASK",
        /// A task, or an application, of this id is there.
        TaskExists = "TASK_EXISTS",
        /// A task has no members, or too many.
        TaskMembers = "TASK_MEMBERS",
        /// A task has several members, and something that only one of them can have.
        TaskMembersUnlike = "TASK_MEMBERS_UNLIKE",
        /// The task is in a state where this cannot be done.
        TaskState = "TASK_STATE",
        /// A queue file would take away what tenants stand on.
        TenantsInForce = "TENANTS_IN_FORCE",
        /// The partition has no tenants.
        TenantsOff = "TENANTS_OFF",
        /// The queue that is to hold the queues of tenants cannot.
        TenantsRoot = "TENANTS_ROOT",
        /// Two partitions of a file have tenants.
        TenantsTwice = "TENANTS_TWICE",
        /// An amount is below zero.
        TenantAmount = "TENANT_AMOUNT",
        /// The quota would be below what is used.
        TenantBelowUse = "TENANT_BELOW_USE",
        /// The tenant takes in no task, since its queue is stopped.
        TenantClosed = "TENANT_CLOSED",
        /// A tenant would be above itself.
        TenantCycle = "TENANT_CYCLE",
        /// The defaults of tenants set something that each has of its own. Only the server sends
        /// it.
        TenantDefaults = "TENANT_DEFAULTS",
        /// Tenants would be nested too deep.
        TenantDepth = "TENANT_DEPTH",
        /// The tenant is going.
        TenantDraining = "TENANT_DRAINING",
        /// A tenant of this name is there.
        TenantExists = "TENANT_EXISTS",
        /// More is guaranteed than the quota allows.
        TenantGuarantee = "TENANT_GUARANTEE",
        /// The tenant has tasks that have not ended.
        TenantHasTasks = "TENANT_HAS_TASKS",
        /// There are tenants below this one.
        TenantHasTenants = "TENANT_HAS_TENANTS",
        /// The user or group has a limit in this queue already.
        TenantLimitTaken = "TENANT_LIMIT_TAKEN",
        /// A tenant that is a limit cannot have this.
        TenantMode = "TENANT_MODE",
        /// The name is none that a tenant can have.
        TenantName = "TENANT_NAME",
        /// The tenant above does not exist.
        TenantParent = "TENANT_PARENT",
        /// The queue of a tenant that is a limit does not exist.
        TenantQueue = "TENANT_QUEUE",
        /// The queue belongs to tenants.
        TenantQueueClosed = "TENANT_QUEUE_CLOSED",
        /// The quotas of the tenants below one would be more than its own.
        TenantSum = "TENANT_SUM",
        /// A type that cannot be limited is named.
        TenantType = "TENANT_TYPE",
        /// The tenant is the limit of somebody else.
        TenantUser = "TENANT_USER",
        /// The tenant, or the defaults, was changed by somebody else.
        TenantVersion = "TENANT_VERSION",
        /// A list has more entries than it may have.
        TooMany = "TOO_MANY",
        /// Placement rules have made as many queues as may be.
        TooManyQueues = "TOO_MANY_QUEUES",
        /// There are as many tenants as can be.
        TooManyTenants = "TOO_MANY_TENANTS",
        /// A request brings more new resource types than may be.
        TooManyTypes = "TOO_MANY_TYPES",
        /// A resource type that Headroom makes itself is named.
        TypeOfLabel = "TYPE_OF_LABEL",
        /// There is no such application.
        UnknownApplication = "UNKNOWN_APPLICATION",
        /// The application has nothing with this key.
        UnknownKey = "UNKNOWN_KEY",
        /// There is no such node.
        UnknownNode = "UNKNOWN_NODE",
        /// There is no such partition.
        UnknownPartition = "UNKNOWN_PARTITION",
        /// An answer to a question that was never put.
        UnknownQuestion = "UNKNOWN_QUESTION",
        /// There is no such task, or the caller may not see it.
        UnknownTask = "UNKNOWN_TASK",
        /// There is no such tenant, or the caller may not see it.
        UnknownTenant = "UNKNOWN_TENANT",
        /// An answer says that more must go than was asked about.
        VictimsNotAsked = "VICTIMS_NOT_ASKED",
        /// As many tasks wait for the tenant as may.
        WaitingListFull = "WAITING_LIST_FULL",
    }
}

impl RefusalCode {
    /// The one that is shown as this.
    pub fn named(text: &str) -> Option<Self> {
        let place = Self::ALL.binary_search_by_key(&text, |code| code.as_str()).ok()?;
        Some(Self::ALL[place])
    }
}

#[cfg(test)]
mod tests {
    use super::RefusalCode;

    #[test]
    fn codes_are_in_the_order_of_what_is_shown_and_found_by_it() {
        assert!(RefusalCode::ALL.is_sorted_by(|one, next| one.as_str() < next.as_str()));
        for code in RefusalCode::ALL {
            assert_eq!(RefusalCode::named(code.as_str()), Some(code));
        }
        assert_eq!(RefusalCode::named("task_exists"), None);
    }
}
