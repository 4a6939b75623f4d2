//! Use over time, the samples of a cluster, and recovery over a quota.

use expect_test::expect;
use headroom_core::books::NodeAttributes;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::view::{ApplicationView, NodeView, Sample, SpentView, usage_bands};
use headroom_core::{
    AddNode, AllocationEvent, Ask, Command, Event, Millis, Name, PreemptionCause, Submit,
    Termination,
};

use crate::check;

/// An application `app1` with an allocation `a1` on a node of type `m5`.
fn world() -> World {
    let mut world = World::default();
    let here = || Name::new("default");
    let attributes =
        [(NodeAttributes::INSTANCE_TYPE, "m5"), (NodeAttributes::HOST, "h1")].into_iter().collect();
    for command in [
        Command::Configure(Box::new(partition(parent("root", vec![leaf("a")])))),
        Command::AddNode(AddNode {
            partition: here(),
            node: "n1".into(),
            capacity: amounts([("vcore", 10_000), ("memory", 1_000)]),
            schedulable: true,
            attributes,
        }),
        Command::Submit(Submit {
            partition: here(),
            application: "app1".into(),
            queue: "root.a".into(),
            user: "ann".into(),
            ..Submit::default()
        }),
        Command::Ask(Ask {
            partition: here(),
            application: "app1".into(),
            key: "a1".into(),
            resources: amounts([("vcore", 1_000), ("memory", 200)]),
            ..Ask::default()
        }),
    ] {
        world.command(&command).unwrap();
        world.settle();
    }
    world
}

fn release(world: &mut World) {
    let (partition, application) = ("default".into(), "app1".into());
    let (key, termination) = (Some("a1".into()), Termination::StoppedByRm);
    world.command(&Command::Release { partition, application, key, termination }).unwrap();
}

fn spent(world: &World) -> SpentView {
    let (id, _) = world.books.applications().iter().next().unwrap();
    ApplicationView::of(&world.books, id).spent
}

fn m5(amounts: Amounts) -> Vec<(Name, Amounts)> {
    vec![("m5".into(), amounts)]
}

#[test]
#[doc(alias = "scheduling W35")]
fn use_counts_whole_seconds_by_instance_type() {
    let mut world = world();
    assert_eq!(spent(&world), SpentView::default());
    world.now = world.now + Millis::new(90_700);
    release(&mut world);
    let expected = m5(amounts([("vcore", 90_000), ("memory", 18_000)]));
    assert_eq!(spent(&world), SpentView { used: expected, ..SpentView::default() });
    world.now = world.now + Millis::from_secs(30);
    world.command(&Command::Tick).unwrap();
    assert_eq!(spent(&world), SpentView::default(), "it ended, and was summed up by then");
    let (node, _) = world.books.nodes().iter().next().unwrap();
    let view = NodeView::of(&world.books, node);
    assert_eq!(view.attributes.get("si/hostname"), Some(&"h1".into()));
}

#[test]
#[doc(alias = "scheduling W35")]
fn what_was_preempted_counts_as_preempted_and_only_there() {
    let mut world = world();
    world.now = world.now + Millis::new(90_700);
    let (victim, _) = world.books.allocations().iter().next().unwrap();
    let queue = world.books.applications().iter().next().unwrap().1.queue;
    world.apply(&Event::Allocation(AllocationEvent::Preempted {
        victim,
        cause: PreemptionCause::Quota(queue),
    }));
    release(&mut world);
    let expected = m5(amounts([("vcore", 90_000), ("memory", 18_000)]));
    assert_eq!(spent(&world), SpentView { preempted: expected, ..SpentView::default() });
}

