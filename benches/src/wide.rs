//! Wide clusters: many queues, users, applications and nodes.

use headroom_core::config::{Configuration, LimitConfig, PartitionConfig, QueueConfig};
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit};

use crate::cluster::Cluster;

/// How wide a cluster is.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// Leaves, each three levels below the root.
    pub queues: u64,
    /// Users; each has the limit of every user at the root and at the user's leaves.
    pub users: u64,
    /// Applications, dealt to queues and users in turn.
    pub applications: u64,
    /// Nodes, alike.
    pub nodes: u64,
    /// Asks, dealt to applications in turn.
    pub asks: u64,
    /// Distinct sizes of asks, at most 100, dealt to asks in turn.
    pub sizes: u64,
}

impl Width {
    /// Benchmarks, B1w.
    pub const B1W: Self = Self {
        queues: 1_000,
        users: 2_000,
        applications: 2_000,
        nodes: 10_000,
        asks: 100_000,
        sizes: 1,
    };
    /// Benchmarks, B4: one of these grows.
    pub const B4: Self = Self {
        queues: 1_000,
        users: 1_000,
        applications: 1_000,
        nodes: 1_000,
        asks: 100_000,
        sizes: 1,
    };
}

/// Such a cluster with all asks accepted and nothing placed; there is room for all. Applications
/// go by fair share, and so do nodes.
pub fn wide(width: Width) -> Cluster {
    let mut cluster = Cluster::default();
    cluster.command(&Command::Configure(Box::new(configuration(width.queues))));
    let room = 10 * (width.asks / width.nodes + 2);
    for node in 0..width.nodes {
        cluster.command(&Command::AddNode(AddNode {
            partition: Name::new("default"),
            node: Name::from(format!("node-{node:06}")),
            capacity: size(room, room),
            schedulable: true,
            ..AddNode::default()
        }));
    }
    for number in 0..width.applications {
        cluster.command(&Command::Submit(Submit {
            partition: Name::new("default"),
            application: application(number),
            queue: Name::from(path(width.queues, number % width.queues)),
            user: Name::from(format!("user-{}", number % width.users)),
            ..Submit::default()
        }));
    }
    for number in 0..width.asks {
        cluster.command(&Command::Ask(Ask {
            partition: Name::new("default"),
            application: application(number % width.applications),
            key: Name::from(format!("a-{number}")),
            resources: {
                let shape = number.wrapping_mul(2_654_435_761) / 97 % width.sizes;
                size(1 + shape % 10, 10 - shape / 10)
            },
            ..Ask::default()
        }));
    }
    cluster
}

fn application(number: u64) -> Name {
    Name::from(format!("app-{number}"))
}

fn size(vcore: u64, memory: u64) -> Amounts {
    let amount = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Amounts::from([("memory", amount(memory)), ("vcore", amount(vcore))])
}

/// How many queues are below each, so that there are this many leaves three levels down.
fn branches(queues: u64) -> u64 {
    (1..=queues).find(|count| count * count * count >= queues).unwrap_or(1)
}

fn path(queues: u64, leaf: u64) -> String {
    let each = branches(queues);
    format!("root.a{:03}.b{:03}.q{leaf:06}", leaf / (each * each), leaf / each % each)
}

fn configuration(queues: u64) -> Configuration {
    let limit = || LimitConfig {
        users: vec![Name::new("*")],
        max_resources: size(1_000_000_000, 1_000_000_000),
        ..LimitConfig::default()
    };
    let each = branches(queues);
    let named = |name: String, children: Vec<QueueConfig>| QueueConfig {
        name: Name::from(name),
        parent: !children.is_empty(),
        children,
        ..QueueConfig::default()
    };
    let leaf = |number: u64| QueueConfig {
        limits: vec![limit()],
        ..named(format!("q{number:06}"), Vec::new())
    };
    let below = |top: u64, middle: u64| -> Vec<QueueConfig> {
        let first = (top * each + middle) * each;
        (first..(first + each).min(queues)).map(leaf).collect()
    };
    let middle = |top: u64| -> Vec<QueueConfig> {
        let all = (0..each).map(|middle| named(format!("b{middle:03}"), below(top, middle)));
        all.filter(|queue| queue.parent).collect()
    };
    let tops = (0..each).map(|top| named(format!("a{top:03}"), middle(top)));
    let mut root = named("root".into(), tops.filter(|queue| queue.parent).collect());
    root.submit_acl = "*".into();
    root.limits = vec![limit()];
    root.properties.insert(Name::new("application.sort.policy"), Name::new("fair"));
    let partitions = vec![PartitionConfig::new("default", root)];
    Configuration { partitions, ..Configuration::default() }
}
