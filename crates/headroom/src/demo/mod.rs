//! The demo of `headroom serve --demo`: a simulated cluster with simulated users, connected through the real scheduler
//! interface.
//!
//! [`scene`] defines the users and nodes. `play` is the resource manager without clock and network, `rm` connects it to
//! the server, and `message` creates its messages. `tenants` submits and runs tasks of tenants.

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

/// Seed of the random numbers of the demo.
const SEED: u64 = 2_026;

/// Runs the demo on the server at this address, until the server ends.
///
/// # Errors
/// When the server cannot be reached, or rejects a valid request.
pub(crate) async fn run(server: SocketAddr) -> Result<()> {
    let client = Client::builder(format!("http://{server}")).build()?;
    rm::run(connected(server).await?, client, SEED).await
}

/// Registers simulated nodes on the server at this address, and keeps the connection open until the server ends.
/// Nothing runs on these nodes: clients that submit tasks of tenants also confirm and release these tasks.
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
