//! Random histories: few names, so that duplicates, releases and removals hit live rows often.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::books::{ApplicationState, Books};
use crate::command::{AddNode, Ask, Command, Submit};
use crate::config::{Configuration, NodeOrder, QueueConfig};
use crate::event::{Event, Termination};
use crate::name::Name;
use crate::resource::Amounts;
use crate::schedule::Scheduler;
use crate::time::Millis;

use super::{World, amounts, leaf, limit, naive_next, parent, partition};

/// One thing that happens to a cluster, in small numbers.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A node joins.
    AddNode(u8, u8),
    /// A node changes its size.
    ResizeNode(u8, u8),
    /// A node is drained, or taken back.
    SetSchedulable(u8, bool),
    /// A node leaves.
    RemoveNode(u8),
    /// An application comes: number, queue, user.
    Submit(u8, u8, u8),
    /// An application asks: number, key, size, priority.
    Ask(u8, u8, u8, i8),
    /// An application gives one thing back.
    Release(u8, u8),
    /// An application gives everything back.
    ReleaseAll(u8),
    /// An application goes.
    Remove(u8),
    /// Time passes, in seconds.
    Wait(u8),
}

/// How often something happened, by name; a test asks that nothing stays at zero.
pub type Counts = BTreeMap<String, u64>;

/// Leaves of the random tree.
const LEAVES: [&str; 5] = ["root.a.x", "root.a.y", "root.b", "root.c.d.e", "root.nowhere"];
const USERS: [&str; 4] = ["ann", "bob", "cid", "dan"];

/// A history of up to `steps` steps.
pub fn history(steps: usize) -> impl Strategy<Value = Vec<Op>> {
    let node = 0_u8..5;
    let application = 0_u8..9;
    let op = prop_oneof![
        3 => (node.clone(), any::<u8>()).prop_map(|(node, size)| Op::AddNode(node, size)),
        1 => (node.clone(), any::<u8>()).prop_map(|(node, size)| Op::ResizeNode(node, size)),
        1 => (node.clone(), any::<bool>()).prop_map(|(node, on)| Op::SetSchedulable(node, on)),
        1 => node.prop_map(Op::RemoveNode),
        8 => (application.clone(), 0_u8..5, 0_u8..4).prop_map(|(a, q, u)| Op::Submit(a, q, u)),
        24 => (application.clone(), 0_u8..24, any::<u8>(), -1_i8..3)
            .prop_map(|(a, key, size, priority)| Op::Ask(a, key, size, priority)),
        9 => (application.clone(), 0_u8..24).prop_map(|(a, key)| Op::Release(a, key)),
        1 => application.clone().prop_map(Op::ReleaseAll),
        1 => application.prop_map(Op::Remove),
        3 => any::<u8>().prop_map(Op::Wait),
    ];
    prop::collection::vec(op, 1..steps)
}

/// A random queue tree with maxima, guarantees, limits and policies; its leaves are known.
pub fn tree() -> impl Strategy<Value = Configuration> {
    (prop::collection::vec(any::<u8>(), 24), any::<bool>()).prop_map(|(dice, packed)| {
        let mut dice = dice.into_iter().cycle();
        let mut queue = |queue: QueueConfig| furnish(queue, &mut dice);
        let (x, y, e) = (queue(leaf("x")), queue(leaf("y")), queue(leaf("e")));
        let d = queue(parent("d", alloc::vec![e]));
        let children = alloc::vec![
            queue(parent("a", alloc::vec![x, y])),
            queue(leaf("b")),
            queue(parent("c", alloc::vec![d])),
        ];
        let mut root = queue(parent("root", children));
        (root.max, root.guaranteed) = (Amounts::EMPTY, Amounts::EMPTY);
        let mut configuration = partition(root);
        if packed {
            configuration.partitions[0].node_sort.order = NodeOrder::BinPacking;
        }
        configuration
    })
}

