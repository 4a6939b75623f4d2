//! Random clusters with an ask that is old enough to have others stopped.

use headroom_core::config::{
    Configuration, PartitionConfig, QueueConfig, QueuePreemptionConfig, UserFactor,
    UserLimitsConfig, WithinQueue,
};
use headroom_core::id::AllocationId;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::userlimit::{Decimal, Formula};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Timestamp};

/// A generator of numbers that anybody can repeat: xorshift64*.
///
/// Source: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
/// 2016.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    /// Whether one of `in_all` cases has come.
    pub(crate) fn once_in(&mut self, in_all: u64) -> bool {
        self.below(in_all) == 0
    }
}

/// Everything of a situation: who asks, and whether queues have room for it.
#[derive(Debug)]
pub(crate) struct Situation {
    pub(crate) world: World,
    pub(crate) ask: AllocationId,
    pub(crate) nodes_tried: bool,
}

const TYPES: [&str; 3] = ["c", "m", "g"];

pub(crate) fn some_amounts(chance: &mut Chance, most: u64) -> headroom_core::resource::Amounts {
    let mut all = amounts([]);
    for one in TYPES {
        if one == TYPES[0] || chance.once_in(3) {
            let amount = i64::try_from(chance.below(most)).unwrap();
            all.set(one, headroom_core::resource::Quantity::of(amount));
        }
    }
    all
}

fn set(queue: &mut QueueConfig, key: &str, value: &str) {
    queue.properties.insert(Name::new(key), Name::new(value));
}

/// What a queue may have set.
fn furnish(chance: &mut Chance, queue: &mut QueueConfig) {
    if chance.below(3) > 0 {
        queue.guaranteed = some_amounts(chance, 9);
    }
    if chance.once_in(6) {
        queue.max = some_amounts(chance, 16);
    }
    // What is drawn after it stays as it was.
    if chance.clone().once_in(3) {
        queue.preemption.within_queue = Some(WithinQueue::Priority);
    }
    match chance.below(30) {
        0 => set(queue, "preemption.policy", "fence"),
        1 => set(queue, "preemption.policy", "disabled"),
        2 => set(queue, "priority.policy", "fence"),
        3 => set(queue, "priority.offset", "2"),
        4 => set(queue, "priority.offset", "-1"),
        _ => {}
    }
}

/// Under which law, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No queue falls below its guarantee.
    Strict,
    /// Victims as the reference takes them.
    Newest,
    /// The first, and users share most leaves.
    Shared,
}

/// Have the users of most leaves share them, and queues say what they like of preemption.
fn have_users_share(chance: &mut Chance, partition: &mut PartitionConfig) {
    let tops = partition.root.children.iter_mut();
    for queue in tops.flat_map(|top| {
        if top.children.is_empty() { vec![top] } else { top.children.iter_mut().collect() }
    }) {
        if chance.below(4) > 0 {
            let decimal = |number: u64| Decimal::whole(u32::try_from(number).unwrap());
            let formulas = [Formula::Yarn27, Formula::Yarn3, Formula::Smooth, Formula::Smooth];
            let step = chance.once_in(3).then(|| amounts([("c", 1), ("m", 1)]));
            queue.user_limits = Some(UserLimitsConfig {
                formula: Some(formulas[usize::try_from(chance.below(4)).unwrap()]),
                floor: Some(decimal(chance.below(40))),
                factor: Some(UserFactor::Times(decimal(1 + chance.below(3)))),
                weights: vec![(Name::new("bob"), decimal(chance.below(3)))],
                minimum_allocation: step,
                ..UserLimitsConfig::default()
            });
        }
        queue.preemption = QueuePreemptionConfig {
            within_queue: queue.preemption.within_queue,
            disabled: chance.once_in(12).then_some(true),
            intra_queue_disabled: chance.once_in(12).then_some(true),
            balance: chance.once_in(3).then_some(!chance.once_in(2)),
            min_runtime: None,
        };
    }
}

pub(crate) fn tree(chance: &mut Chance, kind: Kind) -> Configuration {
    let mut tops = Vec::new();
    // Users meet in few leaves.
    let tops_max = if kind == Kind::Shared { 2 } else { 3 };
    for top in ["a", "ab", "b"].into_iter().take(tops_max) {
        let mut children = Vec::new();
        for name in ["x", "xy"].into_iter().take(usize::try_from(chance.below(3)).unwrap()) {
            let mut child = leaf(name);
            furnish(chance, &mut child);
            children.push(child);
        }
        let mut queue = if children.is_empty() { leaf(top) } else { parent(top, children) };
        furnish(chance, &mut queue);
        tops.push(queue);
    }
    let mut configuration = partition(parent("root", tops));
    let preemption = &mut configuration.partitions[0].preemption;
    preemption.strict_guarantee = kind != Kind::Newest;
    if kind == Kind::Shared {
        preemption.intra_queue_enabled = !chance.once_in(8);
        preemption.balance = chance.once_in(3);
        have_users_share(chance, &mut configuration.partitions[0]);
    }
    configuration
}

pub(crate) fn leaves(configuration: &Configuration) -> Vec<String> {
    let tops = &configuration.partitions[0].root.children;
    let mut paths = Vec::new();
    for top in tops {
        let below = top.children.iter().map(|child| format!("root.{}.{}", top.name, child.name));
        paths.extend(below);
        if top.children.is_empty() {
            paths.push(format!("root.{}", top.name));
        }
    }
    paths
}

