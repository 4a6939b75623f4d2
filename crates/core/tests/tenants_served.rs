//! When each tenant is served: one release after another, one tenant next to another, and all of them at some time.
//! Measured by counts of decisions, not by the clock. Source: tenants §2.4, §2.7, §8.

use headroom_core::books::{TaskRequest, TaskState};
use headroom_core::config::tenant::{WaitingPolicy, WaitingStrategy};
use headroom_core::config::{TenantSettings, TenantsConfig};
use headroom_core::testkit::{World, amounts, parent, partition};
use headroom_core::{
    AddNode, AllocationEvent, ApplicationEvent, Ask, AskEvent, Command, Event, Millis, Name,
    SetTenant, Step, Submit, SubmitTask, TaskChange, TaskEvent, Timestamp,
};

/// A cluster with tenants, and one node of so many cores.
fn cluster(cores: i64) -> World {
    let mut root = partition(parent("root", vec![parent("tenants", Vec::new())]));
    root.partitions[0].tenants = Some(TenantsConfig::default());
    let mut world = World { now: Timestamp::from_millis(1_000_000), ..World::default() };
    world.command(&Command::Configure(Box::new(root))).expect("it is taken");
    let node = AddNode {
        partition: Name::new("default"),
        node: Name::new("n1"),
        capacity: amounts([("vcore", cores * 1_000)]),
        schedulable: true,
        ..AddNode::default()
    };
    world.command(&Command::AddNode(node)).expect("it is taken");
    world
}

/// A tenant that may have so many cores.
fn tenant(world: &mut World, name: &str, cores: i64, said: TenantSettings) {
    let quota = Some(amounts([("vcore", cores * 1_000)]));
    let set = SetTenant {
        partition: Name::new("default"),
        tenant: Name::new(name),
        settings: TenantSettings { quota, ..said },
        ..SetTenant::default()
    };
    world.command(&Command::SetTenant(Box::new(set))).expect("it is taken");
}

fn by(strategy: WaitingStrategy) -> TenantSettings {
    let waiting = Some(WaitingPolicy { strategy, ..WaitingPolicy::default() });
    TenantSettings { waiting, ..TenantSettings::default() }
}

/// A task that asks for so many thousandths of a core.
fn submit(world: &mut World, tenant: &str, task: &str, vcore: i64, priority: i32) {
    let (partition, application) = (Name::new("default"), Name::new(task));
    let ask = Ask {
        partition: partition.clone(),
        application: application.clone(),
        key: application.clone(),
        resources: amounts([("vcore", vcore)]),
        priority,
        ..Ask::default()
    };
    let submit = Submit {
        partition,
        application,
        tenant: Name::new(tenant),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let command = SubmitTask { submit, ask, ..SubmitTask::default() };
    world.command(&Command::SubmitTask(Box::new(command))).expect("it is taken");
}

fn change(world: &mut World, task: &str, change: TaskChange) -> Result<Vec<Event>, &'static str> {
    let (partition, task) = (Name::new("default"), Name::new(task));
    let command = Command::ChangeTask { partition, task, change };
    world.command(&command).map_err(|refusal| refusal.code().as_str())
}

fn end(world: &mut World, task: &str) -> Result<Vec<Event>, &'static str> {
    change(world, task, TaskChange::End { succeeded: true, request: TaskRequest::default() })
}

fn state(world: &World, task: &str) -> Option<TaskState> {
    let partition = world.books.partition_named(&Name::new("default"))?;
    world.books.task_state(world.books.task_named(partition, &Name::new(task))?)
}

/// What a tenant uses, in thousandths of a core.
fn used(world: &World, tenant: &str) -> i64 {
    let path = format!("root.tenants.{tenant}");
    let mut queues = world.books.queues().iter();
    let (_, queue) = queues.find(|(_, queue)| *queue.path == *path).expect("it has a queue");
    let vcore = world.books.types().find("vcore").expect("a quota names it");
    queue.allocated.get_or_zero(vcore).get()
}

