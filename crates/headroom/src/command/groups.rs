//! `headroom groups`: usage and limits of the groups of a running server.

use anyhow::Result;
use clap::Args;

use super::users::{NUMBERS, add};
use crate::remote::{Listing, Remote};

/// Show usage and limits of groups in each queue.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom groups students -o yaml")]
pub(crate) struct Groups {
    /// Show only this group
    #[arg(value_name = "GROUP")]
    group: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

const GROUPS: &[&str] = &["GROUP", "QUEUE", "USED", "MAX", "RUNNING", "MAX RUNNING"];

impl Groups {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        let partition = &self.remote.partition;
        let groups = self.remote.ask(async |client| {
            Ok(match &self.group {
                Some(group) => vec![client.get_group(partition, group).await?],
                None => client.get_groups(partition).await?,
            })
        })?;
        let mut listing = Listing::new(GROUPS, &groups)?.numbers(NUMBERS);
        for one in &groups {
            add(&mut listing, &one.group_name, one.queues.as_ref());
        }
        self.remote.show(&listing)
    }
}
