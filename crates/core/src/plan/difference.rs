//! What one file says otherwise than another, setting by setting. It is read from the books before and
//! after, and not from texts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::books::Books;
use crate::id::PartitionId;
use crate::name::Name;
use crate::resource::{Quantity, figures};

use super::settings::{Settings, of_partition, of_queue};

/// A setting that is otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which partition.
    pub partition: Name,
    /// At which queue; none for the partition itself.
    pub queue: Option<Name>,
    /// Which, by the keys of the queue file that lead to it: `resources.max.memory`.
    pub key: Name,
    /// What it was; none where nothing was said.
    pub before: Option<Value>,
    /// What it would be; none where nothing is said.
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
    /// In words.
    Text(Name),
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount { resource, amount } => out.write_str(&figures(resource, [*amount])[0]),
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
        let sides = [
            old.get(name).map(|id| Side::of(before, *id)),
            new.get(name).map(|id| Side::of(after, *id)),
        ];
        compare(name, &sides.map(Option::unwrap_or_default), &mut found);
    }
    found
}

/// A partition and its queues.
#[derive(Default)]
struct Side {
    own: Settings,
    queues: BTreeMap<Name, Settings>,
}

impl Side {
    fn of(books: &Books, partition: PartitionId) -> Self {
        let row = books.partition(partition);
        let queues = row.queues.iter();
        let queues =
            queues.map(|(path, id)| (path.clone(), of_queue(books, *id, books.queue(*id))));
        Self { own: of_partition(&row.settings), queues: queues.collect() }
    }
}

fn compare(partition: &Name, [before, after]: &[Side; 2], found: &mut Vec<Difference>) {
    let mut note = |queue: Option<&Name>, key: &String, sides: [Option<&Value>; 2]| {
        let [before, after] = sides.map(Option::<&Value>::cloned);
        let (partition, queue) = (partition.clone(), queue.cloned());
        found.push(Difference { partition, queue, key: key.as_str().into(), before, after });
    };
    for (key, sides) in changes([&before.own, &after.own]) {
        note(None, key, sides);
    }
    let paths: BTreeSet<&Name> = before.queues.keys().chain(after.queues.keys()).collect();
    let nothing = Settings::new();
    for path in paths {
        let at = |side: &Side, path: &str| side.queues.get(path).cloned();
        let own = [before, after].map(|side| side.queues.get(path).unwrap_or(&nothing));
        let above = path.rsplit_once('.').map(|(above, _)| above);
        let above = above.map(|above| [before, after].map(|side| at(side, above)));
        for (key, sides) in changes(own) {
            let passed_on = is_passed_on(key)
                && above.as_ref().is_some_and(|above| {
                    let of = |side: &Option<Settings>| side.as_ref()?.get(key).cloned();
                    above.each_ref().map(of) == sides.map(Option::<&Value>::cloned)
                });
            if !passed_on {
                note(Some(path), key, sides);
            }
        }
    }
}

/// The keys by which two differ, with both values.
fn changes(
    [before, after]: [&Settings; 2],
) -> impl Iterator<Item = (&String, [Option<&Value>; 2])> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let both = keys.into_iter().map(move |key| (key, [before.get(key), after.get(key)]));
    both.filter(|(_, [before, after])| before != after)
}

/// Whether queues have this from the queue above unless they say otherwise: it is told once, of the queue
/// that says it.
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
