//! `headroom audit`: check and print the audit log of tenants.

use std::fs::File;
use std::io::BufReader;
use std::panic::{set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Subcommand, ValueEnum};
use headroom_core::Timestamp;
use headroom_engine::{
    AUDIT_FOLDER, AuditKnown, AuditReader, AuditRecord, AuditType, AuditVerified, verify_audit,
    verify_audit_lines, written_time,
};
use headroom_journal::disk::{Disk, Folder};
use headroom_journal::{FileReader, JournalError};

use crate::output;

const EXAMPLE: &str = "\
Examples:
  headroom audit verify
  headroom audit export --tenant lab --from 2026-05-01T00:00:00Z -o csv";

/// Check or print the audit log of tenants: actor, time, action, and reason
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Audit {
    #[command(subcommand)]
    deed: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Find records that were changed, removed, or moved
    ///
    /// Each record has the hash of the previous record. If no server is running, the command also compares the audit
    /// log with the journal. It then also finds a missing end and a rebuilt chain.
    Verify(Verify),
    /// Print records as stored, or as CSV rows
    Export(Export),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom audit verify --journal /var/lib/headroom\n  headroom audit verify export.json"
)]
struct Verify {
    /// Folder of the journal, which contains the folder of the audit log
    #[arg(long, value_name = "FOLDER", default_value = "headroom-data", conflicts_with = "file")]
    journal: PathBuf,
    /// File with records, such as a complete export, instead of the folder
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom audit export --type QUOTA_CHANGED -o csv > quotas.csv")]
struct Export {
    /// Folder of the journal, which contains the folder of the audit log
    #[arg(long, value_name = "FOLDER", default_value = "headroom-data")]
    journal: PathBuf,
    /// Print only records of this tenant
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Print only records at or after this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    from: Option<jiff::Timestamp>,
    /// Print only records before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    to: Option<jiff::Timestamp>,
    /// Print only records of this type, such as `QUOTA_CHANGED`
    #[arg(long, value_name = "TYPE", value_parser = kind)]
    r#type: Option<AuditType>,
    /// One JSON object on each line, exactly as stored, or CSV rows
    #[arg(short, long, value_enum, default_value_t = Format::Json)]
    output: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Json,
    Csv,
}

fn kind(name: &str) -> Result<AuditType, String> {
    AuditType::named(name).ok_or_else(|| {
        let all: Vec<&str> = AuditType::ALL.iter().map(|(name, _)| *name).collect();
        format!("this type of record does not exist. Use one of: {}.", all.join(", "))
    })
}

impl Audit {
    /// Runs the command. Returns the exit code.
    ///
    /// # Errors
    /// When the audit cannot be read.
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.deed {
            AuditCommand::Verify(verify) => verify.run(),
            AuditCommand::Export(export) => export.run(),
        }
    }
}

/// Opens an existing folder. Fails instead of creating one for a wrong name.
fn disk(folder: &Path) -> Result<Arc<dyn Disk>> {
    ensure!(folder.is_dir(), "the folder {} does not exist", folder.display());
    let opened = Folder::new(folder);
    Ok(Arc::new(opened.with_context(|| format!("cannot open {}", folder.display()))?))
}

fn audit_in(journal: &Path) -> Result<Arc<dyn Disk>> {
    ensure!(journal.is_dir(), "the folder {} does not exist", journal.display());
    let folder = journal.join(AUDIT_FOLDER);
    ensure!(
        folder.is_dir(),
        "the folder {} contains no audit log. Use the folder of a journal; a server creates the \
         audit log at startup.",
        journal.display()
    );
    disk(&folder)
}

