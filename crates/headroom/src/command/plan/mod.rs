//! `headroom plan`: a preview of the effect of a queue file.

mod html;
mod state;
mod text;
mod times;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use headroom_api::headroomv1::Plan as Planned;
use headroom_config::{Review, Style, review_bytes};
use headroom_core::Name;
use headroom_server::plan_of;
use headroom_sim::nodes::{self, NodeSpec};

use crate::output;
use crate::remote::Remote;

use super::simulate::Trace;
use state::State;
use times::Times;

const EXAMPLE: &str = "\
Examples:
  headroom plan queues.yaml --against http://127.0.0.1:9080
  headroom plan queues.yaml --journal headroom-data --html plan.html
  headroom plan queues.yaml --nodes '100*{vcore: 32, memory: 128Gi}'
  headroom plan queues.yaml --journal headroom-data --hours 24 --workload jobs.jsonl
  headroom plan queues.yaml --json | jq .differences

Exit codes: 0 if nothing changes, 2 if something changes, and 1 if the file would be rejected.";

/// Exit code if something changes.
const CHANGES: u8 = 2;

/// Preview what a queue file changes. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Plan {
    /// Queue file. - means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Address of a server, to preview the effect on its current state
    #[arg(long, value_name = "URL", conflicts_with = "journal")]
    against: Option<String>,
    /// File with the token of the caller. Alternatively, set the variable `HEADROOM_TOKEN`
    #[arg(long, value_name = "FILE", env = "HEADROOM_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Folder of a journal, to preview the effect on its state. The default is an empty cluster
    #[arg(long, value_name = "FOLDER")]
    journal: Option<PathBuf>,
    /// Additional nodes in the first partition of the file: `N*{type: amount, …}`, a CSV or YAML file, or `FILE@1/N`
    /// for every Nth node of the file. Can be given several times
    #[arg(long, value_name = "NODES", conflicts_with = "against")]
    nodes: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the plan as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Run a workload for this many hours, with the active file and with this file
    #[arg(long, value_name = "HOURS", requires = "workload", help_heading = "Over time", value_parser = clap::value_parser!(u64).range(1..=87_600))]
    hours: Option<u64>,
    /// File to compare with. The default is the active file of the server or journal
    #[arg(long, value_name = "FILE", requires = "hours", help_heading = "Over time")]
    before: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Over time")]
    trace: Trace,
}

/// The result of a plan.
struct Found {
    plan: Planned,
    review: Review,
    times: Option<Times>,
}

impl Plan {
    /// Computes the plan and prints it.
    ///
    /// # Errors
    /// When a file or the journal cannot be read, or the server does not answer.
    pub(crate) fn run(self) -> Result<ExitCode> {
        ensure!(
            self.trace.workload.is_none() || self.hours.is_some(),
            "--workload requires --hours. Set the number of hours, such as --hours 24."
        );
        let found = self.found()?;
        if let Some(path) = &self.html {
            output::write_file(path, &html::page(&found)?)?;
        }
        let shown = if self.json { found.json()? } else { text_of(&found) };
        output::print(&shown)?;
        if let Some(path) = &self.html {
            output::tell(&format!("report: {}", path.display()));
        }
        Ok(match &found.plan.effects {
            None => ExitCode::FAILURE,
            Some(effects) if effects.changes => ExitCode::from(CHANGES),
            Some(_) => ExitCode::SUCCESS,
        })
    }

    fn found(&self) -> Result<Found> {
        let (name, bytes) = super::apply::read(&self.file)?;
        let review = review_bytes(&bytes);
        let file = review.configuration.as_ref();
        let partition = file.and_then(|file| file.partitions.first()).map(|one| one.name.clone());
        let partition = partition.unwrap_or_else(|| Name::new("default"));
        let state = match (&self.against, &self.journal) {
            (Some(server), _) => {
                let remote = Remote::at(server, self.token_file.clone());
                State::of_server(&remote, &partition, self.hours.is_some())?
            }
            (None, Some(folder)) => State::of_journal(folder, &partition)?,
            (None, None) => State::default(),
        };
        let state = state.with_nodes(&partition, self.given_nodes()?)?;
        let (plan, review) = match &self.against {
            Some(server) => (self.asked(server, &name, &bytes)?, review),
            None => plan_of(&state.books, state.now, &state.totals, (&name, &bytes)),
        };
        let plan = match &self.against {
            Some(_) => plan,
            None => Planned { sequence: state.sequence, as_of: state.as_of, ..plan },
        };
        let times = match (self.hours, &review.configuration) {
            (Some(hours), Some(file)) if !file.partitions.is_empty() => {
                let before = self.before(&state)?;
                Some(Times::played(hours, &self.trace, [&before, file], state.nodes)?)
            }
            (Some(_), Some(_)) => bail!(
                "{name} defines no partition, so the workload cannot run. Add `partitions:` with \
                 at least one entry"
            ),
            _ => None,
        };
        Ok(Found { plan, review, times })
    }

