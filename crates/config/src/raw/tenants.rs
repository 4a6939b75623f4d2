//! Tenants with quotas by API.

use crate::schema::{Amounts, In, Maybe, Names, Seconds, Switch, Whole, Word, blocks};

blocks! {
    /// Tenants with quotas by API.
    Tenants = "`tenants`" {
        /// Whether the partition has tenants. Only one partition of a file can have them.
        "enabled" "Enabled" enabled: Switch { default: "`false`" };
        /// The parent of the tenants' queues. The server creates it if the file does not define it.
        "rootqueue" "RootQueue" root: Word { default: "`root.tenants`" };
        /// Tenants without a quota. Their usage still counts.
        "exempt" "Exempt" exempt: Names { default: "none" };
        /// The settings of tenants without their own.
        "defaults" "Defaults" defaults: Maybe<Defaults>;
        /// How long nothing starts after a restart, unless all nodes have reported earlier.
        "recoverytimeoutseconds" "RecoveryTimeoutSeconds" recovery: Seconds { values: "1 or more", default: "60" };
        /// How often the server compares the counted usage with the running tasks.
        "verifyintervalseconds" "VerifyIntervalSeconds" verify: Seconds { values: "1 or more", default: "60" };
        /// How long the server remembers an `Idempotency-Key`, with its task.
        "idempotencyttlseconds" "IdempotencyTtlSeconds" idempotency: Seconds
            { values: "1 or more", default: "86400" };
        /// The audit log.
        "audit" "Audit" audit: In<Audit>;
    }

    /// The settings of tenants without their own.
    Defaults = "`defaults` of tenants" {
        /// The quota.
        "quota" "Quota" quota: Amounts { default: "no bound" };
        /// How many tasks can wait. More are rejected.
        "maxwaiting" "MaxWaiting" max_waiting: Whole { default: "no bound" };
        /// The order in which tasks start.
        "waiting" "Waiting" waiting: Maybe<Waiting> { default: "`strategy: fifo`" };
        /// What happens to running tasks when a quota is lowered below the usage.
        "onlower" "OnLower" lowered: In<Lowered> { alias: Some("onLower"), default: "`action: block`" };
        /// What happens to an ask that is larger than the quota: it is rejected, or waits until the quota is raised.
        "oversized" "Oversized" oversized: Word { values: "`reject`, `park`", default: "`reject`" };
    }

    /// The order in which tasks of a tenant start.
    Waiting = "`waiting`" {
        /// The order of tasks: by submission without overtaking, the same with limited overtaking, by priority, or by
        /// the time at which a task must start.
        "strategy" "Strategy" strategy: Word
            { values: "`fifo`, `fifo-backfill`, `priority`, `urgency`", default: "`fifo`" };
        /// With `priority`: after how long the priority of a waiting task increases.
        "agingintervalseconds" "AgingIntervalSeconds" aging_interval: Seconds { values: "1 or more", default: "60" };
        /// The size of each increase.
        "agingstep" "AgingStep" aging_step: Whole { default: "1" };
        /// The largest total increase.
        "agingmax" "AgingMax" aging_max: Whole { default: "20" };
        /// How often later tasks can use what the first task needs. 0 is never.
        "maxovertakes" "MaxOvertakes" max_overtakes: Whole { default: "16" };
        /// After this wait of the first task, later tasks can no longer overtake it.
        "maxheadwaitseconds" "MaxHeadWaitSeconds" max_head_wait: Seconds { default: "300" };
        /// After this wait, a task expires. 0 is never.
        "maxwaitseconds" "MaxWaitSeconds" max_wait: Seconds { default: "0" };
    }

    /// What happens to running tasks when a quota is lowered below the usage.
    Lowered = "`onlower`" {
        /// `block`: they continue, and nothing starts that needs an exceeded type. `preempt`: tasks are stopped after
        /// `graceseconds`. `refuse`: the quota does not change.
        "action" "Action" action: Word { values: "`block`, `preempt`, `refuse`", default: "`block`" };
        /// With `preempt`: how long tasks continue.
        "graceseconds" "GraceSeconds" grace: Seconds { default: "60" };
    }

    /// The audit log of tenants.
    Audit = "`audit`" {
        /// How many days the server stores the audit log.
        "retentiondays" "RetentionDays" retention_days: Whole { values: "1 or more", default: "30" };
    }
}
