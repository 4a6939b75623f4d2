//! Tests of the index against a sorted list, with enough nodes for many blocks.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use core::cell::RefCell;
use core::cmp::Ordering;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::books::{GangSettings, NodeAttributes};
use crate::event::{
    AllocationEvent, ApplicationEvent, AskEvent, AskTraits, Event, NodeEvent, PartitionEvent,
    QueueEvent, Termination,
};
use crate::id::{AllocationId, ApplicationId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::Timestamp;

/// Number of node names: enough for several blocks.
const NAMES: u16 = 400;

/// One change, with small numbers.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A node joins, or changes its size if it exists.
    Size(u16, u8),
    Leave(u16),
    Schedulable(u16, bool),
    /// All nodes of one block leave.
    EmptyBlock(u8),
    /// An allocation is placed on a node, whether it fits or not.
    Place(u16, u8),
    /// The newest allocation of a node is released.
    Release(u16),
}

fn change() -> impl Strategy<Value = Change> {
    // Neighbors in name order get the same changes, so that whole blocks fill and empty.
    let node = prop_oneof![0_u16..NAMES, 0_u16..40, 200_u16..230];
    prop_oneof![
        1 => any::<u8>().prop_map(|block| if block < 32 {
            Change::EmptyBlock(block)
        } else {
            Change::Leave(u16::from(block))
        }),
        9 => (node.clone(), any::<u8>()).prop_map(|(node, size)| Change::Size(node, size)),
        3 => node.clone().prop_map(Change::Leave),
        1 => (node.clone(), any::<bool>()).prop_map(|(node, on)| Change::Schedulable(node, on)),
        6 => (node.clone(), any::<u8>()).prop_map(|(node, size)| Change::Place(node, size)),
        4 => node.prop_map(Change::Release),
    ]
}

fn amounts(size: u8) -> Amounts {
    // Memory has many different amounts, so that often a single node of a block has the largest one.
    let (vcore, memory) = (i64::from(size % 7), i64::from(size) + 1);
    match size % 5 {
        0 => Amounts::from([("vcore", vcore), ("memory", memory), ("gpu", i64::from(size % 3))]),
        1 => Amounts::from([("memory", memory)]),
        _ => Amounts::from([("vcore", vcore), ("memory", memory)]),
    }
}

/// Books with nodes and one application, and the index of the nodes.
struct Cluster {
    books: Books,
    index: NodeIndex,
    partition: PartitionId,
    application: ApplicationId,
    asks: u64,
}

impl Cluster {
    fn new(sort: &NodeSortConfig) -> Self {
        let mut books = Books::default();
        let mut apply = |event: Event| books.apply(Timestamp::ZERO, &event);
        let (partition, leaf) = (Name::new("default"), Name::new("a"));
        let (settings, root) = Default::default();
        apply(Event::Partition(PartitionEvent::Added { partition, settings, root }));
        let (partition, parent) = (PartitionId::FIRST, Name::new("root"));
        apply(Event::Queue(QueueEvent::Added {
            partition,
            parent,
            name: leaf,
            leaf: true,
            managed: true,
            settings: Box::default(),
        }));
        let (queue, application, user) = (Name::new("root.a"), Name::new("app"), Name::new("ann"));
        let (groups, gang) = (Vec::new(), GangSettings::default());
        let added = Event::Application(ApplicationEvent::Added {
            partition,
            queue,
            application,
            user,
            groups,
            gang,
        });
        books.apply(Timestamp::ZERO, &added);
        let application = books.applications().iter().next().unwrap().0;
        let index = NodeIndex::new(sort);
        Self { books, index, partition, application, asks: 0 }
    }

    fn apply(&mut self, event: &Event) {
        self.books.apply(Timestamp::ZERO, event);
    }

