//! Differences between two queue files, setting by setting. They are computed from the books before and after, not from
//! the texts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::books::{Books, Partition};
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::{Quantity, exact};

use super::settings::{Settings, of_partition, of_queue};

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Partition of the setting.
    pub partition: Name,
    /// Queue of the setting. `None` for a setting of the partition.
    pub queue: Option<Name>,
    /// Path of keys in the queue file: `resources.max.memory`. An entry of a list has its position, starting at 1
    /// (`placementrules.1`). A limit has its subject (`limits[users: ann].maxapplications`).
    pub key: Name,
    /// Previous value. `None` if it was not set.
    pub before: Option<Value>,
    /// New value. `None` if it is not set.
    pub after: Option<Value>,
}

/// Value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Amount of a resource type.
    Amount {
        /// Resource type.
        resource: Name,
        /// Amount in core units.
        amount: Quantity,
    },
    /// Text as in the queue file. A list or a mapping is on one line.
    Text(Name),
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount { resource, amount } => out.write_str(&exact(resource, *amount)),
            Self::Text(text) => out.write_str(text),
        }
    }
}

/// Returns all differences: partitions by name, each before its queues, and queues by path.
pub(super) fn all(before: &Books, after: &Books) -> Vec<Difference> {
    let named = |books: &Books| -> BTreeMap<Name, PartitionId> {
        books.partitions().iter().map(|(id, row)| (row.name.clone(), *id)).collect()
    };
    let (old, new) = (named(before), named(after));
    let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let sides = [Side::of(before, old.get(name)), Side::of(after, new.get(name))];
        compare(name, &sides, &mut found);
    }
    found
}

/// A partition of books. `None` if it does not exist there.
#[derive(Clone, Copy)]
struct Side<'a> {
    books: &'a Books,
    partition: Option<&'a Partition>,
}

impl<'a> Side<'a> {
    fn of(books: &'a Books, partition: Option<&PartitionId>) -> Self {
        Self { books, partition: partition.map(|id| books.partition(*id)) }
    }

    fn own(&self) -> Settings {
        self.partition.map(|row| of_partition(&row.settings)).unwrap_or_default()
    }

    fn paths(&self) -> impl Iterator<Item = &'a Name> + use<'a> {
        self.partition.into_iter().flat_map(|row| row.queues.iter().map(|(path, _)| path))
    }

    /// Returns the settings of one queue. They are not stored, because a file can have very many queues.
    fn at(&self, path: &str) -> Settings {
        let queue = self.partition.and_then(|row| row.queues.get(path));
        queue.map(|id| of_queue(self.books, *id, self.books.queue(*id))).unwrap_or_default()
    }
}

fn compare(partition: &Name, sides: &[Side<'_>; 2], found: &mut Vec<Difference>) {
    let mut note = |queue: Option<&Name>, key: &String, sides: [Option<&Value>; 2]| {
        let [before, after] = sides.map(Option::<&Value>::cloned);
        let (partition, queue) = (partition.clone(), queue.cloned());
        found.push(Difference { partition, queue, key: key.as_str().into(), before, after });
    };
    let of_partition = sides.each_ref().map(Side::own);
    for (key, sides) in changes(&of_partition) {
        note(None, key, sides);
    }
    let paths: BTreeSet<&Name> = sides.iter().flat_map(Side::paths).collect();
    // The queues of a parent are consecutive, except for their own descendants.
    let mut above: Option<(&str, [Settings; 2])> = None;
    for path in paths {
        let parent = path.rsplit_once('.').map(|(parent, _)| parent);
        if above.as_ref().map(|(path, _)| *path) != parent {
            above = parent.map(|path| (path, sides.each_ref().map(|side| side.at(path))));
        }
        let own = sides.each_ref().map(|side| side.at(path));
        for (key, values) in changes(&own) {
            let higher = above.as_ref().map_or(&of_partition, |(_, above)| above);
            let higher = higher.each_ref().map(|one| one.get(key));
            let inherited = if above.is_some() {
                values == higher
            } else {
                // The settings of the root equal those of the partition, or are empty.
                let mut both = values.iter().zip(&higher);
                higher[0] != higher[1] && both.all(|(root, of)| root.is_none() || root == of)
            };
            if !(is_passed_on(key) && inherited) {
                note(Some(path), key, values);
            }
        }
    }
}

/// Returns the keys with different values, and both values.
fn changes(
    [before, after]: &[Settings; 2],
) -> impl Iterator<Item = (&String, [Option<&Value>; 2])> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let both = keys.into_iter().map(move |key| (key, [before.get(key), after.get(key)]));
    both.filter(|(_, [before, after])| before != after)
}

/// Returns whether child queues inherit this setting. An inherited change is reported once, for the queue that sets it.
fn is_passed_on(key: &str) -> bool {
    const PASSED_ON: [&str; 8] = [
        "properties.",
        "userlimits",
        "applicationlimits.",
        "childtemplate.",
        "preemption.",
        "nodelabels.",
        "maximumapplicationlifetime",
        "defaultapplicationlifetime",
    ];
    key == "state" || PASSED_ON.iter().any(|word| key.starts_with(word))
}
