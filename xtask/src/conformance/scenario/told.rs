//! What the resource manager is told: our events in the words of the recorded `responses`.

use headroom_core::books::{ApplicationState, Books};
use headroom_core::{Event, Name, Termination};
use serde_json::{Map, Value, json};

use super::print::resources;

/// What the resource manager was told during one step.
#[derive(Debug, Default)]
pub(super) struct Told {
    accepted_applications: Vec<Value>,
    rejected_applications: Vec<Value>,
    updated_applications: Vec<Value>,
    accepted_nodes: Vec<Value>,
    rejected_nodes: Vec<Value>,
    new_allocations: Vec<Value>,
    released_allocations: Vec<Value>,
    rejected_allocations: Vec<Value>,
}

impl Told {
    /// Hear an event before it changes these books.
    pub(super) fn hear(&mut self, books: &Books, event: &Event) {
        match event {
            Event::ApplicationAdded { application, .. } => {
                self.accepted_applications.push(text(application));
            }
            Event::ApplicationRejected { application, .. } => self.refuse_application(application),
            Event::ApplicationMoved { application, state, .. } => {
                let name = &books.application(*application).name;
                self.update(name, *state);
            }
            Event::NodeAdded { node, .. } => self.accepted_nodes.push(text(node)),
            Event::Placed { ask, node } => {
                let row = books.allocation(*ask);
                let mut told = Map::new();
                told.insert("allocationKey".into(), text(&row.key));
                told.insert("applicationID".into(), text(&books.application(row.application).name));
                told.insert("nodeID".into(), text(&books.node(*node).name));
                let amounts = books.types().amounts(books.resources_of(*ask));
                told.insert("resource".into(), resources(&amounts));
                if row.originator {
                    told.insert("originator".into(), Value::Bool(true));
                }
                self.new_allocations.push(Value::Object(told));
            }
            Event::Released { allocation, termination } => {
                let row = books.allocation(*allocation);
                self.released_allocations.push(json!({
                    "allocationKey": &*row.key,
                    "applicationID": &*books.application(row.application).name,
                    "terminationType": word_of(*termination),
                }));
            }
            Event::PartitionAdded { .. }
            | Event::PartitionChanged { .. }
            | Event::PartitionRemoved { .. }
            | Event::Configured { .. }
            | Event::QueueAdded { .. }
            | Event::QueueChanged { .. }
            | Event::QueueMoved { .. }
            | Event::QueueRemoved { .. }
            | Event::LimitsChanged { .. }
            | Event::NodeResized { .. }
            | Event::NodeScheduling { .. }
            | Event::NodeRemoved { .. }
            | Event::ApplicationLinked { .. }
            | Event::GroupUnlinked { .. }
            | Event::ApplicationUnlinked { .. }
            | Event::ApplicationRemoved { .. }
            | Event::AskAdded { .. }
            | Event::AskRemoved { .. }
            | Event::Resized { .. }
            | Event::Reserved { .. }
            | Event::Unreserved { .. }
            | Event::SwapStarted { .. }
            | Event::SwapConfirmed { .. }
            | Event::SwapDropped { .. }
            | Event::ReleaseAsked { .. }
            | Event::Preempted { .. }
            | Event::PreemptionTriggered { .. }
            | Event::PreemptionTried { .. }
            | Event::QuotaClockStopped { .. }
            | Event::BackedOff { .. }
            | Event::PlaceholdersExpired { .. }
            | Event::TimerStopped { .. }
            | Event::ScaleUpAsked { .. }
            | Event::ForeignSet { .. }
            | Event::ForeignRemoved { .. } => {}
        }
    }

    fn update(&mut self, application: &Name, state: ApplicationState) {
        self.updated_applications
            .push(json!({"applicationID": &**application, "state": state.to_string()}));
    }

    pub(super) fn refuse_application(&mut self, application: &Name) {
        self.rejected_applications.push(json!({"applicationID": &**application}));
    }

    pub(super) fn refuse_node(&mut self, node: &Name) {
        self.rejected_nodes.push(json!({"nodeID": &**node}));
    }

    pub(super) fn refuse_allocation(&mut self, key: &Name, application: &Name) {
        self.rejected_allocations
            .push(json!({"allocationKey": &**key, "applicationID": &**application}));
    }

    /// As recorded: lists sorted by key, those that are empty left out; the order of arrival
    /// of two allocations or more on its own.
    pub(super) fn into_responses(self) -> Value {
        let mut order = Vec::new();
        if self.new_allocations.len() > 1 {
            order = self.new_allocations.iter().map(|one| one["allocationKey"].clone()).collect();
        }
        let mut told = Map::new();
        for (name, mut list) in [
            ("acceptedApplications", self.accepted_applications),
            ("rejectedApplications", self.rejected_applications),
            ("updatedApplications", self.updated_applications),
            ("acceptedNodes", self.accepted_nodes),
            ("rejectedNodes", self.rejected_nodes),
            ("newAllocations", self.new_allocations),
            ("releasedAllocations", self.released_allocations),
            ("rejectedAllocations", self.rejected_allocations),
        ] {
            if !list.is_empty() {
                list.sort_by_cached_key(sort_key);
                told.insert(name.into(), Value::Array(list));
            }
        }
        if !order.is_empty() {
            told.insert("newOrder".into(), Value::Array(order));
        }
        Value::Object(told)
    }
}

/// By key, then by application; a plain text by itself.
fn sort_key(told: &Value) -> (String, String) {
    let of = |field: &str| told[field].as_str().unwrap_or_default().to_owned();
    let plain = told.as_str().map_or_else(|| of("nodeID"), str::to_owned);
    let key = if told["allocationKey"].is_null() { plain } else { of("allocationKey") };
    (key, of("applicationID"))
}

fn word_of(termination: Termination) -> &'static str {
    match termination {
        Termination::StoppedByRm | Termination::NodeRemoved | Termination::PartitionRemoved => {
            "STOPPED_BY_RM"
        }
        Termination::Timeout => "TIMEOUT",
        Termination::Preempted => "PREEMPTED_BY_SCHEDULER",
        Termination::PlaceholderReplaced => "PLACEHOLDER_REPLACED",
    }
}

fn text(name: &Name) -> Value {
    Value::String(name.to_string())
}
