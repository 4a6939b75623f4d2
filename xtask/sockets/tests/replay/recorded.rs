//! What REST shows, as far as it is recorded.

use serde_json::{Map, Value};

/// Fields that no part of the record has: times, what an RM said of a node, texts, sums over time,
/// and names of what stands there in full. `queuename` of usage is ours (decision L-6).
const NOWHERE: [&str; 15] = [
    "allocationDelay",
    "allocationLog",
    "allocationTags",
    "allocationTime",
    "attributes",
    "backoffDeadline",
    "childNames",
    "finishedTime",
    "hostName",
    "lastStateTransitionTime",
    "rackName",
    "requestTime",
    "resourceHistory",
    "startTime",
    "submissionTime",
];

/// A part of what REST shows, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Partitions,
    Queues,
    Nodes,
    Applications,
    Usage,
}

impl Part {
    /// Fields that this part of the record lacks.
    const fn lacks(self) -> &'static [&'static str] {
        match self {
            Self::Partitions | Self::Queues => &[],
            Self::Nodes => &["applicationId", "nodeId", "priority"],
            Self::Applications => &["applicationId", "partition", "triggeredScaleUp"],
            Self::Usage => &["queuename"],
        }
    }

    /// The recorded fields of what REST shows.
    pub(crate) fn of(self, shown: Value) -> Value {
        match shown {
            Value::Array(all) => all.into_iter().map(|one| self.of(one)).collect(),
            Value::Object(map) => Value::Object(self.fields(map)),
            other => other,
        }
    }

    fn fields(self, map: Map<String, Value>) -> Map<String, Value> {
        let is_below = map.contains_key("parent");
        let lacks = |key: &str| NOWHERE.contains(&key) || self.lacks().contains(&key);
        let kept = map.into_iter().filter(|(key, _)| !lacks(key));
        kept.map(|(key, value)| {
            let value = match key.as_str() {
                "allocations" if self == Self::Nodes => names(&value, "allocationKey"),
                "stateLog" => names(&value, "applicationState"),
                // The reference names it at the root alone: REST API §7.3, and its [HR].
                "partition" if is_below && value == "default" => Value::from(""),
                _ => self.of(value),
            };
            (key, value)
        })
        .collect()
    }
}

/// One field of each element.
fn names(list: &Value, field: &str) -> Value {
    list.as_array().into_iter().flatten().map(|one| one[field].clone()).collect()
}
