//! Bodies of `/headroom/v1`, Headroom's own interface.
//!
//! Times are RFC 3339 in UTC, amounts in core units: thousandths of a core of `vcore`, bytes of
//! `memory`, plain counts of all others. What the caller may not read is left out and counted.
//! What a client sends is refused when it has a field that nobody knows: a misspelled one would
//! otherwise have no effect and no message.

mod amount;
mod audit;
mod event;
mod explanation;
mod health;
mod level;
mod page;
mod partition;
mod plan;
mod problem;
mod reason;
mod role;
mod task;
mod tenant;
mod tenant_event;
mod waiting;

pub use amount::{Amount, Amounts, display_amount};
pub use audit::{AuditPage, AuditRecord, AuditType};
pub use event::{Bye, Event, Frame, FrameReader, Hello, MalformedFrame, Streamed};
pub use explanation::{
    CheckHolder, CheckVerdict, ExplainedCheck, ExplainedHold, ExplainedPod, ExplainedPreemption,
    ExplainedState, Explanation, InTurn, NearMiss, NodesLookedAt, PreemptionOutcome,
    PreemptionVictim, RefusedNodes, Remedies, Remedy, VerdictChange, WouldRun,
};
pub use health::{
    ClockOffset, JournalHealth, JournalState, RecoveryProgress, ResourceManager,
    ResourceManagerState, ServerHealth, ServerState, WriterHealth,
};
pub use level::{Level, LogLevel};
pub use page::{Page, Stamp};
pub use partition::{
    AwayManager, NodeCounts, OverLimit, PartitionSummary, StampedPartition, StarvedQueue,
};
pub use plan::{
    Diagnostic, DiagnosticPlace, Plan, PlanAsk, PlanAskChange, PlanAskChanges, PlanAsks,
    PlanDifference, PlanEffects, PlanEviction, PlanEvictions, PlanExcess, PlanMove, PlanMoves,
    PlanQueueUsage, PlanRefusal, PlanSettled, PlanUserUsage, PlanValue, QueueFileApplied,
};
pub use problem::{Code, Problem};
pub use reason::{WaitingExample, WaitingReason, WaitingReasons};
pub use role::Role;
pub use task::{
    IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX, ReleaseOutcome, Task, TaskMeasured, TaskMeasurement,
    TaskRank, TaskRelease, TaskResize, TaskState, TaskSubmission,
};
pub use tenant::{
    AncestorLimit, LedgerDrift, LedgerVerified, OnLower, OnLowerAction, Oversized, Tenant,
    TenantDefaults, TenantKind, TenantMapping, TenantMeasured, TenantMode, TenantQuota,
    TenantState, TenantUsage, TenantVictim, TenantWaiting, WaitingPolicy, WaitingStrategy,
};
pub use tenant_event::TenantEvent;
pub use waiting::{QuotaCheck, ShortType, TaskReason, WaitingList, WaitingTask};
