//! Outcomes to report on: a small cluster played by a scheduler of a few lines.

#![allow(dead_code, reason = "every test uses some of it")]

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};
use headroom_sim::outcome::{
    AllocationRecord, BlockerRecord, JobRecord, JobState, NodeRecord, Outcome, QueueRecord,
};
use headroom_sim::report::RunHeader;

const GIB: i64 = 1 << 30;
const HOUR_MS: u64 = 3_600_000;
const TYPES: [&str; 3] = ["memory", "nvidia.com/gpu", "vcore"];

/// Numbers that look random and are always the same.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn index(&mut self, bound: u64) -> usize {
        usize::try_from(self.below(bound)).expect("small")
    }

    fn amount(&mut self, bound: u64) -> i64 {
        self.below(bound).cast_signed()
    }
}

pub(crate) fn node(name: &str, size: Amounts) -> NodeRecord {
    NodeRecord { name: name.into(), from_ms: 0, to_ms: None, resources: size }
}

pub(crate) fn queue(path: &str, parent: Option<usize>, leaf: bool) -> QueueRecord {
    QueueRecord { path: path.into(), parent, leaf, guaranteed: Amounts::EMPTY, max: None }
}

/// A job of one task that has not started.
pub(crate) fn job(name: &str, user: &str, queue: usize, submit_ms: u64, run_ms: u64) -> JobRecord {
    JobRecord {
        name: name.into(),
        user: user.into(),
        group: None,
        queue: Some(queue),
        submit_ms,
        start_ms: None,
        end_ms: None,
        state: JobState::Waiting,
        asks: 1,
        gang: false,
        resources: Amounts::from([("vcore", 1_000)]),
        sizes: Vec::new(),
        run_ms,
        waits: Vec::new(),
        reason: String::new(),
    }
}

/// The header of the synthetic run.
pub(crate) fn header() -> RunHeader {
    RunHeader {
        title: "2 000 jobs of 12 users on 40 nodes".to_owned(),
        command: "headroom simulate --queues examples/department.yaml --nodes '32*{vcore: 32, \
                  memory: 128Gi}' --nodes '8*{vcore: 32, memory: 256Gi, nvidia.com/gpu: 8}' \
                  --workload department.jsonl --seed 7 --report report.html"
            .to_owned(),
        seed: 7,
        inputs: Vec::new(),
        versions: vec![
            ("headroom".to_owned(), "0.1.0".to_owned()),
            ("journal format".to_owned(), "1".to_owned()),
        ],
        remarks: vec![
            "14 lines had no memory request: 2 GiB per processor were taken.".to_owned(),
            "GPU sharing counts amounts, not cards.".to_owned(),
        ],
        checks: vec![("invariant checks passed".to_owned(), "48 211".to_owned())],
    }
}

/// About 2,000 jobs of 12 users in 11 queues over two weeks. Some wait at the end, some are impossible or rejected,
/// and some are preempted. The name of one user has markup.
pub(crate) fn synthetic() -> Outcome {
    let mut outcome = Outcome {
        nodes: nodes(),
        queues: queues(),
        digest: "5f0c2a7be1d94c3388a1e6027d9b4c10".to_owned(),
        ..Outcome::default()
    };
    outcome.jobs = jobs();
    Play::of(outcome).run()
}

fn nodes() -> Vec<NodeRecord> {
    let mut nodes: Vec<NodeRecord> = (0..40)
        .map(|index| {
            let gpu = if index < 8 { 8 } else { 0 };
            let memory = if index < 8 { 256 } else { 128 } * GIB;
            let mut size = Amounts::from([("vcore", 32_000), ("memory", memory)]);
            if gpu > 0 {
                size.set("nvidia.com/gpu", Quantity::of(gpu));
            }
            node(&format!("node-{index:02}"), size)
        })
        .collect();
    nodes[39].from_ms = 100 * HOUR_MS;
    nodes
}

fn queues() -> Vec<QueueRecord> {
    let mut queues = vec![queue("root", None, false)];
    for (path, parent, leaf, guaranteed, max) in [
        ("root.research", 0, false, 640, 1_280),
        ("root.research.vision", 1, true, 320, 800),
        ("root.research.language", 1, true, 256, 640),
        ("root.research.robotics", 1, true, 64, 320),
        ("root.engineering", 0, false, 384, 900),
        ("root.engineering.ci", 5, true, 192, 420),
        ("root.engineering.simulation", 5, true, 128, 600),
        ("root.teaching", 0, true, 64, 160),
        ("root.guests", 0, true, 0, 64),
        ("root.operations", 0, true, 32, 128),
    ] {
        let mut record = queue(path, Some(parent), leaf);
        if guaranteed > 0 {
            record.guaranteed = Amounts::from([("vcore", guaranteed * 1_000)]);
        }
        record.max = Some(Amounts::from([("vcore", max * 1_000)]));
        queues.push(record);
    }
    queues
}

