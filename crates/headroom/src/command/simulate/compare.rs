//! `headroom simulate compare`: what changed between two runs.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use headroom_sim::report::compare;

use crate::output;

/// Compare two reports that --json wrote.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom simulate compare before.json after.json")]
pub(crate) struct Compare {
    /// The run before
    before: PathBuf,
    /// The run after
    after: PathBuf,
}

impl Compare {
    pub(crate) fn run(self) -> Result<()> {
        output::print(&compare::files(&self.before, &self.after)?)
    }
}
