//! An event of the core as it is told: what, of whom, in a sentence and in fields.

use headroom_api::headroomv1::Event as Told;
use headroom_core::books::TaskState;
use headroom_core::resource::{Amounts, figures};
use headroom_core::{Event, Name, PreemptionCause, TaskStep, TenantDrift, Termination};
use headroom_engine::{Entry, Named};
use serde_json::{Map, Value, json};

use crate::native::words::time;

/// An event of an entry, as it is told.
pub(super) fn told(entry: &Entry, place: usize) -> Told {
    let (event, named) = (&entry.record.events[place], &entry.named[place]);
    let some = |name: &Name| (!name.is_empty()).then(|| name.to_string());
    Told {
        sequence: entry.record.sequence,
        at: time(entry.record.time),
        kind: kind_of(event).to_owned(),
        object: subjects(named).next().map(ToString::to_string).unwrap_or_default(),
        queue: some(&named.queue),
        application: some(&named.application),
        user: some(&named.user),
        node: some(&named.node),
        text: text_of(event, named),
        detail: detail_of(event, named),
    }
}

/// What an event is about: first the object itself, then what it belongs to.
pub(super) fn subjects(named: &Named) -> impl Iterator<Item = &Name> {
    let Named { key, application, node, queue, user, partition, .. } = named;
    [key, application, node, queue, user, partition].into_iter().filter(|name| !name.is_empty())
}

/// What happened, for programs; does not change.
pub(in crate::native) const fn kind_of(event: &Event) -> &'static str {
    match event {
        Event::PartitionAdded { .. } => "partitionAdded",
        Event::PartitionChanged { .. } => "partitionChanged",
        Event::PartitionRemoved { .. } => "partitionRemoved",
        Event::Configured { .. } => "configured",
        Event::QueueAdded { .. } => "queueAdded",
        Event::QueueChanged { .. } => "queueChanged",
        Event::QueueMoved { .. } => "queueMoved",
        Event::QueueRemoved { .. } => "queueRemoved",
        Event::LimitsChanged { .. } => "limitsChanged",
        Event::NodeAdded { .. } => "nodeAdded",
        Event::NodeResized { .. } => "nodeResized",
        Event::NodeScheduling { schedulable: true, .. } => "nodeResumed",
        Event::NodeScheduling { schedulable: false, .. } => "nodeDrained",
        Event::NodeRemoved { .. } => "nodeRemoved",
        Event::ApplicationAdded { .. } => "applicationAccepted",
        Event::ApplicationRejected { .. } => "applicationRejected",
        Event::ApplicationLinked { .. } => "groupLinked",
        Event::GroupUnlinked { .. } => "groupUnlinked",
        Event::ApplicationUnlinked { .. } => "applicationUnlinked",
        Event::ApplicationMoved { .. } => "applicationMoved",
        Event::ApplicationAllocating { .. } => "applicationStarting",
        Event::ApplicationActivated { .. } => "applicationActivated",
        Event::ApplicationRemoved { .. } => "applicationForgotten",
        Event::AskAdded { .. } => "askAdded",
        Event::AskRemoved { .. } => "askRemoved",
        Event::Placed { .. } => "allocationGranted",
        Event::Resized { .. } => "allocationResized",
        Event::Released { .. } => "allocationReleased",
        Event::Reserved { .. } => "nodeReserved",
        Event::Unreserved { .. } => "nodeUnreserved",
        Event::SwapStarted { .. } => "swapStarted",
        Event::SwapConfirmed { .. } => "swapConfirmed",
        Event::SwapDropped { .. } => "swapDropped",
        Event::ReleaseAsked { .. } => "releaseOrdered",
        Event::Preempted { .. } => "preemptionOrdered",
        Event::PreemptionTriggered { .. } => "preemptionTriggered",
        Event::PreemptionObserved { .. } => "preemptionObserved",
        Event::PreemptionTried { .. } => "preemptionTried",
        Event::QuotaClockStopped { .. } => "quotaClockStopped",
        Event::BackedOff { .. } => "applicationBackedOff",
        Event::LifetimeSet { .. } => "lifetimeSet",
        Event::LifetimeOver { .. } => "lifetimeOver",
        Event::DeadlineSet { .. } => "deadlineSet",
        Event::Overtaken { .. } => "overtaken",
        Event::PlaceholdersExpired { .. } => "placeholdersExpired",
        Event::TimerStopped { .. } => "timerStopped",
        Event::ScaleUpAsked { .. } => "scaleUpAsked",
        Event::ForeignSet { .. } => "foreignSet",
        Event::ForeignRemoved { .. } => "foreignRemoved",
        Event::QuestionsSet { .. } => "questionsSet",
        Event::Asked { .. } => "questionAsked",
        Event::Answered { .. } => "questionAnswered",
        Event::VerdictsVoid { .. } => "verdictsVoid",
        Event::TaskAdded { .. } => "taskAdded",
        Event::TaskThrottled { .. } => "taskThrottled",
        Event::TaskMoved { step, .. } => kind_of_step(step),
        Event::TenantSet { .. } => "tenantSet",
        Event::TenantDraining { .. } => "tenantDraining",
        Event::TenantRemoved { .. } => "tenantRemoved",
        Event::TenantDefaultsSet { .. } => "tenantDefaultsSet",
        Event::DriftFound { .. } => "tenantDrift",
        Event::ManagerAway { away: Some(_), .. } => "managerAway",
        Event::ManagerAway { away: None, .. } => "managerBack",
        Event::RecoverySet { until: Some(_), .. } => "recoveryBegun",
        Event::RecoverySet { until: None, .. } => "recoveryOver",
        Event::NodeReported { .. } => "nodeReported",
    }
}

