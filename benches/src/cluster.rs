//! Clusters to measure on, made by commands as a client would.

use headroom_core::books::Books;
use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::resource::Amounts;
use headroom_core::{
    AddNode, Ask, Command, Name, Scheduler, Step, Submit, Termination, Timestamp, decide,
};

/// Books and a scheduler, with asks accepted and nothing placed.
#[derive(Debug)]
pub struct Cluster {
    /// The facts.
    pub books: Books,
    /// The mind.
    pub scheduler: Scheduler,
    /// The time of what happens next.
    pub now: Timestamp,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { books: Books::default(), scheduler: Scheduler::default(), now: NOW }
    }
}

const NOW: Timestamp = Timestamp::from_millis(1_000);

impl Cluster {
    /// The reference's own benchmark (benchmarks, B1): queues a and b with guarantees, one
    /// application each of one user, half of the asks each, nodes alike with room for
    /// ⌊asks/nodes⌋ + 1 asks, fair node order, no limits.
    pub fn b1(nodes: u64, asks: u64) -> Self {
        let mut cluster = Self::default();
        cluster.command(&Command::Configure(Box::new(b1_configuration())));
        cluster.add_nodes(nodes, asks / nodes + 1);
        for queue in ["a", "b"] {
            cluster.submit(queue);
            for number in 0..asks / 2 {
                cluster.ask(queue, number);
            }
        }
        cluster
    }

    /// Like [`Cluster::b1`], with room for only this many of the asks.
    pub fn b1_with_room(nodes: u64, asks: u64, room: u64) -> Self {
        let mut cluster = Self::default();
        cluster.command(&Command::Configure(Box::new(b1_configuration())));
        cluster.add_nodes(nodes, room / nodes);
        for queue in ["a", "b"] {
            cluster.submit(queue);
            for number in 0..asks / 2 {
                cluster.ask(queue, number);
            }
        }
        cluster
    }

    /// A full cluster of 1,000 nodes in one queue, and this many users who wait with one equal
    /// ask each.
    pub fn crowd(users: u64) -> Self {
        let mut cluster = Self::default();
        cluster.command(&Command::Configure(Box::new(b1_configuration())));
        cluster.add_nodes(1_000, 1);
        for number in 0..users + 1_000 {
            let name = format!("user-{number}");
            cluster.submit_as(&name, "root.a", &name);
            cluster.ask(&name, number);
        }
        assert_eq!(cluster.place(u64::MAX), 1_000, "one ask fits on each node");
        cluster
    }

    /// Release the oldest allocations one by one, and let the scheduler place after each.
    pub fn release_and_place(&mut self, count: u64) {
        for number in 0..count {
            self.command(&Command::Release {
                partition: Name::new("default"),
                application: Name::from(format!("app-user-{number}")),
                key: Some(Name::from(format!("user-{number}-{number}"))),
                termination: Termination::StoppedByRm,
            });
            assert_eq!(self.place(u64::MAX), 1, "what was freed is used at once");
        }
    }

    /// Let the scheduler place until it is idle, at most `most` placements; how many it made.
    pub fn place(&mut self, most: u64) -> u64 {
        let before = self.placed();
        let mut events = Vec::new();
        while self.placed() - before < most {
            if self.scheduler.next(&self.books, self.now, &mut events) != Step::Moved {
                break;
            }
            for event in events.drain(..) {
                self.scheduler.apply(&mut self.books, self.now, &event);
            }
        }
        self.placed() - before
    }

    /// Allocations in force.
    pub fn placed(&self) -> u64 {
        self.books.partitions().values().map(|partition| partition.allocation_count).sum()
    }

    /// Carry a command out.
    ///
    /// # Panics
    /// When it is refused: these clusters are legal.
    pub fn command(&mut self, command: &Command) {
        let events =
            decide(&self.books, self.now, command).expect("a benchmark's command is legal");
        for event in &events {
            self.scheduler.apply(&mut self.books, self.now, event);
        }
    }

    fn add_nodes(&mut self, nodes: u64, asks_a_node: u64) {
        let room = i64::try_from(asks_a_node).unwrap_or(i64::MAX);
        for number in 0..nodes {
            self.command(&Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: Name::from(format!("node-{number:06}")),
                capacity: Amounts::from([("memory", 10 * room), ("vcore", room)]),
                schedulable: true,
                ..AddNode::default()
            }));
        }
    }

    fn submit(&mut self, queue: &str) {
        self.submit_as(queue, &format!("root.{queue}"), "user");
    }

    fn submit_as(&mut self, name: &str, queue: &str, user: &str) {
        self.command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: Name::from(format!("app-{name}")),
            queue: Name::new(queue),
            user: Name::new(user),
            ..Submit::default()
        }));
    }

    fn ask(&mut self, queue: &str, number: u64) {
        self.command(&Command::Ask(Ask {
            partition: Name::new("default"),
            application: Name::from(format!("app-{queue}")),
            key: Name::from(format!("{queue}-{number}")),
            resources: Amounts::from([("memory", 10), ("vcore", 1)]),
            ..Ask::default()
        }));
    }
}

/// Queues a and b, with guarantees.
pub fn b1_configuration() -> Configuration {
    let queue = |name: &str, memory: i64| QueueConfig {
        name: Name::new(name),
        // As written in a queue file: 10,000 cores are 10,000,000 millicores.
        guaranteed: Amounts::from([("memory", memory), ("vcore", 10_000_000)]),
        ..QueueConfig::default()
    };
    let root = QueueConfig {
        name: Name::new("root"),
        parent: true,
        children: vec![queue("a", 100_000), queue("b", 1_000_000)],
        submit_acl: "*".into(),
        ..QueueConfig::default()
    };
    let partitions = vec![crate::partition(root)];
    Configuration { partitions, ..Configuration::default() }
}
