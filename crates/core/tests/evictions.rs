//! Who is stopped when quotas of tenants are lowered: in random situations the same as by adding all
//! up at each step. Tenants §7.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::cell::Cell;
use std::fmt::Write as _;

use headroom_core::testkit::{World, naive_evictions, tell_world};
use headroom_core::{AllocationEvent, Command, Event, Name, decide};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const TENANTS: [&str; 3] = ["d", "a", "b"];

/// A task: whose, of what size, how urgent, what else.
#[derive(Clone, Copy, Debug)]
struct Task {
    tenant: usize,
    vcore: u8,
    gpu: u8,
    priority: i8,
    /// Whether it is a gang of two, whether it offers itself, and whether it comes later.
    flags: u8,
}

/// Tasks, the quotas of all tenants from then on, and what the last is guaranteed.
type Situation = (Vec<Task>, [Option<u8>; 3], u8);

fn situation() -> impl Strategy<Value = Situation> {
    let task = (0..3_usize, 1..6_u8, 0..3_u8, -1..3_i8, any::<u8>()).prop_map(
        |(tenant, vcore, gpu, priority, flags)| Task { tenant, vcore, gpu, priority, flags },
    );
    let quota = prop::option::weighted(0.7, 1..20_u8);
    (prop::collection::vec(task, 1..14), [quota.clone(), quota.clone(), quota], 0..9_u8)
}

/// The world in which the quotas were lowered, and their time is over.
fn lowered((tasks, quotas, guaranteed): &Situation) -> World {
    let below = |number: usize| if number == 0 { "" } else { "of d" };
    let mut text = String::from("tenants root.tenants\nnode n1 vcore=500 gpu=100\n");
    let promise = |number: usize| match number {
        2 if *guaranteed > 0 => format!("guaranteed vcore={guaranteed}"),
        _ => String::new(),
    };
    for (number, tenant) in TENANTS.iter().enumerate() {
        writeln!(text, "tenant {tenant} {} {} lower preempt 1s", below(number), promise(number))
            .unwrap();
    }
    for (number, task) in tasks.iter().enumerate() {
        let Task { tenant, vcore, gpu, priority, flags } = *task;
        let gang = flags % 4 == 1;
        let whole = if gang { format!("gang vcore={}", 2 * vcore) } else { String::new() };
        writeln!(text, "app t{number} of:{} ann {whole}", TENANTS[tenant]).unwrap();
        for member in 0..=u8::from(gang) {
            let gpu = if gpu == 1 && !gang { " gpu=1" } else { "" };
            let role = if gang { " placeholder group g" } else { "" };
            let firm = flags % 5 == u8::from(gang) * member;
            let offers = if firm { "" } else { " preemptable" };
            writeln!(
                text,
                "ask k{number}x{member} t{number} vcore={vcore}{gpu} prio {priority}{role}{offers}"
            )
            .unwrap();
        }
        if flags / 32 == 3 {
            text += "wait 1s\n";
        }
    }
    for (number, tenant) in TENANTS.iter().enumerate() {
        let quota = quotas[number].map(|most| format!("quota vcore={most} gpu={}", most / 4));
        let quota = quota.unwrap_or_default();
        let (below, promise) = (below(number), promise(number));
        writeln!(text, "tenant {tenant} {below} {promise} {quota} lower preempt 1s").unwrap();
    }
    tell_world(&(text + "wait 1s\n"))
}

#[test]
fn who_is_stopped_of_tenants_is_what_adding_up_at_each_step_says() {
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, chance);
    let (several, of_two) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&situation(), |situation| {
        let world = lowered(&situation);
        let (_, row) = world.books.partitions().first_key_value().unwrap();
        let scan = Command::ScanQuotas { partition: Name::new("default") };
        let events = decide(&world.books, world.now, &scan).unwrap();
        let naive = naive_evictions(&world.books, world.now, row.tenants_root().unwrap());
        prop_assert_eq!(&events, &naive);
        let stopped = events
            .iter()
            .filter(|one| matches!(one, Event::Allocation(AllocationEvent::Preempted { .. })))
            .count();
        let clocks = events.len() - stopped;
        several.set(several.get() + u32::from(stopped > 2));
        of_two.set(of_two.get() + u32::from(clocks > 1 && stopped > 1));
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(several.get() > 90, "several are stopped in {} of 300", several.get());
    assert!(of_two.get() > 30, "two tenants are above in {} of 300", of_two.get());
}
