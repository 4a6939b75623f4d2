//! What there is to plan for: nothing, a journal, or what a server says.

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

/// What there is.
#[derive(Default)]
pub(super) struct State {
    pub(super) books: Books,
    pub(super) now: Timestamp,
    /// The last record of the journal; 0 for a cluster with nothing.
    pub(super) sequence: u64,
    pub(super) as_of: Option<jiff::Timestamp>,
    /// The text of the queue file in force, if it is known.
    pub(super) in_force: Option<String>,
    /// Those of the partition in question.
    pub(super) nodes: Vec<NodeSpec>,
    /// What all nodes have together.
    pub(super) totals: NodeTotals,
}

impl State {
    /// As of the last record of a journal, which is only read.
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
        // As a server keeps it, `queue_file.rs`.
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

    /// What a server says of its nodes and its queue file, where these are needed.
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

    /// With these nodes in the partition, too.
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
            // There is nothing that could be placed on them; what they have together counts all the same.
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

/// The queue file in what a server tells of its configuration: other keys stand behind it.
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