fn jobs() -> Vec<JobRecord> {
    let users = [
        "ann",
        "bob",
        "carla",
        "dimitri",
        "eve",
        "femke",
        "goran",
        "hana",
        "ivo",
        "jun",
        "</script><script>alert(1)</script>",
        "lena-with-a-rather-long-name@department.example",
    ];
    let leaves = [2, 2, 2, 3, 3, 4, 6, 6, 7, 8, 9, 10];
    let mut draw = Draw(42);
    let mut jobs: Vec<JobRecord> = (0..2_000)
        .map(|index| {
            let user = draw.index(12).min(draw.index(12));
            let day = draw.below(13);
            // Most come during the day, few at the weekend.
            let hour = 8 + draw.below(6) + draw.below(6);
            let submit_ms = (day * 24 + hour) * HOUR_MS + draw.below(HOUR_MS);
            let run_ms = 1_000 * (30 + draw.below(600) * draw.below(60) * draw.below(4).max(1));
            let mut one = job("", users[user], leaves[user], submit_ms, run_ms);
            one.group = Some(["g-science", "g-engineers", "g-others"][user % 3].into());
            one.asks = [1, 1, 4, 8, 12, 16][draw.index(6)];
            let cores = [1, 2, 4, 8][draw.index(4)];
            let memory = cores * (1 + draw.amount(6)) * GIB;
            let mut task = Amounts::from([("vcore", cores * 1_000), ("memory", memory)]);
            if leaves[user] < 4 && draw.below(5) == 0 {
                task.set("nvidia.com/gpu", Quantity::of(cores.min(2)));
            }
            one.resources = task.times(one.asks.cast_signed());
            if index % 211 == 7 {
                one.state = JobState::Impossible;
                one.reason = String::from("a task needs 64 vcore, the largest node has 32");
            } else if index % 307 == 9 {
                one.state = JobState::Rejected;
                one.queue = None;
                one.reason = String::from("queue \"root.nowhere\" does not exist");
            }
            one
        })
        .collect();
    jobs.sort_by_key(|one| one.submit_ms);
    for (index, one) in jobs.iter_mut().enumerate() {
        one.name = Name::from(format!("job-{index:04}"));
    }
    jobs
}

/// Why a task cannot start; the order is that of the records.
const BLOCKERS: [&str; 4] = ["QUEUE_MAX", "ABS_USER_LIMIT", "NO_NODE_FITS", "ROOT_CAPACITY"];

/// First come, first served, with overtaking.
struct Play {
    outcome: Outcome,
    free: Vec<[i64; 3]>,
    used_by_queue: Vec<i64>,
    used_by_user: std::collections::BTreeMap<Name, i64>,
    /// Position of the allocation and its end, ms.
    running: Vec<(u64, usize)>,
    /// Position of the job, tasks left.
    waiting: Vec<(usize, u64)>,
}

impl Play {
    fn of(outcome: Outcome) -> Self {
        let size =
            |node: &NodeRecord| TYPES.map(|name| node.resources.get(name).map_or(0, Quantity::get));
        Self {
            free: outcome.nodes.iter().map(size).collect(),
            used_by_queue: vec![0; outcome.queues.len()],
            used_by_user: std::collections::BTreeMap::new(),
            running: Vec::new(),
            waiting: Vec::new(),
            outcome,
        }
    }

    fn run(mut self) -> Outcome {
        let end_ms = 14 * 24 * HOUR_MS;
        let mut next_job = 0;
        let mut now_ms = 0;
        loop {
            let submit_ms = self.outcome.jobs.get(next_job).map(|one| one.submit_ms);
            let ends_ms = self.running.iter().map(|one| one.0).min();
            let next_ms = submit_ms.into_iter().chain(ends_ms).min();
            // The end of a job may be later than the run.
            let next_ms = next_ms.unwrap_or(end_ms).min(end_ms);
            self.wait(now_ms, next_ms);
            now_ms = next_ms;
            if now_ms >= end_ms {
                break;
            }
            self.end_tasks(now_ms);
            while self.outcome.jobs.get(next_job).is_some_and(|one| one.submit_ms <= now_ms) {
                let one = &self.outcome.jobs[next_job];
                if one.state == JobState::Waiting {
                    self.waiting.push((next_job, one.asks));
                }
                next_job += 1;
            }
            self.start_tasks(now_ms);
        }
        self.finish(end_ms)
    }

    fn task_of(&self, job: usize) -> [i64; 3] {
        let one = &self.outcome.jobs[job];
        let tasks = one.asks.cast_signed();
        TYPES.map(|name| one.resources.get(name).map_or(0, |amount| amount.get() / tasks))
    }

    /// Which of the blockers holds back a task of this job, or the node it gets.
    fn place(&self, job: usize, now_ms: u64) -> Result<usize, usize> {
        let task = self.task_of(job);
        let one = &self.outcome.jobs[job];
        let mut queue = one.queue;
        while let Some(position) = queue {
            let record = &self.outcome.queues[position];
            let max = record.max.as_ref().and_then(|max| max.get("vcore"));
            if max.is_some_and(|max| self.used_by_queue[position] + task[2] > max.get()) {
                return Err(0);
            }
            queue = record.parent;
        }
        if self.used_by_user.get(&one.user).copied().unwrap_or(0) + task[2] > 480_000 {
            return Err(1);
        }
        let fits = |node: &usize| {
            self.outcome.nodes[*node].from_ms <= now_ms
                && self.free[*node].iter().zip(task).all(|(free, need)| need <= *free)
        };
        // GPU nodes last, unless one is needed.
        let found = (0..self.free.len()).rev().find(fits);
        let total: i64 = self.free.iter().map(|free| free[2]).sum();
        found.ok_or(if total < 32_000 { 3 } else { 2 })
    }

