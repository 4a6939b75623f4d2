//! The state that a history records. Each step says what has changed in it.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use super::size::Size;

/// Applications and queues as they were recorded last.
#[derive(Debug, Default)]
pub(super) struct Record {
    apps: Map<String, Value>,
    queues: Map<String, Value>,
}

impl Record {
    /// Take in what a step says.
    pub(super) fn merge(&mut self, step: &Value) {
        for (field, kept) in [("apps", &mut self.apps), ("queues", &mut self.queues)] {
            if let Some(changes) = step.get(field).and_then(Value::as_object) {
                merge(kept, changes);
            }
        }
    }

    /// An application has ended, which is not said.
    pub(super) fn forget(&mut self, app: &str) {
        self.apps.remove(app);
    }

    /// The applications by name.
    pub(super) fn apps(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.apps.iter().map(|(name, app)| (name.as_str(), app))
    }

    /// The queues by path.
    pub(super) fn queues(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.queues.iter().map(|(path, queue)| (path.as_str(), queue))
    }

    /// Those that hold applications.
    pub(super) fn leaves(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.queues().filter(|(_, queue)| queue.get("users").is_some())
    }

    /// Whether an application is activated: it waits for no driver limit and no parallel limit, and
    /// was not rejected.
    pub(super) fn is_active(&self, app: &str) -> bool {
        self.apps.get(app).is_some_and(is_active)
    }

    /// What is reserved for an application.
    ///
    /// # Errors
    /// When that is no size.
    pub(super) fn reserved(&self, app: &str) -> Result<Size> {
        let reserved = self.apps.get(app).and_then(|app| app.get("reserved"));
        reserved.map_or(Ok(Size::ZERO), Size::read)
    }

    /// A size that is recorded of a queue.
    ///
    /// # Errors
    /// When it is not there, or no size.
    pub(super) fn queue_size(&self, path: &str, field: &str) -> Result<Size> {
        let value = self.queues.get(path).and_then(|queue| queue.get(field));
        Size::read(value.with_context(|| format!("nothing is recorded as {field} of {path}"))?)
    }

    /// A recorded queue.
    pub(super) fn queue(&self, path: &str) -> Option<&Value> {
        self.queues.get(path)
    }
}

/// Whether a recorded application is activated.
pub(super) fn is_active(app: &Value) -> bool {
    app.get("state").and_then(Value::as_str) == Some("active")
}

/// Objects key by key; all else replaces what was there, and `null` takes it away.
fn merge(kept: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (key, change) in changes {
        match (kept.get_mut(key), change) {
            (_, Value::Null) => drop(kept.remove(key)),
            (Some(Value::Object(kept)), Value::Object(change)) => merge(kept, change),
            (_, change) => drop(kept.insert(key.clone(), change.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_says_what_has_changed() {
        let mut record = Record::default();
        let users = json!({"ann": {"used": [1, 1]}, "bob": {"used": [2, 1]}});
        record.merge(&json!({"queues": {"root.a": {"capacity": [8, 8], "users": users}}}));
        record.merge(&json!({"apps": {"x": {"state": "active", "reserved": [3, 1]}}}));
        assert!(record.is_active("x") && !record.is_active("y"));
        assert_eq!(record.reserved("x").unwrap(), Size { memory: 3, cores: 1 });
        let users = json!({"ann": null, "bob": {"active": true}});
        record.merge(&json!({
            "queues": {"root.a": {"users": users}}, "apps": {"x": {"reserved": null}},
        }));
        let (_, queue) = record.leaves().next().unwrap();
        assert_eq!(queue["users"], json!({"bob": {"used": [2, 1], "active": true}}));
        assert_eq!(record.queue_size("root.a", "capacity").unwrap(), Size { memory: 8, cores: 8 });
        assert_eq!(record.reserved("x").unwrap(), Size::ZERO);
        record.forget("x");
        assert_eq!(record.apps().count(), 0);
    }
}
