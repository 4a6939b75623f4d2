//! Waiting asks, grouped so that what holds for one holds for all.
//!
//! A *batch* is the equal asks of one application, in order. A *class* is the batches of all
//! applications of one leaf that are charged to the same user and group and want the same
//! amounts: where one of them fits, all do, and what holds one back holds back all. So the
//! scheduler judges, parks and wakes classes, however many asks they hold.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use slotmap::{SlotMap, new_key_type};
use smallvec::SmallVec;

use crate::books::{ApplicationState, Books, GangSize, GroupLink, TrackerLink};
use crate::id::{AllocationId, ApplicationId, LevelId, QueueId, ShapeId};
use crate::resource::Resources;
use crate::time::Timestamp;
use crate::wait::{Blocker, Compared, Wait, WaitCode};

use super::ask_batches::PendingApplication;
use super::batch_list::BatchKey;
use super::behind_head::Wants;
use super::fair_share::WeightedShare;
use super::few::{Few, FewKeys};
use super::hints::{Heard, Unreported};
use super::min_tree::EntryId;
use super::order::{ApplicationKey, AskKey};
use super::park::GroupKey;
use super::pending_counts::ClassCount;
use super::placement_mode::{Pass, PlacementMode};
use super::wait_history::{WaitChange, WaitHistory};

new_key_type! {
    /// One class of a scheduler; means nothing to another scheduler.
    pub struct ClassId;
    pub(super) struct AskBatchId;
}

/// What the asks of a class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassKey {
    pub(super) leaf: QueueId,
    pub(super) charge: ChargeState,
    pub(super) shape: ShapeId,
    pub(super) mode: PlacementMode,
    /// The gang for which they are to hold room, if it is placed as a whole and none of it is placed yet.
    pub(super) gang: Option<GangSize>,
    /// Whether they are placeholders of such a gang, be some of it placed or not.
    pub(super) in_gang: bool,
    /// The application, where each is looked at by itself: its leaf has it back off.
    pub(super) backoff_application: Option<ApplicationId>,
    /// Whether the users of its leaf take turns: it has user limits.
    pub(super) shared: bool,
    /// Whether it stands in a line, whose head others may not go before as they like.
    pub(super) in_head_of_line_queue: bool,
}

impl ClassKey {
    /// Whether it is judged in a line: it looks for a node, and may be looked at.
    pub(super) fn is_checked_against_head(&self) -> bool {
        self.in_head_of_line_queue
            && self.mode.pass() == Pass::Normal
            && self.charge != ChargeState::Unlinked
            && !self.waits()
    }

    /// Whether it counts in a line while it is parked. A class with a reserved node stands there,
    /// too.
    fn counts_toward_head(&self) -> bool {
        self.in_head_of_line_queue && self.mode.pass() != Pass::ReplacePlaceholders && !self.waits()
    }

    /// How many of its asks start together: the members of a task.
    pub(super) const fn members(&self) -> u32 {
        match self.mode {
            PlacementMode::AllOrNothing(members) => members,
            PlacementMode::AnyNode
            | PlacementMode::MayPreempt(_)
            | PlacementMode::NeedsVerdict(_)
            | PlacementMode::RequiredNode(_)
            | PlacementMode::RequiredNodeAbsent(_)
            | PlacementMode::ReservedNode(_)
            | PlacementMode::ReplacePlaceholder(..)
            | PlacementMode::ReplacePlaceholderAlone(_) => 1,
        }
    }