/// Let the scheduler take one step; the tasks that it starts.
fn step(world: &mut World) -> Option<Vec<String>> {
    let mut events = Vec::new();
    let moved = world.scheduler.next(&world.books, world.now, &mut events) == Step::Moved;
    let placed = |world: &World, event: &Event| match event {
        Event::Ask(AskEvent::Placed { ask, .. }) => {
            Some(world.books.allocation(*ask).key.to_string())
        }
        _ => None,
    };
    let started = events.iter().filter_map(|event| placed(world, event)).collect();
    for event in &events {
        world.apply(event);
    }
    moved.then_some(started)
}

/// Let it move until it is idle; the tasks that start, in order, and how many steps it took.
fn settle(world: &mut World) -> (Vec<String>, usize) {
    let (mut started, mut steps) = (Vec::new(), 0);
    while let Some(more) = step(world) {
        started.extend(more);
        steps += 1;
    }
    (started, steps)
}

#[test]
#[doc(alias = "TS-26")]
#[doc(alias = "TR-60")]
#[doc(alias = "TR-61")]
fn how_many_of_another_tenant_wait_makes_no_difference() {
    let steps_with = |waiting: u32| {
        let mut world = cluster(1_000);
        tenant(&mut world, "a", 1, TenantSettings::default());
        tenant(&mut world, "b", 40, TenantSettings::default());
        for number in 0..=waiting {
            submit(&mut world, "a", &format!("a{number}"), 1_000, 0);
        }
        settle(&mut world);
        let mut steps = Vec::new();
        for number in 0..100 {
            let name = format!("b{number}");
            submit(&mut world, "b", &name, 100, 0);
            let mut taken = 1;
            while step(&mut world).unwrap() != [name.clone()] {
                taken += 1;
            }
            steps.push(taken);
        }
        assert_eq!(settle(&mut world).0, Vec::<String>::new());
        let waits = |number: u32| state(&world, &format!("a{number}")) == Some(TaskState::Waiting);
        assert!((1..=waiting).all(waits), "the list of the other is as it was");
        steps
    };
    let (few, many) = (steps_with(10), steps_with(10_000));
    assert_eq!(few, many, "steps until each of B starts");
    // One step finds the group of its user, and the next starts it.
    assert!(many.iter().all(|steps| *steps == 2), "{many:?}");
}

/// How many classes are judged until a task of a tenant starts.
fn judged_until(world: &mut World, task: &str) -> u64 {
    let before = world.scheduler.judged();
    while state(world, task) == Some(TaskState::Waiting) {
        assert!(step(world).is_some(), "{task} waits for ever");
    }
    world.scheduler.judged() - before
}

#[test]
#[doc(alias = "TR-63")]
fn what_a_pass_looks_at_of_one_tenant_is_bounded_by_what_it_could_start() {
    use WaitingStrategy::{Fifo, FifoBackfill, Priority, Urgency};
    // So many of `a` wait, of one size or each of its own, for what `large` uses.
    let crowded = |waiting: u32, alike: bool, order: WaitingStrategy| {
        let mut world = cluster(1_000);
        tenant(&mut world, "a", 100, by(order));
        tenant(&mut world, "b", 100, by(order));
        submit(&mut world, "b", "b0", 80_000, 0);
        submit(&mut world, "a", "large", 100_000, 0);
        for number in 0..waiting {
            let size = if alike { 50_000 } else { 50_000 + i64::from(number) };
            submit(&mut world, "a", &format!("a{number}"), size, 0);
        }
        settle(&mut world);
        world
    };
    for order in [Fifo, FifoBackfill, Priority, Urgency] {
        for alike in [true, false] {
            let looked = [10_u32, 2_000].map(|waiting| {
                let mut world = crowded(waiting, alike, order);
                // An ask of another tenant is checked by itself.
                submit(&mut world, "b", "b1", 1_000, 0);
                let of_other = judged_until(&mut world, "b1");
                end(&mut world, "large").expect("it runs");
                submit(&mut world, "b", "b2", 1_000, 0);
                let of_release = judged_until(&mut world, "a0");
                let of_next = judged_until(&mut world, "b2");
                let before = world.scheduler.judged();
                settle(&mut world);
                // Each size that might have been started was looked at once more, and no more.
                let sizes = if alike { 1 } else { waiting };
                let others = world.scheduler.judged() - before;
                assert!(others <= u64::from(sizes) + 1, "{order:?} {waiting}: {others}");
                (of_other, of_release, of_next)
            });
            println!("{order:?} alike {alike}: {looked:?}");
        }
    }
}

