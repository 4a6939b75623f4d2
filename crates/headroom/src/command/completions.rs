//! `headroom completions`: completion scripts for shells.

use anyhow::Result;
use clap::{Args, CommandFactory};

use crate::{Arguments, output};

/// Print a script that completes these commands in a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: headroom completions bash > ~/.local/share/bash-completion/completions/headroom"
)]
pub(crate) struct Completions {
    /// Shell of the script
    shell: clap_complete::Shell,
}

impl Completions {
    /// Prints the result.
    pub(crate) fn run(self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "headroom", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
