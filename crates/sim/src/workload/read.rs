//! Common entry point: converts a file of any format to a [`Workload`].

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;

use super::Workload;
use super::error::{Fault, WorkloadError};
use super::intake::{Intake, ReadRecord, Record};
use super::jsonl::Jsonl;
use super::lines::Lines;
use super::openb::Openb;
use super::sacct::Sacct;
use super::sls::Sls;
use super::swf::Swf;
use super::template::{TagTemplate, Template};
use super::time_scale::TimeScale;

/// Format of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Standard Workload Format of the Parallel Workloads Archive.
    Swf,
    /// Pod list of the Alibaba GPU cluster traces, CSV with a header.
    Openb,
    /// Text of Slurm's `sacct --parsable2` with its header.
    Sacct,
    /// Format of Headroom: one JSON object per line.
    Jsonl,
    /// Job list of Hadoop's Scheduler Load Simulator: a stream of JSON objects.
    YarnSls,
}

/// An unknown format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a workload format. Use swf, openb, sacct, jsonl or yarn-sls")]
pub struct FormatError {
    /// Found text.
    pub found: String,
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        Ok(match text {
            "swf" => Self::Swf,
            "openb" => Self::Openb,
            "sacct" => Self::Sacct,
            "jsonl" => Self::Jsonl,
            "yarn-sls" => Self::YarnSls,
            _ => {
                return Err(FormatError { found: text.to_owned() });
            }
        })
    }
}

impl Format {
    /// Returns the format by the file name, or by the first line that is not blank. `None` if neither identifies the
    /// format.
    pub fn guess(file: &str, first_line: &str) -> Option<Self> {
        let extension = Path::new(file).extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("swf") => return Some(Self::Swf),
            Some("jsonl") => return Some(Self::Jsonl),
            _ => {}
        }
        let line = first_line.trim_start_matches('\u{feff}').trim();
        if line == "{" || line.starts_with('{') && line.contains("\"am.type\"") {
            Some(Self::YarnSls)
        } else if line.starts_with('{') {
            Some(Self::Jsonl)
        } else if line.split('|').any(|column| column.starts_with("JobID")) {
            Some(Self::Sacct)
        } else if line.starts_with("name,cpu_milli,") {
            Some(Self::Openb)
        } else if line.starts_with(';') {
            Some(Self::Swf)
        } else {
            None
        }
    }
}

/// Options for reading a workload. The default options change nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// Names of users. Default: `u{user}` for `swf`, `u{row%40}` for `openb` (which has no users), and `{user}` for all
    /// other formats (`default` for a `yarn-sls` job without a user). A job that lacks a field of the template belongs
    /// to `nobody`.
    pub users: Option<Template>,
    /// Names of groups, one per job. Default: `g{group}` for `swf`, `{group}` for `sacct`, none for `openb`, and the
    /// listed groups for `jsonl`. A job that lacks a field of the template has no group.
    pub groups: Option<Template>,
    /// Names of queues. Default: the queue in the source. A job that lacks a field of the template has no queue.
    pub queue_of: Option<Template>,
    /// Priorities as whole numbers. Default: the priority of the source, or 0. The default also applies to a job that
    /// lacks a field of the template.
    pub priority_of: Option<Template>,
    /// Tags of all jobs. Each replaces a tag with the same key in the source. A job that lacks a field of a template
    /// does not get its tag.
    pub tags: Vec<TagTemplate>,
    /// Factors for run times, and for the times between submissions.
    pub stretch: TimeScale,
    /// Whether to skip and count invalid lines.
    pub skip_bad_lines: bool,
    /// `openb`: amounts of `gpu-milli` instead of whole `nvidia.com/gpu`.
    pub gpu_milli: bool,
    /// Latest submission of a job, in ms of virtual time after scaling. Later jobs are omitted.
    pub until_ms: Option<u64>,
}

/// Parses the lines of one format.
pub(super) trait Source {
    /// Parses one line, including comments and headers.
    fn line(&mut self, text: &str) -> Result<Record, Fault>;

    /// Sets the number of the next line.
    fn at(&mut self, _line: u64) {}

    /// Handles the end of the text. Returns the fault of an incomplete entry. `None` without such an entry.
    fn end(&mut self) -> Option<ReadRecord> {
        None
    }
}

/// Reads a file. Without a format, determines the format from the name and the first line.
///
/// Submissions are relative to the earliest simulated job, which is at 0. Jobs are sorted by submission. Jobs with the
/// same submission time are in source order.
///
/// # Errors
/// A [`WorkloadError`]: the file or a line is not valid, or the file has no job.
pub fn read(
    path: &Path,
    format: Option<Format>,
    options: &ReadOptions,
) -> Result<Workload, WorkloadError> {
    let open = |source| WorkloadError::Open { path: path.to_owned(), source };
    let mut input = BufReader::new(File::open(path).map_err(open)?);
    let file = path.display().to_string();
    let format = if let Some(format) = format {
        format
    } else {
        // The content of the buffer is enough, because a longer first line is not a header.
        let start = String::from_utf8_lossy(input.fill_buf().map_err(open)?);
        let line = start.lines().find(|line| !line.trim().is_empty());
        Format::guess(&file, line.unwrap_or_default())
            .ok_or_else(|| WorkloadError::UnknownFormat { file: file.clone() })?
    };
    read_from(input, &file, format, options)
}

/// Reads from any input. `file` is its name in messages.
///
/// # Errors
/// The same as [`read`].
pub fn read_from(
    input: impl BufRead,
    file: &str,
    format: Format,
    options: &ReadOptions,
) -> Result<Workload, WorkloadError> {
    let mut source: Box<dyn Source> = match format {
        Format::Swf => Box::new(Swf::new()),
        Format::Openb => Box::new(Openb::new(options.gpu_milli)),
        Format::Sacct => Box::new(Sacct::new()),
        Format::Jsonl => Box::new(Jsonl::new()),
        Format::YarnSls => Box::<Sls>::default(),
    };
    let mut intake = Intake::new(file, format, options);
    let mut lines = Lines::new(input);
    loop {
        let number = lines.number() + 1;
        source.at(number);
        let record = match lines.next() {
            Ok(Some(Ok(text))) => source.line(text),
            Ok(Some(Err(problem))) => Err(Fault::Line(problem)),
            Ok(None) => break,
            Err(error) => {
                return Err(WorkloadError::Read {
                    file: file.to_owned(),
                    line: number - 1,
                    source: error,
                });
            }
        };
        intake.take(number, record)?;
    }
    if let Some(ReadRecord { line, record }) = source.end() {
        intake.take(line, record)?;
    }
    intake.finish(lines.number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_from_the_name_or_the_first_line() {
        for (file, line, expected) in [
            ("a/b.swf", "", Some(Format::Swf)),
            ("b.JSONL", "", Some(Format::Jsonl)),
            ("openb.csv", "name,cpu_milli,memory_mib", Some(Format::Openb)),
            ("jobs.txt", "JobID|User|State", Some(Format::Sacct)),
            ("jobs.txt", "User|JobIDRaw|", Some(Format::Sacct)),
            ("jobs", "\u{feff}{\"id\":1}", Some(Format::Jsonl)),
            ("trace", "; Version: 2", Some(Format::Swf)),
            ("sls.json", "{", Some(Format::YarnSls)),
            ("sls.json", "{ \"am.type\": \"mapreduce\",", Some(Format::YarnSls)),
            ("nodes.csv", "sn,cpu_milli", None),
            ("trace.gz", "\u{1f}", None),
        ] {
            assert_eq!(Format::guess(file, line), expected, "{file} {line}");
        }
    }
}
