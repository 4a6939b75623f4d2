//! Events.

use headroom_core::Event;

use super::{At as _, Decoded, Fault, Field};
use crate::proto;
use crate::proto::event::Kind;
use crate::record::What;

/// Each variant, the name of its field, and its own fields.
macro_rules! events {
    ($($variant:ident $name:literal { $($field:ident),* })*) => {
        impl Field<proto::Event> for Event {
            fn put(&self) -> proto::Event {
                let kind = match self {
                    $(Self::$variant { $($field),* } => {
                        Kind::$variant(proto::$variant { $($field: $field.put()),* })
                    })*
                };
                proto::Event { kind: Some(kind) }
            }

            fn take(field: proto::Event) -> Decoded<Self> {
                let Some(kind) = field.kind else {
                    return Err(Fault::new(What::UnknownKind));
                };
                match kind {
                    $(Kind::$variant(proto::$variant { $($field),* }) => Ok(Self::$variant {
                        $($field: Field::take($field).at(stringify!($field)).at($name)?),*
                    }),)*
                }
            }
        }
    };
}

events! {
    PartitionAdded "partition_added" { partition, settings, root }
    PartitionChanged "partition_changed" { partition, settings }
    PartitionRemoved "partition_removed" { partition }
    Configured "configured" { checksum }
    QueueAdded "queue_added" { partition, parent, name, leaf, managed, settings }
    QueueChanged "queue_changed" { partition, queue, leaf, managed, settings }
    QueueMoved "queue_moved" { partition, queue, state }
    QueueRemoved "queue_removed" { queue }
    LimitsChanged "limits_changed" { partition, queue, limits }
    NodeAdded "node_added" { partition, node, capacity, schedulable, attributes }
    NodeResized "node_resized" { node, capacity }
    NodeScheduling "node_scheduling" { node, schedulable }
    NodeRemoved "node_removed" { node }
    ApplicationAdded "application_added" { partition, queue, application, user, groups, gang }
    ApplicationRejected "application_rejected" { partition, queue, application, user, groups, code, message }
    ApplicationLinked "application_linked" { application, group }
    GroupUnlinked "group_unlinked" { application }
    ApplicationUnlinked "application_unlinked" { application }
    ApplicationMoved "application_moved" { application, state, timer }
    ApplicationAllocating "application_allocating" { application }
    ApplicationActivated "application_activated" { application, driver }
    LifetimeSet "lifetime_set" { application, since, asked }
    LifetimeOver "lifetime_over" { application }
    DeadlineSet "deadline_set" { application, deadline, estimate }
    Overtaken "overtaken" { application }
    ApplicationRemoved "application_removed" { application }
    AskAdded "ask_added" { application, key, resources, priority, created, traits }
    AskRemoved "ask_removed" { ask, termination }
    Placed "placed" { ask, node }
    Resized "resized" { allocation, resources }
    Released "released" { allocation, termination }
    Reserved "reserved" { ask, node }
    Unreserved "unreserved" { ask }
    SwapStarted "swap_started" { ask, placeholder, node }
    SwapConfirmed "swap_confirmed" { placeholder }
    SwapDropped "swap_dropped" { ask }
    ReleaseAsked "release_asked" { allocation, termination }
    Preempted "preempted" { victim, cause }
    PreemptionObserved "preemption_observed" { victim, cause }
    PreemptionTriggered "preemption_triggered" { ask }
    PreemptionTried "preemption_tried" { ask }
    QuotaClockStopped "quota_clock_stopped" { queue }
    BackedOff "backed_off" { application, until }
    PlaceholdersExpired "placeholders_expired" { application }
    TimerStopped "timer_stopped" { application }
    ScaleUpAsked "scale_up_asked" { ask }
    ForeignSet "foreign_set" { partition, key, node, resources, preemptable }
    ForeignRemoved "foreign_removed" { partition, key }
    QuestionsSet "questions_set" { partition, questions }
    Asked "asked" { ask, subject }
    Answered "answered" { ask, verdicts }
    VerdictsVoid "verdicts_void" { node }
    TaskAdded "task_added" { application, settings }
    TaskThrottled "task_throttled" { application, reason }
    TaskMoved "task_moved" { application, step }
    TenantSet "tenant_set" { partition, tenant, settings }
    TenantDraining "tenant_draining" { partition, tenant }
    TenantRemoved "tenant_removed" { partition, tenant }
    TenantDefaultsSet "tenant_defaults_set" { partition, defaults }
    DriftFound "drift_found" { partition, drift }
    RecoverySet "recovery_set" { partition, until }
    ManagerAway "manager_away" { partition, away }
    NodeReported "node_reported" { node }
}
