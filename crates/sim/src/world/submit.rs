//! Submits jobs, and asks for their tasks.

use headroom_core::books::GangStyle;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{ApplicationEvent, Ask, Command, Event, Name, Rejection, Submit, decide};

use crate::outcome::JobState;
use crate::workload::Job;

use super::fit::fits;
use super::play::Play;
use super::{RunError, Shape};

/// Task group of a gang. A number follows in the names of the groups of further sizes.
const TASK_GROUP: &str = "tasks";

/// Role of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A task that starts and ends individually.
    Task,
    /// A placeholder of a gang.
    Place,
    /// A member of a gang.
    Member,
}

/// Time at which a job asks for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// At submission.
    First,
    /// After all tasks of the first stage, except the master, have ended.
    Second,
}

/// Equal asks of a job.
#[derive(Clone, Debug)]
struct Piece {
    count: u64,
    size: Amounts,
    kind: Kind,
}

/// Task of a job that an ask is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The master.
    Master,
    /// One of the first tasks of the job.
    #[default]
    First,
    /// One of its further tasks, by position.
    More(usize),
}

impl Kind {
    /// Returns the task group of tasks of this kind in a gang.
    fn group(self) -> Name {
        match self {
            Self::Master => Name::new("master"),
            Self::First => Name::new(TASK_GROUP),
            Self::More(position) => Name::from(format!("{TASK_GROUP}-{}", position + 2)),
        }
    }
}

/// Returns the tag for the lifetime of an application.
fn lifetime(seconds: u32) -> (Name, Name) {
    (Name::new("headroom/lifetime"), Name::from(seconds.to_string()))
}

