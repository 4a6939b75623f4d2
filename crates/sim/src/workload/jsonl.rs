//! The format of Headroom: one JSON object per line and job. Blank lines are allowed.
//!
//! ```text
//! {"id":"j1","submit_ms":0,"run_ms":60000,"user":"ada","groups":["physics"],"queue":"root.a",
//!  "priority":10,"tasks":4,"resources":{"memory":"2Gi","vcore":"500m"},"node_label":"a100"}
//! ```
//! (on one line). Fields:
//!
//! | field | content | if absent |
//! |---|---|---|
//! | `id` | name, unique in the file, not empty | an error |
//! | `submit_ms` | submission, ms, from 0 | an error |
//! | `run_ms` | run time of each task, ms, from 0 | an error |
//! | `user` | user who submits, not empty | an error |
//! | `resources` | amounts of one task as in the queue file, text or whole numbers, so that `"vcore": 2` is two cores | an error |
//! | `tasks` | number of tasks, 1 to 1000000 | 1 |
//! | `groups` | the user's groups, in order | none |
//! | `queue` | queue named at submission | none |
//! | `priority` | priority; a higher one is first | 0 |
//! | `may_preempt` | whether preemption can stop others for its tasks | true |
//! | `preemptable` | whether its tasks offer themselves for preemption; others are preempted later | true |
//! | `more` | tasks of other sizes or run times, asked for after the others: a list of `{"tasks":2,"run_ms":60000,"resources":{…}}`, with `"second_stage":true` when all of the first stage have ended | none |
//! | `master` | `{"resources":{…}}`: one more task, asked for first, that ends when all others have ended | none |
//! | `lifetime_s` | longest lifetime in seconds; that of its queue can be shorter | that of its queue |
//! | `tags` | tags of its application, for placement rules: `{"namespace":"lab"}` | none |
//! | `node_label` | requested node label; `nodeLabel` is accepted too | none |
//! | `partition`, `qos` | for templates only | none |
//!
//! Any other field is an error, and so is a repeated field.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::error::Fault;
use super::intake::{RawJob, Record};
use super::number::PROCESSORS_MAX;
use super::read::Source;
use super::time_scale::TIME_MS_MAX;
use super::{Tasks, Workload};

/// One line, for reading and writing.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: String,
    submit_ms: u64,
    run_ms: u64,
    user: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    priority: i32,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    may_preempt: bool,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    preemptable: bool,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    tasks: u64,
    #[serde(deserialize_with = "resources", serialize_with = "written")]
    resources: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    more: Vec<More>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    master: Option<Master>,
    #[serde(default, alias = "nodeLabel", skip_serializing_if = "Option::is_none")]
    node_label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lifetime_s: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    #[serde(default, skip_serializing)]
    partition: Option<String>,
    #[serde(default, skip_serializing)]
    qos: Option<String>,
}

/// Tasks of another size or run time.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct More {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    tasks: u64,
    run_ms: u64,
    #[serde(deserialize_with = "resources", serialize_with = "written")]
    resources: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    second_stage: bool,
}

/// The master of a job.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Master {
    #[serde(deserialize_with = "resources", serialize_with = "written")]
    resources: Vec<(String, String)>,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_yes(answer: &bool) -> bool {
    *answer
}

fn one() -> u64 {
    1
}

// `serde` requires a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(number: &u64) -> bool {
    *number == 1
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// Parses one line at a time. Shares the names of resource types.
pub(super) struct Jsonl {
    types: Vec<Name>,
}

impl Jsonl {
    pub(super) fn new() -> Self {
        Self { types: Vec::new() }
    }

    fn amounts(&mut self, entries: &[(String, String)]) -> Result<Amounts, Fault> {
        let mut amounts = Amounts::EMPTY;
        for (resource, text) in entries {
            let field = || format!("resources.{resource}");
            let amount = Quantity::parse(resource, text)
                .map_err(|error| Fault::value(field(), text, format!("an amount: {error}")))?;
            if amounts.set(self.intern(resource), amount).is_some() {
                return Err(Fault::value(field(), text, "each resource type once"));
            }
        }
        Ok(amounts)
    }

    fn more(&mut self, more: &[More]) -> Result<Vec<Tasks>, Fault> {
        let each = more.iter().enumerate().map(|(place, one)| {
            is_time(&format!("more[{place}].run_ms"), one.run_ms)?;
            is_count(&format!("more[{place}].tasks"), one.tasks)?;
            let resources = self.amounts(&one.resources)?;
            Ok(Tasks {
                count: one.tasks,
                run_ms: one.run_ms,
                resources,
                is_second_stage: one.second_stage,
            })
        });
        each.collect()
    }

    // A file has few types, so a linear search is fast enough.
    fn intern(&mut self, resource: &str) -> Name {
        if let Some(name) = self.types.iter().find(|name| **name == *resource) {
            return name.clone();
        }
        let name = Name::new(resource);
        self.types.push(name.clone());
        name
    }
}

