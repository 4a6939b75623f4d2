//! The demonstration of `headroom serve --demo`: a cluster and its users that are made up, behind
//! the real scheduler interface, at a pace that can be watched.
//!
//! [`scene`] says who and what there is, `play` is the resource manager without clock and network,
//! `rm` connects it to the server, `message` knows the wire. `tenants` submits and runs tasks of tenants.

#[cfg(test)]
mod half_hour;
mod message;
mod play;
mod rm;
mod scene;
mod tenants;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use headroom_api::client::Client;
use headroom_sim::nodes::NodeSpec;
use tonic::transport::{Channel, Endpoint};

/// What the demonstration plays; another number plays other chances.
const SEED: u64 = 2_026;

/// Play on the server at this address, until it ends.
///
/// # Errors
/// When the server cannot be reached, or refuses something that it should not.
pub(crate) async fn run(server: SocketAddr) -> Result<()> {
    let client = Client::builder(format!("http://{server}")).build()?;
    rm::run(connected(server).await?, client, SEED).await
}

/// Bring nodes that are made up to the server at this address, until it ends. Nobody starts anything on them:
/// clients that submit tasks of tenants run them themselves.
///
/// # Errors
/// When the server cannot be reached, or rejects the nodes.
pub(crate) async fn bring(server: SocketAddr, nodes: Vec<NodeSpec>) -> Result<()> {
    let nodes = nodes.iter().map(message::listed).collect();
    rm::bring(connected(server).await?, nodes).await
}

async fn connected(server: SocketAddr) -> Result<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{server}"))?;
    endpoint.connect().await.context("the demo cannot reach the server")
}