    fn find(&self, number: u16) -> Option<NodeId> {
        self.books.partition(self.partition).nodes.get(&*name(number)).copied()
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Size(number, size) => match self.find(number) {
                None => self.join(number, size),
                Some(node) => {
                    self.apply(&Event::Node(NodeEvent::Resized { node, capacity: amounts(size) }));
                    self.index.update(&self.books, node);
                }
            },
            Change::Leave(number) => {
                let Some(node) = self.find(number) else { return };
                self.leave(node);
            }
            Change::EmptyBlock(number) if self.index.blocks.is_empty() => {
                self.join(u16::from(number), 1);
            }
            Change::EmptyBlock(number) => {
                let number = usize::from(number) % self.index.blocks.len();
                for (_, node) in self.index.blocks[number].nodes.clone() {
                    self.leave(node);
                }
            }
            Change::Schedulable(number, schedulable) => {
                let Some(node) = self.find(number) else { return };
                self.apply(&Event::Node(NodeEvent::Scheduling { node, schedulable }));
                self.index.update(&self.books, node);
            }
            Change::Place(number, size) => {
                let Some(node) = self.find(number) else { return };
                self.place(node, size);
                self.index.update(&self.books, node);
            }
            Change::Release(number) => {
                let Some(node) = self.find(number) else { return };
                if self.release(node) {
                    self.index.update(&self.books, node);
                }
            }
        }
    }

    /// Releases the allocations of a node before the node itself, as a removal does.
    fn leave(&mut self, node: NodeId) {
        while self.release(node) {
            self.index.update(&self.books, node);
        }
        self.index.remove(&self.books, node);
        self.apply(&Event::Node(NodeEvent::Removed { node }));
    }

    fn join(&mut self, number: u16, size: u8) {
        let (partition, node) = (self.partition, name(number));
        let (capacity, schedulable) = (amounts(size), !size.is_multiple_of(9));
        self.apply(&Event::Node(NodeEvent::Added {
            partition,
            node,
            capacity,
            schedulable,
            attributes: NodeAttributes::default(),
        }));
        let node = self.find(number).unwrap();
        self.index.add(&self.books, partition, node);
    }

    fn place(&mut self, node: NodeId, size: u8) {
        self.asks += 1;
        let key = Name::from(format!("k{}", self.asks));
        let (application, created) = (self.application, Timestamp::ZERO);
        let resources = amounts(size / 2);
        let added = Event::Ask(AskEvent::Added {
            application,
            key: key.clone(),
            resources,
            priority: 0,
            created,
            traits: AskTraits::default(),
        });
        self.apply(&added);
        let ask = *self.books.partition(self.partition).allocations.get(&*key).unwrap();
        self.apply(&Event::Ask(AskEvent::Placed { ask, node }));
    }

    fn release(&mut self, node: NodeId) -> bool {
        let newest: Option<AllocationId> = self.books.allocations_on(node).next().map(|(id, _)| id);
        let Some(allocation) = newest else { return false };
        self.apply(&Event::Allocation(AllocationEvent::Released {
            allocation,
            termination: Termination::StoppedByRm,
        }));
        true
    }

    /// Returns an ask of some size, or exactly the upper bound of a block. A single node rarely has all amounts of the
    /// bound, so the search then lowers it.
    fn ask(&self, size: u8) -> Resources {
        let blocks = &self.index.blocks;
        let promised = usize::from(size).checked_rem(blocks.len()).map(|at| &blocks[at].free);
        match promised.filter(|_| !size.is_multiple_of(4)) {
            Some(promised) => promised.clone(),
            None => self.books.types().resolve(&amounts(size)).unwrap_or_default(),
        }
    }

    /// Sorts all nodes and returns the first that fits.
    fn naive(&self, ask: &Resources) -> Option<NodeId> {
        let mut nodes: Vec<(NodeId, &Node)> = self.books.nodes().iter().collect();
        nodes.sort_by(|left, right| self.compare(left.1, right.1));
        let mut fitting = nodes.iter().filter(|(_, node)| {
            node.schedulable
                && ask.iter().all(|(resource, needed)| {
                    needed <= node.available.get_or_zero(resource).max(Quantity::ZERO)
                })
        });
        fitting.next().map(|(id, _)| *id)
    }

    fn compare(&self, left: &Node, right: &Node) -> Ordering {
        let usage = |node: &Node| {
            let (mut used, mut weights) = (0.0, 0.0);
            for (resource, total) in node.capacity.iter() {
                let weight = match &**self.books.types().name(resource) {
                    "vcore" | "memory" => 1.0,
                    _ => continue,
                };
                let free = node.available.get_or_zero(resource).get() as f64 / total.get() as f64;
                used += weight * (1.0 - free);
                weights += weight;
            }
            if weights == 0.0 { 0.0 } else { used / weights }
        };
        let by_usage = match self.index.order {
            NodeOrder::Fair => usage(left).total_cmp(&usage(right)),
            NodeOrder::BinPacking => (1.0 - usage(left)).total_cmp(&(1.0 - usage(right))),
        };
        by_usage.then(left.name.cmp(&right.name))
    }

    /// Checks the index against the books.
    fn check(&self) {
        let mut all: Vec<(Key, NodeId)> = Vec::new();
        for block in &self.index.blocks {
            assert!((1..=BLOCK).contains(&block.nodes.len()), "a block of {}", block.nodes.len());
            all.extend(&block.nodes);
            for (_, id) in &block.nodes {
                let node = self.books.node(*id);
                let bounded = node.available.iter().all(|(resource, free)| {
                    free <= block.free.get_or_zero(resource).max(Quantity::ZERO)
                });
                assert!(
                    bounded || !node.schedulable,
                    "{} has more than {:?}",
                    node.name,
                    block.free
                );
            }
        }
        assert!(all.is_sorted(), "the blocks are in order");
        assert_eq!(all.len(), self.books.nodes().len(), "every node is in one block");
    }
}

