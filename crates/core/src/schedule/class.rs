//! Waiting asks, grouped so that what holds for one holds for all.
//!
//! A *bundle* is the equal asks of one application, in order. A *class* is the bundles of all
//! applications of one leaf that are charged to the same user and group and want the same
//! amounts: where one of them fits, all do, and what holds one back holds back all. So the
//! scheduler judges, parks and wakes classes, however many asks they hold.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};

use slotmap::{SlotMap, new_key_type};

use crate::books::{ApplicationState, Books, GroupLink, Link};
use crate::id::{AllocationId, ApplicationId, LevelId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::time::Timestamp;
use crate::wait::{Blocker, Wait, WaitCode};

use super::census::Counted;
use super::hints::{Heard, Untold};
use super::lane::{Lane, Pass};
use super::marks::{Mark, Marks};
use super::order::{ApplicationKey, AskKey};
use super::park::GroupKey;
use super::ranking::Seat;
use super::turns::Served;

new_key_type! {
    /// One class of a scheduler; means nothing to another scheduler.
    pub struct ClassId;
    pub(super) struct BundleId;
}

/// What the asks of a class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassKey {
    pub(super) leaf: QueueId,
    pub(super) standing: Standing,
    pub(super) shape: ShapeId,
    pub(super) lane: Lane,
    /// The application, where each is looked at by itself: its leaf has it back off.
    pub(super) alone: Option<ApplicationId>,
    /// Whether the users of its leaf take turns: it has user limits.
    pub(super) shared: bool,
    /// Whether it stands in a line, whose head others may not go before as they like.
    pub(super) lined: bool,
}

impl ClassKey {
    /// Whether it is judged in a line: it looks for a node, and may be looked at.
    pub(super) fn is_judged_in_line(&self) -> bool {
        self.lined
            && self.lane.pass() == Pass::Normal
            && self.standing != Standing::Unlinked
            && !self.waits()
    }

    /// Whether it counts in a line while it is parked: what has a node kept stands there, too.
    fn stands_in_line(&self) -> bool {
        self.lined && self.lane.pass() != Pass::Replace && !self.waits()
    }

    /// How many of its asks start together: the members of a task.
    pub(super) const fn members(&self) -> u32 {
        match self.lane {
            Lane::Whole(members) => members,
            _ => 1,
        }
    }

    /// What queues, users and groups need room for at once.
    pub(super) fn needs<'books>(&self, books: &'books Books) -> Cow<'books, Resources> {
        books.shapes().times(self.shape, self.members())
    }

    /// Whether nothing of it is looked at before its application is activated.
    pub(super) const fn waits(&self) -> bool {
        self.standing.waits()
    }

    /// In which pass it is judged first. Where users share a leaf, all who want something of it are
    /// known before anybody gets anything: they split it.
    pub(super) fn pass(&self) -> Pass {
        if self.shared && self.standing == Standing::Unlinked {
            Pass::Reserved
        } else {
            self.lane.pass()
        }
    }

    /// The user whose turn it may be, if those of its leaf take turns.
    pub(super) const fn sharer(&self) -> Option<LevelId> {
        match self.standing {
            Standing::Linked { link, .. } if self.shared => Some(link.user),
            _ => None,
        }
    }
}

/// Who is charged, and whether the application may still be held back as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Its group is to be chosen.
    Unlinked,
    /// Its trackers are known.
    Linked {
        link: Link,
        /// Whether the numbers of applications in its queues hold it back.
        counts_in_queues: bool,
        /// Whether the numbers of applications of its user and group hold it back.
        counts_in_limits: bool,
        /// Whether it has to be activated first.
        waits: bool,
        /// Whether idle nodes of a label may be lent to it: it runs, and no originator and no
        /// placeholder of it waits.
        borrows: bool,
    },
}

impl Standing {
    /// Whether it has to be activated first.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::Linked { waits: true, .. })
    }

    pub(super) fn of(books: &Books, application: ApplicationId) -> Self {
        let row = books.application(application);
        match row.link {
            Some(link) if !link.group.is_undecided() => {
                // Who counts already is not held back by numbers. Scheduling §3.4.
                let accepted = row.state == ApplicationState::Accepted;
                Self::Linked {
                    link,
                    counts_in_queues: accepted && !row.allocating,
                    counts_in_limits: accepted && !row.counted,
                    waits: books.waits_for_activation(application),
                    borrows: row.state == ApplicationState::Running
                        && row.homebound == 0
                        && books.has_lending(row.partition),
                }
            }
            _ => Self::Unlinked,
        }
    }
}

