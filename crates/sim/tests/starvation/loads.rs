//! Usual loads: most jobs small, some large, as much as the cluster can do.

use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::{Job, Workload};
use headroom_sim::world::{Checks, Setup, Shape};

use crate::draw::Draw;
use crate::floods::{Leaf, POLICIES, Tree, cores, job, queues, shapes};

const MINUTE_MS: u64 = 60_000;
/// Time in which jobs come.
pub(crate) const OPEN_MS: u64 = 4 * 60 * MINUTE_MS;
/// The keys that prevent starvation.
pub(crate) const KEYS: &str = "    gangs: {placement: whole}\n    starvation: {after: 5m}\n";

/// One load.
pub(crate) struct Load {
    seed: u64,
    shape: Shape,
    nodes: (u64, u64),
    queues: String,
    jobs: Vec<Job>,
}

impl Load {
    pub(crate) fn draw(seed: u64) -> Self {
        let draw = &mut Draw::new(seed);
        let (count, size) = draw.of(&[(4, 16), (8, 8), (16, 8)]);
        let tree = draw.of(&[Tree::One, Tree::Siblings, Tree::Two]);
        let policy = draw.of(&POLICIES);
        let shape = draw.of(&shapes(policy));
        let (leaves, queues) = queues(draw, tree, count * size, policy);
        let jobs = jobs(draw, (shape, size, count * size), &leaves);
        Self { seed, shape, nodes: (count, size), queues, jobs }
    }

    /// With the keys that prevent starvation, or without.
    pub(crate) fn setup(&self, keys: bool) -> Setup {
        let keys = if keys { KEYS } else { "" };
        let text = format!("partitions:\n  - name: default\n{keys}    queues:\n{}", self.queues);
        let configuration =
            headroom_config::read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let (count, size) = self.nodes;
        let nodes = nodes::read(&[format!("{count}*{{vcore: {size}}}")], NodeOptions::default());
        Setup {
            configuration: configuration.configuration,
            nodes: nodes.expect("it is well formed"),
            workload: Workload { jobs: self.jobs.clone(), ..Workload::default() },
            source: "made".to_owned(),
            shape: self.shape,
            until_ms: None,
            checks: Checks::NowAndThen,
            seed: self.seed,
            faults: None,
            reject_misfits: false,
        }
    }

    /// What the nodes can do while jobs come, in core units times ms.
    pub(crate) const fn capacity(&self) -> u64 {
        self.nodes.0 * self.nodes.1 * 1_000 * OPEN_MS
    }
}

fn jobs(draw: &mut Draw, (shape, node, capacity): (Shape, u64, u64), leaves: &[Leaf]) -> Vec<Job> {
    let (mut jobs, mut work) = (Vec::new(), 0);
    // The maxima of queues leave some of the cluster to nobody.
    let usable: u64 = if leaves.len() == 1 {
        capacity
    } else {
        leaves.iter().map(|leaf| leaf.quota).sum::<u64>() / 2
    };
    let most = usable.min(capacity) * OPEN_MS * draw.between(90, 120) / 100;
    while work < most {
        let leaf = &leaves[usize::try_from(draw.between(0, leaves.len() as u64 - 1)).expect("few")];
        let size = match draw.between(1, 100) {
            1..=5 => draw.between(node / 2, leaf.quota.min(node)),
            6..=20 => draw.between(2, node / 2),
            _ => 1,
        };
        let times = (draw.between(0, OPEN_MS), draw.between(MINUTE_MS, 20 * MINUTE_MS));
        let name = format!("{}{}", if size >= node / 2 { "large" } else { "j" }, jobs.len());
        let one = job(name, leaf, times);
        work += size * one.run_ms;
        jobs.push(match shape {
            Shape::Gang => Job { processors: size, per_processor: cores(1), ..one },
            _ => Job { per_processor: cores(size), ..one },
        });
    }
    jobs.sort_by_key(|job| job.submit_ms);
    jobs
}
