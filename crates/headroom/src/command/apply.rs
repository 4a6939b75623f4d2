//! `headroom apply`: apply a queue file on a running server.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use headroom_api::client::ClientError;
use headroom_api::headroomv1::Plan;
use headroom_config::{bytes_of, checksum};

use crate::output;
use crate::remote::Remote;

const EXAMPLE: &str = "\
Examples:
  headroom plan queues.yaml --against http://127.0.0.1:9080 --json > plan.json
  headroom apply --plan plan.json
  headroom apply queues.yaml --plan plan.json --server http://127.0.0.1:9080
  headroom apply queues.yaml --force

Exit codes: 0 if the file is active, 3 if the effect of the file now differs from the plan, and 1 if
the file was not applied for another reason.";

/// Exit code if the plan has changed since.
const MOVED: u8 = 3;

/// Apply a queue file on a running server, if its effect still matches the plan.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Apply {
    /// Queue file. - means standard input. The default is the file for which the plan was made
    #[arg(value_name = "FILE", required_unless_present = "plan")]
    file: Option<PathBuf>,
    /// Output file of `headroom plan --json`, or the `digest` value in it
    #[arg(long, value_name = "PLAN", required_unless_present = "force")]
    plan: Option<String>,
    /// Apply the file without comparing its effect with a plan
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    remote: Remote,
}

/// A plan to apply.
struct Planned {
    file: Option<PathBuf>,
    /// Checksum of the planned text, if known.
    checksum: Option<String>,
    digest: String,
}

impl Apply {
    /// Sends the file, and prints the result.
    ///
    /// # Errors
    /// When a file cannot be read, or differs from the planned file. Also when the server rejects the request, unless
    /// the plan is outdated.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let planned = self.plan.as_deref().map(planned).transpose()?;
        let file = self.file.as_ref().or_else(|| planned.as_ref()?.file.as_ref());
        let file = file.context(
            "the plan is only a digest, which does not contain the name of a file. \
                          Specify the queue file as the argument FILE.",
        )?;
        let (name, bytes) = read(file)?;
        let text = str::from_utf8(&bytes).with_context(|| {
            format!("the queue file {name} is not UTF-8. Save the file as UTF-8.")
        })?;
        let planned = planned.filter(|_| !self.force);
        if let Some(expected) = planned.as_ref().and_then(|one| one.checksum.as_ref()) {
            let found = checksum(text);
            ensure!(
                found == *expected,
                "the checksum of {name} is {found}, but the plan was made for a file with the \
                 checksum {expected}. Make a new plan."
            );
        }
        let digest = planned.as_ref().map(|one| one.digest.as_str());
        let applied = self.remote.ask(async |client| Ok(client.apply_config(text, digest).await?));
        let applied = match applied {
            Ok(applied) => applied,
            Err(error) if is_moved(&error) => {
                output::fail(&error);
                return Ok(ExitCode::from(MOVED));
            }
            Err(error) => return Err(error),
        };
        output::print(&output::printable_lines(&format!(
            "{name} is active with record {}\n",
            applied.sequence
        )))?;
        if let Some(watched) = applied.watched {
            output::tell(&output::printable_lines(&format!(
                "warning: the server watches {watched}, which has other content and replaces the \
                 applied file at its next change. Copy the applied file to {watched}."
            )));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns whether the server reports that the plan has changed.
fn is_moved(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<ClientError>(),
        Some(ClientError::Refused(refusal)) if refusal.code.as_deref() == Some("PLAN_MOVED")
    )
}

/// Reads a plan from a file, or from its digest.
fn planned(text: &str) -> Result<Planned> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Planned { file: None, checksum: None, digest: text.to_ascii_uppercase() });
    }
    let (name, bytes) = read(Path::new(text))?;
    let plan: Plan = serde_json::from_slice(&bytes).with_context(|| {
        format!(
            "{name} is not a plan. Create one with `headroom plan queues.yaml --against URL --json`."
        )
    })?;
    let Some(effects) = plan.effects else {
        bail!(
            "the plan {name} has no effects to apply, because {} would be rejected. Correct the \
             queue file and make a new plan.",
            plan.file
        );
    };
    let (file, checksum) = (Some(PathBuf::from(plan.file)), Some(plan.checksum));
    Ok(Planned { file, checksum, digest: effects.digest })
}

/// Reads a file or standard input. Returns its name and content.
pub(super) fn read(path: &Path) -> Result<(String, Vec<u8>)> {
    if path == Path::new("-") {
        let bytes = bytes_of(io::stdin().lock()).context("cannot read standard input")?;
        return Ok(("standard input".to_owned(), bytes));
    }
    let name = path.display().to_string();
    let bytes = File::open(path).and_then(bytes_of);
    let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
    Ok((name, bytes))
}
