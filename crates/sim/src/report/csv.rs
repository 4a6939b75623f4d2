//! CSV files of a run (RFC 4180), for checks by independent programs.
//!
//! Times are in ms of virtual time. Resources are `type=integer` joined by `;`, in core units (millicores, bytes,
//! counts). Fields that do not apply are empty, such as the start of a waiting job, or the end of a running
//! allocation.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use csv::Writer;
use headroom_core::resource::Amounts;

use crate::outcome::{Decision, JobRecord, JobState, Outcome};

/// Reason why a CSV file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// The file could not be created.
    #[error("cannot create {}", path.display())]
    Create {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A line could not be written.
    #[error("cannot write {file}")]
    Write {
        /// Name of the file.
        file: &'static str,
        /// Error of the CSV library.
        #[source]
        source: csv::Error,
    },
    /// The remaining bytes could not be written.
    #[error("cannot complete {file}")]
    Flush {
        /// Name of the file.
        file: &'static str,
        /// I/O error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// Writes `jobs.csv`, `allocations.csv`, and `nodes.csv` to `directory`, which must exist.
///
/// # Errors
/// A [`CsvError`] with the file.
pub fn write_all(directory: &Path, outcome: &Outcome) -> Result<(), CsvError> {
    write_jobs(create(directory, "jobs.csv")?, outcome)?;
    write_allocations(create(directory, "allocations.csv")?, outcome)?;
    write_nodes(create(directory, "nodes.csv")?, outcome)
}

fn create(directory: &Path, file: &str) -> Result<BufWriter<File>, CsvError> {
    let path = directory.join(file);
    File::create(&path).map(BufWriter::new).map_err(|source| CsvError::Create { path, source })
}

/// A CSV file with its name for errors.
struct Sheet<W: Write> {
    file: &'static str,
    writer: Writer<W>,
}

impl<W: Write> Sheet<W> {
    fn new(file: &'static str, out: W, columns: &[&str]) -> Result<Self, CsvError> {
        // RFC 4180 requires CRLF between records.
        let writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        let mut sheet = Self { file, writer };
        sheet.row(columns)?;
        Ok(sheet)
    }

    fn row<T: AsRef<[u8]>>(&mut self, fields: &[T]) -> Result<(), CsvError> {
        let file = self.file;
        let written = self.writer.write_record(fields);
        written.map_err(|source| CsvError::Write { file, source })
    }

    fn finish(mut self) -> Result<(), CsvError> {
        let file = self.file;
        let flushed = self.writer.flush();
        flushed.map_err(|source| CsvError::Flush { file, source })
    }
}

/// Writes `jobs.csv`.
///
/// `wait_ms` is start − submission. The field is empty for jobs that have not started.
///
/// # Errors
/// [`CsvError::Write`] or [`CsvError::Flush`].
pub fn write_jobs(out: impl Write, outcome: &Outcome) -> Result<(), CsvError> {
    let columns = [
        "job",
        "user",
        "group",
        "queue",
        "submit_ms",
        "start_ms",
        "end_ms",
        "wait_ms",
        "state",
        "asks",
        "resources",
        "reason",
    ];
    let mut sheet = Sheet::new("jobs.csv", out, &columns)?;
    for job in &outcome.jobs {
        let wait_ms = job.start_ms.map(|start| start.saturating_sub(job.submit_ms));
        sheet.row(&[
            &*job.name,
            &*job.user,
            job.group.as_deref().unwrap_or(""),
            job.queue.map_or("", |queue| &*outcome.queues[queue].path),
            &job.submit_ms.to_string(),
            &optional(job.start_ms),
            &optional(job.end_ms),
            &optional(wait_ms),
            state(job.state),
            &job.asks.to_string(),
            &resources(&job.resources),
            &reason_of(outcome, job),
        ])?;
    }
    sheet.finish()
}

/// Returns why a job waits or cannot run. For a job that waited and started, returns the longest reason of its wait.
fn reason_of(outcome: &Outcome, job: &JobRecord) -> String {
    if !job.reason.is_empty() {
        return job.reason.clone();
    }
    // The first of equal ones, so that the result depends only on the order of the records.
    let longest = job.waits.iter().rev().max_by_key(|(_, ms)| *ms);
    longest.map_or_else(String::new, |(position, _)| {
        let blocker = &outcome.blockers[*position];
        format!("{} {}", blocker.code, blocker.subject)
    })
}

/// Writes `allocations.csv`.
///
/// # Errors
/// [`CsvError::Write`] or [`CsvError::Flush`].
pub fn write_allocations(out: impl Write, outcome: &Outcome) -> Result<(), CsvError> {
    let columns = [
        "allocation",
        "job",
        "user",
        "group",
        "queue",
        "node",
        "start_ms",
        "end_ms",
        "resources",
        "placeholder",
        "ended_by",
        "preempted_for",
    ];
    let mut sheet = Sheet::new("allocations.csv", out, &columns)?;
    for one in &outcome.allocations {
        let job = &outcome.jobs[one.job];
        sheet.row(&[
            &*one.key,
            &*job.name,
            &*job.user,
            job.group.as_deref().unwrap_or(""),
            job.queue.map_or("", |queue| &*outcome.queues[queue].path),
            &*outcome.nodes[one.node].name,
            &one.start_ms.to_string(),
            &optional(one.end_ms),
            &resources(&one.resources),
            if one.placeholder { "true" } else { "false" },
            one.ended_by,
            one.preempted_for.map_or("", |(job, _)| &*outcome.jobs[job].name),
        ])?;
    }
    sheet.finish()
}

/// Writes `nodes.csv`.
///
/// # Errors
/// [`CsvError::Write`] or [`CsvError::Flush`].
pub fn write_nodes(out: impl Write, outcome: &Outcome) -> Result<(), CsvError> {
    let columns = ["node", "from_ms", "to_ms", "resources"];
    let mut sheet = Sheet::new("nodes.csv", out, &columns)?;
    for node in &outcome.nodes {
        sheet.row(&[
            &*node.name,
            &node.from_ms.to_string(),
            &optional(node.to_ms),
            &resources(&node.resources),
        ])?;
    }
    sheet.finish()
}

/// Writes `decisions.csv` during the run, because there can be too many decisions for memory.
pub struct DecisionsCsv<W: Write> {
    sheet: Sheet<W>,
}

impl DecisionsCsv<BufWriter<File>> {
    /// Begins `decisions.csv` in `directory`, which must exist.
    ///
    /// # Errors
    /// A [`CsvError`] with the file.
    pub fn create(directory: &Path) -> Result<Self, CsvError> {
        Self::new(create(directory, "decisions.csv")?)
    }
}

impl<W: Write> DecisionsCsv<W> {
    /// Writes the header line.
    ///
    /// # Errors
    /// [`CsvError::Write`].
    pub fn new(out: W) -> Result<Self, CsvError> {
        let columns = ["sequence", "time_ms", "kind", "subject", "detail"];
        let sheet = Sheet::new("decisions.csv", out, &columns)?;
        Ok(Self { sheet })
    }

    /// Writes one decision.
    ///
    /// # Errors
    /// [`CsvError::Write`].
    pub fn write(&mut self, decision: &Decision) -> Result<(), CsvError> {
        self.sheet.row(&[
            decision.sequence.to_string().as_str(),
            decision.time_ms.to_string().as_str(),
            decision.kind,
            &decision.subject,
            &decision.detail,
        ])
    }

    /// Writes the remaining buffered bytes.
    ///
    /// # Errors
    /// [`CsvError::Flush`].
    pub fn finish(self) -> Result<(), CsvError> {
        self.sheet.finish()
    }
}

fn optional(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn resources(amounts: &Amounts) -> String {
    let parts: Vec<String> =
        amounts.iter().map(|(name, amount)| format!("{name}={}", amount.get())).collect();
    parts.join(";")
}

fn state(state: JobState) -> &'static str {
    match state {
        JobState::Finished => "finished",
        JobState::Running => "running",
        JobState::Waiting => "waiting",
        JobState::Impossible => "impossible",
        JobState::Rejected => "rejected",
        JobState::Expired => "expired",
    }
}
