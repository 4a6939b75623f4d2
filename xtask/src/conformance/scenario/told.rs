//! What the resource manager is told: our events in the words of the recorded `responses`.

use headroom_core::books::{ApplicationState, Books};
use headroom_core::{Event, Name, Termination};
use headroom_engine::{Allocated, News, Notice, Released, notice};
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
        if let Some(notice) = notice(books, event) {
            self.take_in(notice);
        }
    }

    fn take_in(&mut self, Notice { partition, news }: Notice) {
        match news {
            News::ApplicationAccepted { application } => {
                self.accepted_applications.push(text(&application));
            }
            News::ApplicationRejected { application, .. } => self.refuse_application(&application),
            News::ApplicationMoved { application, state, .. } => self.update(&application, state),
            News::NodeAccepted { node } => self.accepted_nodes.push(text(&node)),
            News::Allocated(one) => self.allocate(&one),
            News::Released(one) => self.release(&partition, &one),
            // The recorded histories have none of these.
            News::ScaleUp { .. } | News::Asked(_) => {}
        }
    }

    fn allocate(&mut self, one: &Allocated) {
        let mut told = Map::new();
        told.insert("allocationKey".into(), text(&one.key));
        told.insert("applicationID".into(), text(&one.application));
        told.insert("nodeID".into(), text(&one.node));
        told.insert("resource".into(), resources(&one.resources));
        for (name, flag) in [("originator", one.originator), ("placeholder", one.placeholder)] {
            if flag {
                told.insert(name.into(), Value::Bool(true));
            }
        }
        if !one.task_group.is_empty() {
            told.insert("taskGroupName".into(), text(&one.task_group));
        }
        self.new_allocations.push(Value::Object(told));
    }

    fn release(&mut self, partition: &Name, one: &Released) {
        let told = json!({
            "allocationKey": &*one.key,
            "applicationID": &*one.application,
            "terminationType": word_of(one.termination),
        });
        if one.to_confirm {
            let mut unconfirmed = told.clone();
            unconfirmed["partition"] = text(partition);
            self.unconfirmed.push(unconfirmed);
        }
        self.released_allocations.push(told);
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
