//! Standard Workload Format: 18 columns of numbers per job, and comments after `;`.
//!
//! Columns after the 18th (the Czech extension: node list, queue, request text) are ignored. -1 means unknown. Without
//! requested processors, the used processors count; without both, one processor counts. Without a user or group, the
//! defaults are those of [`ReadOptions`](super::ReadOptions). Without memory, no memory is requested. A job with an
//! unknown run time is skipped.
//!
//! Source: Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers", JSSPP 1999, and the
//! Parallel Workloads Archive's definition of version 2.2.

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};

use super::error::Fault;
use super::intake::{RawJob, Record};
use super::number::{PROCESSORS_MAX, count, seconds, whole};
use super::read::Source;

/// Number of columns of every job.
const COLUMNS: usize = 18;

/// Parses one line at a time.
pub(super) struct Swf {
    vcore: Name,
    memory: Name,
}

impl Swf {
    pub(super) fn new() -> Self {
        Self { vcore: Name::new("vcore"), memory: Name::new("memory") }
    }

    fn per_processor(&self, requested_kib: Option<i64>) -> Amounts {
        let mut amounts = Amounts::EMPTY;
        amounts.set(self.vcore.clone(), Quantity::of(1_000));
        if let Some(kib) = requested_kib {
            amounts.set(self.memory.clone(), Quantity::of(kib).times(1_024));
        }
        amounts
    }
}

impl Source for Swf {
    fn line(&mut self, text: &str) -> Result<Record, Fault> {
        let text = text.trim();
        if text.is_empty() || text.starts_with(';') {
            return Ok(Record::Nothing);
        }
        let columns: Vec<&str> = text.split_ascii_whitespace().take(COLUMNS).collect();
        if columns.len() < COLUMNS {
            return Err(Fault::Line(format!(
                "the line has {} columns, expected {COLUMNS} or more",
                columns.len()
            )));
        }
        whole("column 1 (job)", columns[0], 0, i64::MAX, "")?;
        let submit = submission(columns[1])?;
        let run_ms = seconds("column 4 (run time)", columns[3], true)?;
        let recorded_wait_ms = seconds("column 3 (wait)", columns[2], true).ok().flatten();
        let mut notes = Vec::new();
        let processors = processors(&columns, &mut notes)?;
        let kib_max = i64::MAX / 1_024;
        let memory = known(columns[9], "column 10 (requested memory)", kib_max, " of KB")?;
        let user = known(columns[11], "column 12 (user)", i64::MAX, "")?;
        let group = known(columns[12], "column 13 (group)", i64::MAX, "")?;
        let queue = known(columns[14], "column 15 (queue)", i64::MAX, "")?;
        let partition = known(columns[15], "column 16 (partition)", i64::MAX, "")?;
        let Some(run_ms) = run_ms else {
            return Ok(Record::Skip("run time unknown"));
        };
        let text = |number: i64| number.to_string();
        Ok(Record::Job(Box::new(RawJob {
            name: columns[0].to_owned(),
            submit_ms: submit,
            run_ms,
            user: user.map(text),
            groups: group.map(text).into_iter().collect(),
            queue: queue.map(text),
            partition: partition.map(text),
            processors,
            recorded_wait_ms,
            per_processor: self.per_processor(memory.filter(|kib| *kib > 0)),
            notes,
            ..RawJob::default()
        })))
    }
}

fn submission(text: &str) -> Result<i64, Fault> {
    let ms = seconds("column 2 (submission)", text, false)?.unwrap_or_default();
    Ok(i64::try_from(ms).unwrap_or(i64::MAX))
}

/// Parses the whole number of this column. `None` for -1.
fn known(text: &str, field: &str, most: i64, unit: &str) -> Result<Option<i64>, Fault> {
    if text == "-1" {
        return Ok(None);
    }
    let number = whole(field, text, 0, most, unit);
    number.map(Some).map_err(|fault| fault.or("-1 for unknown"))
}

fn processors(columns: &[&str], notes: &mut Vec<&'static str>) -> Result<u64, Fault> {
    let most = i64::try_from(PROCESSORS_MAX).unwrap_or(i64::MAX);
    let requested = known(columns[7], "column 8 (requested processors)", most, "")?;
    let used = known(columns[4], "column 5 (used processors)", most, "")?;
    let at_least_one = |number: &i64| *number > 0;
    Ok(if let Some(requested) = requested.filter(at_least_one) {
        count(requested)
    } else if let Some(used) = used.filter(at_least_one) {
        notes.push("no processors requested; the used processors are taken");
        count(used)
    } else {
        notes.push("no processors requested or used; one processor assumed");
        1
    })
}
