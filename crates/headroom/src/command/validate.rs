//! `headroom validate`: errors, warnings, and recommendations for queue files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use headroom_config::{
    Code, Counts, FILE_BYTES_MAX, NodeTotals, Review, Severity, Style, Wrapped, Wrapper, bytes_of,
    review_bytes, review_bytes_on, wrapped,
};
use headroom_core::Name;
use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::resource::{Amounts, Quantity};
use headroom_server::convert::diagnostic::diagnostic;
use headroom_sim::nodes::{self, NodeOptions, NodeSpec};
use serde_json::{Value, json};

use crate::output;

/// Check queue files, and show each error, warning, and recommendation with its line and a correction.
///
/// Exit codes: 0 if every file can be loaded and has a partition, with or without warnings and recommendations. 1
/// otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom validate queues.yaml\n  headroom validate --json - < queues.yaml\n  headroom validate queues.yaml --nodes '100*{vcore: 32, memory: 128Gi}'"
)]
pub(crate) struct Validate {
    /// Queue file in the format of `YuniKorn`. - means standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Nodes of the first partition, to find amounts that they cannot provide: `N*{type: amount, …}`, a CSV or YAML
    /// file, or `FILE@1/N` for every Nth node of the file. Can be given several times
    #[arg(long, value_name = "NODES")]
    nodes: Vec<String>,
    /// Print one JSON object on one line for each file
    #[arg(long)]
    json: bool,
}

