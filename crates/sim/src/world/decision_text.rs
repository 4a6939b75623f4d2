//! Decisions in words, for `decisions.csv`.

use headroom_core::books::{Books, LimitSettings, LimitSubject};
use headroom_core::id::{AllocationId, ApplicationId, NodeId, PartitionId};
use headroom_core::{Event, Name, PreemptionCause, Timestamp};

use crate::outcome::Decision;

/// An event in words; the books are those before it.
pub(super) fn describe(books: &Books, sequence: u64, at: Timestamp, event: &Event) -> Decision {
    let name_of = |id: &PartitionId| &books.partition(*id).name;
    let node_of = |id: &NodeId| &books.node(*id).name;
    let nothing = String::new;
    let (kind, subject, detail) = match event {
        Event::PartitionAdded { partition, .. } => ("partition", partition, nothing()),
        Event::PartitionChanged { partition: id, .. } => {
            ("partition-changed", name_of(id), nothing())
        }
        Event::PartitionRemoved { partition: id } => ("partition-removed", name_of(id), nothing()),
        Event::Configured { checksum } => ("configured", checksum, nothing()),
        Event::QueueAdded { parent, name, leaf, managed, .. } => {
            ("queue", &format!("{parent}.{name}").into(), kind_of(*leaf, *managed).to_owned())
        }
        Event::QueueChanged { queue, leaf, managed, .. } => {
            ("queue-changed", queue, kind_of(*leaf, *managed).to_owned())
        }
        Event::QueueMoved { queue, state, .. } => ("queue-state", queue, state.to_string()),
        Event::QueueRemoved { queue } => ("queue-removed", &books.queue(*queue).path, nothing()),
        Event::LimitsChanged { queue, limits, .. } => {
            ("limits", queue, limits.iter().map(limit).collect::<Vec<_>>().join("; "))
        }
        Event::NodeAdded { node, capacity, .. } => ("node", node, capacity.to_string()),
        Event::NodeResized { node, capacity } => ("resized", node_of(node), capacity.to_string()),
        Event::NodeScheduling { node, schedulable } => {
            ("scheduling", node_of(node), use_of(*schedulable).to_owned())
        }
        Event::NodeRemoved { node } => ("lost", node_of(node), nothing()),
        Event::ApplicationAdded { .. }
        | Event::ApplicationRejected { .. }
        | Event::GroupUnlinked { .. }
        | Event::ApplicationLinked { .. }
        | Event::ApplicationUnlinked { .. }
        | Event::ApplicationMoved { .. }
        | Event::ApplicationRemoved { .. }
        | Event::ApplicationAllocating { .. }
        | Event::ApplicationActivated { .. }
        | Event::AskAdded { .. }
        | Event::AskRemoved { .. }
        | Event::Placed { .. }
        | Event::Resized { .. }
        | Event::Released { .. }
        | Event::Reserved { .. }
        | Event::Unreserved { .. }
        | Event::SwapStarted { .. }
        | Event::SwapConfirmed { .. }
        | Event::SwapDropped { .. }
        | Event::ReleaseAsked { .. }
        | Event::Preempted { .. }
        | Event::PreemptionTriggered { .. }
        | Event::PreemptionObserved { .. }
        | Event::PreemptionTried { .. }
        | Event::QuotaClockStopped { .. }
        | Event::BackedOff { .. }
        | Event::PlaceholdersExpired { .. }
        | Event::LifetimeSet { .. }
        | Event::LifetimeOver { .. }
        | Event::DeadlineSet { .. }
        | Event::Overtaken { .. }
        | Event::TimerStopped { .. }
        | Event::ScaleUpAsked { .. }
        | Event::ForeignSet { .. }
        | Event::ForeignRemoved { .. } => return told_of_application(books, sequence, at, event),
        // No RM that answers questions is played, and no tenants.
        _ => ("unplayed", &Name::default(), format!("{event:?}")),
    };
    Decision { sequence, time_ms: at.as_millis(), kind, subject: subject.to_string(), detail }
}

/// An event of applications in words.
fn told_of_application(books: &Books, sequence: u64, at: Timestamp, event: &Event) -> Decision {
    let application = |id: &ApplicationId| &books.application(*id).name;
    let nothing = String::new;
    let (kind, subject, detail) = match event {
        Event::ApplicationAdded { queue, application, user, .. } => {
            ("submitted", application, format!("to {queue} by {user}"))
        }
        Event::ApplicationRejected { application, message, .. } => {
            ("rejected", application, message.to_string())
        }
        Event::GroupUnlinked { application: id } => ("group-gone", application(id), nothing()),
        Event::ApplicationLinked { application: id, group } => {
            ("counted", application(id), group_of(group.as_ref()))
        }
        Event::ApplicationUnlinked { application: id } => ("uncounted", application(id), nothing()),
        Event::ApplicationMoved { application: id, state, .. } => {
            ("state", application(id), state.to_string())
        }
        Event::ApplicationRemoved { application: id } => ("forgotten", application(id), nothing()),
        Event::DeadlineSet { application: id, deadline, estimate } => {
            let by = deadline.map_or_else(String::new, |at| format!("by {} ms, ", at.as_millis()));
            ("deadline", application(id), format!("{by}takes {estimate}"))
        }
        Event::Overtaken { application: id } => ("overtaken", application(id), nothing()),
        _ => return told_of_ask(books, sequence, at, event),
    };
    Decision { sequence, time_ms: at.as_millis(), kind, subject: subject.to_string(), detail }
}