impl Verify {
    fn run(&self) -> Result<ExitCode> {
        let found = match &self.file {
            Some(path) => {
                let name = path.display();
                let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
                let found = verify_audit_lines(path, BufReader::new(file));
                found.with_context(|| format!("cannot read {name}"))?
            }
            None => self.in_folder()?,
        };
        for fault in &found.faults {
            output::tell(&format!("error: {fault}"));
        }
        let untold = found.faults_found - found.faults.len() as u64;
        if untold > 0 {
            output::tell(&format!(
                "error: {untold} more faults, possibly caused by the faults above"
            ));
        }
        output::print(&text_of(&found))?;
        Ok(if found.faults_found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn in_folder(&self) -> Result<AuditVerified> {
        let audit = audit_in(&self.journal)?;
        let known = match FileReader::open(disk(&self.journal)?) {
            Ok(files) => {
                // The error contains the message of a panic, so the panic is not printed.
                let hook = take_hook();
                set_hook(Box::new(|_| {}));
                let known = AuditKnown::of(&files);
                set_hook(hook);
                Some(known.context("the journal of the audit log cannot be read")?)
            }
            Err(JournalError::Held { .. }) => {
                output::tell(
                    "note: a server has the journal open, so only the audit log itself is checked. Its newest \
                     lines can be incomplete.",
                );
                None
            }
            Err(error) => return Err(error.into()),
        };
        let found = verify_audit(&audit, known.as_ref());
        found.with_context(|| format!("cannot read the audit log in {}", self.journal.display()))
    }
}

/// Returns the result as one or two lines.
fn text_of(found: &AuditVerified) -> String {
    let (Some(first), Some(last)) = (&found.first, &found.last) else {
        return "no records\n".to_owned();
    };
    let whole = match found.faults_found {
        0 => "all valid and in order".to_owned(),
        1 => "1 fault".to_owned(),
        faults => format!("{faults} faults"),
    };
    let files =
        if found.files == 1 { "1 file".to_owned() } else { format!("{} files", found.files) };
    let mut lines = vec![format!(
        "records {} to {} in {files}, {} to {}: {whole}",
        first.seq, last.seq, first.at, last.at
    )];
    if first.seq > 1 {
        lines.push(format!(
            "records before {} were deleted after their retention time; the last deleted record \
             had the hash {}",
            first.seq, first.prev_hash
        ));
    }
    lines.push(format!("the last record has the hash {}", last.hash));
    if found.to_come > 0 {
        lines.push(format!(
            "at the next start, the server adds {} more records from the journal",
            found.to_come
        ));
    }
    lines.join("\n") + "\n"
}

impl Export {
    fn run(&self) -> Result<ExitCode> {
        let reader = AuditReader::open(audit_in(&self.journal)?)?;
        let written = |time: jiff::Timestamp| {
            let millis = u64::try_from(time.as_millisecond()).unwrap_or(0);
            written_time(Timestamp::from_millis(millis))
        };
        let (from, to) = (self.from.map(written), self.to.map(written));
        let mut rows = csv::Writer::from_writer(Vec::new());
        let mut failed = None;
        if matches!(self.output, Format::Csv) {
            rows.write_record(COLUMNS)?;
        }
        reader.each(0, from.as_deref(), |record, line| {
            if to.as_ref().is_some_and(|to| record.at >= *to) {
                return false;
            }
            if !self.wants(&record, from.as_deref()) {
                return true;
            }
            let printed = match self.output {
                Format::Json => output::print(&format!("{line}\n")),
                Format::Csv => row(&mut rows, &record),
            };
            failed = printed.err();
            failed.is_none()
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        output::print(&flushed(&mut rows)?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn wants(&self, record: &AuditRecord, from: Option<&str>) -> bool {
        from.is_none_or(|from| *record.at >= *from)
            && self.r#type.is_none_or(|kind| record.kind == kind)
            && self.tenant.as_ref().is_none_or(|tenant| record.tenant.as_ref() == Some(tenant))
    }
}

const COLUMNS: [&str; 13] = [
    "seq",
    "at",
    "actor",
    "requestId",
    "type",
    "tenant",
    "task",
    "before",
    "after",
    "reason",
    "ledgerVersion",
    "prevHash",
    "hash",
];

type Rows = csv::Writer<Vec<u8>>;

/// Writes a record as a row. The values before and after the change are JSON, in one cell each.
fn row(rows: &mut Rows, record: &AuditRecord) -> Result<()> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    rows.write_record([
        record.seq.to_string(),
        record.at.clone(),
        record.actor.clone(),
        text(&record.request_id),
        record.kind.name().to_owned(),
        text(&record.tenant),
        text(&record.task),
        serde_json::to_string(&record.before)?,
        serde_json::to_string(&record.after)?,
        text(&record.reason),
        record.ledger_version.to_string(),
        record.prev_hash.clone(),
        record.hash.clone(),
    ])?;
    output::print(&flushed(rows)?)
}

/// Returns the rows that were written so far.
fn flushed(rows: &mut Rows) -> Result<String> {
    let written = std::mem::replace(rows, csv::Writer::from_writer(Vec::new())).into_inner();
    Ok(String::from_utf8(written.map_err(csv::IntoInnerError::into_error)?)?)
}
