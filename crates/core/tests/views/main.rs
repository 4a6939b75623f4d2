//! Views: what the books show, in names and amounts.

mod capacity;
mod objects;
mod tenants;
mod usage;
mod user_limits;

use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::id::PartitionId;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};

/// One cluster with a partition `default`.
#[derive(Default)]
pub(crate) struct Cluster(pub(crate) World);

impl Cluster {
    /// Configured with this root queue, and one large node `n1`.
    pub(crate) fn new(root: QueueConfig) -> Self {
        let mut cluster = Self(World::default());
        cluster.configure(partition(root));
        cluster.node("n1", [("memory", 100_000_000_000), ("vcore", 100_000)].into());
        cluster
    }

    pub(crate) fn configure(&mut self, configuration: Configuration) {
        self.obey(&Command::Configure(Box::new(configuration)));
    }

    pub(crate) fn node(&mut self, node: &str, capacity: Amounts) {
        let (partition, node) = (default(), Name::new(node));
        self.obey(&Command::AddNode(AddNode {
            partition,
            node,
            capacity,
            schedulable: true,
            ..AddNode::default()
        }));
    }

    pub(crate) fn submit(&mut self, application: &str, queue: &str, user: &str, groups: &[&str]) {
        self.obey(&Command::Submit(Submit {
            partition: default(),
            application: application.into(),
            queue: queue.into(),
            user: user.into(),
            groups: groups.iter().map(Name::new).collect(),
            ..Submit::default()
        }));
    }

    pub(crate) fn ask(&mut self, key: &str, application: &str, resources: Amounts, priority: i32) {
        self.obey(&Command::Ask(Ask {
            partition: default(),
            application: application.into(),
            key: key.into(),
            resources,
            priority,
            ..Ask::default()
        }));
    }

    pub(crate) fn release(&mut self, key: &str, application: &str) {
        self.obey(&Command::Release {
            partition: default(),
            application: application.into(),
            key: Some(key.into()),
            termination: Termination::StoppedByRm,
        });
    }

    pub(crate) fn obey(&mut self, command: &Command) {
        self.0.command(command).expect("the command is legal");
        self.0.settle();
    }

    pub(crate) fn partition(&self) -> PartitionId {
        self.0.books.partition_named("default").expect("it was configured")
    }
}

fn default() -> Name {
    Name::new("default")
}

/// Names of what is listed.
pub(crate) fn names(list: &[Name]) -> Vec<&str> {
    list.iter().map(Name::as_str).collect()
}
