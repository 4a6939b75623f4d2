//! A large job against floods of small ones: the cluster, the queues, the jobs, and how long each large job waits at most.

use std::fmt::Write;

use headroom_core::resource::{Amounts, Quantity};
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::{Job, Workload};
use headroom_sim::world::{Checks, Setup, Shape};

use crate::draw::Draw;
use crate::world::faults;

/// Longest run time of a job, ms.
const RUN_MS: u64 = 30_000;
/// How long the resource manager takes to confirm that an allocation stopped, ms.
const CONFIRM_MS: u64 = 1_000;
/// `starvation.after`, ms.
const AFTER_MS: u64 = 30_000;
/// How long an ask waits before a node is reserved for it, ms.
const RESERVED_AFTER_MS: u64 = 2_000;

/// Shapes that a policy allows: as in YuniKorn, a leaf with `fair` takes no gangs.
pub(crate) fn shapes(policy: &str) -> [Shape; 2] {
    [Shape::Single, if policy == "fair" { Shape::Single } else { Shape::Gang }]
}

pub(crate) const POLICIES: [&str; 5] = ["fifo", "fair", "fifo-strict", "priority", "urgency"];

/// Which queues there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// One leaf.
    One,
    /// Two leaves below one quota.
    Siblings,
    /// Two trees of two leaves each, with a quota for each tree.
    Two,
}

/// A leaf, and what the jobs in it can use.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    path: &'static str,
    /// The tightest quota above it, in cores.
    pub(crate) quota: u64,
    /// What is guaranteed to it, in cores.
    guaranteed: u64,
}

/// One set-up.
pub(crate) struct Flood {
    pub(crate) seed: u64,
    pub(crate) policy: &'static str,
    pub(crate) tree: Tree,
    pub(crate) shape: Shape,
    nodes: (u64, u64),
    queues: String,
    faults: String,
    jobs: Vec<Job>,
    until_ms: u64,
    /// The large jobs, by position after sorting, and the longest wait of each, ms.
    pub(crate) bounds: Vec<(String, u64)>,
}

impl Flood {
    pub(crate) fn draw(seed: u64) -> Self {
        let draw = &mut Draw::new(seed);
        let (count, cores) = match draw.between(0, 499) {
            0 => (1_000, 4),
            _ => draw.of(&[(1, 16), (2, 8), (4, 8), (8, 4), (10, 8)]),
        };
        let policy = draw.of(&POLICIES);
        let shape = draw.of(&shapes(policy));
        let tree = draw.of(&[Tree::One, Tree::Siblings, Tree::Two]);
        let capacity = count * cores;
        let (leaves, queues) = queues(draw, tree, capacity, policy);
        let larges = large_jobs(draw, shape, cores, &leaves);
        let (faults, outage_ms) =
            if draw.happens(20) { outages(draw, count) } else { (String::new(), 0) };
        // First the load of a minute, so that the bounds are known; then as much as the longest bound asks for.
        let load = Load::draw(draw, &leaves, policy, cores.min(capacity / 32));
        let longest = |jobs: &[Job]| bounds(jobs, &larges, &leaves, (count, cores), outage_ms);
        let early = load.jobs(&mut Draw::new(seed ^ 1), 4 * RUN_MS);
        let bounds = longest(&early);
        let until_ms =
            4 * RUN_MS + bounds.iter().map(|(_, bound)| *bound).max().unwrap_or_default();
        let mut jobs = load.jobs(&mut Draw::new(seed ^ 1), until_ms);
        jobs.extend(larges);
        jobs.sort_by_key(|job| job.submit_ms);
        let nodes = (count, cores);
        Self { seed, policy, tree, shape, nodes, queues, faults, jobs, until_ms, bounds }
    }

    /// With the keys that prevent starvation, or without.
    pub(crate) fn setup(&self, keys: bool) -> Setup {
        let keys = if keys {
            format!(
                "    gangs: {{placement: whole}}\n    starvation: {{after: {}s}}\n    reservations: {{share: 10%}}\n",
                AFTER_MS / 1_000
            )
        } else {
            String::new()
        };
        let text = format!("partitions:\n  - name: default\n{keys}    queues:\n{}", self.queues);
        let configuration =
            headroom_config::read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let (count, cores) = self.nodes;
        let nodes = format!("{count}*{{vcore: {cores}}}");
        let listed = |text: &str| faults(&format!("starvation-{}.yaml", self.seed), text);
        Setup {
            configuration: configuration.configuration,
            nodes: nodes::read(&[nodes], NodeOptions::default()).expect("it is well formed"),
            workload: Workload { jobs: self.jobs.clone(), ..Workload::default() },
            source: "made".to_owned(),
            shape: self.shape,
            until_ms: Some(self.until_ms),
            checks: Checks::NowAndThen,
            seed: self.seed,
            faults: (!self.faults.is_empty()).then(|| listed(&self.faults)),
            reject_misfits: false,
        }
    }