/// Where a bundle stands among those of its class: its application's place, then its first ask.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Head {
    /// Whether nobody is stopped for it. Where users share a leaf, a node that is kept after others
    /// were stopped comes first: what they gave is for nobody else.
    pub(super) uncalled: bool,
    /// How well its user is served, where he is above his share and waits for those below theirs.
    pub(super) beyond: Option<Served>,
    pub(super) application: ApplicationKey,
    /// Whether the node that is kept for it has no room, so that others are tried: an
    /// application tries all its kept nodes first. Scheduling §9.4.
    pub(super) elsewhere: bool,
    pub(super) ask: AskKey,
}

/// The equal asks of one application.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    pub(super) application: ApplicationId,
    pub(super) class: ClassId,
    /// The key under which its class has it.
    pub(super) head: Head,
    pub(super) asks: BTreeMap<AskKey, AllocationId>,
    /// Where its class has its first ask that is old enough to have a node kept.
    pub(super) old: Option<Head>,
    /// When another of its asks comes of that age and stands before that one.
    pub(super) ripens: Option<Timestamp>,
    /// Of which of its asks somebody was told that more nodes would help them.
    pub(super) heard: Heard,
}

/// Bundles that are judged together.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) key: ClassKey,
    /// In the order of the leaf.
    pub(super) bundles: BTreeSet<(Head, BundleId)>,
    /// How many asks its bundles have.
    pub(super) asks: usize,
    /// What of it is in the census.
    pub(super) counted: Counted,
    /// The bundles with asks that nobody was told of, in order, while somebody wants to know.
    pub(super) untold: BTreeSet<Untold>,
    /// How many of its asks were told.
    pub(super) told: usize,
    /// Where it stands among the classes of its leaf: the first of its bundles, as the leaf or
    /// its group has it.
    pub(super) head: Option<Head>,
    /// Where it sits in its group, if users take turns there.
    pub(super) seat: Seat,
    /// Why it waits; none if it was not judged yet.
    pub(super) wait: Option<Wait>,
    /// What it was parked for: for those who ask, and for no decision.
    pub(super) waited: Waited,
    /// In which pass it is judged next; its lane says which, but an ask with a node is looked at
    /// again in the last pass when others may be stopped for it.
    pub(super) pass: Pass,
    /// The age of each bundle, of a class for which others may be stopped.
    ages: BTreeSet<(Timestamp, BundleId)>,
    /// The asks for which nothing could be stopped, in the course of this.
    pub(super) tried: BTreeSet<AllocationId>,
    /// When something may be stopped for it, if that comes by time alone.
    pub(super) due: Option<Timestamp>,
    /// Whether the ages of its asks are followed: since it first found no node.
    pub(super) aging: bool,
    /// The bundles with an ask that is old enough to have a node kept, each where the first such
    /// stands.
    pub(super) old: BTreeSet<(Head, BundleId)>,
    /// Where it stands among those for which a node is to be kept, if it does.
    pub(super) keeps: Option<Head>,
    /// Where it sits among them, if users take turns there.
    pub(super) kept_seat: Seat,
}

impl Class {
    fn new(key: ClassKey) -> Self {
        Self {
            key,
            bundles: BTreeSet::new(),
            asks: 0,
            counted: Counted::default(),
            untold: BTreeSet::new(),
            told: 0,
            head: None,
            seat: Seat::default(),
            wait: None,
            waited: Waited::default(),
            pass: key.pass(),
            ages: BTreeSet::new(),
            tried: BTreeSet::new(),
            due: None,
            aging: false,
            old: BTreeSet::new(),
            keeps: None,
            kept_seat: Seat::default(),
        }
    }

    /// It is parked for this: since now, unless it was for the same before. Then `code` is not asked for.
    #[inline]
    pub(super) fn note_since(
        &mut self,
        blocker: Blocker,
        (at, sequence): (Timestamp, u64),
        code: impl FnOnce() -> WaitCode,
    ) {
        if self.waited.since.is_none_or(|(before, _)| before != blocker) {
            self.waited.since = Some((blocker, at));
            self.waited.marks.note(Mark { at, sequence, code: code() });
        }
    }

    /// Take a bundle in.
    pub(super) fn insert(&mut self, head: Head, bundle: BundleId) {
        if matches!(self.key.lane, Lane::Calling(_)) {
            self.ages.insert((head.ask.created(), bundle));
        }
        self.bundles.insert((head, bundle));
    }

    /// Take a bundle out.
    pub(super) fn remove(&mut self, head: Head, bundle: BundleId) {
        self.ages.remove(&(head.ask.created(), bundle));
        self.bundles.remove(&(head, bundle));
    }