fn furnish(mut queue: QueueConfig, dice: &mut impl Iterator<Item = u8>) -> QueueConfig {
    let mut die = || dice.next().unwrap_or_default();
    let bound = die();
    if bound % 3 == 0 {
        queue.max = amounts([("vcore", i64::from(bound % 12)), ("memory", i64::from(bound % 20))]);
    } else if bound % 7 == 1 {
        queue.max = amounts([("gpu", 0), ("vcore", 9)]);
    }
    if die() % 3 == 0 {
        queue.guaranteed = amounts([("vcore", i64::from(die() % 6))]);
    }
    if die() % 4 == 0 {
        queue.max_applications = u64::from(die() % 3 + 1);
    }
    let limits = die();
    if limits % 2 == 0 {
        let max = amounts([("vcore", i64::from(limits % 8) + 1)]);
        queue.limits.push(limit(&["ann"], &["dev"], max, u64::from(limits % 3)));
    }
    if limits % 5 < 2 {
        let max = amounts([("memory", i64::from(limits % 16) + 2)]);
        queue.limits.push(limit(&["*"], &["ops"], max, u64::from(limits % 4)));
    }
    if limits % 5 == 3 {
        let max = amounts([("vcore", 7)]);
        queue.limits.push(limit(&[], &["qa"], max.clone(), 2));
        queue.limits.push(limit(&[], &["*"], max, 1));
    }
    for (key, value, odds) in
        [("application.sort.policy", "fair", 3), ("application.sort.priority", "disabled", 4)]
    {
        if die() % odds == 0 {
            queue.properties.insert(Name::new(key), Name::new(value));
        }
    }
    queue
}

/// Play a history from nothing, check everything after every event, and count.
///
/// Checked: sums from scratch, no placement beyond any bound, the next step equal to a fresh
/// scheduler's and to the naive one's, replay equal to the live books, everything freed at
/// the end.
///
/// # Panics
/// When anything is wrong.
pub fn play(configuration: &Configuration, ops: &[Op], counts: &mut Counts) {
    let mut world = World::default();
    let configure = Command::Configure(alloc::boxed::Box::new(configuration.clone()));
    world.command(&configure).expect("random trees are legal");
    for op in ops {
        if let Op::Wait(seconds) = op {
            world.now = world.now + Millis::from_secs(u64::from(*seconds));
        }
        obey(&mut world, &command(*op), counts);
        settle(&mut world, counts);
    }
    assert_eq!(world.replayed(), world.books, "a replay must rebuild the live books");
    finish(&mut world, counts);
}

/// Remove everything; nothing may be left in any ledger.
fn finish(world: &mut World, counts: &mut Counts) {
    for number in 0..9 {
        obey(world, &command(Op::Remove(number)), counts);
    }
    for number in 0..5 {
        obey(world, &command(Op::RemoveNode(number)), counts);
    }
    assert_eq!((world.books.allocations().len(), world.books.shapes().iter().count()), (0, 0));
    for partition in world.books.partitions().values() {
        for (_, level) in partition.trackers.levels() {
            assert!(level.used.is_empty() && level.running == 0 && level.links() == 0);
        }
    }
}

fn obey(world: &mut World, command: &Command, counts: &mut Counts) {
    let before = world.books.clone();
    match crate::rules::decide(&world.books, world.now, command) {
        Err(rejection) => {
            assert_eq!(world.books, before, "a refusal changes nothing");
            *counts.entry(format!("refused {}", rejection.code())).or_default() += 1;
        }
        Ok(events) => {
            for event in &events {
                apply(world, event, counts);
            }
        }
    }
}

fn settle(world: &mut World, counts: &mut Counts) {
    loop {
        let mut events = Vec::new();
        let naive = naive_next(&world.books);
        let mut fresh = Vec::new();
        Scheduler::new(&world.books).next(&world.books, world.now, &mut fresh);
        world.scheduler.next(&world.books, world.now, &mut events);
        assert_eq!(events, fresh, "a fresh scheduler decides like the old one");
        assert_eq!(events, naive, "indexes decide like sorting and scanning");
        if events.is_empty() {
            break;
        }
        for event in &events {
            apply(world, event, counts);
        }
    }
    for (id, ask) in world.books.allocations().iter().filter(|(_, ask)| ask.is_pending()) {
        let partition = world.books.application(ask.application).partition;
        let root = world.books.partition(partition).root;
        let wait = world.scheduler.wait_of(&world.books, id);
        assert!(wait.is_some() || world.books.queue(root).max.is_none(), "every wait has a reason");
        if let Some(wait) = wait {
            let sentence = wait.sentence(&world.books, world.books.resources_of(id));
            assert!(!sentence.is_empty());
            *counts.entry(format!("waits {}", wait.blocker.code(&world.books))).or_default() += 1;
        }
    }
}

