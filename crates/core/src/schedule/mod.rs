//! The scheduler: returns one step at a time.
//!
//! It stores no facts, only indexes that [`Scheduler::new`] could build from the books. An ask that cannot run is
//! parked under the first check that it fails. It is checked again only when an event can have changed the result of
//! that check. Equal asks are checked once as a class.

mod activation;
mod all_or_nothing;
mod ask_batches;
mod backoff;
mod batch_list;
mod before_event;
mod behind_head;
mod chain;
mod check_class;
mod checks;
mod class;
mod class_list;
mod effective_limits;
mod fair_share;
mod few;
mod follow;
mod head_of_line;
mod hints;
mod holds;
mod index;
mod lending;
mod min_tree;
mod missed_wakeups;
mod nodes;
mod order;
mod own_classes;
mod park;
mod pending_counts;
mod placement_mode;
mod positions;
mod possibility;
mod precedence;
mod predict;
pub mod preempt;
mod preemption_attempts;
mod questions;
mod queue_position;
mod rank;
mod replacement;
mod reservation_candidates;
mod reserve;
mod throttling;
mod tree;
mod wait_history;
mod waits;
mod waking_nodes;
mod whole_gangs;

pub(crate) use chain::Chain;
pub use class::ClassId;
pub use hints::more_nodes_help;
pub(crate) use order::ApplicationKey;
pub use pending_counts::{Example, Reason, WaitingSum};
pub(crate) use precedence::Before;
pub use queue_position::QueuePosition;
pub use reservation_candidates::RESERVATION_DELAY;
pub use reserve::RESERVATION_WAIT;
pub use wait_history::{WAIT_HISTORY_MAX, WaitChange};

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{Allocation, ApplicationState, Books};
use crate::event::{ApplicationEvent, AskEvent, Event};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::rules::{Placement, linked, placed};
use crate::time::Timestamp;
use crate::wait::{Wait, WaitCode};

use activation::Activation;
use ask_batches::PendingApplication;
use check_class::{Verdict, check_class};
use checks::wait_for_charge;
use class::{ChargeState, Classes};
use head_of_line::HeadCheck;
use hints::Hints;
use holds::{HoldStep, Holds};
use lending::Lending;
use nodes::NodeIndex;
use park::Parked;
use pending_counts::PendingCounts;
use placement_mode::{Pass, PlacementMode, is_required};
use possibility::KnownNodes;
use preemption_attempts::PreemptionAttempts;
use questions::{Refused, found_no_node, put_question};
use replacement::{GroupId, ReplaceablePlaceholders, replace_placeholder};
use reservation_candidates::{ReservationCandidates, SchedulerTimer};
use tree::{Next, Tree};
use whole_gangs::GatheringGangs;

/// Result of [`Scheduler::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A step was found. Apply its events with [`Scheduler::apply`].
    Moved,
    /// Nothing can start before the next event, or before `wake_at`.
    Idle {
        /// Next time at which a timer can change something.
        wake_at: Option<Timestamp>,
    },
}

/// Whether the search for a step in a partition is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Search {
    /// A step was found, or the RM has too many open questions.
    Over,
    /// No step was found here. The search continues with the next class.
    GoesOn,
}

impl Search {
    fn is_over(self) -> bool {
        self == Self::Over
    }
}

/// A change of waiting asks, for callers of [`Scheduler::watching`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The asks of one size of an application joined this class. Asks with a reservation are still reported with their
    /// former class.
    Joined {
        /// Application of the asks.
        application: ApplicationId,
        /// Class that the asks joined.
        class: ClassId,
    },
    /// A class waits for this reason, which replaces its former reason.
    Parked {
        /// Class that waits.
        class: ClassId,
        /// Reason of the class.
        wait: Wait,
        /// The code of its reason.
        code: WaitCode,
        /// First failed check that a release can change. Differs from `wait` if the class is impossible.
        check: Wait,
    },
    /// The rules changed: former classes are invalid, and all asks join new classes.
    Renewed,
}

