//! Queues, applications, nodes, partitions and placement rules.

use headroom_core::books::{ApplicationState, QueueState};
use headroom_core::config::property::{
    PREEMPTION_DELAY, PRIORITY_OFFSET, PRIORITY_POLICY, SORT_POLICY,
};
use headroom_core::config::{ApplicationOrder, FilterConfig, QueueConfig, RuleConfig};
use headroom_core::testkit::{amounts, leaf, parent, partition};
use headroom_core::view::{
    ApplicationView, NodeView, PartitionView, QueueView, RejectedView, rules,
};
use headroom_core::{Command, Millis, Name, RejectApplication};

use crate::{Cluster, names};

fn with(mut queue: QueueConfig, properties: &[(&str, &str)]) -> QueueConfig {
    let pairs = properties.iter().map(|(key, value)| (Name::new(key), Name::new(value)));
    queue.properties = pairs.collect();
    queue
}

/// root.p.a, fair, and root.p.b, whose priority is fenced at 7.
fn two_leaves() -> Cluster {
    let mut a = with(leaf("a"), &[(SORT_POLICY, "fair"), (PREEMPTION_DELAY, "5s")]);
    a.max = amounts([("vcore", 4_000)]);
    a.max_applications = 3;
    let b = with(leaf("b"), &[(PRIORITY_POLICY, "fence"), (PRIORITY_OFFSET, "7")]);
    let p = with(parent("p", vec![b, a]), &[(PRIORITY_OFFSET, "10"), (PREEMPTION_DELAY, "9s")]);
    let mut cluster = Cluster::new(parent("root", vec![p]));
    cluster.submit("app1", "root.p.a", "ann", &["dev"]);
    cluster.ask("k1", "app1", amounts([("vcore", 3_000)]), 0);
    cluster.ask("k3", "app1", amounts([("vcore", 2_000)]), 2);
    cluster.ask("k2", "app1", amounts([("vcore", 2_000)]), 1);
    cluster
}

#[test]
fn a_queue_shows_itself_and_what_is_below() {
    let mut cluster = two_leaves();
    let books = &cluster.0.books;
    let root = books.partition(cluster.partition()).root;
    let view = QueueView::tree(books, root);
    assert_eq!((&*view.path, &view.parent, view.leaf), ("root", &None, false));
    assert_eq!(view.max, amounts([("memory", 100_000_000_000), ("vcore", 100_000)]));
    assert_eq!(view.headroom, amounts([("memory", 100_000_000_000), ("vcore", 97_000)]));
    assert_eq!(view.used_percent, [(Name::new("vcore"), 3)]);
    assert_eq!(names(&view.child_paths), ["root.p"]);
    let p = &view.children[0];
    assert_eq!((p.order, p.preemption_delay), (ApplicationOrder::Fair, Millis::from_secs(30)));
    assert_eq!(p.priority, Some(12));
    let [a, b] = &p.children[..] else { panic!("two leaves: {p:?}") };
    assert_eq!((&*a.path, &*b.path), ("root.p.a", "root.p.b"));
    assert_eq!((a.leaf, a.managed, a.state), (true, true, QueueState::Active));
    assert_eq!(a.parent.as_deref(), Some("root.p"));
    assert_eq!((a.order, a.preemption_delay), (ApplicationOrder::Fair, Millis::from_secs(5)));
    assert_eq!((a.running, a.max_applications), (1, 3));
    assert_eq!(a.allocated, amounts([("vcore", 3_000)]));
    assert_eq!(a.pending, amounts([("vcore", 4_000)]));
    assert_eq!(a.used_percent, [(Name::new("vcore"), 75)]);
    assert_eq!((a.priority, b.priority), (Some(2), None));
    let alone = QueueView::alone(books, books.queue_at(cluster.partition(), "root.p").unwrap());
    assert_eq!(QueueView { children: p.children.clone(), ..alone }, *p);
    cluster.submit("app2", "root.p.b", "ann", &[]);
    cluster.ask("big", "app2", amounts([("vcore", 1_000_000)]), 90);
    let view = QueueView::tree(&cluster.0.books, root);
    assert_eq!(view.children[0].children[1].priority, Some(7), "a fence shows its offset");
    assert_eq!(view.priority, Some(17));
}

#[test]
fn an_application_shows_what_it_asks_for_and_has() {
    let mut cluster = two_leaves();
    let partition = cluster.partition();
    let all = ApplicationView::active(&cluster.0.books, partition);
    let [app] = &all[..] else { panic!("one application: {all:?}") };
    assert_eq!((&*app.application, &*app.queue, &*app.user), ("app1", "root.p.a", "ann"));
    assert_eq!((names(&app.groups), app.state), (vec!["dev"], ApplicationState::Running));
    let keys: Vec<&str> = app.requests.iter().map(|ask| &*ask.key).collect();
    assert_eq!(keys, ["k2", "k3"]);
    assert_eq!(app.highest_priority, Some(2));
    assert_eq!((&*app.allocations[0].key, &*app.allocations[0].node), ("k1", "n1"));
    assert_eq!(app.used, amounts([("vcore", 3_000)]));
    assert_eq!(app.pending, amounts([("vcore", 4_000)]));
    let states: Vec<_> = app.state_log.iter().map(|(_, state)| *state).collect();
    assert_eq!(states, [ApplicationState::Accepted, ApplicationState::Running]);
    for key in ["k2", "k3", "k1"] {
        cluster.release(key, "app1");
    }
    cluster.0.now = cluster.0.now + Millis::from_secs(30);
    cluster.obey(&Command::Tick);
    assert_eq!(ApplicationView::active(&cluster.0.books, partition), []);
    let ended = ApplicationView::completed(&cluster.0.books, partition);
    assert_eq!((&*ended[0].application, ended[0].finished), ("app1", Some(cluster.0.now)));
    assert_eq!(ended[0].max_used, amounts([("vcore", 3_000)]));
    assert_eq!(
        (ended[0].highest_priority, RejectedView::all(&cluster.0.books, partition)),
        (None, vec![])
    );
}

