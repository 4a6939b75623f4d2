//! `headroom plan`: what another queue file would do, before it does.

mod json;
mod text;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use headroom_config::{Review, Style, bytes_of, review_bytes};
use headroom_core::books::Books;
use headroom_core::plan::{Plan as Planned, Reach, plan};
use headroom_core::{Rejection, Timestamp};
use headroom_engine::recover;
use headroom_journal::FileReader;
use headroom_journal::disk::Folder;

use crate::output;

const EXAMPLE: &str = "\
Examples:
  headroom plan queues.yaml --journal headroom-data
  headroom plan queues.yaml --json | jq .differences

The program ends with 0 where nothing changes, with 2 where something does, and with 1 where
the file would be refused.";

/// What goes wrong ends with this.
const CHANGES: u8 = 2;

/// Say what a queue file would change, and change nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Plan {
    /// Queue file; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder of a journal, to see what would become of what is in it; without it, of a cluster with nothing
    #[arg(long, value_name = "FOLDER")]
    journal: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What there is to plan for.
struct State {
    books: Books,
    now: Timestamp,
    /// The last record of the journal; 0 for a cluster with nothing.
    sequence: u64,
}

impl Plan {
    /// Find out and print.
    ///
    /// # Errors
    /// When a file or the journal cannot be read.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let (name, bytes) = read(&self.file)?;
        let review = review_bytes(&bytes);
        let state = match &self.journal {
            Some(folder) => from_journal(folder)?,
            None => State { books: Books::default(), now: Timestamp::ZERO, sequence: 0 },
        };
        let found = review
            .configuration
            .as_ref()
            .map(|file| plan(&state.books, state.now, file, Reach::default()));
        let shown = if self.json {
            format!("{:#}\n", json::object(&name, &review, found.as_ref(), state.sequence))
        } else {
            said(&name, &review, found.as_ref())
        };
        output::print(&shown)?;
        Ok(match found {
            None | Some(Err(_)) => ExitCode::FAILURE,
            Some(Ok(planned)) if planned.is_empty() => ExitCode::SUCCESS,
            Some(Ok(_)) => ExitCode::from(CHANGES),
        })
    }
}

fn read(path: &Path) -> Result<(String, Vec<u8>)> {
    if path == Path::new("-") {
        let bytes = bytes_of(io::stdin().lock()).context("cannot read standard input")?;
        return Ok(("standard input".to_owned(), bytes));
    }
    let name = path.display().to_string();
    let bytes = File::open(path).and_then(bytes_of);
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    Ok((name, bytes))
}

/// The state as of the last record of a journal, which is only read.
fn from_journal(folder: &Path) -> Result<State> {
    ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    let disk = Folder::new(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    let recovered = recover(&FileReader::open(Arc::new(disk))?)?;
    for warning in &recovered.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    Ok(State { books: recovered.books, now: recovered.time, sequence: recovered.sequence })
}

/// For people.
fn said(name: &str, review: &Review, found: Option<&Result<Planned, Rejection>>) -> String {
    let mut text = String::new();
    if !review.diagnostics.is_empty() {
        text.push_str(&review.diagnostics.render(name, Style::Coloured));
        text.push_str("\n\n");
    }
    match found {
        None => text = format!("{text}{name} would be refused\n"),
        Some(Err(refused)) => text = format!("{text}{name} would be refused: {refused}\n"),
        Some(Ok(planned)) => text.push_str(&text::of(planned)),
    }
    text
}
