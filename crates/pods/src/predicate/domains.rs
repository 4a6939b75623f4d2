//! Numbers of pods in the domains of a label.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::{Node, Text};

use super::NodeFacts;

/// Number of counted pods in each domain of one label.
///
/// A clone shares the numbers and has its own changes, so that a dry run of an eviction costs little.
#[derive(Clone, Debug)]
pub(super) struct Domains<'a> {
    key: &'a Text,
    counts: Arc<HashMap<&'a str, i64>>,
    changes: Vec<(&'a str, i64)>,
}

impl<'a> Domains<'a> {
    pub(super) fn new(key: &'a Text) -> Self {
        Self { key, counts: Arc::default(), changes: Vec::new() }
    }

    /// Returns the key of the label.
    pub(super) fn key(&self) -> &'a Text {
        self.key
    }

    /// Adds pods in the domain of a node. A node without the label is in no domain.
    pub(super) fn add(&mut self, node: &'a Node, pods: i64) {
        if let Some(domain) = node.metadata.labels.get(self.key) {
            *Arc::make_mut(&mut self.counts).entry(domain).or_default() += pods;
        }
    }

    /// Removes a pod that was counted in the domain of a node. Returns how many remain there.
    pub(super) fn remove(&mut self, node: &NodeFacts) -> Option<i64> {
        let (domain, count) = self.counts.get_key_value(node.labels().get(self.key)?.as_str())?;
        let position = self.changes.iter().position(|(changed, _)| changed == domain);
        let position = position.unwrap_or_else(|| {
            self.changes.push((domain, *count));
            self.changes.len() - 1
        });
        let count = &mut self.changes[position].1;
        *count -= 1;
        Some(*count)
    }

    /// Returns the number of pods in the domain of a node.
    pub(super) fn count(&self, node: &NodeFacts) -> i64 {
        let Some(domain) = node.labels().get(self.key) else { return 0 };
        let changed = self.changes.iter().find(|(changed, _)| domain == changed);
        let count = changed.map(|(_, count)| *count);
        count.or_else(|| self.counts.get(domain.as_str()).copied()).unwrap_or(0)
    }

    /// Returns the number of domains.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns the smallest number of pods in a domain before any removal.
    pub(super) fn minimum(&self) -> Option<i64> {
        self.counts.values().min().copied()
    }
}
