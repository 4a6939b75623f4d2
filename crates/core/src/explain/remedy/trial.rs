//! Trials of edits: the scheduler runs on a copy of the books in which the ask is next.

use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Allocation, Books};
use crate::command::Command;
use crate::event::{AskEvent, Event, Termination};
use crate::explain::{Check, Explanation, explain};
use crate::fork::Fork;
use crate::id::{AllocationId, PartitionId};
use crate::resource::{Quantity, ResourceType, Resources};
use crate::schedule::Step;
use crate::time::Timestamp;
use crate::wait::Blocker;

use super::InTurnOutcome;
use super::edit::Edit;

/// Largest number of scheduler steps in one trial, in addition to two for each ask that must start together.
const STEPS: usize = 64;

/// Budget of all trials for one ask, in copied rows. It takes less than a second on a current machine
/// (`benches/README.md`).
const WORK: usize = 2_000_000;

/// Copy of the books for trials, and the remaining number of trials.
pub(super) struct Trial {
    copy: Fork,
    ask: AllocationId,
    /// Other asks that must also start: the other placeholders of its gang.
    mates: Vec<AllocationId>,
    /// Asks that must start and that do not start without edits.
    stuck: Vec<AllocationId>,
    left: u32,
    supposes: bool,
    ran_out: bool,
    /// Explanation of the ask when it is next. For a gang, of the first placeholder without a node.
    explanation: Explanation,
}

impl Trial {
    /// Creates a copy of the books in which this ask is next. `None` if the ask does not wait.
    ///
    /// Withdraws other waiting asks, unless they start together with the ask, are placeholders of its gang, or have a
    /// reserved node. Costs the waiting asks.
    pub(super) fn of(
        books: &Books,
        now: Timestamp,
        ask: AllocationId,
        trials: u32,
    ) -> Option<Self> {
        let row = books.allocations().get(ask).filter(|row| row.is_pending())?;
        let application = row.application;
        let partition = books.application(application).partition;
        let together = books.members_of(application) > 1;
        let placeholders = other_placeholders(books, ask);
        let is_placeholder = row.placeholder;
        let supposes = books.asks_about_nodes(partition);
        let mut books = books.clone();
        let others: Vec<AllocationId> = books
            .allocations()
            .iter()
            .filter(|(id, row)| *id != ask && row.is_pending() && row.reservation().is_none())
            .filter(|(_, row)| !(together && row.application == application))
            .filter(|(id, _)| placeholders.binary_search(id).is_err())
            .map(|(id, _)| id)
            .collect();
        for other in others {
            let termination = Termination::StoppedByRm;
            books.apply(now, &Event::Ask(AskEvent::Removed { ask: other, termination }));
        }
        let mut copy = Fork::of(books, now);
        if supposes {
            let partition = copy.books.partition(partition).name.clone();
            copy.execute(&Command::SetQuestions { partition, questions: None });
        }
        let mates = if is_placeholder { placeholders.clone() } else { Vec::new() };
        let moves = copy.peek_step(&mut Vec::new()) == Step::Moved;
        let explanation = explain(&copy.books, &copy.scheduler, ask)?;
        if moves {
            // The step that it found is not applied. The trials begin before it.
            copy = Fork::of(copy.books, now);
        }
        let stuck = vec![ask];
        let left = trials.min(affordable(&copy.books));
        let mut trial =
            Self { copy, ask, mates, stuck, left, supposes, ran_out: false, explanation };
        let waits_for_one = |check: &Check| matches!(check.blocker, Blocker::Placeholders(..));
        if is_placeholder {
            trial.look_at_gang(core::iter::once(ask).chain(placeholders).collect());
        } else if trial.explanation.blocked_by().any(waits_for_one) {
            let group = |id: AllocationId| trial.copy.books.allocation(id).task_group();
            let own = placeholders.into_iter().filter(|one| group(*one) == group(ask)).collect();
            trial.look_at_gang(own);
            trial.stuck.truncate(1); // One place is enough.
        }
        Some(trial)
    }

    /// Explains the first of these placeholders that gets no node after all possible others got theirs.
    fn look_at_gang(&mut self, placeholders: Vec<AllocationId>) {
        let mut copy = self.copy.clone();
        let mut events = Vec::new();
        for _ in 0..STEPS + 2 * placeholders.len() {
            if copy.step(&mut events) != Step::Moved {
                break;
            }
        }
        let (books, scheduler) = (&copy.books, &copy.scheduler);
        let waits =
            |id: &AllocationId| books.allocations().get(*id).is_some_and(Allocation::is_pending);
        let stuck: Vec<AllocationId> = placeholders.into_iter().filter(waits).collect();
        let first = stuck.first().and_then(|one| explain(books, scheduler, *one));
        if let Some(explanation) = first {
            (self.explanation, self.stuck) = (explanation, stuck);
        }
    }

    pub(super) const fn books(&self) -> &Books {
        &self.copy.books
    }

    pub(super) const fn ask(&self) -> AllocationId {
        self.ask
    }

    pub(super) fn partition(&self) -> PartitionId {
        self.copy.books.application(self.copy.books.allocation(self.ask).application).partition
    }

