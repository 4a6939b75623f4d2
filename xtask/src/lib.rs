//! The developer's tool: `cargo xtask check` while working, `cargo xtask test` before handing in.
//!
//! With the feature `conformance`, tests elsewhere judge other homes of the core by the same records.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal speaks by printing"
)]

mod alias;
mod bytes;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(not(feature = "conformance"))]
#[path = "conformance_elsewhere.rs"]
mod conformance;
mod corners;
mod equip;
mod failures;
mod programs;
mod project;
mod readme;
mod scan;
mod scenes;
mod scratch;
mod step;
mod suite;
mod tally;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The developer's tool of Headroom")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The quick loop: format, lint, tests, doc tests, dependency policy, tidy; stops at the first failure
    Check,
    /// Everything, on a machine with only a Rust toolchain; the last line counts the tests
    Test,
    /// Replay recorded answers of real schedulers and compare
    Conformance(conformance::Args),
    /// The rules of the house that no other tool checks
    Tidy,
    /// Which tests show which scenes, worked examples and corner cases; fails on a gap
    Scenes,
}

/// Do what the command line says.
pub fn main() -> ExitCode {
    run(&Cli::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(cli: &Cli) -> Result<ExitCode> {
    let root = project::root()?;
    match &cli.command {
        Command::Check => suite::check(root),
        Command::Test => suite::test(root),
        Command::Conformance(args) => conformance::run(args, &root),
        Command::Tidy => Ok(code_of(tidy::run(&root)?.failed == 0)),
        Command::Scenes => Ok(code_of(scenes::run(&root)?.failed == 0)),
    }
}

fn code_of(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