const fn kind_of_step(step: &TaskStep) -> &'static str {
    match step {
        TaskStep::Confirmed => "taskConfirmed",
        TaskStep::Cancelling => "taskCancelling",
        TaskStep::Restarted { .. } => "taskRestarted",
        TaskStep::Requeued { .. } => "taskRequeued",
        TaskStep::Waited => "taskWaited",
        TaskStep::Measured { .. } => "taskMeasured",
        TaskStep::Ended { .. } => "taskEnded",
    }
}

fn text_of_task(event: &Event, named: &Named) -> String {
    let Named { application: task, other: tenant, .. } = named;
    match event {
        Event::TaskThrottled { reason, .. } => {
            let scope = if reason.scope.is_empty() {
                String::new()
            } else {
                format!(" of {}", reason.scope)
            };
            format!("task {task} of {tenant} waits for {}{scope}", reason.code)
        }
        Event::TaskMoved { step, .. } => match step {
            TaskStep::Confirmed => format!("task {task} of {tenant} runs"),
            TaskStep::Cancelling => format!("task {task} of {tenant} is to stop"),
            TaskStep::Restarted { .. } => format!("task {task} of {tenant} failed and waits again"),
            TaskStep::Requeued { .. } => {
                format!("task {task} of {tenant} was evicted and waits again")
            }
            TaskStep::Waited => format!("task {task} of {tenant} started in time"),
            TaskStep::Measured { .. } => format!("task {task} of {tenant} was measured"),
            TaskStep::Ended { outcome, .. } => {
                let state = TaskState::Ended(*outcome).as_str();
                format!("task {task} of {tenant} has ended and is {state}")
            }
        },
        _ => format!("{task} is a task of {tenant}"),
    }
}

