//! Pod lists of the Alibaba GPU cluster traces: CSV with a header, times in seconds.
//!
//! The first five columns are required: `name, cpu_milli, memory_mib, num_gpu, gpu_milli`. Any other column can be
//! absent, or blank in a row. Defaults: priority 0 without `qos`, submission at 0 without `creation_time`, and a run of
//! an hour without `deletion_time`. A pod is one task. It runs until `deletion_time`, from `scheduled_time` or, if
//! `scheduled_time` is blank, from `creation_time`.
//!
//! Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023, and its published traces.

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};

use super::error::{Fault, quoted};
use super::intake::{RawJob, Record};
use super::lines::split_csv;
use super::number::{seconds, whole};
use super::read::Source;

/// Required columns, in order.
const NEEDED: [&str; 5] = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"];
/// Run time of a pod without a recorded end.
const RUN_MS_DEFAULT: u64 = 3_600_000;
/// Maximum amount of a pod. No valid pod reaches it, and sums cannot overflow.
const MILLI_MAX: i64 = 1_000_000_000_000;

/// Parses one line at a time. The first line is the header.
pub(super) struct Openb {
    gpu_milli: bool,
    header: Option<Header>,
    vcore: Name,
    memory: Name,
    gpu: Name,
}

struct Header {
    columns: usize,
    spec: Option<usize>,
    qos: Option<usize>,
    creation: Option<usize>,
    deletion: Option<usize>,
    scheduled: Option<usize>,
}

impl Openb {
    pub(super) fn new(gpu_milli: bool) -> Self {
        Self {
            gpu_milli,
            header: None,
            vcore: Name::new("vcore"),
            memory: Name::new("memory"),
            gpu: Name::new(if gpu_milli { "gpu-milli" } else { "nvidia.com/gpu" }),
        }
    }

    fn amounts(&self, fields: &[String]) -> Result<Amounts, Fault> {
        let cpu = whole("cpu_milli", &fields[1], 0, MILLI_MAX, "")?;
        let mib = whole("memory_mib", &fields[2], 0, i64::MAX >> 20, " of MiB")?;
        let cards = whole("num_gpu", &fields[3], 0, 1_000_000, "")?;
        let share = whole("gpu_milli", &fields[4], 0, 1_000, "")?;
        let mut amounts = Amounts::EMPTY;
        amounts.set(self.vcore.clone(), Quantity::of(cpu));
        amounts.set(self.memory.clone(), Quantity::of(mib << 20));
        let gpu = if self.gpu_milli { cards * share } else { cards };
        if gpu > 0 {
            amounts.set(self.gpu.clone(), Quantity::of(gpu));
        }
        Ok(amounts)
    }
}

fn header_of(fields: &[String]) -> Result<Header, Fault> {
    for (position, needed) in NEEDED.iter().enumerate() {
        let found = fields.get(position).map_or("", String::as_str);
        if found != *needed {
            return Err(Fault::Header(format!(
                "column {} of the header is {}, expected {needed:?}; \
                 an openb pod list begins with {}",
                position + 1,
                quoted(found),
                NEEDED.join(",")
            )));
        }
    }
    let place = |name: &str| fields.iter().position(|field| field == name);
    Ok(Header {
        columns: fields.len(),
        spec: place("gpu_spec"),
        qos: place("qos"),
        creation: place("creation_time"),
        deletion: place("deletion_time"),
        scheduled: place("scheduled_time"),
    })
}

impl Source for Openb {
    fn line(&mut self, text: &str) -> Result<Record, Fault> {
        if text.trim().is_empty() {
            return Ok(Record::Nothing);
        }
        let Some(header) = &self.header else {
            let fields = split_csv(text).map_err(Fault::Header)?;
            self.header = Some(header_of(&fields)?);
            return Ok(Record::Nothing);
        };
        let fields = split_csv(text).map_err(Fault::Line)?;
        if fields.len() < NEEDED.len() || fields.len() > header.columns {
            return Err(Fault::Line(format!(
                "the line has {} columns, expected {} as in the header (at least the first {})",
                fields.len(),
                header.columns,
                NEEDED.len()
            )));
        }
        if fields[0].is_empty() {
            return Err(Fault::value("name", "", "a name"));
        }
        let per_processor = self.amounts(&fields)?;
        let mut notes = Vec::new();
        let (submit_ms, run_ms, recorded_wait_ms) = times(header, &fields, &mut notes)?;
        let qos = cell(&fields, header.qos).map(str::to_owned);
        let priority = priority_of(qos.as_deref(), &mut notes);
        Ok(Record::Job(Box::new(RawJob {
            name: fields[0].clone(),
            submit_ms,
            run_ms,
            recorded_wait_ms,
            qos,
            priority,
            processors: 1,
            per_processor,
            node_label: label_of(cell(&fields, header.spec), &mut notes),
            notes,
            ..RawJob::default()
        })))
    }
}

/// Returns the text of this column. `None` if the list has no such column, or the row is blank there.
fn cell(fields: &[String], column: Option<usize>) -> Option<&str> {
    let text = fields.get(column?)?;
    (!text.is_empty()).then_some(text)
}

/// Returns submission, run time, and recorded wait in ms.
fn times(
    header: &Header,
    fields: &[String],
    notes: &mut Vec<&'static str>,
) -> Result<(i64, u64, Option<u64>), Fault> {
    let time = |name, column| match cell(fields, column) {
        Some(text) => seconds(name, text, false),
        None => Ok(None),
    };
    let creation = time("creation_time", header.creation)?;
    let scheduled = time("scheduled_time", header.scheduled)?;
    let deletion = time("deletion_time", header.deletion)?;
    if creation.is_none() {
        notes.push("no creation time; submission at 0 assumed");
    }
    let creation = creation.unwrap_or_default();
    let start = scheduled.unwrap_or(creation);
    let run_ms = match deletion {
        None => {
            notes.push("no deletion time; a run of one hour assumed");
            RUN_MS_DEFAULT
        }
        Some(deletion) => deletion.checked_sub(start).ok_or_else(|| {
            Fault::value(
                "deletion_time",
                &(deletion / 1_000).to_string(),
                format!("not before the start at {}", start / 1_000),
            )
        })?,
    };
    let wait_ms = scheduled.map(|scheduled| scheduled.saturating_sub(creation));
    Ok((i64::try_from(creation).unwrap_or(i64::MAX), run_ms, wait_ms))
}

fn priority_of(qos: Option<&str>, notes: &mut Vec<&'static str>) -> i32 {
    match qos {
        Some("LS" | "Guaranteed") => 100,
        Some("Burstable") => 50,
        Some("BE") | None => 0,
        Some(_) => {
            notes.push("QoS class is none of LS, Guaranteed, Burstable, BE; priority 0 assumed");
            0
        }
    }
}

/// Returns the label of a pod. A pod can request several models (`A|B`), but a node label can be only one model.
fn label_of(spec: Option<&str>, notes: &mut Vec<&'static str>) -> Option<String> {
    let mut models = spec?.split('|').map(str::trim);
    let first = models.next().filter(|model| !model.is_empty())?;
    if models.next().is_some() {
        notes.push("several GPU models requested; only the first is used");
    }
    Some(first.to_owned())
}