impl Validate {
    /// Checks every file, regardless of the others.
    ///
    /// # Errors
    /// When the nodes cannot be read.
    pub(crate) fn run(self) -> Result<ExitCode> {
        let nodes = match &self.nodes[..] {
            [] => None,
            all => Some(total(&nodes::read(all, NodeOptions::default())?)),
        };
        let mut all_accepted = true;
        let mut separator = "";
        for path in &self.files {
            let name = if path == Path::new("-") {
                "standard input".to_owned()
            } else {
                path.display().to_string()
            };
            for (name, found) in pieces(name, path) {
                let found = found.map(|bytes| reviewed(&bytes, nodes.as_ref()));
                all_accepted &= matches!(&found, Ok(review) if is_accepted(review));
                if self.json {
                    output::print(&format!("{}\n", object(&name, &found)))?;
                    continue;
                }
                match found {
                    Ok(review) => {
                        output::print(&format!("{separator}{}", text_of(&name, &review)))?;
                        separator = "\n";
                    }
                    Err(error) => output::tell(&format!("error: cannot read {name}: {error}")),
                }
            }
        }
        Ok(if all_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Returns the queue files in a file, each with its name: the file itself, or the files that it contains.
fn pieces(name: String, path: &Path) -> Vec<(String, io::Result<Vec<u8>>)> {
    let bytes = match read(path) {
        Ok(bytes) if bytes.len() <= FILE_BYTES_MAX => bytes,
        other => return vec![(name, other)],
    };
    let held = std::str::from_utf8(&bytes).ok().and_then(wrapped);
    let Some(held) = held else { return vec![(name, Ok(bytes))] };
    if held.files.is_empty() {
        return vec![(name, Err(io::Error::other(without_file(&held))))];
    }
    let piece = |file: Wrapped| {
        let shown = piece_name(&name, &file);
        (shown, file.text.map_err(io::Error::other))
    };
    held.files.into_iter().map(piece).collect()
}

/// Returns the error for a file that contains no queue file.
pub(super) fn without_file(held: &Wrapper) -> String {
    let keys = match &held.others[..] {
        [] => "the file has no keys".to_owned(),
        others => format!("the keys of the file are {}", others.join(", ")),
    };
    format!(
        "the file is {}, but no key contains a queue file: {keys}. Name the key queues.yaml, or \
         the name of the policy group with .yaml",
        held.what
    )
}

/// Returns the name of a queue file inside another file.
fn piece_name(outer: &str, file: &Wrapped) -> String {
    let Wrapped { key, within, line, in_lines, .. } = file;
    let within = if within.is_empty() { String::new() } else { format!("{within}, ") };
    if *in_lines {
        format!("{outer} ({within}{key}, whose line 1 is line {})", line + 1)
    } else {
        format!("{outer} ({within}{key}, at line {line})")
    }
}

/// Returns whether a file can be loaded and has a partition. `YuniKorn` accepts a file without partitions and uses its
/// built-in queues, which the author of the file rarely intends.
fn is_accepted(review: &Review) -> bool {
    review.configuration.as_ref().is_some_and(|file| !file.partitions.is_empty())
}

/// Checks a file, and compares its amounts with the nodes if nodes are given.
fn reviewed(bytes: &[u8], nodes: Option<&Amounts>) -> Review {
    let review = review_bytes(bytes);
    let first = review.configuration.as_ref().and_then(|file| file.partitions.first());
    match (first, nodes) {
        (Some(first), Some(nodes)) => {
            review_bytes_on(bytes, &NodeTotals::from([(first.name.to_string(), nodes.clone())]))
        }
        _ => review,
    }
}

/// Returns the total of all nodes.
pub(super) fn total(nodes: &[NodeSpec]) -> Amounts {
    let mut sum: BTreeMap<&Name, Quantity> = BTreeMap::new();
    for (name, amount) in nodes.iter().flat_map(|node| node.resources.iter()) {
        let all = sum.entry(name).or_insert(Quantity::ZERO);
        *all = all.plus(amount);
    }
    sum.into_iter().map(|(name, amount)| (name.clone(), amount)).collect()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") { bytes_of(io::stdin().lock()) } else { bytes_of(File::open(path)?) }
}

/// Returns the result for people: errors and warnings, recommendations, and a summary line.
fn text_of(name: &str, review: &Review) -> String {
    let mut text = String::new();
    let found = &review.diagnostics;
    let style = Style::Coloured;
    for part in [found.render(name, style), found.render_recommendations(name, style)] {
        if !part.is_empty() {
            text.push_str(&part);
            text.push_str("\n\n");
        }
    }
    text.push_str(&closing_line(name, review));
    text.push('\n');
    text
}

/// The message for a file without a partition.
const EMPTY: &str = "rejected, because the file has no partition. YuniKorn loads such a file and \
                     uses its built-in queues. Add `partitions:` with at least one entry";

fn closing_line(name: &str, review: &Review) -> String {
    let Counts { errors, warnings, recommendations } = review.diagnostics.counts();
    let Some(configuration) = &review.configuration else {
        let mut line = format!("{name}: {}", count(errors, "error"));
        if warnings > 0 {
            // Writing into a string cannot fail.
            let _ = write!(line, ", {}", count(warnings, "warning"));
        }
        if !review.diagnostics.refused_by_validation() {
            line.push_str(
                ". YuniKorn accepts the file in validation, and then fails to load the file",
            );
        }
        return line;
    };
    if !is_accepted(review) {
        return format!("{name}: {EMPTY}");
    }
    let mut parts = vec![format!("{name}: accepted")];
    let size = Size::of(configuration);
    if size.partitions > 1 {
        parts.push(count(size.partitions, "partition"));
    }
    parts.push(count(size.queues, "queue"));
    parts.push(count(size.limits, "limit"));
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    if recommendations > 0 {
        parts.push(count(recommendations, "recommendation"));
    }
    parts.join(", ")
}

/// Returns a number with its noun, such as `1 queue` or `2 queues`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Numbers of queues and other objects in a file.
#[derive(Default)]
struct Size {
    partitions: usize,
    queues: usize,
    limits: usize,
}

impl Size {
    fn of(configuration: &Configuration) -> Self {
        let mut size = Self { partitions: configuration.partitions.len(), ..Self::default() };
        let mut open: Vec<&QueueConfig> =
            configuration.partitions.iter().map(|partition| &partition.root).collect();
        while let Some(queue) = open.pop() {
            size.queues += 1;
            size.limits += queue.limits.len();
            open.extend(&queue.children);
        }
        size
    }
}

/// Returns an error about the whole file.
fn fault_without_place(message: &str) -> Value {
    json!({
        "code": Code::File.as_str(),
        "severity": "error",
        "stage": "validation",
        "message": message,
        "line": null, "column": null, "endLine": null, "endColumn": null,
        "label": null, "related": [], "help": null,
    })
}

/// Returns the result for programs, as `docs/validate.md` describes.
fn object(name: &str, found: &io::Result<Review>) -> Value {
    let review = match found {
        Ok(review) => review,
        Err(error) => {
            let fault = fault_without_place(&format!("cannot read the file: {error}"));
            return json!({
                "file": name, "accepted": false, "checksum": null,
                "partitions": null, "queues": null, "limits": null,
                "errors": [fault], "warnings": [], "recommendations": [],
                "errorsTotal": 1, "warningsTotal": 0, "recommendationsTotal": 0,
            });
        }
    };
    let found = &review.diagnostics;
    let of = |severity| -> Vec<Value> {
        let all = found.iter().chain(found.recommendations());
        let all = all.filter(|one| one.severity == severity);
        all.map(|one| json!(diagnostic(found, one))).collect()
    };
    let mut errors = of(Severity::Error);
    let mut counts = found.counts();
    if review.configuration.is_some() && !is_accepted(review) {
        errors.push(fault_without_place(EMPTY));
        counts.errors += 1;
    }
    let size = review.configuration.as_ref().map(Size::of);
    json!({
        "file": name,
        "accepted": is_accepted(review),
        "checksum": review.checksum,
        "partitions": size.as_ref().map(|size| size.partitions),
        "queues": size.as_ref().map(|size| size.queues),
        "limits": size.as_ref().map(|size| size.limits),
        "errors": errors,
        "warnings": of(Severity::Warning),
        "recommendations": of(Severity::Recommendation),
        "errorsTotal": counts.errors,
        "warningsTotal": counts.warnings,
        "recommendationsTotal": counts.recommendations,
    })
}
