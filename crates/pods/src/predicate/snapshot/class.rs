//! Classes of pods that predicates about other pods cannot tell apart.
//!
//! Spread constraints and affinity between pods read the namespace, the labels, the anti-affinity, and whether the pod
//! is being deleted. Pods of one controller are equal in that, so a predicate decides once for each class, and then
//! adds the numbers of pods of each class on each node.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::object::{Metadata, PodAffinityTerm};

use super::pod::PodFacts;

/// Fewest classes before unused ones are removed.
const MIN_LIMIT: usize = 1024;

/// Position of a class in tables of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u32);

impl ClassId {
    /// Returns the position of the class in a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A pod as the example of its class.
#[derive(Clone, Debug)]
struct Example(Arc<PodFacts>);

impl Example {
    fn key(&self) -> (&Metadata, bool, &[PodAffinityTerm]) {
        let metadata = &self.0.pod().metadata;
        (metadata, metadata.is_deleting(), self.0.anti_affinity_terms())
    }
}

impl PartialEq for Example {
    fn eq(&self, other: &Self) -> bool {
        let ((one, one_deleting, one_terms), (two, two_deleting, two_terms)) =
            (self.key(), other.key());
        one.namespace == two.namespace
            && one.labels == two.labels
            && one_deleting == two_deleting
            && one_terms == two_terms
    }
}

impl Eq for Example {}

impl Hash for Example {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (metadata, is_deleting, terms) = self.key();
        (&metadata.namespace, is_deleting, terms.len()).hash(state);
        for label in metadata.labels.iter() {
            label.hash(state);
        }
    }
}

/// The classes of the pods on nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    ids: HashMap<Example, ClassId>,
    /// An example of each class, by its position. Free positions are `None`.
    examples: Vec<Option<Arc<PodFacts>>>,
    free: Vec<ClassId>,
    /// Number of classes at which unused ones are removed.
    limit: usize,
}

impl Classes {
    /// Returns the class of a pod, if a pod of that class is known.
    pub(super) fn find(&self, pod: &Arc<PodFacts>) -> Option<ClassId> {
        self.ids.get(&Example(Arc::clone(pod))).copied()
    }

    /// Returns whether unused classes are due to be removed.
    pub(super) fn is_full(&self) -> bool {
        self.ids.len() >= self.limit.max(MIN_LIMIT)
    }

    /// Removes the classes without pods.
    pub(super) fn sweep(&mut self, is_used: &[bool]) {
        let Self { ids, examples, free, limit } = self;
        ids.retain(|_, id| {
            let keeps = is_used.get(id.index()).copied().unwrap_or(false);
            if !keeps {
                examples[id.index()] = None;
                free.push(*id);
            }
            keeps
        });
        // The cost of the next sweep is spread over as many new classes as there are.
        *limit = ids.len() * 2;
    }

    /// Adds the class of a pod.
    pub(super) fn insert(&mut self, pod: Arc<PodFacts>) -> ClassId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.examples.push(None);
            ClassId(u32::try_from(self.examples.len() - 1).unwrap_or(u32::MAX))
        });
        self.examples[id.index()] = Some(Arc::clone(&pod));
        self.ids.insert(Example(pod), id);
        id
    }

    /// Returns the examples by their positions.
    pub(super) fn examples(&self) -> &[Option<Arc<PodFacts>>] {
        &self.examples
    }
}
