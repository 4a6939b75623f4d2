//! Tenants, whose quotas an API sets.

use crate::schema::{Amounts, In, Maybe, Names, Seconds, Switch, Whole, Word, blocks};

blocks! {
    /// Tenants, whose quotas an API sets.
    Tenants = "`tenants`" {
        /// Whether the partition has tenants. Only one partition of a file can have tenants.
        "enabled" "Enabled" enabled: Switch { default: "`false`" };
        /// The parent queue of the queues of tenants. The server creates this queue if the file does not define it.
        "rootqueue" "RootQueue" root: Word { default: "`root.tenants`" };
        /// Tenants without a quota. Their usage still counts.
        "exempt" "Exempt" exempt: Names { default: "none" };
        /// The settings of tenants without their own.
        "defaults" "Defaults" defaults: Maybe<Defaults>;
        /// Maximum time after a restart during which nothing starts, while nodes have not reported.
        "recoverytimeoutseconds" "RecoveryTimeoutSeconds" recovery: Seconds { values: "1 or more", default: "60" };
        /// Interval at which the server compares the counted usage with the running tasks.
        "verifyintervalseconds" "VerifyIntervalSeconds" verify: Seconds { values: "1 or more", default: "60" };
        /// Time for which the server stores an `Idempotency-Key` with its task.
        "idempotencyttlseconds" "IdempotencyTtlSeconds" idempotency: Seconds
            { values: "1 or more", default: "86400" };
        /// Whether tenants below their guarantee can preempt tasks of tenants above theirs.
        "reclaim" "Reclaim" reclaim: Switch { default: "`true`" };
        /// The audit log.
        "audit" "Audit" audit: In<Audit>;
    }

    /// The settings of tenants without their own.
    Defaults = "`defaults` of tenants" {
        /// The quota.
        "quota" "Quota" quota: Amounts { default: "no limit" };
        /// Maximum number of waiting tasks. Further tasks are rejected.
        "maxwaiting" "MaxWaiting" max_waiting: Whole { default: "no limit" };
        /// The order in which tasks start.
        "waiting" "Waiting" waiting: Maybe<Waiting> { default: "`strategy: fifo`" };
        /// What happens to running tasks when a quota is lowered below the usage.
        "onlower" "OnLower" lowered: In<Lowered> { alias: Some("onLower"), default: "`action: block`" };
        /// Whether an ask that is larger than the quota is rejected, or waits until the quota is raised.
        "oversized" "Oversized" oversized: Word { values: "`reject`, `park`", default: "`reject`" };
    }

    /// The order in which tasks of a tenant start.
    Waiting = "`waiting`" {
        /// The order of tasks: by submission, by submission with limited overtaking, by priority, or by the time at
        /// which a task must start.
        "strategy" "Strategy" strategy: Word
            { values: "`fifo`, `fifo-backfill`, `priority`, `urgency`", default: "`fifo`" };
        /// With the strategy `priority`: the time after which the priority of a waiting task increases.
        "agingintervalseconds" "AgingIntervalSeconds" aging_interval: Seconds { values: "1 or more", default: "60" };
        /// The amount by which the priority increases each time.
        "agingstep" "AgingStep" aging_step: Whole { default: "1" };
        /// The maximum total increase of the priority.
        "agingmax" "AgingMax" aging_max: Whole { default: "20" };
        /// Number of times that later tasks can use amounts that the first task needs. 0 means never.
        "maxovertakes" "MaxOvertakes" max_overtakes: Whole { default: "16" };
        /// Wait of the first task after which later tasks can no longer overtake it.
        "maxheadwaitseconds" "MaxHeadWaitSeconds" max_head_wait: Seconds { default: "300" };
        /// Wait after which a task expires. 0 means never.
        "maxwaitseconds" "MaxWaitSeconds" max_wait: Seconds { default: "0" };
    }

    /// What happens to running tasks when a quota is lowered below the usage.
    Lowered = "`onlower`" {
        /// `block`: the tasks continue, and no task starts that needs an exceeded type. `preempt`: tasks are stopped
        /// after `graceseconds`. `refuse`: the quota does not change.
        "action" "Action" action: Word { values: "`block`, `preempt`, `refuse`", default: "`block`" };
        /// With `preempt`: time for which the tasks continue.
        "graceseconds" "GraceSeconds" grace: Seconds { default: "60" };
    }

    /// The audit log of tenants.
    Audit = "`audit`" {
        /// Number of days for which the server stores the audit log.
        "retentiondays" "RetentionDays" retention_days: Whole { values: "1 or more", default: "30" };
    }
}