impl Play<'_> {
    /// Submits a job, and asks for its first tasks.
    pub(super) fn submit(&mut self, position: usize) -> Result<(), RunError> {
        let job = &self.setup.workload.jobs[position];
        let gang = self.setup.shape == Shape::Gang;
        let pieces = self.shape(job);
        let whole = whole(pieces.iter().map(|piece| (piece.count, &piece.size)));
        let submit = Command::Submit(Submit {
            partition: self.partition.clone(),
            application: job.name.clone(),
            queue: self.setup.queue_asked_for(job),
            user: job.user.clone(),
            groups: job.groups.clone(),
            tags: job
                .lifetime_s
                .map(lifetime)
                .into_iter()
                .chain(job.tags.iter().cloned())
                .collect(),
            placeholder_ask: if gang { whole.clone() } else { Amounts::EMPTY },
            gang_style: if gang { GangStyle::Hard } else { GangStyle::Soft },
            ..Submit::default()
        });
        let declined = match decide(&self.books, self.now, &submit) {
            Err(rejection) => Some(rejection.to_string()),
            Ok(events) => {
                self.apply_all(&events)?;
                match events.last() {
                    Some(Event::Application(ApplicationEvent::Rejected { message, .. })) => {
                        Some(message.to_string())
                    }
                    _ => None,
                }
            }
        };
        if let Some(reason) = declined {
            self.refuse(position, JobState::Rejected, reason);
            return Ok(());
        }
        self.accepted(position);
        self.outcome.counts.gangs.submitted += u64::from(gang);
        let later = pieces.iter().filter(|piece| self.stage(job, piece.kind) == Stage::Second);
        self.open[position].later = later.map(|piece| piece.count).sum();
        let record = &mut self.outcome.jobs[position];
        record.asks = pieces.iter().map(|piece| piece.count).sum();
        record.gang = gang;
        record.resources = whole;
        // A gang that can never be complete would only hold resources until its timeout.
        let application = self.open[position].application.filter(|_| gang);
        if let Some(reason) = application.and_then(|id| self.gang_impossible(position, id)) {
            self.remove(position)?;
            self.refuse(position, JobState::Impossible, reason);
            return Ok(());
        }
        let part = if gang { Part::Place } else { Part::Task };
        if let Err(rejection) = self.ask_for_all(position, part, Stage::First)? {
            self.remove(position)?;
            self.refuse(position, JobState::Rejected, rejection.to_string());
        }
        Ok(())
    }

    fn remove(&mut self, position: usize) -> Result<(), RunError> {
        let application = self.setup.workload.jobs[position].name.clone();
        let partition = self.partition.clone();
        self.command(&Command::RemoveApplication { partition, application })
    }

    /// Asks for the tasks of a job in a stage, or for their placeholders. Returns the first refusal.
    fn ask_for_all(
        &mut self,
        position: usize,
        part: Part,
        stage: Stage,
    ) -> Result<Result<(), Rejection>, RunError> {
        let mut number = 0;
        let job = &self.setup.workload.jobs[position];
        for Piece { count, size, kind } in self.shape(job) {
            if self.stage(job, kind) != stage {
                number += count;
                continue;
            }
            for _ in 0..count {
                let key = self.key(position, number, part);
                number += 1;
                if let Err(rejection) = self.ask(position, key, (kind, size.clone()), part)? {
                    return Ok(Err(rejection));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Submits a job again whose gang was not complete in time.
    pub(super) fn submit_again(&mut self, position: usize) -> Result<(), RunError> {
        self.explain_rest(position, self.now.as_millis());
        self.outcome.counts.gangs.submitted_again += 1;
        self.submit(position)
    }

    /// Asks for all members of a gang, which is complete.
    pub(super) fn ask_for_members(&mut self, position: usize) -> Result<(), RunError> {
        self.ask_for_all(position, Part::Member, Stage::First)?
            .map_err(|rejection| self.refused(rejection))
    }

    /// Asks for the second stage of a job, whose first stage has ended.
    pub(super) fn ask_for_second_stage(&mut self, position: usize) -> Result<(), RunError> {
        self.open[position].later = 0;
        self.ask_for_all(position, Part::Task, Stage::Second)?
            .map_err(|rejection| self.refused(rejection))
    }

    /// Returns the stage in which a job requests tasks of this kind. All tasks of a gang start together.
    fn stage(&self, job: &Job, kind: Kind) -> Stage {
        match kind {
            Kind::More(place)
                if job.more[place].is_second_stage && self.setup.shape != Shape::Gang =>
            {
                Stage::Second
            }
            Kind::Master | Kind::First | Kind::More(_) => Stage::First,
        }
    }

    /// Returns whether the first stage of a job has just ended and a second stage follows. The master ends last.
    pub(super) fn second_stage_is_due(&self, position: usize) -> bool {
        let master = u64::from(self.setup.workload.jobs[position].master.is_some());
        let open = &self.open[position];
        open.later > 0 && open.finished + open.later + master == self.outcome.jobs[position].asks
    }

    /// Returns the key of a task, or of its placeholder. Keys are unique in a run.
    fn key(&self, position: usize, number: u64, part: Part) -> Name {
        let (job, open) = (&self.outcome.jobs[position], &self.open[position]);
        let task = match job.asks {
            1 => job.name.to_string(),
            _ => format!("{}.{number}", job.name),
        };
        Name::from(match (part, open.attempts, open.runs) {
            (Part::Task, ..) | (Part::Member, _, 0 | 1) => task,
            (Part::Member, _, runs) => format!("{task}.run{runs}"),
            (Part::Place, 0, _) => format!("{task}.place"),
            (Part::Place, attempts, _) => format!("{task}.place.try{}", attempts + 1),
        })
    }

    /// Returns the label that a job requests, if nodes have labels.
    pub(super) fn wish_of(&self, position: usize) -> Option<&Name> {
        self.setup.workload.jobs[position].node_label.as_ref().filter(|_| self.has_labels)
    }

    /// Adds an ask for one task of a job, or for its placeholder. Returns the rejection, if the ask was rejected.
    pub(super) fn ask(
        &mut self,
        position: usize,
        key: Name,
        (kind, resources): (Kind, Amounts),
        part: Part,
    ) -> Result<Result<(), Rejection>, RunError> {
        let job = &self.setup.workload.jobs[position];
        if kind != Kind::First {
            self.kinds.insert(key.clone(), kind);
        }
        let ask = Command::Ask(Ask {
            partition: self.partition.clone(),
            application: job.name.clone(),
            key,
            resources,
            priority: job.priority,
            placeholder: part == Part::Place,
            task_group: match part {
                Part::Task => Name::default(),
                Part::Place | Part::Member => kind.group(),
            },
            // With placeholders, there is no single driver: all placeholders of the first group count as drivers.
            originator: kind == Kind::Master && part == Part::Task,
            may_preempt: job.may_preempt,
            preemptable: job.preemptable,
            node_label: self.wish_of(position).cloned().unwrap_or_default(),
            ..Ask::default()
        });
        match decide(&self.books, self.now, &ask) {
            Ok(events) => self.apply_all(&events).map(Ok),
            Err(rejection) => Ok(Err(rejection)),
        }
    }

    /// Ends a job that never starts.
    fn refuse(&mut self, position: usize, state: JobState, reason: String) {
        if let Some(application) = self.open[position].application.take() {
            self.blame.close(self.now.as_millis(), application);
        }
        let record = &mut self.outcome.jobs[position];
        record.state = state;
        if state == JobState::Rejected {
            record.queue = None;
        }
        record.waits.clear();
        record.reason = reason;
        self.done += 1;
    }

    /// Returns the number and sizes of the asks of a job, the master first. Different tasks always have one ask each.
    fn shape(&self, job: &Job) -> Vec<Piece> {
        let count = job.processors.max(1);
        let factor = i64::try_from(count).unwrap_or(i64::MAX);
        let whole = job.per_processor.times(factor);
        let is_alone = job.more.is_empty() && job.master.is_none();
        let one = match self.setup.shape {
            _ if !is_alone => false,
            Shape::Single => true,
            Shape::Tasks | Shape::Gang => count == 1,
            Shape::Fitting => self.setup.nodes.iter().any(|node| fits(&node.resources, &whole)),
        };
        let (count, size) = if one { (1, whole) } else { (count, job.per_processor.clone()) };
        let master = job.master.iter().map(|size| (1, size.clone(), Kind::Master));
        let more = job.more.iter().enumerate();
        let more =
            more.map(|(place, tasks)| (tasks.count, tasks.resources.clone(), Kind::More(place)));
        let all = master.chain([(count, size, Kind::First)]).chain(more);
        all.map(|(count, size, kind)| Piece { count, size, kind }).collect()
    }

    /// Returns the task of a job that an allocation is for.
    pub(super) fn kind(&self, key: &Name) -> Kind {
        self.kinds.get(key).copied().unwrap_or_default()
    }
}

/// Returns the total of these numbers of sizes.
pub(super) fn whole<'a>(sizes: impl Iterator<Item = (u64, &'a Amounts)>) -> Amounts {
    let mut sum = Amounts::EMPTY;
    for (count, size) in sizes {
        let all = size.times(i64::try_from(count).unwrap_or(i64::MAX));
        for (name, amount) in all.iter() {
            let before = sum.get(name).unwrap_or(Quantity::ZERO);
            sum.set(name.clone(), before.plus(amount));
        }
    }
    sum
}
