//! What rows take in memory, books and scheduler together: benchmarks, B6. Each kind is weighed
//! in a process of its own.

use headroom_core::config::{Configuration, PartitionConfig, QueueConfig};
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, Submit};

use crate::cluster::Cluster;
use crate::table::memory;

/// What is weighed, how many of it, and the goal in bytes, 0 where there is none.
pub const KINDS: [(&str, u64, u64); 7] = [
    ("allocation", 1_000_000, 256),
    ("waiting ask of a class", 1_000_000, 0),
    ("application", 100_000, 1_024),
    ("application with its first allocation", 100_000, 0),
    ("user with an application and its allocation", 100_000, 0),
    ("queue", 100_000, 0),
    ("node", 100_000, 0),
];

/// Bytes per row of a kind, without its texts; none for a kind that is not there.
pub fn weigh(kind: &str) -> Option<u64> {
    let (_, count, _) = KINDS.iter().find(|(name, ..)| *name == kind)?;
    let count = *count;
    if kind == "queue" {
        // Its texts are in the configuration, which is gone.
        let before = memory();
        let cluster = with_queues(count);
        return Some(per_row(before, count, texts("root.q", count), &cluster));
    }
    let mut cluster = with_queues(1);
    let key = |prefix: &str, number: u64| Name::from(format!("{prefix}{number}"));
    let one = || Amounts::from([("memory", 1), ("vcore", 1)]);
    match kind {
        "allocation" => {
            add_nodes(&mut cluster, 1_000, 1_000_000);
            (0..1_000).for_each(|number| submit(&mut cluster, number, 0));
            let before = memory();
            for number in 0..count {
                let node = Some(Name::from(format!("node-{}", number % 1_000)));
                run(&mut cluster, number % 1_000, key("alloc-", number), (one(), node));
            }
            Some(per_row(before, count, texts("alloc-", count), &cluster))
        }
        "waiting ask of a class" => {
            add_nodes(&mut cluster, 1, 1);
            submit(&mut cluster, 0, 0);
            run(&mut cluster, 0, Name::new("first"), (one(), None));
            cluster.place(u64::MAX);
            let before = memory();
            for number in 0..count {
                run(&mut cluster, 0, key("alloc-", number), (one(), None));
            }
            cluster.place(u64::MAX);
            Some(per_row(before, count, texts("alloc-", count), &cluster))
        }
        "application" => {
            let before = memory();
            (0..count).for_each(|number| submit(&mut cluster, number, 0));
            Some(per_row(before, count, texts("app-", count), &cluster))
        }
        "node" => {
            let before = memory();
            add_nodes(&mut cluster, count, 10);
            Some(per_row(before, count, texts("node-", count), &cluster))
        }
        _ => {
            let users = kind.starts_with("user");
            add_nodes(&mut cluster, 1, 1_000_000);
            let before = memory();
            for number in 0..count {
                submit(&mut cluster, number, if users { number } else { 0 });
                let node = Some(Name::new("node-0"));
                run(&mut cluster, number, key("alloc-", number), (one(), node));
            }
            let texts = texts("app-", count) + texts("alloc-", count);
            let of_users = if users { self::texts("user-", count) } else { 0 };
            Some(per_row(before, count, texts + of_users, &cluster))
        }
    }
}

/// Bytes per row since `before`, less those of its texts. The cluster lives until now.
fn per_row(before: u64, count: u64, texts: u64, cluster: &Cluster) -> u64 {
    let after = memory();
    cluster.books.check().expect("the books balance");
    after.saturating_sub(before).saturating_sub(texts) / count
}

/// What this many texts take, each stored once.
fn texts(prefix: &str, count: u64) -> u64 {
    let mut all: Vec<Name> = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let before = memory();
    all.extend((0..count).map(|number| Name::from(format!("{prefix}{number}"))));
    let handles = count * size_of::<Name>() as u64;
    memory().saturating_sub(before).saturating_sub(handles)
}

fn with_queues(count: u64) -> Cluster {
    let leaf =
        |number| QueueConfig { name: Name::from(format!("q{number}")), ..QueueConfig::default() };
    let root = QueueConfig {
        name: Name::new("root"),
        parent: true,
        children: (0..count).map(leaf).collect(),
        submit_acl: "*".into(),
        ..QueueConfig::default()
    };
    let mut cluster = Cluster::default();
    let partitions = vec![PartitionConfig::new("default", root)];
    let file = Configuration { partitions, ..Configuration::default() };
    cluster.command(&Command::Configure(Box::new(file)));
    cluster
}

fn add_nodes(cluster: &mut Cluster, count: u64, room: i64) {
    for number in 0..count {
        cluster.command(&Command::AddNode(AddNode {
            partition: Name::new("default"),
            node: Name::from(format!("node-{number}")),
            capacity: Amounts::from([("memory", room), ("vcore", room)]),
            schedulable: true,
            ..AddNode::default()
        }));
    }
}

fn submit(cluster: &mut Cluster, number: u64, user: u64) {
    cluster.command(&Command::Submit(Submit {
        partition: Name::new("default"),
        application: Name::from(format!("app-{number}")),
        queue: Name::new("root.q0"),
        user: Name::from(format!("user-{user}")),
        ..Submit::default()
    }));
}

fn run(
    cluster: &mut Cluster,
    application: u64,
    key: Name,
    (resources, node): (Amounts, Option<Name>),
) {
    cluster.command(&Command::Ask(Ask {
        partition: Name::new("default"),
        application: Name::from(format!("app-{application}")),
        key,
        resources,
        node,
        ..Ask::default()
    }));
}
