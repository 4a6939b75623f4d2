//! The scheduler: says what happens next, one step at a time.
//!
//! It holds no facts, only indexes that a fresh [`Scheduler::new`] would build from the books.
//! What cannot run is parked under the first check that it fails, and looked at again only
//! when an event may have lifted that. Equal asks are judged as one.

mod activation;
mod backoff;
mod bundles;
mod calls;
mod census;
mod chain;
mod class;
mod follow;
mod foresee;
mod hints;
mod index;
mod judge;
mod keep;
mod lane;
mod lending;
mod line;
mod marks;
mod members;
mod nodes;
mod order;
mod park;
mod precedence;
pub mod preempt;
mod questions;
mod rank;
mod ranking;
mod reserve;
mod seen;
mod sizes;
mod standing;
mod swap;
mod sweep;
mod told;
mod tree;
mod turns;
mod waits;
mod whole;

pub use census::{Example, Reason, WaitingSum};
pub(crate) use chain::Chain;
pub use class::ClassId;
pub(crate) use judge::exceeds;
pub use keep::RESERVATION_DELAY;
pub use marks::{MARKS, Mark};
pub(crate) use order::ApplicationKey;
pub(crate) use precedence::Before;
pub(crate) use preempt::victim::can_go;
pub use reserve::RESERVATION_WAIT;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::books::{ApplicationState, Books};
use crate::event::Event;
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::rules::activation::held_back as held_from_start;
use crate::rules::{Placement, linked, placed};
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait};

use activation::Activation;
use bundles::Waiting;
use calls::Calls;
use census::Census;
use class::{Classes, Standing};
use hints::Hints;
use judge::{Verdict, held_back, judge};
use keep::{Due, Keeping};
use lane::{Lane, Pass, is_required};
use lending::Lending;
use line::Gate;
use nodes::NodeIndex;
use park::Parked;
use questions::{Refused, found_no_node, put_question};
use swap::{GroupId, Places, take_place};
use tree::Tree;

/// What came of looking for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something moves: the events are to be applied with [`Scheduler::apply`].
    Moved,
    /// Nothing can move before an event comes, or this point in time if there is one.
    Idle {
        /// When time alone may change something.
        wake_at: Option<Timestamp>,
    },
}

/// Something that a watcher of waiting wants to know: see [`Scheduler::watching`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// An application's asks of one size belong to this class from now on. Those for which a
    /// node is kept go on to be told of as what they were.
    Joined {
        /// Whose asks.
        application: ApplicationId,
        /// To which class.
        class: ClassId,
    },
    /// A class waits from now on, for this reason, whatever it waited for before.
    Parked {
        /// Which.
        class: ClassId,
        /// Why.
        wait: Wait,
    },
    /// The rules have changed: all classes so far are void, and all asks join new ones.
    Renewed,
}

