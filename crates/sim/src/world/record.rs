//! Updates the records of a run with each event.

use headroom_core::books::ApplicationState;
use headroom_core::id::{AllocationId, ApplicationId};
use headroom_core::resource::Amounts;
use headroom_core::{
    AllocationEvent, ApplicationEvent, AskEvent, Event, PartitionEvent, PreemptionCause,
    QueueEvent, Termination,
};

use crate::nodes::NodeSpec;
use crate::outcome::{
    AllocationRecord, GANG_AGAIN, JobRecord, JobState, NOT_EXPLAINED, QueueRecord,
};
use crate::workload::Job;

use super::calendar::Entry;
use super::fit::{self, fits, impossible_gang, is_open};
use super::play::Play;
use super::rm::Due;
use super::submit::{Kind, Part, whole};

/// Objects of an event before the event is applied.
pub(super) struct Seen {
    /// The ask or allocation that is released, removed, or replaced.
    allocation: AllocationId,
    job: usize,
    placeholder: bool,
}

impl Play<'_> {
    /// Adds the record of a new queue. The core creates parents first. A queue that a rule creates again keeps its
    /// record.
    fn note_queue(&mut self, path: &str) {
        let partition = self.books.partition_named(&self.partition);
        let Some(id) = partition.and_then(|partition| self.books.queue_at(partition, path)) else {
            return; // It is in a partition that is not played.
        };
        let queue = self.books.queue(id);
        if let Some(record) = self.queue_paths.get(&queue.path) {
            self.queue_of.insert(id, *record);
            return;
        }
        let record = self.outcome.queues.len();
        self.queue_of.insert(id, record);
        self.queue_paths.insert(queue.path.clone(), record);
        let configured = queue.max.as_ref().filter(|_| queue.parent.is_some());
        self.outcome.queues.push(QueueRecord {
            path: queue.path.clone(),
            parent: queue.parent.map(|parent| self.queue_of[&parent]),
            leaf: queue.leaf,
            guaranteed: queue.settings.guaranteed.clone().unwrap_or_default(),
            max: configured.map(|max| self.books.types().amounts(max)),
        });
    }

    /// Returns the record of a job that was not submitted yet.
    pub(super) fn record(job: &Job) -> JobRecord {
        let more = job.more.iter().map(|tasks| (tasks.count, &tasks.resources));
        let master = job.master.iter().map(|size| (1, size));
        let sizes = master.chain([(job.processors, &job.per_processor)]).chain(more);
        JobRecord {
            name: job.name.clone(),
            user: job.user.clone(),
            group: job.groups.first().cloned(),
            queue: None,
            submit_ms: job.submit_ms,
            start_ms: None,
            end_ms: None,
            state: JobState::Waiting,
            asks: sizes.clone().map(|(count, _)| count).sum(),
            gang: false,
            resources: whole(sizes),
            sizes: sizes_of(job),
            run_ms: job.longest_ms(),
            waits: Vec::new(),
            reason: String::new(),
        }
    }

    /// Handles the acceptance of a job into a queue.
    pub(super) fn accepted(&mut self, job: usize) {
        let partition = self.books.partition_named(&self.partition).expect("it was configured");
        let name = &self.outcome.jobs[job].name;
        let applications = &self.books.partition(partition).applications;
        let application = *applications.get(&**name).expect("it was just submitted");
        if self.jobs_of.len() <= application.index() {
            self.jobs_of.resize(application.index() + 1, usize::MAX);
        }
        self.jobs_of[application.index()] = job;
        self.open[job].application = Some(application);
        let queue = self.books.application(application).queue;
        self.outcome.jobs[job].queue = Some(self.queue_of[&queue]);
    }

    /// Returns the objects of an event that the books no longer have afterward.
    pub(super) fn seen_before(&self, event: &Event) -> Option<Seen> {
        match event {
            Event::Allocation(AllocationEvent::Released { allocation, .. })
            | Event::Ask(AskEvent::Removed { ask: allocation, .. }) => {
                let row = self.books.allocation(*allocation);
                let job = self.jobs_of[row.application.index()];
                Some(Seen { allocation: *allocation, job, placeholder: row.placeholder })
            }
            Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }) => {
                let row = self.books.allocation(*placeholder);
                let job = self.jobs_of[row.application.index()];
                Some(Seen { allocation: row.partner()?, job, placeholder: false })
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(_)
            | Event::Task(_)
            | Event::Ask(
                AskEvent::Added { .. }
                | AskEvent::Placed { .. }
                | AskEvent::Reserved { .. }
                | AskEvent::Unreserved { .. }
                | AskEvent::Held { .. }
                | AskEvent::HoldEnded { .. }
                | AskEvent::Asked { .. }
                | AskEvent::Answered { .. }
                | AskEvent::PreemptionTriggered { .. }
                | AskEvent::PreemptionTried { .. }
                | AskEvent::ScaleUpAsked { .. },
            )
            | Event::Allocation(
                AllocationEvent::Resized { .. }
                | AllocationEvent::SwapStarted { .. }
                | AllocationEvent::SwapDropped { .. }
                | AllocationEvent::ReleaseAsked { .. }
                | AllocationEvent::Preempted { .. }
                | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(_)
            | Event::Tenant(_) => None,
        }
    }

    /// Updates the records after an event.
    pub(super) fn follow(&mut self, event: &Event, seen: Option<Seen>) {
        match event {
            Event::Partition(PartitionEvent::Added { partition, .. })
                if *partition == self.partition =>
            {
                self.note_queue("root");
            }
            Event::Queue(QueueEvent::Added { partition, parent, name, .. })
                if self.books.partition_named(&self.partition) == Some(*partition) =>
            {
                self.note_queue(&format!("{parent}.{name}"));
            }
            Event::Ask(AskEvent::Added { application, traits, .. }) => {
                let open = &mut self.open[self.jobs_of[application.index()]];
                *if traits.placeholder { &mut open.places } else { &mut open.asks } += 1;
            }
            Event::Ask(AskEvent::Removed { .. }) => {
                let seen = seen.expect("it was seen before it went");
                let open = &mut self.open[seen.job];
                *if seen.placeholder { &mut open.places } else { &mut open.asks } -= 1;
            }
            Event::Application(ApplicationEvent::Linked { application, group: Some(group) })
                if *group != "*" =>
            {
                let job = self.jobs_of[application.index()];
                self.outcome.jobs[job].group = Some(group.clone());
            }
            Event::Application(ApplicationEvent::LifetimeOver { application }) => {
                self.expired(*application);
            }
            Event::Application(ApplicationEvent::Moved { application, state, .. }) => {
                self.gang_moved(*application, *state);
            }
            Event::Ask(AskEvent::Placed { ask, .. }) => {
                self.last_at = self.now;
                self.placed(*ask);
            }
            Event::Allocation(AllocationEvent::Released { termination, .. }) => {
                let seen = seen.expect("it was seen before it went");
                self.released(&seen, *termination);
            }
            Event::Allocation(AllocationEvent::SwapStarted { placeholder, .. }) => {
                self.asked_to_stop(*placeholder, Termination::PlaceholderReplaced);
            }
            Event::Allocation(AllocationEvent::SwapConfirmed { placeholder }) => {
                let seen = seen.expect("it was seen before its place was taken");
                self.outcome.counts.gangs.swaps += 1;
                self.ended(*placeholder, "replaced");
                self.open[seen.job].held -= 1;
                self.began(seen.allocation, seen.job);
            }
            Event::Allocation(AllocationEvent::SwapDropped { .. }) => {
                self.outcome.counts.gangs.swaps_dropped += 1;
            }
            Event::Allocation(AllocationEvent::ReleaseAsked { allocation, termination }) => {
                self.asked_to_stop(*allocation, *termination);
            }
            Event::Allocation(AllocationEvent::Preempted { victim, cause }) => {
                let preemptor = self.job_of_cause(*cause);
                let record = self.records_of[victim.index()];
                let at_ms = self.now.as_millis();
                self.outcome.allocations[record].preempted_for = preemptor.map(|job| (job, at_ms));
                self.asked_to_stop(*victim, Termination::Preempted);
            }
            Event::Configured { .. }
            | Event::Partition(_)
            | Event::Queue(_)
            | Event::Node(_)
            | Event::Application(_)
            | Event::Task(_)
            | Event::Ask(
                AskEvent::Reserved { .. }
                | AskEvent::Unreserved { .. }
                | AskEvent::Held { .. }
                | AskEvent::HoldEnded { .. }
                | AskEvent::Asked { .. }
                | AskEvent::Answered { .. }
                | AskEvent::PreemptionTriggered { .. }
                | AskEvent::PreemptionTried { .. }
                | AskEvent::ScaleUpAsked { .. },
            )
            | Event::Allocation(
                AllocationEvent::Resized { .. } | AllocationEvent::PreemptionObserved { .. },
            )
            | Event::Foreign(_)
            | Event::Tenant(_) => {}
        }
    }

    /// Handles the end of the lifetime of a job, which ends with all its tasks.
    fn expired(&mut self, application: ApplicationId) {
        let Some(job) = self.jobs_of.get(application.index()).copied() else { return };
        if self.open.get(job).is_none_or(|open| open.application != Some(application)) {
            return;
        }
        let now_ms = self.now.as_millis();
        let waits = self.blame.close(now_ms, application);
        self.add_waits(job, waits);
        self.open[job].failing = true;
        let record = &mut self.outcome.jobs[job];
        if record.state != JobState::Finished {
            record.state = JobState::Expired;
            record.end_ms = Some(now_ms);
            self.done += 1;
        }
    }

    /// Handles a gang that became complete, or did not in time.
    fn gang_moved(&mut self, application: ApplicationId, state: ApplicationState) {
        let Some(job) = self.jobs_of.get(application.index()).copied() else { return };
        let Some(open) = self.open.get_mut(job) else { return };
        let record = &self.outcome.jobs[job];
        let ended = matches!(record.state, JobState::Expired | JobState::Finished);
        if !record.gang || ended || open.application != Some(application) {
            return;
        }
        match state {
            ApplicationState::Running if !open.complete => {
                open.complete = true;
                open.runs += 1;
                self.outcome.counts.gangs.complete += 1;
                self.started(job);
                self.is_due(Due::Members(job));
            }
            ApplicationState::Failing => {
                open.failing = true;
                self.outcome.counts.gangs.expired += 1;
                let now_ms = self.now.as_millis();
                let waits = self.blame.close(now_ms, application);
                self.add_waits(job, waits);
                self.open[job].verdict = self.gang_impossible(job, application);
            }
            ApplicationState::Failed => {
                if let Some(reason) = self.open[job].verdict.clone() {
                    let record = &mut self.outcome.jobs[job];
                    record.state = JobState::Impossible;
                    record.reason = reason;
                    self.done += 1;
                }
                self.is_due(Due::SubmitAgain(job));
            }
            _ => {}
        }
    }

    /// Returns why a gang can never be complete. `None` if the gang can be complete.
    pub(super) fn gang_impossible(&self, job: usize, application: ApplicationId) -> Option<String> {
        let now_ms = self.now.as_millis();
        let stays = |node: &&NodeSpec| node.to_ms.is_none_or(|to_ms| to_ms > now_ms);
        let record = &self.outcome.jobs[job];
        let (books, whole) = (&self.books, &record.resources);
        let (partition, label) = (books.application(application).partition, self.wish_of(job));
        let nodes = self.setup.nodes.iter().filter(stays);
        let nodes: Vec<&NodeSpec> =
            nodes.filter(|node| is_open(books, partition, node, label)).collect();
        let task = &self.setup.workload.jobs[job];
        let Some(smallest) = smallest(&record.sizes) else {
            return impossible_gang(books, &nodes, application, (whole, record.asks));
        };
        // Checks the smallest size times the number of tasks, and each size on some node.
        let all = smallest.times(i64::try_from(record.asks).unwrap_or(i64::MAX));
        impossible_gang(books, &nodes, application, (&all, record.asks)).or_else(|| {
            let too_large =
                task.sizes().find(|size| !nodes.iter().any(|node| fits(&node.resources, size)));
            too_large.map(|size| fit::too_large(size, label))
        })
    }

    fn placed(&mut self, ask: AllocationId) {
        let row = self.books.allocation(ask);
        let (placeholder, job) = (row.placeholder, self.jobs_of[row.application.index()]);
        if placeholder {
            let open = &mut self.open[job];
            open.places -= 1;
            open.held += 1;
            self.begin_record(ask, job);
        } else {
            self.began(ask, job);
        }
    }

    fn begin_record(&mut self, allocation: AllocationId, job: usize) -> usize {
        let row = self.books.allocation(allocation);
        let node = row.node.expect("it was just placed");
        let record = self.outcome.allocations.len();
        self.outcome.allocations.push(AllocationRecord {
            key: row.key.clone(),
            job,
            node: self.node_positions[&self.books.node(node).name],
            start_ms: self.now.as_millis(),
            end_ms: None,
            resources: self.books.plain_size_of(allocation),
            placeholder: row.placeholder,
            ended_by: "",
            preempted_for: None,
        });
        if self.records_of.len() <= allocation.index() {
            self.records_of.resize(allocation.index() + 1, usize::MAX);
        }
        self.records_of[allocation.index()] = record;
        record
    }

    /// Handles the start of a task.
    fn began(&mut self, allocation: AllocationId, job: usize) {
        let record = self.begin_record(allocation, job);
        let task = &self.setup.workload.jobs[job];
        let run_ms = match self.kind(&self.outcome.allocations[record].key) {
            Kind::Master => None,
            Kind::First => Some(task.run_ms),
            Kind::More(place) => Some(task.more[place].run_ms),
        };
        if let Some(run_ms) = run_ms {
            let end_ms = self.now.as_millis().saturating_add(run_ms);
            self.calendar.add(end_ms, Entry::End(record, allocation));
        } else {
            self.open[job].master = Some((record, allocation));
            self.end_master(job);
        }
        let open = &mut self.open[job];
        open.asks -= 1;
        open.running += 1;
        let (first, gang) =
            (self.outcome.jobs[job].start_ms.is_none(), self.outcome.jobs[job].gang);
        if gang && !open.complete {
            let name = &self.outcome.jobs[job].name;
            self.broken = Some(format!("a task of job {name} starts without its gang"));
        } else if open.asks == 0 && first {
            self.started(job);
        }
    }

    /// Ends the master of a job if all other tasks of the job have ended.
    fn end_master(&mut self, job: usize) {
        let open = &self.open[job];
        if open.finished + 1 == self.outcome.jobs[job].asks
            && let Some((record, allocation)) = open.master
        {
            self.calendar.add(self.now.as_millis(), Entry::End(record, allocation));
        }
    }

    /// Handles the start of the last task of a job, or the completion of its gang.
    fn started(&mut self, job: usize) {
        let now_ms = self.now.as_millis();
        let application = self.open[job].application.expect("it was submitted");
        let waits = self.blame.close(now_ms, application);
        let record = &mut self.outcome.jobs[job];
        record.start_ms.get_or_insert(now_ms);
        record.state = JobState::Running;
        self.add_waits(job, waits);
        self.explain_rest(job, now_ms);
    }

    pub(super) fn add_waits(&mut self, job: usize, waits: Vec<(usize, u64)>) {
        let known = &mut self.outcome.jobs[job].waits;
        for (blocker, ms) in waits {
            match known.iter_mut().find(|(one, _)| *one == blocker) {
                Some((_, sum)) => *sum += ms,
                None => known.push((blocker, ms)),
            }
        }
    }

    /// Attributes the rest of the wait that no class explains: a failed gang that was not submitted again yet, or
    /// otherwise no known reason.
    pub(super) fn explain_rest(&mut self, job: usize, until_ms: u64) {
        let record = &self.outcome.jobs[job];
        let known: u64 = record.waits.iter().map(|(_, ms)| ms).sum();
        let rest = (until_ms - record.submit_ms).saturating_sub(known);
        if rest > 0 {
            let open = &self.open[job];
            let (code, subject) = if open.application.is_none() || open.failing {
                (GANG_AGAIN, "the next submission of a gang")
            } else {
                (NOT_EXPLAINED, "an unknown reason")
            };
            let blocker = self.blame.named(code, subject.to_owned());
            self.add_waits(job, vec![(blocker, rest)]);
        }
    }

    /// The job for which something is preempted.
    fn job_of_cause(&self, cause: PreemptionCause) -> Option<usize> {
        match cause {
            PreemptionCause::Guarantee(ask)
            | PreemptionCause::Share(ask)
            | PreemptionCause::Priority(ask)
            | PreemptionCause::RequiredNode(ask) => {
                Some(self.jobs_of[self.books.allocation(ask).application.index()])
            }
            PreemptionCause::Quota(_) => None,
        }
    }

    /// Completes the record of an allocation. Returns its resources.
    fn ended(&mut self, allocation: AllocationId, ended_by: &'static str) -> Amounts {
        let record = &mut self.outcome.allocations[self.records_of[allocation.index()]];
        record.end_ms = Some(self.now.as_millis());
        record.ended_by = ended_by;
        record.resources.clone()
    }

    fn released(&mut self, seen: &Seen, termination: Termination) {
        let (ended_by, lost) = match termination {
            Termination::StoppedByRm if seen.placeholder => ("released", false),
            Termination::StoppedByRm => ("finished", false),
            Termination::PlaceholderReplaced => ("replaced", false),
            Termination::Timeout => ("released", false),
            Termination::LifetimeOver => ("expired", false),
            Termination::NodeRemoved | Termination::PartitionRemoved => ("node-lost", true),
            Termination::Preempted => ("preempted", true),
        };
        // A gang that did not replace lost members in time fails, and none of its tasks has finished.
        let fails = matches!(termination, Termination::LifetimeOver | Termination::Timeout);
        let resources = self.ended(seen.allocation, ended_by);
        let record = self.records_of[seen.allocation.index()];
        let kind = self.kind(&self.outcome.allocations[record].key);
        let (job, now_ms) = (seen.job, self.now.as_millis());
        let (open, record) = (&mut self.open[job], &mut self.outcome.jobs[job]);
        let part = match (record.gang, seen.placeholder) {
            (_, true) => Part::Place,
            (true, false) => Part::Member,
            (false, false) => Part::Task,
        };
        if seen.placeholder {
            open.held -= 1;
        } else {
            open.running -= 1;
            open.finished += u64::from(!lost && !fails);
        }
        if !seen.placeholder && open.finished == record.asks && record.state != JobState::Expired {
            record.end_ms = Some(now_ms);
            record.state = JobState::Finished;
            self.done += 1;
            self.is_due(Due::EndApplication(job));
        }
        let has_ended = !seen.placeholder && !lost && !fails;
        if has_ended && kind != Kind::Master && self.second_stage_is_due(job) {
            self.is_due(Due::SecondStage(job));
        }
        if kind == Kind::Master && !seen.placeholder {
            self.open[job].master = None;
        } else if !lost {
            self.end_master(job);
        }
        if lost && !self.open[job].failing {
            self.is_due(Due::AskAgain(job, (kind, resources), part));
        }
    }
}

/// Returns the number of tasks of a job for each size. Empty if all have the same size.
fn sizes_of(job: &Job) -> Vec<(u64, Amounts)> {
    let master = job.master.iter().map(|size| (1, size));
    let more = job.more.iter().map(|tasks| (tasks.count, &tasks.resources));
    let mut sizes: Vec<(u64, Amounts)> = Vec::new();
    for (count, size) in master.chain([(job.processors.max(1), &job.per_processor)]).chain(more) {
        match sizes.iter_mut().find(|(_, known)| known == size) {
            Some((sum, _)) => *sum += count,
            None => sizes.push((count, size.clone())),
        }
    }
    if sizes.len() > 1 { sizes } else { Vec::new() }
}

/// Returns the minimum of each type over different sizes. `None` without sizes.
fn smallest(sizes: &[(u64, Amounts)]) -> Option<Amounts> {
    let mut sizes = sizes.iter().map(|(_, size)| size);
    let mut least = sizes.next()?.clone();
    for size in sizes {
        let part = least.iter().filter_map(|(name, one)| {
            let other = size.get(name)?;
            Some((name.clone(), one.min(other)))
        });
        least = part.collect();
    }
    Some(least)
}
