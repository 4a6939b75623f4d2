//! Timing of preemption for asks of queues that use less than their guarantee. Source: scheduling §11.2.
//! [`super::preempt`] selects the victims.
//!
//! One attempt is valid for all asks of a class, because they are equal. A failed attempt is recorded for its ask and
//! for all equal asks, even after that ask is gone (decision K-26). The next attempt is at least 15 s later, and only
//! after an event, or after a reservation expires.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Books, PreemptionTry, QuestionSubject, Queue};
use crate::event::{AllocationEvent, AskEvent, Event, PreemptionCause};
use crate::id::{AllocationId, ApplicationId, LevelId, PartitionId, QueueId, ShapeId};
use crate::time::{Millis, Timestamp};
use crate::wait::{Blocker, Compared, Wait};

use super::ask_batches::backoff_application;
use super::class::{AskBatchId, Class, ClassId};
use super::placement_mode::{Pass, PlacementMode};
use super::preempt::{self, Attempt, Obstacle, Outcome, TRIES_PER_CYCLE, VictimBasis, VictimPlan};
use super::questions::{found_no_node, put_question, to_keep};
use super::reservation_candidates::{INSTANT, is_old};
use super::{Scheduler, Search};

/// Classes that wait for capacity and that can preempt.
#[derive(Clone, Debug, Default)]
pub(super) struct PreemptionAttempts {
    /// Classes that can succeed by time alone, by that time.
    due: BTreeSet<(Timestamp, ClassId)>,
    /// Classes whose last attempt is long ago and valid for the current books.
    dormant: BTreeSet<ClassId>,
    /// [`Books::changes`] at that time.
    dormant_at: u64,
    /// Classes with a reserved node whose time has come. They stay here until the last pass of a cycle checks them,
    /// after the earlier passes found nothing for them.
    ready: Vec<ClassId>,
    /// Classes of `ready` that the last pass of this cycle checks.
    again: Vec<ClassId>,
    /// Number of attempts in this cycle by leaf.
    tries: BTreeMap<QueueId, u32>,
    /// Failed attempts of this cycle, whose result stays valid until its end. The key has the leaf, the user if users
    /// share the leaf, the shape, the priority, and whether nodes were tried. Not used if the RM decides about each
    /// ask.
    failed: BTreeSet<(QueueId, Option<LevelId>, ShapeId, i32, bool)>,
    /// Classes with an attempt in this cycle. Each has at most one.
    called: BTreeSet<ClassId>,
    /// Number of queues by partition that protect new allocations for a time. There, time alone can make an attempt
    /// succeed.
    sparing: BTreeMap<PartitionId, usize>,
    /// Times at which an ask yields its reserved node to asks of higher priority. A failed attempt can succeed after
    /// that.
    yields: BTreeSet<(PartitionId, Timestamp, AllocationId)>,
}

impl PreemptionAttempts {
    /// Returns the first due time after `now`. A class that is already due is checked when the RM has answered enough
    /// questions for the cycle to reach it.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.due.iter().map(|(at, _)| *at).find(|at| *at > now)
    }

    /// Records that a reservation for this ask begins or ends.
    pub(super) fn note_reservation(&mut self, books: &Books, ask: AllocationId, is_reserved: bool) {
        let row = books.allocation(ask);
        let Some(at) = preempt::yields_at(row) else { return };
        let key = (books.application(row.application).partition, at, ask);
        if is_reserved {
            self.yields.insert(key);
        } else {
            self.yields.remove(&key);
        }
    }

    /// Returns the first time after `at` at which a reserved node is yielded to asks of higher priority.
    fn yields_after(&self, partition: PartitionId, at: Timestamp) -> Option<Timestamp> {
        let from = (partition, at + INSTANT, AllocationId::FIRST);
        let next = self.yields.range(from..).next();
        next.filter(|(id, ..)| *id == partition).map(|(_, at, _)| *at)
    }

    /// Removes a class.
    pub(super) fn forget(&mut self, row: &mut Class, class: ClassId) {
        if let Some(at) = row.due.take() {
            self.due.remove(&(at, class));
        }
        self.dormant.remove(&class);
    }
}

