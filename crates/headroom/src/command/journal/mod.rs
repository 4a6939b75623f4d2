//! `headroom journal`: check, print, and repair a journal.

mod json;

use std::panic::{set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Subcommand};
use headroom_engine::{ReplayReport, audit};
use headroom_journal::disk::{Disk, Folder};
use headroom_journal::{FileReader, ReadStore as _, repair};

use json::Messages;

use crate::output;

const EXAMPLE: &str = "\
Examples:
  headroom journal verify
  headroom journal dump --from 100 --to 200
  headroom journal repair --to 41723";

/// Check, print, or repair the journal of a stopped server.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Journal {
    #[command(subcommand)]
    deed: JournalCommand,
}

#[derive(Debug, Subcommand)]
enum JournalCommand {
    /// Check the journal: checksums, order, content, and the decisions of this version
    Verify(Verify),
    /// Print records, one JSON object on each line
    Dump(Dump),
    /// Truncate the journal after a record, and keep a copy of the original
    Repair(Repair),
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom journal verify /var/lib/headroom")]
struct Verify {
    /// Folder of the journal
    #[arg(value_name = "FOLDER", default_value = "headroom-data")]
    folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom journal dump --from 100 --to 200 | jq .command")]
struct Dump {
    /// Folder of the journal
    #[arg(value_name = "FOLDER", default_value = "headroom-data")]
    folder: PathBuf,
    /// First record to print. The default is the first stored record
    #[arg(long, value_name = "RECORD")]
    from: Option<u64>,
    /// Last record to print
    #[arg(long, value_name = "RECORD")]
    to: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom journal repair /var/lib/headroom --to 41723")]
struct Repair {
    /// Folder of the journal
    #[arg(value_name = "FOLDER", default_value = "headroom-data")]
    folder: PathBuf,
    /// Last record to keep. Later records are removed
    #[arg(long, value_name = "RECORD")]
    to: u64,
}

impl Journal {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<()> {
        match self.deed {
            JournalCommand::Verify(verify) => verify.run(),
            JournalCommand::Dump(dump) => dump.run(),
            JournalCommand::Repair(repair) => repair.run(),
        }
    }
}

/// Opens an existing folder. Fails instead of creating one for a wrong name.
fn disk(folder: &Path) -> Result<Arc<dyn Disk>> {
    ensure!(folder.is_dir(), "the folder {} does not exist", folder.display());
    let folder =
        Folder::new(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    Ok(Arc::new(folder))
}

impl Verify {
    fn run(&self) -> Result<()> {
        let files = FileReader::open(disk(&self.folder)?)?;
        // The error contains the message of a panic and the number of the record, so the panic is not printed.
        let hook = take_hook();
        set_hook(Box::new(|_| {}));
        let audited = audit(&files);
        set_hook(hook);
        let audited = audited?;
        output::print(&lines(&audited))?;
        if let Some(first) = audited.first_other {
            output::tell(&format!(
                "warning: this version decides differently, first at record {first}. The recorded events stay valid."
            ));
        }
        Ok(())
    }
}

/// Returns the result as lines.
fn lines(audited: &ReplayReport) -> String {
    let ReplayReport { found, base, judged, others, compared, .. } = audited;
    let mut lines = Vec::new();
    let records = match (found.last + 1).saturating_sub(found.first) {
        0 => "no records".to_owned(),
        _ => format!("records {} to {}, all valid", found.first, found.last),
    };
    let (commands, events, bytes) = (found.commands, found.events, found.record_bytes);
    lines.push(format!("{records}: {commands} commands, {events} events, {bytes} bytes"));
    for (head, bytes) in &found.snapshots {
        let sequence = head.sequence;
        let equal =
            if compared.contains(&sequence) { ", equal to the state from the records" } else { "" };
        lines.push(format!("snapshot after record {sequence}, valid{equal}: {bytes} bytes"));
    }
    let from = base.map_or_else(
        || "from the first record".to_owned(),
        |base| format!("from the snapshot after record {base}"),
    );
    lines.push(format!("replayed {from}: {judged} records, of which {others} differ"));
    lines.push(String::new());
    lines.join("\n")
}

impl Dump {
    fn run(&self) -> Result<()> {
        let files = FileReader::open(disk(&self.folder)?)?;
        let from = self.from.unwrap_or_else(|| files.first());
        if let Some(to) = self.to.filter(|to| *to < from) {
            bail!(
                "--to {to} is before record {from}, the first record to print. Set --to to {from} \
                 or more"
            );
        }
        let records = Messages::records()?;
        for stored in files.read(from)? {
            let stored = stored?;
            if self.to.is_some_and(|to| stored.sequence > to) {
                break;
            }
            // A record that a server cannot read is an error here too.
            files.decode(&stored)?;
            output::print(&format!("{}\n", records.json(&stored.bytes)?))?;
        }
        Ok(())
    }
}

impl Repair {
    fn run(&self) -> Result<()> {
        let Self { folder, to } = self;
        let copies = repair(&disk(folder)?, *to)?;
        output::print(&format!(
            "the records up to {to} remain. Copies of the original files: {}*\n",
            folder.join(copies).display()
        ))
    }
}
