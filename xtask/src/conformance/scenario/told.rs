//! What the resource manager is told: our events in the words of the recorded `responses`.

use headroom_core::books::{ApplicationState, Books};
use headroom_core::id::{AllocationId, NodeId};
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
    /// Releases that the RM received and has not confirmed.
    unconfirmed: Vec<Value>,
}

impl Told {
    /// What the RM is to confirm, ordered by application, then by key.
    pub(super) fn take_unconfirmed(&mut self) -> Vec<Value> {
        let mut all = std::mem::take(&mut self.unconfirmed);
        let of = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        all.sort_by_key(|one| (of(one, "applicationID"), of(one, "allocationKey")));
        all
    }

    /// What was told since the last call; what is to be confirmed stays.
    pub(super) fn take(&mut self) -> Self {
        let unconfirmed = std::mem::take(&mut self.unconfirmed);
        std::mem::replace(self, Self { unconfirmed, ..Self::default() })
    }

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
            Event::Placed { ask, node } => self.allocate(books, *ask, *node),
            Event::SwapConfirmed { placeholder } => self.confirm(books, *placeholder),
            Event::Released { allocation, termination } => {
                // What was asked for is known already.
                if word_of(*termination) == "STOPPED_BY_RM" {
                    self.release(books, *allocation, *termination);
                }
            }
            // Of asks the RM is only told that they were given up.
            Event::AskRemoved { ask, termination: Termination::Timeout } => {
                self.ask(books, *ask, Termination::Timeout);
            }
            Event::SwapStarted { placeholder, .. } => {
                self.ask(books, *placeholder, Termination::PlaceholderReplaced);
            }
            Event::ReleaseAsked { allocation, termination } => {
                self.ask(books, *allocation, *termination);
            }
            Event::Preempted { victim, .. } => self.ask(books, *victim, Termination::Preempted),
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
            | Event::ApplicationAllocating { .. }
            | Event::ApplicationRemoved { .. }
            | Event::AskAdded { .. }
            | Event::AskRemoved { .. }
            | Event::Resized { .. }
            | Event::Reserved { .. }
            | Event::Unreserved { .. }
            | Event::SwapDropped { .. }
            | Event::PreemptionTriggered { .. }
            | Event::PreemptionTried { .. }
            | Event::QuotaClockStopped { .. }
            | Event::BackedOff { .. }
            | Event::PlaceholdersExpired { .. }
            | Event::TimerStopped { .. }
            | Event::ScaleUpAsked { .. }
            | Event::ForeignSet { .. }
            | Event::ForeignRemoved { .. }
            | Event::QuestionsSet { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::VerdictsVoid { .. } => {}
        }
    }

    /// A member has the place of its placeholder.
    fn confirm(&mut self, books: &Books, placeholder: AllocationId) {
        let ask = books.allocation(placeholder).partner().expect("it has a member");
        let node = books.allocation(ask).node.expect("the member has its node");
        self.allocate(books, ask, node);
    }

    fn allocate(&mut self, books: &Books, ask: AllocationId, node: NodeId) {
        let row = books.allocation(ask);
        let mut told = Map::new();
        told.insert("allocationKey".into(), text(&row.key));
        told.insert("applicationID".into(), text(&books.application(row.application).name));
        told.insert("nodeID".into(), text(&books.node(node).name));
        let amounts = books.types().amounts(books.resources_of(ask));
        told.insert("resource".into(), resources(&amounts));
        for (name, flag) in [("originator", row.originator), ("placeholder", row.placeholder)] {
            if flag {
                told.insert(name.into(), Value::Bool(true));
            }
        }
        if let Some(group) = row.task_group() {
            told.insert("taskGroupName".into(), text(group));
        }
        self.new_allocations.push(Value::Object(told));
    }

    fn release(&mut self, books: &Books, allocation: AllocationId, termination: Termination) {
        let row = books.allocation(allocation);
        self.released_allocations.push(json!({
            "allocationKey": &*row.key,
            "applicationID": &*books.application(row.application).name,
            "terminationType": word_of(termination),
        }));
    }

    /// The RM is asked to release something, and to confirm that it has.
    fn ask(&mut self, books: &Books, allocation: AllocationId, termination: Termination) {
        self.release(books, allocation, termination);
        let row = books.allocation(allocation);
        let application = books.application(row.application);
        self.unconfirmed.push(json!({
            "partition": &*books.partition(application.partition).name,
            "allocationKey": &*row.key,
            "applicationID": &*application.name,
            "terminationType": word_of(termination),
        }));
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