/// What happened, in a sentence.
pub(super) fn text_of(event: &Event, named: &Named) -> String {
    let Named { partition, queue, node, .. } = named;
    match event {
        Event::PartitionAdded { .. } => format!("partition {partition} was added"),
        Event::PartitionChanged { .. } => format!("partition {partition} has other policies"),
        Event::PartitionRemoved { .. } => format!("partition {partition} was removed"),
        Event::Configured { .. } => "another queue file is in force".to_owned(),
        Event::QueueAdded { .. } => format!("queue {queue} was added"),
        Event::QueueChanged { .. } => format!("queue {queue} has other settings"),
        Event::QueueMoved { state, .. } => format!("queue {queue} is {state} from now on"),
        Event::QueueRemoved { .. } => format!("queue {queue} was removed"),
        Event::LimitsChanged { limits, .. } => {
            format!("queue {queue} limits {} users and groups from now on", limits.len())
        }
        Event::QuotaClockStopped { .. } => {
            format!("queue {queue} is no longer about to be asked to give room back")
        }
        Event::NodeAdded { capacity, .. } => format!("node {node} joined with {}", said(capacity)),
        Event::NodeResized { capacity, .. } => {
            format!("node {node} has {} from now on", said(capacity))
        }
        Event::NodeScheduling { schedulable: true, .. } => {
            format!("node {node} takes asks again")
        }
        Event::NodeScheduling { schedulable: false, .. } => {
            format!("node {node} drains: it keeps what it has and takes no more")
        }
        Event::NodeRemoved { .. } => format!("node {node} left"),
        Event::NodeReported { .. } => format!("node {node} is there again"),
        Event::RecoverySet { .. } | Event::ManagerAway { .. } => text_of_hold(event, partition),
        Event::ForeignSet { resources, .. } => {
            format!("{} of another scheduler uses {} of node {node}", named.key, said(resources))
        }
        Event::ForeignRemoved { .. } => format!("{} of another scheduler is gone", named.key),
        Event::QuestionsSet { questions, .. } => match questions {
            Some(_) => format!("the RM of partition {partition} answers questions about nodes"),
            None => format!("the RM of partition {partition} answers no questions"),
        },
        Event::VerdictsVoid { .. } => format!("what the RM has said of node {node} holds no more"),
        Event::TenantSet { tenant, .. } => format!("tenant {tenant} is as said from now on"),
        Event::TenantDraining { tenant, .. } => format!("tenant {tenant} goes with its last task"),
        Event::TenantRemoved { tenant, .. } => format!("tenant {tenant} was removed"),
        Event::TenantDefaultsSet { .. } => {
            format!("tenants of partition {partition} have other defaults")
        }
        Event::DriftFound { drift, .. } => {
            let types = drift.iter().map(|one| {
                let TenantDrift { tenant, resource, counted, found } = one;
                format!("{tenant} has {found} {resource}, {counted} are counted")
            });
            let types: Vec<String> = types.collect();
            format!("what is counted of tenants is not what their tasks have: {}", types.join(", "))
        }
        Event::TaskAdded { .. } | Event::TaskThrottled { .. } | Event::TaskMoved { .. } => {
            text_of_task(event, named)
        }
        _ => text_of_application(event, named),
    }
}

/// Text of what holds a whole partition, or does no more.
fn text_of_hold(event: &Event, partition: &Name) -> String {
    match event {
        Event::ManagerAway { away: Some(away), .. } => format!(
            "resource manager {} has been away since {}; nothing starts in partition {partition} before it is back",
            away.manager,
            time(away.since)
        ),
        Event::ManagerAway { away: None, .. } => {
            format!("the resource manager of partition {partition} is back")
        }
        Event::RecoverySet { until: Some(until), .. } => format!(
            "nothing starts in partition {partition} before its nodes have reported, or {}",
            time(*until)
        ),
        Event::RecoverySet { until: None, .. } => {
            format!("what waits in partition {partition} may start again")
        }
        _ => String::new(),
    }
}

fn text_of_application(event: &Event, named: &Named) -> String {
    let Named { application, queue, user, .. } = named;
    match event {
        Event::ApplicationAdded { .. } => {
            format!("application {application} of {user} was accepted into queue {queue}")
        }
        Event::ApplicationRejected { message, .. } => {
            format!("application {application} of {user} was rejected: {message}")
        }
        Event::ApplicationLinked { group: Some(group), .. } => {
            format!("application {application} is charged to {user} and group {group}")
        }
        Event::ApplicationLinked { group: None, .. } => {
            format!("application {application} is charged to {user} and no group")
        }
        Event::GroupUnlinked { .. } => {
            format!("application {application} is charged to its group no more")
        }
        Event::ApplicationUnlinked { .. } => {
            format!("application {application} counts for {user} no more")
        }
        Event::ApplicationMoved { state, .. } => match named.before {
            Some(before) => format!("application {application} went from {before} to {state}"),
            None => format!("application {application} is {state}"),
        },
        Event::ApplicationActivated { driver, .. } => {
            format!("application {application} was activated; its driver counts as {driver}")
        }
        Event::ApplicationAllocating { .. } => {
            format!("application {application} got its first room, and counts as running")
        }
        Event::ApplicationRemoved { .. } => format!("application {application} was forgotten"),
        Event::BackedOff { .. } => {
            format!("too many asks of application {application} found no node; it pauses")
        }
        Event::LifetimeSet { asked: Some(asked), .. } => {
            format!("application {application} asks for a lifetime of {} s", asked.get() / 1_000)
        }
        Event::LifetimeSet { .. } => {
            format!("application {application} was made before it was submitted here")
        }
        Event::LifetimeOver { .. } => format!("the lifetime of application {application} is over"),
        Event::DeadlineSet { deadline: None, .. } => {
            format!("application {application} has no deadline any more")
        }
        Event::DeadlineSet { deadline: Some(at), estimate, .. } => format!(
            "application {application} is to be done by {} ms since the epoch, and takes {} s",
            at.as_millis(),
            estimate.get() / 1_000
        ),
        Event::Overtaken { .. } => {
            format!("another went before application {application}, which is the first in line")
        }
        Event::PlaceholdersExpired { .. } => {
            format!("the placeholders of application {application} waited too long")
        }
        Event::TimerStopped { .. } => {
            format!("the timer of application {application} was stopped")
        }
        _ => text_of_ask(event, named),
    }
}

