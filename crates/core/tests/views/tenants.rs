//! What another quota of a tenant would come to. Tenants §7.

use headroom_core::Name;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, tell_world};
use headroom_core::view::{LoweringView, lowering};

fn dry_run(world: &World, tenant: &str, quota: &Amounts) -> Option<LoweringView> {
    let (id, _) = world.books.partitions().first_key_value()?;
    lowering(&world.books, *id, &Name::new(tenant), quota)
}

fn vcore(amount: i64) -> Amounts {
    if amount == 0 { Amounts::EMPTY } else { Amounts::from([("vcore", amount)]) }
}

#[test]
fn ts_17_a_dry_run_tells_what_would_be_stopped_and_changes_nothing() {
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
    assert_eq!(unknown, LoweringView::default(), "nobody has it");
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
