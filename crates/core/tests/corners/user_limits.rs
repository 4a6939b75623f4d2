//! `userlimits` of the queue file, from partition and queues to what is in force at a leaf.
//! User headroom §4, rules 1, 2 and 4.

use std::sync::Arc;

use headroom_core::config::{
    Configuration, QueueConfig, TemplateConfig, UserFactor, UserLimitsConfig,
};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::testkit::{amounts, leaf, parent};
use headroom_core::userlimit::{Decimal, Formula};
use headroom_core::{Command, Name, Rejection, Submit};

use super::cluster::{Cluster, submit};

fn of_floor(percent: u32) -> UserLimitsConfig {
    UserLimitsConfig { floor: Some(Decimal::whole(percent)), ..UserLimitsConfig::default() }
}

fn with(limits: UserLimitsConfig, queue: QueueConfig) -> QueueConfig {
    QueueConfig { user_limits: Some(limits), ..queue }
}

fn weights(weights: &[(&str, u32)]) -> Vec<(Name, Decimal)> {
    weights.iter().map(|(user, one)| (Name::new(user), Decimal::whole(*one))).collect()
}

fn in_force(cluster: &Cluster, path: &str) -> Option<Arc<UserLimitsConfig>> {
    let books = &cluster.world.books;
    let id = books.queue_at(cluster.partition(), path).expect(path);
    books.queue(id).settings.user_limits.clone()
}

fn floor(cluster: &Cluster, path: &str) -> Option<i64> {
    let limits = in_force(cluster, path)?;
    limits.floor.map(|floor| floor.millionths() / 1_000_000)
}

