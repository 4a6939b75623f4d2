//! The `headroom` program: one subcommand per job.

mod built;
mod command;
mod demo;
mod output;
mod remote;

use std::process::ExitCode;

use clap::Parser;

use command::Command;

/// The allocator has short pauses, and the server allocates many small objects.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Shares a cluster among many users, and explains why an ask waits.
#[derive(Debug, Parser)]
#[command(name = "headroom", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            output::fail(&error);
            ExitCode::FAILURE
        }
    }
}