    fn given_nodes(&self) -> Result<Vec<NodeSpec>> {
        if self.nodes.is_empty() {
            return Ok(Vec::new());
        }
        Ok(nodes::read(&self.nodes, self.trace.node_options())?)
    }

    /// Returns the plan of a running server.
    fn asked(&self, server: &str, name: &str, bytes: &[u8]) -> Result<Planned> {
        let text = str::from_utf8(bytes)
            .with_context(|| format!("{name} is not UTF-8. Save the file as UTF-8"))?;
        let remote = Remote::at(server, self.token_file.clone());
        let plan = remote.ask(async |client| Ok(client.plan_config(text).await?))?;
        Ok(Planned { file: name.to_owned(), ..plan })
    }

    /// Returns the configuration to compare with.
    fn before(&self, state: &State) -> Result<headroom_core::config::Configuration> {
        let (name, text) = match (&self.before, &state.in_force) {
            (Some(path), _) => {
                let (name, bytes) = super::apply::read(path)?;
                let text = String::from_utf8(bytes);
                (
                    name.clone(),
                    text.with_context(|| format!("{name} is not UTF-8. Save the file as UTF-8"))?,
                )
            }
            (None, Some(text)) => ("the active file".to_owned(), text.clone()),
            (None, None) => {
                bail!("the active file is unknown. Specify the file to compare with as --before.")
            }
        };
        match headroom_config::read(&text) {
            Ok(loaded) => Ok(loaded.configuration),
            Err(faults) => bail!("{}", faults.render(&name, Style::Coloured)),
        }
    }
}

impl Found {
    /// Returns the result for programs.
    fn json(&self) -> Result<String> {
        if self.times.is_none() {
            return Ok(serde_json::to_string_pretty(&self.plan)? + "\n");
        }
        let mut plan = serde_json::to_value(&self.plan)?;
        if let (Some(times), Some(keys)) = (&self.times, plan.as_object_mut()) {
            keys.insert("overTime".to_owned(), times.json());
        }
        Ok(serde_json::to_string_pretty(&plan)? + "\n")
    }

    /// Returns warnings that depend on the scheduler state, which the review of the file does not have.
    fn more_warnings(&self) -> Vec<String> {
        let known: Vec<&str> =
            self.review.diagnostics.iter().map(|one| one.code.as_str()).collect();
        let more = self.plan.diagnostics.iter().filter(|one| !known.contains(&one.code.as_str()));
        let line = |one: &headroom_api::headroomv1::Diagnostic| {
            let (line, column) = (one.place.line.unwrap_or(0), one.place.column.unwrap_or(0));
            let help = one.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            let (file, code) = (&self.plan.file, &one.code);
            format!("{}[{code}]: {file}:{line}:{column}: {}{help}", one.severity, one.message)
        };
        more.map(line).collect()
    }
}

/// Returns the result for people.
fn text_of(found: &Found) -> String {
    let (plan, review) = (&found.plan, &found.review);
    let mut text = String::new();
    let name = &plan.file;
    if !review.diagnostics.is_empty() {
        text.push_str(&review.diagnostics.render(name, Style::Coloured));
        text.push_str("\n\n");
    }
    for line in found.more_warnings() {
        text.push_str(&output::printable_lines(&format!("{line}\n\n")));
    }
    text.push_str(&match (&plan.effects, &plan.refused) {
        (Some(effects), _) => text::of(effects),
        (None, Some(refused)) => {
            output::printable_lines(&format!("{name} would be rejected: {}\n", refused.message))
        }
        (None, None) => output::printable_lines(&format!("{name} would be rejected\n")),
    });
    if let Some(times) = &found.times {
        text.push_str(&times.text());
    }
    text
}
