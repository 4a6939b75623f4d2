//! What a report says besides the numbers: how to repeat the run, and what to know about it.

use serde::{Deserialize, Serialize};

/// How the run was made.
///
/// Nothing in it may differ between two runs of the same command: no time of day, no
/// machine name, no speed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// What was played, in a few words: the workload and the cluster.
    pub title: String,
    /// The exact command line.
    pub command: String,
    /// Seed of everything random.
    pub seed: u64,
    /// What was played, each with a short name and a fingerprint: workload, nodes, queue file, and options that
    /// change decisions. Reports of older versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// Names and versions of the programs and formats involved, Headroom first.
    pub versions: Vec<(String, String)>,
    /// What to know of the input: defaults taken, lines skipped, amounts guessed.
    pub remarks: Vec<String>,
    /// Figures that let a reader check the run: name and value (events checked, records
    /// replayed, resubmissions, …).
    pub checks: Vec<(String, String)>,
}

/// One thing that a run starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// `workload`, `nodes`, `queue file`, `options`.
    pub name: String,
    /// What it is, in a few words.
    pub what: String,
    /// Equal fingerprints mean equal content.
    pub fingerprint: String,
}

/// An extra plot of step curves, such as a user's limit, headroom and usage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// What is shown.
    pub title: String,
    /// What the vertical axis counts, without the unit.
    pub quantity: String,
    /// Unit of the values.
    pub unit: String,
    /// Name, and (ms, value) pairs in order of time; each value holds until the next.
    pub curves: Vec<(String, Vec<(u64, f64)>)>,
}
