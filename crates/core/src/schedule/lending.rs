//! Lending of idle nodes with a label to asks without a label. Source: user-headroom §10 (C18), decision page 27.
//!
//! Lending is the last pass: asks that select the label have been tried before. Classes of one leaf and shape form a
//! group, which shows its first class in the order of the leaf. If no lending node has enough free capacity for the
//! shape, all groups of the shape are set aside until one has.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::Books;
use crate::bounds::exceeded;
use crate::event::{AllocationEvent, Event};
use crate::id::{NodeId, PartitionId, QueueId, ShapeId};
use crate::name::Name;
use crate::resource::{Quantity, ResourceType, Resources, type_and_label};
use crate::rules::at_label;

use super::before_event::BeforeEvent;
use super::class::{ChargeState, ClassId, ClassKey, Head};
use super::class_list::{ClassList, ClassPosition};
use super::min_tree::EntryId;
use super::placement_mode::{Pass, PlacementMode};
use super::tree::{Next, Tree};
use super::{Scheduler, Search, place};

/// Key of the classes that can borrow the same nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LendKey {
    shape: ShapeId,
    leaf: QueueId,
}

impl LendKey {
    /// Returns the key of a class that can borrow nodes. `None` for other classes.
    pub(super) const fn of(class: ClassKey) -> Option<Self> {
        let ClassKey { shape, leaf, mode, in_head_of_line_queue: lined, .. } = class;
        let borrows = matches!(class.charge, ChargeState::Linked { borrows: true, .. });
        // In a leaf with a head of line, the head has a promise. No later ask can overtake it on lent nodes, so the
        // leaf never borrows.
        if borrows
            && !lined
            && matches!(mode, PlacementMode::AnyNode | PlacementMode::MayPreempt(_))
        {
            Some(Self { shape, leaf })
        } else {
            None
        }
    }

    const fn list(self) -> (QueueId, Pass) {
        (self.leaf, Pass::LendNodes)
    }
}

/// A label whose idle nodes are lent, with its resource types.
#[derive(Clone, Debug)]
struct Lender {
    label: Name,
    /// Labeled type for each plain type, by the lane of the plain type.
    types: Vec<Option<ResourceType>>,
}

impl Lender {
    fn of(books: &Books, label: &Name) -> Self {
        let mut types = Vec::new();
        for (resource, name) in books.types().iter() {
            if type_and_label(name).is_some_and(|(_, of)| *label == *of) {
                let plain = books.types().plain(resource).lane();
                types.resize(types.len().max(plain + 1), None);
                types[plain] = Some(resource);
            }
        }
        Self { label: label.clone(), types }
    }

    /// Returns amounts in the types of the label. `None` if no node with the label has one of the types. `same` is a
    /// type that nodes do not have and that stays as it is.
    fn at(&self, amounts: &Resources, same: Option<ResourceType>) -> Option<Resources> {
        let there = |resource: ResourceType| {
            let own = self.types.get(resource.lane()).copied().flatten();
            if Some(resource) == same { same } else { own }
        };
        amounts.iter().map(|(resource, amount)| Some((there(resource)?, amount))).collect()
    }
}

/// Classes of one leaf and shape that can borrow nodes.
#[derive(Clone, Debug, Default)]
struct Borrowers {
    members: ClassList,
    /// Classes that a limit or maximum of the label types blocks.
    held: BTreeSet<ClassPosition>,
    /// Partition in which no node was found at the last attempt. `None` if the group is not set aside.
    aside: Option<PartitionId>,
}

impl Borrowers {
    fn show(&mut self, tree: &mut Tree, key: LendKey) {
        self.members.show(tree, key.list(), self.aside.is_none());
    }
}

/// All borrowers and lenders.
#[derive(Clone, Debug, Default)]
pub(super) struct Lending {
    /// Labels whose nodes are lent, in their order.
    lenders: BTreeMap<PartitionId, Vec<Lender>>,
    groups: BTreeMap<LendKey, Borrowers>,
    /// Leaves of groups that were set aside, by shape.
    aside: BTreeMap<(PartitionId, ShapeId), BTreeSet<QueueId>>,
    /// Groups with blocked classes.
    held: BTreeSet<(PartitionId, LendKey)>,
    /// Whether the pending amounts of the label types are so large that no more can be added.
    overfull: bool,
}