    /// When the oldest of its asks was made, of a class for which others may be stopped.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.ages.first().map(|(created, _)| *created)
    }

    /// The group that it is in: parked in, or waiting for the turn of its user.
    pub(super) fn group(&self) -> Option<GroupKey> {
        let ClassKey { leaf, shape, .. } = self.key;
        let members = self.key.members();
        let (pass, shared) = (self.key.lane.pass(), self.key.sharer().is_some());
        let of = |blocker, shape, lined| {
            Some(GroupKey { blocker, shape, members, leaf, pass, shared, lined })
        };
        let Some(Wait { blocker, .. }) = self.wait else {
            return if shared { of(None, shape, false) } else { None };
        };
        let lined = self.key.stands_in_line() && !matches!(blocker, Blocker::BehindHead(..));
        let shape = match blocker {
            // Where applications are counted, it does not matter what they ask for, unless it says
            // whose turn it is, or what the head of a line needs.
            Blocker::QueueApplications(_) | Blocker::LimitApplications(..) if !shared && !lined => {
                ShapeId::FIRST
            }
            Blocker::QueueApplications(_)
            | Blocker::LimitApplications(..)
            | Blocker::QueueState(_)
            | Blocker::QueueMax(_)
            | Blocker::Limit(..)
            | Blocker::UserCap(..)
            | Blocker::UserShare(..)
            | Blocker::ParallelApplications(_)
            | Blocker::ParallelOfUser(..)
            | Blocker::DriverQueue(_)
            | Blocker::DriverUser(..)
            | Blocker::Nodes(_)
            | Blocker::NodesReserved(_)
            | Blocker::NodeBlocked(_)
            | Blocker::NoSuchLabel(_)
            | Blocker::KeptNode(_)
            | Blocker::Preempting(_)
            | Blocker::Order(..)
            | Blocker::RequiredNode(_)
            | Blocker::RequiredNodeSize(_)
            | Blocker::NodeAbsent(_)
            | Blocker::Placeholders(..)
            | Blocker::AwaitingRm(_)
            | Blocker::NodeConstraint(_)
            | Blocker::RmBusy(_)
            | Blocker::RmAway(_)
            | Blocker::NoNodes(_)
            | Blocker::BehindHead(..)
            | Blocker::BackOff(_) => shape,
        };
        of(Some(blocker), shape, lined)
    }
}

/// What a class was parked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Waited {
    /// For what last, and since when.
    pub(super) since: Option<(Blocker, Timestamp)>,
    /// All of it, as far as it is kept.
    pub(super) marks: Marks,
}

/// All bundles and classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    pub(super) bundles: SlotMap<BundleId, Bundle>,
    pub(super) rows: SlotMap<ClassId, Class>,
    by_key: BTreeMap<ClassKey, ClassId>,
}

impl Classes {
    /// What all were parked for, to be given to the same classes of indexes that are made anew.
    pub(super) fn take_waited(&mut self) -> BTreeMap<ClassKey, Waited> {
        let all = self.rows.values_mut().filter(|row| row.waited.since.is_some());
        all.map(|row| (row.key, core::mem::take(&mut row.waited))).collect()
    }

    /// Have the classes know what they were parked for before.
    pub(super) fn restore_waited(&mut self, mut all: BTreeMap<ClassKey, Waited>) {
        for row in self.rows.values_mut() {
            row.waited = all.remove(&row.key).unwrap_or_default();
        }
    }

    /// The class of this key, made if it is missing.
    pub(super) fn class(&mut self, key: ClassKey) -> ClassId {
        *self.by_key.entry(key).or_insert_with(|| self.rows.insert(Class::new(key)))
    }

    /// The class of this key, if there is one.
    pub(super) fn known(&self, key: ClassKey) -> Option<ClassId> {
        self.by_key.get(&key).copied()
    }

    /// The classes of a user of a leaf.
    pub(super) fn of_user(&self, leaf: QueueId, level: LevelId) -> impl Iterator<Item = ClassId> {
        let link = Link { user: level, group: GroupLink::Undecided };
        let standing = Standing::Linked {
            link,
            counts_in_queues: false,
            counts_in_limits: false,
            waits: false,
            borrows: false,
        };
        let (shape, lane) = (ShapeId::FIRST, Lane::Open);
        let (alone, shared, lined) = (None, false, false);
        let first = ClassKey { leaf, standing, shape, lane, alone, shared, lined };
        let from = self.by_key.range(first..);
        let his = from.take_while(move |(key, _)| {
            matches!(key.standing, Standing::Linked { link, .. } if link.user == level)
                && key.leaf == leaf
        });
        his.map(|(_, class)| *class)
    }

    /// Forget a class that has no bundle left.
    pub(super) fn forget(&mut self, class: ClassId) {
        if let Some(gone) = self.rows.remove(class) {
            self.by_key.remove(&gone.key);
        }
    }
}
