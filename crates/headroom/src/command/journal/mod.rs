//! `headroom journal`: is it whole, what is in it, and cut it off where it is not.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Error, Result, anyhow, bail, ensure};
use clap::{Args, Subcommand};
use headroom_core::books::Books;
use headroom_core::{Scheduler, Step, decide};
use headroom_journal::disk::{Disk, Folder};
use headroom_journal::{FileReader, ReadStore as _, Record, Seen, repair, verify};
use serde_json::json;

use crate::output;

/// Check, print or repair the journal of a server that does not run.
#[derive(Debug, Args)]
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
struct Verify {
    /// Folder of the journal
    #[arg(value_name = "FOLDER", default_value = "headroom-data")]
    folder: PathBuf,
}

#[derive(Debug, Args)]
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

/// Books that follow the records, and what this version decides otherwise.
#[derive(Default)]
struct Judge {
    books: Books,
    scheduler: Scheduler,
    judged: u64,
    /// The first record that would be another today, and how many would.
    others: Option<(u64, u64)>,
}

impl Judge {
    /// Judge a record, and apply what happened.
    ///
    /// # Errors
    /// When it cannot have happened to these books: they say so by a panic, since nobody but us
    /// writes records.
    fn follow(&mut self, record: &Record) -> Result<()> {
        let followed = catch_unwind(AssertUnwindSafe(|| self.judge(record)));
        let sequence = record.sequence;
        followed.map_err(|_| anyhow!("record {sequence} does not follow from those before it"))
    }

    fn judge(&mut self, record: &Record) {
        let (books, now) = (&self.books, record.time);
        let today = if let Some(command) = &record.command {
            decide(books, now, command).is_ok_and(|events| events == record.events)
        } else {
            let mut events = Vec::new();
            let moved = self.scheduler.next(books, now, &mut events) == Step::Moved;
            moved && events == record.events
        };
        self.judged += 1;
        if !today {
            let (first, count) = self.others.unwrap_or((record.sequence, 0));
            self.others = Some((first, count + 1));
        }
        for event in &record.events {
            self.scheduler.apply(&mut self.books, now, event);
        }
    }
}

impl Verify {
    fn run(&self) -> Result<()> {
        let files = FileReader::open(disk(&self.folder)?)?;
        // What came before the first record is in a snapshot, whose content is not read here yet.
        let from_nothing = files.first() == 1;
        let mut judge = Judge::default();
        // The error says what a panic of the books would, and where.
        let hook = take_hook();
        set_hook(Box::new(|_| {}));
        let found = verify::<Error>(&files, |seen| match seen {
            Seen::Record(record) if from_nothing => judge.follow(record),
            Seen::Record(_) | Seen::Snapshot(_) => Ok(()),
        });
        set_hook(hook);
        let found = found?;
        let mut text = String::new();
        let records = (found.last + 1).saturating_sub(found.first);
        let (commands, events) = (found.commands, found.events);
        match records {
            0 => text.push_str("no record"),
            _ => write!(text, "records {} to {}, all whole", found.first, found.last)?,
        }
        writeln!(text, ": {commands} commands, {events} events, {} bytes", found.record_bytes)?;
        for (head, bytes) in &found.snapshots {
            writeln!(text, "snapshot after record {}, whole: {bytes} bytes", head.sequence)?;
        }
        if from_nothing {
            let differ = judge.others.map_or(0, |(_, count)| count);
            writeln!(text, "judged again: {}, of which {differ} differ", judge.judged)?;
        } else {
            writeln!(text, "not judged again: the first records are in a snapshot")?;
        }
        output::print(&text)?;
        if let Some((first, _)) = judge.others {
            output::tell(&format!(
                "warning: this version decides otherwise, first at record {first}; what happened stays"
            ));
        }
        Ok(())
    }
}

impl Dump {
    fn run(&self) -> Result<()> {
        let files = FileReader::open(disk(&self.folder)?)?;
        let from = self.from.unwrap_or_else(|| files.first());
        if let Some(to) = self.to.filter(|to| *to < from) {
            bail!("--to {to} is before record {from}, the first to print");
        }
        for stored in files.read(from)? {
            let stored = stored?;
            if self.to.is_some_and(|to| stored.sequence > to) {
                break;
            }
            let record = Record::decode(&stored.bytes);
            let record = record.with_context(|| format!("record {}", stored.sequence))?;
            output::print(&format!("{}\n", line(&record)))?;
        }
        Ok(())
    }
}

/// The record for people and quick scripts. Commands and events are as the program writes them
/// for its developers: the stable form is the message in `proto/`.
fn line(record: &Record) -> serde_json::Value {
    let Record { sequence, time, origin, command, events } = record;
    let events: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    json!({
        "sequence": sequence,
        "time": time.as_millis(),
        "identity": origin.as_ref().map(|origin| &origin.identity),
        "commandId": origin.as_ref().map(|origin| &origin.command_id),
        "command": command.as_ref().map(|command| format!("{command:?}")),
        "events": events,
    })
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
