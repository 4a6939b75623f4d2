//! Decisions in words, for `decisions.csv`.

use headroom_core::books::{Books, LimitSettings, LimitSubject};
use headroom_core::{Event, Name, Timestamp};

use crate::outcome::Decision;

/// An event in words; the books are those before it.
pub(super) fn told(books: &Books, sequence: u64, at: Timestamp, event: &Event) -> Decision {
    let application = |id| books.application(id).name.to_string();
    let (kind, subject, detail) = match event {
        Event::PartitionAdded { partition, .. } => {
            ("partition", partition.to_string(), String::new())
        }
        Event::PartitionChanged { partition, .. } => {
            ("partition-changed", books.partition(*partition).name.to_string(), String::new())
        }
        Event::PartitionRemoved { partition } => {
            ("partition-removed", books.partition(*partition).name.to_string(), String::new())
        }
        Event::Configured { checksum } => ("configured", checksum.to_string(), String::new()),
        Event::QueueAdded { parent, name, leaf, managed, .. } => {
            ("queue", format!("{parent}.{name}"), kind_of(*leaf, *managed).to_owned())
        }
        Event::QueueChanged { queue, leaf, managed, .. } => {
            ("queue-changed", queue.to_string(), kind_of(*leaf, *managed).to_owned())
        }
        Event::QueueMoved { queue, state, .. } => {
            ("queue-state", queue.to_string(), state.to_string())
        }
        Event::QueueRemoved { queue } => {
            ("queue-removed", books.queue(*queue).path.to_string(), String::new())
        }
        Event::LimitsChanged { queue, limits, .. } => {
            let words: Vec<String> = limits.iter().map(limit).collect();
            ("limits", queue.to_string(), words.join("; "))
        }
        Event::NodeAdded { node, capacity, .. } => ("node", node.to_string(), capacity.to_string()),
        Event::NodeResized { node, capacity } => {
            ("resized", books.node(*node).name.to_string(), capacity.to_string())
        }
        Event::NodeScheduling { node, schedulable } => {
            let detail = if *schedulable { "in use" } else { "drained" };
            ("scheduling", books.node(*node).name.to_string(), detail.to_owned())
        }
        Event::NodeRemoved { node } => ("lost", books.node(*node).name.to_string(), String::new()),
        Event::ApplicationAdded { queue, application, user, .. } => {
            let detail = format!("to {queue} by {user}");
            ("submitted", application.to_string(), detail)
        }
        Event::ApplicationRejected { application, message, .. } => {
            ("rejected", application.to_string(), message.to_string())
        }
        Event::GroupUnlinked { application: id } => ("group-gone", application(*id), String::new()),
        Event::ApplicationLinked { application: id, group } => {
            let detail =
                group.as_ref().map_or("no group".to_owned(), |name| format!("group {name}"));
            ("counted", application(*id), detail)
        }
        Event::ApplicationUnlinked { application: id } => {
            ("uncounted", application(*id), String::new())
        }
        Event::ApplicationMoved { application: id, state, .. } => {
            ("state", application(*id), state.to_string())
        }
        Event::ApplicationRemoved { application: id } => {
            ("forgotten", application(*id), String::new())
        }
        Event::AskAdded { key, resources, priority, .. } => {
            ("asked", key.to_string(), format!("{resources}, priority {priority}"))
        }
        Event::AskRemoved { ask, .. } => {
            ("withdrawn", books.allocation(*ask).key.to_string(), String::new())
        }
        Event::Placed { ask, node } => {
            let detail = format!("on {}", books.node(*node).name);
            ("placed", books.allocation(*ask).key.to_string(), detail)
        }
        Event::Resized { allocation, resources } => {
            ("resized", books.allocation(*allocation).key.to_string(), resources.to_string())
        }
        Event::Released { allocation, termination } => {
            let detail = format!("{termination:?}");
            ("released", books.allocation(*allocation).key.to_string(), detail)
        }
    };
    Decision { sequence, time_ms: at.as_millis(), kind, subject, detail }
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
