//! Real traces with the keys that prevent starvation, and without.

use std::path::PathBuf;

use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::outcome::Outcome;
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
    options: fn() -> ReadOptions,
}

const HPC2N: Trace = Trace {
    name: "HPC2N, gangs",
    resource: "vcore",
    large: 48_000,
    queues: "hpc2n.yaml",
    nodes: "120*{vcore: 2}",
    workload: "hpc2n/hpc2n.swf",
    shape: Shape::Gang,
    options: || ReadOptions {
        queue_of: Some("root.division{row%3}.project{row%12}".parse().unwrap()),
        stretch: "arrivals=0.5".parse().unwrap(),
        ..ReadOptions::default()
    },
};

pub(crate) const TRACES: [Trace; 3] = [
    HPC2N,
    Trace { name: "HPC2N, tasks", shape: Shape::Tasks, ..HPC2N },
    Trace {
        name: "openb",
        resource: "nvidia.com/gpu",
        large: 4,
        queues: "openb.yaml",
        nodes: "openb/openb_node_list_all_node.csv",
        workload: "openb/openb_pod_list_default.csv",
        shape: Shape::Tasks,
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
    pub(crate) fn setup(&self, folder: &PathBuf, keys: bool) -> Setup {
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
        let nodes = match self.nodes.ends_with(".csv") {
            true => folder.join(self.nodes).to_str().unwrap().to_owned(),
            false => self.nodes.to_owned(),
        };
        let nodes = nodes::read(&[nodes], NodeOptions::default()).unwrap();
        let mut workload = read(&folder.join(self.workload), None, &(self.options)()).unwrap();
        if !self.nodes.ends_with(".csv") {
            workload.drop_missing_types(&["vcore".into()]);
        }
        Setup {
            configuration,
            nodes,
            workload,
            source: self.workload.to_owned(),
            shape: self.shape,
            until_ms: None,
            checks: Checks::NowAndThen,
            seed: 1,
            faults: None,
            reject_misfits: false,
        }
    }

    /// The amount of a job.
    pub(crate) fn size(&self, job: &Job) -> i64 {
        let each = job.per_processor.get(self.resource).map_or(0, |amount| amount.get());
        each * i64::try_from(job.processors).unwrap()
    }

    /// The waits of large jobs, ms.
    pub(crate) fn waits_of_large(&self, setup: &Setup, outcome: &Outcome) -> Vec<u64> {
        let large = setup.workload.jobs.iter().filter(|job| self.size(job) >= self.large);
        let names: std::collections::BTreeSet<&str> = large.map(|job| &*job.name).collect();
        let jobs = outcome.jobs.iter().filter(|job| names.contains(&*job.name));
        jobs.filter_map(|job| Some(job.start_ms? - job.submit_ms)).collect()
    }
}
