//! Text of Slurm's `sacct --parsable2` (or `--parsable`) with its header line.
//!
//! | value | first of these columns with a value | if none has one |
//! |---|---|---|
//! | name | `JobID`, `JobIDRaw` | an error |
//! | submission | `Submit`, `Eligible`, `Start` | an error |
//! | run time | `ElapsedRaw`, `Elapsed`, `End` − `Start` | an error |
//! | processors | `ReqCPUS`, `ReqTRES`, `AllocTRES`, `AllocCPUS`, `NCPUS` | one |
//! | memory | `ReqMem`, `ReqTRES`, `AllocTRES` | none asked for |
//! | GPUs | `ReqTRES`, `AllocTRES` (`gres/gpu`) | none asked for |
//! | nodes, for memory per node | `ReqNodes`, `NNodes`, `AllocNodes` | one |
//! | recorded wait | `Start` − submission | none |
//! | user, partition (also the queue), QOS | `User`, `Partition`, `QOS` | unknown |
//! | group | `Group`, `Account` | unknown |
//! | account, for templates | `Account` | unknown |
//!
//! Other columns are ignored. Job steps (`123.batch`) are parts of their job, and are ignored too. A job that never
//! started is skipped; a running one counts with its time so far. A job becomes one task per GPU, or per processor if
//! it has no GPU. Each task has its fraction of the processors and memory, rounded up. Times without an offset are
//! those of the cluster's clock. A change of daylight saving is not corrected.
//!
//! Source: the manual page sacct(1) of Slurm.

mod time;
mod tres;

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};

use super::error::Fault;
use super::intake::{RawJob, Record};
use super::number::{PROCESSORS_MAX, count, whole};
use super::read::Source;
use tres::Tres;

/// Parses one line at a time. The first line is the header.
pub(super) struct Sacct {
    header: Option<Header>,
    vcore: Name,
    memory: Name,
    gpu: Name,
}

/// Column names in file order.
struct Header(Vec<String>);

/// One line with the names of its columns.
struct Row<'a> {
    header: &'a Header,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    /// Returns the text of this column. `None` if the file has no such column, or the line is blank there.
    fn get(&self, column: &str) -> Option<&str> {
        let position = self.header.0.iter().position(|name| name == column)?;
        let text = self.fields.get(position)?.trim();
        (!matches!(text, "" | "Unknown" | "None" | "N/A")).then_some(text)
    }

    /// Returns the first of these columns with a value, and its name.
    fn first<'c>(&self, columns: &[&'c str]) -> Option<(&'c str, &str)> {
        columns.iter().find_map(|column| Some((*column, self.get(column)?)))
    }
}

impl Sacct {
    pub(super) fn new() -> Self {
        Self {
            header: None,
            vcore: Name::new("vcore"),
            memory: Name::new("memory"),
            gpu: Name::new("nvidia.com/gpu"),
        }
    }

    /// Returns the number of tasks, and the amounts of each.
    fn shape(&self, row: &Row<'_>, notes: &mut Vec<&'static str>) -> Result<(u64, Amounts), Fault> {
        let requested = tres_of(row, "ReqTRES")?;
        let allocated = tres_of(row, "AllocTRES")?;
        let cpus = match processors(row, "ReqCPUS")?.or(requested.cpus).or(allocated.cpus) {
            None => processors(row, "AllocCPUS")?.or(processors(row, "NCPUS")?),
            known => known,
        };
        let cpus = cpus.filter(|cpus| *cpus > 0).unwrap_or_else(|| {
            notes.push("no processor count; assumed 1");
            1
        });
        let memory = match row.get("ReqMem") {
            Some(text) => tres::requested_memory("ReqMem", text, cpus, nodes(row)?)?,
            None => None,
        };
        let memory = memory.or(requested.memory).or(allocated.memory);
        let gpus = requested.gpus.or(allocated.gpus).filter(|gpus| *gpus > 0);

        let tasks = gpus.unwrap_or(cpus);
        let part = |whole: i64| Quantity::of(whole / tasks + i64::from(whole % tasks != 0));
        let mut amounts = Amounts::EMPTY;
        amounts.set(self.vcore.clone(), part(cpus * 1_000));
        if let Some(memory) = memory.filter(|memory| *memory > 0) {
            amounts.set(self.memory.clone(), part(memory));
        }
        if gpus.is_some() {
            amounts.set(self.gpu.clone(), Quantity::of(1));
        }
        Ok((count(tasks), amounts))
    }
}

impl Source for Sacct {
    fn line(&mut self, text: &str) -> Result<Record, Fault> {
        if text.trim().is_empty() {
            return Ok(Record::Nothing);
        }
        let Some(header) = &self.header else {
            self.header = Some(header_of(text)?);
            return Ok(Record::Nothing);
        };
        let mut fields: Vec<&str> = text.split('|').collect();
        // `--parsable` writes a bar at the end of every line.
        if fields.len() == header.0.len() + 1 && fields.last() == Some(&"") {
            fields.pop();
        }
        if fields.len() != header.0.len() {
            return Err(Fault::Line(format!(
                "the line has {} columns, expected {} as in the header. If a job name contains a \
                 bar, export without JobName",
                fields.len(),
                header.0.len()
            )));
        }
        let row = Row { header, fields };
        let (_, name) = row
            .first(&["JobID", "JobIDRaw"])
            .ok_or_else(|| Fault::value("JobID", "", "a job number"))?;
        if name.contains('.') {
            return Ok(Record::Nothing);
        }
        self.job(name, &row)
    }
}

