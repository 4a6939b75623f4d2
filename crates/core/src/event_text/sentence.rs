//! Sentences of events: the change that happened.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::books::TaskState;
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, ForeignEvent, NodeEvent, PartitionEvent,
    PreemptionCause, QueueEvent, TaskEvent, TaskStep, TenantDrift, TenantEvent, Termination,
};
use crate::resource::{Amounts, format_amounts, format_quantities};
use crate::time::{DisplayTime, Millis};

use super::EventNames;

/// Returns the change as a sentence without a full stop.
#[expect(clippy::too_many_lines, reason = "one arm for each event, so that none is forgotten")]
pub fn text_of(event: &Event, named: &EventNames) -> String {
    let EventNames { partition, queue, application, user, key, node, other, resources, .. } = named;
    let task = format_args!("task {application} of tenant {other}");
    let ask = format_args!("{key} of application {application}");
    match event {
        Event::Partition(PartitionEvent::Added { .. }) => {
            format!("partition {partition} was added")
        }
        Event::Partition(PartitionEvent::Changed { .. }) => {
            format!("the policies of partition {partition} changed")
        }
        Event::Partition(PartitionEvent::Removed { .. }) => {
            format!("partition {partition} was removed")
        }
        Event::Configured { .. } => "a new queue file was applied".to_owned(),
        Event::Queue(QueueEvent::Added { .. }) => format!("queue {queue} was added"),
        Event::Queue(QueueEvent::Changed { .. }) => {
            format!("the settings of queue {queue} changed")
        }
        Event::Queue(QueueEvent::Moved { state, .. }) => format!("queue {queue} is now {state}"),
        Event::Queue(QueueEvent::Removed { .. }) => format!("queue {queue} was removed"),
        Event::Queue(QueueEvent::LimitsChanged { limits, .. }) => {
            let number =
                counted(limits.len(), "limit of users and groups", "limits of users and groups");
            format!("queue {queue} now has {number}")
        }
        Event::Queue(QueueEvent::QuotaClockStopped { .. }) => {
            format!(
                "queue {queue} is no longer above its maximum, so nothing is preempted for this \
                 maximum"
            )
        }
        Event::Node(NodeEvent::Added { capacity, .. }) => {
            format!("node {node} joined with {}", listed(capacity))
        }
        Event::Node(NodeEvent::Resized { capacity, .. }) => {
            format!("node {node} now has {}", listed(capacity))
        }
        Event::Node(NodeEvent::Scheduling { schedulable: true, .. }) => {
            format!("node {node} accepts asks again")
        }
        Event::Node(NodeEvent::Scheduling { schedulable: false, .. }) => {
            format!("node {node} is draining: its allocations continue, and it accepts no asks")
        }
        Event::Node(NodeEvent::Removed { .. }) => format!("node {node} was removed"),
        Event::Node(NodeEvent::Reported { .. }) => {
            format!("node {node} reported after the restart")
        }
        Event::Partition(PartitionEvent::ManagerAway { away: Some(away), .. }) => format!(
            "resource manager {} has been disconnected since {}; nothing starts in partition \
             {partition} until the resource manager reconnects",
            away.manager,
            DisplayTime(away.since)
        ),
        Event::Partition(PartitionEvent::ManagerAway { away: None, .. }) => {
            format!("the resource manager of partition {partition} reconnected")
        }
        Event::Partition(PartitionEvent::RecoverySet { until: Some(until), .. }) => format!(
            "nothing starts in partition {partition} until its nodes have reported, or until {}",
            DisplayTime(*until)
        ),
        Event::Partition(PartitionEvent::RecoverySet { until: None, .. }) => {
            format!("the recovery of partition {partition} ended; waiting asks can start")
        }
        Event::Foreign(ForeignEvent::Set { resources, .. }) => {
            let used = listed(resources);
            format!("{} of another scheduler uses {used} on node {node}", named.key)
        }
        Event::Foreign(ForeignEvent::Removed { .. }) => {
            format!("{} of another scheduler ended", named.key)
        }
        Event::Partition(PartitionEvent::QuestionsSet { questions: Some(_), .. }) => {
            format!("the resource manager of partition {partition} answers questions about nodes")
        }
        Event::Partition(PartitionEvent::QuestionsSet { questions: None, .. }) => format!(
            "the resource manager of partition {partition} no longer answers questions about nodes"
        ),
        Event::Node(NodeEvent::VerdictsVoid { .. }) => {
            format!("the answers of the resource manager about node {node} expired")
        }
        Event::Tenant(TenantEvent::Set { tenant, .. }) => {
            format!("tenant {tenant} was created or updated")
        }
        Event::Tenant(TenantEvent::Draining { tenant, .. }) => {
            format!("tenant {tenant} is draining, and is deleted after its last task ends")
        }
        Event::Tenant(TenantEvent::Removed { tenant, .. }) => {
            format!("tenant {tenant} was deleted")
        }
        Event::Tenant(TenantEvent::DefaultsSet { .. }) => {
            format!("the defaults of the tenants of partition {partition} changed")
        }
        Event::Tenant(TenantEvent::DriftFound { drift, .. }) => text_of_drift(drift),
        Event::Task(TaskEvent::Added { .. }) => format!("{task} was submitted"),
        Event::Task(TaskEvent::Throttled { reason, .. }) if reason.scope.is_empty() => {
            format!("{task} waits for {}", reason.code)
        }
        Event::Task(TaskEvent::Throttled { reason, .. }) => {
            format!("{task} waits for {} of {}", reason.code, reason.scope)
        }
        Event::Task(TaskEvent::Moved { step, .. }) => match step {
            TaskStep::Confirmed => format!("{task} runs"),
            TaskStep::Cancelling => format!("{task} was cancelled and must stop"),
            TaskStep::Restarted { .. } => format!("{task} failed and waits again"),
            TaskStep::Requeued { .. } => format!("{task} was evicted and waits again"),
            TaskStep::Waited => format!("{task} started before its wait expired"),
            TaskStep::Measured { .. } => format!("the measured usage of {task} was reported"),
            TaskStep::Ended { outcome, .. } => {
                format!("{task} ended: {}", TaskState::Ended(*outcome).as_str())
            }
        },
        Event::Application(ApplicationEvent::Added { .. }) => {
            format!("application {application} of {user} was accepted in queue {queue}")
        }
        Event::Application(ApplicationEvent::Rejected { message, .. }) => {
            format!("application {application} of {user} was rejected: {message}")
        }
        Event::Application(ApplicationEvent::Linked { group: Some(group), .. }) => {
            format!("application {application} is charged to user {user} and group {group}")
        }
        Event::Application(ApplicationEvent::Linked { group: None, .. }) => {
            format!("application {application} is charged to user {user} and no group")
        }
        Event::Application(ApplicationEvent::GroupUnlinked { .. }) => {
            format!("application {application} is no longer charged to its group")
        }
        Event::Application(ApplicationEvent::Unlinked { .. }) => {
            format!("application {application} is no longer charged to user {user}")
        }
        Event::Application(ApplicationEvent::Moved { state, .. }) => match named.before {
            Some(before) => format!("application {application} changed from {before} to {state}"),
            None => format!("application {application} is {state}"),
        },
        Event::Application(ApplicationEvent::Activated { driver, .. }) => format!(
            "application {application} was activated; its driver counts as {}",
            listed(driver)
        ),
        Event::Application(ApplicationEvent::Allocating { .. }) => {
            format!("application {application} received its first allocation and is running")
        }
        Event::Application(ApplicationEvent::Removed { .. }) => {
            format!("the record of application {application} was deleted")
        }
        Event::Application(ApplicationEvent::BackedOff { until, .. }) => format!(
            "too many asks of application {application} found no node, so the application pauses \
             until {}",
            DisplayTime(*until)
        ),
        Event::Application(ApplicationEvent::LifetimeSet { asked: Some(asked), .. }) => {
            format!("application {application} requested a lifetime of {}", seconds(*asked))
        }
        Event::Application(ApplicationEvent::LifetimeSet { asked: None, since, .. }) => {
            format!("application {application} was created at {}", DisplayTime(*since))
        }
        Event::Application(ApplicationEvent::LifetimeOver { .. }) => {
            format!("the lifetime of application {application} ended")
        }
        Event::Application(ApplicationEvent::DeadlineSet { deadline: None, .. }) => {
            format!("application {application} no longer has a deadline")
        }
        Event::Application(ApplicationEvent::DeadlineSet {
            deadline: Some(at), estimate, ..
        }) => format!(
            "application {application} must end by {} and takes {}",
            DisplayTime(*at),
            seconds(*estimate)
        ),
        Event::Application(ApplicationEvent::Overtaken { .. }) if other.is_empty() => {
            format!("a later application overtook application {application}, the head of line")
        }
        Event::Application(ApplicationEvent::Overtaken { .. }) => {
            format!("application {other} overtook application {application}, the head of line")
        }
        Event::Application(ApplicationEvent::PlaceholdersExpired { .. }) => {
            format!("the gang timer of application {application} ended")
        }
        Event::Application(ApplicationEvent::TimerStopped { .. }) => {
            format!("the timer of application {application} was stopped")
        }
        Event::Ask(AskEvent::Added { resources, .. }) => {
            format!("ask {ask} needs {}", listed(resources))
        }
        Event::Ask(AskEvent::Removed { termination, .. }) => {
            format!("ask {ask} was removed: {}", reason_of(*termination))
        }
        Event::Ask(AskEvent::Placed { .. }) => {
            format!("ask {ask} received {} on node {node}", listed(resources))
        }
        Event::Allocation(AllocationEvent::Resized { resources: now, .. }) => {
            format!("{ask} was resized from {} to {}", listed(resources), listed(now))
        }
        Event::Allocation(AllocationEvent::Released { termination, .. }) => {
            let (freed, why) = (listed(resources), reason_of(*termination));
            format!("{ask} released {freed} on node {node}: {why}")
        }
        Event::Ask(AskEvent::Reserved { .. }) => format!("node {node} is reserved for ask {ask}"),
        Event::Ask(AskEvent::Unreserved { .. }) => {
            format!("no node is reserved for ask {ask} any more")
        }
        Event::Ask(AskEvent::Held { .. }) => {
            format!(
                "the queues up to {queue} hold capacity for ask {ask}, which has waited too long"
            )
        }
        Event::Ask(AskEvent::HoldEnded { .. }) => {
            format!("queues hold no more capacity for ask {ask}")
        }
        Event::Allocation(AllocationEvent::SwapStarted { .. }) => {
            format!("ask {ask} is about to replace placeholder {other} on node {node}")
        }
        Event::Allocation(AllocationEvent::SwapConfirmed { .. }) => {
            format!("{ask} replaced placeholder {other}")
        }
        Event::Allocation(AllocationEvent::SwapDropped { .. }) => {
            format!("ask {ask} waits again and replaces no placeholder")
        }
        Event::Allocation(AllocationEvent::ReleaseAsked { termination, .. }) => {
            let why = reason_of(*termination);
            format!("the resource manager must stop {ask} on node {node}: {why}")
        }
        Event::Allocation(AllocationEvent::Preempted { cause, .. }) => {
            let why = cause_of(*cause);
            format!("the resource manager must stop {ask} on node {node} for {other}, {why}")
        }
        Event::Allocation(AllocationEvent::PreemptionObserved { cause, .. }) => {
            let why = cause_of(*cause);
            format!(
                "without `observeonly`, {ask} on node {node} would be stopped for {other}, {why}"
            )
        }
        Event::Ask(AskEvent::PreemptionTriggered { .. }) => {
            format!("allocations are preempted for ask {ask}")
        }
        Event::Ask(AskEvent::PreemptionTried { .. }) => {
            format!("no allocations can be preempted for ask {ask} now")
        }
        Event::Ask(AskEvent::ScaleUpAsked { .. }) => {
            format!("ask {ask} could start on additional nodes")
        }
        Event::Ask(AskEvent::Asked { .. }) => {
            format!("the resource manager was asked about nodes for ask {ask}")
        }
        Event::Ask(AskEvent::Answered { .. }) => {
            format!("the resource manager answered about ask {ask}")
        }
    }
}