    /// What queues, users and groups need room for at once.
    pub(super) fn needs<'books>(&self, books: &'books Books) -> Cow<'books, Resources> {
        books.shapes().times(self.shape, self.members())
    }

    /// How many of its asks start together where a gang counts as one; 0 and the application for a gang
    /// whose placeholders differ in size.
    const fn as_one(&self) -> (u32, Option<ApplicationId>) {
        match self.gang {
            None => (self.members(), None),
            Some(GangSize { application, places: 0 }) => (0, Some(application)),
            Some(GangSize { places, .. }) => (places, None),
        }
    }

    /// What it would take that the head of its line may lack.
    pub(super) fn wants<'books>(&self, books: &'books Books) -> Wants<'books> {
        let (members, mixed) = self.as_one();
        let of_gang = mixed.and_then(|gang| books.application(gang).gang.as_ref());
        let total = match of_gang {
            Some(gang) => Cow::Owned(gang.ask.maximum(books.shapes().get(self.shape))),
            None => books.shapes().times(self.shape, members.max(1)),
        };
        Wants { shape: self.shape, members, total }
    }

    /// Whether nothing of it is looked at before its application is activated.
    pub(super) const fn waits(&self) -> bool {
        self.charge.waits()
    }

    /// Who is charged; none before the group of its application is chosen.
    pub(super) const fn link(&self) -> Option<TrackerLink> {
        match self.charge {
            ChargeState::Unlinked => None,
            ChargeState::Linked { link, .. } => Some(link),
        }
    }

    /// In which pass it is judged first. Where users share a leaf, all who want something of it are
    /// known before anybody gets anything: they split it.
    pub(super) fn pass(&self) -> Pass {
        if self.shared && self.charge == ChargeState::Unlinked {
            Pass::Reserved
        } else {
            self.mode.pass()
        }
    }

    /// The user whose turn it may be, if those of its leaf take turns.
    pub(super) const fn sharer(&self) -> Option<LevelId> {
        match self.charge {
            ChargeState::Linked { link, .. } if self.shared => Some(link.user),
            ChargeState::Unlinked | ChargeState::Linked { .. } => None,
        }
    }
}

/// Who is charged, and whether the application may still be held back as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChargeState {
    /// Its group is to be chosen.
    Unlinked,
    /// Its trackers are known.
    Linked {
        link: TrackerLink,
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

impl ChargeState {
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

/// Where a batch stands among those of its class: its application's place, then its first ask.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Head {
    /// Whether nothing is preempted for it. Where users share a leaf, a node that is reserved after
    /// preemption comes first: the room of its victims is for nobody else.
    pub(super) uncalled: bool,
    /// How well its user is served, where the user is above their share and waits for users below
    /// theirs.
    pub(super) beyond: Option<WeightedShare>,
    pub(super) application: ApplicationKey,
    /// Whether the node that is reserved for it has no room, so that others are tried. An
    /// application tries all its reserved nodes first. Scheduling §9.4.
    pub(super) elsewhere: bool,
    pub(super) ask: AskKey,
}

/// The equal asks of one application.
#[derive(Clone, Debug)]
pub(super) struct AskBatch {
    pub(super) application: ApplicationId,
    pub(super) class: ClassId,
    /// The key under which its class has it.
    pub(super) head: Head,
    pub(super) asks: Few<AskKey, AllocationId>,
    /// Where its class has its first ask that is old enough for a reservation.
    pub(super) old: Option<Box<Head>>,
    /// When another of its asks comes of that age and stands before that one.
    pub(super) ripens: Option<Timestamp>,
    /// Which of its asks were already reported as asks that more nodes would help.
    pub(super) heard: Heard,
}

impl AskBatch {
    /// The ask of this key, which is in the batch.
    pub(super) fn ask(&self, key: AskKey) -> AllocationId {
        *self.asks.get(&key).expect("the batch has the ask")
    }
}

/// Batches that are judged together.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) key: ClassKey,
    /// In the order of the leaf.
    pub(super) batches: FewKeys<(Head, AskBatchId)>,
    /// How many asks its batches have.
    pub(super) asks: usize,
    /// What of it is in the pending counts.
    pub(super) counted: ClassCount,
    /// The batches with unreported asks, in order, while reports are wanted.
    pub(super) unreported: BTreeSet<Unreported>,
    /// How many of its asks were reported.
    pub(super) reported: usize,
    /// Where it stands among the classes of its leaf: the first of its batches, as the leaf or
    /// its group has it.
    pub(super) head: Option<Head>,
    /// Whether its application lists it while it is ready, rather than its leaf: the place of the
    /// application in its heads may be out of date then.
    pub(super) is_own: bool,
    /// Where it sits in its group, if users take turns there.
    pub(super) seat: EntryId,
    /// Why it waits; none if it was not judged yet.
    pub(super) wait: Option<Wait>,
    /// What it was parked for: for those who ask, and for no decision.
    pub(super) waited: Waited,
    /// In which pass it is judged next; its mode says which, but an ask with a node is looked at
    /// again in the last pass when others may be stopped for it.
    pub(super) pass: Pass,
    /// The age of each batch, of a class for which others may be stopped.
    ages: BTreeSet<(Timestamp, AskBatchId)>,
    /// The asks for which nothing could be stopped, in the course of this.
    pub(super) tried: BTreeSet<AllocationId>,
    /// When something may be stopped for it, if that comes by time alone.
    pub(super) due: Option<Timestamp>,
    /// Whether the ages of its asks are followed: since it first found no node.
    pub(super) aging: bool,
    /// The batches with an ask that is old enough for a reservation, each at the place of its first
    /// such ask.
    pub(super) old: BTreeSet<(Head, AskBatchId)>,
    /// Where it stands among the classes that wait for a reservation, if it does.
    pub(super) keeps: Option<Box<Head>>,
    /// Where it sits among them, if users take turns there.
    pub(super) candidate_seat: EntryId,
}

