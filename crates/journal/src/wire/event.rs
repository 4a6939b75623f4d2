//! Events.

use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, NodeEvent, PartitionEvent,
    QueueEvent, TaskEvent, TenantEvent,
};

use super::{At as _, Decoded, Fault, Field};
use crate::proto;
use crate::proto::event::Kind;
use crate::record::What;

/// Maps each group to its type, and each variant in it to its message, the name of its field, and its own fields.
macro_rules! events {
    ($($group:ident($type:ident) {
        $($variant:ident = $message:ident $name:literal { $($field:ident),* })*
    })*) => {
        impl Field<proto::Event> for Event {
            fn put(&self) -> proto::Event {
                let kind = match self {
                    Self::Configured { checksum } => {
                        Kind::Configured(proto::Configured { checksum: checksum.put() })
                    }
                    $($(Self::$group($type::$variant { $($field),* }) => {
                        Kind::$message(proto::$message { $($field: $field.put()),* })
                    })*)*
                };
                proto::Event { kind: Some(kind) }
            }

            fn take(field: proto::Event) -> Decoded<Self> {
                let Some(kind) = field.kind else {
                    return Err(Fault::new(What::UnknownKind));
                };
                match kind {
                    Kind::Configured(proto::Configured { checksum }) => Ok(Self::Configured {
                        checksum: Field::take(checksum).at("checksum").at("configured")?,
                    }),
                    $($(Kind::$message(proto::$message { $($field),* }) => {
                        Ok(Self::$group($type::$variant {
                            $($field: Field::take($field).at(stringify!($field)).at($name)?),*
                        }))
                    })*)*
                }
            }
        }
    };
}

events! {
    Partition(PartitionEvent) {
        Added = PartitionAdded "partition_added" { partition, settings, root }
        Changed = PartitionChanged "partition_changed" { partition, settings }
        Removed = PartitionRemoved "partition_removed" { partition }
        QuestionsSet = QuestionsSet "questions_set" { partition, questions }
        RecoverySet = RecoverySet "recovery_set" { partition, until }
        ManagerAway = ManagerAway "manager_away" { partition, away }
    }
    Queue(QueueEvent) {
        Added = QueueAdded "queue_added" { partition, parent, name, leaf, managed, settings }
        Changed = QueueChanged "queue_changed" { partition, queue, leaf, managed, settings }
        Moved = QueueMoved "queue_moved" { partition, queue, state }
        Removed = QueueRemoved "queue_removed" { queue }
        LimitsChanged = LimitsChanged "limits_changed" { partition, queue, limits }
        QuotaClockStopped = QuotaClockStopped "quota_clock_stopped" { queue }
    }
    Node(NodeEvent) {
        Added = NodeAdded "node_added" { partition, node, capacity, schedulable, attributes }
        Resized = NodeResized "node_resized" { node, capacity }
        Scheduling = NodeScheduling "node_scheduling" { node, schedulable }
        Removed = NodeRemoved "node_removed" { node }
        Reported = NodeReported "node_reported" { node }
        VerdictsVoid = VerdictsVoid "verdicts_void" { node }
    }
    Application(ApplicationEvent) {
        Added = ApplicationAdded "application_added" { partition, queue, application, user, groups, gang }
        Rejected = ApplicationRejected "application_rejected" { partition, queue, application, user, groups, code, message }
        Linked = ApplicationLinked "application_linked" { application, group }
        GroupUnlinked = GroupUnlinked "group_unlinked" { application }
        Unlinked = ApplicationUnlinked "application_unlinked" { application }
        LifetimeSet = LifetimeSet "lifetime_set" { application, since, asked }
        LifetimeOver = LifetimeOver "lifetime_over" { application }
        DeadlineSet = DeadlineSet "deadline_set" { application, deadline, estimate }
        Overtaken = Overtaken "overtaken" { application, by }
        Moved = ApplicationMoved "application_moved" { application, state, timer }
        Activated = ApplicationActivated "application_activated" { application, driver }
        Allocating = ApplicationAllocating "application_allocating" { application }
        Removed = ApplicationRemoved "application_removed" { application }
        BackedOff = BackedOff "backed_off" { application, until }
        PlaceholdersExpired = PlaceholdersExpired "placeholders_expired" { application }
        TimerStopped = TimerStopped "timer_stopped" { application }
    }
    Task(TaskEvent) {
        Added = TaskAdded "task_added" { application, settings }
        Throttled = TaskThrottled "task_throttled" { application, reason }
        Moved = TaskMoved "task_moved" { application, step }
    }
    Ask(AskEvent) {
        Added = AskAdded "ask_added" { application, key, resources, priority, created, traits }
        Removed = AskRemoved "ask_removed" { ask, termination }
        Placed = Placed "placed" { ask, node }
        Reserved = Reserved "reserved" { ask, node }
        Unreserved = Unreserved "unreserved" { ask }
        Held = Held "held" { ask, top }
        HoldEnded = HoldEnded "hold_ended" { ask }
        Asked = Asked "asked" { ask, subject }
        Answered = Answered "answered" { ask, verdicts }
        PreemptionTriggered = PreemptionTriggered "preemption_triggered" { ask }
        PreemptionTried = PreemptionTried "preemption_tried" { ask }
        ScaleUpAsked = ScaleUpAsked "scale_up_asked" { ask }
    }
    Allocation(AllocationEvent) {
        Resized = Resized "resized" { allocation, resources }
        Released = Released "released" { allocation, termination }
        SwapStarted = SwapStarted "swap_started" { ask, placeholder, node }
        SwapConfirmed = SwapConfirmed "swap_confirmed" { placeholder }
        SwapDropped = SwapDropped "swap_dropped" { ask }
        ReleaseAsked = ReleaseAsked "release_asked" { allocation, termination }
        Preempted = Preempted "preempted" { victim, cause }
        PreemptionObserved = PreemptionObserved "preemption_observed" { victim, cause }
    }
    Foreign(ForeignEvent) {
        Set = ForeignSet "foreign_set" { partition, key, node, resources, preemptable }
        Removed = ForeignRemoved "foreign_removed" { partition, key }
    }
    Tenant(TenantEvent) {
        Set = TenantSet "tenant_set" { partition, tenant, settings }
        Draining = TenantDraining "tenant_draining" { partition, tenant }
        Removed = TenantRemoved "tenant_removed" { partition, tenant }
        DefaultsSet = TenantDefaultsSet "tenant_defaults_set" { partition, defaults }
        DriftFound = DriftFound "drift_found" { partition, drift }
    }
}
