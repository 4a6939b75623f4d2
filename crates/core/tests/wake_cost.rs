//! A release or a new node checks only the classes that it can help, and few of those.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::num::NonZeroU16;

use headroom_core::books::{NodeVerdict, Questions};
use headroom_core::config::QueueConfig;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination, Verdicts};

fn default() -> Name {
    Name::new("default")
}

/// A cluster that runs commands and counts the classes that the scheduler checks.
struct Counted(World);

impl Counted {
    /// A leaf with a line, and one node.
    fn new() -> Self {
        let properties = [("application.sort.policy", "fifo-strict")];
        let properties = properties.map(|(key, value)| (Name::new(key), Name::new(value)));
        let mut counted =
            Self::of(vec![QueueConfig { properties: properties.into(), ..leaf("a") }]);
        counted.node("n1", 8);
        counted
    }

    fn of(leaves: Vec<QueueConfig>) -> Self {
        let mut world = World::default();
        let file = partition(parent("root", leaves));
        world.command(&Command::Configure(Box::new(file))).unwrap();
        Self(world)
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
        self.ask_in("root.a", number, vcore);
    }

    fn ask_in(&mut self, queue: &str, number: i64, vcore: i64) {
        let application = Name::new(format!("app{number}"));
        let submit = Submit {
            partition: default(),
            application: application.clone(),
            queue: Name::new(queue),
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

    fn settle(&mut self) {
        self.0.settle();
    }

    fn running(&self) -> usize {
        self.0.books.allocations().iter().filter(|(_, row)| !row.is_pending()).count()
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

/// Number of checked classes after a release on one of three nodes. In each of some leaves, asks of 20 sizes wait
/// that fit what is released.
fn checked_after_release(leaves: i64) -> u64 {
    let names: Vec<String> = (0..leaves).map(|number| format!("q{number}")).collect();
    let mut cluster = Counted::of(names.iter().map(|name| leaf(name)).collect());
    for number in 0..3 {
        cluster.node(&format!("n{number}"), 100);
        cluster.ask_in("root.q0", 10_000 + number, 70);
    }
    for (number, leaf) in (0..leaves).zip(&names) {
        for size in 0..20 {
            cluster.ask_in(&format!("root.{leaf}"), 20 * number + size, 51 + size);
        }
    }
    cluster.settle();
    cluster.release(10_000);
    let checked = cluster.judged();
    assert_eq!(cluster.running(), 3, "one ask starts where the other ended");
    checked
}

#[test]
fn a_release_checks_few_of_the_leaves_and_sizes_that_fit_the_node() {
    let (few, many) = (checked_after_release(2), checked_after_release(50));
    assert_eq!(few, many, "regardless of the number of leaves and sizes");
    assert!(many <= 3, "{many}");
}

/// So many asks of an application, whose queue allows one, where the RM is asked about nodes for one ask at once.
fn with_questions(asks: u32) -> Counted {
    let properties = [(Name::new("application.sort.policy"), Name::new("fair"))].into();
    let max = amounts([("vcore", 1)]);
    let mut cluster = Counted::of(vec![QueueConfig { max, properties, ..leaf("a") }]);
    let questions = Some(Questions { victims: false, at_once: NonZeroU16::MIN });
    let partition = default();
    cluster.0.command(&Command::SetQuestions { partition, questions }).unwrap();
    cluster.node("n1", 100);
    cluster.ask(0, 1);
    for number in 1..asks {
        let ask = Ask {
            partition: default(),
            key: Name::new(format!("ask{number}")),
            application: Name::new("app0"),
            resources: amounts([("vcore", 1)]),
            ..Ask::default()
        };
        cluster.0.command(&Command::Ask(ask)).unwrap();
    }
    cluster
}

/// Accepts the node for the first ask, in answer to the last question.
fn accept(cluster: &mut Counted) {
    let answer = Verdicts {
        partition: default(),
        key: Name::new("app0"),
        question: cluster.0.books.questions_put(),
        verdicts: vec![(Name::new("n1"), NodeVerdict::Suits)],
    };
    cluster.0.command(&Command::Verdicts(answer)).unwrap();
}

/// Number of checked classes until one of so many asks runs.
fn checked_with_questions(asks: u32) -> u64 {
    let mut cluster = with_questions(asks);
    let asked = cluster.judged();
    accept(&mut cluster);
    let placed = cluster.judged();
    assert_eq!(cluster.running(), 1);
    asked + placed
}

#[test]
fn asks_about_which_the_rm_was_not_asked_are_checked_as_one() {
    assert_eq!(checked_with_questions(10), checked_with_questions(1_000));
}

#[test]
fn an_ask_is_alone_while_the_rm_is_asked_or_has_answered() {
    let mut cluster = with_questions(3);
    let is_alone = |cluster: &Counted| {
        let World { books, scheduler, .. } = &cluster.0;
        let class_of = |key: &str| {
            let (ask, _) = books.allocations().iter().find(|(_, row)| *row.key == *key).unwrap();
            scheduler.class_of(books, ask).unwrap()
        };
        assert_eq!(class_of("ask1"), class_of("ask2"));
        class_of("app0") != class_of("ask1")
    };
    cluster.settle();
    assert!(is_alone(&cluster));
    // The node changes before the answer, so the answer is invalid.
    let (partition, node) = (default(), Name::new("n1"));
    cluster.0.command(&Command::VoidVerdicts { partition, node }).unwrap();
    accept(&mut cluster);
    assert!(!is_alone(&cluster));
    cluster.settle();
    assert!(is_alone(&cluster), "the RM is asked about it again");
    assert_eq!(cluster.0.books.questions_put(), 2);
    accept(&mut cluster);
    cluster.settle();
    assert_eq!(cluster.running(), 1);
}
