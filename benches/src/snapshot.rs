//! Books as large as those of benchmark B5, to bytes and back.

use std::fs::File;
use std::io::{self, Read as _};

use headroom_core::books::Books;
use headroom_core::config::{Configuration, LimitConfig, PartitionConfig, QueueConfig};
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit};
use headroom_engine::snapshot;

use crate::cluster::Cluster;

/// Allocations of the books.
pub const ALLOCATIONS: u64 = 1_000_000;

/// Applications of the books.
pub const APPLICATIONS: u64 = 100_000;

const QUEUES: u64 = 100;
const USERS: u64 = 2_000;
const NODES: u64 = 10_000;
const SIZES: u64 = 100;

/// 100,000 applications of 2,000 limited users in 100 queues, with ten allocations each, of a
/// hundred sizes, on 10,000 nodes. Keys are as Kubernetes makes them: 36 characters of chance.
pub fn books() -> Books {
    let mut cluster = Cluster::default();
    commands(&mut |command| cluster.command(&command));
    cluster.books
}

/// The commands that make them.
pub fn commands(give: &mut impl FnMut(Command)) {
    give(Command::Configure(Box::new(configuration(None))));
    let partition = Name::new("default");
    let much = Amounts::from([("memory", 1 << 40), ("vcore", 1 << 30)]);
    for number in 0..NODES {
        give(Command::AddNode(AddNode {
            partition: partition.clone(),
            node: Name::from(format!("node-{number}")),
            capacity: much.clone(),
            schedulable: true,
            ..AddNode::default()
        }));
    }
    let mut chance = Chance(1);
    for number in 0..APPLICATIONS {
        let application = Name::from(format!("application_1700000000000_{number}"));
        give(Command::Submit(Submit {
            partition: partition.clone(),
            application: application.clone(),
            queue: Name::from(format!("root.q{}", number % QUEUES)),
            user: Name::from(format!("user-{}", number / 7 % USERS)),
            groups: vec![Name::new("staff"), Name::from(format!("group-{}", number / 7 % 50))],
            ..Submit::default()
        }));
        for _ in 0..ALLOCATIONS / APPLICATIONS {
            give(ask_for(application.clone(), &mut chance));
        }
    }
}

/// Another ask of one of the applications, which is placed already.
pub fn ask(chance: &mut Chance) -> Command {
    let number = chance.below(APPLICATIONS);
    ask_for(Name::from(format!("application_1700000000000_{number}")), chance)
}

fn ask_for(application: Name, chance: &mut Chance) -> Command {
    let size = 1 + i64::try_from(chance.below(SIZES)).expect("it is small");
    Command::Ask(Ask {
        partition: Name::new("default"),
        application,
        key: chance.key(),
        resources: Amounts::from([("memory", size << 28), ("vcore", size * 100)]),
        node: Some(Name::from(format!("node-{}", chance.below(NODES)))),
        ..Ask::default()
    })
}

/// Their queue file; with this as the maximum of each leaf.
pub fn configuration(max: Option<&Amounts>) -> Configuration {
    let partitions = vec![PartitionConfig::new("default", root(max))];
    Configuration { partitions, ..Configuration::default() }
}

fn root(max: Option<&Amounts>) -> QueueConfig {
    let limit = LimitConfig {
        users: vec![Name::new("*")],
        max_resources: Amounts::from([("vcore", 1 << 40)]),
        ..LimitConfig::default()
    };
    let leaf = |number| QueueConfig {
        name: Name::from(format!("q{number}")),
        limits: vec![limit.clone()],
        max: max.cloned().unwrap_or_default(),
        ..QueueConfig::default()
    };
    QueueConfig {
        name: Name::new("root"),
        parent: true,
        children: (0..QUEUES).map(leaf).collect(),
        submit_acl: "*".into(),
        ..QueueConfig::default()
    }
}

/// Numbers that repeat: a linear congruential generator. Source: Knuth, TAOCP 2, section 3.3.4.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// Numbers that differ with this one.
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ (self.0 >> 33)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }

    fn key(&mut self) -> Name {
        let text = format!("{:016x}{:016x}", self.next(), self.next());
        let parts = [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]];
        Name::from(parts.join("-"))
    }
}

/// Books as bytes.
pub fn written(books: &Books) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot::write(books, &mut bytes).expect("books can be written to memory");
    bytes
}

/// The books of bytes.
pub fn read(mut bytes: &[u8]) -> Books {
    snapshot::read(&mut bytes, u64::MAX).expect("what was written can be read")
}

/// Read the books of a file: what they take in memory, and at most while they are read; bytes.
///
/// # Errors
/// When the file, or what the system says of this process, cannot be read.
pub fn weigh(path: &str) -> io::Result<(u64, u64)> {
    let books: Books =
        snapshot::read(&mut File::open(path)?, u64::MAX).map_err(io::Error::other)?;
    let mut status = String::new();
    File::open("/proc/self/status")?.read_to_string(&mut status)?;
    let figure = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.map(|kibibytes| kibibytes << 10).ok_or_else(|| io::Error::other("no such figure"))
    };
    let figures = (figure("VmRSS:")?, figure("VmHWM:")?);
    drop(books);
    Ok(figures)
}