/// Reason why no node is lent to a class.
enum Refusal {
    /// No node has enough free capacity.
    NoNode,
    /// A maximum or a limit of the label types blocks the class.
    Quota,
    /// The sums of pending amounts would overflow.
    Overfull,
}

impl Lending {
    /// Records the labels of a partition whose nodes are lent.
    pub(super) fn know(&mut self, books: &Books, partition: PartitionId) {
        let labels = books.lending_labels(partition);
        if !labels.is_empty() {
            let lenders = labels.iter().map(|label| Lender::of(books, label)).collect();
            self.lenders.insert(partition, lenders);
        }
    }

    /// Returns whether idle nodes of a partition are lent.
    pub(super) fn is_on(&self, partition: PartitionId) -> bool {
        self.lenders.contains_key(&partition)
    }

    /// Updates a class that was added or removed, or whose position changed.
    pub(super) fn replace(
        &mut self,
        tree: &mut Tree,
        key: LendKey,
        before: Option<&ClassPosition>,
        after: Option<ClassPosition>,
    ) {
        let group = self.groups.entry(key).or_default();
        let was_held = before.is_some_and(|before| group.held.remove(before));
        if let Some(before) = before.filter(|_| !was_held) {
            group.members.remove((&mut *tree, key.list()), (before, EntryId::default()), false);
        }
        match after {
            Some(after) if was_held => drop(group.held.insert(after)),
            Some(after) => drop(group.members.insert(after, false)),
            None => {}
        }
        group.show(tree, key);
        if group.members.is_empty() && group.held.is_empty() {
            let gone = self.groups.remove(&key);
            if let Some(partition) = gone.and_then(|gone| gone.aside) {
                self.bring_back(partition, key);
            }
        }
    }

    /// Removes a group from the groups that are set aside.
    fn bring_back(&mut self, partition: PartitionId, key: LendKey) {
        if let Some(leaves) = self.aside.get_mut(&(partition, key.shape)) {
            leaves.remove(&key.leaf);
            if leaves.is_empty() {
                self.aside.remove(&(partition, key.shape));
            }
        }
    }

    fn refuse(
        &mut self,
        tree: &mut Tree,
        (partition, key): (PartitionId, LendKey),
        place: &ClassPosition,
        refusal: &Refusal,
    ) {
        let Some(group) = self.groups.get_mut(&key) else { return };
        self.overfull |= matches!(refusal, Refusal::Overfull);
        if matches!(refusal, Refusal::NoNode) {
            group.aside = Some(partition);
            self.aside.entry((partition, key.shape)).or_default().insert(key.leaf);
        } else {
            group.members.remove((&mut *tree, key.list()), (place, EntryId::default()), false);
            group.held.insert(place.clone());
            self.held.insert((partition, key));
        }
        group.show(tree, key);
    }

    /// Makes classes ready again that a limit blocked.
    pub(super) fn reopen_held(&mut self, tree: &mut Tree) {
        self.overfull = false;
        while let Some((_, key)) = self.held.pop_first() {
            if let Some(group) = self.groups.get_mut(&key) {
                for place in core::mem::take(&mut group.held) {
                    group.members.insert(place, false);
                }
                group.show(tree, key);
            }
        }
    }

    /// Makes classes ready again that an overflow of pending amounts blocked, after these amounts can have decreased.
    pub(super) fn less_waits(&mut self, tree: &mut Tree) {
        if self.overfull {
            self.reopen_held(tree);
        }
    }

    /// Makes groups ready again that fit the free capacity of a lending node.
    pub(super) fn node_gave_way(&mut self, tree: &mut Tree, books: &Books, node: NodeId) {
        let row = books.node(node);
        if self.aside.is_empty() || !row.lends() || !row.is_open() {
            return;
        }
        let (first, partition) = ((row.partition, ShapeId::FIRST), row.partition);
        let mine = self.aside.range(first..).take_while(|((id, _), _)| *id == partition);
        let fits = |shape: &ShapeId| self.on_node(books, *shape, node).is_some();
        let shapes: Vec<ShapeId> = mine.map(|((_, shape), _)| *shape).filter(fits).collect();
        for shape in shapes {
            for leaf in self.aside.remove(&(partition, shape)).into_iter().flatten() {
                let key = LendKey { shape, leaf };
                if let Some(group) = self.groups.get_mut(&key) {
                    group.aside = None;
                    group.show(tree, key);
                }
            }
        }
    }

