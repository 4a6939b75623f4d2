//! `headroom apply`: take a queue file into force on a running server.

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

The program ends with 0 where the file is in force, with 3 where it would do something else by now
than the plan says, and with 1 where it is not in force for any other reason.";

/// The books have moved in a way that changes the plan.
const MOVED: u8 = 3;

/// Take a queue file into force on a running server, if it still does what a plan announced.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Apply {
    /// Queue file; - for standard input; without it, the one that the plan names
    #[arg(value_name = "FILE", required_unless_present = "plan")]
    file: Option<PathBuf>,
    /// The plan: a file with what `headroom plan --json` printed, or the digest in it
    #[arg(long, value_name = "PLAN", required_unless_present = "force")]
    plan: Option<String>,
    /// Take the file whatever it does
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    remote: Remote,
}

/// What is to be done.
struct Planned {
    file: Option<PathBuf>,
    /// Of the text that the plan was made of, if that is known.
    checksum: Option<String>,
    digest: String,
}

impl Apply {
    /// Send it, and say what came of it.
    ///
    /// # Errors
    /// When something cannot be read, the file is not the one of the plan, or the server refuses for another
    /// reason than that the plan is another one by now.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let planned = self.plan.as_deref().map(planned).transpose()?;
        let file = self.file.as_ref().or_else(|| planned.as_ref()?.file.as_ref());
        let file = file.context("the digest of a plan names no file: name the queue file, too")?;
        let (name, bytes) = read(file)?;
        let text = str::from_utf8(&bytes).with_context(|| format!("{name} is no UTF-8"))?;
        let planned = planned.filter(|_| !self.force);
        if let Some(expected) = planned.as_ref().and_then(|one| one.checksum.as_ref()) {
            let found = checksum(text);
            ensure!(
                found == *expected,
                "{name} is not the file of the plan: its checksum is {found}, that of the plan {expected}; make \
                 the plan again"
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
            "{name} is in force with record {}\n",
            applied.sequence
        )))?;
        if let Some(watched) = applied.watched {
            output::tell(&output::printable_lines(&format!(
                "warning: the server follows {watched}, which has another text: it comes back when that file \
                 changes; write this one there, too"
            )));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the server says that the plan is another one by now.
fn is_moved(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<ClientError>(),
        Some(ClientError::Refused(refusal)) if refusal.code.as_deref() == Some("PLAN_MOVED")
    )
}

/// A plan in a file, or its digest.
fn planned(text: &str) -> Result<Planned> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Planned { file: None, checksum: None, digest: text.to_ascii_uppercase() });
    }
    let (name, bytes) = read(Path::new(text))?;
    let plan: Plan = serde_json::from_slice(&bytes).with_context(|| {
        format!(
            "{name} is no plan; write one with `headroom plan queues.yaml --against URL --json`"
        )
    })?;
    let Some(effects) = plan.effects else {
        bail!("{name} says that {} would be refused; there is nothing to carry out", plan.file);
    };
    let (file, checksum) = (Some(PathBuf::from(plan.file)), Some(plan.checksum));
    Ok(Planned { file, checksum, digest: effects.digest })
}

/// A file, or standard input, and what it is called.
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