fn text_of_ask(event: &Event, named: &Named) -> String {
    let Named { application, key, node, other, resources, .. } = named;
    let of = format!("{key} of application {application}");
    match event {
        Event::AskAdded { resources, .. } => format!("ask {of} wants {}", said(resources)),
        Event::AskRemoved { termination, .. } => {
            format!("ask {of} was withdrawn: {}", reason_of(*termination))
        }
        Event::Placed { .. } => format!("ask {of} got {} on node {node}", said(resources)),
        Event::Resized { resources: now, .. } => {
            format!("{of} has {} instead of {}", said(now), said(resources))
        }
        Event::Released { termination, .. } => {
            let (room, why) = (said(resources), reason_of(*termination));
            format!("{of} gave back {room} on node {node}: {why}")
        }
        Event::Reserved { .. } => format!("node {node} is kept for ask {of}"),
        Event::Unreserved { .. } => format!("no node is kept for ask {of} any more"),
        Event::SwapStarted { .. } => {
            format!("ask {of} is to take the place of placeholder {other} on node {node}")
        }
        Event::SwapConfirmed { .. } => format!("{of} took the place of placeholder {other}"),
        Event::SwapDropped { .. } => format!("ask {of} waits again, and takes no place"),
        Event::ReleaseAsked { termination, .. } => {
            format!("the RM is to stop {of} on node {node}: {}", reason_of(*termination))
        }
        Event::Preempted { cause, .. } | Event::PreemptionObserved { cause, .. } => {
            let why = match cause {
                PreemptionCause::Guarantee(_) => "whose queue has less than its guarantee",
                PreemptionCause::Share(_) => "whose user has less than his share of the queue",
                PreemptionCause::RequiredNode(_) => "which may run on that node only",
                PreemptionCause::Quota(_) => "a queue that uses more than its maximum",
            };
            let is = if matches!(event, Event::Preempted { .. }) { "is" } else { "would be" };
            format!("the RM {is} to stop {of} on node {node} for {other}, {why}")
        }
        Event::PreemptionTriggered { .. } => format!("others are to stop for ask {of}"),
        Event::PreemptionTried { .. } => format!("nothing can be stopped for ask {of} now"),
        Event::ScaleUpAsked { .. } => format!("more nodes would help ask {of}"),
        Event::Asked { .. } => format!("the RM is asked about nodes for ask {of}"),
        Event::Answered { .. } => format!("the RM has answered about ask {of}"),
        _ => String::new(),
    }
}

/// Amounts as people write them, such as `memory 64Gi, vcore 1`.
fn said(amounts: &Amounts) -> String {
    if amounts.is_empty() {
        return "nothing".to_owned();
    }
    let each = amounts.iter().map(|(name, amount)| {
        let [figure] = figures(name, [amount]);
        format!("{name} {figure}")
    });
    each.collect::<Vec<_>>().join(", ")
}

const fn reason_of(termination: Termination) -> &'static str {
    match termination {
        Termination::StoppedByRm => "the RM stopped it",
        Termination::NodeRemoved => "its node left",
        Termination::PartitionRemoved => "its partition was removed",
        Termination::Timeout => "its gang was not complete in time",
        Termination::Preempted => "for the sake of others",
        Termination::PlaceholderReplaced => "a member takes its place",
        Termination::LifetimeOver => "the lifetime of its application is over",
    }
}

