//! A resource manager that plays: it has nodes, submits jobs, starts and ends their tasks, and
//! obeys when it has to stop one. It knows no clock and no network: the caller reports what happened,
//! and it returns what to send.

use std::collections::{BTreeMap, BTreeSet};

use headroom_api::si::v1;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::message::{self, TaskSpec};
use super::scene::{DAEMON, DRAIN_EVERY, DRAIN_FOR, DRAINED, JOBS, JobKind, NODES};

/// How long a task takes to stop once it has to, milliseconds.
const STOPPING: u64 = 1_500;

/// What is to be sent, in this order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Requests {
    pub(super) nodes: Vec<v1::NodeInfo>,
    pub(super) applications: Vec<v1::AddApplicationRequest>,
    pub(super) allocations: Vec<v1::Allocation>,
    pub(super) releases: Vec<v1::AllocationRelease>,
}

/// Something that happens at a time that is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A job of this kind comes.
    Arrive(usize),
    /// A task has done its work.
    End(String),
    /// A task that had to stop has stopped, for this reason.
    Stopped(String, i32),
    /// The node is to be drained.
    Drain,
    /// The node may be used again.
    Undrain,
}

#[derive(Debug)]
struct Job {
    kind: usize,
    user: &'static str,
    /// Whether its first tasks, or its placeholders, have been asked for.
    begun: bool,
    /// Tasks that have not ended well.
    tasks_left: u64,
    /// Names of tasks so far.
    named: u64,
    /// Of a gang: placeholders that have no node yet. The members are asked for when all have.
    placeholders_waiting: u64,
    /// Whether its members have been asked for.
    members_asked: bool,
}

#[derive(Debug)]
struct Task {
    job: String,
    placeholder: bool,
    /// Whether it has a node.
    placed: bool,
}

/// The resource manager.
#[derive(Debug)]
pub(super) struct Play {
    random: Pcg64Mcg,
    jobs: BTreeMap<String, Job>,
    tasks: BTreeMap<String, Task>,
    due: BTreeSet<(u64, Due)>,
    /// Jobs so far, of each kind.
    counts: [u64; JOBS.len()],
    out: Requests,
}

impl Play {
    /// One that begins at 0, milliseconds. The same seed plays the same.
    pub(super) fn new(seed: u64) -> Self {
        let mut play = Self {
            random: Pcg64Mcg::seed_from_u64(seed),
            jobs: BTreeMap::new(),
            tasks: BTreeMap::new(),
            due: BTreeSet::new(),
            counts: [0; JOBS.len()],
            out: Requests::default(),
        };
        for (kind, job) in JOBS.iter().enumerate() {
            for (number, time) in job.first.iter().enumerate() {
                // At equal times a set would keep only one of them.
                let apart = u64::try_from(number).unwrap_or(0);
                play.due.insert((time + apart, Due::Arrive(kind)));
            }
        }
        play.due.insert((DRAIN_EVERY, Due::Drain));
        play
    }

    /// The nodes, and what runs there without having been scheduled.
    pub(super) fn cluster() -> Requests {
        let mut requests = Requests::default();
        for kind in NODES {
            for number in 1..=kind.count {
                let node = format!("{}{number}", kind.prefix);
                requests.allocations.push(message::daemon(&node, DAEMON));
                requests.nodes.push(message::node(&node, &kind, number));
            }
        }
        requests
    }

    /// Let time pass up to `now`, milliseconds since it began; what is to be sent.
    pub(super) fn until(&mut self, now: u64) -> Requests {
        while let Some((time, _)) = self.due.first()
            && *time <= now
        {
            if let Some((time, due)) = self.due.pop_first() {
                self.happens(time, due);
            }
        }
        std::mem::take(&mut self.out)
    }

    fn happens(&mut self, now: u64, due: Due) {
        match due {
            Due::Arrive(kind) => self.arrive(now, kind),
            Due::End(key) => self.end(&key),
            Due::Stopped(key, termination) => self.stopped(&key, termination),
            Due::Drain => {
                self.out
                    .nodes
                    .push(message::action(DRAINED, v1::node_info::ActionFromRm::DrainNode));
                self.due.insert((now + DRAIN_FOR, Due::Undrain));
            }
            Due::Undrain => {
                let action = v1::node_info::ActionFromRm::DrainToSchedulable;
                self.out.nodes.push(message::action(DRAINED, action));
                self.due.insert((now + DRAIN_EVERY - DRAIN_FOR, Due::Drain));
            }
        }
    }

    fn between(&mut self, (least, most): (u64, u64)) -> u64 {
        self.random.random_range(least..=most)
    }

    /// A job comes; the next of its kind after those that come at the start.
    fn arrive(&mut self, now: u64, kind: usize) {
        let job = &JOBS[kind];
        let count = self.counts[kind];
        self.counts[kind] += 1;
        if usize::try_from(count + 1).is_ok_and(|count| count >= job.first.len()) {
            let next = now + self.between(job.every);
            self.due.insert((next, Due::Arrive(kind)));
        }
        let turn = count % u64::try_from(job.users.len()).unwrap_or(1);
        let user = job.users[usize::try_from(turn).unwrap_or(0)];
        if self.waits(kind, user.0) {
            return;
        }
        let id = format!("{}-{:04}-{:04x}", job.name, count + 1, self.random.next_u32() & 0xffff);
        let tasks = self.between(job.tasks);
        self.out.applications.push(message::application(&id, job, user, tasks));
        let placeholders_waiting = if job.gang.is_some() { tasks } else { 0 };
        let members_asked = job.gang.is_none();
        let row = Job {
            kind,
            user: user.0,
            begun: false,
            tasks_left: tasks,
            named: 0,
            placeholders_waiting,
            members_asked,
        };
        self.jobs.insert(id, row);
    }