#[test]
fn the_most_an_application_had_is_taken_at_its_placements() {
    let mut cluster = two_leaves();
    let partition = cluster.partition();
    cluster.ask("k1", "app1", amounts([("vcore", 3_500), ("memory", 5)]), 0);
    let most = |cluster: &Cluster| {
        let all = ApplicationView::active(&cluster.0.books, partition);
        (all[0].used.clone(), all[0].max_used.clone())
    };
    let grown = amounts([("memory", 5), ("vcore", 3_500)]);
    assert_eq!(most(&cluster), (grown.clone(), amounts([("vcore", 3_000)])));
    cluster.ask("k4", "app1", amounts([("memory", 1)]), 9);
    let now = amounts([("memory", 6), ("vcore", 3_500)]);
    assert_eq!(most(&cluster), (now.clone(), now));
}

#[test]
fn a_node_shows_what_runs_on_it() {
    let mut cluster = two_leaves();
    cluster.node("n0", amounts([("vcore", 1_000)]));
    let nodes = NodeView::all(&cluster.0.books, cluster.partition());
    assert_eq!(nodes.iter().map(|node| &*node.node).collect::<Vec<_>>(), ["n0", "n1"]);
    let n1 = &nodes[1];
    assert_eq!(n1.allocated, amounts([("vcore", 3_000)]));
    assert_eq!(n1.available, amounts([("memory", 100_000_000_000), ("vcore", 97_000)]));
    assert_eq!(n1.used_percent, [(Name::new("vcore"), 3)]);
    assert_eq!((&*n1.allocations[0].key, n1.schedulable), ("k1", true));
}

#[test]
fn a_partition_counts_what_is_in_it() {
    let mut cluster = two_leaves();
    cluster.submit("app2", "root.p.b", "ann", &[]);
    let view = PartitionView::of(&cluster.0.books, cluster.partition());
    assert_eq!((&*view.name, view.state, view.nodes), ("default", QueueState::Active, 1));
    assert_eq!((view.allocations, view.rejected), (1, 0));
    assert_eq!(view.used, amounts([("vcore", 3_000)]));
    let counts: Vec<_> = view.applications.into_iter().collect();
    assert_eq!(counts, [(ApplicationState::New, 1), (ApplicationState::Running, 1)]);
    let weights: Vec<_> = view.node_weights.iter().map(|(name, one)| (&**name, *one)).collect();
    assert_eq!(weights, [("memory", 1.0), ("vcore", 1.0)]);
}

#[test]
fn placement_rules_show_the_implied_ones_too() {
    let shown = |configured: Vec<RuleConfig>| {
        let mut file = partition(parent("root", vec![leaf("a")]));
        file.partitions[0].placement_rules = configured;
        let mut cluster = Cluster::new(parent("root", vec![leaf("a")]));
        cluster.configure(file);
        rules(&cluster.0.books, cluster.partition())
    };
    let implied = shown(Vec::new());
    assert_eq!(
        implied.iter().map(|rule| &*rule.name).collect::<Vec<_>>(),
        ["provided", "recovery"]
    );
    let fixed =
        RuleConfig { name: "fixed".into(), value: "root.a".into(), ..RuleConfig::default() };
    let all = shown(vec![RuleConfig {
        name: "user".into(),
        create: true,
        filter: FilterConfig { kind: "deny".into(), users: vec!["ann".into()], groups: vec![] },
        parent: Some(Box::new(fixed)),
        ..RuleConfig::default()
    }]);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].parameters, [("create".into(), "true".into())]);
    let filter = all[0].filter.as_ref().unwrap();
    assert_eq!((filter.deny, names(&filter.users)), (true, vec!["ann"]));
    let parent = all[0].parent.as_ref().unwrap();
    let expected = [("create", "false"), ("qualified", "true"), ("queue", "root.a")];
    assert_eq!(parent.parameters, expected.map(|(name, value)| (name.into(), value.into())));
    assert_eq!(all[1].parameters, [("queue".into(), "root.@recovery@".into())]);
}

#[test]
fn an_application_without_a_user_is_shown_as_rejected_and_another_of_its_id_may_come() {
    let mut cluster = Cluster::new(parent("root", vec![leaf("a")]));
    cluster.obey(&Command::RejectApplication(Box::new(RejectApplication {
        partition: "default".into(),
        application: "app".into(),
        queue: "root.a".into(),
        code: "USER".into(),
        message: "nobody knows who it is".into(),
        ..RejectApplication::default()
    })));
    let shown = RejectedView::all(&cluster.0.books, cluster.partition());
    assert_eq!(shown.len(), 1);
    let one = &shown[0];
    assert_eq!((&*one.application, &*one.queue, &*one.user), ("app", "root.a", ""));
    assert_eq!((&*one.code, &*one.message), ("USER", "nobody knows who it is"));
    cluster.submit("app", "root.a", "ann", &[]);
    assert_eq!(ApplicationView::active(&cluster.0.books, cluster.partition()).len(), 1);
    let nameless = Command::RejectApplication(Box::new(RejectApplication {
        partition: "default".into(),
        application: "".into(),
        queue: "".into(),
        code: "USER".into(),
        message: "".into(),
        ..RejectApplication::default()
    }));
    assert_eq!(cluster.0.command(&nameless).unwrap_err().code().as_str(), "EMPTY_NAME");
}
