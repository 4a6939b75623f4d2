//! An event in a sentence: the change that happened, in the present and the past tense of the reader.

use headroom_core::books::TaskState;
use headroom_core::resource::{Amounts, format_quantities};
use headroom_core::{Event, Millis, PreemptionCause, TaskStep, TenantDrift, Termination};
use headroom_engine::EventNames;

use crate::native::words::time;

/// What happened, in a sentence without a full stop.
#[expect(clippy::too_many_lines, reason = "one arm for each event, so that none is forgotten")]
pub(super) fn text_of(event: &Event, named: &EventNames) -> String {
    let EventNames { partition, queue, application, user, key, node, other, resources, .. } = named;
    let task = format_args!("task {application} of tenant {other}");
    let ask = format_args!("{key} of application {application}");
    match event {
        Event::PartitionAdded { .. } => format!("partition {partition} was added"),
        Event::PartitionChanged { .. } => format!("the policies of partition {partition} changed"),
        Event::PartitionRemoved { .. } => format!("partition {partition} was removed"),
        Event::Configured { .. } => "a new queue file was applied".to_owned(),
        Event::QueueAdded { .. } => format!("queue {queue} was added"),
        Event::QueueChanged { .. } => format!("the settings of queue {queue} changed"),
        Event::QueueMoved { state, .. } => format!("queue {queue} is now {state}"),
        Event::QueueRemoved { .. } => format!("queue {queue} was removed"),
        Event::LimitsChanged { limits, .. } => {
            let number =
                counted(limits.len(), "limit of users and groups", "limits of users and groups");
            format!("queue {queue} now has {number}")
        }
        Event::QuotaClockStopped { .. } => {
            format!("queue {queue} is no longer above its maximum, so nothing is preempted for it")
        }
        Event::NodeAdded { capacity, .. } => {
            format!("node {node} joined with {}", listed(capacity))
        }
        Event::NodeResized { capacity, .. } => format!("node {node} now has {}", listed(capacity)),
        Event::NodeScheduling { schedulable: true, .. } => {
            format!("node {node} accepts asks again")
        }
        Event::NodeScheduling { schedulable: false, .. } => {
            format!("node {node} is draining: its allocations continue, and it accepts no asks")
        }
        Event::NodeRemoved { .. } => format!("node {node} was removed"),
        Event::NodeReported { .. } => format!("node {node} reported after the restart"),
        Event::ManagerAway { away: Some(away), .. } => format!(
            "resource manager {} has been disconnected since {}; nothing starts in partition {partition} until it \
             reconnects",
            away.manager,
            time(away.since)
        ),
        Event::ManagerAway { away: None, .. } => {
            format!("the resource manager of partition {partition} reconnected")
        }
        Event::RecoverySet { until: Some(until), .. } => format!(
            "nothing starts in partition {partition} until its nodes have reported, or until {}",
            time(*until)
        ),
        Event::RecoverySet { until: None, .. } => {
            format!("the recovery of partition {partition} ended; waiting asks can start")
        }
        Event::ForeignSet { resources, .. } => {
            let used = listed(resources);
            format!("{} of another scheduler uses {used} on node {node}", named.key)
        }
        Event::ForeignRemoved { .. } => format!("{} of another scheduler ended", named.key),
        Event::QuestionsSet { questions: Some(_), .. } => {
            format!("the resource manager of partition {partition} answers questions about nodes")
        }
        Event::QuestionsSet { questions: None, .. } => format!(
            "the resource manager of partition {partition} no longer answers questions about nodes"
        ),
        Event::VerdictsVoid { .. } => {
            format!("the answers of the resource manager about node {node} expired")
        }
        Event::TenantSet { tenant, .. } => format!("tenant {tenant} was created or updated"),
        Event::TenantDraining { tenant, .. } => {
            format!("tenant {tenant} is draining, and is deleted after its last task ends")
        }
        Event::TenantRemoved { tenant, .. } => format!("tenant {tenant} was deleted"),
        Event::TenantDefaultsSet { .. } => {
            format!("the defaults of the tenants of partition {partition} changed")
        }
        Event::DriftFound { drift, .. } => text_of_drift(drift),
        Event::TaskAdded { .. } => format!("{task} was submitted"),
        Event::TaskThrottled { reason, .. } if reason.scope.is_empty() => {
            format!("{task} waits for {}", reason.code)
        }
        Event::TaskThrottled { reason, .. } => {
            format!("{task} waits for {} of {}", reason.code, reason.scope)
        }
        Event::TaskMoved { step, .. } => match step {
            TaskStep::Confirmed => format!("{task} runs"),
            TaskStep::Cancelling => format!("{task} was cancelled and must stop"),
            TaskStep::Restarted { .. } => format!("{task} failed and waits again"),
            TaskStep::Requeued { .. } => format!("{task} was evicted and waits again"),
            TaskStep::Waited => format!("{task} started before its wait expired"),
            TaskStep::Measured { .. } => format!("the usage of {task} was measured"),
            TaskStep::Ended { outcome, .. } => {
                format!("{task} ended: {}", TaskState::Ended(*outcome).as_str())
            }
        },
        Event::ApplicationAdded { .. } => {
            format!("application {application} of {user} was accepted in queue {queue}")
        }
        Event::ApplicationRejected { message, .. } => {
            format!("application {application} of {user} was rejected: {message}")
        }
        Event::ApplicationLinked { group: Some(group), .. } => {
            format!("application {application} is charged to user {user} and group {group}")
        }
        Event::ApplicationLinked { group: None, .. } => {
            format!("application {application} is charged to user {user} and no group")
        }
        Event::GroupUnlinked { .. } => {
            format!("application {application} is no longer charged to its group")
        }
        Event::ApplicationUnlinked { .. } => {
            format!("application {application} is no longer charged to user {user}")
        }
        Event::ApplicationMoved { state, .. } => match named.before {
            Some(before) => format!("application {application} changed from {before} to {state}"),
            None => format!("application {application} is {state}"),
        },
        Event::ApplicationActivated { driver, .. } => format!(
            "application {application} was activated; its driver counts as {}",
            listed(driver)
        ),
        Event::ApplicationAllocating { .. } => format!(
            "application {application} received its first allocation and now counts as running"
        ),
        Event::ApplicationRemoved { .. } => {
            format!("the record of application {application} was deleted")
        }
        Event::BackedOff { until, .. } => format!(
            "too many asks of application {application} found no node; it pauses until {}",
            time(*until)
        ),
        Event::LifetimeSet { asked: Some(asked), .. } => {
            format!("application {application} requested a lifetime of {}", seconds(*asked))
        }
        Event::LifetimeSet { asked: None, since, .. } => {
            format!("application {application} was created at {}", time(*since))
        }
        Event::LifetimeOver { .. } => format!("the lifetime of application {application} ended"),
        Event::DeadlineSet { deadline: None, .. } => {
            format!("application {application} no longer has a deadline")
        }
        Event::DeadlineSet { deadline: Some(at), estimate, .. } => format!(
            "application {application} must end by {} and takes {}",
            time(*at),
            seconds(*estimate)
        ),
        Event::Overtaken { .. } => {
            format!("a later application overtook application {application}, the head of line")
        }
        Event::PlaceholdersExpired { .. } => {
            format!("the placeholders of application {application} expired")
        }
        Event::TimerStopped { .. } => {
            format!("the timer of application {application} was stopped")
        }
        Event::AskAdded { resources, .. } => format!("ask {ask} needs {}", listed(resources)),
        Event::AskRemoved { termination, .. } => {
            format!("ask {ask} was removed: {}", reason_of(*termination))
        }
        Event::Placed { .. } => {
            format!("ask {ask} received {} on node {node}", listed(resources))
        }
        Event::Resized { resources: now, .. } => {
            format!("{ask} was resized from {} to {}", listed(resources), listed(now))
        }
        Event::Released { termination, .. } => {
            let (freed, why) = (listed(resources), reason_of(*termination));
            format!("{ask} released {freed} on node {node}: {why}")
        }
        Event::Reserved { .. } => format!("node {node} is reserved for ask {ask}"),
        Event::Unreserved { .. } => format!("no node is reserved for ask {ask} any more"),
        Event::SwapStarted { .. } => {
            format!("ask {ask} is about to replace placeholder {other} on node {node}")
        }
        Event::SwapConfirmed { .. } => format!("{ask} replaced placeholder {other}"),
        Event::SwapDropped { .. } => format!("ask {ask} waits again and replaces no placeholder"),
        Event::ReleaseAsked { termination, .. } => {
            let why = reason_of(*termination);
            format!("the resource manager must stop {ask} on node {node}: {why}")
        }
        Event::Preempted { cause, .. } => {
            let why = cause_of(*cause);
            format!("the resource manager must stop {ask} on node {node} for {other}, {why}")
        }
        Event::PreemptionObserved { cause, .. } => {
            let why = cause_of(*cause);
            format!(
                "without `observeonly`, {ask} on node {node} would be stopped for {other}, {why}"
            )
        }
        Event::PreemptionTriggered { .. } => format!("allocations are preempted for ask {ask}"),
        Event::PreemptionTried { .. } => {
            format!("no allocations can be preempted for ask {ask} now")
        }
        Event::ScaleUpAsked { .. } => format!("ask {ask} could start on additional nodes"),
        Event::Asked { .. } => format!("the resource manager was asked about nodes for ask {ask}"),
        Event::Answered { .. } => format!("the resource manager answered about ask {ask}"),
    }
}

