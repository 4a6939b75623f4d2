//! `conformance` in a build without the judges, which need the crates of Headroom: builds the tool with them, and runs it.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

/// Replay recorded data and compare.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Arguments of the subcommand; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Run the subcommand.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn run(args: &Args, root: &Path) -> Result<ExitCode> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Paths among the arguments are relative to the directory of the caller, so it stays.
    command.args(["run", "--quiet", "--manifest-path"]).arg(root.join("Cargo.toml"));
    command.args(["--package", "xtask", "--features", "conformance", "--", "conformance"]);
    command.args(&args.arguments);
    let status = command.status().context("cannot start cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
