//! Compares the recorded waits of a workload with the waits of the run.
//!
//! A trace has the start times of its jobs. If the simulated cluster equals the recorded cluster, the waits have the
//! same order of magnitude. Otherwise, a remark names the cause of the difference.

use std::collections::BTreeMap;

use headroom_core::Name;

use super::statistics::{ratio, waits};
use super::summary::{RecordedWaits, Waits};
use super::types::readable;
use crate::nodes::NodeSpec;
use crate::outcome::Outcome;
use crate::report::pretty;
use crate::workload::{Job, Workload};

/// Factor above which waits differ strongly. `DIFFERENCE_MS` is the smallest strong difference, in ms.
const FACTOR: u64 = 5;
const DIFFERENCE_MS: u64 = 600_000;

/// Returns the recorded and the simulated waits of the jobs that started in both. `None` if the workload has no
/// recorded waits, or its times are scaled.
#[must_use]
pub fn recorded(
    workload: &Workload,
    nodes: &[NodeSpec],
    outcome: &Outcome,
) -> Option<RecordedWaits> {
    let jobs: BTreeMap<&Name, &Job> = workload.jobs.iter().map(|job| (&job.name, job)).collect();
    let both: Vec<(u64, u64)> = outcome
        .jobs
        .iter()
        .filter_map(|job| {
            let recorded_ms = jobs.get(&job.name)?.recorded_wait_ms?;
            Some((recorded_ms, job.start_ms?.saturating_sub(job.submit_ms)))
        })
        .collect();
    if both.is_empty() {
        return None;
    }
    let (recorded, simulated) = both.into_iter().unzip();
    let mut found = RecordedWaits {
        recorded: waits(recorded),
        simulated: waits(simulated),
        remarks: Vec::new(),
    };
    found.remarks = remarks(&found, workload, nodes);
    Some(found)
}

/// Returns whether the first wait is far above the second.
fn is_far_above(one_ms: u64, other_ms: u64) -> bool {
    one_ms >= other_ms.saturating_mul(FACTOR) && one_ms - other_ms >= DIFFERENCE_MS
}

/// Returns explanations of a strong difference.
fn remarks(found: &RecordedWaits, workload: &Workload, nodes: &[NodeSpec]) -> Vec<String> {
    let any = |test: fn(u64, u64) -> bool, one: &Waits, other: &Waits| {
        test(one.mean_ms, other.mean_ms) || test(one.p95_ms, other.p95_ms)
    };
    let longer = any(is_far_above, &found.simulated, &found.recorded);
    let shorter = any(is_far_above, &found.recorded, &found.simulated);
    if !longer && !shorter {
        return Vec::new();
    }
    let peak = peak(workload);
    let there = whole(nodes);
    let share = |name: &Name| {
        let used = peak.get(name).copied().unwrap_or(0);
        (used, there.get(name).copied().unwrap_or(0))
    };
    let mut remarks = vec![if longer {
        "The simulated waits are far longer than the recorded ones.".to_owned()
    } else {
        "The simulated waits are far shorter than the recorded ones.".to_owned()
    }];
    let known = remarks.len();
    for name in peak.keys() {
        let (used, capacity) = share(name);
        let amount = |amount: i128| shown(name, amount);
        if longer && used > capacity {
            remarks.push(format!(
                "The cluster is too small: in the recording, jobs used up to {} at once, but the \
                 nodes have {}.",
                amount(used),
                amount(capacity)
            ));
        } else if shorter && capacity >= 2 * used && used > 0 {
            remarks.push(format!(
                "The cluster is larger than the recorded usage: in the recording, jobs used at \
                 most {} at once, but the nodes have {}.",
                amount(used),
                amount(capacity)
            ));
        }
    }
    if shorter {
        for (name, jobs) in &workload.dropped {
            remarks.push(format!(
                "No node has {name}, which {} requested, so {name} limits nothing in this \
                 simulation.",
                pretty::counted(*jobs, "job")
            ));
        }
    }
    if remarks.len() == known {
        remarks.push(if longer {
            "The nodes have what the recorded jobs used at once, so limits, maxima, or the shape \
             of the jobs cause the waits. See the wait reasons."
                .to_owned()
        } else {
            "The recorded scheduler had limits, reservations, or other work that the simulation \
             does not have."
                .to_owned()
        });
    }
    remarks
}

/// Returns the recorded peak usage of the jobs by type.
fn peak(workload: &Workload) -> BTreeMap<Name, i128> {
    let mut changes: Vec<(u64, i128, &Name)> = Vec::new();
    for job in &workload.jobs {
        let Some(wait_ms) = job.recorded_wait_ms else { continue };
        let from_ms = job.submit_ms.saturating_add(wait_ms);
        let to_ms = from_ms.saturating_add(job.run_ms);
        for (name, amount) in job.per_processor.iter() {
            let held = i128::from(amount.get()) * i128::from(job.processors.max(1));
            changes.push((from_ms, held, name));
            changes.push((to_ms, -held, name));
        }
    }
    // At the same moment, ends are before starts.
    changes.sort_unstable();
    let (mut now, mut most) = (BTreeMap::new(), BTreeMap::new());
    for (_, change, name) in changes {
        let held: &mut i128 = now.entry(name).or_default();
        *held += change;
        let top: &mut i128 = most.entry(name.clone()).or_default();
        *top = (*top).max(*held);
    }
    most
}

/// Returns the total of all nodes.
fn whole(nodes: &[NodeSpec]) -> BTreeMap<Name, i128> {
    let mut sum: BTreeMap<Name, i128> = BTreeMap::new();
    for (name, amount) in nodes.iter().flat_map(|node| node.resources.iter()) {
        *sum.entry(name.clone()).or_default() += i128::from(amount.get());
    }
    sum
}

/// Returns an amount in a readable unit: `512 cores`.
fn shown(name: &Name, amount: i128) -> String {
    let (unit, divisor) = readable(name);
    format!("{}\u{a0}{unit}", pretty::number(ratio(amount, divisor)))
}
