//! What a plan announces is what taking the file into force does. Decision page 34.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use headroom_core::books::Books;
use headroom_core::config::{Configuration, LimitConfig, QueueConfig, RuleConfig};
use headroom_core::plan::{
    AskChange, AskInPlan, ExcessAmount, For, Plan, QueueUsage, Reach, Value, plan,
};

use headroom_core::resource::{Amounts, Quantity};
use headroom_core::testkit::{
    Counts, World, amounts, history, leaf, parent, partition, play, tree,
};
use headroom_core::{
    AddNode, AllocationEvent, Ask, AskEvent, Command, Event, Millis, Name, Rejection, Submit,
    Timestamp,
};
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many random states and files: `HEADROOM_PLANS`, or enough for every day.
fn plans() -> u32 {
    std::env::var("HEADROOM_PLANS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// What must have been announced at least once, or the random states do not test it.
const REACHED: &[&str] = &[
    "refused",
    "nothing",
    "differences",
    "starts",
    "held",
    "waits otherwise",
    "impossible",
    "released",
    "placed otherwise",
    "evictions",
    "excesses",
];

#[test]
fn a_plan_announces_exactly_what_follows_at_once() {
    let counts = RefCell::new(BTreeMap::<&str, usize>::new());
    let config = Config { cases: plans(), failure_persistence: None, ..Config::default() };
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut runner = TestRunner::new_with_rng(config, chance);
    let strategy = (tree(), history(120), tree(), any::<u8>());
    let result = runner.run(&strategy, |(tree, ops, other, die)| {
        let played = play(&tree, &ops, &mut Counts::new());
        // Somewhere in the second half; behind the last deed all is given back.
        let half = ops.len() / 2 + 1;
        let commands = &played.commands[..half + half * usize::from(die) / 512];
        let mut world = again(commands, die);
        if die % 4 == 1 {
            fill(&mut world);
        }
        let file = if die % 3 == 0 { other } else { edited(tree, die, &world.books) };
        compare(&mut world, &file, &mut counts.borrow_mut());
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    let counts = counts.into_inner();
    for (what, count) in &counts {
        println!("{count:>7} {what}");
    }
    for what in REACHED {
        assert!(counts.contains_key(what), "{what} never happened in {} plans", plans());
    }
}

/// The same commands once more, time passing between them; now and then the scheduler does not come to
/// rest, and behind the last ones often not at all, so that something would start whatever the file says.
fn again(commands: &[Command], die: u8) -> World {
    let mut world = World { now: Timestamp::from_millis(1_000_000), ..World::default() };
    for (position, command) in commands.iter().enumerate() {
        world.now = world.now + Millis::from_secs(u64::from(die % 7));
        drop(world.command(command)); // A refusal changes nothing.
        let is_last = position + usize::from(die % 8) >= commands.len();
        if position % 4 != 0 && !is_last {
            world.settle();
        }
    }
    world
}

/// Adds capacity, and a user who uses it up to the limits of the queue file.
fn fill(world: &mut World) {
    let partition = Name::new("default");
    let node = AddNode {
        partition: partition.clone(),
        node: Name::new("large"),
        capacity: amounts([("vcore", 100), ("memory", 100)]),
        schedulable: true,
        ..AddNode::default()
    };
    let queues = ["root.a.x", "root.a.y", "root.b", "root.c.d.e"];
    let submits = queues.map(|queue| Submit {
        partition: partition.clone(),
        application: Name::from(format!("late {queue}")),
        queue: Name::new(queue),
        user: Name::new("zoe"),
        ..Submit::default()
    });
    let asks = submits.iter().flat_map(|submit| {
        ["k1", "k2", "k3"].map(|key| Ask {
            partition: partition.clone(),
            application: submit.application.clone(),
            key: Name::from(format!("{} {key}", submit.application)),
            resources: amounts([("vcore", 1)]),
            preemptable: true,
            ..Ask::default()
        })
    });
    let asks: Vec<Command> = asks.map(Command::Ask).collect();
    let (node, submits) = ([Command::AddNode(node)], submits.map(Command::Submit));
    for command in node.into_iter().chain(submits).chain(asks) {
        drop(world.command(&command)); // A queue may be full, closed, or no leaf.
    }
    world.settle();
}

/// The same file, but for one queue: its maximum is lower or higher, or half of what it uses with a clock for
/// what is above; or with a partition less.
fn edited(mut file: Configuration, die: u8, books: &Books) -> Configuration {
    if die.is_multiple_of(13) {
        file.partitions.truncate(1);
    }
    let default = &mut file.partitions[0];
    if die % 2 == 1
        && let Some((queue, used)) = in_use(&mut default.root, "root", books)
    {
        let half = used.iter().map(|(name, one)| (name.clone(), Quantity::of(one.get() / 2)));
        queue.max = half.filter(|(_, half)| *half > Quantity::ZERO).collect();
        queue.properties.insert(Name::new("quota.preemption.delay"), Name::new("1s"));
        default.preemption.quota_enabled = true;
        default.preemption.observe_only = false;
        return file;
    }
    let queue = &mut default.root.children[usize::from(die / 3) % 3];
    queue.max =
        queue.max.iter().map(|(name, one)| (name.clone(), one.times(i64::from(die % 4)))).collect();
    queue.max_applications *= u64::from(die % 2);
    if die.is_multiple_of(5) {
        default.root.limits.clear();
    }
    file
}

/// The first leaf of the first partition that uses more than one of something, and what it uses.
fn in_use<'file>(
    queue: &'file mut QueueConfig,
    path: &str,
    books: &Books,
) -> Option<(&'file mut QueueConfig, Amounts)> {
    if queue.children.is_empty() {
        let leaf = books.queue_at(books.partition_named("default")?, path)?;
        let used = books.types().amounts(&books.queue(leaf).allocated);
        let much = used.iter().any(|(_, amount)| amount.get() > 1);
        return much.then_some((queue, used));
    }
    queue.children.iter_mut().find_map(|child| {
        let path = format!("{path}.{}", child.name);
        in_use(child, &path, books)
    })
}

fn compare(world: &mut World, file: &Configuration, counts: &mut BTreeMap<&'static str, usize>) {
    let before = world.books.clone();
    let reach = Reach { listed: 3, ..Reach::default() };
    let planned = plan(&world.books, world.now, file, reach);
    assert_eq!(world.books, before, "a plan changes nothing");
    let command = Command::Configure(Box::new(file.clone()));
    let done = world.command(&command);
    let planned = match (planned, done) {
        (Ok(planned), Ok(events)) => {
            assert_eq!(planned.commanded, events, "what the file does");
            planned
        }
        (planned, done) => {
            *counts.entry("refused").or_default() += 1;
            return assert_eq!(planned.err(), done.err(), "both refuse");
        }
    };
    assert!(planned.at_rest, "random clusters come to rest");
    assert_eq!(planned.steps, world.settle(), "what the scheduler does then");
    for usage in &planned.settled.queues {
        check_usage(&world.books, usage);
    }
    for (what, count) in [
        ("nothing", usize::from(planned.is_empty())),
        ("differences", planned.differences.len()),
        ("starts", planned.effects.starts.total),
        ("held", planned.effects.held.total),
        ("waits otherwise", planned.effects.waits_otherwise.total),
        ("impossible", planned.effects.impossible.total),
        ("released", planned.effects.released.total),
        ("placed otherwise", planned.effects.placed_otherwise.total),
        ("evictions", planned.effects.evictions.total),
        ("reservations dropped", planned.effects.reservations_dropped.total),
        ("withdrawn", planned.effects.withdrawn.total),
        ("excesses", planned.excesses.len()),
    ] {
        if count > 0 {
            *counts.entry(what).or_default() += 1;
        }
    }
    let placed = |event: &&Event| {
        matches!(
            event,
            Event::Ask(AskEvent::Placed { .. })
                | Event::Allocation(AllocationEvent::SwapStarted { .. })
        )
    };
    let moved = planned.steps.iter().filter(placed).count();
    assert!(planned.effects.starts.total <= moved, "each start has a step");
    let once_more = plan(&world.books, world.now, file, reach).unwrap();
    assert_eq!(once_more.differences, [], "the file is in force");
}

/// Checks that the reported usage of a queue is the current one.
fn check_usage(books: &Books, usage: &QueueUsage) {
    let partition = books.partition_named(&usage.partition);
    let queue = partition.and_then(|partition| books.queue_at(partition, &usage.queue));
    let used = queue.map(|queue| books.types().amounts(&books.queue(queue).allocated));
    assert_eq!(used.unwrap_or_default(), usage.used[1], "{}", usage.queue);
}

/// A cluster of one node with 10 vcore, queues `a` and `b`, and what runs and waits in them: each line is
/// an application, `a ann 3 3 2` asking for three things in turn.
fn cluster(file: &Configuration, applications: &[(&str, &str, &[i64])]) -> World {
    let mut world = World { now: Timestamp::from_millis(1_000_000), ..World::default() };
    world.command(&Command::Configure(Box::new(file.clone()))).unwrap();
    let partition = Name::new("default");
    let node = AddNode {
        partition: partition.clone(),
        node: Name::new("n1"),
        capacity: amounts([("vcore", 10)]),
        schedulable: true,
        ..AddNode::default()
    };
    world.command(&Command::AddNode(node)).unwrap();
    for (number, (queue, user, asks)) in applications.iter().enumerate() {
        let application = Name::from(format!("app{number}"));
        let submit = Submit {
            partition: partition.clone(),
            application: application.clone(),
            queue: Name::from(format!("root.{queue}")),
            user: Name::new(user),
            ..Submit::default()
        };
        world.command(&Command::Submit(submit)).unwrap();
        for (position, vcore) in asks.iter().enumerate() {
            let ask = Ask {
                partition: partition.clone(),
                application: application.clone(),
                key: Name::from(format!("{application}-{position}")),
                resources: amounts([("vcore", *vcore)]),
                preemptable: true,
                ..Ask::default()
            };
            world.command(&Command::Ask(ask)).unwrap();
        }
        world.settle();
    }
    world
}

fn two(a: QueueConfig, b: QueueConfig) -> Configuration {
    partition(parent("root", vec![a, b]))
}

fn bounded(name: &str, vcore: i64) -> QueueConfig {
    QueueConfig { max: amounts([("vcore", vcore)]), ..leaf(name) }
}

fn check(world: &World, file: &Configuration, expected: &Expect) {
    let planned = plan(&world.books, world.now, file, Reach::default());
    expected.assert_eq(&planned.map_or_else(|refused| refused.to_string(), |plan| told(&plan)));
}

fn told(plan: &Plan) -> String {
    let mut text = String::new();
    for one in &plan.differences {
        let queue = one.queue.as_deref().unwrap_or("partition");
        let value = |value: &Option<Value>| value.as_ref().map_or("-".into(), Value::to_string);
        let (before, after) = (value(&one.before), value(&one.after));
        writeln!(text, "{queue} {}: {before} -> {after}", one.key).unwrap();
    }
    for one in &plan.excesses {
        let amount = match &one.of {
            ExcessAmount::Resource { resource, used, limit, excess } => {
                format!("{used} of {limit} {resource}, {excess} too much")
            }
            ExcessAmount::Applications { used, limit } => format!("{used} of {limit} applications"),
        };
        writeln!(text, "{:?} {} at {}: {amount}", one.holder, one.name, one.queue).unwrap();
    }
    let effects = &plan.effects;
    let ask = |ask: &AskInPlan| format!("{} {}", ask.key, ask.resources);
    let why =
        |why: &Option<(&str, Name)>| why.as_ref().map_or("none", |(code, _)| *code).to_owned();
    let changed =
        |one: &AskChange| format!("{}: {} -> {}", ask(&one.ask), why(&one.before), why(&one.after));
    let mut line = |what: &str, said: String| writeln!(text, "{what} {said}").unwrap();
    effects.starts.first.iter().for_each(|one| line("starts", ask(one)));
    effects.held.first.iter().for_each(|one| line("is held", changed(one)));
    effects.waits_otherwise.first.iter().for_each(|one| line("waits otherwise", changed(one)));
    effects.impossible.first.iter().for_each(|one| line("impossible", changed(one)));
    effects.withdrawn.first.iter().for_each(|one| line("withdrawn", ask(one)));
    effects.released.first.iter().for_each(|one| line("released", ask(one)));
    effects.reservations_dropped.first.iter().for_each(|one| line("not kept for", ask(one)));
    for one in &effects.placed_otherwise.first {
        let other = one.other.as_deref().unwrap_or("nowhere");
        line("placed", format!("{} {} -> {other}", one.application, one.queue));
    }
    for one in &effects.evictions.first {
        let cause = match &one.cause {
            For::Ask(other) => ask(other),
            For::Maximum(queue) => format!("the maximum of {queue}"),
        };
        let seconds = one.after.get() / 1_000;
        line("evicts", format!("{} for {cause} after {seconds} s", ask(&one.victim)));
    }
    for one in &plan.settled.queues {
        let [before, after] = &one.used;
        line("uses", format!("{}: {before} -> {after}, waits {}", one.queue, one.pending[1]));
    }
    for one in &plan.settled.users {
        line("user", format!("{}: {} -> {}", one.user, one.used[0], one.used[1]));
    }
    let [before, after] = plan.settled.evenness;
    line("evenness", format!("{before:?} -> {after:?}"));
    text
}

#[test]
fn a_raised_maximum_lets_asks_start() {
    let file = two(bounded("a", 4), leaf("b"));
    let world = cluster(&file, &[("a", "ann", &[3, 3]), ("b", "bob", &[2])]);
    check(
        &world,
        &two(bounded("a", 7), leaf("b")),
        &expect![[r#"
            root.a resources.max.vcore: 4m -> 7m
            starts app0-1 {vcore: 3 m}
            uses root: {vcore: 5 m} -> {vcore: 8 m}, waits {}
            uses root.a: {vcore: 3 m} -> {vcore: 6 m}, waits {}
            user ann: {vcore: 3 m} -> {vcore: 6 m}
            evenness Some(961) -> Some(800)
        "#]],
    );
}

#[test]
fn a_lowered_maximum_names_who_is_above_it_and_what_becomes_impossible() {
    let file = two(bounded("a", 8), leaf("b"));
    let world = cluster(&file, &[("a", "ann", &[5, 6]), ("b", "bob", &[2])]);
    check(
        &world,
        &two(bounded("a", 4), leaf("b")),
        &expect![[r#"
            root.a resources.max.vcore: 8m -> 4m
            Queue root.a at root.a: 5 of 4 vcore, 1 too much
            waits otherwise app0-1 {vcore: 6 m}: QUEUE_MAX -> IMPOSSIBLE
            impossible app0-1 {vcore: 6 m}: QUEUE_MAX -> IMPOSSIBLE
            uses root: {vcore: 7 m} -> {vcore: 7 m}, waits {vcore: 6 m}
            evenness Some(844) -> Some(844)
        "#]],
    );
}

#[test]
fn a_limit_of_a_user_is_told_with_what_he_uses() {
    let file = two(leaf("a"), leaf("b"));
    let world = cluster(&file, &[("a", "ann", &[5]), ("b", "ann", &[2])]);
    let mut limited = file.clone();
    limited.partitions[0].root.limits.push(LimitConfig {
        users: vec![Name::new("ann")],
        max_resources: amounts([("vcore", 6)]),
        max_applications: 1,
        ..LimitConfig::default()
    });
    check(
        &world,
        &limited,
        &expect![[r#"
            root limits[users: ann].maxapplications: - -> 1
            root limits[users: ann].maxresources.vcore: - -> 6m
            User ann at root: 7 of 6 vcore, 1 too much
            User ann at root: 2 of 1 applications
            uses root: {vcore: 7 m} -> {vcore: 7 m}, waits {}
            evenness Some(1000) -> Some(1000)
        "#]],
    );
}

#[test]
fn what_is_above_a_maximum_is_asked_to_stop_when_its_time_is_over() {
    let clock = |vcore| {
        let mut a = bounded("a", vcore);
        a.properties.insert(Name::new("quota.preemption.delay"), Name::new("60s"));
        let mut file = two(a, leaf("b"));
        file.partitions[0].preemption.quota_enabled = true;
        file
    };
    let world = cluster(&clock(8), &[("a", "ann", &[2, 2, 2])]);
    check(
        &world,
        &clock(4),
        &expect![[r#"
            root.a resources.max.vcore: 8m -> 4m
            Queue root.a at root.a: 6 of 4 vcore, 2 too much
            evicts app0-2 {vcore: 2 m} for the maximum of root.a after 60 s
            uses root: {vcore: 6 m} -> {vcore: 6 m}, waits {}
            evenness Some(1000) -> Some(1000)
        "#]],
    );
}

#[test]
fn applications_are_told_that_rules_would_send_elsewhere() {
    let file = two(leaf("a"), leaf("b"));
    let world = cluster(&file, &[("a", "ann", &[5]), ("b", "bob", &[1])]);
    let mut ruled = file.clone();
    let rule = RuleConfig { name: "fixed".into(), value: "root.b".into(), ..RuleConfig::default() };
    ruled.partitions[0].placement_rules.push(rule);
    check(
        &world,
        &ruled,
        &expect![[r#"
            partition placementrules.1: - -> {name: fixed, value: root.b}
            placed app0 root.a -> root.b
            uses root: {vcore: 6 m} -> {vcore: 6 m}, waits {}
            evenness Some(692) -> Some(692)
        "#]],
    );
}

#[test]
fn the_same_file_changes_nothing_and_another_order_of_queues_neither() {
    let file = two(bounded("a", 4), leaf("b"));
    let world = cluster(&file, &[("a", "ann", &[3, 3])]);
    for same in [&file, &two(leaf("b"), bounded("a", 4))] {
        let planned = plan(&world.books, world.now, same, Reach::default()).unwrap();
        assert!(planned.is_empty(), "{:?}", planned.differences);
    }
}

#[test]
fn what_starts_anyway_is_not_said_to_follow_from_the_file() {
    let file = two(bounded("a", 4), leaf("b"));
    let mut world = cluster(&file, &[]);
    let late = cluster(&file, &[("a", "ann", &[3])]);
    for (_, event) in &late.journal {
        // All but what the scheduler did.
        if !matches!(event, Event::Ask(AskEvent::Placed { .. }))
            && world.journal.iter().all(|(_, one)| one != event)
        {
            world.apply(event);
        }
    }
    let planned = plan(&world.books, world.now, &two(bounded("a", 5), leaf("b")), Reach::default());
    let planned = planned.unwrap();
    assert!(planned.steps.iter().any(|event| matches!(event, Event::Ask(AskEvent::Placed { .. }))));
    assert_eq!(planned.effects.starts.total, 0);
}

#[test]
fn a_refusal_is_that_of_the_command() {
    let world = cluster(&two(leaf("a"), leaf("b")), &[]);
    let twice = two(leaf("a"), leaf("a"));
    let refused = plan(&world.books, world.now, &twice, Reach::default()).unwrap_err();
    assert_eq!(refused, Rejection::DuplicateQueue { queue: Name::new("root.a") });
}

#[test]
fn steps_are_bounded_and_told_to_be() {
    let file = two(bounded("a", 1), leaf("b"));
    let world = cluster(&file, &[("a", "ann", &[1, 1, 1, 1])]);
    let reach = Reach { steps: 2, ..Reach::default() };
    let planned = plan(&world.books, world.now, &two(leaf("a"), leaf("b")), reach).unwrap();
    assert!(!planned.at_rest);
}
