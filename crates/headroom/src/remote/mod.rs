//! Options and functions of all commands that use a running server: its address, the token, and the output format.

mod amounts;
mod follow;
mod listing;

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use headroom_api::client::{Client, ClientError};

pub(crate) use amounts::{Bound, amount, exact, list, resources, since};
pub(crate) use listing::{Format, Listing};

use crate::output;

/// The server, and the format of the output.
#[derive(Clone, Debug, Args)]
pub(crate) struct Remote {
    /// Address of the server
    #[arg(
        long,
        value_name = "URL",
        env = "HEADROOM_SERVER",
        default_value = "http://127.0.0.1:9080",
        help_heading = "Server"
    )]
    server: String,
    /// File with the token of the caller. Alternatively, set the variable `HEADROOM_TOKEN`
    #[arg(long, value_name = "FILE", env = "HEADROOM_TOKEN_FILE", help_heading = "Server")]
    token_file: Option<std::path::PathBuf>,
    /// Partition of the cluster
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Server")]
    pub(crate) partition: String,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) output: Format,
}

impl Remote {
    /// Returns the options for this server. The other options have their defaults.
    pub(crate) fn at(server: &str, token_file: Option<std::path::PathBuf>) -> Self {
        let (server, partition) = (server.to_owned(), "default".to_owned());
        Self { server, token_file, partition, output: Format::default() }
    }

    fn client(&self) -> Result<Client> {
        let mut builder = Client::builder(&self.server).timeout(Duration::from_mins(1));
        let token = match &self.token_file {
            Some(path) => {
                let text = std::fs::read_to_string(path);
                Some(text.with_context(|| format!("cannot read {}", path.display()))?)
            }
            None => std::env::var("HEADROOM_TOKEN").ok(),
        };
        if let Some(token) = token {
            builder = builder.token(&token)?;
        }
        Ok(builder.build()?)
    }

    /// Sends a request to the server, and waits for the response.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn ask<T, Asked>(&self, question: impl FnOnce(Client) -> Asked) -> Result<T>
    where
        Asked: Future<Output = Result<T>>,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(question(self.client()?)).map_err(|error| self.explained(error))
    }

    /// Adds advice to an error if no server responds.
    fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref::<ClientError>() {
            Some(ClientError::Unreachable { .. }) => error.context(format!(
                "no server responds at {}. Start a server with `headroom serve` or `headroom kubernetes`, or specify the \
                 address of another server with --server or `HEADROOM_SERVER`",
                self.server
            )),
            _ => error,
        }
    }

    /// Prints the result.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn show(&self, listing: &Listing) -> Result<()> {
        output::print(&listing.render(self.output)?)
    }
}
