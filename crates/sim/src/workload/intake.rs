//! Common steps of all formats after a line is parsed: names, times, order, and counts.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::Name;
use headroom_core::resource::Amounts;

use super::error::{Fault, WorkloadError};
use super::read::{Format, ReadOptions};
use super::template::{Field, Template};
use super::time_scale::TIME_MS_MAX;
use super::{Job, Tasks, Workload};

/// Content of one line.
#[derive(Debug)]
pub(super) enum Record {
    /// No job: a comment, a header, a blank line, or a part of a job on another line.
    Nothing,
    /// A job that cannot be simulated, with the reason.
    Skip(&'static str),
    /// A job.
    Job(Box<RawJob>),
    /// Several of these, each with its first line.
    Many(Vec<ReadRecord>),
}

/// Content of an entry, with its first line.
#[derive(Debug)]
pub(super) struct ReadRecord {
    pub(super) line: u64,
    pub(super) record: Result<Record, Fault>,
}

/// A job with the values of its source.
#[derive(Debug, Default)]
pub(super) struct RawJob {
    pub(super) name: String,
    /// Submission by the clock of the source. Negative before the epoch of this clock.
    pub(super) submit_ms: i64,
    pub(super) run_ms: u64,
    pub(super) user: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) queue: Option<String>,
    pub(super) partition: Option<String>,
    pub(super) qos: Option<String>,
    pub(super) priority: i32,
    /// `None` if the source has no value.
    pub(super) may_preempt: Option<bool>,
    pub(super) preemptable: Option<bool>,
    pub(super) processors: u64,
    pub(super) per_processor: Amounts,
    pub(super) more: Vec<Tasks>,
    pub(super) master: Option<Amounts>,
    pub(super) node_label: Option<String>,
    pub(super) lifetime_s: Option<u32>,
    pub(super) tags: Vec<(String, String)>,
    pub(super) account: Option<String>,
    /// Recorded wait.
    pub(super) recorded_wait_ms: Option<u64>,
    /// Defaults that were used, as continuations of `jobs …`.
    pub(super) notes: Vec<&'static str>,
}

impl RawJob {
    /// Returns the value of a template field.
    fn field(&self, field: Field) -> Option<&str> {
        match field {
            Field::User => self.user.as_deref(),
            Field::Group => self.groups.first().map(String::as_str),
            Field::Queue => self.queue.as_deref(),
            Field::Partition => self.partition.as_deref(),
            Field::Job => Some(self.name.as_str()),
            Field::Qos => self.qos.as_deref(),
            Field::Account => self.account.as_deref(),
            Field::Row(_) => None,
        }
    }
}

/// User of a job without one.
const NOBODY: &str = "nobody";
/// Maximum number of invalid lines in the remarks. Further invalid lines are only counted.
const BAD_LINES_TOLD: usize = 5;

/// Longest name of anything in bytes, enough for queue paths of several levels.
const NAME_BYTES_MAX: usize = 1_024;

