//! `headroom validate`: what is wrong with a queue file, and what is probably not meant.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use headroom_config::{
    Code, Counts, NodeTotals, Review, Severity, Style, bytes_of, review_bytes, review_bytes_on,
};
use headroom_core::Name;
use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::resource::{Amounts, Quantity};
use headroom_server::convert::diagnostic::diagnostic;
use headroom_sim::nodes::{self, NodeOptions, NodeSpec};
use serde_json::{Value, json};

use crate::output;

/// Check queue files: every fault with its line and what to write instead, and what is legal
/// but probably not meant.
///
/// Ends with 0 if every file can be loaded, warnings or not, and with 1 if one cannot.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom validate queues.yaml\n  headroom validate --json - < queues.yaml\n  headroom validate queues.yaml --nodes '100*{vcore: 32, memory: 128Gi}'"
)]
pub(crate) struct Validate {
    /// Queue file as `YuniKorn` reads it; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Nodes of the first partition, to see what they cannot give: `N*{type: amount, …}`, a CSV or YAML file, or
    /// `FILE@1/N` for every Nth node of it; may be given several times
    #[arg(long, value_name = "NODES")]
    nodes: Vec<String>,
    /// Print one JSON object per file, each on a line of its own
    #[arg(long)]
    json: bool,
}

impl Validate {
    /// Check every file, whatever the others are like.
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
            let found = read(path).map(|bytes| reviewed(&bytes, nodes.as_ref()));
            all_accepted &= matches!(&found, Ok(review) if review.configuration.is_some());
            if self.json {
                output::print(&format!("{}\n", object(&name, &found)))?;
                continue;
            }
            match found {
                Ok(review) => {
                    output::print(&format!("{separator}{}", told(&name, &review)))?;
                    separator = "\n";
                }
                Err(error) => output::tell(&format!("error: cannot read {name}: {error}")),
            }
        }
        Ok(if all_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Look at a file; at what these nodes cannot give, too.
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

/// What nodes have together.
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

/// For people: the diagnostics, and a line that sums up.
fn told(name: &str, review: &Review) -> String {
    let mut text = String::new();
    let found = &review.diagnostics;
    if !found.is_empty() {
        text.push_str(&found.render(name, Style::Coloured));
        text.push_str("\n\n");
    }
    text.push_str(&closing_line(name, review));
    text.push('\n');
    text
}

fn closing_line(name: &str, review: &Review) -> String {
    let Counts { errors, warnings } = review.diagnostics.counts();
    let Some(configuration) = &review.configuration else {
        let mut line = format!("{name}: {}", count(errors, "error"));
        if warnings > 0 {
            // Writing into a string cannot fail.
            let _ = write!(line, ", {}", count(warnings, "warning"));
        }
        if !review.diagnostics.refused_by_validation() {
            line.push_str("; YuniKorn calls the file valid, and then cannot load it");
        }
        return line;
    };
    let mut parts = vec![format!("{name}: accepted")];
    let size = Size::of(configuration);
    match size.partitions {
        0 => parts.push("no partition: YuniKorn would use its built-in queues".to_owned()),
        1 => {}
        many => parts.push(count(many, "partition")),
    }
    if size.partitions > 0 {
        parts.push(count(size.queues, "queue"));
        parts.push(count(size.limits, "limit"));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    parts.join(", ")
}

/// `1 queue`, `2 queues`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// How much a file says.
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

/// For programs; `docs/validate.md` describes it.
fn object(name: &str, found: &io::Result<Review>) -> Value {
    let review = match found {
        Ok(review) => review,
        Err(error) => {
            let fault = json!({
                "code": Code::File.as_str(),
                "severity": "error",
                "stage": "validation",
                "message": format!("cannot read the file: {error}"),
                "line": null, "column": null, "endLine": null, "endColumn": null,
                "label": null, "related": [], "help": null,
            });
            return json!({
                "file": name, "accepted": false, "checksum": null,
                "partitions": null, "queues": null, "limits": null,
                "errors": [fault], "warnings": [], "errorsTotal": 1, "warningsTotal": 0,
            });
        }
    };
    let of = |severity| -> Vec<Value> {
        let all = review.diagnostics.iter().filter(|one| one.severity == severity);
        all.map(|one| json!(diagnostic(&review.diagnostics, one))).collect()
    };
    let counts = review.diagnostics.counts();
    let size = review.configuration.as_ref().map(Size::of);
    json!({
        "file": name,
        "accepted": review.configuration.is_some(),
        "checksum": review.checksum,
        "partitions": size.as_ref().map(|size| size.partitions),
        "queues": size.as_ref().map(|size| size.queues),
        "limits": size.as_ref().map(|size| size.limits),
        "errors": of(Severity::Error),
        "warnings": of(Severity::Warning),
        "errorsTotal": counts.errors,
        "warningsTotal": counts.warnings,
    })
}