    /// Returns whether an ask of a shape without a label fits this lending node.
    fn on_node(&self, books: &Books, shape: ShapeId, node: NodeId) -> Option<()> {
        let row = books.node(node);
        let lenders = self.lenders.get(&row.partition)?;
        let lender = lenders.iter().find(|one| row.label() == Some(&one.label))?;
        let wish = books.shapes().wish(shape);
        if wish.is_some_and(|wish| wish.label.is_some() || wish.blocks(&row.name)) {
            return None;
        }
        let needs = lender.at(books.shapes().on_node(shape), None)?;
        row.available.fits(&needs).then_some(())
    }
}

impl Scheduler {
    /// Lends a node of a partition to the first ask that can borrow one.
    pub(super) fn lend_in(
        &mut self,
        books: &Books,
        (partition, root): (PartitionId, QueueId),
        events: &mut Vec<Event>,
    ) -> Search {
        if !self.lending.is_on(partition) {
            return Search::GoesOn;
        }
        let first = |tree: &Tree| tree.first(books, root, Pass::LendNodes, (false, false));
        while let Some(Next::Ready(leaf, _)) = first(&self.tree) {
            let first = self.tree.ready(leaf, Pass::LendNodes).first();
            let first = first.expect("the leaf has some to lend to").clone();
            let key = self.classes.rows[first.1].key;
            match self.lender_for(books, partition, key) {
                Ok((label, node)) => {
                    let (application, ask) = self.first_ask(first.1);
                    let resources =
                        at_label(books, partition, books.resources_of(ask), Some(&label));
                    events.push(Event::Allocation(AllocationEvent::Resized {
                        allocation: ask,
                        resources,
                    }));
                    place(books, application, (ask, node), events);
                    return Search::Over;
                }
                Err(refusal) => {
                    let group = LendKey::of(key).expect("only such classes are in this list");
                    let shown = &mut self.tree;
                    self.lending.refuse(shown, (partition, group), &first, &refusal);
                    self.tree.refresh(books);
                }
            }
        }
        Search::GoesOn
    }

    /// Returns the node to lend to a class: the first in order of the first label with enough free capacity. The queues
    /// and the user must allow the amounts in the types of the label.
    fn lender_for(
        &self,
        books: &Books,
        partition: PartitionId,
        key: ClassKey,
    ) -> Result<(Name, NodeId), Refusal> {
        let (shapes, shape) = (books.shapes(), key.shape);
        if shapes.wish(shape).is_some_and(|wish| wish.label.is_some()) {
            return Err(Refusal::NoNode);
        }
        let ChargeState::Linked { link, .. } = key.charge else { return Err(Refusal::NoNode) };
        let tasks = books.task_type(partition);
        let mut refusal = Refusal::NoNode;
        for lender in self.lending.lenders.get(&partition).into_iter().flatten() {
            let needs = lender.at(shapes.on_node(shape), None);
            let counts = lender.at(shapes.get(shape), tasks);
            let Some((needs, counts)) = needs.zip(counts) else { continue };
            let found = self.nodes[&partition].first_lent(books, (&lender.label, shape), &needs);
            let Some(node) = found else { continue };
            if exceeded(books, key.leaf, link, &counts).is_some() {
                refusal = Refusal::Quota;
                continue;
            }
            let root = books.queue(books.partition(partition).root);
            let room = |waits: Quantity| Quantity::MAX.minus(waits);
            let mut all = counts.iter();
            if !all.all(|(resource, one)| one <= room(root.pending.get_or_zero(resource))) {
                refusal = Refusal::Overfull;
                continue;
            }
            return Ok((lender.label.clone(), node));
        }
        Err(refusal)
    }

    /// Updates whether the application of an added or removed ask can borrow nodes.
    pub(super) fn follow_borrowers(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(application) = seen.application.filter(|_| !self.lending.lenders.is_empty())
            && books.applications().get(application).is_some()
        {
            self.restand(books, application);
        }
    }
}

/// Updates the lending index after the position of a class changed.
pub(super) fn moved(
    (lending, tree): (&mut Lending, &mut Tree),
    (key, class): (ClassKey, ClassId),
    (before, after): (Option<&Head>, Option<&Head>),
) {
    if let Some(key) = LendKey::of(key) {
        let place = |head: &Head| (head.clone(), class);
        lending.replace(tree, key, before.map(place).as_ref(), after.map(place));
    }
}
