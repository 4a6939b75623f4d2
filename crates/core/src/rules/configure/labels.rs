//! Change of the exclusive labels: counts nodes with these labels, their allocations, and asks in other types. Source:
//! user-headroom §10 (C18), decision page 27.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::config::NodeLabelsConfig;
use crate::event::{AllocationEvent, Event, ForeignEvent, NodeEvent};
use crate::id::{ApplicationId, PartitionId};
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::{Amounts, Quantity, ResourceTypes, Resources};
use crate::time::Timestamp;

use super::super::labels;
use super::super::lifecycle::Lifecycle;

/// Recounts nodes, allocations, and asks of labels that became exclusive or lost that property. Stops nothing.
///
/// Costs the content of the partition if the labels changed, and nothing otherwise.
pub(super) fn count_again(
    books: &Books,
    now: Timestamp,
    partition: PartitionId,
    after: Option<&NodeLabelsConfig>,
    events: &mut Vec<Event>,
) -> Result<(), Rejection> {
    let root = books.queue(books.partition(partition).root);
    let before = root.settings.node_labels.as_deref();
    if exclusive(before) == exclusive(after) {
        return Ok(());
    }
    let recount = Recount { books, partition, after };
    let first = events.len();
    recount.nodes(events);
    recount.asks(now, events);
    types_fit(books, &events[first..])?;
    sums_fit(books, partition, &events[first..])
}

fn exclusive(labels: Option<&NodeLabelsConfig>) -> &[Name] {
    labels.map_or(&[], |labels| &labels.exclusive)
}

struct Recount<'a> {
    books: &'a Books,
    partition: PartitionId,
    after: Option<&'a NodeLabelsConfig>,
}

impl Recount<'_> {
    /// Returns the amounts of an object with this label in the new types. `None` if they do not change.
    fn counted(&self, label: Option<&Name>, amounts: &Resources) -> Option<Amounts> {
        let label = label?;
        let is = self.after.is_some_and(|after| after.is_exclusive(label));
        if is == self.books.is_exclusive(self.partition, label) {
            return None;
        }
        let label = Some(label).filter(|_| is);
        Some(labels::at_label(self.books, self.partition, amounts, label))
    }

    fn nodes(&self, events: &mut Vec<Event>) {
        let partition = self.books.partition(self.partition);
        for (_, node) in partition.nodes.iter() {
            let row = self.books.node(*node);
            if let Some(capacity) = self.counted(row.label(), &row.capacity) {
                events.push(Event::Node(NodeEvent::Resized { node: *node, capacity }));
            }
        }
        for (key, one) in partition.foreign.iter() {
            let label = self.books.node(one.node).label();
            if let Some(resources) = self.counted(label, &one.resources) {
                events.push(Event::Foreign(ForeignEvent::Set {
                    partition: self.partition,
                    key: key.clone(),
                    node: one.node,
                    resources,
                    preemptable: one.preemptable,
                }));
            }
        }
    }

    fn asks(&self, now: Timestamp, events: &mut Vec<Event>) {
        let mut lives: BTreeMap<ApplicationId, Lifecycle<'_>> = BTreeMap::new();
        for (id, row) in self.books.allocations().iter() {
            if self.books.application(row.application).partition != self.partition {
                continue;
            }
            let label = labels::deciding_known(self.books, id, None);
            let size = self.books.resources_of(id);
            let Some(resources) = self.counted(label, size) else { continue };
            if row.is_swapping() {
                // The old size fitted the placeholder. The new size must be checked again.
                let life = lives.entry(row.application);
                let life = life.or_insert_with(|| Lifecycle::of(self.books, now, row.application));
                life.drop_swap(id, events);
            }
            events.push(Event::Allocation(AllocationEvent::Resized { allocation: id, resources }));
        }
    }
}

/// Rejects a queue file that would add too many resource types.
fn types_fit(books: &Books, events: &[Event]) -> Result<(), Rejection> {
    let names: BTreeSet<&Name> = events
        .iter()
        .filter_map(counted_in)
        .flat_map(|(_, amounts)| amounts.iter().map(|(name, _)| name))
        .collect();
    let (known, limit) = (books.types().len(), ResourceTypes::LIMIT);
    let added = books.types().count_unknown_names(names.into_iter());
    if known + added <= limit {
        return Ok(());
    }
    let what = "the queue file, with its exclusive labels,";
    Err(Rejection::TooManyTypes { what, added, known, limit })
}

