//! `headroom queues`: the queues of a running server.

use anyhow::Result;
use clap::Args;
use headroom_api::wsv1::Queue;

use crate::remote::{Listing, Remote, resources};

/// Show the queues with their usage, guarantee, and maximum.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom queues root.research -o csv")]
pub(crate) struct Queues {
    /// Show only this queue and the queues below it, such as `root.research`
    #[arg(value_name = "PATH")]
    queue: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

const COLUMNS: &[&str] =
    &["QUEUE", "STATE", "USED", "GUARANTEED", "MAX", "PENDING", "RUNNING", "MAX RUNNING"];

impl Queues {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        let partition = &self.remote.partition;
        let root = self.remote.ask(async |client| {
            Ok(match &self.queue {
                Some(queue) => client.get_queue(partition, queue, true).await?,
                None => client.get_queues(partition).await?,
            })
        })?;
        let mut listing = Listing::new(COLUMNS, &root)?.numbers(&["RUNNING", "MAX RUNNING"]);
        add(&mut listing, &root);
        self.remote.show(&listing)
    }
}

/// Adds a queue and the queues below it, each before its children.
fn add(listing: &mut Listing, root: &Queue) {
    let mut left = vec![root];
    while let Some(queue) = left.pop() {
        let unlimited = |count: u64| if count == 0 { String::new() } else { count.to_string() };
        listing.row([
            queue.queue_name.clone(),
            queue.status.clone(),
            resources(&queue.allocated_resource),
            resources(&queue.guaranteed_resource),
            resources(&queue.max_resource),
            resources(&queue.pending_resource),
            queue.running_apps.to_string(),
            unlimited(queue.max_running_apps),
        ]);
        left.extend(queue.children.iter().rev());
    }
}
