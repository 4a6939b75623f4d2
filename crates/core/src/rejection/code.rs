//! Codes of rejections.

use crate::codes::codes;

codes! {
    /// Code of the rule that refuses a request, in the core or in the server. Codes are stable: programs, logs, and the
    /// error pages use them.
    RefusalCode {
        /// The ask is larger than the queue accepts.
        AboveMaximumAllocation = "ABOVE_MAXIMUM_ALLOCATION",
        /// An access list cannot be read.
        AccessList = "ACCESS_LIST",
        /// The ask has no positive amount, or a negative one.
        AskSize = "ASK_SIZE",
        /// The record of the request would be too large.
        CommandTooLarge = "COMMAND_TOO_LARGE",
        /// The tag for a deadline or an estimate is not a time.
        Deadline = "DEADLINE",
        /// An application with this ID exists.
        DuplicateApplication = "DUPLICATE_APPLICATION",
        /// An allocation key belongs to another application.
        DuplicateKey = "DUPLICATE_KEY",
        /// A node with this ID is already registered.
        DuplicateNode = "DUPLICATE_NODE",
        /// A queue file names a partition twice.
        DuplicatePartition = "DUPLICATE_PARTITION",
        /// A queue file defines a queue path twice.
        DuplicateQueue = "DUPLICATE_QUEUE",
        /// A required name is empty.
        EmptyName = "EMPTY_NAME",
        /// The task alone exceeds a quota.
        ExceedsQuotaAlways = "EXCEEDS_QUOTA_ALWAYS",
        /// A foreign allocation has a negative amount.
        ForeignSize = "FOREIGN_SIZE",
        /// A gang cannot run in a queue with fair-share order.
        GangOrder = "GANG_ORDER",
        /// The gang can never run in this queue.
        GangSize = "GANG_SIZE",
        /// The same idempotency key was sent with another body.
        IdempotencyMismatch = "IDEMPOTENCY_MISMATCH",
        /// The task of the idempotency key is no longer stored.
        KeySpent = "KEY_SPENT",
        /// The idempotency key belongs to another task.
        KeyTaken = "KEY_TAKEN",
        /// The tag `headroom/lifetime` of an application is not a time.
        Lifetime = "LIFETIME",
        /// The lifetime of the application is over.
        LifetimeOver = "LIFETIME_OVER",
        /// A name is too long.
        LongName = "LONG_NAME",
        /// An ask blocks too many nodes.
        ManyBlockedNodes = "MANY_BLOCKED_NODES",
        /// The tenant has the largest number of idempotency keys.
        ManyKeys = "MANY_KEYS",
        /// The new `maximumallocation` of a queue is lower than the current one.
        MaximumAllocationLowered = "MAXIMUM_ALLOCATION_LOWERED",
        /// The queue has the largest number of applications.
        MaxAppsQueue = "MAX_APPS_QUEUE",
        /// The user has the largest number of applications in this queue.
        MaxAppsUser = "MAX_APPS_USER",
        /// The measured usage of a task is negative.
        MeasuredBelowZero = "MEASURED_BELOW_ZERO",
        /// An answer names a node that the question does not list.
        NodeNotAsked = "NODE_NOT_ASKED",
        /// The node of a task does not have enough free capacity for it to grow.
        NodeResources = "NODE_RESOURCES",
        /// A node has a negative capacity.
        NodeSize = "NODE_SIZE",
        /// The queue has no access to nodes of the label.
        NoPartitionAccess = "NO_PARTITION_ACCESS",
        /// A placeholder has no task group.
        NoTaskGroup = "NO_TASK_GROUP",
        /// The queue cannot be created.
        PlCreate = "PL-CREATE",
        /// The partition has no working placement rules.
        PlNoRules = "PL-NO-RULES",
        /// No placement rule returned a queue for the application.
        PlRejected = "PL-REJECTED",
        /// A placement rule failed on this application.
        PlRuleError = "PL-RULE-ERROR",
        /// A queue file would now have other effects than its plan showed. Only the server sends this code.
        PlanMoved = "PLAN_MOVED",
        /// The filter of a placement rule has an invalid expression for groups.
        PrGroups = "PR-FGROUP",
        /// The filter of a placement rule has an invalid expression for users.
        PrUsers = "PR-FUSER",
        /// The queue file cannot contain the recovery rule.
        PrRecovery = "PR-RECOVERY",
        /// A placement rule of this name does not exist.
        PrUnknown = "PR-UNKNOWN",
        /// The value of a placement rule is missing or invalid.
        PrValue = "PR-VALUE",
        /// A running task cannot grow, because a quota would be exceeded.
        Quota = "QUOTA",
        /// A tenant sends more requests than its rate limit. Only the server sends this code.
        RateLimited = "RATE_LIMITED",
        /// The request names `instances` as a resource.
        ReservedType = "RESERVED_TYPE",
        /// A queue is set to run, but an ancestor is stopped.
        RunsBelowStopped = "RUNS_BELOW_STOPPED",
        /// A sum does not fit into 64 bits.
        SumTooLarge = "SUM_TOO_LARGE",
        /// A task requests more than any machine has.
        TaskAmount = "TASK_AMOUNT",
        /// A task cannot add asks.
        TaskAsk = "TASK_ASK",
        /// A task or an application with this ID exists.
        TaskExists = "TASK_EXISTS",
        /// A task has no members, or too many.
        TaskMembers = "TASK_MEMBERS",
        /// A task with several members has a setting that only a single member can have.
        TaskMembersUnlike = "TASK_MEMBERS_UNLIKE",
        /// The state of the task does not allow the action.
        TaskState = "TASK_STATE",
        /// A queue file would remove something that existing tenants need.
        TenantsInForce = "TENANTS_IN_FORCE",
        /// The partition has no tenants.
        TenantsOff = "TENANTS_OFF",
        /// The configured root queue cannot contain the queues of tenants.
        TenantsRoot = "TENANTS_ROOT",
        /// Two partitions of a queue file enable tenants.
        TenantsTwice = "TENANTS_TWICE",
        /// An amount is negative.
        TenantAmount = "TENANT_AMOUNT",
        /// The quota would be less than the usage.
        TenantBelowUse = "TENANT_BELOW_USE",
        /// The tenant accepts no tasks, because its queue is stopped.
        TenantClosed = "TENANT_CLOSED",
        /// A tenant would be its own ancestor.
        TenantCycle = "TENANT_CYCLE",
        /// The tenant defaults set a value that only a tenant itself can have. Only the server sends this code.
        TenantDefaults = "TENANT_DEFAULTS",
        /// Tenants would have too many levels.
        TenantDepth = "TENANT_DEPTH",
        /// The tenant is draining.
        TenantDraining = "TENANT_DRAINING",
        /// A tenant with this name exists.
        TenantExists = "TENANT_EXISTS",
        /// The guarantee exceeds the quota.
        TenantGuarantee = "TENANT_GUARANTEE",
        /// The tenant has tasks that have not ended.
        TenantHasTasks = "TENANT_HAS_TASKS",
        /// The tenant has child tenants.
        TenantHasTenants = "TENANT_HAS_TENANTS",
        /// The user or group already has a limit in this queue.
        TenantLimitTaken = "TENANT_LIMIT_TAKEN",
        /// A tenant that is a limit cannot have this setting.
        TenantMode = "TENANT_MODE",
        /// The name is not valid for a tenant.
        TenantName = "TENANT_NAME",
        /// The parent of the tenant does not exist.
        TenantParent = "TENANT_PARENT",
        /// The queue of a tenant that is a limit does not exist.
        TenantQueue = "TENANT_QUEUE",
        /// The queue belongs to tenants.
        TenantQueueClosed = "TENANT_QUEUE_CLOSED",
        /// The quotas of the children would exceed the quota of their parent.
        TenantSum = "TENANT_SUM",
        /// The request names a resource type that cannot be limited.
        TenantType = "TENANT_TYPE",
        /// The tenant is the limit of another user.
        TenantUser = "TENANT_USER",
        /// Another request changed the tenant or the defaults.
        TenantVersion = "TENANT_VERSION",
        /// A list has too many entries.
        TooMany = "TOO_MANY",
        /// Placement rules have created the largest number of queues.
        TooManyQueues = "TOO_MANY_QUEUES",
        /// The partition has the largest number of tenants.
        TooManyTenants = "TOO_MANY_TENANTS",
        /// A request adds too many resource types.
        TooManyTypes = "TOO_MANY_TYPES",
        /// The request names a resource type that Headroom creates itself.
        TypeOfLabel = "TYPE_OF_LABEL",
        /// The application does not exist.
        UnknownApplication = "UNKNOWN_APPLICATION",
        /// The application has no ask or allocation with this key.
        UnknownKey = "UNKNOWN_KEY",
        /// The node is not registered.
        UnknownNode = "UNKNOWN_NODE",
        /// The partition does not exist.
        UnknownPartition = "UNKNOWN_PARTITION",
        /// An answer refers to a question that was never sent.
        UnknownQuestion = "UNKNOWN_QUESTION",
        /// The task does not exist, or the caller is not allowed to see it.
        UnknownTask = "UNKNOWN_TASK",
        /// The tenant does not exist, or the caller is not allowed to see it.
        UnknownTenant = "UNKNOWN_TENANT",
        /// An answer requires the removal of more victims than the question lists.
        VictimsNotAsked = "VICTIMS_NOT_ASKED",
        /// The tenant has the largest number of waiting tasks.
        WaitingListFull = "WAITING_LIST_FULL",
    }
}

impl RefusalCode {
    /// Returns the code with this text. `None` if no code has it.
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
