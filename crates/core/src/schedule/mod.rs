//! The scheduler: says what happens next, one step at a time.
//!
//! It holds no facts, only indexes that a fresh [`Scheduler::new`] would build from the books.
//! What cannot run is parked under the first check that it fails, and looked at again only
//! when an event may have lifted that. Equal asks are judged as one.

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
mod whole_gangs;

pub(crate) use chain::Chain;
pub use class::ClassId;
pub(crate) use order::ApplicationKey;
pub use pending_counts::{Example, Reason, WaitingSum};
pub(crate) use precedence::Before;
pub use queue_position::QueuePosition;
pub use reservation_candidates::RESERVATION_DELAY;
pub use reserve::RESERVATION_WAIT;
pub use wait_history::{WAIT_HISTORY_MAX, WaitChange};

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
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
use tree::Tree;
use whole_gangs::GatheringGangs;

/// The result of [`Scheduler::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is a step. Apply its events with [`Scheduler::apply`].
    Moved,
    /// Nothing can start before the next event, or before `wake_at`.
    Idle {
        /// The next time at which a timer may change something.
        wake_at: Option<Timestamp>,
    },
}

/// Whether the search for a step in a partition is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Search {
    /// There is a step, or the RM has enough questions to answer first.
    Over,
    /// There is no step here. The search goes on with the next class.
    GoesOn,
}

impl Search {
    fn is_over(self) -> bool {
        self == Self::Over
    }
}

/// A change of what waits, for callers of [`Scheduler::watching`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The asks of one size of an application join this class. Asks with a reservation are
    /// still reported with their former class.
    Joined {
        /// The application of the asks.
        application: ApplicationId,
        /// The class that they join.
        class: ClassId,
    },
    /// A class waits for this reason, which replaces any former one.
    Parked {
        /// The class that waits.
        class: ClassId,
        /// Its reason.
        wait: Wait,
        /// The code of its reason.
        code: WaitCode,
        /// The first check that it fails of those that a release may lift: another where it is impossible.
        check: Wait,
    },
    /// The rules have changed: former classes are void, and all asks join new ones.
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
    /// Timers of the scheduler, the earliest first.
    timers: BTreeSet<(Timestamp, SchedulerTimer)>,
    /// Asks whose reservation ends when they lack headroom.
    overdue: BTreeSet<AllocationId>,
    /// Whether one of `overdue` may lack headroom.
    charged: bool,
    /// Asks that require one node, by its name. The node may be missing.
    required: BTreeMap<(PartitionId, Name), BTreeSet<AllocationId>>,
    /// Gang members that wait to replace a placeholder and are checked one by one: they require a
    /// node, or the RM decides about each.
    pinned_members: BTreeSet<(GroupId, AllocationId)>,
    /// Asks for which the RM refused all nodes with enough free capacity.
    refused: Refused,
    /// Gang members among `refused`, by the nodes of placeholders that the RM refused.
    refused_places: BTreeSet<(NodeId, AllocationId)>,
    /// Placeholders that members of gangs can replace.
    places: ReplaceablePlaceholders,
    /// Asks that are in no index while an event changes their class key.
    taken_out: Vec<AllocationId>,
    /// When preemption is tried for which class.
    attempts: PreemptionAttempts,
    /// Applications that wait for their activation.
    activation: Activation,
    /// The position of the search for missed wake-ups.
    sweeps: missed_wakeups::MissedWakeups,
    /// Tasks whose wait is not reported yet.
    unreported: BTreeSet<ApplicationId>,
    notes: Option<Vec<Note>>,
    /// Waiting asks by reason, of a scheduler that watches.
    pending_counts: Option<PendingCounts>,
    /// Asks that more nodes would help and that are not reported yet.
    hints: Hints,
    known_nodes: KnownNodes,
    /// For whom queues hold room, and who may be next.
    holds: Holds,
    /// The gangs that take room as it comes.
    gathering: GatheringGangs,
    /// The number of checks of classes so far.
    judged: u64,
    /// The time of the last call of `next`.
    now: Timestamp,
    /// Whether the rules have changed since the indexes were built.
    stale: bool,
    marking: wait_history::WaitHistoryState,
    /// The number of types of labels when the indexes were built.
    labelled: usize,
}

impl Scheduler {
    /// The indexes of these books.
    pub fn new(books: &Books) -> Self {
        let mut scheduler = Self::default();
        scheduler.build(books);
        scheduler
    }

