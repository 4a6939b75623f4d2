//! Values of `orderingpolicy` of a queue, as the properties that the core reads. Source: user-headroom §4 and §10
//! (C9, C10).

use headroom_core::Name;
use headroom_core::config::Properties;
use headroom_core::config::property::{SORT_POLICY, SORT_PRIORITY};

use crate::raw::Queue;

/// The property that a value of `orderingpolicy` sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ordering {
    /// Key of the property.
    pub(crate) key: &'static str,
    /// Value of the property.
    pub(crate) value: &'static str,
}

/// Values for leaves.
pub(crate) const OF_LEAVES: [&str; 3] = ["fifo", "fair", "fifo-with-partitions"];

/// Values for parent queues.
pub(crate) const OF_PARENTS: [&str; 2] = ["utilization", "priority-utilization"];

impl Ordering {
    /// Returns the property of a value. `None` if the value is not valid for leaves, or for parent queues.
    pub(crate) fn of(word: &str, is_leaf: bool) -> Option<Self> {
        let (key, value) = match (word, is_leaf) {
            ("fifo" | "fifo-with-partitions", true) => (SORT_POLICY, "fifo"),
            ("fair", true) => (SORT_POLICY, "fair"),
            ("utilization", false) => (SORT_PRIORITY, "disabled"),
            ("priority-utilization", false) => (SORT_PRIORITY, "enabled"),
            _ => return None,
        };
        Some(Self { key, value })
    }

    /// Returns whether a value of the property has the same meaning.
    pub(crate) fn agrees_with(self, value: &str) -> bool {
        match self.value {
            "fifo" => matches!(value, "" | "fifo" | "stateaware"),
            "fair" => value == "fair",
            switch => value.eq_ignore_ascii_case(switch),
        }
    }
}

/// Returns whether a queue is a leaf.
pub(crate) fn is_leaf(queue: &Queue, is_root: bool) -> bool {
    !is_root && !queue.parent && queue.children.is_empty()
}

/// Order settings of the ancestors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Above<'a> {
    /// `application.sort.priority` of the nearest ancestor that sets this property.
    property: Option<&'a str>,
    /// Whether `orderingpolicy` of this ancestor overrides the property.
    by_word: bool,
}

impl<'a> Above<'a> {
    /// Returns the settings for the children of a queue.
    pub(crate) fn below(self, queue: &'a Queue) -> Self {
        let own = queue.properties.iter().find(|(key, _)| key.value == SORT_PRIORITY);
        Self {
            property: own.map(|(_, value)| value.value.as_str()).or(self.property),
            by_word: queue.ordering.is_some() || self.by_word && own.is_none(),
        }
    }
}

/// Adds the property that `orderingpolicy` of a valid queue sets. The value applies only to descendants of the same
/// kind: parent queues inherit a parent's order of queues, and leaves keep their order of applications.
pub(crate) fn complete(
    properties: &mut Properties,
    queue: &Queue,
    is_leaf: bool,
    above: Above<'_>,
) {
    let word = queue.ordering.as_ref().and_then(|word| Ordering::of(&word.value, is_leaf));
    if let Some(word) = word {
        properties.insert(Name::new(word.key), Name::new(word.value));
    }
    if is_leaf && above.by_word {
        let inherited = Name::new(above.property.unwrap_or("enabled"));
        properties.entry(Name::new(SORT_PRIORITY)).or_insert(inherited);
    }
}