#[test]
fn a_cluster_is_sampled_as_it_is() {
    let mut world = world();
    let sample = Sample::of(&world.books, world.now);
    assert_eq!((sample.applications, sample.allocations), (1, 1));
    let partition = *world.books.partitions().first_key_value().unwrap().0;
    let bands = usage_bands(&world.books, partition);
    let of = |name: &str| bands[name].iter().position(|count| *count == 1);
    assert_eq!((of("vcore"), of("memory"), bands.len()), (Some(0), Some(1), 2));
    release(&mut world);
    let sample = Sample::of(&world.books, world.now);
    assert_eq!((sample.applications, sample.allocations), (0, 0));
}

#[test]
fn an_application_that_ends_is_summed_up() {
    check(
        "
        queue root.a
        node n1 vcore=10 type m5
        node n2 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=1 on n1
        ask a2 app1 vcore=2 on n2
        wait 10s
        release a1
        wait 1s
        release a2
        wait 30s
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            node n2
              NODE SET NODE_SCHEDULABLE n2: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 20000 m}
              NODE ADD DETAILS_NONE n2 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 1000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 1000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 1000 m}
            ask a2
              APP ADD APP_REQUEST app1 a2 {vcore: 2000 m}
              NODE ADD NODE_ALLOC n2 a2 {vcore: 2000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP ADD APP_ALLOC app1 a2 {vcore: 2000 m}
            wait 10s
            release a1
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 1000 m}
              APP REMOVE ALLOC_CANCEL app1 a1 {vcore: 1000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 1000 m}
              APP REMOVE REQUEST_CANCEL app1 a1 {vcore: 1000 m}
            wait 1s
            release a2
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 2000 m}
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_CANCEL app1 a2 {vcore: 2000 m}
              NODE REMOVE NODE_ALLOC n2 a2 {vcore: 2000 m}
              APP REMOVE REQUEST_CANCEL app1 a2 {vcore: 2000 m}
            wait 30s
              APP SET APP_COMPLETED app1
              APP REMOVE DETAILS_NONE app1
              QUEUE REMOVE QUEUE_APP root.a app1
              summary of app1: Completed, submitted 0 ms, started 0 ms, finished 41000 ms, used UNKNOWN {vcore: 22000 m} m5 {vcore: 10000 m}, placeholders, preempted
        "#]],
    );
}

#[test]
fn an_application_that_never_ran_is_not_summed_up() {
    check(
        "
        queue root.a
        node n1 vcore=10
        app app1 root.a ann
        ask b1 app1 vcore=99
        wait 10s
        release b1
        wait 30s
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask b1
              APP ADD APP_REQUEST app1 b1 {vcore: 99000 m}
              APP SET APP_ACCEPTED app1
              REQUEST NONE DETAILS_NONE b1 app1 {vcore: 99000 m}: the cluster has 10 of 10 vcore available, but the ask needs 99. Wait for a release, or add nodes.
            wait 10s
            release b1
              APP REMOVE REQUEST_CANCEL app1 b1 {vcore: 99000 m}
              APP SET APP_COMPLETING app1
            wait 30s
              APP SET APP_COMPLETED app1
              APP REMOVE DETAILS_NONE app1
              QUEUE REMOVE QUEUE_APP root.a app1
        "#]],
    );
}

#[test]
#[doc(alias = "scheduling W39")]
fn recovery_over_quota_is_taken_in_and_holds_new_asks_back() {
    let told = headroom_core::testkit::tell(
        "
        queue root.a max memory=10
        node n1 memory=100
        app app1 root.a ann
        ask a1 app1 memory=6 on n1
        ask a2 app1 memory=7 on n1
        show root.a
        ask a3 app1 memory=1
        release a1
        ",
    );
    expect![[r#"
        ask a1: app1 Accepted, a1 on n1, app1 Running
        ask a2: a2 on n1
          root.a: in force {memory: 10 B}, uses {memory: 13 B}, headroom {memory: -3 B}, share 1.3, runs 1
        ask a3
          a3 waits QUEUE_MAX: queue root.a uses 13 memory, which is above its maximum of 10, and the ask needs 1. Wait for releases, or raise the maximum.
        release a1: a1 released, a3 on n1
    "#]].assert_eq(&told);
}
