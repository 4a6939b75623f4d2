//! One file per subcommand.

mod completions;
mod simulate;

use anyhow::Result;
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a workload on a queue file, and say who would have waited how long, and why
    Simulate(Box<simulate::Simulate>),
    /// Print a script that completes these commands in a shell
    Completions(completions::Completions),
}

impl Command {
    /// Do it.
    ///
    /// # Errors
    /// What went wrong, for the user.
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Simulate(simulate) => simulate.run(),
            Self::Completions(completions) => completions.run(),
        }
    }
}
