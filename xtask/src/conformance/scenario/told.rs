//! What the resource manager is told: our events in the words of the recorded `responses`.

use headroom_core::books::Books;
use headroom_core::{Command, Event, Termination, Timestamp};
use headroom_engine::{Notice, NoticeKind, notices};
use serde_json::{Map, Value, json};

use super::print::resources;

/// What the resource manager was told during one step.
#[derive(Debug, Default)]
pub struct Told {
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

/// Something that was placed, as the RM is told it.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'told> {
    /// Application id.
    pub application: &'told str,
    /// Allocation key.
    pub key: &'told str,
    /// Node id.
    pub node: &'told str,
    /// Its task group; empty for none.
    pub task_group: &'told str,
    /// Whether it only holds room.
    pub placeholder: bool,
    /// Whether it is the first of its application.
    pub originator: bool,
}

impl Told {
    /// What the RM is to confirm, ordered by application, then by key; each with `partition`,
    /// `applicationID`, `allocationKey` and `terminationType`.
    pub fn take_unconfirmed(&mut self) -> Vec<Value> {
        let mut all = std::mem::take(&mut self.unconfirmed);
        let of = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        all.sort_by_key(|one| (of(one, "applicationID"), of(one, "allocationKey")));
        all
    }

    /// What the RM is to confirm, in the order of arrival.
    pub fn unconfirmed(&self) -> &[Value] {
        &self.unconfirmed
    }

    /// What was told since the last call; what is to be confirmed stays.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let unconfirmed = std::mem::take(&mut self.unconfirmed);
        std::mem::replace(self, Self { unconfirmed, ..Self::default() })
    }

    /// Hear an event before it changes these books, and which command it follows from.
    pub(super) fn hear(
        &mut self,
        books: &Books,
        at: Timestamp,
        cause: Option<&Command>,
        event: &Event,
    ) {
        for notice in notices(books, at, cause, event) {
            self.take_in(notice);
        }
    }

    /// Hear a notice to the resource manager.
    pub fn take_in(&mut self, Notice { partition, news }: Notice) {
        match news {
            NoticeKind::ApplicationAccepted { application } => {
                self.accept_application(&application);
            }
            NoticeKind::ApplicationRejected { application, .. } => {
                self.refuse_application(&application);
            }
            NoticeKind::ApplicationMoved { application, state, .. } => {
                self.update_application(&application, &state.to_string());
            }
            NoticeKind::ApplicationExpired { application } => {
                self.update_application(&application, "Expired");
            }
            NoticeKind::NodeAccepted { node } => self.accept_node(&node),
            NoticeKind::Allocated(one) => {
                let placed = Placed {
                    application: &one.application,
                    key: &one.key,
                    node: &one.node,
                    task_group: &one.task_group,
                    placeholder: one.placeholder,
                    originator: one.originator,
                };
                self.allocate(placed, resources(&one.resources));
            }
            NoticeKind::Released(one) => {
                let word = word_of(one.termination);
                self.release(&partition, (&one.application, &one.key), word, one.to_confirm);
            }
            // The recorded histories have none of these.
            NoticeKind::ScaleUp { .. } | NoticeKind::Asked(_) => {}
        }
    }

    /// An application was accepted.
    pub fn accept_application(&mut self, application: &str) {
        self.accepted_applications.push(application.into());
    }

    /// An application was rejected.
    pub fn refuse_application(&mut self, application: &str) {
        self.rejected_applications.push(json!({"applicationID": application}));
    }

    /// An application entered a state.
    pub fn update_application(&mut self, application: &str, state: &str) {
        self.updated_applications.push(json!({"applicationID": application, "state": state}));
    }

    /// A node was accepted.
    pub fn accept_node(&mut self, node: &str) {
        self.accepted_nodes.push(node.into());
    }

    /// A node was rejected.
    pub fn refuse_node(&mut self, node: &str) {
        self.rejected_nodes.push(json!({"nodeID": node}));
    }

    /// Something was placed that has these amounts, by type.
    pub fn allocate(&mut self, placed: Placed<'_>, amounts: Value) {
        let mut told = Map::new();
        told.insert("allocationKey".into(), placed.key.into());
        told.insert("applicationID".into(), placed.application.into());
        told.insert("nodeID".into(), placed.node.into());
        told.insert("resource".into(), amounts);
        for (name, flag) in [("originator", placed.originator), ("placeholder", placed.placeholder)]
        {
            if flag {
                told.insert(name.into(), Value::Bool(true));
            }
        }
        if !placed.task_group.is_empty() {
            told.insert("taskGroupName".into(), placed.task_group.into());
        }
        self.new_allocations.push(Value::Object(told));
    }

    /// Something is gone, or is to go, for the reason that the interface has this word for.
    pub fn release(
        &mut self,
        partition: &str,
        (application, key): (&str, &str),
        word: &str,
        to_confirm: bool,
    ) {
        let told = json!({
            "allocationKey": key,
            "applicationID": application,
            "terminationType": word,
        });
        if to_confirm {
            let mut unconfirmed = told.clone();
            unconfirmed["partition"] = partition.into();
            self.unconfirmed.push(unconfirmed);
        }
        self.released_allocations.push(told);
    }

    /// An ask or allocation was rejected.
    pub fn refuse_allocation(&mut self, key: &str, application: &str) {
        self.rejected_allocations.push(json!({"allocationKey": key, "applicationID": application}));
    }

    /// As recorded: lists sorted by key, those that are empty left out; the order of arrival
    /// of two allocations or more on its own.
    pub fn into_responses(self) -> Value {
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
        Termination::Timeout | Termination::LifetimeOver => "TIMEOUT",
        Termination::Preempted => "PREEMPTED_BY_SCHEDULER",
        Termination::PlaceholderReplaced => "PLACEHOLDER_REPLACED",
    }
}
