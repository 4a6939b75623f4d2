//! Serialization of the books, with recomputation and checks after deserialization.
//!
//! After that, every ID refers to an existing row, every list ends, and every counter that is decremented is correct.
//! The books can then be read and changed safely. Sums of amounts are not checked; [`Books::check`] does that.

mod allocations;
mod amounts;
mod applications;
mod by_priority;
mod links;
mod queues;
mod share;

use alloc::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{Id, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::placement::Rules;
use crate::resource::{ResourceTypes, Resources};
use crate::stored::Unsound;
use crate::table::Table;
use crate::time::Timestamp;

use super::activation::Activation;
use super::users::Sharing;
use super::{Allocation, Application, Books, Node, Partition, Queue, Recovery, Shapes, Timer};
use crate::id::{AllocationId, ApplicationId};

/// Fields of [`Books`] in the order of serialization. Only append fields.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Books")]
struct Fields {
    types: ResourceTypes,
    #[serde(with = "crate::stored::rising")]
    partitions: BTreeMap<PartitionId, Partition>,
    queues: Table<QueueId, Queue>,
    nodes: Table<NodeId, Node>,
    applications: Table<ApplicationId, Application>,
    allocations: Table<AllocationId, Allocation>,
    shapes: Shapes,
    #[serde(skip)]
    timers: OrderedMap<(Timestamp, Timer), ()>,
    checksum: Name,
    partitions_made: u32,
    submissions: u64,
    asks: i64,
    rejections: u64,
    asking: bool,
    questions: u64,
    changes: u64,
    #[serde(skip)]
    sharing: Sharing,
    #[serde(skip)]
    activation: Activation,
    #[serde(skip)]
    holds: BTreeMap<QueueId, AllocationId>,
}

impl Serialize for Books {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Fields::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Books {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut books = Fields::deserialize(from)?;
        books.settle().map_err(D::Error::custom)?;
        Ok(books)
    }
}

type Outcome = Result<(), Unsound>;

impl Books {
    fn settle(&mut self) -> Outcome {
        self.settle_partitions()?;
        self.settle_queues()?;
        self.settle_nodes()?;
        self.settle_applications()?;
        self.settle_allocations()?;
        self.check_links()?;
        self.check_amounts()?;
        self.sum_up_largest_pending();
        self.index_tasks()?;
        self.set_timers();
        self.share_names();
        self.divide_all();
        self.count_all();
        self.share_leaves();
        self.settle_holds()
    }

    fn settle_partitions(&mut self) -> Outcome {
        let asking = self.partitions.values().any(|row| row.questions.is_some());
        Unsound::unless(self.asking == asking, "the books", "whether any RM is asked")?;
        for (id, row) in &mut self.partitions {
            let made = id.slot().generation() == 0 && id.slot().number() < self.partitions_made;
            Unsound::unless(made, &row.name, "its number and how many were made")?;
            let newest = row.rejected.last().map_or(0, |(number, _)| *number);
            let counted = newest <= self.rejections;
            Unsound::unless(counted, &row.name, "the applications that it refused")?;
            row.rules = Rules::in_force(row.settings.placement_rules.clone()).into();
            Unsound::unless(row.tenants.has_tops(), &row.name, "its tenants")?;
            row.tenants = row.tenants.indexed_again();
            row.spent_keys = row.spent_keys.indexed_again();
        }
        Ok(())
    }

    /// Rebuilds the holds by queue, and checks that no queue holds capacity for two asks.
    fn settle_holds(&mut self) -> Outcome {
        let mut holds = BTreeMap::new();
        for (id, row) in self.allocations.iter() {
            let Some(hold) = row.hold() else { continue };
            let leaf = self.application(row.application).queue;
            let is_above = self.up(leaf).any(|(queue, _)| queue == hold.top);
            let is_free = self.holding(id, hold.top).all(|queue| holds.insert(queue, id).is_none());
            let is_sound = row.is_pending() && is_above && is_free;
            Unsound::unless(is_sound, &row.key, "the queues that hold room for it")?;
        }
        self.holds = holds;
        Ok(())
    }

    fn settle_nodes(&mut self) -> Outcome {
        let mut named = 0;
        for (id, partition) in &mut self.partitions {
            named += partition.nodes.len();
            let nodes = &self.nodes;
            partition.nodes.name(|node| {
                let row = nodes.get(*node).filter(|row| row.partition == *id);
                let row = row.ok_or_else(|| Unsound::dangling(&partition.name, "a node"))?;
                Ok::<_, Unsound>(row.name.clone())
            })?;
            let missing = partition.recovery.iter().flat_map(Recovery::missing);
            let is_here =
                |id_of: &NodeId| nodes.get(*id_of).is_some_and(|row| row.partition == *id);
            let known = missing.clone().all(is_here) && missing.is_sorted();
            Unsound::unless(known, &partition.name, "the nodes that have not reported")?;
        }
        Unsound::unless(named == self.nodes.len(), "all nodes", "those found by name")?;
        for partition in self.partitions.values() {
            for foreign in
                partition.foreign.iter().map(|(_, one)| one).filter(|one| !one.preemptable)
            {
                // The node might be removed together with its foreign allocations.
                if let Some(node) = self.nodes.get_mut(foreign.node) {
                    node.fix(&Resources::new(), &foreign.resources);
                }
            }
        }
        let partitions: alloc::vec::Vec<PartitionId> = self.partitions.keys().copied().collect();
        for partition in partitions {
            self.label_nodes(partition);
        }
        for (id, row) in self.nodes.iter() {
            for ask in row.reservations() {
                let ask = self.allocations.get(*ask).filter(|ask| ask.is_pending());
                let reserved = ask.and_then(Allocation::reservation).map(|one| one.node);
                Unsound::unless(
                    reserved == Some(id),
                    &row.name,
                    "the asks that it is reserved for",
                )?;
            }
        }
        Ok(())
    }

    /// Rebuilds the indexes of tasks and ended applications.
    fn index_tasks(&mut self) -> Outcome {
        for (_, row) in self.applications.iter() {
            let ended = row.task.as_ref().is_some_and(|task| task.end.is_some());
            // The end of a task is recorded first, so the application of an ended task can still exist.
            let sound = row.task.is_none() || ended || row.state.is_active();
            Unsound::unless(sound, &row.name, "whether its task has ended")?;
        }
        for (partition, tasks) in self.tasks_rebuilt() {
            // A missing partition was already rejected with its applications.
            self.partition_mut(partition).tasks = tasks;
        }
        for (partition, ended) in self.ended_rebuilt() {
            self.partition_mut(partition).ended = ended;
        }
        Ok(())
    }

    fn set_timers(&mut self) {
        let mut timers = alloc::vec::Vec::new();
        for (id, row) in self.applications.iter() {
            timers.extend(row.timer.map(|at| (at, Timer::Application(id))));
            let deadline = row.gang.as_ref().and_then(|gang| gang.deadline);
            timers.extend(deadline.map(|at| (at, Timer::Placeholders(id))));
            timers.extend(row.lifetime.ends_at.map(|at| (at, Timer::Lifetime(id))));
            let waits_until = row.task.as_ref().and_then(|task| task.waits_until);
            timers.extend(waits_until.map(|at| (at, Timer::Wait(id))));
        }
        for (id, row) in self.queues.iter() {
            timers.extend(row.removable_at.map(|at| (at, Timer::Queue(id))));
            timers.extend(row.stops_at.map(|at| (at, Timer::Stop(id))));
        }
        for (id, row) in &self.partitions {
            let until = row.recovery.as_ref().and_then(|one| one.until);
            timers.extend(until.map(|at| (at, Timer::Recovery(*id))));
        }
        timers.sort_unstable();
        for timer in timers {
            self.timers.append(timer, ()).expect("sorted ones rise, as each has an id of its own");
        }
    }
}

/// Links the rows of a list backwards. Returns their number and the last row.
///
/// `tie` gets each row and the previous one, and returns the next row. It rejects a row of another list or a row that
/// is already linked. A cycle is therefore rejected too.
fn relink<I: Id, T: Clone>(
    table: &mut Table<I, T>,
    first: Option<I>,
    holder: &Name,
    mut tie: impl FnMut(I, &mut T, Option<I>) -> Result<Option<I>, Unsound>,
) -> Result<(u32, Option<I>), Unsound> {
    let (mut next, mut last, mut count) = (first, None, 0_u32);
    while let Some(id) = next {
        let row = table.get_mut(id).ok_or_else(|| Unsound::dangling(holder, "a row in a list"))?;
        next = tie(id, row, last)?;
        last = Some(id);
        count += 1;
    }
    Ok((count, last))
}

/// Records the previous row of a row. Fails if it was already recorded.
fn before<I: Copy>(place: &mut Option<I>, previous: Option<I>, holder: &Name) -> Outcome {
    let fresh = place.is_none();
    *place = previous;
    Unsound::unless(fresh, holder, "the rows of a list")
}
