//! Node constraints of asks that the core does not evaluate.

use std::sync::{Mutex, MutexGuard, PoisonError};

use headroom_core::Name;
use headroom_core::books::Books;
use headroom_core::id::AllocationId;

use crate::convert::si::{Constraint, Constraints};

use super::side_table::{Key, SideTable, key_of};

/// The constraints of the asks of one RM, by partition and allocation key.
#[derive(Debug, Default)]
pub(super) struct ConstraintsOf(Mutex<SideTable<Constraint>>);

/// A new constraint of an ask that might have been checked with the previous constraint.
#[derive(Debug)]
pub(super) struct Change {
    partition: Name,
    before: Constraint,
    after: Constraint,
}

impl ConstraintsOf {
    /// Returns whether no ask has a constraint.
    pub(super) fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Stores the constraints of a request. Returns the constraints that have changed.
    pub(super) fn set(&self, books: &Books, constraints: Constraints) -> Vec<Change> {
        let mut entries = self.entries();
        if entries.is_due() {
            // Constraints are needed only while their ask waits.
            entries.clean(|ask| {
                find(books, ask).is_some_and(|id| !books.allocation(id).is_allocated())
            });
        }
        let mut changes = Vec::new();
        for ((partition, key), after) in constraints {
            let ask = key_of(&partition, &key);
            let before = if after.is_empty() {
                entries.remove(&ask)
            } else {
                entries.insert(ask.clone(), after.clone())
            };
            let before = before.unwrap_or_default();
            // A new ask was not checked yet, so nothing changes for it.
            let is_known = !before.is_empty() || find(books, &ask).is_some();
            if is_known && before != after {
                changes.push(Change { partition: ask.0, before, after });
            }
        }
        changes
    }

    /// Returns the constraint of an ask. `None` without a constraint.
    pub(super) fn get(&self, partition: &Name, key: &Name) -> Option<Constraint> {
        self.entries().get(&key_of(partition, key)).cloned()
    }

    fn entries(&self) -> MutexGuard<'_, SideTable<Constraint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a function that returns why an ask with this constraint cannot use a node.
pub(super) fn refusing(
    constraint: &Constraint,
    books: &Books,
    partition: &Name,
) -> impl Fn(&Name) -> Option<Name> {
    let row = books.partition_named(partition).map(|id| books.partition(id));
    move |node| {
        let id = row.and_then(|row| row.nodes.get(&**node));
        let attributes = id.map(|id| books.node(*id).attributes.clone()).unwrap_or_default();
        constraint.refuses(node, &attributes)
    }
}

/// Returns an ask or allocation, by its partition and key.
fn find(books: &Books, (partition, key): &Key) -> Option<AllocationId> {
    let partition = books.partition_named(partition)?;
    books.partition(partition).allocations.get(&**key).copied()
}

impl Change {
    /// Returns the nodes for which the result of the constraint changes, with their partitions.
    pub(super) fn nodes(&self, books: &Books) -> Vec<(Name, Name)> {
        let Some(partition) = books.partition_named(&self.partition) else { return Vec::new() };
        let of = |constraint: &Constraint, name: &Name, attributes| {
            constraint.refuses(name, attributes).is_some()
        };
        let nodes = books.partition(partition).nodes.iter();
        let changed = nodes.filter(|(name, id)| {
            let attributes = &books.node(**id).attributes;
            of(&self.before, name, attributes) != of(&self.after, name, attributes)
        });
        changed.map(|(name, _)| (self.partition.clone(), name.clone())).collect()
    }
}
