//! Impossible asks cost nothing while others start, and a node wakes those alone that it may help.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::config::QueueConfig;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};

fn default() -> Name {
    Name::new("default")
}

/// A cluster of one node, run by commands, that counts the classes which the scheduler judges.
struct Counted(World);

impl Counted {
    fn new() -> Self {
        let mut world = World::default();
        let properties = [("application.sort.policy", "fifo-strict")];
        let properties = properties.map(|(key, value)| (Name::new(key), Name::new(value)));
        let queue = QueueConfig { properties: properties.into(), ..leaf("a") };
        let file = partition(parent("root", vec![queue]));
        world.command(&Command::Configure(Box::new(file))).unwrap();
        let mut counted = Self(world);
        counted.node("n1", 8);
        counted
    }

    fn node(&mut self, name: &str, vcore: i64) {
        let add = AddNode {
            partition: default(),
            node: Name::new(name),
            capacity: amounts([("vcore", vcore)]),
            schedulable: true,
            ..AddNode::default()
        };
        self.0.command(&Command::AddNode(add)).unwrap();
    }

    fn ask(&mut self, number: i64, vcore: i64) {
        let application = Name::new(format!("app{number}"));
        let submit = Submit {
            partition: default(),
            application: application.clone(),
            queue: Name::new("root.a"),
            user: Name::new(format!("user{number}")),
            ..Submit::default()
        };
        self.0.command(&Command::Submit(submit)).unwrap();
        let ask = Ask {
            partition: default(),
            key: application.clone(),
            application,
            resources: amounts([("vcore", vcore)]),
            ..Ask::default()
        };
        self.0.command(&Command::Ask(ask)).unwrap();
    }

    fn release(&mut self, number: i64) {
        let name = Name::new(format!("app{number}"));
        let release = Command::Release {
            partition: default(),
            application: name.clone(),
            key: Some(name),
            termination: Termination::StoppedByRm,
        };
        self.0.command(&release).unwrap();
    }

    /// How many classes are judged until nothing moves.
    fn judged(&mut self) -> u64 {
        let before = self.0.scheduler.judged();
        self.0.settle();
        self.0.scheduler.judged() - before
    }
}

/// What is judged as one ask ends and the next starts, and as a node comes that is too small, behind so many
/// impossible asks of their own sizes.
fn judged_behind(impossible: i64) -> (u64, u64, u64) {
    let mut cluster = Counted::new();
    for number in 0..impossible {
        cluster.ask(number, 100 + number);
    }
    cluster.ask(10_000, 8);
    cluster.ask(10_001, 8);
    cluster.judged();
    cluster.release(10_000);
    let start = cluster.judged();
    cluster.node("n2", 9);
    let small = cluster.judged();
    cluster.node("n3", 100);
    (start, small, cluster.judged())
}

#[test]
#[doc(alias = "NS-03")]
fn impossible_asks_cost_nothing_until_a_node_may_help_them() {
    let (few, many) = (judged_behind(10), judged_behind(1_000));
    assert_eq!(few, many, "however many are impossible");
    let (start, small, large) = many;
    assert!(start <= 2 && small <= 2, "{many:?}");
    assert!(large >= 1, "the one that the large node holds was judged");
}