impl Scheduler {
    /// Counts the queues that protect new allocations, from complete books.
    pub(super) fn find_sparing(&mut self, books: &Books) {
        for (_, queue) in books.queues().iter() {
            self.note_sparing(queue);
        }
    }

    /// Counts a new queue.
    pub(super) fn note_sparing(&mut self, queue: &Queue) {
        if queue.settings.preemption.least_run() > Millis::ZERO {
            *self.attempts.sparing.entry(queue.partition).or_default() += 1;
        }
    }

    /// Removes a queue from the count.
    pub(super) fn forget_sparing(&mut self, queue: &Queue) {
        if queue.settings.preemption.least_run() > Millis::ZERO
            && let Some(count) = self.attempts.sparing.get_mut(&queue.partition)
        {
            *count -= 1;
            if *count == 0 {
                self.attempts.sparing.remove(&queue.partition);
            }
        }
    }

    /// Begins a cycle, and returns classes that the last pass of the previous cycle did not check to their own pass.
    pub(super) fn begin_attempts(&mut self, books: &Books, now: Timestamp) {
        self.attempts.tries.clear();
        self.attempts.failed.clear();
        self.attempts.called.clear();
        for class in core::mem::take(&mut self.attempts.again) {
            self.move_to_pass(class, None);
        }
        if self.attempts.dormant_at != books.changes() {
            self.attempts.dormant_at = books.changes();
            for class in core::mem::take(&mut self.attempts.dormant) {
                self.arm(books, class);
            }
        }
        self.wake_due(books, now);
    }

    /// Makes classes ready whose time has come.
    fn wake_due(&mut self, books: &Books, now: Timestamp) {
        while let Some((at, class)) =
            self.attempts.due.first().copied().filter(|(at, _)| *at <= now)
        {
            self.attempts.due.remove(&(at, class));
            let row = &mut self.classes.rows[class];
            row.due = None;
            if matches!(row.key.mode, PlacementMode::ReservedNode(_)) {
                self.attempts.ready.push(class);
            } else if row.wait.is_some() {
                self.judge_again(books, class, false);
            }
        }
    }

    /// Begins the last pass in a partition, which also checks asks with a reserved node for which preemption is
    /// possible.
    pub(super) fn begin_last_pass(
        &mut self,
        books: &Books,
        partition: PartitionId,
        now: Timestamp,
    ) {
        self.wake_due(books, now);
        for class in core::mem::take(&mut self.attempts.ready) {
            let Some(row) = self.classes.rows.get(class) else { continue };
            if books.queue(row.key.leaf).partition != partition {
                self.attempts.ready.push(class);
            } else if row.wait.is_some() && row.due.is_none() {
                // A class with a newer due time is checked at that time.
                self.judge_again(books, class, false);
                self.move_to_pass(class, Some(Pass::Normal));
                self.attempts.again.push(class);
            }
        }
    }

    /// Moves a class to this pass, or to the pass of its mode.
    fn move_to_pass(&mut self, class: ClassId, pass: Option<Pass>) {
        let Some(row) = self.classes.rows.get_mut(class) else { return };
        let pass = pass.unwrap_or_else(|| row.key.pass());
        if row.wait.is_some() || row.pass == pass {
            row.pass = pass;
            return;
        }
        self.unlist(class);
        self.classes.rows[class].pass = pass;
        self.list(class);
    }

    /// Adds the known attempts of an ask that joined a class.
    pub(super) fn joins_attempts(&mut self, books: &Books, ask: AllocationId, batch: AskBatchId) {
        let row = books.allocation(ask);
        if !preempt::may_ask(row) {
            return;
        }
        let class = self.classes.batches[batch].class;
        if row.preemption_tried().is_some() {
            self.classes.rows[class].tried.insert(ask);
        }
        self.arm(books, class);
    }

    /// Records a failed attempt for an ask.
    pub(super) fn note_try(&mut self, books: &Books, ask: AllocationId) {
        if let Some(class) = self.class_of(books, ask) {
            self.classes.rows[class].tried.insert(ask);
            self.arm(books, class);
        }
    }