/// The indexes from which the next step is found.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    nodes: BTreeMap<PartitionId, NodeIndex>,
    roots: BTreeMap<PartitionId, QueueId>,
    tree: Tree,
    applications: Vec<PendingApplication>,
    classes: Classes,
    parked: Parked,
    /// Classes with asks that are old enough for a reservation.
    reservation_candidates: ReservationCandidates,
    /// Classes that can borrow idle nodes of a label.
    lending: Lending,
    /// Timers of the scheduler, earliest first.
    timers: BTreeSet<(Timestamp, SchedulerTimer)>,
    /// Asks with a reservation.
    reserved: BTreeSet<AllocationId>,
    /// Asks whose reservation ends when they lack headroom.
    overdue: BTreeSet<AllocationId>,
    /// Asks whose timer of a reservation in vain fired. They give their node up as soon as another ask waits.
    in_vain: BTreeSet<AllocationId>,
    /// Whether one of `overdue` can lack headroom.
    charged: bool,
    /// Asks that require one node, by its name. The node might not be registered.
    required: BTreeMap<(PartitionId, Name), BTreeSet<AllocationId>>,
    /// Gang members that wait to replace a placeholder and are checked one by one: they require a node, or the RM
    /// decides about each.
    pinned_members: BTreeSet<(GroupId, AllocationId)>,
    /// Asks for which the RM rejected all nodes with enough free capacity.
    refused: Refused,
    /// Gang members among `refused`, by the nodes of placeholders that the RM rejected.
    refused_places: BTreeSet<(NodeId, AllocationId)>,
    /// Placeholders that members of gangs can replace.
    places: ReplaceablePlaceholders,
    /// Asks that are in no index while an event changes their class key.
    taken_out: Vec<AllocationId>,
    /// Times of preemption attempts by class.
    attempts: PreemptionAttempts,
    /// Applications that wait for activation.
    activation: Activation,
    /// Progress of the search for missed wake-ups.
    sweeps: missed_wakeups::MissedWakeups,
    /// Tasks whose wait is not reported yet.
    unreported: BTreeSet<ApplicationId>,
    notes: Option<Vec<Note>>,
    /// Waiting asks by reason. `None` for a scheduler that does not watch.
    pending_counts: Option<PendingCounts>,
    /// Asks that more nodes would help and that are not reported yet.
    hints: Hints,
    known_nodes: KnownNodes,
    /// Holds of queue capacity and their candidates.
    holds: Holds,
    /// Gangs that reserve capacity until they are complete.
    gathering: GatheringGangs,
    /// Number of checks of classes so far.
    judged: u64,
    /// Time of the last call of `next`.
    now: Timestamp,
    /// Whether the rules changed since the indexes were built.
    stale: bool,
    marking: wait_history::WaitHistoryState,
    /// Number of labeled resource types when the indexes were built.
    labelled: usize,
}

impl Scheduler {
    /// Builds the indexes of these books.
    pub fn new(books: &Books) -> Self {
        let mut scheduler = Self::default();
        scheduler.build(books);
        scheduler
    }

    /// Builds the indexes of these books, and records a note for every change of waiting asks. Take the notes with
    /// [`Scheduler::take_notes`]; otherwise, they accumulate.
    pub fn watching(books: &Books) -> Self {
        let (notes, pending_counts) = (Some(Vec::new()), Some(PendingCounts::default()));
        let mut scheduler = Self { notes, pending_counts, ..Self::default() };
        scheduler.build(books);
        scheduler
    }

