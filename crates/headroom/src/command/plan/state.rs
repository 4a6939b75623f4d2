//! The scheduler state of a plan: empty, from a journal, or from a server.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use headroom_config::NodeTotals;
use headroom_core::books::{Books, NodeAttributes};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{AddNode, Command, Name, Timestamp, decide};
use headroom_engine::recover;
use headroom_journal::FileReader;
use headroom_journal::disk::Folder;
use headroom_server::node_totals;
use headroom_sim::nodes::NodeSpec;

use super::super::validate::total;
use crate::output;
use crate::remote::Remote;

/// The scheduler state, and the active queue file.
#[derive(Default)]
pub(super) struct State {
    pub(super) books: Books,
    pub(super) now: Timestamp,
    /// The last record of the journal. 0 for an empty cluster.
    pub(super) sequence: u64,
    pub(super) as_of: Option<jiff::Timestamp>,
    /// Text of the active queue file, if known.
    pub(super) in_force: Option<String>,
    /// Nodes of the first partition of the file.
    pub(super) nodes: Vec<NodeSpec>,
    /// Capacity of all nodes, by partition.
    pub(super) totals: NodeTotals,
}

impl State {
    /// Returns the state after the last record of a journal. Does not change the journal.
    pub(super) fn of_journal(folder: &Path, partition: &Name) -> Result<Self> {
        ensure!(folder.is_dir(), "the folder {} does not exist", folder.display());
        let disk = Folder::new(folder);
        let disk = disk.with_context(|| format!("cannot open {}", folder.display()))?;
        let recovered = recover(&FileReader::open(Arc::new(disk))?)?;
        for warning in &recovered.warnings {
            output::tell(&format!("warning: {warning}"));
        }
        let as_of = i64::try_from(recovered.time.as_millis()).ok();
        let checksum = recovered.books.checksum().clone();
        // A server stores its queue file under this name, see `queue_file.rs`.
        let stored = std::fs::read_to_string(folder.join(format!("queues-{checksum}.yaml"))).ok();
        let books = recovered.books;
        Ok(Self {
            now: recovered.time,
            sequence: recovered.sequence,
            as_of: as_of.and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok()),
            in_force: stored.filter(|text| headroom_config::checksum(text) == checksum.as_str()),
            nodes: nodes_of(&books, partition),
            totals: node_totals(&books),
            books,
        })
    }

    /// Returns the nodes and the queue file of a server. Returns an empty state unless a workload runs.
    pub(super) fn of_server(remote: &Remote, partition: &Name, is_played: bool) -> Result<Self> {
        if !is_played {
            return Ok(Self::default());
        }
        let (text, nodes) = remote.ask(async |client| {
            Ok((client.get_config_yaml().await?, client.get_nodes(partition).await?))
        })?;
        let label = |one: &headroom_api::wsv1::Node| {
            one.attributes.get(NodeAttributes::LABEL).map(Name::new)
        };
        let spec = |one: &headroom_api::wsv1::Node| NodeSpec {
            name: Name::new(&one.node_id),
            resources: amounts(&one.capacity.0),
            label: label(one),
            from_ms: 0,
            to_ms: None,
        };
        let nodes = nodes.iter().map(spec).collect();
        Ok(Self { in_force: Some(queue_file_in(&text)), nodes, ..Self::default() })
    }

    /// Adds nodes to the partition.
    pub(super) fn with_nodes(mut self, partition: &Name, more: Vec<NodeSpec>) -> Result<Self> {
        if more.is_empty() {
            return Ok(self);
        }
        if self.books.partition_named(partition).is_some() {
            for node in &more {
                self.add(partition, node)?;
            }
            self.totals = node_totals(&self.books);
        } else {
            // Without asks, nothing is placed on the nodes, but their total capacity counts.
            self.totals.insert(partition.to_string(), total(&more));
        }
        self.nodes.extend(more);
        Ok(self)
    }

    fn add(&mut self, partition: &Name, node: &NodeSpec) -> Result<()> {
        let labels = node.label.iter().map(|label| (NodeAttributes::LABEL, label.clone()));
        let command = Command::AddNode(AddNode {
            partition: partition.clone(),
            node: node.name.clone(),
            capacity: node.resources.clone(),
            schedulable: true,
            attributes: labels.collect(),
        });
        let events = decide(&self.books, self.now, &command);
        let events = events
            .map_err(|refused| anyhow!("--nodes: node {} was rejected: {refused}", node.name))?;
        for event in &events {
            self.books.apply(self.now, event);
        }
        Ok(())
    }
}

/// Returns the queue file from the configuration text of a server, where other keys follow the queue file.
fn queue_file_in(text: &str) -> String {
    let is_other = |line: &&str| {
        !line.starts_with("partitions:")
            && line.starts_with(|first: char| first.is_ascii_alphabetic())
    };
    let lines = text.lines().take_while(|line| !is_other(line));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn nodes_of(books: &Books, partition: &Name) -> Vec<NodeSpec> {
    let Some(id) = books.partition_named(partition) else { return Vec::new() };
    let rows = books.partition(id).nodes.iter();
    let spec = |(name, node): (&Name, &headroom_core::id::NodeId)| {
        let row = books.node(*node);
        NodeSpec {
            name: name.clone(),
            resources: books.types().amounts(&row.capacity),
            label: row.attributes.label().cloned(),
            from_ms: 0,
            to_ms: None,
        }
    };
    rows.map(spec).collect()
}

fn amounts(amounts: &std::collections::BTreeMap<String, i64>) -> Amounts {
    amounts.iter().map(|(name, amount)| (Name::new(name), Quantity::of(*amount))).collect()
}