#[test]
#[doc(alias = "TS-27")]
#[doc(alias = "TR-31")]
#[doc(alias = "TR-34")]
fn a_release_of_each_of_a_thousand_tenants_starts_one_of_each() {
    let mut world = cluster(2_000);
    for number in 0..1_000 {
        let name = format!("t{number}");
        tenant(&mut world, &name, 1, TenantSettings::default());
        for task in 0..=10 {
            submit(&mut world, &name, &format!("{name}-{task}"), 1_000, 0);
        }
    }
    let (started, _) = settle(&mut world);
    assert_eq!(started.len(), 1_000);
    for number in 0..1_000 {
        end(&mut world, &format!("t{number}-0")).unwrap();
    }
    let (mut started, mut steps) = (Vec::new(), 0);
    while let Some(more) = step(&mut world) {
        assert!(more.len() <= 1);
        started.extend(more);
        steps += 1;
    }
    started.sort();
    let mut expected: Vec<String> = (0..1_000).map(|number| format!("t{number}-1")).collect();
    expected.sort();
    assert_eq!(started, expected);
    // One start and one word to the one that is the next to wait, at most.
    assert!(steps <= 2_000, "{steps} steps for 1,000 releases");
}

#[test]
#[doc(alias = "TR-21")]
#[doc(alias = "TR-30")]
#[doc(alias = "TR-32")]
#[doc(alias = "TR-33")]
fn one_release_starts_all_that_fit_in_their_order() {
    let mut world = cluster(100);
    tenant(&mut world, "a", 10, TenantSettings::default());
    submit(&mut world, "a", "large", 10_000, 0);
    for (name, vcore) in [("w1", 3_000), ("w2", 3_000), ("w3", 3_000), ("w4", 3_000)] {
        submit(&mut world, "a", name, vcore, 0);
    }
    settle(&mut world);
    let before = world.journal.len();
    end(&mut world, "large").unwrap();
    assert_eq!(settle(&mut world).0, ["w1", "w2", "w3"]);
    // No ask is reported as waiting between the release and the first start.
    let behind = world.journal[before..].iter();
    let at = |wanted: fn(&Event) -> bool| behind.clone().position(|(_, event)| wanted(event));
    let released =
        at(|event| matches!(event, Event::Allocation(AllocationEvent::Released { .. }))).unwrap();
    let placed = at(|event| matches!(event, Event::Ask(AskEvent::Placed { .. }))).unwrap();
    let between = world.journal[before + released + 1..before + placed].iter();
    let mut between = between.map(|(_, event)| event);
    assert!(between.all(|event| !matches!(
        event,
        Event::Task(TaskEvent::Throttled { .. })
            | Event::Application(ApplicationEvent::Overtaken { .. })
    )));
    assert_eq!(used(&world, "a"), 9_000);
}

/// Small tasks come without end, each as soon as another ends, and the large one of another time waits.
fn flood(strategy: WaitingStrategy) -> u32 {
    let mut world = cluster(1_000);
    tenant(&mut world, "a", 10, by(strategy));
    let mut running: std::collections::VecDeque<String> = std::collections::VecDeque::new();
    let mut number = 0;
    let mut small = |world: &mut World| {
        number += 1;
        // By priority the flood is more urgent than the large one, by urgency due sooner than it for an hour.
        submit(world, "a", &format!("small{number}"), 1_000, 3);
    };
    for _ in 0..12 {
        small(&mut world);
    }
    running.extend(settle(&mut world).0);
    submit(&mut world, "a", "large", 10_000, 0);
    for round in 0..20_000 {
        world.now = world.now + Millis::from_secs(1);
        world.command(&Command::Tick).expect("it is taken");
        // The oldest ends, and another comes at once.
        if let Some(oldest) = running.pop_front() {
            end(&mut world, &oldest).expect("it runs");
        }
        small(&mut world);
        let started = settle(&mut world).0;
        if started.iter().any(|one| one == "large") {
            return round;
        }
        running.extend(started);
        assert!(used(&world, "a") <= 10_000);
    }
    panic!("by {strategy:?} the large task never starts");
}

