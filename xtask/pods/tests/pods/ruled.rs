//! The rule by which pods differ from the recorded asks: each of them also asks for `pods: 1`.
//!
//! The number of pods is a resource type of its own. It counts in each order that compares shares of resources, such as
//! that of fair queues, and so can decide where the recorded amounts are equal.

use anyhow::Result;
use serde_json::{Value, json};
use xtask::conformance::scenario::{Home, Outcome, core_alone};

use super::objects::PODS_OF_NODE;

/// The core alone, which plays a history with the number of pods in each ask and in each node.
pub(crate) struct Ruled(Box<dyn Home>);

impl Ruled {
    /// Returns a core that knows of nothing. `config` is the queue file of the registration.
    pub(crate) fn start(config: &str) -> Self {
        Self(core_alone(config))
    }
}

impl Home for Ruled {
    fn step(&mut self, step: &Value) -> Result<Outcome> {
        let mut step = step.clone();
        for node in elements(step.pointer_mut("/nodes/nodes")) {
            add(node, "schedulableResource", PODS_OF_NODE);
        }
        for ask in elements(step.pointer_mut("/allocations/allocations")) {
            add(ask, "resourcePerAlloc", "1");
        }
        let Outcome { responses, result, snapshot } = self.0.step(&step)?;
        let snapshot = snapshot.as_ref().map(without_pods);
        Ok(Outcome { responses: without_pods(&responses), result, snapshot })
    }
}

fn elements(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

/// Adds the number of pods to the size in a field, if it has one.
fn add(message: &mut Value, field: &str, number: &str) {
    if let Some(resource) = message.get_mut(field) {
        resource["resources"]["pods"] = json!({"value": number});
    }
}

/// Returns a value without the numbers of pods, which the record has nowhere.
pub(crate) fn without_pods(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(without_pods).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, value)| *key != "pods" || !value.is_number());
            kept.map(|(key, value)| (key.clone(), without_pods(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
