//! `headroom users`: usage and limits of the users of a running server.

mod limits;

use anyhow::Result;
use clap::Args;
use headroom_api::wsv1::QueueUsage;

use crate::remote::{Listing, Remote, resources};

/// Show usage and limits of users in each queue.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom users ann\n  headroom users --limits --queue root.research"
)]
pub(crate) struct Users {
    /// Show only this user
    #[arg(value_name = "USER")]
    user: Option<String>,
    /// Show user limits instead: share, cap, headroom, and the limit that applies
    #[arg(long)]
    limits: bool,
    /// Show only this queue, such as `root.research`
    #[arg(long, value_name = "PATH", requires = "limits")]
    queue: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

const USERS: &[&str] = &["USER", "QUEUE", "USED", "MAX", "RUNNING", "MAX RUNNING"];
pub(super) const NUMBERS: &[&str] = &["RUNNING", "MAX RUNNING"];

impl Users {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        if self.limits {
            return limits::run(&self.remote, self.queue.as_deref(), self.user.as_deref());
        }
        let partition = &self.remote.partition;
        let users = self.remote.ask(async |client| {
            Ok(match &self.user {
                Some(user) => vec![client.get_user(partition, user).await?],
                None => client.get_users(partition).await?,
            })
        })?;
        let mut listing = Listing::new(USERS, &users)?.numbers(NUMBERS);
        for one in &users {
            add(&mut listing, &one.user_name, one.queues.as_ref());
        }
        self.remote.show(&listing)
    }
}

/// Adds the queues of a user or group, each before the queues below it. Each row has the name, for filters.
pub(super) fn add(listing: &mut Listing, name: &str, root: Option<&QueueUsage>) {
    let mut left: Vec<&QueueUsage> = root.into_iter().collect();
    while let Some(queue) = left.pop() {
        let max = queue.max_applications;
        listing.row([
            name.to_owned(),
            queue.queue_path.clone(),
            resources(&queue.resource_usage),
            resources(&queue.max_resources),
            queue.running_applications.len().to_string(),
            if max == 0 { String::new() } else { max.to_string() },
        ]);
        left.extend(queue.children.iter().rev());
    }
}