    fn wait(&mut self, from_ms: u64, to_ms: u64) {
        if from_ms == to_ms {
            return;
        }
        for (job, _) in self.waiting.clone() {
            let code = self.place(job, from_ms).err().unwrap_or(2);
            let blocker = self.blocker(code, job);
            let waits = &mut self.outcome.jobs[job].waits;
            match waits.iter_mut().find(|wait| wait.0 == blocker) {
                Some(wait) => wait.1 += to_ms - from_ms,
                None => waits.push((blocker, to_ms - from_ms)),
            }
        }
    }

    fn blocker(&mut self, code: usize, job: usize) -> usize {
        let one = &self.outcome.jobs[job];
        let subject = match code {
            0 => self.outcome.queues[one.queue.expect("it waits")].path.to_string(),
            1 => format!("user {} at root", one.user),
            _ => "every node".to_owned(),
        };
        let record = BlockerRecord { code: BLOCKERS[code], subject };
        let known = self.outcome.blockers.iter().position(|one| *one == record);
        known.unwrap_or_else(|| {
            self.outcome.blockers.push(record);
            self.outcome.blockers.len() - 1
        })
    }

    fn charge(&mut self, allocation: usize, sign: i64) {
        let one = &self.outcome.allocations[allocation];
        let (job, node) = (one.job, one.node);
        let task = self.task_of(job);
        for (free, need) in self.free[node].iter_mut().zip(task) {
            *free -= sign * need;
        }
        let record = &self.outcome.jobs[job];
        *self.used_by_user.entry(record.user.clone()).or_default() += sign * task[2];
        let mut queue = record.queue;
        while let Some(position) = queue {
            self.used_by_queue[position] += sign * task[2];
            queue = self.outcome.queues[position].parent;
        }
    }

    fn end_tasks(&mut self, now_ms: u64) {
        let (ended, running) = self.running.iter().partition(|one| one.0 <= now_ms);
        self.running = running;
        let ended: Vec<(u64, usize)> = ended;
        for (_, allocation) in ended {
            self.charge(allocation, -1);
            let one = &mut self.outcome.allocations[allocation];
            one.end_ms = Some(now_ms);
            let (job, is_preempted) = (one.job, allocation % 97 == 13 && allocation % 2 == 1);
            one.ended_by = if is_preempted { "preempted" } else { "finished" };
            if is_preempted && self.outcome.jobs[job].start_ms.is_none() {
                let waiting = self.waiting.iter_mut().find(|one| one.0 == job);
                waiting.expect("it has not started").1 += 1;
            } else {
                one.ended_by = "finished";
            }
        }
    }

    fn start_tasks(&mut self, now_ms: u64) {
        for index in 0..self.waiting.len() {
            let (job, mut left) = self.waiting[index];
            while left > 0 {
                let Ok(node) = self.place(job, now_ms) else {
                    break;
                };
                left -= 1;
                let task = self.outcome.jobs[job].resources.clone();
                let asks = self.outcome.jobs[job].asks.cast_signed();
                let task = task
                    .iter()
                    .map(|(name, amount)| (name.clone(), Quantity::of(amount.get() / asks)));
                let position = self.outcome.allocations.len();
                self.outcome.allocations.push(AllocationRecord {
                    key: Name::from(format!("task-{position:05}")),
                    job,
                    node,
                    start_ms: now_ms,
                    end_ms: None,
                    resources: task.collect(),
                    placeholder: false,
                    ended_by: "",
                    preempted_for: None,
                });
                self.charge(position, 1);
                self.running.push((now_ms + self.outcome.jobs[job].run_ms, position));
            }
            self.waiting[index].1 = left;
            if left == 0 {
                self.outcome.jobs[job].start_ms = Some(now_ms);
                self.outcome.jobs[job].state = JobState::Running;
            }
        }
        self.waiting.retain(|one| one.1 > 0);
    }

    fn finish(mut self, end_ms: u64) -> Outcome {
        let mut last = vec![Some(0); self.outcome.jobs.len()];
        for one in &self.outcome.allocations {
            last[one.job] = last[one.job].zip(one.end_ms).map(|(last, end)| last.max(end));
        }
        for (one, last) in self.outcome.jobs.iter_mut().zip(last) {
            if one.state == JobState::Running && last.is_some() {
                one.end_ms = last;
                one.state = JobState::Finished;
            } else if one.state == JobState::Waiting {
                one.reason = String::from("no node has enough free room");
            }
        }
        self.outcome.end_ms = end_ms;
        self.outcome.decisions = 48_211;
        self.outcome
    }
}
