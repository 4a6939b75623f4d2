//! A maximum that three greedy queues share, and an ask above its quota.

use expect_test::expect;
use headroom_core::books::Queue;
use headroom_core::config::QueueConfig;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Event, Step, Submit};

use crate::check;

const CHILDREN: [&str; 3] = ["child1", "child2", "child3"];

/// `root.parent` with a maximum of 900, and three queues below: one without a maximum, and two with 750 each.
/// Applications in them wait in the order of `policy`.
struct Family {
    world: World,
    /// The most that was used at any moment.
    most: i64,
}

impl Family {
    fn new(policy: &str) -> Self {
        let child = |(name, max): (&str, i64)| {
            let mut child = leaf(name);
            child.properties.insert("application.sort.policy".into(), policy.into());
            if max > 0 {
                child.max = amounts([("memory", max)]);
            }
            child
        };
        let children = CHILDREN.into_iter().zip([0, 750, 750]).map(child).collect();
        let family = QueueConfig { max: amounts([("memory", 900)]), ..parent("parent", children) };
        let mut new = Self { world: World::default(), most: 0 };
        let file = partition(parent("root", vec![family]));
        new.command(&Command::Configure(Box::new(file)));
        for name in CHILDREN {
            for number in 1..=2 {
                new.command(&Command::Submit(Submit {
                    partition: "default".into(),
                    application: format!("{name}-{number}").into(),
                    queue: format!("root.parent.{name}").into(),
                    user: "ann".into(),
                    ..Submit::default()
                }));
            }
        }
        new
    }

    fn node(&mut self) {
        self.command(&Command::AddNode(AddNode {
            partition: "default".into(),
            node: "n1".into(),
            capacity: amounts([("memory", 10_000)]),
            schedulable: true,
            ..AddNode::default()
        }));
    }

    /// Ask for 100 more in each of these children, by their numbers, in this order.
    fn ask(&mut self, children: impl IntoIterator<Item = usize>) {
        self.ask_of(100, children);
    }

    /// Ask for `memory` more; a child's two applications ask in turn.
    fn ask_of(&mut self, memory: i64, children: impl IntoIterator<Item = usize>) {
        for child in children {
            let count = self.world.journal.len();
            self.command(&Command::Ask(Ask {
                partition: "default".into(),
                application: format!("{}-{}", CHILDREN[child - 1], 1 + count % 2).into(),
                key: format!("k{count}").into(),
                resources: amounts([("memory", memory)]),
                ..Ask::default()
            }));
        }
    }

    /// Carry a command out and let the scheduler move; after each event the sum is looked at.
    fn command(&mut self, command: &Command) {
        let events = self.world.command(command).unwrap();
        self.look(&events);
        loop {
            let mut events = Vec::new();
            let step = self.world.scheduler.next(&self.world.books, self.world.now, &mut events);
            if step != Step::Moved {
                return;
            }
            for event in &events {
                self.world.apply(event);
            }
            self.look(&events);
        }
    }

    fn look(&mut self, events: &[Event]) {
        let sum: i64 = self.used().iter().sum();
        assert!(sum <= 900, "{sum} is used after {events:?}");
        self.most = self.most.max(sum);
        self.world.books.check().unwrap();
    }

    /// What each child uses.
    fn used(&self) -> [i64; 3] {
        self.of_each(|queue| queue.allocated.total())
    }

    /// What each child asks for and does not have.
    fn waiting(&self) -> [i64; 3] {
        self.of_each(|queue| queue.pending.total())
    }

    fn of_each(&self, amount: impl Fn(&Queue) -> i128) -> [i64; 3] {
        let books = &self.world.books;
        let partition = books.partition_named("default").unwrap();
        CHILDREN.map(|name| {
            let queue = books.queue_at(partition, &format!("root.parent.{name}")).unwrap();
            amount(books.queue(queue)).try_into().unwrap()
        })
    }
}

#[test]
#[doc(alias = "SD-20")]
fn the_first_child_takes_all_when_it_comes_first() {
    for policy in ["fifo", "fair"] {
        let mut family = Family::new(policy);
        family.node();
        family.ask([1; 11]);
        family.ask([2; 11]);
        family.ask([3; 11]);
        assert_eq!(family.used(), [900, 0, 0], "{policy}");
        assert_eq!(family.waiting(), [200, 1_100, 1_100], "{policy}");
        assert_eq!(family.most, 900, "{policy}");
    }
}

#[test]
#[doc(alias = "SD-20")]
fn children_that_ask_in_turn_or_wait_together_share_alike() {
    for policy in ["fifo", "fair"] {
        let in_turn = (0..33).map(|number| 1 + number % 3);
        let mut family = Family::new(policy);
        family.node();
        family.ask(in_turn.clone());
        assert_eq!(family.used(), [300; 3], "{policy}, in turn");
        // All wait already when the cluster gets its first node: shares decide, not arrival.
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
            let mut family = Family::new(policy);
            for child in order {
                family.ask([child; 11]);
            }
            family.node();
            assert_eq!(family.used(), [300; 3], "{policy}, {order:?}");
            assert_eq!((family.waiting(), family.most), ([800; 3], 900), "{policy}, {order:?}");
        }
    }
}

#[test]
#[doc(alias = "SD-20")]
fn a_child_stops_at_its_own_maximum_and_another_takes_the_rest() {
    for policy in ["fifo", "fair"] {
        let mut family = Family::new(policy);
        family.node();
        family.ask([2; 11]);
        family.ask([3; 11]);
        family.ask([1; 11]);
        assert_eq!(family.used(), [0, 700, 200], "{policy}: no more of 100 fit into 750");
        let mut family = Family::new(policy);
        family.node();
        family.ask_of(50, [2; 22]);
        family.ask_of(50, [3; 22]);
        family.ask_of(50, [1; 22]);
        assert_eq!(family.used(), [0, 750, 150], "{policy}");
        assert_eq!((family.waiting(), family.most), ([1_100, 350, 950], 900), "{policy}");
    }
}

#[test]
#[doc(alias = "SD-23")]
fn an_ask_above_the_quota_is_accepted_waits_uncounted_and_starts_on_a_release() {
    check(
        "
        queue root.a max vcore=4
        limit root.a user ann apps=5
        node n1 vcore=16
        app app1 root.a ann
        app app2 root.a ann
        ask a1 app1 vcore=3
        ask b1 app2 vcore=2
        show root.a
        show app2
        show user ann
        release a1
        show root.a
        show app2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask b1: app2 Accepted
              b1 waits QUEUE_MAX: queue root.a has 1 of 4 vcore available, but the ask needs 2. Wait for a release, or raise the maximum.
              root.a: in force {vcore: 4000 m}, uses {vcore: 3000 m}, headroom {vcore: 1000 m}, share 0.75, runs 1
              app2: Accepted in root.a, no group, uses {}, user headroom none
              ann at root.a: uses {vcore: 3000 m}, left none, runs 1
              ann at root: uses {vcore: 3000 m}, left none, runs 1
            release a1: a1 released, app1 Completing, b1 on n1, app2 Running
              root.a: in force {vcore: 4000 m}, uses {vcore: 2000 m}, headroom {vcore: 2000 m}, share 0.5, runs 1
              app2: Running in root.a, no group, uses {vcore: 2000 m}, user headroom none
        "#]],
    );
}
