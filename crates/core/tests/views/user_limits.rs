//! What users of a leaf may have, how much of it is left and why not more, from whole books.

use headroom_core::config::{LimitPrecedence, QueueConfig, UserFactor, UserLimitsConfig};
use headroom_core::resource::Amounts;
use headroom_core::testkit::{amounts, leaf, limit, parent, partition, tell_world};
use headroom_core::userlimit::{Calculator, Decimal, Formula};
use headroom_core::view::{LimitedBy, UserLimitView, UserLimitsView, user_limits};
use headroom_core::{AddNode, Ask, Command, Name, SetForeign};
use proptest::prelude::*;

use crate::Cluster;

fn memory(amount: i64) -> Amounts {
    amounts([("memory", amount)])
}

/// A leaf below root whose users share it.
fn shared(name: &str, guaranteed: i64, max: Option<i64>, rules: UserLimitsConfig) -> QueueConfig {
    QueueConfig {
        guaranteed: memory(guaranteed),
        max: max.map(memory).unwrap_or_default(),
        user_limits: Some(rules),
        ..leaf(name)
    }
}

fn floor(percent: u32) -> UserLimitsConfig {
    UserLimitsConfig { floor: Some(Decimal::whole(percent)), ..UserLimitsConfig::default() }
}

fn off(percent: u32) -> UserLimitsConfig {
    UserLimitsConfig { factor: Some(UserFactor::Off), ..floor(percent) }
}

/// A cluster with nodes of these sizes, and of nothing else.
fn cluster(root: QueueConfig, nodes: &[i64]) -> Cluster {
    let mut cluster = Cluster::default();
    cluster.configure(partition(root));
    for (number, size) in nodes.iter().enumerate() {
        cluster.node(&format!("n{number}"), memory(*size));
    }
    cluster
}

/// Something of a user runs on a node already.
fn runs(cluster: &mut Cluster, key: &str, application: &str, size: i64, node: &str) {
    cluster.obey(&Command::Ask(Ask {
        partition: Name::new("default"),
        application: application.into(),
        key: key.into(),
        resources: memory(size),
        node: Some(node.into()),
        ..Ask::default()
    }));
}

/// An ask that nobody has looked at yet.
fn waits(cluster: &mut Cluster, key: &str, application: &str, resources: Amounts) {
    let ask = Ask {
        partition: Name::new("default"),
        application: application.into(),
        key: key.into(),
        resources,
        ..Ask::default()
    };
    cluster.0.command(&Command::Ask(ask)).expect("the ask is legal");
}

fn view(cluster: &Cluster, path: &str) -> UserLimitsView {
    let books = &cluster.0.books;
    let leaf = books.queue_at(cluster.partition(), path).expect(path);
    UserLimitsView::of(books, leaf).expect("it has user limits")
}

fn user<'a>(view: &'a UserLimitsView, name: &str) -> &'a UserLimitView {
    view.users.iter().find(|user| user.user == name).expect(name)
}