    /// Returns the notes since the last call, in order.
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Finds the next step and appends its events to `events`. Apply these events before the next call.
    ///
    /// Costs the depth of the queue tree, logarithms, and a check of each full block of nodes. Parks classes that
    /// cannot run. Each of them was added or woken since it was last parked.
    pub fn next(&mut self, books: &Books, now: Timestamp, events: &mut Vec<Event>) -> Step {
        self.now = now;
        if self.stale {
            self.rebuild(books);
        }
        if self.activate(books, events) {
            return Step::Moved;
        }
        let before = events.len();
        self.begin_attempts(books, now);
        self.pass_time(books, now);
        self.judge_heads(books);
        self.refresh(books);
        loop {
            let mut partition = self.nodes.first_key_value().map(|(id, _)| *id);
            while let Some(id) = partition {
                let known = events.len();
                let search = self.next_in(books, id, now, events);
                if search.is_over() && !events[known..].iter().all(Event::is_try) {
                    return Step::Moved;
                }
                partition = self.nodes.range(id..).nth(1).map(|(id, _)| *id);
            }
            if events.len() > before {
                return Step::Moved; // Nothing moves, but what was tried in vain is to be known.
            }
            let useless = self.reserved_in_vain(books, now);
            if let Some(ask) = useless.or_else(|| self.reserved_behind_hold(books)) {
                events.push(Event::Ask(AskEvent::Unreserved { ask }));
                return Step::Moved;
            }
            match self.step_holds(books, now, events) {
                HoldStep::Moved => return Step::Moved,
                HoldStep::Woken => self.refresh(books),
                HoldStep::Nothing => break,
            }
        }
        if self.report_throttled(books, events) {
            return Step::Moved;
        }
        let own = self.timers.first().map(|(at, _)| *at);
        let others = self.attempts.next_due(now).into_iter().chain(self.holds.next_due());
        Step::Idle { wake_at: own.into_iter().chain(others).min() }
    }

    /// Fires the timers that are due.
    #[inline]
    fn pass_time(&mut self, books: &Books, now: Timestamp) {
        while let Some((_, due)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            match due {
                SchedulerTimer::ReservationDue(batch) => {
                    self.classes.batches[batch].ripens = None;
                    self.look_at_age(books, batch, now);
                }
                SchedulerTimer::ReservationExpired(ask) => {
                    self.overdue.insert(ask);
                    self.charged = true;
                }
                SchedulerTimer::ReservationInVain(ask) => {
                    let waits = books.allocations().get(ask).is_some_and(Allocation::is_pending);
                    self.in_vain.extend(Some(ask).filter(|_| waits));
                }
                SchedulerTimer::BackoffEnded(application) => self.visit_again(books, application),
                SchedulerTimer::PriorityAged(application) => self.age(books, application, now),
            }
        }
        self.look_at_ages(books, now);
        self.look_at_overdue(books);
    }

    /// Searches a partition for a step.
    fn next_in(
        &mut self,
        books: &Books,
        partition: PartitionId,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let root = self.roots[&partition];
        if books.queue(root).max.is_none() || books.is_held(partition) {
            return Search::GoesOn; // Without a node there is nothing to decide.
        }
        for pass in Pass::ALL {
            if pass == Pass::Normal {
                self.begin_last_pass(books, partition, now);
                self.refresh(books);
            }
            if self.next_in_pass(books, (partition, root), (pass, now), events).is_over() {
                return Search::Over;
            }
        }
        self.lend_in(books, (partition, root), events)
    }

    fn next_in_pass(
        &mut self,
        books: &Books,
        (partition, root): (PartitionId, QueueId),
        (pass, now): (Pass, Timestamp),
        events: &mut Vec<Event>,
    ) -> Search {
        let allowed = pass == Pass::Normal && books.allows_reservation(partition);
        loop {
            let keeps = allowed && self.nodes[&partition].has_open();
            let searched = (partition, pass);
            let waking = &mut self.parked.waking_nodes;
            let wakes = waking.is_searching(&mut self.tree, books, searched);
            let (leaf, list) = match self.tree.first(books, root, pass, (keeps, wakes)) {
                Some(Next::Ready(leaf, list)) => (leaf, list),
                Some(Next::Waiting(leaf)) => {
                    self.parked.visit_leaf(&mut self.tree, books, (leaf, pass));
                    self.refresh(books);
                    continue;
                }
                None => {
                    self.parked.end_search(&mut self.tree, searched);
                    return Search::GoesOn;
                }
            };
            let (_, class) = self.tree.ready(leaf, list).first().expect("the leaf has some ready");
            let class = *class;
            let others = self.tree.ready(leaf, Pass::ReserveNodes).is_empty();
            let waited = self.tree.is_waiting(leaf, pass);
            let key = self.classes.rows[class].key;
            // An ask with a reserved node is in this pass only for preemption, and is checked by itself.
            let visits = pass == Pass::Normal && key.mode.pass() == Pass::Normal;
            let alone = key.backoff_application.filter(|_| visits);
            let search = match (alone, list) {
                (Some(application), _) => {
                    self.visit(books, (partition, class), application, now, events)
                }
                (None, Pass::ReserveNodes) => {
                    self.reserve_node(books, (partition, class), now, events)
                }
                (None, _) => self.place_first(books, (partition, class), now, events),
            };
            if search.is_over() {
                return Search::Over;
            }
            // The ancestors of the leaf also record whether the leaf has ready classes.
            self.pick_users(books);
            self.follow_lines(books);
            let empty = self.tree.ready(leaf, list).is_empty();
            if empty
                || others != self.tree.ready(leaf, Pass::ReserveNodes).is_empty()
                || waited != self.tree.is_waiting(leaf, pass)
            {
                self.tree.touch(leaf);
                self.tree.refresh(books);
            }
        }
    }

