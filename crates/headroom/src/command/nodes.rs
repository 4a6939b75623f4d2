//! `headroom nodes`: the nodes of a running server.

use anyhow::Result;
use clap::Args;
use headroom_api::wsv1::Node;

use crate::remote::{Listing, Remote, resources};

/// Show the nodes with their capacity, usage, and free amounts.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom nodes gpu-1 -o json")]
pub(crate) struct Nodes {
    /// Show only this node
    #[arg(value_name = "NODE")]
    node: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

const COLUMNS: &[&str] =
    &["NODE", "RACK", "STATE", "CAPACITY", "USED", "OTHERS", "FREE", "ALLOCATIONS", "RESERVED FOR"];

impl Nodes {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        let partition = &self.remote.partition;
        let nodes = self.remote.ask(async |client| {
            Ok(match &self.node {
                Some(node) => vec![client.get_node(partition, node).await?],
                None => client.get_nodes(partition).await?,
            })
        })?;
        let mut listing = Listing::new(COLUMNS, &nodes)?.numbers(&["ALLOCATIONS"]);
        for node in &nodes {
            listing.row(row(node));
        }
        self.remote.show(&listing)
    }
}

fn row(node: &Node) -> [String; COLUMNS.len()] {
    let state = if node.schedulable { "open" } else { "drained" };
    [
        node.node_id.clone(),
        node.rack_name.clone(),
        state.to_owned(),
        resources(&node.capacity),
        resources(&node.allocated),
        resources(&node.occupied),
        resources(&node.available),
        node.allocations.len().to_string(),
        node.reservations.join(" "),
    ]
}