fn named(user: &UserLimitView) -> String {
    user.limited_by.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// `Q` 100, of which one user may have 30 percent at least.
fn of_uh_12() -> Cluster {
    let research = shared("research", 55, Some(60), off(1));
    let mut cluster = cluster(parent("root", vec![research, leaf("other")]), &[100, 20]);
    for (application, queue, user) in
        [("u", "root.research", "u"), ("v", "root.research", "v"), ("o", "root.other", "o")]
    {
        cluster.submit(application, queue, user, &[]);
    }
    runs(&mut cluster, "u-1", "u", 22, "n0");
    runs(&mut cluster, "v-1", "v", 33, "n0");
    runs(&mut cluster, "o-1", "o", 45, "n0");
    cluster
}

#[test]
#[doc(alias = "UH-12")]
fn queue_and_partition_leave_less_than_the_limit() {
    let mut cluster = of_uh_12();
    waits(&mut cluster, "u-2", "u", memory(5));
    waits(&mut cluster, "v-2", "v", memory(5));
    let before = view(&cluster, "root.research");
    let u = user(&before, "u");
    // 60 are split: 55 that both use, and the ask.
    assert_eq!((&u.limit, &u.used), (&memory(30), &memory(22)));
    assert_eq!((&u.headroom, named(u)), (&memory(5), "queueMax:root.research".to_owned()));
    // 20 are free in the partition, then 3.
    for (key, taken) in [("daemon", 17), ("other", 3)] {
        cluster
            .0
            .command(&Command::SetForeign(SetForeign {
                partition: Name::new("default"),
                key: key.into(),
                node: "n1".into(),
                resources: memory(taken),
                preemptable: false,
            }))
            .expect("it fits");
        let after = view(&cluster, "root.research");
        let left = if taken == 17 { 3 } else { 0 };
        assert_eq!(user(&after, "u").headroom, memory(left));
        assert_eq!(named(user(&after, "u")), "partitionFree");
    }
}

/// The tree of the example, without some of its bounds.
fn of_uh_32(without: &[&str]) -> Cluster {
    let has = |bound| !without.contains(&bound);
    let factor = Some(UserFactor::Times(Decimal::ONE));
    let max = has("max").then_some(60);
    let mut research = shared("research", 40, max, UserLimitsConfig { factor, ..floor(1) });
    if has("user") {
        research.limits = vec![limit(&["u"], &[], memory(30), 0)];
    }
    let mut root = parent("root", vec![research, leaf("other")]);
    root.limits = vec![limit(&[], &["team"], memory(if has("group") { 100 } else { 1_000 }), 0)];
    let mut cluster = cluster(root, &[100, 100]);
    for (application, queue, user, group, size, node) in [
        ("u", "root.research", "u", "team", 20, "n0"),
        ("v", "root.research", "v", "others", 35, "n0"),
        ("t", "root.other", "t", "team", 58, "n1"),
        ("o", "root.other", "o", "others", 37, "n1"),
    ] {
        cluster.submit(application, queue, user, &[group]);
        runs(&mut cluster, &format!("{application}-1"), application, size, node);
    }
    waits(&mut cluster, "v-2", "v", memory(5));
    waits(&mut cluster, "u-2", "u", memory(13));
    cluster
}

#[test]
#[doc(alias = "UH-32")]
fn the_tightest_of_all_bounds_of_a_real_tree_is_named() {
    let whole = view(&of_uh_32(&[]), "root.research");
    let u = user(&whole, "u");
    assert_eq!((&u.soft, &u.hard, &u.used), (&memory(34), &memory(40), &memory(20)));
    assert_eq!((&u.headroom, named(u)), (&memory(5), "queueMax:root.research".to_owned()));
    let by = LimitedBy::QueueMax(Name::new("root.research"));
    assert_eq!(u.limited_by_type, [(Name::new("memory"), by)]);
    // Each of the others is the tightest once those before it are gone.
    for (without, amount, by) in
        [(&["max"][..], 10, "userLimit:root.research"), (&["max", "user"], 14, "softShare")]
    {
        let left = view(&of_uh_32(without), "root.research");
        let u = user(&left, "u");
        assert_eq!((&u.headroom, named(u)), (&memory(amount), by.to_owned()), "{without:?}");
    }
    // The group is one of them: 100, of which 78 are used, and 7 more.
    let mut cluster = of_uh_32(&["max", "user"]);
    runs(&mut cluster, "t-2", "t", 12, "n1");
    let full = view(&cluster, "root.research");
    assert_eq!(user(&full, "u").headroom, memory(10));
    assert_eq!(named(user(&full, "u")), "groupLimit:root");
}

#[test]
fn a_group_bounds_its_users_unless_their_own_limits_go_first() {
    let mut research = shared("research", 90, None, off(100));
    research.limits = vec![limit(&["u"], &[], memory(50), 0)];
    let mut root = parent("root", vec![parent("team", vec![research])]);
    root.children[0].limits = vec![limit(&[], &["team"], memory(25), 0)];
    root.limits = vec![limit(&[], &["team"], memory(40), 0)];
    for (precedence, headroom, by) in [
        (LimitPrecedence::Both, 15, "groupLimit:root.team"),
        (LimitPrecedence::User, 15, "groupLimit:root.team"),
    ] {
        let mut configuration = partition(root.clone());
        configuration.partitions[0].limit_precedence = precedence;
        let mut cluster = Cluster::default();
        cluster.configure(configuration);
        cluster.node("n0", memory(200));
        cluster.submit("u", "root.team.research", "u", &["team"]);
        waits(&mut cluster, "u-1", "u", memory(10));
        cluster.0.settle();
        let view = view(&cluster, "root.team.research");
        assert_eq!(user(&view, "u").headroom, memory(headroom), "{precedence:?}");
        assert_eq!(named(user(&view, "u")), by);
    }
    // A limit that names the user at the queue of the group's limit removes that, but not the one above it.
    root.children[0].limits.push(limit(&["u"], &[], memory(60), 0));
    let mut configuration = partition(root);
    configuration.partitions[0].limit_precedence = LimitPrecedence::User;
    let mut cluster = Cluster::default();
    cluster.configure(configuration);
    cluster.node("n0", memory(200));
    cluster.submit("u", "root.team.research", "u", &["team"]);
    waits(&mut cluster, "u-1", "u", memory(10));
    cluster.0.settle();
    let view = view(&cluster, "root.team.research");
    assert_eq!(user(&view, "u").headroom, memory(30));
    assert_eq!(named(user(&view, "u")), "groupLimit:root");
}

#[test]
fn the_next_ask_is_the_smallest_or_the_minimum_allocation_or_nothing() {
    let sized = UserLimitsConfig { minimum_allocation: Some(memory(4)), ..floor(50) };
    let of = |rules: UserLimitsConfig, asks: &[Amounts]| {
        let root = parent("root", vec![shared("a", 40, None, rules)]);
        let mut cluster = cluster(root, &[100]);
        cluster.submit("app", "root.a", "ann", &[]);
        runs(&mut cluster, "runs", "app", 8, "n0");
        for (number, ask) in asks.iter().enumerate() {
            waits(&mut cluster, &format!("ask-{number}"), "app", ask.clone());
        }
        let view = view(&cluster, "root.a");
        let ann = user(&view, "ann");
        assert_eq!(ann.running, 1);
        assert_eq!(ann.active, !asks.is_empty());
        ann.ask.clone()
    };
    let cores = |memory, vcore| amounts([("memory", memory), ("vcore", vcore)]);
    assert_eq!(of(sized.clone(), &[memory(9), memory(6), memory(30)]), memory(8), "whole steps");
    assert_eq!(of(floor(50), &[cores(6, 2), cores(6, 1), cores(7, 0)]), cores(6, 1));
    assert_eq!(of(sized, &[]), memory(4));
    assert_eq!(of(floor(50), &[]), Amounts::EMPTY);
}

#[test]
fn a_leaf_shows_its_rules_and_what_they_are_applied_to() {
    let rules = UserLimitsConfig {
        formula: Some(Formula::Yarn3),
        calculator: Some(Calculator::Memory),
        weights: vec![(Name::new("ann"), Decimal::whole(2))],
        minimum_allocation: Some(memory(2)),
        maximum_allocation: Some(memory(50)),
        ..floor(25)
    };
    let children =
        vec![leaf("b"), shared("a", 40, Some(60), rules), shared("c", 1, None, floor(1))];
    let mut cluster = cluster(parent("root", children), &[100]);
    cluster.submit("of-bob", "root.a", "bob", &[]);
    cluster.submit("of-ann", "root.a", "ann", &[]);
    runs(&mut cluster, "b", "of-bob", 10, "n0");
    runs(&mut cluster, "a", "of-ann", 6, "n0");
    waits(&mut cluster, "a2", "of-ann", memory(3));
    let all = user_limits(&cluster.0.books, cluster.partition());
    let paths: Vec<&str> = all.iter().map(|one| &*one.path).collect();
    assert_eq!(paths, ["root.a", "root.c"]);
    let a = &all[0];
    assert_eq!(*a, view(&cluster, "root.a"));
    assert_eq!((a.rules.formula, a.rules.calculator), (Formula::Yarn3, Calculator::Memory));
    assert_eq!((&a.rules.step, &a.rules.increment), (&memory(2), &memory(2)));
    assert_eq!((&a.rules.largest, a.rules.factor), (&memory(50), Some(Decimal::ONE)));
    let leaf = &a.leaf;
    assert_eq!(
        (&leaf.guaranteed, &leaf.max, &leaf.total),
        (&memory(40), &memory(60), &memory(100))
    );
    assert_eq!((&leaf.used, &leaf.used_active), (&memory(16), &memory(6)));
    assert_eq!((&leaf.used_inactive, leaf.active), (&memory(10), 1));
    assert_eq!(leaf.active_weight, Decimal::whole(2));
    let names: Vec<&str> = a.users.iter().map(|one| &*one.user).collect();
    assert_eq!(names, ["ann", "bob"]);
    // max(⌈(6 + 2) / 2⌉, a quarter of 40) rounded up, by weight.
    assert_eq!(a.users[0].limit, memory(20));
    assert_eq!((a.users[0].weight, a.users[0].active), (Decimal::whole(2), true));
    assert_eq!((a.users[1].limit.clone(), a.users[1].active), (memory(10), false));
    let b = cluster.0.books.queue_at(cluster.partition(), "root.b").expect("it is there");
    assert_eq!(UserLimitsView::of(&cluster.0.books, b), None);
}

/// Something that a user has or wants, in memory.
#[derive(Clone, Debug)]
struct Thing {
    user: u8,
    queue: bool,
    size: i64,
    runs: bool,
}

fn things() -> impl Strategy<Value = Vec<(Thing, u32)>> {
    let thing = (0..4_u8, any::<bool>(), 1..20_i64, any::<bool>(), any::<u32>());
    let thing = thing
        .prop_map(|(user, queue, size, runs, place)| (Thing { user, queue, size, runs }, place));
    prop::collection::vec(thing, 1..12)
}

fn play(things: &[(usize, &Thing)], formula: Formula) -> Vec<UserLimitsView> {
    let rules = |percent| UserLimitsConfig { formula: Some(formula), ..off(percent) };
    let a = shared("a", 700, Some(1_500), rules(20));
    let mut root = parent("root", vec![a, shared("b", 900, None, rules(60))]);
    root.limits =
        vec![limit(&["*"], &[], memory(1_800), 0), limit(&[], &["odd"], memory(1_900), 0)];
    let mut cluster = cluster(root, &[500, 500, 500, 500]);
    for (number, thing) in things {
        let application = format!("app-{number}");
        let queue = if thing.queue { "root.a" } else { "root.b" };
        let group = if thing.user % 2 == 1 { "odd" } else { "even" };
        cluster.submit(&application, queue, &format!("user-{}", thing.user), &[group]);
        let key = format!("key-{number}");
        if thing.runs {
            let node = format!("n{}", number % 4);
            runs(&mut cluster, &key, &application, thing.size, &node);
        } else {
            // No node is as large.
            let size = amounts([("memory", 500 + thing.size), ("gpu", i64::from(thing.user))]);
            cluster.ask(&key, &application, size, 0);
        }
    }
    user_limits(&cluster.0.books, cluster.partition())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// What users may have follows from how things are, not from how they came about.
    #[test]
    fn the_order_of_events_changes_nothing_that_is_shown(things in things(), kind in 0..3_usize) {
        let formula = [Formula::Smooth, Formula::Yarn3, Formula::Yarn27][kind];
        let mut order: Vec<(usize, &Thing)> = things.iter().map(|(thing, _)| thing).enumerate().collect();
        let first = play(&order, formula);
        order.sort_by_key(|(number, _)| things[*number].1);
        let second = play(&order, formula);
        prop_assert_eq!(&first, &second);
        for user in first.iter().flat_map(|leaf| &leaf.users) {
            prop_assert!(user.headroom.iter().all(|(_, amount)| amount.get() >= 0), "{user:?}");
            prop_assert!(user.limited_by.is_some());
        }
    }
}

#[test]
fn what_the_drivers_of_a_user_may_have_is_shown() {
    let world = tell_world(
        "
        queue root.q guaranteed vcore=40 max vcore=80 share p=25;f=1 counts driver=0.2;per-user=7
        node n1 vcore=7
        app app1 root.q ann
        app app2 root.q bob
        ask d1 app1 vcore=4 originator
        ask w1 app1 vcore=30
        ask d2 app2 vcore=3 originator
        ask w2 app2 vcore=30
        ",
    );
    let (id, _) = world.books.partitions().first_key_value().unwrap();
    let view = user_limits(&world.books, *id).remove(0);
    let cores = |amount| amounts([("vcore", amount)]);
    let drivers = view.users.iter().map(|user| {
        (&*user.user, user.driver_limit.clone(), user.driver_used.clone(), user.max_applications)
    });
    // Two users are active, so each may have half of a fifth of 40.
    let expected = [("ann", 4_000), ("bob", 3_000)];
    let expected = expected.map(|(user, used)| (user, Some(cores(4_000)), cores(used), Some(7)));
    assert_eq!(drivers.collect::<Vec<_>>(), expected);
}

/// A label is a separate partition: everything that is true of a leaf is true of its types.
#[test]
#[doc(alias = "UH-14")]
#[doc(alias = "C18")]
fn a_label_leaves_what_its_own_types_do() {
    let gpu = |amount| amounts([("memory@gpu", amount)]);
    let research = QueueConfig {
        guaranteed: amounts([("memory", 100), ("memory@gpu", 20)]),
        max: gpu(50),
        user_limits: Some(floor(100)),
        ..leaf("research")
    };
    let mut root = parent("root", vec![research, leaf("other")]);
    root.node_labels.get_or_insert_default().exclusive = vec![Name::new("gpu")];
    let mut cluster = cluster(root, &[100]);
    let attributes = [("headroom/label", "gpu")].into_iter().collect();
    let (partition, node) = (Name::new("default"), Name::new("g0"));
    let add = AddNode { partition, node, capacity: memory(60), attributes, schedulable: true };
    cluster.obey(&Command::AddNode(add));
    for (application, queue, user) in
        [("u", "root.research", "u"), ("v", "root.research", "v"), ("o", "root.other", "o")]
    {
        cluster.submit(application, queue, user, &[]);
    }
    runs(&mut cluster, "u-1", "u", 8, "g0");
    runs(&mut cluster, "v-1", "v", 22, "g0");
    runs(&mut cluster, "o-1", "o", 15, "g0");
    runs(&mut cluster, "u-2", "u", 70, "n0");
    let view = view(&cluster, "root.research");
    assert_eq!(view.leaf.total, amounts([("memory", 100), ("memory@gpu", 60)]));
    let u = user(&view, "u");
    let of = |amounts: &Amounts| amounts.get("memory@gpu").expect("it is bounded").get();
    // min(20 - 8, 50 - 30, 60 - 45), whatever runs on other nodes.
    assert_eq!((of(&u.limit), of(&u.used), of(&u.headroom)), (20, 8, 12));
    let bounds = u.limited_by_type.iter().find(|(name, _)| *name == "memory@gpu");
    assert_eq!(bounds.map(|(_, bound)| bound), Some(&LimitedBy::HardCap));
    assert_eq!(u.used, amounts([("memory", 70), ("memory@gpu", 8)]));
}