impl Class {
    fn new(key: ClassKey) -> Self {
        Self {
            key,
            batches: FewKeys::default(),
            asks: 0,
            counted: ClassCount::default(),
            unreported: BTreeSet::new(),
            reported: 0,
            head: None,
            is_own: false,
            seat: EntryId::default(),
            wait: None,
            waited: Waited::default(),
            pass: key.pass(),
            ages: BTreeSet::new(),
            tried: BTreeSet::new(),
            due: None,
            aging: false,
            old: BTreeSet::new(),
            keeps: None,
            candidate_seat: EntryId::default(),
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
            self.waited.marks.note(WaitChange { at, sequence, code: code() });
        }
    }

    /// Take a batch in.
    pub(super) fn insert(&mut self, head: Head, batch: AskBatchId) {
        if matches!(self.key.mode, PlacementMode::MayPreempt(_)) {
            self.ages.insert((head.ask.created(), batch));
        }
        self.batches.insert((head, batch), ());
    }

    /// Give a batch another place.
    pub(super) fn rename(&mut self, before: Head, after: Head, batch: AskBatchId) {
        if before.ask.created() != after.ask.created()
            && matches!(self.key.mode, PlacementMode::MayPreempt(_))
        {
            self.ages.remove(&(before.ask.created(), batch));
            self.ages.insert((after.ask.created(), batch));
        }
        self.batches.rename(&(before, batch), (after, batch), ());
    }

    /// Take a batch out.
    pub(super) fn remove(&mut self, head: Head, batch: AskBatchId) {
        self.ages.remove(&(head.ask.created(), batch));
        self.batches.remove(&(head, batch));
    }

    /// When the oldest of its asks was made, of a class for which others may be stopped.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.ages.first().map(|(created, _)| *created)
    }

    /// The group that it is in: parked in, or waiting for the turn of its user.
    pub(super) fn group(&self) -> Option<GroupKey> {
        let ClassKey { leaf, shape, .. } = self.key;
        let (pass, shared) = (self.key.mode.pass(), self.key.sharer().is_some());
        let blocker = self.wait.map(|wait| wait.blocker);
        let is_permanent = blocker.is_some_and(|blocker| blocker.row().is_permanent);
        // What these compare with is what all of the gang needs.
        let behind = |blocker| matches!(blocker, Blocker::BehindGang(..) | Blocker::BehindHead(..));
        let is_as_one = is_permanent || blocker.is_some_and(behind);
        let (members, mixed_gang) =
            if is_as_one { self.key.as_one() } else { (self.key.members(), None) };
        let of = |blocker, shape, lined| {
            Some(GroupKey { blocker, shape, members, mixed_gang, leaf, pass, shared, lined })
        };
        let Some(Wait { blocker, .. }) = self.wait else {
            return if shared { of(None, shape, false) } else { None };
        };
        // An impossible ask is never the head of a line.
        let lined = self.key.counts_toward_head()
            && !matches!(blocker, Blocker::BehindHead(..))
            && !is_permanent;
        // Where applications are counted, it does not matter what they ask for, unless it says
        // whose turn it is, or what the head of a line needs.
        let counts = matches!(blocker.compared(), Compared::RunningIn(_) | Compared::RunningAt(..));
        let shape = if counts && !shared && !lined { ShapeId::FIRST } else { shape };
        of(Some(blocker), shape, lined)
    }
}

