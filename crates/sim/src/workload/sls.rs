//! Job lists of Hadoop's Scheduler Load Simulator: a stream of JSON objects, one per job or per group of equal jobs.
//! An object can have any number of lines.
//!
//! | field of a job | content | if absent |
//! |---|---|---|
//! | `job.start.ms` | submission, ms, from 0 | 0 |
//! | `job.id` | its name | its number among the jobs, from 0 |
//! | `job.count` | so many equal jobs, from 1; with a name they are `name.0`, `name.1`, … | 1 |
//! | `job.user` | who submits | `default` |
//! | `job.queue.name` | queue named at submission | none |
//! | `job.label.expression` | label of the nodes it wishes for | none |
//! | `am.memory-mb`, `am.vcores`, `am.` and another type | what its master needs | 1024 MB, 1 core, none |
//! | `job.tasks` | a list of tasks, not empty | an error |
//!
//! | field of a task | content | if absent |
//! |---|---|---|
//! | `count` | so many equal tasks, from 1 | 1 |
//! | `container.duration.ms`, else `duration.ms`, else `container.end.ms` − `container.start.ms` | run time, ms, from 1 | an error |
//! | `container.memory-mb` (or `container.memory`), `container.vcores`, `container.` and another type | what it needs | 1024 MB, 1 core, none |
//! | `container.priority` | the lower is asked for first, within the job and its stage | 20 |
//! | `container.type` | `reduce`: asked for when all others of the job have ended, if `am.type` is `mapreduce` or absent | a map |
//!
//! Numbers can be texts. `job.end.ms`, `container.execution.type`, and `container.allocation.id` have no effect.
//! Hosts are ignored with a remark, because a task can run on any node. Delays of requests are ignored too. An object
//! with `num.nodes` describes nodes, and is skipped.

use std::collections::BTreeMap;

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};
use serde_json::{Map, Value};

use super::Tasks;
use super::error::Fault;
use super::intake::{RawJob, ReadRecord, Record};
use super::number::PROCESSORS_MAX;
use super::read::Source;
use super::time_scale::TIME_MS_MAX;

/// Largest size of an object, in bytes.
const OBJECT_BYTES_MAX: usize = 64 << 20;
/// Default memory of a container and of a master. `CORES` is the default number of cores.
const MEMORY_MB: i64 = 1_024;
const CORES: i64 = 1;
/// The default priority of a task.
const PRIORITY: i64 = 20;

/// Fields of a task that are not resources.
const NO_RESOURCE: [&str; 10] = [
    "host",
    "start.ms",
    "end.ms",
    "duration",
    "duration.ms",
    "priority",
    "type",
    "execution.type",
    "allocation.id",
    "request.delay",
];

/// Collects and parses objects.
#[derive(Debug, Default)]
pub(super) struct Sls {
    /// Number of the current line.
    line: u64,
    /// Text of the current object so far.
    text: String,
    /// Line in which the object began.
    began: u64,
    /// Nesting depth at the end of the text. The next fields store whether the end is in a string, and after a
    /// backslash in that string.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Number of objects so far. `jobs` is the number of jobs.
    objects: u64,
    jobs: u64,
}

impl Source for Sls {
    fn at(&mut self, line: u64) {
        self.line = line;
    }

    fn line(&mut self, text: &str) -> Result<Record, Fault> {
        let mut entries = Vec::new();
        let text = text.trim_start_matches('\u{feff}');
        for (place, letter) in text.char_indices() {
            if self.depth == 0 {
                match letter {
                    '{' => self.begin(),
                    _ if letter.is_whitespace() => continue,
                    _ => {
                        let found = text.get(place..).unwrap_or_default();
                        let record =
                            Err(Fault::value("the text between objects", found, "nothing, or {"));
                        entries.push(ReadRecord { line: self.line, record });
                        break;
                    }
                }
            }
            if self.take(letter) {
                let record = self.object();
                entries.push(ReadRecord { line: self.began, record });
                self.text.clear();
            }
        }
        if self.depth > 0 {
            self.text.push('\n');
            if self.text.len() > OBJECT_BYTES_MAX {
                let problem =
                    format!("object {} has more than {OBJECT_BYTES_MAX} bytes", self.objects);
                (self.depth, self.in_string, self.escaped) = (0, false, false);
                self.text.clear();
                entries.push(ReadRecord { line: self.began, record: Err(Fault::Line(problem)) });
            }
        }
        Ok(Record::Many(entries))
    }

    fn end(&mut self) -> Option<ReadRecord> {
        (self.depth > 0).then(|| {
            let problem = format!(
                "object {} begins here and does not end: {} of its {{ and [ are open",
                self.objects, self.depth
            );
            ReadRecord { line: self.began, record: Err(Fault::Line(problem)) }
        })
    }
}

impl Sls {
    fn begin(&mut self) {
        self.began = self.line;
        self.objects += 1;
    }

