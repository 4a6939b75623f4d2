//! Metadata of a report: how to repeat the run, and remarks about its input.

use serde::{Deserialize, Serialize};

/// Metadata of a run.
///
/// Two runs of the same command have the same metadata: it contains no time of day, no machine name, and no speed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Workload and cluster in a few words.
    pub title: String,
    /// The exact command line.
    pub command: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Inputs of the run, each with a short name and a fingerprint: workload, nodes, queue file, and options that
    /// change decisions. Reports of older versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// Names and versions of the programs and formats, Headroom first.
    pub versions: Vec<(String, String)>,
    /// Remarks about the input: defaults, skipped lines, assumed amounts.
    pub remarks: Vec<String>,
    /// Figures for checking the run: name and value (checked events, replayed records, resubmissions, …).
    pub checks: Vec<(String, String)>,
}

/// One input of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Name: `workload`, `nodes`, `queue file`, or `options`.
    pub name: String,
    /// Description in a few words.
    pub what: String,
    /// Equal fingerprints mean equal content.
    pub fingerprint: String,
}

/// An extra plot of step curves, such as a user's limit, headroom, and usage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// Title of the plot.
    pub title: String,
    /// Quantity on the vertical axis, without the unit.
    pub quantity: String,
    /// Unit of the values.
    pub unit: String,
    /// Name, and (ms, value) pairs in order of time. Each value holds until the next.
    pub curves: Vec<(String, Vec<(u64, f64)>)>,
}