/// The indexes from which the next step is found.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    nodes: BTreeMap<PartitionId, NodeIndex>,
    roots: BTreeMap<PartitionId, QueueId>,
    tree: Tree,
    applications: Vec<Waiting>,
    classes: Classes,
    parked: Parked,
    /// Classes for whose old asks nodes are to be kept.
    keeping: Keeping,
    /// Classes to whose asks idle nodes of a label may be lent.
    lending: Lending,
    /// What time alone changes, the earliest first.
    dues: BTreeSet<(Timestamp, Due)>,
    /// Asks whose reservation ends as soon as they lack headroom.
    overdue: BTreeSet<AllocationId>,
    /// Whether one of these may lack headroom by now.
    charged: bool,
    /// The asks that may run on one node only, by its name, whether it is there or not.
    required: BTreeMap<(PartitionId, Name), BTreeSet<AllocationId>>,
    /// The members of gangs that wait for the place of a placeholder each by itself: they may run
    /// on one node only, or the RM is asked about each.
    pinned_members: BTreeSet<(GroupId, AllocationId)>,
    /// Those that the RM refused all nodes with room for.
    refused: Refused,
    /// Of these the members of gangs, by the nodes of placeholders that the RM refused them.
    refused_places: BTreeSet<(NodeId, AllocationId)>,
    /// The placeholders that members of gangs may take the places of.
    places: Places,
    /// Asks that are in no index while an event changes what tells them apart.
    taken_out: Vec<AllocationId>,
    /// The classes for which others may be stopped.
    calls: Calls,
    /// Applications that wait to be activated.
    activation: Activation,
    /// How far looking for what was missed is.
    sweeps: sweep::Sweeps,
    /// Tasks that may have to wait and were not told why.
    untold: BTreeSet<ApplicationId>,
    notes: Option<Vec<Note>>,
    /// How many wait for what, while somebody watches.
    census: Option<Census>,
    /// Of which asks nobody was told that more nodes would help them.
    hints: Hints,
    /// How many classes were judged so far.
    judged: u64,
    /// When the last step was looked for.
    now: Timestamp,
    /// Whether the rules have changed since the indexes were made.
    stale: bool,
    marking: marks::Marking,
    /// How many types of labels the books had met then.
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
        let (notes, census) = (Some(Vec::new()), Some(Census::default()));
        let mut scheduler = Self { notes, census, ..Self::default() };
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
        self.begin_calls(books, now);
        self.pass_time(books, now);
        self.refresh(books);
        let mut partition = self.nodes.first_key_value().map(|(id, _)| *id);
        while let Some(id) = partition {
            let known = events.len();
            if self.next_in(books, id, now, events) && !events[known..].iter().all(Event::is_try) {
                return Step::Moved;
            }
            partition = self.nodes.range(id..).nth(1).map(|(id, _)| *id);
        }
        if events.len() > before {
            return Step::Moved; // Nothing moves, but what was tried in vain is to be known.
        }
        if self.tell(books, events) {
            return Step::Moved;
        }
        let own = self.dues.first().map(|(at, _)| *at);
        Step::Idle { wake_at: own.into_iter().chain(self.calls.next_due(now)).min() }
    }

    /// Bring in what has changed by time alone.
    #[inline]
    fn pass_time(&mut self, books: &Books, now: Timestamp) {
        while let Some((_, due)) = self.dues.first().copied().filter(|(at, _)| *at <= now) {
            self.dues.pop_first();
            match due {
                Due::Ripe(bundle) => {
                    self.classes.bundles[bundle].ripens = None;
                    self.look_at_age(books, bundle, now);
                }
                Due::Overdue(ask) => {
                    self.overdue.insert(ask);
                    self.charged = true;
                }
                Due::Awake(application) => self.visit_again(books, application),
                Due::Aged(application) => self.age(books, application, now),
            }
        }
        self.look_at_ages(books, now);
        self.look_at_overdue(books);
    }

    /// Look for a step in a partition; whether to look no further in it: for a step, or as its RM has enough to answer.
    fn next_in(
        &mut self,
        books: &Books,
        partition: PartitionId,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> bool {
        let root = self.roots[&partition];
        if books.queue(root).max.is_none() || books.is_held(partition) {
            return false; // Without a node there is nothing to decide.
        }
        Pass::ALL.into_iter().any(|pass| {
            if pass == Pass::Normal {
                self.begin_last_pass(books, partition, now);
                self.refresh(books);
            }
            self.next_in_pass(books, (partition, root), (pass, now), events)
        }) || self.lend_in(books, (partition, root), events)
    }

    fn next_in_pass(
        &mut self,
        books: &Books,
        (partition, root): (PartitionId, QueueId),
        (pass, now): (Pass, Timestamp),
        events: &mut Vec<Event>,
    ) -> bool {
        loop {
            let keeps = pass == Pass::Normal && self.nodes[&partition].has_open();
            let Some((leaf, list)) = self.tree.first(books, root, pass, keeps) else {
                return false;
            };
            let (_, class) = self.tree.ready(leaf, list).first().expect("the leaf has some ready");
            let class = *class;
            let others = self.tree.ready(leaf, Pass::Keep).is_empty();
            let key = self.classes.rows[class].key;
            // An ask with a node comes here for others to be stopped for it, and by itself.
            let visits = pass == Pass::Normal && key.lane.pass() == Pass::Normal;
            let alone = key.alone.filter(|_| visits);
            let moved = match (alone, list) {
                (Some(application), _) => {
                    self.visit(books, (partition, class), application, now, events)
                }
                (None, Pass::Keep) => self.keep_node(books, (partition, class), now, events),
                (None, _) => self.place_first(books, (partition, class), now, events),
            };
            if moved {
                return true;
            }
            // Whether the leaf has something ready is known above it, too.
            self.take_turns(books);
            self.follow_lines(books);
            let empty = self.tree.ready(leaf, list).is_empty();
            if empty || others != self.tree.ready(leaf, Pass::Keep).is_empty() {
                self.tree.touch(leaf);
                self.tree.refresh(books);
            }
        }
    }

    /// Judge a class that is ready, and do what comes of it; whether to look no further, for a step
    /// or because the RM has enough to answer.
    #[inline]
    fn place_first(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> bool {
        let key = self.classes.rows[class].key;
        if key.waits() {
            let blocker = Blocker::DriverQueue(key.leaf);
            let wait = held_from_start(books, self.first_ask(class).0);
            self.park(books, (class, wait.unwrap_or(Wait { blocker, shortfall: None })), now);
            return false;
        }
        let gate = self.pass_gate(books, class, now);
        if matches!(gate, Gate::Closed(_)) {
            return false;
        }
        let row = &self.classes.rows[class];
        let again = row.pass != key.pass(); // In the last pass its own node has been tried.
        let elsewhere = again || row.head.as_ref().is_some_and(|head| head.elsewhere);
        let nodes = self.nodes.get_mut(&partition).expect("every partition has its nodes");
        match judge(books, nodes, (key, elsewhere), now) {
            Verdict::Wait(wait) => {
                if self.stop_others(books, (partition, class), wait, now, events) {
                    return true;
                }
                if elsewhere && !found_no_node(wait.blocker) {
                    self.judge_anew(books, class, false); // Its own node first, then.
                }
                self.park(books, (class, wait), now);
                if let (Some(application), Lane::Kept(_), false) = (key.alone, key.lane, again) {
                    self.visit_again(books, application);
                }
                return false;
            }
            Verdict::Elsewhere => {
                self.judge_anew(books, class, true);
                return false;
            }
            Verdict::Link => {
                let (application, _) = self.first_ask(class);
                events.extend(linked(books, application));
            }
            Verdict::Keep(node) => {
                reserve::make_way(books, node, events);
                events.push(Event::Reserved { ask: self.first_ask(class).1, node });
            }
            Verdict::GiveUp(ask) => events.push(Event::Unreserved { ask }),
            Verdict::Swap => {
                let (_, ask) = self.first_ask(class);
                let found = (&self.places, &self.nodes[&partition]);
                if let Some(wait) = take_place(books, found, ask, events) {
                    self.park(books, (class, wait), now);
                    return false;
                }
            }
            Verdict::Whole => return self.place_whole(books, (class, &gate), now, events),
            Verdict::Ask(ask, subject) => put_question(books, ask, subject, events),
            Verdict::Place(node) => {
                let (application, ask) = self.first_ask(class);
                if matches!(key.lane, Lane::Pinned(_)) || is_required(books, key.lane) {
                    reserve::make_way(books, node, events);
                }
                place(books, application, (ask, node), events);
                events.extend(gate.overtaken());
            }
        }
        true
    }

    /// What the line of its leaf makes of a class; one that stays behind the head waits for it.
    #[inline]
    fn pass_gate(&mut self, books: &Books, class: ClassId, now: Timestamp) -> Gate {
        self.judged += 1;
        let key = self.classes.rows[class].key;
        let gate = if key.lined { self.gate(books, class, now) } else { Gate::Open };
        if let Gate::Closed(short) = gate {
            let blocker = Blocker::BehindHead(key.leaf, None);
            self.park(books, (class, Wait { blocker, shortfall: Some(short) }), now);
        }
        gate
    }

    /// Keep a node for the first old ask of a class that found none with room; whether one is.
    fn keep_node(
        &mut self,
        books: &Books,
        (partition, class): (PartitionId, ClassId),
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> bool {
        let key = self.classes.rows[class].key;
        if let Some(wait) = held_back(books, key) {
            self.park(books, (class, wait), now);
            return false;
        }
        let ask = self.first_old(class);
        self.keep(books, (partition, key), ask, events)
    }

    /// Apply an event to the books and bring the indexes along: the one way to change books that a scheduler looks at.
    pub fn apply(&mut self, books: &mut Books, now: Timestamp, event: &Event) {
        let seen = self.before(books, event);
        self.marking.foresee(books, now, event);
        books.apply(now, event);
        self.marking.follow(books, now, event);
        self.after(books, event, &seen);
    }

    /// Park a class that its leaf has as ready under what holds it back.
    fn park(&mut self, books: &Books, (class, wait): (ClassId, Wait), now: Timestamp) {
        let row = &mut self.classes.rows[class];
        let (key, pass, before) = (row.key, row.pass, row.group());
        row.wait = Some(wait);
        row.note_since(wait.blocker, (now, self.marking.record), || wait.blocker.wait_code(books));
        row.pass = row.key.pass();
        let after = row.group().expect("it waits now");
        if before == Some(after) {
            self.parked.close(&mut self.tree, after);
        } else {
            let place = (row.head.clone().expect("a class has a bundle"), class);
            match before {
                Some(before) => self.parked.remove(&mut self.tree, before, &place, row.seat),
                None => {
                    self.tree.ready_mut(key.leaf, pass).remove(&place);
                }
            }
            row.seat = self.parked.insert(&mut self.tree, after, place);
            if !matches!(key.lane, Lane::Kept(_)) {
                self.note(Note::Parked { class, wait });
            }
        }
        self.recount(books, class);
        self.arm(books, class);
        self.note_behind(books, wait);
        self.note_refused(books, wait);
        if found_no_node(wait.blocker) {
            self.follow_ages(books, class, now);
        }
        self.stand(books, class);
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
    let runs_not_yet = matches!(events.last(), Some(Event::Placed { .. }));
    if placeholder && runs_not_yet && is_starting(books, application) {
        events.push(Event::ApplicationAllocating { application });
    }
}