#[test]
#[doc(alias = "TR-25")]
fn a_large_task_starts_in_the_end_however_many_small_ones_come() {
    // In rounds of a second: 16 overtakes or 300 seconds, then ten small ones end.
    for (strategy, most) in [
        (WaitingStrategy::Fifo, 30),
        (WaitingStrategy::FifoBackfill, 60),
        (WaitingStrategy::Priority, 2_000),
        (WaitingStrategy::Urgency, 400),
    ] {
        let rounds = flood(strategy);
        assert!(rounds <= most, "by {strategy:?} it starts after {rounds} seconds");
    }
}

#[test]
#[doc(alias = "TR-62")]
fn between_tenants_the_share_decides_and_not_how_much_each_submits() {
    for (loud, quiet) in [(10, 10), (2_000, 10)] {
        let mut world = cluster(30);
        let share = |cores: i64| TenantSettings {
            guaranteed: amounts([("vcore", cores * 1_000)]),
            ..TenantSettings::default()
        };
        tenant(&mut world, "loud", 100, share(20));
        tenant(&mut world, "quiet", 100, share(10));
        submit(&mut world, "loud", "all", 30_000, 0);
        settle(&mut world);
        for number in 0..loud {
            submit(&mut world, "loud", &format!("loud{number}"), 1_000, 0);
        }
        for number in 0..quiet {
            submit(&mut world, "quiet", &format!("quiet{number}"), 1_000, 0);
        }
        settle(&mut world);
        end(&mut world, "all").unwrap();
        settle(&mut world);
        let expected = (i64::from(loud).min(20) * 1_000, i64::from(quiet) * 1_000);
        assert_eq!((used(&world, "loud"), used(&world, "quiet")), expected, "{loud} and {quiet}");
    }
}

#[test]
#[doc(alias = "TS-12")]
#[doc(alias = "TR-51")]
#[doc(alias = "TR-52")]
fn a_cancel_beside_a_start_and_an_end_told_thrice_charge_and_release_once() {
    let mut world = cluster(100);
    tenant(&mut world, "a", 10, TenantSettings::default());
    for number in 0..10_000_u32 {
        let name = format!("t{number}");
        submit(&mut world, "a", &name, 10_000, 0);
        let before = world.journal.len();
        // The cancel comes before the scheduler looks, or behind, or a confirmation is between.
        if !number.is_multiple_of(3) {
            settle(&mut world);
        }
        if number.is_multiple_of(2) {
            drop(change(&mut world, &name, TaskChange::Confirm));
        }
        change(&mut world, &name, TaskChange::Cancel).unwrap();
        settle(&mut world);
        let started = state(&world, &name) == Some(TaskState::Cancelling);
        assert_eq!(started, !number.is_multiple_of(3));
        assert_eq!(used(&world, "a"), if started { 10_000 } else { 0 });
        let ends: Vec<bool> = (0..3).map(|_| end(&mut world, &name).is_ok()).collect();
        assert_eq!(ends, [started, false, false]);
        settle(&mut world);
        let count = |wanted: fn(&Event) -> bool| {
            world.journal[before..].iter().filter(|(_, event)| wanted(event)).count()
        };
        let charged = count(|event| matches!(event, Event::Ask(AskEvent::Placed { .. })));
        let released =
            count(|event| matches!(event, Event::Allocation(AllocationEvent::Released { .. })));
        assert_eq!((charged, released), (usize::from(started), usize::from(started)));
        assert_eq!(used(&world, "a"), 0);
    }
}
