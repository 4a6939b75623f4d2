//! What one file says otherwise than another, setting by setting. It is read from the books before and
//! after, and not from texts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::books::{Books, Partition};
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::{Quantity, exact};

use super::settings::{Settings, of_partition, of_queue};

/// A setting that is otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which partition.
    pub partition: Name,
    /// At which queue; none for the partition itself.
    pub queue: Option<Name>,
    /// Which, by the keys of the queue file that lead to it: `resources.max.memory`. An entry of a list has its
    /// position, from 1 on (`placementrules.1`), a limit the name that it is for (`limits[users: ann].maxapplications`).
    pub key: Name,
    /// What it was; none where nothing was set.
    pub before: Option<Value>,
    /// What it would be; none where nothing is set.
    pub after: Option<Value>,
}

/// What a setting says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// So much of a resource type.
    Amount {
        /// Which.
        resource: Name,
        /// How much, in core units.
        amount: Quantity,
    },
    /// As the queue file writes it; a list or a mapping is on one line.
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

/// All that is otherwise: partitions by name, each before its queues, these by path.
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

/// A partition of books; none where it is not there.
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

    /// Of one queue. A file may have very many, so these are not stored.
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
    // The queues of a parent come one after the other, unless there are queues below these.
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
                // The root says what the partition says, or nothing.
                let mut both = values.iter().zip(&higher);
                higher[0] != higher[1] && both.all(|(root, of)| root.is_none() || root == of)
            };
            if !(is_passed_on(key) && inherited) {
                note(Some(path), key, values);
            }
        }
    }
}

/// The keys by which two differ, with both values.
fn changes(
    [before, after]: &[Settings; 2],
) -> impl Iterator<Item = (&String, [Option<&Value>; 2])> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let both = keys.into_iter().map(move |key| (key, [before.get(key), after.get(key)]));
    both.filter(|(_, [before, after])| before != after)
}

/// Whether queues have this from the queue above unless they say otherwise: it is reported once,
/// for the queue that says it.
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