    /// Adds a character to an object. Returns whether the object ends with this character.
    fn take(&mut self, letter: char) -> bool {
        self.text.push(letter);
        if self.in_string {
            match letter {
                _ if self.escaped => self.escaped = false,
                '\\' => self.escaped = true,
                '"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match letter {
            '"' => self.in_string = true,
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth -= 1,
            _ => {}
        }
        self.depth == 0
    }

    /// Returns the content of the complete object.
    fn object(&mut self) -> Result<Record, Fault> {
        let number = self.objects;
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text);
        let map = read(&self.text).map_err(|error| {
            let text = error.to_string();
            let problem = text.split(" at line ").next().unwrap_or(&text);
            let line = self.began + (error.line() as u64).saturating_sub(1);
            Fault::Line(format!(
                "object {number}, line {line}, column {}: {problem}",
                error.column()
            ))
        })?;
        if map.contains_key("num.nodes") && !map.contains_key("job.tasks") {
            return Ok(Record::Nothing);
        }
        let object = Object { map: &map, within: String::new() };
        let jobs = self.jobs_of(&object).map_err(|fault| fault.of_object(number))?;
        let entry = |job| ReadRecord { line: self.began, record: Ok(Record::Job(Box::new(job))) };
        Ok(Record::Many(jobs.into_iter().map(entry).collect()))
    }

    /// Returns the jobs of an object.
    fn jobs_of(&mut self, object: &Object<'_>) -> Result<Vec<RawJob>, Fault> {
        let (count, tasks) = (object.count("job.count")?, object.tasks()?);
        let submit_ms = object.ms("job.start.ms")?.unwrap_or_default();
        let (id, user) = (object.text("job.id")?, object.text("job.user")?);
        let (queue, label) = (object.text("job.queue.name")?, object.text("job.label.expression")?);
        let master = object.resources("am.", &["type"])?;
        let mut notes = tasks.notes;
        if !object.map.keys().any(|key| key.starts_with("am.") && key != "am.type") {
            notes.push("the master has no size; assumed 1024 MB and 1 core");
        }
        let mut groups = tasks.groups.into_iter();
        let first = groups.next().ok_or_else(|| object.fault("job.tasks", "at least one task"))?;
        let more: Vec<Tasks> = groups.collect();
        let mut jobs = Vec::new();
        for copy in 0..count {
            let name = match &id {
                Some(id) if count == 1 => id.clone(),
                Some(id) => format!("{id}.{copy}"),
                None => self.jobs.to_string(),
            };
            self.jobs += 1;
            jobs.push(RawJob {
                name,
                submit_ms,
                run_ms: first.run_ms,
                user: Some(user.clone().unwrap_or_else(|| "default".to_owned())),
                queue: queue.clone(),
                processors: first.count,
                per_processor: first.resources.clone(),
                more: more.clone(),
                master: Some(master.clone()),
                node_label: label.clone(),
                notes: notes.clone(),
                ..RawJob::default()
            });
        }
        Ok(jobs)
    }
}

/// The tasks of a job, and the settings that are ignored.
struct Listed {
    groups: Vec<Tasks>,
    notes: Vec<&'static str>,
}

/// A job, or a task of one.
struct Object<'a> {
    map: &'a Map<String, Value>,
    /// Prefix of the field names in messages, for an object inside the object of the job.
    within: String,
}