/// For whom something is stopped, in words.
fn for_whom(books: &Books, cause: PreemptionCause) -> String {
    match cause {
        PreemptionCause::Guarantee(ask)
        | PreemptionCause::Share(ask)
        | PreemptionCause::RequiredNode(ask) => format!("for {}", books.allocation(ask).key),
        PreemptionCause::Quota(queue) => format!("for the quota of {}", books.queue(queue).path),
    }
}

/// An event of asks and allocations in words.
fn told_of_ask(books: &Books, sequence: u64, at: Timestamp, event: &Event) -> Decision {
    let application = |id: &ApplicationId| &books.application(*id).name;
    let allocation = |id: &AllocationId| &books.allocation(*id).key;
    let node_of = |id: &NodeId| &books.node(*id).name;
    let nothing = String::new;
    let (kind, subject, detail) = match event {
        Event::AskAdded { key, resources, priority, .. } => {
            ("asked", key, format!("{resources}, priority {priority}"))
        }
        Event::AskRemoved { ask, .. } => ("withdrawn", allocation(ask), nothing()),
        Event::Placed { ask, node } => ("placed", allocation(ask), format!("on {}", node_of(node))),
        Event::Resized { allocation: id, resources } => {
            ("resized", allocation(id), resources.to_string())
        }
        Event::Released { allocation: id, termination } => {
            ("released", allocation(id), format!("{termination:?}"))
        }
        Event::ApplicationActivated { application: id, driver } => {
            ("activated", application(id), format!("its driver counts as {driver}"))
        }
        Event::ApplicationAllocating { application: id } => {
            ("allocating", application(id), nothing())
        }
        Event::Reserved { ask, node } => {
            ("reserved", allocation(ask), format!("on {}", node_of(node)))
        }
        Event::Unreserved { ask } => ("unreserved", allocation(ask), nothing()),
        Event::SwapStarted { ask, placeholder, node } => {
            let detail = format!("for {} on {}", allocation(placeholder), node_of(node));
            ("swap", allocation(ask), detail)
        }
        Event::SwapConfirmed { placeholder } => ("replaced", allocation(placeholder), nothing()),
        Event::SwapDropped { ask } => ("swap-dropped", allocation(ask), nothing()),
        Event::ReleaseAsked { allocation: id, termination } => {
            ("release-asked", allocation(id), format!("{termination:?}"))
        }
        Event::Preempted { victim, cause } => {
            ("preempted", allocation(victim), for_whom(books, *cause))
        }
        Event::PreemptionObserved { victim, cause } => {
            ("would-be-preempted", allocation(victim), for_whom(books, *cause))
        }
        Event::PreemptionTriggered { ask } => ("preempts", allocation(ask), nothing()),
        Event::PreemptionTried { ask } => ("preempts-nothing", allocation(ask), nothing()),
        Event::QuotaClockStopped { queue } => {
            ("quota-clock-stopped", &books.queue(*queue).path, nothing())
        }
        Event::BackedOff { application: id, until } => {
            ("backed-off", application(id), format!("until {} ms", until.as_millis()))
        }
        Event::PlaceholdersExpired { application: id } => {
            ("placeholders-expired", application(id), nothing())
        }
        Event::LifetimeSet { application: id, since, asked } => {
            let asked = asked.map_or_else(String::new, |asked| format!(", asks for {asked}"));
            ("lifetime", application(id), format!("since {} ms{asked}", since.as_millis()))
        }
        Event::LifetimeOver { application: id } => ("lifetime-over", application(id), nothing()),
        Event::TimerStopped { application: id } => ("timer-stopped", application(id), nothing()),
        Event::ScaleUpAsked { ask } => ("scale-up", allocation(ask), nothing()),
        Event::ForeignSet { key, node, resources, .. } => {
            ("occupied", key, format!("{resources} on {}", node_of(node)))
        }
        Event::ForeignRemoved { key, .. } => ("freed", key, nothing()),
        _ => unreachable!("every other event is told elsewhere"),
    };
    Decision { sequence, time_ms: at.as_millis(), kind, subject: subject.to_string(), detail }
}

const fn use_of(schedulable: bool) -> &'static str {
    if schedulable { "in use" } else { "drained" }
}

fn group_of(group: Option<&Name>) -> String {
    group.map_or_else(|| "no group".to_owned(), |name| format!("group {name}"))
}

fn kind_of(leaf: bool, managed: bool) -> &'static str {
    match (leaf, managed) {
        (true, true) => "leaf",
        (false, true) => "parent",
        (true, false) => "dynamic leaf",
        (false, false) => "dynamic parent",
    }
}

fn limit(limit: &LimitSettings) -> String {
    let LimitSettings { subject, max, max_applications } = limit;
    format!("{}: {max}, {max_applications} applications", limited(subject))
}

fn limited(subject: &LimitSubject) -> String {
    let named = |kind: &str, name: &Name| format!("{kind} {name}");
    match subject {
        LimitSubject::User(name) => named("user", name),
        LimitSubject::Group(name) => named("group", name),
        LimitSubject::AnyUser => "every other user".to_owned(),
        LimitSubject::AnyGroup => "all other groups together".to_owned(),
    }
}