/// The fields of an event that have no place of their own.
fn detail_of(event: &Event, named: &Named) -> Map<String, Value> {
    let mut detail = Map::new();
    let mut put = |name: &str, value: Value| {
        detail.insert(name.to_owned(), value);
    };
    for (name, value) in [("partition", &named.partition), ("key", &named.key)] {
        if !value.is_empty() {
            put(name, json!(value.as_str()));
        }
    }
    if !named.resources.is_empty() {
        put("resources", amounts(&named.resources));
    }
    match event {
        Event::Configured { checksum } => put("checksum", json!(checksum.as_str())),
        Event::QueueAdded { leaf, managed, .. } | Event::QueueChanged { leaf, managed, .. } => {
            put("leaf", json!(leaf));
            put("managed", json!(managed));
        }
        Event::QueueMoved { state, .. } => put("state", json!(state.to_string())),
        Event::NodeAdded { capacity, schedulable, .. } => {
            put("capacity", amounts(capacity));
            put("schedulable", json!(schedulable));
        }
        Event::NodeResized { capacity, .. } => put("capacity", amounts(capacity)),
        Event::ApplicationAdded { groups, .. } => put("groups", names(groups)),
        Event::ApplicationRejected { groups, code, message, .. } => {
            put("groups", names(groups));
            put("code", json!(code.as_str()));
            put("message", json!(message.as_str()));
        }
        Event::ApplicationLinked { group, .. } => {
            put("group", json!(group.as_ref().map(Name::as_str)));
        }
        Event::ApplicationMoved { state, .. } => {
            put("before", json!(named.before.map(|before| before.to_string())));
            put("state", json!(state.to_string()));
        }
        _ => detail_of_ask(event, named, &mut put),
    }
    detail
}

fn detail_of_ask(event: &Event, named: &Named, put: &mut impl FnMut(&str, Value)) {
    match event {
        Event::AskAdded { resources, priority, created, traits, .. } => {
            put("resources", amounts(resources));
            put("priority", json!(priority));
            put("created", json!(time(*created)));
            put("placeholder", json!(traits.placeholder));
            put("taskGroup", json!(traits.task_group.as_ref().map(Name::as_str)));
            put("requiredNode", json!(traits.required_node.as_ref().map(Name::as_str)));
            if let Some(label) = &traits.node_label {
                put("nodeLabel", json!(label.as_str()));
            }
            if !traits.blocked_nodes.is_empty() {
                let nodes: Vec<&str> = traits.blocked_nodes.iter().map(Name::as_str).collect();
                put("blockedNodes", json!(nodes));
            }
        }
        Event::Resized { resources, .. } => {
            put("before", amounts(&named.resources));
            put("resources", amounts(resources));
        }
        Event::ForeignSet { resources, .. } => put("resources", amounts(resources)),
        Event::AskRemoved { termination, .. }
        | Event::Released { termination, .. }
        | Event::ReleaseAsked { termination, .. } => {
            put("reason", json!(reason_of(*termination)));
        }
        Event::SwapStarted { .. } | Event::SwapConfirmed { .. } => {
            put("placeholder", json!(named.other.as_str()));
        }
        Event::Preempted { cause, .. } | Event::PreemptionObserved { cause, .. } => {
            let (cause, whose) = match cause {
                PreemptionCause::Guarantee(_) => ("guarantee", "ask"),
                PreemptionCause::Share(_) => ("share", "ask"),
                PreemptionCause::RequiredNode(_) => ("requiredNode", "ask"),
                PreemptionCause::Quota(_) => ("quota", "queue"),
            };
            put("cause", json!(cause));
            put(whose, json!(named.other.as_str()));
        }
        Event::BackedOff { until, .. } => put("until", json!(time(*until))),
        // The rest is said by the kind and by whom it is about.
        _ => {}
    }
}

fn amounts(amounts: &Amounts) -> Value {
    let pairs = amounts.iter().map(|(name, amount)| (name.to_string(), json!(amount.get())));
    Value::Object(pairs.collect())
}

fn names(names: &[Name]) -> Value {
    names.iter().map(Name::as_str).collect()
}
