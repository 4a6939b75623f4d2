//! When others are stopped for asks of queues that have less than their guarantee. Scheduling
//! §11.2; what is stopped is found in [`super::preempt`].
//!
//! One try stands for all asks of a class: they are equal, so what is not found for one is not
//! found for the next. That it was in vain is a fact of the ask that it was made for and of all that are
//! equal to it, also once that has gone (decision K-26); the next comes 15 s later, and not before something has happened or a node is given up.

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
use super::reservation_candidates::{INSTANT, RESERVATION_DELAY};
use super::{Scheduler, Search};

/// The classes that wait for room and for which others may be stopped.
#[derive(Clone, Debug, Default)]
pub(super) struct PreemptionAttempts {
    /// Those that time alone may help, by when it does.
    due: BTreeSet<(Timestamp, ClassId)>,
    /// Those that were tried long ago, when the books were as they are.
    dormant: BTreeSet<ClassId>,
    /// [`Books::changes`] when they were.
    dormant_at: u64,
    /// Those with a node whose time has come: the last pass looks at them, once those before
    /// have found nothing for them. They stay here until a cycle comes that far.
    ready: Vec<ClassId>,
    /// Those of them that the last pass of this cycle looks at.
    again: Vec<ClassId>,
    /// How many tries each leaf had in this cycle.
    tries: BTreeMap<QueueId, u32>,
    /// What was in vain in this cycle, which changes nothing before its end: for asks of this
    /// leaf, user where users share it, size and priority, before or after nodes were tried. Not where the RM says what it
    /// thinks of each ask by itself.
    failed: BTreeSet<(QueueId, Option<LevelId>, ShapeId, i32, bool)>,
    /// Those that had their try in this cycle: once is enough.
    called: BTreeSet<ClassId>,
    /// How many queues of a partition spare for a while what runs there: time alone may help there.
    sparing: BTreeMap<PartitionId, usize>,
    /// When each ask that has a node gives it up to one of higher priority: a try in vain before may
    /// find something then.
    yields: BTreeSet<(PartitionId, Timestamp, AllocationId)>,
}

impl PreemptionAttempts {
    /// When the first class is due after `now`. What is due already is looked at once the RM has
    /// answered enough for a cycle to come so far.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.due.iter().map(|(at, _)| *at).find(|at| *at > now)
    }

    /// A node is reserved for this ask from now on, or no more.
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

    /// When the first node after this time is given up to asks of higher priority.
    fn yields_after(&self, partition: PartitionId, at: Timestamp) -> Option<Timestamp> {
        let from = (partition, at + INSTANT, AllocationId::FIRST);
        let next = self.yields.range(from..).next();
        next.filter(|(id, ..)| *id == partition).map(|(_, at, _)| *at)
    }

    /// Forget a class that goes.
    pub(super) fn forget(&mut self, row: &mut Class, class: ClassId) {
        if let Some(at) = row.due.take() {
            self.due.remove(&(at, class));
        }
        self.dormant.remove(&class);
    }
}

impl Scheduler {
    /// Note where what runs is spared for a while, from books that have not been looked at.
    pub(super) fn find_sparing(&mut self, books: &Books) {
        for (_, queue) in books.queues().iter() {
            self.note_sparing(queue);
        }
    }

    /// A queue is there.
    pub(super) fn note_sparing(&mut self, queue: &Queue) {
        if queue.settings.preemption.least_run() > Millis::ZERO {
            *self.attempts.sparing.entry(queue.partition).or_default() += 1;
        }
    }

    /// A queue goes.
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

    /// Begin a cycle: put back who was to be looked at in the last pass of the one before.
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

    /// Check again those whose time has come.
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

    /// Begin the last pass in a partition: asks that have a node are looked at here too, if
    /// others may be stopped for them.
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
                // With another time since then it comes again by that.
                self.judge_again(books, class, false);
                self.move_to_pass(class, Some(Pass::Normal));
                self.attempts.again.push(class);
            }
        }
    }

    /// Have a class that is to be judged judged in this pass, or in its own.
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

    /// An ask came to a class, with what is known of tries for it.
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

    /// Nothing could be stopped for an ask.
    pub(super) fn note_try(&mut self, books: &Books, ask: AllocationId) {
        if let Some(class) = self.class_of(books, ask) {
            self.classes.rows[class].tried.insert(ask);
            self.arm(books, class);
        }
    }

    /// Take the tries for the asks of an application out of a class.
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

    /// Set the time at which a class that waits for room is tried next.
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
                    // Without an event a try finds what it found, until a node is given up.
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

    /// Whether others may be stopped for a class by its place: in a line only for the head, and for what
    /// comes first of it.
    fn may_call(&self, class: ClassId) -> bool {
        !self.classes.rows[class].key.in_head_of_line_queue || self.leads(class)
    }

    /// When the first ask of a class is old enough; none if nothing is ever stopped for it.
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

    /// The last try in vain for an ask of a class, be that still in it or not.
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

    /// The ask of a class that was just held back for which something may be stopped now.
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

    /// Look for something to stop for a class that was just held back. An ask with a node is looked at
    /// again in the last pass, as others are. An ask that may still get a reservation tries that
    /// first (decision K-16).
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
                    && books.allocation(ask).created + RESERVATION_DELAY < now
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

    /// Look for something to stop for an ask.
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

/// Carry out a plan: its victims are asked to stop, and its node is reserved for the ask.
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

/// Stop others on the only node that an ask may run on, which is reserved for it and has no room.
/// Returns whether any are stopped. It happens once. Scheduling §11.6.
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

/// Whether an ask waits for free amounts in its queues, or on a node.
pub(super) const fn is_for_room(blocker: Blocker) -> bool {
    let is_impossible = blocker.row().is_permanent;
    let is_of_queue =
        matches!(blocker.compared(), Compared::Queue(_)) || matches!(blocker, Blocker::Held(_));
    !is_impossible && is_of_queue || found_no_node(blocker)
}

/// From when on the last pass looks at an ask that has a node: its application may have backed off.
fn looked_at_from(books: &Books, mode: PlacementMode) -> Timestamp {
    let PlacementMode::ReservedNode(ask) = mode else { return Timestamp::ZERO };
    let application = books.allocation(ask).application;
    let backed_off =
        backoff_application(books, application).and_then(|id| books.application(id).backed_off);
    backed_off.unwrap_or(Timestamp::ZERO)
}

/// When the first ask of a class is old enough; none if nothing is ever stopped for it.
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