    /// Returns whether something that the user submitted of this kind waits. They submit no more then: a backlog
    /// that only grows shows nothing.
    fn waits(&self, kind: usize, user: &str) -> bool {
        let theirs = |job: &Job| job.kind == kind && job.user == user;
        let unplaced = self.tasks.values().filter(|task| !task.placed);
        self.jobs.values().any(|job| theirs(job) && !job.begun)
            || unplaced.filter_map(|task| self.jobs.get(&task.job)).any(theirs)
    }

    /// What the scheduler says about applications.
    pub(super) fn hear_applications(&mut self, response: &v1::ApplicationResponse) {
        for accepted in &response.accepted {
            self.begin(&accepted.application_id);
        }
        for rejected in &response.rejected {
            self.jobs.remove(&rejected.application_id);
        }
        for updated in &response.updated {
            match updated.state.as_str() {
                // There was not room for all in time: each for itself.
                "Resuming" => self.ask_members(&updated.application_id, false),
                "Completed" | "Failing" | "Failed" => {
                    self.jobs.remove(&updated.application_id);
                }
                _ => {}
            }
        }
    }

    /// A job was accepted: ask for its tasks, or for room for all of them.
    fn begin(&mut self, id: &str) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        job.begun = true;
        let (gang, tasks) = (JOBS[job.kind].gang.is_some(), job.tasks_left);
        for _ in 0..tasks {
            self.ask(id, gang, gang);
        }
    }

    /// Ask for the members of a gang, once.
    fn ask_members(&mut self, id: &str, in_group: bool) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        if std::mem::replace(&mut job.members_asked, true) {
            return;
        }
        for _ in 0..job.tasks_left {
            self.ask(id, false, in_group);
        }
    }

    /// Ask for a node for one more task.
    fn ask(&mut self, id: &str, placeholder: bool, in_group: bool) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        job.named += 1;
        let kind: &JobKind = &JOBS[job.kind];
        let key = format!("{id}-{}{}", if placeholder { "room-" } else { "" }, job.named);
        let spec = TaskSpec { originator: job.named == 1 && !placeholder, placeholder, in_group };
        self.out.allocations.push(message::ask(id, &key, kind, spec));
        self.tasks.insert(key, Task { job: id.to_owned(), placeholder, placed: false });
    }

    /// What the scheduler says about allocations, at `now`.
    pub(super) fn hear_allocations(&mut self, now: u64, response: &v1::AllocationResponse) {
        for placed in &response.new {
            self.start(now, &placed.allocation_key);
        }
        for released in &response.released {
            let key = &released.allocation_key;
            let has_node = self.tasks.get(key).is_some_and(|task| task.placed);
            if !has_node || released.termination_type == i32::from(v1::TerminationType::StoppedByRm)
            {
                // Nothing runs, and the scheduler has dropped it already: a confirmation would name an unknown key.
                self.tasks.remove(key);
            } else {
                // It takes a moment to stop; then the scheduler gets a report.
                let stopped =
                    Due::Stopped(released.allocation_key.clone(), released.termination_type);
                self.due.insert((now + STOPPING, stopped));
            }
        }
        for rejected in &response.rejected_allocations {
            self.forget(&rejected.allocation_key);
        }
    }

    /// A task has a node.
    fn start(&mut self, now: u64, key: &str) {
        let Some(task) = self.tasks.get_mut(key) else { return };
        task.placed = true;
        let (id, placeholder) = (task.job.clone(), task.placeholder);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let kind = &JOBS[job.kind];
        if placeholder {
            job.placeholders_waiting = job.placeholders_waiting.saturating_sub(1);
            if job.placeholders_waiting == 0 {
                self.ask_members(&id, true);
            }
        } else {
            let ends = now + self.between(kind.runs);
            self.due.insert((ends, Due::End(key.to_owned())));
        }
    }

    /// A task is no more; the job it was of.
    fn forget(&mut self, key: &str) -> Option<String> {
        let task = self.tasks.remove(key)?;
        if let Some(job) = self.jobs.get_mut(&task.job) {
            job.tasks_left = job.tasks_left.saturating_sub(1);
        }
        Some(task.job)
    }

    /// A task has done its work.
    fn end(&mut self, key: &str) {
        let Some(job) = self.forget(key) else { return };
        let termination = v1::TerminationType::StoppedByRm.into();
        self.out.releases.push(message::release(&job, key, termination));
    }

    /// A task has stopped on request: report that to the scheduler. A task that was
    /// stopped for others is asked for again.
    fn stopped(&mut self, key: &str, termination: i32) {
        let Some(task) = self.tasks.remove(key) else { return };
        self.out.releases.push(message::release(&task.job, key, termination));
        let preempted = termination == i32::from(v1::TerminationType::PreemptedByScheduler);
        if preempted && !task.placeholder {
            self.ask(&task.job, false, false);
        }
    }
}