fn apply(world: &mut World, event: &Event, counts: &mut Counts) {
    let starts = match event {
        Event::ApplicationMoved { application, state: ApplicationState::Running, .. } => {
            (world.books.application(*application).state == ApplicationState::Accepted)
                .then_some(*application)
        }
        _ => None,
    };
    world.apply(event);
    let fail = |violation: crate::Violation| panic!("after {event:?}: {violation}");
    world.books.check().unwrap_or_else(fail);
    if let Event::Placed { ask, .. } = event {
        world.books.check_placed(*ask).unwrap_or_else(fail);
    }
    if let Some(application) = starts {
        world.books.check_started(application).unwrap_or_else(fail);
    }
    *counts.entry(name_of(&world.books, event)).or_default() += 1;
}

fn name_of(_books: &Books, event: &Event) -> String {
    let text = format!("{event:?}");
    let kind = text.split([' ', '{']).next().unwrap_or_default().to_string();
    match event {
        Event::Released { termination, .. } => format!("{kind} {termination:?}"),
        Event::ApplicationMoved { state, .. } => format!("{kind} {state}"),
        Event::ApplicationLinked { group, .. } => match group {
            None => format!("{kind} to no group"),
            Some(group) if *group == "*" => format!("{kind} to the others"),
            Some(_) => format!("{kind} to a named group"),
        },
        _ => kind,
    }
}

fn command(op: Op) -> Command {
    let partition = Name::new("default");
    let node = |number| Name::from(format!("n{number}"));
    let application = |number| Name::from(format!("app{number}"));
    match op {
        Op::AddNode(number, size) => Command::AddNode(AddNode {
            partition,
            node: node(number),
            capacity: capacity(size),
            schedulable: size % 9 != 0,
        }),
        Op::ResizeNode(number, size) => {
            Command::ResizeNode { partition, node: node(number), capacity: capacity(size) }
        }
        Op::SetSchedulable(number, schedulable) => {
            Command::SetSchedulable { partition, node: node(number), schedulable }
        }
        Op::RemoveNode(number) => Command::RemoveNode { partition, node: node(number) },
        Op::Submit(number, queue, user) => Command::Submit(Submit {
            partition,
            application: application(number),
            queue: Name::new(LEAVES[usize::from(queue)]),
            user: Name::new(USERS[usize::from(user)]),
            groups: groups_of(user),
        }),
        Op::Ask(number, key, size, priority) => Command::Ask(Ask {
            partition,
            application: application(number),
            key: Name::from(format!("k{key}")),
            resources: wanted(size),
            priority: i32::from(priority),
            created: None,
        }),
        Op::Release(number, key) => Command::Release {
            partition,
            application: application(number),
            key: Some(Name::from(format!("k{key}"))),
            termination: Termination::StoppedByRm,
        },
        Op::ReleaseAll(number) => Command::Release {
            partition,
            application: application(number),
            key: None,
            termination: Termination::StoppedByRm,
        },
        Op::Remove(number) => {
            Command::RemoveApplication { partition, application: application(number) }
        }
        Op::Wait(_) => Command::Tick,
    }
}

fn groups_of(user: u8) -> Vec<Name> {
    let groups: &[&str] = match user {
        0 => &["dev", "ops"],
        1 => &["ops"],
        2 => &["elsewhere"],
        _ => &[],
    };
    groups.iter().map(Name::new).collect()
}

fn capacity(size: u8) -> Amounts {
    let (vcore, memory) = (i64::from(size % 8), i64::from(size / 16));
    match size % 5 {
        0 => amounts([("vcore", vcore), ("memory", memory), ("gpu", 2)]),
        _ => amounts([("vcore", vcore), ("memory", memory)]),
    }
}

fn wanted(size: u8) -> Amounts {
    let (vcore, memory) = (i64::from(size % 4), i64::from(size / 64));
    match size % 11 {
        0 => amounts([("gpu", 1), ("vcore", vcore)]),
        1 => amounts([("fpga", 1)]),
        2 => amounts([("vcore", vcore)]),
        3 => amounts([("memory", i64::MAX - 1), ("vcore", -i64::from(size == 3))]),
        _ => amounts([("vcore", vcore), ("memory", memory)]),
    }
}