impl Object<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns the fault of a field.
    fn fault(&self, key: &str, expected: impl Into<String>) -> Fault {
        let found = match self.get(key) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        Fault::value(format!("{}{key}", self.within), &found, expected)
    }

    /// Returns a text, or a number as text.
    fn text(&self, key: &str) -> Result<Option<String>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.fault(key, "a name")),
        }
    }

    /// Returns a whole number in a range.
    fn whole(&self, key: &str, (least, most): (i64, i64)) -> Result<Option<i64>, Fault> {
        let expected = || format!("a whole number from {least} to {most}");
        let number = match self.get(key) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_i64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        let number = number.filter(|number| (least..=most).contains(number));
        number.map(Some).ok_or_else(|| self.fault(key, expected()))
    }

    /// Returns a time in ms, from 0.
    fn ms(&self, key: &str) -> Result<Option<i64>, Fault> {
        let most = i64::try_from(TIME_MS_MAX).unwrap_or(i64::MAX);
        self.whole(key, (0, most)).map_err(|fault| fault.in_unit("ms"))
    }

    /// Returns a count. 1 by default.
    fn count(&self, key: &str) -> Result<u64, Fault> {
        let most = i64::try_from(PROCESSORS_MAX).unwrap_or(i64::MAX);
        let count = self.whole(key, (1, most))?;
        Ok(count.map_or(1, i64::cast_unsigned))
    }

    /// Returns the amounts of fields with this prefix, except `others`.
    fn resources(&self, prefix: &str, others: &[&str]) -> Result<Amounts, Fault> {
        let mut amounts = Amounts::from([("memory", MEMORY_MB << 20), ("vcore", CORES * 1_000)]);
        for key in self.map.keys() {
            let Some(name) = key.strip_prefix(prefix).filter(|name| !others.contains(name)) else {
                continue;
            };
            let (name, unit) = match name {
                "memory-mb" | "memory" => ("memory", 1 << 20),
                "vcores" => ("vcore", 1_000),
                other => (other, 1),
            };
            // A type with an amount of 0 is not asked for.
            let amount = self.whole(key, (0, i64::MAX / unit))?;
            let is_default = matches!(name, "memory" | "vcore");
            if let Some(amount) = amount.filter(|amount| *amount > 0 || is_default) {
                amounts.set(Name::new(name), Quantity::of(amount * unit));
            }
        }
        Ok(amounts)
    }

    /// Returns the tasks of a job: maps before reduces, sorted by number in each stage. Equal tasks are together.
    fn tasks(&self) -> Result<Listed, Fault> {
        let list = self.get("job.tasks").and_then(Value::as_array);
        let list = list.ok_or_else(|| self.fault("job.tasks", "a list of tasks"))?;
        let mut by_priority: BTreeMap<(bool, i64), Vec<Tasks>> = BTreeMap::new();
        let (mut sum, mut hosts, mut delays) = (0_u64, false, false);
        let has_stages = self.text("am.type")?.is_none_or(|kind| kind == "mapreduce");
        for (place, task) in list.iter().enumerate() {
            let within = format!("job.tasks[{place}]");
            let map = task
                .as_object()
                .ok_or_else(|| Fault::value(within.clone(), &task.to_string(), "an object, {…}"))?;
            let task = Object { map, within: format!("{within}.") };
            hosts |= task.get("container.host").is_some();
            delays |=
                task.whole("container.request.delay", (0, i64::MAX))?.is_some_and(|ms| ms > 0);
            let is_reduce =
                has_stages && task.text("container.type")?.is_some_and(|kind| kind == "reduce");
            let one = Tasks {
                is_second_stage: is_reduce,
                count: task.count("count")?,
                run_ms: task.run_ms()?,
                resources: task.resources("container.", &NO_RESOURCE)?,
            };
            sum = sum.saturating_add(one.count);
            if sum > PROCESSORS_MAX {
                let expected = format!("at most {PROCESSORS_MAX} tasks of a job");
                return Err(task.fault("count", expected));
            }
            let range = (i64::from(i32::MIN), i64::from(i32::MAX));
            let priority = task.whole("container.priority", range)?.unwrap_or(PRIORITY);
            let alike = by_priority.entry((is_reduce, priority)).or_default();
            let is_equal = |known: &&mut Tasks| {
                (known.run_ms, &known.resources) == (one.run_ms, &one.resources)
            };
            match alike.iter_mut().find(is_equal) {
                Some(known) => known.count += one.count,
                None => alike.push(one),
            }
        }
        let mut notes = Vec::new();
        if hosts {
            notes.push("hosts are ignored, so a task can run on any node");
        }
        if delays {
            notes.push("delays of requests are ignored, so everything is requested at the start");
        }
        let mut groups: Vec<Tasks> = by_priority.into_values().flatten().collect();
        if groups.iter().all(|tasks| tasks.is_second_stage) {
            // Reduces without maps do not wait.
            for tasks in &mut groups {
                tasks.is_second_stage = false;
            }
        }
        Ok(Listed { groups, notes })
    }

    /// Returns the run time of a task.
    fn run_ms(&self) -> Result<u64, Fault> {
        const KEYS: [&str; 3] = ["container.duration.ms", "container.duration", "duration.ms"];
        for key in KEYS.into_iter().chain(["duration"]) {
            if let Some(ms) = self.ms(key)? {
                let ms = u64::try_from(ms).ok().filter(|ms| *ms > 0);
                return ms.ok_or_else(|| self.fault(key, "a time of 1 ms at least"));
            }
        }
        let (start, end) = (self.ms("container.start.ms")?, self.ms("container.end.ms")?);
        match (start, end) {
            (Some(start), Some(end)) if end > start => Ok((end - start).cast_unsigned()),
            (Some(start), Some(_)) => {
                Err(self.fault("container.end.ms", format!("a time after the start, {start} ms")))
            }
            _ => Err(self.fault(
                "container.duration.ms",
                "a run time in ms; or duration.ms; or container.start.ms and container.end.ms",
            )),
        }
    }
}

impl Fault {
    /// Adds the number of the object in the stream to a fault.
    fn of_object(self, number: u64) -> Self {
        match self {
            Self::Value { field, found, expected } => {
                Self::Value { field: format!("object {number}: {field}"), found, expected }
            }
            Self::Line(problem) => Self::Line(format!("object {number}: {problem}")),
            header @ Self::Header(_) => header,
        }
    }

    /// Adds a unit to the expected number of a fault.
    fn in_unit(mut self, unit: &str) -> Self {
        if let Self::Value { expected, .. } = &mut self {
            expected.push(' ');
            expected.push_str(unit);
        }
        self
    }
}
