//! `headroom simulate compare`: the differences between two runs.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use headroom_sim::report::compare;

use crate::output;

/// Compare two reports that --json wrote.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: headroom simulate compare before.json after.json --html compare.html"
)]
pub(crate) struct Compare {
    /// Report of the first run
    before: PathBuf,
    /// Report of the second run
    after: PathBuf,
    /// Also write the comparison as one HTML file, with the curves of both runs and the effect on each user
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Compare {
    pub(crate) fn run(self) -> Result<()> {
        let text = compare::files(&self.before, &self.after)?;
        if let Some(path) = &self.html {
            output::write_file(path, &compare::page_of_files(&self.before, &self.after)?)?;
        }
        output::print(&text)
    }
}