    /// The indexes of these books, and from now on a note of everything that changes about
    /// waiting; take them with [`Scheduler::take_notes`], or they pile up.
    pub fn watching(books: &Books) -> Self {
        let (notes, pending_counts) = (Some(Vec::new()), Some(PendingCounts::default()));
        let mut scheduler = Self { notes, pending_counts, ..Self::default() };
        scheduler.build(books);
        scheduler
    }

    /// The notes since the last call, in order.
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.notes.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Find the next step and write its events behind `events`; apply them before the next call.
    ///
    /// Costs the depth of the tree, logarithms, and a glance at full blocks of nodes. Classes
    /// that cannot run are parked on the way; each was woken or came in since it last was.
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

    /// Bring in what has changed by time alone.
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
                SchedulerTimer::BackoffEnded(application) => self.visit_again(books, application),
                SchedulerTimer::PriorityAged(application) => self.age(books, application, now),
            }
        }
        self.look_at_ages(books, now);
        self.look_at_overdue(books);
    }

    /// Look for a step in a partition.
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
        loop {
            let keeps = pass == Pass::Normal && self.nodes[&partition].has_open();
            let Some((leaf, list)) = self.tree.first(books, root, pass, keeps) else {
                return Search::GoesOn;
            };
            let (_, class) = self.tree.ready(leaf, list).first().expect("the leaf has some ready");
            let class = *class;
            let others = self.tree.ready(leaf, Pass::ReserveNodes).is_empty();
            let key = self.classes.rows[class].key;
            // An ask with a node comes here for others to be stopped for it, and by itself.
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
            // Whether the leaf has something ready is known above it, too.
            self.pick_users(books);
            self.follow_lines(books);
            let empty = self.tree.ready(leaf, list).is_empty();
            if empty || others != self.tree.ready(leaf, Pass::ReserveNodes).is_empty() {
                self.tree.touch(leaf);
                self.tree.refresh(books);
            }
        }
    }

    /// Check a class that is ready, and do what follows from it.
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
        let activating = key.waits().then(|| self.first_ask(class).0);
        self.judged += u64::from(activating.is_none());
        let head_check = if key.in_head_of_line_queue {
            self.head_check(books, class, now)
        } else {
            HeadCheck::Open
        };
        let gang_wait = self.wait_for_gang(books, key);
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        let standing = (key, activating, &head_check);
        let verdict = check_class(books, nodes, standing, (gang_wait, elsewhere), now);
        let held = verdict.wait();
        // No placeholder of a gang is placed while there can never be room for all.
        let is_whole = key.gang.is_some() && !matches!(verdict, Verdict::Link);
        if (held.is_some() || is_whole)
            && let Some(never) = self.impossible(books, class)
        {
            let wait = held.unwrap_or(never);
            if let PlacementMode::ReservedNode(ask) = key.mode {
                events.push(Event::Ask(AskEvent::Unreserved { ask }));
                return Search::Over;
            }
            // Where applications back off, an impossible ask counts as one that found no node, as in the reference.
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

    /// Reserve a node for the first old ask of a class that found none with room.
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

    /// Apply an event to the books and bring the indexes along: the one way to change books that a scheduler looks at.
    pub fn apply(&mut self, books: &mut Books, now: Timestamp, event: &Event) {
        let seen = self.before(books, event);
        self.marking.foresee(books, now, event);
        books.apply(now, event);
        self.marking.follow(books, now, event);
        self.after(books, event, &seen);
    }

    /// Park a class that its leaf has as ready under what holds it back, or under what makes it impossible.
    fn park(&mut self, books: &Books, (class, wait): (ClassId, Wait), now: Timestamp) {
        let reason = self.waits_for(books, class, wait);
        self.park_for(books, class, (reason, wait), now);
    }

    /// Park a class for this reason; `check` is the check that it failed.
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
            if !matches!(key.mode, PlacementMode::ReservedNode(_)) {
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

    /// Whether the indexes are void until the next step.
    const fn is_stale(&self) -> bool {
        self.stale
    }

    fn note(&mut self, note: Note) {
        if let Some(notes) = &mut self.notes {
            notes.push(note);
        }
    }
}

/// Whether an application is Accepted and its queues do not count it yet.
fn is_starting(books: &Books, application: ApplicationId) -> bool {
    let row = books.application(application);
    row.state == ApplicationState::Accepted && !row.allocating
}

/// Place an ask. Only what the scheduler gives makes a starting application count in its queues;
/// what the RM placed by itself does not.
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
