//! Where the asks of an RM may run, as far as the core does not know it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use headroom_core::Name;
use headroom_core::books::Books;
use headroom_core::id::AllocationId;

use crate::convert::si::{Constraint, Constraints};

use super::side_table::{Key, SideTable, key_of};

/// The constraints of the asks of one RM, by partition and allocation key.
#[derive(Debug, Default)]
pub(super) struct ConstraintsOf(Mutex<SideTable<Constraint>>);

/// Another constraint for an ask that may have been judged by the one before.
#[derive(Debug)]
pub(super) struct Change {
    partition: Name,
    before: Constraint,
    after: Constraint,
}

impl ConstraintsOf {
    /// Whether no ask has any.
    pub(super) fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Take in what a request says of its asks; what of it is another than before.
    pub(super) fn set(&self, books: &Books, constraints: Constraints) -> Vec<Change> {
        let mut entries = self.entries();
        if entries.is_due() {
            // Those of asks that wait no more are needed no more.
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
            // A new ask has no node constraints yet.
            let is_known = !before.is_empty() || find(books, &ask).is_some();
            if is_known && before != after {
                changes.push(Change { partition: ask.0, before, after });
            }
        }
        changes
    }

    /// The constraint of an ask, if it has one.
    pub(super) fn get(&self, partition: &Name, key: &Name) -> Option<Constraint> {
        self.entries().get(&key_of(partition, key)).cloned()
    }

    fn entries(&self) -> MutexGuard<'_, SideTable<Constraint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says why a node may not be had by an ask with this constraint.
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

/// An ask or allocation, by its partition and key.
fn find(books: &Books, (partition, key): &Key) -> Option<AllocationId> {
    let partition = books.partition_named(partition)?;
    books.partition(partition).allocations.get(&**key).copied()
}

impl Change {
    /// The nodes whose constraints change now.
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
