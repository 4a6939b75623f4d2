//! Short ways to write configurations.

use alloc::vec::Vec;

use crate::config::{Configuration, LimitConfig, PartitionConfig, QueueConfig};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType, Resources};

/// Amounts in core units.
pub fn amounts<const COUNT: usize>(entries: [(&str, i64); COUNT]) -> Amounts {
    Amounts::from(entries)
}

/// A vector with these amounts by lane, whatever the types are called.
pub fn vector(entries: impl IntoIterator<Item = (usize, i64)>) -> Resources {
    let entry = |(lane, amount)| (ResourceType::at(lane), Quantity::of(amount));
    entries.into_iter().map(entry).collect()
}

/// A queue that holds applications.
pub fn leaf(name: &str) -> QueueConfig {
    QueueConfig { name: Name::new(name), ..QueueConfig::default() }
}

/// A queue that holds queues.
pub fn parent(name: &str, children: Vec<QueueConfig>) -> QueueConfig {
    QueueConfig { name: Name::new(name), parent: true, children, ..QueueConfig::default() }
}

/// A limit for these users and groups.
pub fn limit(users: &[&str], groups: &[&str], max: Amounts, max_applications: u64) -> LimitConfig {
    let names = |names: &[&str]| names.iter().map(Name::new).collect();
    LimitConfig {
        users: names(users),
        groups: names(groups),
        max_resources: max,
        max_applications,
        ..LimitConfig::default()
    }
}

/// One partition called `default` with this root queue; everybody may submit.
pub fn partition(root: QueueConfig) -> Configuration {
    let root = QueueConfig { submit_acl: "*".into(), ..root };
    let partition = PartitionConfig::new("default", root);
    Configuration { partitions: alloc::vec![partition], ..Configuration::default() }
}