    pub(crate) fn shown(&self) -> String {
        let (count, cores) = self.nodes;
        let (seed, policy, tree, shape) = (self.seed, self.policy, self.tree, self.shape);
        format!(
            "seed {seed}: {policy}, {tree:?}, {shape:?}, {count} nodes of {cores} cores\n{}",
            self.queues
        )
    }
}

pub(crate) fn queues(
    draw: &mut Draw,
    tree: Tree,
    capacity: u64,
    policy: &str,
) -> (Vec<Leaf>, String) {
    let quota = |draw: &mut Draw| draw.between(capacity.div_ceil(2), capacity);
    let mut text = String::from("      - name: root\n        submitacl: '*'\n        queues:\n");
    let leaf = |draw: &mut Draw, text: &mut String, indent: usize, name: &str, quota: u64| {
        let guaranteed = if draw.happens(30) { draw.between(1, quota.div_ceil(4)) } else { 0 };
        let resources = match guaranteed {
            0 => String::new(),
            cores => format!(", resources: {{guaranteed: {{vcore: {cores}}}}}"),
        };
        let blank = " ".repeat(indent);
        writeln!(text, "{blank}- {{name: {name}, properties: {{application.sort.policy: {policy}}}{resources}}}")
            .expect("text takes all");
        guaranteed
    };
    let mut leaves = Vec::new();
    match tree {
        Tree::One => {
            let guaranteed = leaf(draw, &mut text, 10, "q", capacity);
            leaves.push(Leaf { path: "root.q", quota: capacity, guaranteed });
        }
        Tree::Siblings | Tree::Two => {
            let trees: &[(&str, [(&str, &str); 2])] = &[
                ("t1", [("a", "root.t1.a"), ("b", "root.t1.b")]),
                ("t2", [("c", "root.t2.c"), ("d", "root.t2.d")]),
            ];
            let count = if tree == Tree::Two { 2 } else { 1 };
            for (name, below) in &trees[..count] {
                let quota = quota(draw);
                writeln!(
                    text,
                    "          - name: {name}\n            resources: {{max: {{vcore: {quota}}}}}\n            queues:"
                )
                .expect("text takes all");
                for (name, path) in below {
                    let guaranteed = leaf(draw, &mut text, 14, name, quota);
                    leaves.push(Leaf { path, quota, guaranteed });
                }
            }
        }
    }
    (leaves, text)
}

pub(crate) fn job(name: String, leaf: &Leaf, (submit_ms, run_ms): (u64, u64)) -> Job {
    Job {
        name: name.into(),
        submit_ms,
        run_ms,
        user: "ann".into(),
        queue: Some(leaf.path.into()),
        processors: 1,
        ..Job::default()
    }
}

pub(crate) fn cores(count: u64) -> Amounts {
    Amounts::from([("vcore", 1_000 * i64::try_from(count).expect("few cores"))])
}

fn size_of(job: &Job) -> u64 {
    let one = job.per_processor.get("vcore").map_or(0, Quantity::get);
    job.processors * u64::try_from(one).expect("a size") / 1_000
}

/// One to three jobs that need most of a node, or, as gangs, most of their quota.
fn large_jobs(draw: &mut Draw, shape: Shape, node: u64, leaves: &[Leaf]) -> Vec<Job> {
    let one = |draw: &mut Draw, number: u64| {
        let leaf = &leaves[usize::try_from(draw.between(0, leaves.len() as u64 - 1)).expect("few")];
        let times = (draw.between(RUN_MS, 3 * RUN_MS), draw.between(RUN_MS / 3, RUN_MS));
        let job = job(format!("large{number}"), leaf, times);
        if shape == Shape::Gang {
            let tasks = draw.between(2, 8.min(leaf.quota));
            let most = (leaf.quota / tasks).min(node);
            let size = draw.between(most.div_ceil(2), most);
            Job { processors: tasks, per_processor: cores(size), ..job }
        } else {
            let most = leaf.quota.min(node);
            Job { per_processor: cores(draw.between(most.div_ceil(2), most)), ..job }
        }
    };
    let count = draw.between(1, 3);
    (0..count).map(|number| one(draw, number)).collect()
}

