//! A full cluster and many asks that cannot run, with nodes reserved for the first asks.

use std::time::{Duration, Instant};

use headroom_core::config::{Configuration, LimitConfig, QueueConfig};
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination, Timestamp};

use crate::cluster::Cluster;

/// Benchmarks, B3.
const NODES: u64 = 10_000;
const QUEUES: u64 = 1_000;
const USERS: u64 = 2_000;
const SHAPES: u64 = 1_000;

/// When everything is asked for, and when it is old enough to have nodes reserved.
const ASKED: Timestamp = Timestamp::from_millis(1_000);
const LATER: Timestamp = Timestamp::from_millis(4_000);

/// The cluster, and how far its allocations were released.
#[derive(Debug, Default)]
pub struct Full {
    cluster: Cluster,
    released: u64,
}

impl Full {
    /// 10,000 nodes of 100 by 100 with two allocations of 40 by 40 on each, and this many asks
    /// of 30 to 39 by 30 to 59 that wait: no node has room for any, the cluster as a whole has.
    pub fn waiting(asks: u64) -> Self {
        let mut full = Self::default();
        full.cluster.now = ASKED;
        full.command(&Command::Configure(Box::new(configuration())));
        for node in 0..NODES {
            full.command(&Command::AddNode(AddNode {
                partition: Name::new("default"),
                node: node_name(node),
                capacity: size(100, 100),
                schedulable: true,
                ..AddNode::default()
            }));
        }
        for user in 0..USERS {
            full.command(&Command::Submit(Submit {
                partition: Name::new("default"),
                application: application(user),
                queue: Name::from(format!("root.q{:04}", user % QUEUES)),
                user: Name::from(format!("user-{user}")),
                ..Submit::default()
            }));
        }
        for number in 0..2 * NODES {
            let on = Some(node_name(number % NODES));
            full.ask(number % USERS, held(number), size(40, 40), on);
        }
        for number in 0..asks {
            let shape = number.wrapping_mul(2_654_435_761) % SHAPES;
            let wanted = size(30 + shape % 10, 30 + shape / 10 % 30);
            full.ask(number % USERS, Name::from(format!("a-{number}")), wanted, None);
        }
        full
    }

    /// Let the scheduler look at everything that waits.
    pub fn look_at_all(&mut self) {
        self.cluster.place(u64::MAX);
    }

    /// Let time pass until nodes are reserved. Returns their number.
    pub fn keep_nodes(&mut self) -> u64 {
        self.look_at_all();
        self.cluster.now = LATER;
        self.cluster.place(u64::MAX);
        self.cluster.books.partitions().values().map(|one| one.reservation_count).sum()
    }

    /// Release one allocation after another and let the scheduler move after each: how long each
    /// took, from the command to idleness.
    ///
    /// # Panics
    /// When a release lets nobody start.
    pub fn release(&mut self, count: u64) -> Vec<Duration> {
        let times = (0..count).map(|_| {
            let command = Command::Release {
                partition: Name::new("default"),
                application: application(self.released % USERS),
                key: Some(held(self.released)),
                termination: Termination::StoppedByRm,
            };
            self.released += 1;
            let start = Instant::now();
            self.command(&command);
            let placed = self.cluster.place(u64::MAX);
            let took = start.elapsed();
            assert!(placed >= 1, "what was freed is used at once");
            took
        });
        let mut times: Vec<Duration> = times.collect();
        times.sort_unstable();
        times
    }

    /// The cluster as it is.
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// # Panics
    /// When the books do not balance.
    pub fn check(&self) {
        self.cluster.books.check().expect("the books balance");
    }

    fn command(&mut self, command: &Command) {
        self.cluster.command(command);
    }

    fn ask(&mut self, user: u64, key: Name, resources: Amounts, node: Option<Name>) {
        self.command(&Command::Ask(Ask {
            partition: Name::new("default"),
            application: application(user),
            key,
            resources,
            node,
            ..Ask::default()
        }));
    }
}

fn node_name(number: u64) -> Name {
    Name::from(format!("node-{number:06}"))
}

fn application(user: u64) -> Name {
    Name::from(format!("app-{user}"))
}

fn held(number: u64) -> Name {
    Name::from(format!("held-{number}"))
}

fn size(vcore: u64, memory: u64) -> Amounts {
    let amount = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Amounts::from([("memory", amount(memory)), ("vcore", amount(vcore))])
}

/// Leaves below the root, and every user limited there, above what each user reaches.
fn configuration() -> Configuration {
    let leaf = |number| QueueConfig {
        name: Name::from(format!("q{number:04}")),
        ..QueueConfig::default()
    };
    let limit = LimitConfig {
        users: vec![Name::new("*")],
        max_resources: size(100_000, 100_000),
        ..LimitConfig::default()
    };
    let root = QueueConfig {
        name: Name::new("root"),
        parent: true,
        children: (0..QUEUES).map(leaf).collect(),
        submit_acl: "*".into(),
        limits: vec![limit],
        ..QueueConfig::default()
    };
    let partitions = vec![crate::partition(root)];
    Configuration { partitions, ..Configuration::default() }
}