fn name(number: u16) -> Name {
    // The order of the names is not numerical, so that names are added between others.
    Name::from(format!("n{}", (number * 7) % NAMES))
}

/// Counts of what happened. None must stay at zero.
type Counts = BTreeMap<&'static str, u64>;

fn play(cluster: &mut Cluster, changes: &[Change], asks: &[u8], counts: &mut Counts) {
    for number in 0..300 {
        cluster.join(number, (number % 251) as u8);
    }
    for (step, change) in changes.iter().enumerate() {
        let before = cluster.index.blocks.len();
        cluster.change(*change);
        let after = cluster.index.blocks.len();
        *counts.entry("blocks split").or_default() += u64::from(after > before);
        *counts.entry("blocks emptied").or_default() += u64::from(after < before);
        if step % 3 > 0 {
            continue;
        }
        let ask = cluster.ask(asks[step % asks.len()]);
        let bounds: Vec<Resources> =
            cluster.index.blocks.iter().map(|block| block.free.clone()).collect();
        let skipped = bounds.iter().filter(|free| !free.fits(&ask)).count();
        let shape = cluster.books.shape_of(&ask);
        let found = cluster.index.first_fit(&cluster.books, shape);
        assert_eq!(found, cluster.naive(&ask), "for {ask:?} after {change:?}");
        let lowered = cluster.index.blocks.iter().zip(&bounds).any(|(now, old)| now.free != *old);
        *counts.entry("found").or_default() += u64::from(found.is_some());
        *counts.entry("nothing found").or_default() += u64::from(found.is_none());
        *counts.entry("blocks passed over").or_default() += skipped as u64;
        *counts.entry("bounds lowered").or_default() += u64::from(lowered);
        let short = cluster.index.shortfall(&cluster.books, shape);
        assert!(short.is_none() || found.is_none(), "{ask:?} fits and is short of {short:?}");
        cluster.check();
    }
}

#[test]
fn the_first_fit_is_that_of_sorting_and_scanning() {
    let counts = RefCell::new(Counts::new());
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, seed);
    let changes = prop::collection::vec(change(), 400..900);
    let asks = prop::collection::vec(any::<u8>(), 40);
    runner
        .run(&(any::<bool>(), changes, asks), |(packed, changes, asks)| {
            let order = if packed { NodeOrder::BinPacking } else { NodeOrder::Fair };
            let sort = NodeSortConfig { order, weights: Vec::new() };
            let mut cluster = Cluster::new(&sort);
            play(&mut cluster, &changes, &asks, &mut counts.borrow_mut());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    for (what, count) in counts.into_inner() {
        assert!(count > 0, "{what}: never");
    }
}

#[test]
fn a_cluster_that_fills_up_and_empties_keeps_its_blocks_in_order() {
    let mut cluster = Cluster::new(&NodeSortConfig::default());
    for number in 0..NAMES {
        cluster.join(number, 6);
        cluster.check();
    }
    assert!(cluster.index.blocks.len() > 6, "{} blocks", cluster.index.blocks.len());
    for number in 0..NAMES {
        cluster.change(Change::Leave(number));
        cluster.check();
    }
    assert!(cluster.index.blocks.is_empty());
}
