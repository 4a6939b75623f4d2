//! Keeping the records of a run in step with what happens.

use headroom_core::id::AllocationId;
use headroom_core::{Event, Name, Note, Termination};

use crate::outcome::{AllocationRecord, Decision, JobRecord, JobState, Outcome, QueueRecord};
use crate::workload::Job;

use super::RunError;
use super::calendar::Entry;
use super::fit::impossible;
use super::play::Play;

impl Play<'_> {
    /// Note a queue as it was made; the core makes parents first. One that a rule makes once
    /// more is the same.
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

    /// The record of a job that was not submitted yet.
    pub(super) fn record(job: &Job) -> JobRecord {
        JobRecord {
            name: job.name.clone(),
            user: job.user.clone(),
            group: job.groups.first().cloned(),
            queue: None,
            submit_ms: job.submit_ms,
            start_ms: None,
            end_ms: None,
            state: JobState::Waiting,
            asks: job.processors,
            resources: job.per_processor.times(i64::try_from(job.processors).unwrap_or(i64::MAX)),
            run_ms: job.run_ms,
            waits: Vec::new(),
            reason: String::new(),
        }
    }

    /// The core took a job into a queue.
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

    /// The job of an allocation that an event is about to end.
    pub(super) fn seen_before(&self, event: &Event) -> Option<(AllocationId, usize)> {
        match event {
            Event::Released { allocation, .. } => {
                let application = self.books.allocation(*allocation).application;
                Some((*allocation, self.jobs_of[application.index()]))
            }
            _ => None,
        }
    }

    /// Keep the records in step with what happened.
    pub(super) fn follow(&mut self, event: &Event, ended: Option<(AllocationId, usize)>) {
        match event {
            Event::PartitionAdded { partition, .. } if *partition == self.partition => {
                self.note_queue("root");
            }
            Event::QueueAdded { partition, parent, name, .. }
                if self.books.partition_named(&self.partition) == Some(*partition) =>
            {
                self.note_queue(&format!("{parent}.{name}"));
            }
            Event::AskAdded { application, .. } => {
                self.open[self.jobs_of[application.index()]].asks += 1;
            }
            Event::ApplicationLinked { application, group: Some(group) } if *group != "*" => {
                let job = self.jobs_of[application.index()];
                self.outcome.jobs[job].group = Some(group.clone());
            }
            Event::Placed { ask, .. } => self.placed(*ask),
            Event::Released { termination, .. } => {
                let (allocation, job) = ended.expect("it was seen before it went");
                self.released(allocation, job, *termination);
            }
            _ => {}
        }
    }

    fn placed(&mut self, ask: AllocationId) {
        let row = self.books.allocation(ask);
        let (application, now_ms) = (row.application, self.now.as_millis());
        let job = self.jobs_of[application.index()];
        let node = row.node.expect("it was just placed");
        let node = self.node_of(&self.books.node(node).name);
        let record = self.outcome.allocations.len();
        self.outcome.allocations.push(AllocationRecord {
            key: row.key.clone(),
            job,
            node,
            start_ms: now_ms,
            end_ms: None,
            resources: self.books.types().amounts(self.books.resources_of(ask)),
            placeholder: false,
            ended_by: "",
        });
        if self.records_of.len() <= ask.index() {
            self.records_of.resize(ask.index() + 1, usize::MAX);
        }
        self.records_of[ask.index()] = record;
        let run_ms = self.outcome.jobs[job].run_ms;
        self.calendar.add(now_ms.saturating_add(run_ms), Entry::End(record, ask));
        let open = &mut self.open[job];
        open.asks -= 1;
        open.running += 1;
        if open.asks == 0 && self.outcome.jobs[job].start_ms.is_none() {
            self.started(job);
        }
    }

    /// The last task of a job has started.
    fn started(&mut self, job: usize) {
        let now_ms = self.now.as_millis();
        let application = self.open[job].application.expect("it was submitted");
        let waits = self.blame.close(now_ms, application);
        let record = &mut self.outcome.jobs[job];
        record.start_ms = Some(now_ms);
        record.state = JobState::Running;
        record.waits = waits;
        self.explain_rest(job, now_ms);
    }

    /// Nothing is judged while the cluster has no node; that time has a name too.
    fn explain_rest(&mut self, job: usize, until_ms: u64) {
        let record = &self.outcome.jobs[job];
        let known: u64 = record.waits.iter().map(|(_, ms)| ms).sum();
        let rest = (until_ms - record.submit_ms).saturating_sub(known);
        if rest > 0 {
            let blocker = self.blame.named("NO_NODES", "a cluster without nodes".to_owned());
            self.outcome.jobs[job].waits.push((blocker, rest));
        }
    }

    fn released(&mut self, allocation: AllocationId, job: usize, termination: Termination) {
        let now_ms = self.now.as_millis();
        let record = &mut self.outcome.allocations[self.records_of[allocation.index()]];
        record.end_ms = Some(now_ms);
        self.open[job].running -= 1;
        match termination {
            Termination::StoppedByRm => record.ended_by = "finished",
            Termination::PlaceholderReplaced => record.ended_by = "replaced",
            Termination::Timeout => record.ended_by = "timeout",
            Termination::NodeRemoved | Termination::PartitionRemoved => {
                record.ended_by = "node-lost";
                self.lost.push((job, record.resources.clone()));
                return;
            }
            Termination::Preempted => {
                record.ended_by = "preempted";
                self.lost.push((job, record.resources.clone()));
                return;
            }
        }
        let open = self.open[job];
        if open.asks == 0 && open.running == 0 {
            let record = &mut self.outcome.jobs[job];
            record.end_ms = Some(now_ms);
            record.state = JobState::Finished;
            self.done += 1;
        }
    }

    /// Tell the accounts what the scheduler noted.
    pub(super) fn take_notes(&mut self) -> Result<(), RunError> {
        let notes = self.scheduler.take_notes();
        if notes.is_empty() {
            return Ok(());
        }
        if self.watcher.wants_decisions() {
            for note in &notes {
                if let Note::Parked { class, wait } = note
                    && let Some(ask) = self.scheduler.first_of(*class)
                {
                    let row = self.books.allocation(ask);
                    self.outcome.decisions += 1;
                    let decision = Decision {
                        sequence: self.outcome.decisions,
                        time_ms: self.now.as_millis(),
                        kind: "waits",
                        subject: row.key.to_string(),
                        detail: wait.sentence(&self.books, self.books.resources_of(ask)),
                    };
                    self.watcher.decision(&decision).map_err(RunError::Write)?;
                }
            }
        } else {
            let parked = notes.iter().filter(|note| matches!(note, Note::Parked { .. }));
            self.outcome.decisions += parked.count() as u64;
        }
        self.blame.take(&self.books, self.now.as_millis(), notes);
        Ok(())
    }

    /// Close the records.
    pub(super) fn finish(mut self) -> Outcome {
        let end_ms = match self.setup.until_ms {
            Some(until_ms) if self.calendar.next_at().is_some() => until_ms,
            _ => self.now.as_millis(),
        };
        self.outcome.end_ms = end_ms;
        for job in 0..self.outcome.jobs.len() {
            if self.outcome.jobs[job].state == JobState::Waiting {
                self.left_waiting(job, end_ms);
            }
        }
        self.outcome.jobs.retain(|job| job.submit_ms <= end_ms);
        self.outcome.blockers = std::mem::take(&mut self.blame.blockers);
        self.outcome.digest = self.digest.hex();
        self.outcome
    }

    fn left_waiting(&mut self, job: usize, end_ms: u64) {
        let Some(application) = self.open[job].application else { return };
        let waits = self.blame.close(end_ms, application);
        self.outcome.jobs[job].waits = waits;
        self.explain_rest(job, end_ms);
        let pending = self.books.allocations_of(application).find(|(_, row)| row.is_pending());
        let Some((ask, _)) = pending else { return };
        let record = &mut self.outcome.jobs[job];
        if let Some(reason) = impossible(&self.books, &self.setup.nodes, ask) {
            record.state = JobState::Impossible;
            record.reason = reason;
        } else if let Some(wait) = self.scheduler.wait_of(&self.books, ask) {
            record.reason = wait.sentence(&self.books, self.books.resources_of(ask));
        }
    }

    fn node_of(&self, name: &Name) -> usize {
        self.node_positions[name]
    }
}
