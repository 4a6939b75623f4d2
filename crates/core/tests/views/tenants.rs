//! What another quota of a tenant would come to, and what is counted of tenants. Tenants §2.6, §6, §7.

use headroom_core::resource::{Amounts, Quantity, ResourceType};
use headroom_core::testkit::{World, tell_world};
use headroom_core::view::{
    Counters, QuotaReductionView, Tally, health, is_healthy, lowering, tenant_drift,
};
use headroom_core::{AskEvent, Event, Name};

fn dry_run(world: &World, tenant: &str, quota: &Amounts) -> Option<QuotaReductionView> {
    let (id, _) = world.books.partitions().first_key_value()?;
    lowering(&world.books, *id, &Name::new(tenant), quota)
}

fn vcore(amount: i64) -> Amounts {
    if amount == 0 { Amounts::EMPTY } else { Amounts::from([("vcore", amount)]) }
}

#[test]
#[doc(alias = "TS-17")]
fn a_dry_run_tells_what_would_be_stopped_and_changes_nothing() {
    let world = tell_world(
        "
        tenants root.tenants exempt free
        node n1 vcore=128
        tenant a quota vcore=100
        tenant free quota vcore=1
        app a1 of:a ann
        ask t1 a1 vcore=30 prio 5
        ask old a1 vcore=20 preemptable
        ask young a1 vcore=20 preemptable
        ask t4 a1 vcore=20 prio 3 preemptable
        ",
    );
    let before = world.books.clone();
    let victims = |quota, of: &str| {
        let view = dry_run(&world, of, &vcore(quota)).unwrap();
        let keys: Vec<String> = view.victims.iter().map(|one| one.key.to_string()).collect();
        (view.excess, keys.join(" "), view.rest)
    };
    for (quota, excess, keys, rest) in [
        (90_000, 0, "", 0),
        (89_999, 1, "young", 0),
        (60_000, 30_000, "young old", 0),
        (50_000, 40_000, "young old", 0),
        (49_999, 40_001, "young old t4", 0),
        (25_000, 65_000, "young old t4", 5_000),
    ] {
        let expected = (vcore(excess), keys.to_owned(), vcore(rest));
        assert_eq!(victims(quota, "a"), expected, "a quota of {quota}");
    }
    assert_eq!(victims(0, "free"), (vcore(0), String::new(), vcore(0)), "exempt");
    assert_eq!(dry_run(&world, "nobody", &vcore(1)), None);
    let unknown = dry_run(&world, "a", &Amounts::from([("never-met", 1)])).unwrap();
    assert_eq!(unknown, QuotaReductionView::default(), "nobody has it");
    assert_eq!(world.books, before);
}

#[test]
fn of_a_tenant_that_is_a_limit_only_the_excess_is_told() {
    let world = tell_world(
        "
        tenants root.tenants
        queue root.shared
        node n1 vcore=128
        tenant a quota vcore=100 as user ann in root.shared
        app a1 of:a ann
        ask t1 a1 vcore=30 preemptable
        ",
    );
    let view = dry_run(&world, "a", &vcore(20_000)).unwrap();
    assert_eq!((view.excess, view.victims, view.rest), (vcore(10_000), vec![], vcore(10_000)));
}

/// `a` uses 60 of 100 cores, and 20 of those are of `sub` below it; 50 more of `a` wait.
fn used() -> World {
    tell_world(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100
        tenant sub of a quota vcore=30
        app a1 of:a ann
        ask t1 a1 vcore=40
        app s1 of:sub bob
        ask u1 s1 vcore=20
        app a2 of:a ann
        ask t2 a2 vcore=50
        ",
    )
}

#[test]
#[doc(alias = "TR-12")]
fn a_start_above_the_quota_is_counted_for_the_tenant_whose_quota_it_is() {
    let world = used();
    let (node, _) = world.books.nodes().iter().next().unwrap();
    let mut tally = Tally::of(&world.books);
    let ask = |key: &str| world.books.allocations().iter().find(|(_, row)| *row.key == *key);
    let (waits, row) = ask("t2").unwrap();
    assert!(row.is_pending());
    // 60 + 50 = 110 > 100: the scheduler did not do that.
    tally.judge(&world.books, &Event::Ask(AskEvent::Placed { ask: waits, node }));
    let of =
        |tally: &Tally, tenant: &str| tally.tenants.get(tenant).map_or(0, |row| row.violations);
    assert_eq!((of(&tally, "a"), of(&tally, "sub"), tally.tenants.violations()), (1, 0, 1));
    // 20 + 20 = 40 > 30, and 60 + 20 = 80.
    tally.judge(&world.books, &Event::Ask(AskEvent::Placed { ask: ask("u1").unwrap().0, node }));
    assert_eq!((of(&tally, "a"), of(&tally, "sub"), tally.tenants.violations()), (1, 1, 2));
}

#[test]
#[doc(alias = "TR-55")]
fn drift_is_found_where_it_is_and_nowhere_else() {
    let world = used();
    assert_eq!(tenant_drift(&world.books), []);
    let mut damaged = world.books.clone();
    let (partition, _) = world.books.partitions().first_key_value().unwrap();
    let queue = |path: &str| world.books.queue_at(*partition, path).unwrap();
    damaged.miscount(queue("root.tenants.a"), ResourceType::VCORE, Quantity::of(7));
    damaged.miscount(queue("root.tenants.a.sub"), ResourceType::MEMORY, Quantity::of(1));
    let drift = tenant_drift(&damaged);
    let told: Vec<(&str, &str, i64, i64)> = drift
        .iter()
        .map(|one| (one.tenant.as_str(), one.resource.as_str(), one.counted.get(), one.found.get()))
        .collect();
    assert_eq!(told, [("a", "vcore", 60_007, 60_000), ("sub", "memory", 1, 0)]);
}

#[test]
#[doc(alias = "TR-51")]
fn what_is_released_twice_is_given_back_once_and_use_below_zero_is_counted_as_a_bug() {
    let world = tell_world(
        "
        tenants root.tenants
        node n1 vcore=128
        tenant a quota vcore=100
        app a1 of:a ann
        ask t1 a1 vcore=40
        ask t2 a1 vcore=20
        release t1
        release t1
        release t1
        ",
    );
    let (partition, _) = world.books.partitions().first_key_value().unwrap();
    let queue = world.books.queue_at(*partition, "root.tenants.a").unwrap();
    let used = world.books.queue(queue).allocated.get(ResourceType::VCORE);
    assert_eq!(used, Some(Quantity::of(20_000)));
    assert!(is_healthy(&health(&world.books, Counters::default())));
    assert_eq!(tenant_drift(&world.books), []);
    // Books cannot get there by events. Those that are below zero all the same are named, not mended.
    let mut damaged = world.books.clone();
    damaged.miscount(queue, ResourceType::VCORE, Quantity::of(-20_001));
    let drift = tenant_drift(&damaged);
    assert_eq!(drift.len(), 1, "{drift:?}");
    assert_eq!((drift[0].counted, drift[0].found), (Quantity::of(-1), Quantity::of(20_000)));
    let expected = "root.tenants.a: allocated is {r1: -1, r2: 1} in the books, but {r1: 20000, r2: 1} \
                    when recomputed";
    assert_eq!(damaged.check().unwrap_err().to_string(), expected);
}