impl Sacct {
    fn job(&self, name: &str, row: &Row<'_>) -> Result<Record, Fault> {
        let mut notes = Vec::new();
        let state = row.get("State").unwrap_or_default();
        let Some(run_ms) = run_time(row)? else {
            return Ok(Record::Skip("never started"));
        };
        let unborn = state.starts_with("CANCELLED") && run_ms == 0;
        if state.starts_with("PENDING") || unborn {
            return Ok(Record::Skip("never started"));
        }
        let (column, submit) = row
            .first(&["Submit", "Eligible", "Start"])
            .ok_or_else(|| Fault::value("Submit", "", "a time such as 2025-01-31T12:00:00"))?;
        let submit_ms = time::moment(column, submit)?;
        if state.starts_with("RUNNING") || state.starts_with("SUSPENDED") {
            notes.push("still running; the run time so far is used");
        }
        let (processors, per_processor) = self.shape(row, &mut notes)?;
        let text = |column| row.get(column).map(str::to_owned);
        Ok(Record::Job(Box::new(RawJob {
            name: name.to_owned(),
            submit_ms,
            run_ms,
            user: text("User"),
            groups: text("Group").or(text("Account")).into_iter().collect(),
            queue: text("Partition"),
            partition: text("Partition"),
            qos: text("QOS"),
            account: text("Account"),
            recorded_wait_ms: waited(row, column, submit_ms)?,
            processors,
            per_processor,
            notes,
            ..RawJob::default()
        })))
    }
}

fn header_of(text: &str) -> Result<Header, Fault> {
    let mut names: Vec<String> = text.split('|').map(|name| name.trim().to_owned()).collect();
    if names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let needed = [
        ("a name", has("JobID") || has("JobIDRaw"), "JobID"),
        ("a submission", has("Submit") || has("Eligible") || has("Start"), "Submit"),
        (
            "a run time",
            has("ElapsedRaw") || has("Elapsed") || has("Start") && has("End"),
            "ElapsedRaw",
        ),
    ];
    for (what, found, column) in needed {
        if !found {
            return Err(Fault::Header(format!(
                "the header {} has no column {column} for {what}. Export with sacct --parsable2 \
                 --allocations \
                 --format=JobID,User,Account,Partition,QOS,Submit,Start,ElapsedRaw,ReqCPUS,ReqMem,ReqTRES,NNodes,State",
                super::error::quoted(text)
            )));
        }
    }
    Ok(Header(names))
}

/// Returns the recorded wait of a job in ms. `None` if the file has no start.
fn waited(row: &Row<'_>, submission: &str, submit_ms: i64) -> Result<Option<u64>, Fault> {
    let Some(start) = row.get("Start").filter(|_| submission != "Start") else { return Ok(None) };
    let wait_ms = time::moment("Start", start)? - submit_ms;
    // The clock was set back, or a reservation began before the submission.
    Ok(Some(u64::try_from(wait_ms).unwrap_or(0)))
}

/// Returns the run time in ms. `None` if the job never started.
fn run_time(row: &Row<'_>) -> Result<Option<u64>, Fault> {
    if let Some(text) = row.get("ElapsedRaw") {
        return super::number::seconds("ElapsedRaw", text, false);
    }
    if let Some(text) = row.get("Elapsed") {
        return time::elapsed("Elapsed", text).map(Some);
    }
    let (Some(start), Some(end)) = (row.get("Start"), row.get("End")) else {
        return Ok(None);
    };
    let run_ms = time::moment("End", end)? - time::moment("Start", start)?;
    match u64::try_from(run_ms) {
        Ok(run_ms) => Ok(Some(run_ms)),
        Err(_) => Err(Fault::value("End", end, format!("not before Start, {start}"))),
    }
}

fn tres_of(row: &Row<'_>, column: &str) -> Result<Tres, Fault> {
    row.get(column).map_or(Ok(Tres::default()), |text| Tres::parse(column, text))
}

fn processors(row: &Row<'_>, column: &str) -> Result<Option<i64>, Fault> {
    let most = i64::try_from(PROCESSORS_MAX).unwrap_or(i64::MAX);
    let parsed = row.get(column).map(|text| whole(column, text, 0, most, ""));
    Ok(parsed.transpose()?.filter(|number| *number > 0))
}

fn nodes(row: &Row<'_>) -> Result<i64, Fault> {
    for column in ["ReqNodes", "NNodes", "AllocNodes"] {
        if let Some(nodes) = processors(row, column)? {
            return Ok(nodes);
        }
    }
    Ok(1)
}
