//! Short functions that build configurations.

use alloc::vec::Vec;

use crate::config::{Configuration, LimitConfig, PartitionConfig, QueueConfig};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, ResourceType, Resources};

/// Returns amounts in core units.
pub fn amounts<const COUNT: usize>(entries: [(&str, i64); COUNT]) -> Amounts {
    Amounts::from(entries)
}

/// Returns a vector with these amounts by lane, independent of the type names.
pub fn vector(entries: impl IntoIterator<Item = (usize, i64)>) -> Resources {
    let entry = |(lane, amount)| (ResourceType::at(lane), Quantity::of(amount));
    entries.into_iter().map(entry).collect()
}

/// Returns a leaf queue, which holds applications.
pub fn leaf(name: &str) -> QueueConfig {
    QueueConfig { name: Name::new(name), ..QueueConfig::default() }
}

/// Returns a parent queue with these children.
pub fn parent(name: &str, children: Vec<QueueConfig>) -> QueueConfig {
    QueueConfig { name: Name::new(name), parent: true, children, ..QueueConfig::default() }
}

/// Returns a limit for these users and groups.
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

/// Returns one partition with the name `default` and this root queue. Every user can submit.
pub fn partition(root: QueueConfig) -> Configuration {
    let root = QueueConfig { submit_acl: "*".into(), ..root };
    let partition = PartitionConfig::new("default", root);
    Configuration { partitions: alloc::vec![partition], ..Configuration::default() }
}
