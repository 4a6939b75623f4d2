//! What `orderingpolicy` of a queue says, as the properties that the core reads. Source: user-headroom
//! §4 and §10 (C9, C10).

use headroom_core::Name;
use headroom_core::config::Properties;
use headroom_core::config::property::{SORT_POLICY, SORT_PRIORITY};

use crate::raw::Queue;

/// What a word of `orderingpolicy` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ordering {
    /// The property of the queue.
    pub(crate) key: &'static str,
    /// Its value.
    pub(crate) value: &'static str,
}

/// The words of leaves.
pub(crate) const OF_LEAVES: [&str; 3] = ["fifo", "fair", "fifo-with-partitions"];

/// The words of queues with queues below.
pub(crate) const OF_PARENTS: [&str; 2] = ["utilization", "priority-utilization"];

impl Ordering {
    /// What a word says, if it is one of those for leaves, or for queues with queues below.
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

    /// Whether a value of the property says the same.
    pub(crate) fn agrees_with(self, value: &str) -> bool {
        match self.value {
            "fifo" => matches!(value, "" | "fifo" | "stateaware"),
            "fair" => value == "fair",
            switch => value.eq_ignore_ascii_case(switch),
        }
    }
}

/// Whether applications run in a queue, and no queues are below.
pub(crate) fn is_leaf(queue: &Queue, is_root: bool) -> bool {
    !is_root && !queue.parent && queue.children.is_empty()
}

/// What the queues above specify about how priority counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Above<'a> {
    /// `application.sort.priority` as the nearest queue has it.
    property: Option<&'a str>,
    /// Whether `orderingpolicy` says something else there.
    by_word: bool,
}

impl<'a> Above<'a> {
    /// As the queues below a queue see it.
    pub(crate) fn below(self, queue: &'a Queue) -> Self {
        let own = queue.properties.iter().find(|(key, _)| key.value == SORT_PRIORITY);
        Self {
            property: own.map(|(_, value)| value.value.as_str()).or(self.property),
            by_word: queue.ordering.is_some() || self.by_word && own.is_none(),
        }
    }
}

/// Write what `orderingpolicy` says of a queue, found without fault, as its properties. Those who are not of the
/// same kind have what they would have without: a parent's order of queues is handed down to queues with
/// queues below, and says nothing of applications.
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
