//! A simulated resource manager: it has nodes, submits jobs, starts and ends their tasks, and stops a task on request.
//! It has neither clock nor network: the caller passes in each event, and sends the returned requests.

use std::collections::{BTreeMap, BTreeSet};

use headroom_api::si::v1;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::message::{self, TaskSpec};
use super::scene::{DAEMON, DRAIN_EVERY, DRAIN_FOR, DRAINED, JOBS, JobKind, NODES};

/// Time that a task takes to stop after a request to stop, in milliseconds.
const STOPPING: u64 = 1_500;

/// Requests to send, in this order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Requests {
    pub(super) nodes: Vec<v1::NodeInfo>,
    pub(super) applications: Vec<v1::AddApplicationRequest>,
    pub(super) allocations: Vec<v1::Allocation>,
    pub(super) releases: Vec<v1::AllocationRelease>,
}

/// A scheduled event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A job of this kind arrives.
    Arrive(usize),
    /// A task completes.
    End(String),
    /// A task has stopped after a request to stop, for this reason.
    Stopped(String, i32),
    /// The node starts to drain.
    Drain,
    /// The node accepts tasks again.
    Undrain,
}

#[derive(Debug)]
struct Job {
    kind: usize,
    user: &'static str,
    /// Whether asks for its first tasks, or for its placeholders, were sent.
    begun: bool,
    /// Number of tasks that have not succeeded yet.
    tasks_left: u64,
    /// Number of task names used so far.
    named: u64,
    /// Number of placeholders of a gang without a node. The asks for the members are sent when no such placeholder is
    /// left.
    placeholders_waiting: u64,
    /// Whether asks for its members were sent.
    members_asked: bool,
}

#[derive(Debug)]
struct Task {
    job: String,
    placeholder: bool,
    /// Whether the task has a node.
    placed: bool,
}

/// The simulated resource manager.
#[derive(Debug)]
pub(super) struct Play {
    random: Pcg64Mcg,
    jobs: BTreeMap<String, Job>,
    tasks: BTreeMap<String, Task>,
    due: BTreeSet<(u64, Due)>,
    /// Number of jobs so far, by kind.
    counts: [u64; JOBS.len()],
    out: Requests,
}

impl Play {
    /// Returns a resource manager at time 0. The same seed produces the same requests.
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
                // At equal times, the set would contain only one of these events.
                let apart = u64::try_from(number).unwrap_or(0);
                play.due.insert((time + apart, Due::Arrive(kind)));
            }
        }
        play.due.insert((DRAIN_EVERY, Due::Drain));
        play
    }

    /// Returns the nodes and their foreign allocations.
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

    /// Advances the time to `now`, in milliseconds since the start. Returns the requests to send.
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

    /// Submits a job. Schedules the next job of its kind after the initial jobs.
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

    /// Returns whether a job of this kind and user waits. If one waits, the user submits no more, so that the backlog
    /// stays small.
    fn waits(&self, kind: usize, user: &str) -> bool {
        let theirs = |job: &Job| job.kind == kind && job.user == user;
        let unplaced = self.tasks.values().filter(|task| !task.placed);
        self.jobs.values().any(|job| theirs(job) && !job.begun)
            || unplaced.filter_map(|task| self.jobs.get(&task.job)).any(theirs)
    }

    /// Handles a message of the scheduler about applications.
    pub(super) fn hear_applications(&mut self, response: &v1::ApplicationResponse) {
        for accepted in &response.accepted {
            self.begin(&accepted.application_id);
        }
        for rejected in &response.rejected {
            self.jobs.remove(&rejected.application_id);
        }
        for updated in &response.updated {
            match updated.state.as_str() {
                // The gang was not complete in time, so each member gets its own ask.
                "Resuming" => self.ask_members(&updated.application_id, false),
                "Completed" | "Failing" | "Failed" => {
                    self.jobs.remove(&updated.application_id);
                }
                _ => {}
            }
        }
    }

    /// Handles an accepted job: sends asks for its tasks, or for its placeholders.
    fn begin(&mut self, id: &str) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        job.begun = true;
        let (gang, tasks) = (JOBS[job.kind].gang.is_some(), job.tasks_left);
        for _ in 0..tasks {
            self.ask(id, gang, gang);
        }
    }

    /// Sends the asks for the members of a gang, once.
    fn ask_members(&mut self, id: &str, in_group: bool) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        if std::mem::replace(&mut job.members_asked, true) {
            return;
        }
        for _ in 0..job.tasks_left {
            self.ask(id, false, in_group);
        }
    }

    /// Sends an ask for one more task.
    fn ask(&mut self, id: &str, placeholder: bool, in_group: bool) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        job.named += 1;
        let kind: &JobKind = &JOBS[job.kind];
        let key = format!("{id}-{}{}", if placeholder { "room-" } else { "" }, job.named);
        let spec = TaskSpec { originator: job.named == 1 && !placeholder, placeholder, in_group };
        self.out.allocations.push(message::ask(id, &key, kind, spec));
        self.tasks.insert(key, Task { job: id.to_owned(), placeholder, placed: false });
    }

    /// Handles a message of the scheduler about allocations, at time `now`.
    pub(super) fn hear_allocations(&mut self, now: u64, response: &v1::AllocationResponse) {
        for placed in &response.new {
            self.start(now, &placed.allocation_key);
        }
        for released in &response.released {
            let key = &released.allocation_key;
            let has_node = self.tasks.get(key).is_some_and(|task| task.placed);
            if !has_node || released.termination_type == i32::from(v1::TerminationType::StoppedByRm)
            {
                // The task does not run, and the scheduler has removed its ask. A confirmation would contain an unknown key.
                self.tasks.remove(key);
            } else {
                // The task takes a moment to stop. Then the scheduler gets a report.
                let stopped =
                    Due::Stopped(released.allocation_key.clone(), released.termination_type);
                self.due.insert((now + STOPPING, stopped));
            }
        }
        for rejected in &response.rejected_allocations {
            self.forget(&rejected.allocation_key);
        }
    }

    /// Starts a task on its node.
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

    /// Removes a task. Returns the job to which it belonged.
    fn forget(&mut self, key: &str) -> Option<String> {
        let task = self.tasks.remove(key)?;
        if let Some(job) = self.jobs.get_mut(&task.job) {
            job.tasks_left = job.tasks_left.saturating_sub(1);
        }
        Some(task.job)
    }

    /// Ends a task that has completed.
    fn end(&mut self, key: &str) {
        let Some(job) = self.forget(key) else { return };
        let termination = v1::TerminationType::StoppedByRm.into();
        self.out.releases.push(message::release(&job, key, termination));
    }

    /// Reports to the scheduler that a task has stopped on request. Sends a new ask for a preempted task.
    fn stopped(&mut self, key: &str, termination: i32) {
        let Some(task) = self.tasks.remove(key) else { return };
        self.out.releases.push(message::release(&task.job, key, termination));
        let preempted = termination == i32::from(v1::TerminationType::PreemptedByScheduler);
        if preempted && !task.placeholder {
            self.ask(&task.job, false, false);
        }
    }
}