/// What a class was parked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Waited {
    /// For what last, and since when.
    pub(super) since: Option<(Blocker, Timestamp)>,
    /// All of it, as far as it is stored.
    pub(super) marks: WaitHistory,
}

/// All batches and classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    pub(super) batches: SlotMap<AskBatchId, AskBatch>,
    pub(super) rows: SlotMap<ClassId, Class>,
    /// The classes of each leaf by who is charged.
    by_leaf: Vec<Few<ChargeState, Known>>,
}

/// Among how many applications a class is looked for: more than the two or three that share most
/// leaves, and few enough for a search of each.
const FEW_APPLICATIONS: usize = 4;

/// The classes of one leaf and charge.
#[derive(Clone, Debug)]
enum Known {
    /// So many, all of these applications, which find them by their batches.
    Of(SmallVec<[ApplicationId; FEW_APPLICATIONS]>, usize),
    /// By what is wanted.
    ByWant(BTreeMap<WantKey, ClassId>),
}

impl Known {
    fn is_empty(&self) -> bool {
        match self {
            Self::Of(_, count) => *count == 0,
            Self::ByWant(all) => all.is_empty(),
        }
    }
}

/// The rest of the key of a class of one leaf and charge, in the order of the key.
type WantKey =
    (ShapeId, PlacementMode, (Option<GangSize>, bool), Option<ApplicationId>, bool, bool);

impl ClassKey {
    const fn want(&self) -> WantKey {
        let Self { shape, mode, gang, in_gang, backoff_application: alone, shared, .. } = *self;
        (shape, mode, (gang, in_gang), alone, shared, self.in_head_of_line_queue)
    }

    /// The key of its batch in an application.
    const fn of_batch(&self) -> BatchKey {
        BatchKey { shape: self.shape, mode: self.mode, in_gang: self.in_gang }
    }
}

impl Classes {
    /// Take what all were parked for, to give it to the same classes of the rebuilt indexes.
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

    /// The class of this key for a batch of an application, made if it is missing.
    pub(super) fn class(
        &mut self,
        applications: &[PendingApplication],
        (key, application): (ClassKey, ApplicationId),
    ) -> ClassId {
        if let Some(class) = self.known(applications, key) {
            self.joins(applications, &key, application);
            return class;
        }
        let class = self.rows.insert(Class::new(key));
        self.add_key(applications, (&key, application), class);
        class
    }

    /// The class of this key, if there is one.
    pub(super) fn known(
        &self,
        applications: &[PendingApplication],
        key: ClassKey,
    ) -> Option<ClassId> {
        match self.by_leaf.get(key.leaf.index())?.get(&key.charge)? {
            Known::Of(all, _) => all.iter().find_map(|one| {
                let batch = applications[one.index()].batch(key.of_batch())?;
                let class = self.batches[batch].class;
                self.rows.get(class).is_some_and(|row| row.key == key).then_some(class)
            }),
            Known::ByWant(all) => all.get(&key.want()).copied(),
        }
    }

    /// The classes of a user of a leaf.
    pub(super) fn of_user(
        &self,
        applications: &[PendingApplication],
        leaf: QueueId,
        level: LevelId,
    ) -> impl Iterator<Item = ClassId> {
        let link = TrackerLink { user: level, group: GroupLink::Undecided };
        let first = ChargeState::Linked {
            link,
            counts_in_queues: false,
            counts_in_limits: false,
            waits: false,
            borrows: false,
        };
        let from = self.by_leaf.get(leaf.index()).into_iter();
        let from = from.flat_map(move |charges| charges.iter_from(first));
        let charged = from.take_while(
            move |(charge, _)| matches!(charge, ChargeState::Linked { link, .. } if link.user == level),
        );
        charged.flat_map(move |(charge, known)| match known {
            Known::Of(few, _) => {
                let all = self.of_charge(applications, few, (leaf, *charge));
                all.into_values().collect::<SmallVec<[_; 4]>>()
            }
            Known::ByWant(all) => all.values().copied().collect(),
        })
    }