    /// Returns the explanation of the ask when it is next.
    pub(super) const fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    /// Returns whether it is a placeholder that starts with the others of its gang.
    pub(super) const fn is_gang(&self) -> bool {
        !self.mates.is_empty()
    }

    /// Returns the amounts on nodes of all asks that do not start without edits.
    pub(super) fn wanted_on_nodes(&self) -> Resources {
        let all = self.stuck.iter();
        all.fold(Resources::new(), |sum, ask| sum.plus(self.copy.books.node_request(*ask)))
    }

    /// Returns the amount of a type of all such asks except the first.
    pub(super) fn wanted_by_others(&self, resource: ResourceType) -> Quantity {
        let others = self.stuck.iter().skip(1);
        let wants = |ask: &AllocationId| self.copy.books.resources_of(*ask).get_or_zero(resource);
        others.map(wants).fold(Quantity::ZERO, Quantity::plus)
    }

    /// Returns the requested amount of a type.
    pub(super) fn wants(&self, resource: ResourceType) -> Quantity {
        self.copy.books.resources_of(self.ask).get_or_zero(resource)
    }

    /// Returns whether the trials assume that the RM accepts nodes that it was not asked about.
    pub(super) const fn supposes(&self) -> bool {
        self.supposes
    }

    /// Returns whether the budget was exhausted.
    pub(super) const fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// Returns whether the ask starts with these edits. `false` after the budget is exhausted.
    pub(super) fn starts(&mut self, edits: &[Edit]) -> bool {
        if self.left == 0 {
            self.ran_out = true;
            return false;
        }
        self.left -= 1;
        let (mut copy, mut ask) = (self.copy.clone(), self.ask);
        if !edits.iter().all(|edit| edit.make(&mut copy, &mut ask)) {
            return false;
        }
        let steps = STEPS + 2 * self.mates.len();
        let started = run(&mut copy, (ask, &self.mates), steps);
        self.ran_out |= started.is_none();
        started.unwrap_or(false)
    }

    /// Returns whether the ask starts with these edits, and with none of them omitted.
    pub(super) fn starts_and_needs_all(&mut self, edits: &[Edit]) -> bool {
        self.starts(edits)
            && (0..edits.len()).all(|place| {
                let mut fewer = edits.to_vec();
                fewer.remove(place);
                !self.starts(&fewer)
            })
    }
}

/// Returns the number of trials within the budget. A trial costs a copy and its wake-ups: the nodes, queues,
/// applications, and waiting asks.
fn affordable(books: &Books) -> u32 {
    let nodes: usize = books.partitions().values().map(|row| row.nodes.len()).sum();
    let applications = books.applications().iter();
    let applications: usize = applications.map(|(_, row)| 1 + row.ask_count as usize).sum();
    let size = nodes + applications + books.queues().iter().count();
    u32::try_from(WORK / size.max(1)).unwrap_or(u32::MAX).max(1)
}

/// Runs the scheduler until all of these asks have started, or nothing moves. Returns whether they started. `None` if
/// the steps were not sufficient.
fn run(
    copy: &mut Fork,
    (ask, mates): (AllocationId, &[AllocationId]),
    steps: usize,
) -> Option<bool> {
    let mut events = Vec::new();
    for _ in 0..steps {
        if copy.step(&mut events) != Step::Moved {
            return Some(false);
        }
        let rows = copy.books.allocations();
        let mut all = core::iter::once(&ask).chain(mates).map(|id| rows.get(*id));
        match all.try_fold(true, |started, row| Some(started & !row?.is_pending())) {
            Some(false) => {}
            Some(true) => return Some(true),
            None => return Some(false),
        }
    }
    None
}

/// Returns the other waiting placeholders of an application, which start together with this one.
fn other_placeholders(books: &Books, ask: AllocationId) -> Vec<AllocationId> {
    let application = books.allocation(ask).application;
    if books.application(application).gang.is_none() {
        return Vec::new();
    }
    let all = books.allocations_of(application);
    let waiting = all.filter(|(id, row)| *id != ask && row.is_pending() && row.placeholder);
    let mut waiting: Vec<AllocationId> = waiting.map(|(id, _)| id).collect();
    waiting.sort_unstable();
    waiting
}

/// Returns the outcome of an ask with these edits when all waiting asks are scheduled in order.
pub(super) fn in_turn(
    books: &Books,
    now: Timestamp,
    ask: AllocationId,
    edits: &[Edit],
    steps: usize,
) -> InTurnOutcome {
    let Some(row) = books.allocations().get(ask) else { return InTurnOutcome::Waits };
    let mates = if row.placeholder { other_placeholders(books, ask) } else { Vec::new() };
    let partition = books.partition(books.application(row.application).partition).name.clone();
    let (mut copy, mut ask) = (Fork::of(books.clone(), now), ask);
    if books.partition_named(&partition).is_some_and(|one| books.asks_about_nodes(one)) {
        copy.execute(&Command::SetQuestions { partition, questions: None });
    }
    if !edits.iter().all(|edit| edit.make(&mut copy, &mut ask)) {
        return InTurnOutcome::Waits;
    }
    match run(&mut copy, (ask, &mates), steps) {
        Some(true) => InTurnOutcome::Starts,
        Some(false) => InTurnOutcome::Waits,
        None => InTurnOutcome::Unknown,
    }
}
