//! One file per subcommand.

mod apps;
mod completions;
mod events;
mod groups;
mod journal;
mod nodes;
mod queues;
mod serve;
mod simulate;
mod token;
mod users;
mod validate;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve REST, gRPC and the page, on one port
    Serve(Box<serve::Serve>),
    /// Play a workload on a queue file, and say who would have waited how long, and why
    Simulate(Box<simulate::Simulate>),
    /// Check queue files, and say what to write instead
    Validate(validate::Validate),
    /// Check, print or repair the journal of a server that does not run
    Journal(journal::Journal),
    /// Show the queues of a running server: what they use, are guaranteed and may have
    Queues(queues::Queues),
    /// Show the applications of a running server, or the asks and allocations of one
    Apps(apps::Apps),
    /// Show the nodes of a running server
    Nodes(nodes::Nodes),
    /// Show what users have on a running server, and may have
    Users(users::Users),
    /// Show what groups have on a running server, and may have
    Groups(groups::Groups),
    /// Show what happened on a running server, or what happens
    Events(events::Events),
    /// Make, list and revoke tokens for callers of a server
    Token(token::Token),
    /// Print a script that completes these commands in a shell
    Completions(completions::Completions),
}

impl Command {
    /// Do it; what the program ends with.
    ///
    /// # Errors
    /// What went wrong, for the user.
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Self::Serve(serve) => return serve.run(),
            Self::Simulate(simulate) => simulate.run()?,
            Self::Validate(validate) => return validate.run(),
            Self::Journal(journal) => journal.run()?,
            Self::Queues(queues) => queues.run()?,
            Self::Apps(apps) => apps.run()?,
            Self::Nodes(nodes) => nodes.run()?,
            Self::Users(users) => users.run()?,
            Self::Groups(groups) => groups.run()?,
            Self::Events(events) => events.run()?,
            Self::Token(token) => token.run()?,
            Self::Completions(completions) => completions.run()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