/// Nodes that are lost for a while, and how long in all, with the time that is lost with their tasks.
fn outages(draw: &mut Draw, nodes: u64) -> (String, u64) {
    let (mut text, mut total_ms) = (String::from("faults:\n"), 0);
    for _ in 0..draw.between(1, 3) {
        let (at_ms, for_ms) = (draw.between(RUN_MS, 8 * RUN_MS), draw.between(1_000, RUN_MS));
        let node = draw.between(1, nodes);
        writeln!(text, "  - {{at_ms: {at_ms}, kind: lose, node: n{node:04}, for_ms: {for_ms}}}")
            .expect("text takes all");
        total_ms += for_ms + RUN_MS;
    }
    (text, total_ms)
}

/// Small jobs that ask for more than there is, without end.
struct Load {
    /// The leaf of each flood, its largest size in cores, its highest priority, and the mean time between its jobs, ms.
    floods: Vec<(Leaf, u64, u64, u64)>,
}

impl Load {
    fn draw(draw: &mut Draw, leaves: &[Leaf], policy: &str, unit: u64) -> Self {
        let mut flooded: Vec<&Leaf> = leaves.iter().filter(|_| draw.happens(75)).collect();
        if flooded.is_empty() {
            flooded.push(&leaves[0]);
        }
        let count = flooded.len() as u64;
        let flood = |leaf: &Leaf| {
            let largest = draw.of(&[1, 1, 2, 3]).max(unit);
            let urgent = if policy == "priority" { draw.between(0, 5) } else { 0 };
            // A quarter more than its part of the quota.
            let mean_work = (1 + largest) * (RUN_MS / 6 + RUN_MS) / 4;
            let gap_ms = (4 * mean_work * count).div_ceil(5 * leaf.quota).max(1);
            (leaf.clone(), largest, urgent, gap_ms)
        };
        Self { floods: flooded.into_iter().map(flood).collect() }
    }

    fn jobs(&self, draw: &mut Draw, until_ms: u64) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (number, (leaf, largest, urgent, gap_ms)) in self.floods.iter().enumerate() {
            let mut at_ms = 0;
            while at_ms < until_ms {
                let times = (at_ms, draw.between(RUN_MS / 6, RUN_MS));
                let name = format!("f{number}-{}", jobs.len());
                jobs.push(Job {
                    per_processor: cores(draw.between(1, *largest)),
                    priority: i32::try_from(draw.between(0, *urgent)).expect("few"),
                    ..job(name, leaf, times)
                });
                at_ms += draw.between(1, 2 * gap_ms);
            }
        }
        jobs
    }
}

/// How long each large job waits at most.
///
/// Its ask becomes a candidate for a hold after `starvation.after`. All asks that came before it may be served before it,
/// which takes the time of their work, at the longest run time, at the part of the quota that its leaf has. Each other large job before it makes its
/// quota drain once, and its node; so does its own. A gang can need a hold for each of its placeholders.
///
/// Other leaves can always use what is guaranteed to them. A job that does not fit into the rest has no bound. Neither has a
/// gang with more tasks than empty nodes can hold.
fn bounds(
    small: &[Job],
    larges: &[Job],
    leaves: &[Leaf],
    (nodes, node_cores): (u64, u64),
    outage_ms: u64,
) -> Vec<(String, u64)> {
    let quota = leaves.iter().map(|leaf| leaf.quota).min().expect("there are leaves");
    let drained_ms = 2 * (RUN_MS + CONFIRM_MS);
    let bound = |large: &Job| {
        let own = leaves.iter().find(|leaf| large.queue.as_deref() == Some(leaf.path));
        let own = own.expect("its queue is a leaf");
        let of_others: u64 =
            leaves.iter().map(|leaf| leaf.guaranteed).sum::<u64>() - own.guaranteed;
        let quota = quota.saturating_sub(of_others);
        let places = nodes * (node_cores * large.processors / size_of(large));
        if size_of(large) > quota || places < large.processors {
            return None;
        }
        let older = small.iter().filter(|one| one.submit_ms <= large.submit_ms);
        let work: u64 = older.map(|one| size_of(one) * RUN_MS).sum();
        let served_ms = leaves.len() as u64 * work / quota;
        let holds: u64 = larges.iter().map(|one| one.processors).sum();
        Some(AFTER_MS + RESERVED_AFTER_MS + served_ms + (holds + 1) * drained_ms + outage_ms)
    };
    larges.iter().filter_map(|one| Some((one.name.to_string(), bound(one)?))).collect()
}
