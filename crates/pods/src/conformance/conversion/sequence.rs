//! Notices of pods and nodes, step by step.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::convert::node::NodeChange;
use crate::object::{Node, Pod};
use crate::shim::{Action, CoreAnswer, CoreMessage, Moment, Notice, Shim};

use super::{Comparison, Decision, decode, diff, pod, render};

pub(super) fn compare(case: &Value) -> Result<Comparison, String> {
    let mut shim = Shim::new(pod::configuration(&case["config"])?, 0);
    let mut comparison = Comparison::default();
    let mut ghosts = Ghosts::default();
    let steps = case["steps"].as_array().ok_or("the case has no steps")?;
    for (position, step) in steps.iter().enumerate() {
        let mut computed = take_step(&mut shim, step)?;
        let mut recorded = step.clone();
        sort_allocations(&mut recorded["messages"]);
        recorded["events"] = render::without_notes(&recorded["events"]);
        ghosts.follow(step);
        let is_different = recorded["messages"] != computed["messages"];
        if is_different && ghosts.remove(&mut recorded["messages"], &mut computed["messages"]) {
            comparison.decisions.insert(Decision::EndedOrphan);
        }
        for part in ["messages", "applications", "events"] {
            let name = format!("step {} {part}", position + 1);
            let (recorded, computed) = (recorded.get(part), computed.get(part));
            diff(&name, recorded, computed, &mut comparison.differences);
        }
    }
    Ok(comparison)
}

/// Foreign pods that ended while their node was unknown. The reference keeps them.
#[derive(Default)]
struct Ghosts {
    nodes: BTreeSet<String>,
    ghosts: BTreeSet<String>,
}

impl Ghosts {
    fn follow(&mut self, step: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (pod, node) = (&step["pod"], text(&step["node"]["metadata"]["name"]));
        match step["op"].as_str() {
            Some("addNode" | "updateNode") => {
                self.nodes.insert(node);
            }
            Some("deleteNode") => {
                self.nodes.remove(&node);
            }
            Some("addPod" | "updatePod") => {
                let has_ended =
                    ["Succeeded", "Failed"].iter().any(|phase| pod["status"]["phase"] == *phase);
                let node = text(&pod["spec"]["nodeName"]);
                if has_ended && !node.is_empty() && !self.nodes.contains(&node) {
                    self.ghosts.insert(text(&pod["metadata"]["uid"]));
                }
            }
            Some(_) | None => {}
        }
    }

    /// Removes the messages about these pods. Returns whether there were any.
    fn remove(&self, recorded: &mut Value, computed: &mut Value) -> bool {
        let is_ghost = |message: &Value| {
            ["allocation", "release"].iter().any(|kind| {
                let key = message[kind]["allocationKey"].as_str();
                key.is_some_and(|key| self.ghosts.contains(key))
            })
        };
        let mut removed = false;
        for messages in [recorded, computed] {
            let Some(messages) = messages.as_array_mut() else { continue };
            let before = messages.len();
            messages.retain(|message| !is_ghost(message));
            removed |= messages.len() < before;
        }
        removed
    }
}

fn take_step(shim: &mut Shim, step: &Value) -> Result<Value, String> {
    let notice = match step["op"].as_str() {
        Some("addPod" | "updatePod") => Notice::Pod(Arc::new(decode::<Pod>(step, "pod")?)),
        Some("deletePod") => Notice::PodGone(Arc::new(decode::<Pod>(step, "pod")?)),
        Some("addNode" | "updateNode") => Notice::Node(Arc::new(decode::<Node>(step, "node")?)),
        Some("deleteNode") => {
            Notice::NodeGone { name: decode::<Node>(step, "node")?.metadata.name }
        }
        operation => return Err(format!("operation {operation:?} is unknown")),
    };
    let mut actions = pod::run(shim, notice);
    let created: Vec<_> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Tell(CoreMessage::Node(submission)) => match &submission.change {
                NodeChange::CreateDrained { .. } => Some(submission.name.clone()),
                NodeChange::Update { .. }
                | NodeChange::Drain
                | NodeChange::Resume
                | NodeChange::Decommission => None,
            },
            _ => None,
        })
        .collect();
    for name in created {
        // The core accepts every node, and adopted pods can ask for their namespace.
        actions.extend(shim.answer(Moment(0), CoreAnswer::NodeAccepted { name }));
    }
    let (mut messages, mut events) = (Vec::new(), Vec::new());
    for action in &actions {
        match action {
            Action::Tell(message) => messages.extend(render::message(message)),
            Action::Event(event) => events.push(render::event(event)),
            Action::Write(_) | Action::Snapshot(_) | Action::Log(_) | Action::WakeAt(_) => {}
        }
    }
    let mut messages = messages.into();
    sort_allocations(&mut messages);
    let applications: Vec<_> =
        shim.applications().iter().map(|id| Value::from(id.as_str())).collect();
    Ok(json!({ "messages": messages, "events": events, "applications": applications }))
}

/// Sorts neighbouring allocations by their key.
fn sort_allocations(messages: &mut Value) {
    let Some(messages) = messages.as_array_mut() else { return };
    let key =
        |message: &Value| message["allocation"]["allocationKey"].as_str().map(ToOwned::to_owned);
    for run in messages.chunk_by_mut(|one, two| key(one).is_some() && key(two).is_some()) {
        run.sort_by_key(key);
    }
}
