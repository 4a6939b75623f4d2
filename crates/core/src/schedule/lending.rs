//! Idle nodes of a label, lent to asks that name none. User-headroom §10 (C18), decision page 27.
//!
//! It is the last pass: what asks for nodes of the label has been tried before. Classes of one leaf and
//! shape stand together, the first of them where its leaf would look at it; when no lending node has
//! room for the shape, all of them are put aside until one has.

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
use super::tree::Tree;
use super::{Scheduler, Search, place};

/// What the classes have in common to which the same nodes can be lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LendKey {
    shape: ShapeId,
    leaf: QueueId,
}

impl LendKey {
    /// Of a class to whose asks nodes may be lent; none for others.
    pub(super) const fn of(class: ClassKey) -> Option<Self> {
        let ClassKey { shape, leaf, mode, in_head_of_line_queue: lined, .. } = class;
        let borrows = matches!(class.charge, ChargeState::Linked { borrows: true, .. });
        // What comes first in a line is a promise, and nobody passes it on other nodes either.
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

/// A label whose idle nodes are lent, and the types in which they are counted.
#[derive(Clone, Debug)]
struct Lender {
    label: Name,
    /// By the lane of the plain type.
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

    /// Amounts as they are counted there; none where no node of the label has some type. `same` is the
    /// type that is none of nodes.
    fn at(&self, amounts: &Resources, same: Option<ResourceType>) -> Option<Resources> {
        let there = |resource: ResourceType| {
            let own = self.types.get(resource.lane()).copied().flatten();
            if Some(resource) == same { same } else { own }
        };
        amounts.iter().map(|(resource, amount)| Some((there(resource)?, amount))).collect()
    }
}

/// Classes of one leaf and shape to whose asks nodes may be lent.
#[derive(Clone, Debug, Default)]
struct Borrowers {
    members: ClassList,
    /// Those that a limit of their own holds back.
    held: BTreeSet<ClassPosition>,
    /// Where no node was found for them when it was last tried, if none was.
    aside: Option<PartitionId>,
}

impl Borrowers {
    fn show(&mut self, tree: &mut Tree, key: LendKey) {
        self.members.show(tree, key.list(), self.aside.is_none());
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lending {
    /// The labels that lend, in the order of labels.
    lenders: BTreeMap<PartitionId, Vec<Lender>>,
    groups: BTreeMap<LendKey, Borrowers>,
    /// Those of a shape that were put aside.
    aside: BTreeMap<(PartitionId, ShapeId), BTreeSet<QueueId>>,
    /// The groups of which some are held back.
    held: BTreeSet<(PartitionId, LendKey)>,
    /// Whether what waits for nodes of a label comes to so much that nothing can be added.
    overfull: bool,
}

/// Why nothing is lent to a class.
enum Refusal {
    /// No node has room.
    NoNode,
    /// A maximum or a limit of the label's types.
    Quota,
    /// The sums of what waits have no room for it.
    Overfull,
}

impl Lending {
    /// Know the labels of a partition that lend.
    pub(super) fn know(&mut self, books: &Books, partition: PartitionId) {
        let labels = books.lending_labels(partition);
        if !labels.is_empty() {
            let lenders = labels.iter().map(|label| Lender::of(books, label)).collect();
            self.lenders.insert(partition, lenders);
        }
    }

    /// Whether idle nodes of a partition are lent.
    pub(super) fn is_on(&self, partition: PartitionId) -> bool {
        self.lenders.contains_key(&partition)
    }

    /// A class has another place, or comes or goes.
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

    /// A group is put aside no more.
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

    /// Look at those again that a limit held back.
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

    /// The same where too much waited, and less may by now.
    pub(super) fn less_waits(&mut self, tree: &mut Tree) {
        if self.overfull {
            self.reopen_held(tree);
        }
    }

    /// A lending node may have more to give: look at those again that it has room for.
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

    /// What an ask of a shape would have on a node, if it names no label and the node has room for it.
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
    /// Lend a node of a partition to the first ask that may have one.
    pub(super) fn lend_in(
        &mut self,
        books: &Books,
        (partition, root): (PartitionId, QueueId),
        events: &mut Vec<Event>,
    ) -> Search {
        if !self.lending.is_on(partition) {
            return Search::GoesOn;
        }
        while let Some((leaf, _)) = self.tree.first(books, root, Pass::LendNodes, false) {
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

    /// The node that is lent to a class: the first in order of the first label whose nodes have room, where
    /// its queues and its user may have as much of the label's types.
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

    /// The application of an ask that came or went may be lent nodes from now on, or no more.
    pub(super) fn follow_borrowers(&mut self, books: &Books, seen: &BeforeEvent) {
        if let Some(application) = seen.application.filter(|_| !self.lending.lenders.is_empty())
            && books.applications().get(application).is_some()
        {
            self.restand(books, application);
        }
    }
}

/// What a class that comes to a place, or leaves it, changes for those to whom nodes are lent.
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
