//! `headroom plan`: what another queue file would do, before it does.

mod text;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use headroom_api::headroomv1::Plan as Planned;
use headroom_config::{Review, Style, review_bytes};
use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_engine::recover;
use headroom_journal::FileReader;
use headroom_journal::disk::Folder;
use headroom_server::plan_of;

use crate::output;
use crate::remote::Remote;

const EXAMPLE: &str = "\
Examples:
  headroom plan queues.yaml --against http://127.0.0.1:9080
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
    /// Address of a server, to see what would become of what is there now
    #[arg(long, value_name = "URL", conflicts_with = "journal")]
    against: Option<String>,
    /// File with the token that says who asks; the variable `HEADROOM_TOKEN` may hold it instead
    #[arg(long, value_name = "FILE", env = "HEADROOM_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Folder of a journal, to see what would become of what is in it; without it, of a cluster with nothing
    #[arg(long, value_name = "FOLDER")]
    journal: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Plan {
    /// Find out and print.
    ///
    /// # Errors
    /// When a file or the journal cannot be read, or the server does not answer.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let (name, bytes) = super::apply::read(&self.file)?;
        let (plan, review) = match &self.against {
            Some(server) => (self.asked(server, &name, &bytes)?, review_bytes(&bytes)),
            None => self.made(&name, &bytes)?,
        };
        let shown = if self.json {
            serde_json::to_string_pretty(&plan)? + "\n"
        } else {
            said(&plan, &review)
        };
        output::print(&shown)?;
        Ok(match &plan.effects {
            None => ExitCode::FAILURE,
            Some(effects) if effects.changes => ExitCode::from(CHANGES),
            Some(_) => ExitCode::SUCCESS,
        })
    }

    /// On the books of a server.
    fn asked(&self, server: &str, name: &str, bytes: &[u8]) -> Result<Planned> {
        let text = str::from_utf8(bytes).with_context(|| format!("{name} is no UTF-8"))?;
        let remote = Remote::at(server, self.token_file.clone());
        let plan = remote.ask(async |client| Ok(client.plan_config(text).await?))?;
        Ok(Planned { file: name.to_owned(), ..plan })
    }

    /// On those of a journal, or on none.
    fn made(&self, name: &str, bytes: &[u8]) -> Result<(Planned, Review)> {
        let Some(folder) = &self.journal else {
            return Ok(plan_of(&Books::default(), Timestamp::ZERO, name, bytes));
        };
        ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        let disk = Folder::new(folder);
        let disk = disk.with_context(|| format!("cannot open {}", folder.display()))?;
        let recovered = recover(&FileReader::open(Arc::new(disk))?)?;
        for warning in &recovered.warnings {
            output::tell(&format!("warning: {warning}"));
        }
        let (plan, review) = plan_of(&recovered.books, recovered.time, name, bytes);
        let as_of = i64::try_from(recovered.time.as_millis()).ok();
        let as_of = as_of.and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
        Ok((Planned { sequence: recovered.sequence, as_of, ..plan }, review))
    }
}

/// For people.
fn said(plan: &Planned, review: &Review) -> String {
    let mut text = String::new();
    let name = &plan.file;
    if !review.diagnostics.is_empty() {
        text.push_str(&review.diagnostics.render(name, Style::Coloured));
        text.push_str("\n\n");
    }
    match (&plan.effects, &plan.refused) {
        (Some(effects), _) => text.push_str(&text::of(effects)),
        (None, Some(refused)) => {
            text.push_str(&output::printable_lines(&format!(
                "{name} would be refused: {}\n",
                refused.message
            )));
        }
        (None, None) => {
            text.push_str(&output::printable_lines(&format!("{name} would be refused\n")))
        }
    }
    text
}
