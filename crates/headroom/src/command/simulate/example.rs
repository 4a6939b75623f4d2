//! The built-in example.

use std::io::Cursor;

use anyhow::{Context, Result};
use headroom_core::config::Configuration;
use headroom_sim::nodes::{self, NodeSpec};
use headroom_sim::workload::{Format, ReadOptions, Workload, read_from};

/// The name of the example in messages.
pub(super) const NAME: &str = "the campus example";

const QUEUES: &str = include_str!("../../../../../examples/campus.yaml");
const NODES: &str = include_str!("../../../../../examples/campus-nodes.yaml");
const WORKLOAD: &[u8] = include_bytes!("../../../../../examples/campus.jsonl");

/// Returns the queue file.
pub(super) fn configuration() -> Result<Configuration> {
    let loaded = headroom_config::read(QUEUES).context("the built-in queue file")?;
    Ok(loaded.configuration)
}

/// Returns the nodes.
pub(super) fn nodes() -> Result<Vec<NodeSpec>> {
    nodes::read_yaml(NODES, "campus-nodes.yaml").context("the built-in nodes")
}

/// Returns the jobs.
pub(super) fn workload(options: &ReadOptions) -> Result<Workload> {
    read_from(Cursor::new(WORKLOAD), "campus.jsonl", Format::Jsonl, options)
        .context("the built-in workload")
}