    /// The classes of applications that are charged so in a leaf, by what they want.
    fn of_charge(
        &self,
        applications: &[PendingApplication],
        few: &[ApplicationId],
        charge: (QueueId, ChargeState),
    ) -> BTreeMap<WantKey, ClassId> {
        let batches = few.iter().flat_map(|one| applications[one.index()].batches.iter());
        let classes = batches.filter_map(|batch| {
            let class = self.batches[batch].class;
            let key = self.rows.get(class)?.key;
            ((key.leaf, key.charge) == charge).then(|| (key.want(), class))
        });
        classes.collect()
    }

    /// Find so many classes of an application by another charge of its leaf. Whether that was
    /// possible: they are all of their charge, and there is none of the other. The caller changes
    /// the keys that they know.
    pub(super) fn recharge(
        &mut self,
        (application, leaf): (ApplicationId, QueueId),
        (before, after): (ChargeState, ChargeState),
        count: usize,
    ) -> bool {
        let Some(charges) = self.by_leaf.get_mut(leaf.index()) else { return false };
        let is_alone = matches!(
            charges.get(&before),
            Some(Known::Of(few, all)) if **few == [application] && *all == count
        );
        if !is_alone || charges.get(&after).is_some() {
            return false;
        }
        let only = core::iter::once(application).collect();
        charges.rename(&before, after, Known::Of(only, count));
        true
    }

    /// Give a class of one application another key, unless there is a class of that key. Whether it
    /// has it now.
    pub(super) fn rekey(
        &mut self,
        applications: &[PendingApplication],
        (class, application): (ClassId, ApplicationId),
        key: ClassKey,
    ) -> bool {
        let charges = self.by_leaf.get(key.leaf.index());
        let is_alone = match charges.and_then(|charges| charges.get(&key.charge)) {
            None => true,
            // The application has one batch of what is wanted, and that is in the class itself.
            Some(Known::Of(few, _)) => **few == [application],
            Some(Known::ByWant(_)) => false,
        };
        if !is_alone && self.known(applications, key).is_some() {
            return false;
        }
        self.add_key(applications, (&key, application), class);
        let before = core::mem::replace(&mut self.rows[class].key, key);
        self.forget_key(&before);
        true
    }

    /// Forget a class that has no batch left.
    pub(super) fn forget(&mut self, class: ClassId) {
        if let Some(gone) = self.rows.remove(class) {
            self.forget_key(&gone.key);
        }
    }

    /// Have a class of an application found by this key, by which none is.
    fn add_key(
        &mut self,
        applications: &[PendingApplication],
        (key, application): (&ClassKey, ApplicationId),
        class: ClassId,
    ) {
        self.joins(applications, key, application);
        if self.by_leaf.len() <= key.leaf.index() {
            self.by_leaf.resize_with(key.leaf.index() + 1, Few::default);
        }
        let charges = &mut self.by_leaf[key.leaf.index()];
        match charges.get_mut(&key.charge) {
            None => {
                let only = core::iter::once(application).collect();
                charges.insert(key.charge, Known::Of(only, 1));
            }
            Some(Known::Of(_, count)) => *count += 1,
            Some(Known::ByWant(all)) => drop(all.insert(key.want(), class)),
        }
    }

    /// Note that an application has a class of this leaf and charge. Where many have, they are found
    /// by what is wanted.
    fn joins(
        &mut self,
        applications: &[PendingApplication],
        key: &ClassKey,
        joining: ApplicationId,
    ) {
        let charges = self.by_leaf.get_mut(key.leaf.index());
        let known = charges.and_then(|charges| charges.get_mut(&key.charge));
        let Some(Known::Of(few, _)) = known else { return };
        if few.contains(&joining) {
            return;
        }
        if few.len() < FEW_APPLICATIONS {
            return few.push(joining);
        }
        let few = core::mem::take(few);
        let all = self.of_charge(applications, &few, (key.leaf, key.charge));
        self.by_leaf[key.leaf.index()].insert(key.charge, Known::ByWant(all));
    }

    fn forget_key(&mut self, key: &ClassKey) {
        let Some(charges) = self.by_leaf.get_mut(key.leaf.index()) else { return };
        let Some(known) = charges.get_mut(&key.charge) else { return };
        match known {
            Known::Of(_, count) => *count -= 1,
            Known::ByWant(all) => drop(all.remove(&key.want())),
        }
        if known.is_empty() {
            charges.remove(&key.charge);
        }
    }
}