fn text_of_drift(drift: &[TenantDrift]) -> String {
    let types = drift.iter().map(|one| {
        let TenantDrift { tenant, resource, counted, found } = one;
        let [counted, found] = format_quantities(resource, [*counted, *found]);
        format!("tenant {tenant} has {found} {resource}, but {counted} are counted")
    });
    let types: Vec<String> = types.collect();
    format!("the counted usage differs from the tasks: {}", types.join(", "))
}

const fn cause_of(cause: PreemptionCause) -> &'static str {
    match cause {
        PreemptionCause::Guarantee(_) => "whose queue is below its guarantee",
        PreemptionCause::Share(_) => "whose user is below their share of the queue",
        PreemptionCause::RequiredNode(_) => "which can run only on that node",
        PreemptionCause::Quota(_) => "a queue above its maximum",
    }
}

/// Amounts as people write them, such as `memory 64Gi, vcore 1`.
fn listed(amounts: &Amounts) -> String {
    if amounts.is_empty() {
        return "nothing".to_owned();
    }
    let each = amounts.iter().map(|(name, amount)| {
        let [figure] = format_quantities(name, [amount]);
        format!("{name} {figure}")
    });
    each.collect::<Vec<_>>().join(", ")
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

/// Why something ended or must stop.
pub(super) const fn reason_of(termination: Termination) -> &'static str {
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