/// Rejects a queue file after which a sum of recounted amounts would exceed 64 bits.
///
/// Asks count only in the sum of their own application. A large ask must not prevent a queue file for all other users.
fn sums_fit(books: &Books, partition: PartitionId, events: &[Event]) -> Result<(), Rejection> {
    let root = books.queue(books.partition(partition).root);
    let (mut nodes, mut allocated) = (Amounts::EMPTY, Amounts::EMPTY);
    let mut asked: BTreeMap<ApplicationId, Amounts> = BTreeMap::new();
    for event in events {
        let Some((sum, amounts)) = counted_in(event) else { continue };
        let waits = if let Event::Allocation(AllocationEvent::Resized { allocation, .. }) = event {
            Some(books.allocation(*allocation))
        } else {
            None
        };
        let waits = waits.filter(|one| one.is_pending()).map(|one| one.application);
        match (sum, waits) {
            (Sum::Nodes, _) => add(&mut nodes, sum.words(), amounts)?,
            (Sum::Live, None) => add(&mut allocated, sum.words(), amounts)?,
            (Sum::Live, Some(id)) => add(asked.entry(id).or_default(), ASKED, amounts)?,
        }
    }
    let known = root.max.clone().unwrap_or_default();
    super::super::sum_fits(books, Sum::Nodes.words(), Some(&known), &nodes)?;
    super::super::sum_fits(books, Sum::Live.words(), Some(&root.allocated), &allocated)?;
    asked.iter().try_for_each(|(id, added)| {
        super::super::sum_fits(books, ASKED, Some(&books.application(*id).pending), added)
    })
}

const ASKED: &str = "the asks of an application, with the exclusive labels of the queue file";

fn add(sum: &mut Amounts, what: &'static str, amounts: &Amounts) -> Result<(), Rejection> {
    for (name, amount) in amounts.iter() {
        let held = sum.get(name).unwrap_or_default();
        if amount > Quantity::MAX.minus(held) {
            return Err(Rejection::SumTooLarge {
                what,
                resource: name.clone(),
                held,
                added: amount,
            });
        }
        sum.set(name.clone(), held.plus(amount));
    }
    Ok(())
}

/// Sum that an event contributes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Nodes,
    Live,
}

impl Sum {
    const fn words(self) -> &'static str {
        match self {
            Self::Nodes => {
                "the nodes of the partition, with the exclusive labels of the queue file"
            }
            Self::Live => {
                "the allocations of the partition, by the exclusive labels of the queue file"
            }
        }
    }
}

/// Returns the recounted amounts of an event, and their sum. Foreign allocations count only in the sum of their nodes.
fn counted_in(event: &Event) -> Option<(Sum, &Amounts)> {
    match event {
        Event::Node(NodeEvent::Resized { capacity: amounts, .. })
        | Event::Foreign(ForeignEvent::Set { resources: amounts, .. }) => {
            Some((Sum::Nodes, amounts))
        }
        Event::Allocation(AllocationEvent::Resized { resources, .. }) => {
            Some((Sum::Live, resources))
        }
        Event::Configured { .. }
        | Event::Partition(_)
        | Event::Queue(_)
        | Event::Node(
            NodeEvent::Added { .. }
            | NodeEvent::Scheduling { .. }
            | NodeEvent::Removed { .. }
            | NodeEvent::Reported { .. }
            | NodeEvent::VerdictsVoid { .. },
        )
        | Event::Application(_)
        | Event::Task(_)
        | Event::Ask(_)
        | Event::Allocation(
            AllocationEvent::Released { .. }
            | AllocationEvent::SwapStarted { .. }
            | AllocationEvent::SwapConfirmed { .. }
            | AllocationEvent::SwapDropped { .. }
            | AllocationEvent::ReleaseAsked { .. }
            | AllocationEvent::Preempted { .. }
            | AllocationEvent::PreemptionObserved { .. },
        )
        | Event::Foreign(ForeignEvent::Removed { .. })
        | Event::Tenant(_) => None,
    }
}