impl Situation {
    /// The situation of a seed; none if it is none.
    pub(crate) fn of(seed: u64, kind: Kind) -> Option<Self> {
        let mut chance = Chance::of(seed);
        let configuration = tree(&mut chance, kind);
        let paths = leaves(&configuration);
        let mut world = World::default();
        world.command(&Command::Configure(Box::new(configuration))).ok()?;
        let partition = Name::new("default");
        let more = if kind == Kind::Shared { 12 } else { 0 };
        let nodes = 1 + chance.below(3);
        for number in 0..nodes {
            let size = |chance: &mut Chance| i64::try_from(3 + more / 3 + chance.below(6)).unwrap();
            let capacity = amounts([
                ("c", size(&mut chance)),
                ("m", size(&mut chance)),
                ("g", size(&mut chance)),
            ]);
            let (node, schedulable) = (Name::from(format!("n{number}")), !chance.once_in(12));
            let add = AddNode {
                partition: partition.clone(),
                node,
                capacity,
                schedulable,
                ..AddNode::default()
            };
            world.command(&Command::AddNode(add)).ok()?;
        }
        let two = kind == Kind::Shared || seed % 2 == 1;
        let users: &[&str] = if two { &["ann", "bob"] } else { &["ann"] };
        for (path, user) in
            paths.iter().flat_map(|path| users.iter().map(move |user| (path, *user)))
        {
            let submit = Submit {
                partition: partition.clone(),
                application: application_of(path, user),
                queue: Name::from(path.clone()),
                user: Name::new(user),
                ..Submit::default()
            };
            world.command(&Command::Submit(submit)).ok()?;
        }
        // What is drawn of gangs leaves the rest as it was.
        let mut gangs = Chance::of(seed ^ 0x6A46);
        let has_gangs = gangs.below(3) > 0;
        for path in paths.iter().filter(|_| has_gangs) {
            let submit = Submit {
                partition: partition.clone(),
                application: gang_of(path),
                queue: Name::from(path.clone()),
                user: Name::new("ann"),
                ..Submit::default()
            };
            world.command(&Command::Submit(submit)).ok()?;
        }
        for number in 0..4 + more + chance.below(8) {
            let user = users[usize::try_from(chance_of(&mut chance, users.len())).unwrap()];
            let mut ask = running(&mut chance, number, (&paths, user), nodes);
            if has_gangs && user == "ann" && !gangs.once_in(3) {
                ask.application = Name::from(format!("{}-gang", ask.application));
                join_gang(&mut gangs, &mut ask);
            }
            let full = |world: &World| {
                world.books.nodes().iter().any(|(_, node)| node.available.has_negative())
            };
            let before = (world.books.clone(), world.scheduler);
            world.scheduler = headroom_core::Scheduler::new(&before.0);
            // A size of nothing is refused; a node too full is undone.
            let done = world.command(&Command::Ask(ask)).is_ok() && !full(&world);
            if !done {
                (world.books, world.scheduler) = before;
            }
        }
        world.now = Timestamp::from_millis(100_000);
        let user = users[usize::try_from(chance_of(&mut chance, users.len())).unwrap()];
        let ask = asked(&mut chance, (&paths, user), &partition);
        world.command(&Command::Ask(ask)).ok()?;
        let ask = *world.books.partitions().values().next()?.allocations.get("ask")?;
        let leaf = world.books.application(world.books.allocation(ask).application).queue;
        let size = world.books.resources_of(ask);
        let nodes_tried = world.books.headroom(leaf).is_none_or(|left| left.allows(size));
        Some(Self { world, ask, nodes_tried })
    }
}

/// The application of a user in a queue; that of Ann is named like the queue.
pub(crate) fn application_of(path: &str, user: &str) -> Name {
    if user == "ann" { Name::from(path.to_owned()) } else { Name::from(format!("{path}-{user}")) }
}

/// The gang in a queue.
fn gang_of(path: &str) -> Name {
    Name::from(format!("{}-gang", application_of(path, "ann")))
}

/// Have an allocation be what the gang needs, or what it can do without.
fn join_gang(chance: &mut Chance, ask: &mut Ask) {
    match chance.below(4) {
        0 => {}
        1 => ask.task_group = Name::new("g"),
        part => {
            ask.placeholder = true;
            ask.task_group = Name::new(["g", "h"][usize::try_from(part - 2).unwrap()]);
        }
    }
}

/// One of so many; nothing is drawn where there is one only.
fn chance_of(chance: &mut Chance, count: usize) -> u64 {
    if count == 1 { 0 } else { chance.below(count as u64) }
}

fn running(chance: &mut Chance, number: u64, (paths, user): (&[String], &str), nodes: u64) -> Ask {
    let path = &paths[usize::try_from(chance.below(paths.len() as u64)).unwrap()];
    Ask {
        partition: Name::new("default"),
        application: application_of(path, user),
        key: Name::from(format!("v{number}")),
        resources: some_amounts(chance, 4),
        node: Some(Name::from(format!("n{}", chance.below(nodes)))),
        priority: i32::try_from(chance.below(8) / 3).unwrap(),
        created: Some(Timestamp::from_millis(chance.below(8) * 1_000)),
        originator: chance.once_in(6),
        preemptable: chance.below(4) > 0,
        required_node: if chance.once_in(15) { Name::new("n0") } else { Name::default() },
        ..Ask::default()
    }
}

fn asked(chance: &mut Chance, (paths, user): (&[String], &str), partition: &Name) -> Ask {
    let path = &paths[usize::try_from(chance.below(paths.len() as u64)).unwrap()];
    Ask {
        partition: partition.clone(),
        application: application_of(path, user),
        key: Name::new("ask"),
        resources: some_amounts(chance, 6),
        priority: 1 + i32::try_from(chance.below(2)).unwrap(),
        created: Some(Timestamp::ZERO),
        may_preempt: true,
        ..Ask::default()
    }
}
