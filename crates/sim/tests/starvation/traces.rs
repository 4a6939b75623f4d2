//! Real traces with the keys that prevent starvation, and without.

use std::path::{Path, PathBuf};

use headroom_core::resource::Quantity;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::{JobState, Outcome};
use headroom_sim::workload::{Job, ReadOptions, read};
use headroom_sim::world::{Checks, Setup, Shape};

/// A trace on the queues of `examples/`.
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    /// Type in which usage and the size of jobs are measured.
    pub(crate) resource: &'static str,
    /// Smallest amount of a large job.
    pub(crate) large: i64,
    queues: &'static str,
    nodes: &'static str,
    workload: &'static str,
    shape: Shape,
    /// Days of the trace that are simulated.
    days: u64,
    options: fn() -> ReadOptions,
}

const HPC2N: Trace = Trace {
    name: "HPC2N, gangs, 14 days",
    resource: "vcore",
    large: 48_000,
    queues: "hpc2n.yaml",
    nodes: "120*{vcore: 2}",
    workload: "hpc2n/hpc2n.swf",
    shape: Shape::Gang,
    // Gangs that are placed member by member time out, and try again and again.
    days: 14,
    options: || ReadOptions {
        queue_of: Some("root.division{row%3}.project{row%12}".parse().unwrap()),
        stretch: "arrivals=0.5".parse().unwrap(),
        ..ReadOptions::default()
    },
};

pub(crate) const TRACES: [Trace; 3] = [
    HPC2N,
    Trace { name: "HPC2N, tasks", shape: Shape::Tasks, days: 29, ..HPC2N },
    Trace {
        name: "openb, 1 of 30 nodes",
        resource: "nvidia.com/gpu",
        large: 4,
        queues: "openb.yaml",
        // With all nodes, 3 % of the cards are used, and pods wait only for the limits of users.
        nodes: "openb/openb_node_list_all_node.csv@1/30",
        workload: "openb/openb_pod_list_default.csv",
        shape: Shape::Tasks,
        days: 1,
        options: || ReadOptions {
            queue_of: Some("root.dept{row%5}.team{row%20}".parse().unwrap()),
            users: Some("u{row%40}".parse().unwrap()),
            stretch: "arrivals=0.005".parse().unwrap(),
            ..ReadOptions::default()
        },
    },
];

impl Trace {
    /// With the keys, or without.
    pub(crate) fn setup(&self, folder: &Path, keys: bool) -> Setup {
        let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let text = std::fs::read_to_string(examples.join(self.queues)).unwrap();
        // A gang of 128 is larger than a project.
        let text = match self.shape {
            Shape::Gang => text.replace("max: {vcore: 96}", "max: {vcore: 128}"),
            Shape::Fitting | Shape::Single | Shape::Tasks => text,
        };
        let name = "  - name: default\n";
        let with = if keys { crate::loads::KEYS } else { "" };
        let text = text.replacen(name, &format!("{name}{with}"), 1);
        let configuration = headroom_config::read(&text).unwrap().configuration;
        let nodes = if self.nodes.starts_with("openb/") {
            folder.join(self.nodes).to_str().unwrap().to_owned()
        } else {
            self.nodes.to_owned()
        };
        let nodes = nodes::read(&[nodes], NodeOptions::default()).unwrap();
        let mut workload = read(&folder.join(self.workload), None, &(self.options)()).unwrap();
        if self.resource == "vcore" {
            workload.drop_missing_types(&["vcore".into()]);
        }
        let last_ms = workload.jobs.last().unwrap().submit_ms;
        let until_ms = last_ms.min(self.days * 86_400_000);
        workload.jobs.retain(|job| job.submit_ms <= until_ms);
        Setup {
            configuration,
            nodes,
            workload,
            source: self.workload.to_owned(),
            shape: self.shape,
            until_ms: Some(until_ms),
            checks: Checks::NowAndThen,
            seed: 1,
            faults: None,
            reject_misfits: false,
        }
    }

    /// The amount of a job.
    pub(crate) fn size(&self, job: &Job) -> i64 {
        let each = job.per_processor.get(self.resource).map_or(0, Quantity::get);
        each * i64::try_from(job.processors).unwrap()
    }

    /// The waits of large jobs until the end of the trace, ms.
    pub(crate) fn waits_of_large(&self, setup: &Setup, outcome: &Outcome) -> Vec<u64> {
        let large = setup.workload.jobs.iter().filter(|job| self.size(job) >= self.large);
        let names: std::collections::BTreeSet<&str> = large.map(|job| &*job.name).collect();
        let jobs = outcome.jobs.iter().filter(|job| names.contains(&*job.name));
        let jobs = jobs.filter(|job| job.state != JobState::Impossible);
        jobs.map(|job| job.start_ms.unwrap_or(outcome.end_ms) - job.submit_ms).collect()
    }
}