    /// Removes the attempts for asks of an application from a class.
    pub(super) fn take_tried(
        &mut self,
        books: &Books,
        class: ClassId,
        application: ApplicationId,
    ) -> BTreeSet<AllocationId> {
        let tried = core::mem::take(&mut self.classes.rows[class].tried);
        let mine = |one: &AllocationId| books.allocation(*one).application == application;
        let (mine, others) = tried.into_iter().partition(mine);
        self.classes.rows[class].tried = others;
        mine
    }

    /// Sets the time of the next attempt for a class that waits for capacity.
    pub(super) fn arm(&mut self, books: &Books, class: ClassId) {
        let row = &mut self.classes.rows[class];
        self.attempts.forget(row, class);
        if !row.wait.is_some_and(|wait| is_for_room(wait.blocker)) {
            return;
        }
        if !self.may_call(class) {
            return; // When it is the head it may.
        }
        let row = &self.classes.rows[class];
        let Some(ripe) = self.ripe_at(books, row) else { return };
        let due = match self.last_try(books, row) {
            Some(tried)
                if ripe <= tried.at
                    && tried.changes == books.changes()
                    && !self
                        .attempts
                        .sparing
                        .contains_key(&books.queue(row.key.leaf).partition) =>
            {
                if self.attempts.dormant.is_empty() {
                    self.attempts.dormant_at = books.changes();
                }
                if self.attempts.dormant_at == books.changes() {
                    self.attempts.dormant.insert(class);
                    // Without an event, an attempt finds the same result until a reserved node is yielded.
                    let partition = books.queue(row.key.leaf).partition;
                    let Some(yields) = self.attempts.yields_after(partition, tried.at) else {
                        return;
                    };
                    yields.max(tried.at + PreemptionTry::PAUSE)
                } else {
                    tried.at + PreemptionTry::PAUSE
                }
            }
            Some(tried) => ripe.max(tried.at + PreemptionTry::PAUSE),
            None => ripe,
        };
        let due = due.max(looked_at_from(books, row.key.mode));
        self.classes.rows[class].due = Some(due);
        self.attempts.due.insert((due, class));
    }

    /// Returns whether the position of a class allows preemption. In a leaf with a line, only the head and classes
    /// before it can preempt.
    fn may_call(&self, class: ClassId) -> bool {
        !self.classes.rows[class].key.in_head_of_line_queue || self.leads(class)
    }