    /// Checks a ready class and performs the resulting action.
    #[inline]
    fn place_first(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let row = &self.classes.rows[class];
        let key = row.key;
        let own_node_tried = row.pass != key.pass();
        let elsewhere = own_node_tried || row.head.as_ref().is_some_and(|head| head.elsewhere);
        let (application, first) = self.first_ask(class);
        let activating = key.waits().then_some(application);
        self.judged += u64::from(activating.is_none());
        let head_check = if key.in_head_of_line_queue {
            self.head_check(books, class, now)
        } else {
            HeadCheck::Open
        };
        let gang_wait = self.wait_for_gang(books, key);
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        let standing = (key, activating, &head_check);
        let verdict = check_class(books, nodes, standing, first, (gang_wait, elsewhere), now);
        let held = verdict.wait();
        // No placeholder of a gang is placed while the whole gang is impossible.
        let is_whole = key.gang.is_some() && !matches!(verdict, Verdict::Link);
        if (held.is_some() || is_whole)
            && let Some(never) = self.impossible(books, class)
        {
            let wait = held.unwrap_or(never);
            if let PlacementMode::ReservedNode(ask) = key.mode {
                events.push(Event::Ask(AskEvent::Unreserved { ask }));
                return Search::Over;
            }
            // With back-off, an impossible ask counts as an ask that found no node, as in YuniKorn.
            let reason = if key.backoff_application.is_some() { wait } else { never };
            self.park_for(books, class, (reason, wait), now);
            return Search::GoesOn;
        }
        if let Verdict::Place(_) | Verdict::Ask(..) = verdict
            && let Some(search) = self.start_gang(books, (class, &head_check), now, events)
        {
            return search;
        }
        match verdict {
            Verdict::Early(wait) => {
                self.park_for(books, class, (wait, wait), now);
                return Search::GoesOn;
            }
            Verdict::Wait(wait) => {
                if self.stop_others(books, (partition, class), wait, now, events).is_over() {
                    return Search::Over;
                }
                if elsewhere && !found_no_node(wait.blocker) {
                    self.judge_again(books, class, false); // Its own node first, then.
                }
                self.park_for(books, class, (wait, wait), now);
                if let (Some(application), PlacementMode::ReservedNode(_), false) =
                    (key.backoff_application, key.mode, own_node_tried)
                {
                    self.visit_again(books, application);
                }
                return Search::GoesOn;
            }
            Verdict::Elsewhere => {
                self.judge_again(books, class, true);
                return Search::GoesOn;
            }
            Verdict::Link => {
                let (application, _) = self.first_ask(class);
                events.extend(linked(books, application));
            }
            Verdict::Reserve(node) => {
                reserve::make_way(books, node, events);
                events.push(Event::Ask(AskEvent::Reserved { ask: self.first_ask(class).1, node }));
            }
            Verdict::Unreserve(ask) => events.push(Event::Ask(AskEvent::Unreserved { ask })),
            Verdict::ReplacePlaceholder => {
                let (_, ask) = self.first_ask(class);
                let found = (&self.places, &self.nodes[&partition]);
                if let Some(wait) = replace_placeholder(books, found, ask, events) {
                    self.park(books, (class, wait), now);
                    return Search::GoesOn;
                }
            }
            Verdict::PlaceWhole => {
                return self.place_whole(books, (class, &head_check), now, events);
            }
            Verdict::Ask(ask, subject) => put_question(books, ask, subject, events),
            Verdict::Place(node) => {
                let (application, ask) = self.first_ask(class);
                if is_required(books, key.mode) {
                    reserve::make_way(books, node, events);
                }
                place(books, application, (ask, node), events);
                events.extend(head_check.overtaken(application));
            }
        }
        Search::Over
    }