/// Collects the jobs of one source.
pub(super) struct Intake<'a> {
    file: &'a str,
    options: &'a ReadOptions,
    users: Template,
    groups: Option<Template>,
    /// Whether users were assigned by row.
    dealt: bool,
    rows: u64,
    lines_of: BTreeMap<Name, u64>,
    names: BTreeSet<Name>,
    jobs: Vec<(i64, Job)>,
    skipped: BTreeMap<String, u64>,
    notes: BTreeMap<&'static str, u64>,
    bad: Vec<String>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(file: &'a str, format: Format, options: &'a ReadOptions) -> Self {
        let template =
            |text: &str| text.parse::<Template>().expect("the built-in templates are well-formed");
        let (users, groups) = match format {
            Format::Swf => ("u{user}", Some("g{group}")),
            Format::Openb => ("u{row%40}", None),
            Format::Sacct => ("{user}", Some("{group}")),
            Format::Jsonl | Format::YarnSls => ("{user}", None),
        };
        Self {
            file,
            options,
            users: options.users.clone().unwrap_or_else(|| template(users)),
            groups: options.groups.clone().or_else(|| groups.map(template)),
            dealt: format == Format::Openb && options.users.is_none(),
            rows: 0,
            lines_of: BTreeMap::new(),
            names: BTreeSet::new(),
            jobs: Vec::new(),
            skipped: BTreeMap::new(),
            notes: BTreeMap::new(),
            bad: Vec::new(),
        }
    }

    /// Adds the content of the line with this number, or its fault.
    ///
    /// # Errors
    /// An invalid line, unless invalid lines are skipped. An invalid header is never skipped.
    pub(super) fn take(
        &mut self,
        line: u64,
        record: Result<Record, Fault>,
    ) -> Result<(), WorkloadError> {
        let taken = match record {
            Ok(Record::Nothing) => return Ok(()),
            Ok(Record::Skip(reason)) => {
                *self.skipped.entry(reason.to_owned()).or_default() += 1;
                Ok(())
            }
            Ok(Record::Job(job)) => self.add(line, *job),
            Ok(Record::Many(all)) => {
                return all.into_iter().try_for_each(|entry| self.take(entry.line, entry.record));
            }
            Err(fault @ Fault::Header(_)) => return Err(fault.at(self.file, line)),
            Err(fault) => Err(fault.at(self.file, line)),
        };
        // Counted in any case, so that `{row}` does not depend on options.
        self.rows += 1;
        taken.or_else(|error| self.skip_bad(error))
    }

    fn skip_bad(&mut self, error: WorkloadError) -> Result<(), WorkloadError> {
        if !self.options.skip_bad_lines {
            return Err(error);
        }
        *self.skipped.entry("bad line".to_owned()).or_default() += 1;
        if self.bad.len() < BAD_LINES_TOLD {
            self.bad.push(format!("skipped: {error}"));
        }
        Ok(())
    }

    fn add(&mut self, line: u64, raw: RawJob) -> Result<(), WorkloadError> {
        let name = Name::new(&raw.name);
        if let Some(first) = self.lines_of.get(&name) {
            return Err(WorkloadError::DuplicateJob {
                file: self.file.to_owned(),
                line,
                first: *first,
                job: raw.name,
            });
        }
        let run_ms = self.run_ms(raw.run_ms).map_err(|fault| fault.at(self.file, line))?;
        let stretched = |tasks: &Tasks| {
            let run_ms = self.run_ms(tasks.run_ms).map_err(|fault| fault.at(self.file, line))?;
            Ok(Tasks { run_ms, ..tasks.clone() })
        };
        let more = raw.more.iter().map(stretched).collect::<Result<Vec<Tasks>, WorkloadError>>()?;
        let priority = self.priority(&raw).map_err(|fault| fault.at(self.file, line))?;
        let job = Job { priority, more, line, ..self.job(name.clone(), run_ms, &raw) };
        check_names(&job).map_err(|fault| fault.at(self.file, line))?;
        for note in &raw.notes {
            *self.notes.entry(note).or_default() += 1;
        }
        self.lines_of.insert(name, line);
        self.jobs.push((raw.submit_ms, job));
        Ok(())
    }

    /// Returns a scaled run time.
    fn run_ms(&self, run_ms: u64) -> Result<u64, Fault> {
        self.options.stretch.run_ms(run_ms).ok_or_else(|| {
            let found = format!("{run_ms} ms before --stretch");
            let expected = format!("at most {TIME_MS_MAX} ms after --stretch");
            Fault::value("the run time", &found, expected)
        })
    }

    /// Returns the priority of the template. Without a template, returns the priority of the source.
    fn priority(&self, raw: &RawJob) -> Result<i32, Fault> {
        let filled = |template: &Template| template.fill(self.rows, |field| raw.field(field));
        let Some(text) = self.options.priority_of.as_ref().and_then(filled) else {
            return Ok(raw.priority);
        };
        text.parse().map_err(|_| {
            let expected = format!("a whole number from {} to {}", i32::MIN, i32::MAX);
            Fault::value("the priority", &text, expected)
        })
    }

    fn job(&mut self, name: Name, run_ms: u64, raw: &RawJob) -> Job {
        let row = self.rows;
        let value = |field| raw.field(field);
        let user = self.users.fill(row, value);
        if user.is_none() {
            let note = "no field for the user template; user nobody assumed";
            *self.notes.entry(note).or_default() += 1;
        }
        let groups = match &self.groups {
            Some(template) => template.fill(row, value).into_iter().collect(),
            None => raw.groups.clone(),
        };
        let queue = match &self.options.queue_of {
            Some(template) => template.fill(row, value),
            None => raw.queue.clone(),
        };
        Job {
            line: 0,
            name,
            submit_ms: 0,
            run_ms,
            user: self.intern(user.as_deref().unwrap_or(NOBODY)),
            groups: groups.iter().map(|group| self.intern(group)).collect(),
            queue: queue.map(|queue| self.intern(&queue)),
            priority: raw.priority,
            may_preempt: raw.may_preempt.unwrap_or(true),
            preemptable: raw.preemptable.unwrap_or(true),
            processors: raw.processors,
            per_processor: raw.per_processor.clone(),
            more: Vec::new(),
            master: raw.master.clone(),
            node_label: raw.node_label.as_ref().map(|label| self.intern(label)),
            lifetime_s: raw.lifetime_s,
            tags: self.tags(raw),
            recorded_wait_ms: raw.recorded_wait_ms.filter(|_| self.options.stretch.is_none()),
        }
    }

    /// Returns the tags of a job. Tags of the options override tags of the source.
    fn tags(&mut self, raw: &RawJob) -> Vec<(Name, Name)> {
        let (options, row) = (self.options, self.rows);
        let mut tags = Vec::new();
        for tag in &options.tags {
            if let Some(value) = tag.value.fill(row, |field| raw.field(field)) {
                tags.push((self.intern(&tag.key), self.intern(&value)));
            }
        }
        for (key, value) in &raw.tags {
            if !tags.iter().any(|(known, _)| known.eq_ignore_ascii_case(key)) {
                tags.push((self.intern(key), self.intern(value)));
            }
        }
        tags
    }

    /// Returns a shared copy of a name.
    fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::new(text);
        self.names.insert(name.clone());
        name
    }

    /// Sets the times, and sorts the jobs.
    ///
    /// # Errors
    /// If the workload has no job, or a submission is too long after the first submission.
    pub(super) fn finish(mut self, lines: u64) -> Result<Workload, WorkloadError> {
        let first = self.jobs.iter().map(|(submit, _)| *submit).min();
        let mut jobs = Vec::with_capacity(self.jobs.len());
        for (submit, mut job) in std::mem::take(&mut self.jobs) {
            let since = submit.abs_diff(first.unwrap_or_default());
            let Some(submit_ms) = self.options.stretch.arrival_ms(since) else {
                let line = self.lines_of.get(&job.name).copied().unwrap_or_default();
                let found = format!("{since} ms after the first submission, before --stretch");
                let expected = format!("at most {TIME_MS_MAX} ms after --stretch");
                let error = Fault::value("the submission", &found, expected).at(self.file, line);
                self.skip_bad(error)?;
                continue;
            };
            if self.options.until_ms.is_some_and(|until| submit_ms > until) {
                *self.skipped.entry("submitted after the end".to_owned()).or_default() += 1;
                continue;
            }
            job.submit_ms = submit_ms;
            jobs.push(job);
        }
        if jobs.is_empty() {
            return Err(WorkloadError::NoJob {
                file: self.file.to_owned(),
                lines,
                skipped: described(&self.skipped),
            });
        }
        jobs.sort_by_key(|job| job.submit_ms);
        let counted = self.notes.iter().map(|(note, count)| match count {
            1 => format!("1 job: {note}"),
            _ => format!("{count} jobs: {note}"),
        });
        // Otherwise metrics per user would appear to be real.
        let dealt = self.dealt.then(|| {
            format!("the workload has no users, so its rows are distributed among {}", self.users)
        });
        let remarks = dealt.into_iter().chain(counted).chain(self.bad).collect();
        Ok(Workload { jobs, skipped: self.skipped, remarks, ..Workload::default() })
    }
}

/// Checks that no name has control characters, is empty, or is too long, because names are shown in tables, files,
/// and terminals.
fn check_names(job: &Job) -> Result<(), Fault> {
    let groups = job.groups.iter().map(|group| ("the group", group));
    let queue = job.queue.iter().map(|queue| ("the queue", queue));
    let label = job.node_label.iter().map(|label| ("the node label", label));
    let tags = job.tags.iter().flat_map(|(key, value)| [("a tag's key", key), ("a tag", value)]);
    [("the job's name", &job.name), ("the user", &job.user)]
        .into_iter()
        .chain(groups)
        .chain(queue)
        .chain(label)
        .chain(tags)
        .try_for_each(|(field, name)| {
            let sound = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
            if sound && !name.contains(char::is_control) {
                return Ok(());
            }
            let expected = format!("1 to {NAME_BYTES_MAX} bytes without control characters");
            Err(Fault::value(field, name, expected))
        })
}

fn described(skipped: &BTreeMap<String, u64>) -> String {
    if skipped.is_empty() {
        return "no lines skipped".to_owned();
    }
    let parts: Vec<String> =
        skipped.iter().map(|(reason, count)| format!("{count} skipped ({reason})")).collect();
    parts.join(", ")
}
