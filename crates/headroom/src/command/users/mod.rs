//! `headroom users`: which user has what on a running server, and may have.

mod limits;

use anyhow::Result;
use clap::Args;
use headroom_api::wsv1::QueueUsage;

use crate::remote::{Listing, Remote, resources};

/// Show what users have in each queue, and may have.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom users ann\n  headroom users --limits --queue root.research"
)]
pub(crate) struct Users {
    /// Only this user
    #[arg(value_name = "USER")]
    user: Option<String>,
    /// How users share queues with user limits: share, cap, what is left, and what bounds them
    #[arg(long)]
    limits: bool,
    /// Only this queue, such as `root.research`
    #[arg(long, value_name = "PATH", requires = "limits")]
    queue: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

const USERS: &[&str] = &["USER", "QUEUE", "USED", "MAX", "RUNNING", "MAX RUNNING"];
pub(super) const NUMBERS: &[&str] = &["RUNNING", "MAX RUNNING"];

impl Users {
    /// Ask and show.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
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

/// Somebody's queues, each before those below it; the name stands in each row, for filters.
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
