//! `headroom journal`: is it whole, what is in it, and cut it off where it is not.

mod json;

use std::panic::{set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Subcommand};
use headroom_engine::{Audited, audit};
use headroom_journal::disk::{Disk, Folder};
use headroom_journal::{FileReader, ReadStore as _, repair};

use json::Messages;

use crate::output;

const EXAMPLE: &str = "\
Examples:
  headroom journal verify
  headroom journal dump --from 100 --to 200
  headroom journal repair --to 41723";

/// Check, print or repair the journal of a server that does not run.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Journal {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Read all of it: checksums, order and content, and what this version would decide
    Verify(Verify),
    /// Print records, one JSON object on each line
    Dump(Dump),
    /// Cut it off behind a record, with a copy of all that was there
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
    /// The first record to print; the first that is kept if not given
    #[arg(long, value_name = "RECORD")]
    from: Option<u64>,
    /// The last record to print
    #[arg(long, value_name = "RECORD")]
    to: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom journal repair /var/lib/headroom --to 41723")]
struct Repair {
    /// Folder of the journal
    #[arg(value_name = "FOLDER", default_value = "headroom-data")]
    folder: PathBuf,
    /// The last record to keep; what comes behind it is dropped
    #[arg(long, value_name = "RECORD")]
    to: u64,
}

impl Journal {
    /// Do it.
    pub(crate) fn run(self) -> Result<()> {
        match self.deed {
            Deed::Verify(verify) => verify.run(),
            Deed::Dump(dump) => dump.run(),
            Deed::Repair(repair) => repair.run(),
        }
    }
}

/// A folder that is there: none is made for a wrong name.
fn disk(folder: &Path) -> Result<Arc<dyn Disk>> {
    ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    let folder =
        Folder::new(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    Ok(Arc::new(folder))
}

impl Verify {
    fn run(&self) -> Result<()> {
        let files = FileReader::open(disk(&self.folder)?)?;
        // The error says what a panic of the books would, and where.
        let hook = take_hook();
        set_hook(Box::new(|_| {}));
        let audited = audit(&files);
        set_hook(hook);
        let audited = audited?;
        output::print(&said(&audited))?;
        if let Some(first) = audited.first_other {
            output::tell(&format!(
                "warning: this version decides otherwise, first at record {first}; what happened stays"
            ));
        }
        Ok(())
    }
}

/// What was found, in lines.
fn said(audited: &Audited) -> String {
    let Audited { found, base, judged, others, compared, .. } = audited;
    let mut lines = Vec::new();
    let records = match (found.last + 1).saturating_sub(found.first) {
        0 => "no record".to_owned(),
        _ => format!("records {} to {}, all whole", found.first, found.last),
    };
    let (commands, events, bytes) = (found.commands, found.events, found.record_bytes);
    lines.push(format!("{records}: {commands} commands, {events} events, {bytes} bytes"));
    for (head, bytes) in &found.snapshots {
        let sequence = head.sequence;
        let equal =
            if compared.contains(&sequence) { ", equal to what the records make" } else { "" };
        lines.push(format!("snapshot after record {sequence}, whole{equal}: {bytes} bytes"));
    }
    let from = base.map_or_else(
        || "from the first record on".to_owned(),
        |base| format!("from the snapshot after record {base} on"),
    );
    lines.push(format!("judged again {from}: {judged} records, of which {others} differ"));
    lines.push(String::new());
    lines.join("\n")
}

impl Dump {
    fn run(&self) -> Result<()> {
        let files = FileReader::open(disk(&self.folder)?)?;
        let from = self.from.unwrap_or_else(|| files.first());
        if let Some(to) = self.to.filter(|to| *to < from) {
            bail!("--to {to} is before record {from}, the first to print");
        }
        let records = Messages::records()?;
        for stored in files.read(from)? {
            let stored = stored?;
            if self.to.is_some_and(|to| stored.sequence > to) {
                break;
            }
            // What would be an error to a start is one here.
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
            "kept the records up to {to}; the files as they were are {}*\n",
            folder.join(copies).display()
        ))
    }
}