fn text_of_drift(drift: &[TenantDrift]) -> String {
    let types = drift.iter().map(|one| {
        let TenantDrift { tenant, resource, counted, found } = one;
        let [counted, found] = format_quantities(resource, [*counted, *found]);
        format!(
            "the tasks of tenant {tenant} use {found} {resource}, but the counted usage is \
                 {counted}"
        )
    });
    let types: Vec<String> = types.collect();
    format!("the counted usage differs from the tasks: {}", types.join(", "))
}

const fn cause_of(cause: PreemptionCause) -> &'static str {
    match cause {
        PreemptionCause::Guarantee(_) => "whose queue is below its guarantee",
        PreemptionCause::Share(_) => "whose user is below their share of the queue",
        PreemptionCause::Priority(_) => "which has a higher priority",
        PreemptionCause::RequiredNode(_) => "which can run only on that node",
        PreemptionCause::Quota(_) => "a queue above its maximum",
    }
}

/// Returns amounts as display text, such as `memory 64Gi, vcore 1`.
fn listed(amounts: &Amounts) -> String {
    if amounts.is_empty() {
        return "nothing".to_owned();
    }
    let [text] = format_amounts(amounts, [amounts]);
    text
}

fn counted(number: usize, one: &str, many: &str) -> String {
    match number {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    }
}

fn seconds(span: Millis) -> String {
    format!("{} s", span.get() / 1_000)
}

/// Returns the reason why an ask or allocation ended or must stop.
pub const fn reason_of(termination: Termination) -> &'static str {
    match termination {
        Termination::StoppedByRm => "the resource manager stopped it",
        Termination::NodeRemoved => "its node was removed",
        Termination::PartitionRemoved => "its partition was removed",
        Termination::Timeout => "its gang was not complete in time",
        Termination::Preempted => "it was preempted",
        Termination::PlaceholderReplaced => "a member replaces it",
        Termination::LifetimeOver => "the lifetime of its application ended",
    }
}
