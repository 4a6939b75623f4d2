//! Events as the API server takes them.

use headroom_pods::convert::event::{Event, EventObject};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::act::pod::cut;

/// Name of the scheduler in events.
const CONTROLLER: &str = "yunikorn";
/// Namespace of events on objects without namespace.
const CLUSTER: &str = "default";
/// Most bytes of the note of an event.
pub(super) const NOTE_MAX: usize = 1_024;
/// Most bytes of the name of the scheduler's instance.
const INSTANCE_MAX: usize = 128;
/// Most bytes of the object's name in the name of an event.
const NAME_MAX: usize = 230;

/// Who writes the events.
#[derive(Debug)]
pub(super) struct Source {
    namespace: String,
    instance: String,
}

/// Where an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Source {
    pub(super) fn new(namespace: &str, instance: &str) -> Self {
        let instance = if instance.is_empty() { CONTROLLER } else { instance };
        Self { namespace: namespace.to_owned(), instance: cut(instance, INSTANCE_MAX).to_owned() }
    }

    /// Returns a new event. `number` makes its name unique.
    pub(super) fn body(&self, event: &Event, number: u64) -> (Place, Value) {
        let (kind, namespace, name, uid) = match &event.about {
            EventObject::Pod { namespace, name, uid } => {
                ("Pod", namespace.as_str(), name.as_str(), uid.as_str())
            }
            EventObject::Node { name, uid } => ("Node", "", name.as_str(), uid.as_str()),
            EventObject::Namespace { name } => ("Namespace", "", name.as_str(), ""),
            EventObject::ConfigMap { name } => {
                ("ConfigMap", self.namespace.as_str(), name.as_str(), "")
            }
        };
        let place = Place {
            namespace: if namespace.is_empty() { CLUSTER } else { namespace }.to_owned(),
            name: format!("{}.{number:x}", cut(name, NAME_MAX)),
        };
        let mut regarding = json!({ "apiVersion": "v1", "kind": kind, "name": name });
        for (field, value) in [("namespace", namespace), ("uid", uid)] {
            if !value.is_empty() {
                regarding[field] = value.into();
            }
        }
        let body = json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": { "namespace": place.namespace, "name": place.name },
            "eventTime": now(),
            "reportingController": CONTROLLER,
            "reportingInstance": self.instance,
            "action": event.kind.action(),
            "reason": event.kind.reason(),
            "type": event.kind.severity().name(),
            "regarding": regarding,
            "note": cut(&event.note, NOTE_MAX),
        });
        (place, body)
    }
}

/// Returns a patch with the number of events in a series.
pub(super) fn series(count: u32) -> Value {
    json!({ "series": { "count": count, "lastObservedTime": now() } })
}

/// Returns the current time with microseconds, as Kubernetes requires.
fn now() -> String {
    format!("{:.6}", Timestamp::now())
}

#[cfg(test)]
mod tests {
    use headroom_pods::convert::event::EventKind;

    use super::*;

    #[test]
    fn an_event_has_what_the_api_server_requires() {
        let source = Source::new("system", "");
        let event = |about, note: &str| Event { about, kind: EventKind::Bound, note: note.into() };
        let about = EventObject::Node { name: "n1".into(), uid: "u".into() };
        let (place, body) = source.body(&event(about, &"ü".repeat(900)), 255);
        assert_eq!(place, Place { namespace: "default".into(), name: "n1.ff".into() });
        assert_eq!(body["note"].as_str().unwrap().len(), 1_024);
        assert_eq!(body["reportingInstance"], "yunikorn");
        assert_eq!(body["regarding"].get("namespace"), None);
        let time = body["eventTime"].as_str().unwrap();
        assert!(time.len() == 27 && time.ends_with('Z'), "{time}");
        let about = EventObject::ConfigMap { name: "settings".into() };
        let (place, body) = source.body(&event(about, "x"), 1);
        assert_eq!(place.namespace, "system");
        assert_eq!(body["regarding"]["namespace"], "system");
        assert_eq!(body["regarding"].get("uid"), None);
    }
}