#[test]
fn a_file_without_the_block_has_it_in_no_queue() {
    let children = vec![parent("p", vec![leaf("a")]), leaf("b")];
    let mut cluster = Cluster::with(parent("root", children));
    cluster.submit("app1", "root.p.made.more");
    let mut count = 0;
    for (_, queue) in cluster.world.books.queues().iter() {
        assert_eq!(queue.settings.user_limits, None, "{}", queue.path);
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn a_leaf_has_what_is_said_nearest_field_by_field() {
    let above = UserLimitsConfig {
        formula: Some(Formula::Yarn3),
        factor: Some(UserFactor::Off),
        weights: weights(&[("ann", 2), ("bob", 2)]),
        ..of_floor(10)
    };
    let p = UserLimitsConfig { weights: weights(&[("ann", 3)]), ..of_floor(20) };
    let own = UserLimitsConfig {
        factor: Some(UserFactor::Times(Decimal::whole(4))),
        ..UserLimitsConfig::default()
    };
    let children = vec![with(p, parent("p", vec![with(own, leaf("a")), leaf("b")])), leaf("c")];
    let mut file = Cluster::file(parent("root", children));
    file.partitions[0].user_limits = Some(above.clone());
    let mut cluster = Cluster::default();
    cluster.configure(file);
    for path in ["root", "root.c"] {
        assert_eq!(in_force(&cluster, path).as_deref(), Some(&above), "{path}");
    }
    let below = UserLimitsConfig { weights: weights(&[("ann", 3), ("bob", 2)]), ..above };
    let below = UserLimitsConfig { floor: Some(Decimal::whole(20)), ..below };
    for path in ["root.p", "root.p.b"] {
        assert_eq!(in_force(&cluster, path).as_deref(), Some(&below), "{path}");
    }
    let factor = Some(UserFactor::Times(Decimal::whole(4)));
    let a = UserLimitsConfig { factor, ..below };
    assert_eq!(in_force(&cluster, "root.p.a").as_deref(), Some(&a));
    // What nobody changes is held once.
    let (p, b) = (in_force(&cluster, "root.p").unwrap(), in_force(&cluster, "root.p.b").unwrap());
    assert!(Arc::ptr_eq(&p, &b));
}

#[test]
fn a_leaf_made_by_a_rule_has_its_template_over_what_is_above() {
    let template = TemplateConfig { user_limits: Some(of_floor(30)), ..TemplateConfig::default() };
    let p = QueueConfig { template: Some(template), ..parent("p", vec![parent("q", vec![])]) };
    let factor = Some(UserFactor::Off);
    let root = UserLimitsConfig { factor, ..of_floor(50) };
    let mut cluster = Cluster::with(with(root, parent("root", vec![p, parent("r", vec![])])));
    for (application, queue, expected) in [
        ("app1", "root.p.made", 30),
        ("app2", "root.p.q.x.made", 30),
        ("app3", "root.r.x.made", 50),
    ] {
        cluster.submit(application, queue);
        assert_eq!(floor(&cluster, queue), Some(expected), "{queue}");
        assert_eq!(in_force(&cluster, queue).unwrap().factor, factor);
    }
    // A template is for leaves.
    for parent in ["root.p", "root.p.q.x", "root.r.x"] {
        assert_eq!(floor(&cluster, parent), Some(50), "{parent}");
    }
}

#[test]
fn the_recovery_queue_has_no_user_limits() {
    let mut cluster = Cluster::with(with(of_floor(50), parent("root", vec![leaf("a")])));
    let forced = vec![(Name::new("application.create.force"), Name::new("true"))];
    let lost = Submit { tags: forced, ..submit("app1", "") };
    cluster.command(&Command::Submit(lost));
    assert_eq!(in_force(&cluster, "root.@recovery@"), None);
}

fn of_maximum(maximum: Option<Amounts>) -> UserLimitsConfig {
    UserLimitsConfig { maximum_allocation: maximum, ..UserLimitsConfig::default() }
}

fn file(maximum: Option<Amounts>) -> Configuration {
    let p = with(of_maximum(maximum), parent("p", vec![leaf("a")]));
    Cluster::file(parent("root", vec![p]))
}

#[test]
fn the_maximum_allocation_of_a_leaf_that_is_there_is_only_raised() {
    let max = |memory, vcore| Some(amounts([("memory", memory), ("vcore", vcore)]));
    let mut cluster = Cluster::default();
    cluster.configure(file(None));
    // A bound where there was none; more; a type less; another one more.
    for maximum in
        [max(10, 1_000), max(10, 2_000), Some(amounts([("vcore", 2_000)])), max(5, 2_000)]
    {
        cluster.configure(file(maximum));
    }
    let before = cluster.world.books.clone();
    let refuse = |cluster: &mut Cluster, file: Configuration| {
        cluster.world.command(&Command::Configure(Box::new(file))).unwrap_err()
    };
    let refused = refuse(&mut cluster, file(max(6, 1_500)));
    assert_eq!(refused.code().as_str(), "MAXIMUM_ALLOCATION_LOWERED");
    assert_eq!(
        refused.to_string(),
        "queue root.p.a accepts asks of up to 2000m vcore, but the new queue file sets 1500m. \
         `maximumallocation` of an existing queue can only increase. Nothing was changed. Set \
         2000m or more."
    );
    // What changes elsewhere in the same file does not come into force either.
    let mut two = file(max(4, 2_000));
    two.partitions[0].root.children.push(leaf("b"));
    let Rejection::MaximumAllocationLowered { queue, resource, known, given } =
        refuse(&mut cluster, two)
    else {
        panic!("another refusal")
    };
    assert_eq!((queue.as_str(), resource.as_str()), ("root.p.a", "memory"));
    assert_eq!((known.get(), given.get()), (5, 4));
    assert_eq!(cluster.world.books, before);
    // Without the block, and below a parent that has no leaf of the file, there is nothing to lower.
    cluster.configure(file(None));
    cluster.configure(file(max(1, 1)));
    assert_eq!(in_force(&cluster, "root.p.a").unwrap().maximum_allocation, max(1, 1));
}

#[test]
fn types_of_user_limits_count_as_all_others() {
    let many = |prefix: &str, count: usize| -> Amounts {
        let amount = |number| (format!("{prefix}{number}"), Quantity::of(1));
        (0..count).map(amount).collect()
    };
    let of = |amounts| UserLimitsConfig { increment: Some(amounts), ..UserLimitsConfig::default() };
    let template =
        TemplateConfig { user_limits: Some(of(many("t", 400))), ..TemplateConfig::default() };
    let p = QueueConfig { template: Some(template), ..parent("p", vec![]) };
    let p = with(of(many("q", 400)), p);
    let mut file = Cluster::file(parent("root", vec![p]));
    file.partitions[0].user_limits = Some(of(many("p", 400)));
    let mut cluster = Cluster::default();
    let command = Command::Configure(Box::new(file));
    let refused = cluster.world.command(&command).unwrap_err();
    let Rejection::TooManyTypes { added, .. } = refused else { panic!("{refused}") };
    assert_eq!(added, 1_200);
}