    /// Reserves a node for the first ask of a class that is old enough and found no node.
    fn reserve_node(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Search {
        let key = self.classes.rows[class].key;
        let wait = self.wait_for_gang(books, key).or_else(|| wait_for_charge(books, key));
        if let Some(wait) = wait {
            self.park(books, (class, wait), now);
            return Search::GoesOn;
        }
        let ask = self.first_old(class);
        self.reserve_for(books, (partition, key), ask, events)
    }

    /// Applies an event to the books and updates the indexes. All changes of books that a scheduler uses must go
    /// through this method.
    pub fn apply(&mut self, books: &mut Books, now: Timestamp, event: &Event) {
        let seen = self.before(books, event);
        self.marking.foresee(books, now, event);
        books.apply(now, event);
        self.marking.follow(books, now, event);
        self.after(books, event, &seen);
    }

    /// Parks a ready class under the failed check, or under the reason that makes it impossible.
    fn park(&mut self, books: &Books, (class, wait): (ClassId, Wait), now: Timestamp) {
        let reason = self.waits_for(books, class, wait);
        self.park_for(books, class, (reason, wait), now);
    }

    /// Parks a class for this reason. `check` is the check that it failed.
    fn park_for(
        &mut self,
        books: &Books,
        class: ClassId,
        (wait, check): (Wait, Wait),
        now: Timestamp,
    ) {
        let before = self.classes.rows[class].group();
        if before.is_none() {
            self.unlist(class);
        }
        let row = &mut self.classes.rows[class];
        let key = row.key;
        row.wait = Some(wait);
        row.note_since(wait.blocker, (now, self.marking.record), || {
            wait.blocker.code(books, key.leaf)
        });
        row.pass = row.key.pass();
        let after = row.group().expect("it waits now");
        if before == Some(after) {
            self.parked.close(&mut self.tree, after);
        } else {
            let place = (row.head.clone().expect("a class has a batch"), class);
            if let Some(before) = before {
                self.parked.remove(&mut self.tree, before, &place, row.seat);
            }
            row.seat = self.parked.insert(&mut self.tree, after, place);
            if self.notes.is_some() && !matches!(key.mode, PlacementMode::ReservedNode(_)) {
                let code = wait.blocker.code(books, key.leaf);
                self.note(Note::Parked { class, wait, code, check });
            }
        }
        self.holds.note(class);
        self.recount(books, class);
        self.arm(books, class);
        self.note_behind(books, class, wait);
        self.note_refused(books, wait);
        if found_no_node(wait.blocker) {
            self.follow_ages(books, class, now);
        }
        self.list_candidate(books, class);
    }

    /// Returns whether the indexes are invalid until the next step.
    const fn is_stale(&self) -> bool {
        self.stale
    }

    fn note(&mut self, note: Note) {
        if let Some(notes) = &mut self.notes {
            notes.push(note);
        }
    }
}

/// Returns whether an application is Accepted and its queues do not count it yet.
fn is_starting(books: &Books, application: ApplicationId) -> bool {
    let row = books.application(application);
    row.state == ApplicationState::Accepted && !row.allocating
}

/// Adds the events that place an ask. Its queues count a starting application only if the scheduler placed the ask.
/// Allocations that the RM placed by itself do not count.
fn place(
    books: &Books,
    application: ApplicationId,
    (ask, node): (AllocationId, NodeId),
    events: &mut Vec<Event>,
) {
    let (row, state) = (books.allocation(ask), books.application(application).state);
    let (placeholder, size) = (row.placeholder, Some(books.resources_of(ask)));
    placed(books, &Placement { ask, node, application, state, placeholder, size }, events);
    let runs_not_yet = matches!(events.last(), Some(Event::Ask(AskEvent::Placed { .. })));
    if placeholder && runs_not_yet && is_starting(books, application) {
        events.push(Event::Application(ApplicationEvent::Allocating { application }));
    }
}