impl Source for Jsonl {
    fn line(&mut self, text: &str) -> Result<Record, Fault> {
        if text.trim().is_empty() {
            return Ok(Record::Nothing);
        }
        // The parser would also accept a list of all values in order.
        if !text.trim_start().starts_with('{') {
            return Err(Fault::value("the line", text, "a JSON object, {…}"));
        }
        let line: Line = serde_json::from_str(text).map_err(|error| fault_of(&error))?;
        for (field, value) in [("id", &line.id), ("user", &line.user)] {
            if value.is_empty() {
                return Err(Fault::value(field, "", "a name"));
            }
        }
        for (field, ms) in [("submit_ms", line.submit_ms), ("run_ms", line.run_ms)] {
            is_time(field, ms)?;
        }
        is_count("tasks", line.tasks)?;
        if line.lifetime_s == Some(0) {
            return Err(Fault::value("lifetime_s", "0", "at least 1 second"));
        }
        let per_processor = self.amounts(&line.resources)?;
        Ok(Record::Job(Box::new(RawJob {
            name: line.id,
            submit_ms: i64::try_from(line.submit_ms).unwrap_or(i64::MAX),
            run_ms: line.run_ms,
            user: Some(line.user),
            groups: line.groups,
            queue: line.queue,
            partition: line.partition,
            qos: line.qos,
            priority: line.priority,
            may_preempt: Some(line.may_preempt),
            preemptable: Some(line.preemptable),
            processors: line.tasks,
            per_processor,
            more: self.more(&line.more)?,
            master: line.master.map(|master| self.amounts(&master.resources)).transpose()?,
            node_label: line.node_label,
            lifetime_s: line.lifetime_s,
            tags: line.tags.into_iter().collect(),
            ..RawJob::default()
        })))
    }
}

fn is_time(field: &str, ms: u64) -> Result<(), Fault> {
    if ms <= TIME_MS_MAX {
        return Ok(());
    }
    Err(Fault::value(field, &ms.to_string(), format!("at most {TIME_MS_MAX} ms")))
}

fn is_count(field: &str, count: u64) -> Result<(), Fault> {
    if (1..=PROCESSORS_MAX).contains(&count) {
        return Ok(());
    }
    let expected = format!("a whole number from 1 to {PROCESSORS_MAX}");
    Err(Fault::value(field, &count.to_string(), expected))
}

/// Converts a parser error. Omits the parser's line number, because the reader counts lines itself.
fn fault_of(error: &serde_json::Error) -> Fault {
    let text = error.to_string();
    let problem = text.split(" at line 1 column ").next().unwrap_or(&text);
    let problem = problem
        .replace("expected u64", "expected a whole number from 0")
        .replace("expected i32", "expected a whole number of at most 9 digits");
    Fault::Line(format!("column {}: {problem}", error.column()))
}

/// Reads the amounts in file order, to detect a repeated type.
fn resources<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, String)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object of resource types and amounts")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some((resource, amount)) = map.next_entry::<String, serde_json::Value>()? {
                let text = match amount {
                    serde_json::Value::String(text) => text,
                    // The original spelling is lost: it can have had 20 digits.
                    serde_json::Value::Number(number) if number.is_f64() => {
                        return Err(A::Error::custom(format!(
                            "resources.{resource} is a number with decimals, an exponent or more \
                             than 19 digits, expected a whole number or text such as \"500m\""
                        )));
                    }
                    serde_json::Value::Number(number) => number.to_string(),
                    other => {
                        return Err(A::Error::custom(format!(
                            "resources.{resource} is {other}, expected an amount as text or number"
                        )));
                    }
                };
                entries.push((resource, text));
            }
            Ok(entries)
        }
    }

    from.deserialize_map(Entries)
}

fn written<S: serde::Serializer>(entries: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(entries.iter().map(|(resource, text)| (resource, text)))
}

/// Writes jobs as [`Format::Jsonl`](super::Format::Jsonl), one job on each line, without default values.
///
/// Reading the text gives the same jobs if the first job is submitted at 0, and no amount is negative.
///
/// # Errors
/// Returns the I/O error of `out`.
pub fn write_jsonl(workload: &Workload, out: &mut dyn Write) -> io::Result<()> {
    for job in &workload.jobs {
        let text = |name: &Name| name.as_str().to_owned();
        let line = Line {
            id: text(&job.name),
            submit_ms: job.submit_ms,
            run_ms: job.run_ms,
            user: text(&job.user),
            groups: job.groups.iter().map(text).collect(),
            queue: job.queue.as_ref().map(text),
            priority: job.priority,
            may_preempt: job.may_preempt,
            preemptable: job.preemptable,
            tasks: job.processors,
            resources: amounts_text(&job.per_processor),
            more: job
                .more
                .iter()
                .map(|tasks| More {
                    tasks: tasks.count,
                    run_ms: tasks.run_ms,
                    resources: amounts_text(&tasks.resources),
                    second_stage: tasks.is_second_stage,
                })
                .collect(),
            master: job.master.as_ref().map(|size| Master { resources: amounts_text(size) }),
            node_label: job.node_label.as_ref().map(text),
            lifetime_s: job.lifetime_s,
            tags: job.tags.iter().map(|(key, value)| (text(key), text(value))).collect(),
            partition: None,
            qos: None,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn amounts_text(amounts: &Amounts) -> Vec<(String, String)> {
    let text = |(name, amount): (&Name, Quantity)| (name.to_string(), amount_text(name, amount));
    amounts.iter().map(text).collect()
}

/// Returns the shortest spelling of this amount in the notation of the queue file.
fn amount_text(resource: &str, amount: Quantity) -> String {
    let number = amount.get();
    if resource == "vcore" {
        return match number % 1_000 {
            0 => (number / 1_000).to_string(),
            _ => format!("{number}m"),
        };
    }
    let units = [(30, "Gi"), (20, "Mi"), (10, "Ki")];
    let fitting = units.into_iter().find(|(bits, _)| number != 0 && number % (1 << bits) == 0);
    match fitting {
        Some((bits, suffix)) => format!("{}{suffix}", number >> bits),
        None => number.to_string(),
    }
}