    /// Returns the time at which the first ask of a class is old enough. `None` if the class never preempts.
    fn ripe_at(&self, books: &Books, row: &Class) -> Option<Timestamp> {
        match row.key.mode {
            PlacementMode::MayPreempt(_) if row.key.in_head_of_line_queue => {
                let (_, batch) = row.batches.first_key()?;
                let (_, first) = self.classes.batches[*batch].asks.first()?;
                Some(preempt::ripe_at(books, row.key.leaf, books.allocation(*first)))
            }
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::AllOrNothing(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => ripe_at(books, row),
        }
    }

    /// Returns the last failed attempt for an ask of a class, whether the ask is still in the class or not.
    fn last_try(&self, books: &Books, row: &Class) -> Option<PreemptionTry> {
        let of_asks = row.tried.iter().filter_map(|ask| books.allocation(*ask).preemption_tried());
        let first = || {
            let (_, batch) = row.batches.first_key()?;
            self.classes.batches[*batch].asks.first().map(|(_, ask)| *ask)
        };
        let of_equals = match row.key.mode {
            PlacementMode::MayPreempt(_) => first().and_then(|ask| books.try_of_equals(ask)),
            PlacementMode::AnyNode
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::AllOrNothing(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => None,
        };
        of_asks.max().max(of_equals)
    }

    /// Returns the ask of a class that just failed a check for which preemption is possible now.
    pub(super) fn caller(
        &self,
        books: &Books,
        class: ClassId,
        wait: Wait,
        now: Timestamp,
    ) -> Option<AllocationId> {
        let row = &self.classes.rows[class];
        if !is_for_room(wait.blocker) || self.attempts.called.contains(&class) {
            return None;
        }
        let ripe = self.ripe_at(books, row).filter(|ripe| *ripe <= now)?;
        if let Some(tried) = self.last_try(books, row) {
            let partition = books.queue(row.key.leaf).partition;
            let yields = self.attempts.yields_after(partition, tried.at);
            let is_known = !self.attempts.sparing.contains_key(&partition)
                && ripe <= tried.at
                && tried.changes == books.changes()
                && yields.is_none_or(|at| at > now);
            if now < tried.at + PreemptionTry::PAUSE || is_known {
                return None;
            }
        }
        if self.attempts.tries.get(&row.key.leaf).is_some_and(|tries| *tries >= TRIES_PER_CYCLE) {
            return None;
        }
        let asks = row.batches.keys().flat_map(|(_, one)| self.classes.batches[*one].asks.values());
        if !self.may_call(class) {
            return None;
        }
        let most = if row.key.in_head_of_line_queue { 1 } else { usize::MAX };
        let is_ripe = |id: &&AllocationId| {
            preempt::ripe_at(books, row.key.leaf, books.allocation(**id)) <= now
        };
        asks.into_iter().take(most).find(is_ripe).copied()
    }

    /// Attempts preemption for a class that just failed a check.
    ///
    /// An ask with a reserved node is checked again in the last pass, as other asks are. An ask that can still get a
    /// reservation tries that first (decision K-16).
    pub(super) fn stop_others(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        wait: Wait,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let row = &self.classes.rows[class];
        match row.key.mode {
            PlacementMode::ReservedNode(ask) if row.pass == Pass::Reserved => {
                required(books, ask, wait, events)
            }
            PlacementMode::MayPreempt(_)
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::ReservedNode(_) => {
                let Some(ask) = self.caller(books, class, wait, now) else { return Search::GoesOn };
                let row = &self.classes.rows[class];
                let keeps = !matches!(row.key.mode, PlacementMode::ReservedNode(_))
                    && found_no_node(wait.blocker)
                    && is_old(books, ask, now)
                    && to_keep(books, &self.nodes[&partition], ask).is_some();
                if keeps {
                    return Search::GoesOn;
                }
                self.attempts.called.insert(class);
                self.call(books, ask, wait, now, events)
            }
            PlacementMode::AnyNode
            | PlacementMode::AllOrNothing(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => Search::GoesOn,
        }
    }

    /// Attempts preemption for an ask.
    pub(super) fn call(
        &mut self,
        books: &Books,
        ask: AllocationId,
        wait: Wait,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let row = books.allocation(ask);
        let application = books.application(row.application);
        let (leaf, partition) = (application.queue, application.partition);
        let asks = books.asks_about_victims(partition);
        if asks && books.has_asked_enough(partition) {
            return Search::Over; // What it would say is needed first.
        }
        *self.attempts.tries.entry(leaf).or_default() += 1;
        let nodes_tried = found_no_node(wait.blocker);
        let user = books.users_of(leaf).and(application.link).map(|link| link.user);
        let kind = (leaf, user, row.shape, row.priority, nodes_tried);
        let attempt = if self.attempts.failed.contains(&kind) {
            Attempt { given_up: Vec::new(), outcome: Err(Obstacle::NothingHelps) }
        } else {
            preempt::plan(books, ask, now, nodes_tried)
        };
        let given_up =
            attempt.given_up.iter().map(|ask| Event::Ask(AskEvent::Unreserved { ask: *ask }));
        events.extend(given_up);
        let only_observed = books.partition(partition).settings.preemption.observe_only;
        match attempt.outcome {
            Ok(Outcome::Stop(plan)) if only_observed => {
                let cause = cause_of(&plan, ask);
                let observed = |victim| {
                    Event::Allocation(AllocationEvent::PreemptionObserved { victim, cause })
                };
                events.extend(plan.victims.into_iter().map(observed));
            }
            Ok(Outcome::Stop(plan)) => {
                carry_out(books, ask, &plan, events);
                return Search::Over;
            }
            Ok(Outcome::Ask(removals)) => {
                put_question(books, ask, QuestionSubject::Removals(removals), events);
                return Search::Over;
            }
            Err(_) => {}
        }
        events.push(Event::Ask(AskEvent::PreemptionTried { ask }));
        if !asks {
            self.attempts.failed.insert(kind);
        }
        if attempt.given_up.is_empty() { Search::GoesOn } else { Search::Over }
    }
}

const fn cause_of(plan: &VictimPlan, ask: AllocationId) -> PreemptionCause {
    match plan.basis {
        VictimBasis::Guarantee => PreemptionCause::Guarantee(ask),
        VictimBasis::Share => PreemptionCause::Share(ask),
        VictimBasis::Priority => PreemptionCause::Priority(ask),
    }
}

/// Adds the events of a plan: the preemption of its victims, and the reservation of its node for the ask.
fn carry_out(books: &Books, ask: AllocationId, plan: &VictimPlan, events: &mut Vec<Event>) {
    let cause = cause_of(plan, ask);
    events.extend(
        plan.victims
            .iter()
            .map(|victim| Event::Allocation(AllocationEvent::Preempted { victim: *victim, cause })),
    );
    events.push(Event::Ask(AskEvent::PreemptionTriggered { ask }));
    let reservation = books.allocation(ask).reservation();
    if reservation.is_some_and(|reservation| reservation.node == plan.node) {
        return;
    }
    if reservation.is_some() {
        events.push(Event::Ask(AskEvent::Unreserved { ask }));
    }
    events.push(Event::Ask(AskEvent::Reserved { ask, node: plan.node }));
}

/// Preempts on the required node of an ask that is reserved for it and does not have enough free capacity. Happens at
/// most once for each ask. Returns whether any allocation was preempted. Source: scheduling §11.6.
fn required(books: &Books, ask: AllocationId, wait: Wait, events: &mut Vec<Event>) -> Search {
    let Blocker::RequiredNode(node) = wait.blocker else { return Search::GoesOn };
    if books.allocation(ask).preemption_triggered {
        return Search::GoesOn;
    }
    let victims = preempt::required::victims(books, ask, node);
    if victims.is_empty() {
        return Search::GoesOn;
    }
    let cause = PreemptionCause::RequiredNode(ask);
    events.extend(
        victims
            .into_iter()
            .map(|victim| Event::Allocation(AllocationEvent::Preempted { victim, cause })),
    );
    events.push(Event::Ask(AskEvent::PreemptionTriggered { ask }));
    Search::Over
}

/// Returns whether an ask waits for free amounts in its queues or on a node.
pub(super) const fn is_for_room(blocker: Blocker) -> bool {
    let is_impossible = blocker.row().is_permanent;
    let is_of_queue =
        matches!(blocker.compared(), Compared::Queue(_)) || matches!(blocker, Blocker::Held(_));
    !is_impossible && is_of_queue || found_no_node(blocker)
}

/// Returns the time from which the last pass checks an ask with a reserved node. It is later if the application backed
/// off.
fn looked_at_from(books: &Books, mode: PlacementMode) -> Timestamp {
    let PlacementMode::ReservedNode(ask) = mode else { return Timestamp::ZERO };
    let application = books.allocation(ask).application;
    let backed_off =
        backoff_application(books, application).and_then(|id| books.application(id).backed_off);
    backed_off.unwrap_or(Timestamp::ZERO)
}

/// Returns the time at which the first ask of a class is old enough. `None` if the class never preempts.
fn ripe_at(books: &Books, row: &Class) -> Option<Timestamp> {
    match row.key.mode {
        PlacementMode::MayPreempt(_) => {
            let delay = books.queue(row.key.leaf).settings.values.preemption_delay;
            Some(row.oldest()? + delay)
        }
        PlacementMode::ReservedNode(ask) | PlacementMode::NeedsVerdict(ask) => {
            let ask = books.allocation(ask);
            let may = preempt::may_ask(ask) && preempt::can_preempt(books, ask);
            may.then(|| preempt::ripe_at(books, row.key.leaf, ask))
        }
        PlacementMode::AnyNode
        | PlacementMode::AllOrNothing(_)
        | PlacementMode::RequiredNode(_)
        | PlacementMode::RequiredNodeAbsent(_)
        | PlacementMode::ReplacePlaceholder(..)
        | PlacementMode::ReplacePlaceholderAlone(_) => None,
    }
}
