//! Classes of waiting asks that share the result of every check.
//!
//! A *batch* is the list of equal asks of one application, in order. A *class* has the batches of all applications of
//! one leaf with the same user, group, and amounts. If one ask of a class fits, all do, and a bound that blocks one
//! blocks all. The scheduler therefore checks, parks, and wakes classes, regardless of the number of their asks.

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
use super::hints::Heard;
use super::min_tree::EntryId;
use super::order::{ApplicationKey, AskKey};
use super::park::GroupKey;
use super::pending_counts::ClassCount;
use super::placement_mode::{Pass, PlacementMode};
use super::wait_history::{WaitChange, WaitHistory};

new_key_type! {
    /// A class of one scheduler. Not valid for another scheduler.
    pub struct ClassId;
    pub(super) struct AskBatchId;
}

/// Part of asks in a gang that is placed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GangPart {
    /// No placeholders of such a gang.
    None,
    /// Placeholders of a gang that does not gather. It can be placed in part.
    Placeholder,
    /// Placeholders of a gang that gathers.
    Gathers,
}

impl GangPart {
    /// Returns the part of placeholders, or of other asks.
    pub(super) const fn of(is_placeholder: bool, gathers: bool) -> Self {
        match (is_placeholder, gathers) {
            (false, _) => Self::None,
            (true, false) => Self::Placeholder,
            (true, true) => Self::Gathers,
        }
    }

    pub(super) const fn is_placeholder(self) -> bool {
        match self {
            Self::None => false,
            Self::Placeholder | Self::Gathers => true,
        }
    }
}

/// Properties that the asks of a class share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassKey {
    pub(super) leaf: QueueId,
    pub(super) charge: ChargeState,
    pub(super) shape: ShapeId,
    pub(super) mode: PlacementMode,
    /// Gang of the placeholders, if it is placed as a whole and none of it is placed yet.
    pub(super) gang: Option<GangSize>,
    /// Whether they are placeholders of a gang that is placed as a whole, and whether the gang gathers.
    pub(super) gang_part: GangPart,
    /// Whether the queues hold capacity for its only ask.
    pub(super) has_hold: bool,
    /// Application of the class, if its leaf backs off and each application is checked by itself.
    pub(super) backoff_application: Option<ApplicationId>,
    /// Whether its leaf picks users by fair share, because it has user limits.
    pub(super) shared: bool,
    /// Whether its leaf has a head of line that limits overtaking.
    pub(super) in_head_of_line_queue: bool,
}

impl ClassKey {
    /// Returns whether it is checked against the head of line: it needs a node, and its application is active.
    pub(super) fn is_checked_against_head(&self) -> bool {
        self.in_head_of_line_queue
            && !self.passes_head()
            && self.mode.pass() == Pass::Normal
            && self.charge != ChargeState::Unlinked
            && !self.waits()
    }

    /// Returns whether it can be the head of line while it is parked. That includes a class with a reserved node.
    fn counts_toward_head(&self) -> bool {
        self.in_head_of_line_queue && self.mode.pass() != Pass::ReplacePlaceholders && !self.waits()
    }

    /// Returns whether it starts in spite of the head of line, and can reserve a node without being the head: it has a
    /// hold, or its gang gathers. Otherwise, the capacity that its queues hold or its gang has would be idle until the
    /// head starts, and the head can wait for this capacity.
    pub(super) const fn passes_head(&self) -> bool {
        self.has_hold || matches!(self.gang_part, GangPart::Gathers)
    }

    /// Returns the number of asks that start together: the members of a task, otherwise 1.
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

    /// Returns the amounts that queues, users, and groups must allow at once.
    pub(super) fn needs<'books>(&self, books: &'books Books) -> Cow<'books, Resources> {
        books.shapes().times(self.shape, self.members())
    }

    /// Returns the number of asks that start together, where a gang counts as one. For a gang whose placeholders differ
    /// in size, returns 0 and the application.
    const fn as_one(&self) -> (u32, Option<ApplicationId>) {
        match self.gang {
            None => (self.members(), None),
            Some(GangSize { application, places: 0 }) => (0, Some(application)),
            Some(GangSize { places, .. }) => (places, None),
        }
    }

    /// Returns the request that is compared with the needs of the head of line.
    pub(super) fn wants<'books>(&self, books: &'books Books) -> Wants<'books> {
        let (members, mixed) = self.as_one();
        let of_gang = mixed.and_then(|gang| books.application(gang).gang.as_ref());
        let total = match of_gang {
            Some(gang) => Cow::Owned(gang.ask.maximum(books.shapes().get(self.shape))),
            None => books.shapes().times(self.shape, members.max(1)),
        };
        Wants { shape: self.shape, members, total }
    }

    /// Returns whether its application must be activated before its asks are checked.
    pub(super) const fn waits(&self) -> bool {
        self.charge.waits()
    }

    /// Returns the user and group that are charged. `None` before the group of the application is selected.
    pub(super) const fn link(&self) -> Option<TrackerLink> {
        match self.charge {
            ChargeState::Unlinked => None,
            ChargeState::Linked { link, .. } => Some(link),
        }
    }

    /// Returns the pass of its first check. In a leaf with user limits, unlinked classes are linked first. Then the
    /// users who split the leaf are known before an ask is placed.
    pub(super) fn pass(&self) -> Pass {
        if self.shared && self.charge == ChargeState::Unlinked {
            Pass::Reserved
        } else {
            self.mode.pass()
        }
    }

    /// Returns the user if the leaf picks users by fair share.
    pub(super) const fn sharer(&self) -> Option<LevelId> {
        match self.charge {
            ChargeState::Linked { link, .. } if self.shared => Some(link.user),
            ChargeState::Unlinked | ChargeState::Linked { .. } => None,
        }
    }
}

/// Trackers of an application, and the limits on applications that still apply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChargeState {
    /// The group is not selected yet.
    Unlinked,
    /// The trackers are known.
    Linked {
        link: TrackerLink,
        /// Whether the limits on running applications of its queues apply.
        counts_in_queues: bool,
        /// Whether the limits on running applications of its user and group apply.
        counts_in_limits: bool,
        /// Whether it must be activated first.
        waits: bool,
        /// Whether it can borrow idle nodes of a label: it runs, no originator and no placeholder of it waits, and the
        /// RM is not asked about nodes.
        borrows: bool,
    },
}

impl ChargeState {
    /// Returns whether it must be activated first.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::Linked { waits: true, .. })
    }

    pub(super) fn of(books: &Books, application: ApplicationId) -> Self {
        let row = books.application(application);
        match row.link {
            Some(link) if !link.group.is_undecided() => {
                // An application that already counts is not blocked by numbers. Source: scheduling §3.4.
                let accepted = row.state == ApplicationState::Accepted;
                Self::Linked {
                    link,
                    counts_in_queues: accepted && !row.allocating,
                    counts_in_limits: accepted && !row.counted,
                    waits: books.waits_for_activation(application),
                    borrows: row.state == ApplicationState::Running
                        && row.homebound == 0
                        && books.has_lending(row.partition)
                        && !books.asks_about_nodes(row.partition),
                }
            }
            _ => Self::Unlinked,
        }
    }
}

/// Position of a batch in its class: the position of its application, then its first ask.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Head {
    /// Whether no allocation was preempted for it. In a leaf with user limits, a node that is reserved after preemption
    /// precedes, because the capacity of its victims is for this ask only.
    pub(super) uncalled: bool,
    /// Weighted share of its user, if the user is above their fair share and waits for users below theirs.
    pub(super) beyond: Option<WeightedShare>,
    pub(super) application: ApplicationKey,
    /// Whether its reserved node does not have enough free capacity, so that other nodes are tried. An application
    /// tries all its reserved nodes first. Source: scheduling §9.4.
    pub(super) elsewhere: bool,
    pub(super) ask: AskKey,
}

/// Equal asks of one application.
#[derive(Clone, Debug)]
pub(super) struct AskBatch {
    pub(super) application: ApplicationId,
    pub(super) class: ClassId,
    /// Key of the batch in its class.
    pub(super) head: Head,
    pub(super) asks: Few<AskKey, AllocationId>,
    /// Key in [`Class::old`] of its first ask that is old enough for a reservation.
    pub(super) old: Option<Box<Head>>,
    /// Time at which another ask of the batch becomes old enough and precedes that one.
    pub(super) ripens: Option<Timestamp>,
    /// Asks that were already reported as asks that more nodes would help.
    pub(super) heard: Heard,
}

impl AskBatch {
    /// Returns the ask with this key. The batch must have it.
    pub(super) fn ask(&self, key: AskKey) -> AllocationId {
        *self.asks.get(&key).expect("the batch has the ask")
    }
}

/// Batches that are checked together.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) key: ClassKey,
    /// Batches in the order of the leaf.
    pub(super) batches: FewKeys<(Head, AskBatchId)>,
    /// Number of asks in all batches.
    pub(super) asks: usize,
    /// Part of the class that is in the pending counts.
    pub(super) counted: ClassCount,
    /// Position among the classes of its leaf: the position of its first batch, as the leaf or the group has it.
    pub(super) head: Option<Head>,
    /// Whether the application lists the ready class instead of the leaf. Then the position of the application in the
    /// heads can be out of date.
    pub(super) is_own: bool,
    /// Entry in its group, if the leaf picks users by fair share.
    pub(super) seat: EntryId,
    /// Current wait. `None` if the class is ready to be checked.
    pub(super) wait: Option<Wait>,
    /// Wait history, for explanations only. No decision depends on it.
    pub(super) waited: Waited,
    /// Pass of the next check. Usually the pass of its mode. An ask with a reserved node is checked again in the last
    /// pass if preemption is possible for it.
    pub(super) pass: Pass,
    /// Creation time of each batch, in a class that can preempt.
    ages: BTreeSet<(Timestamp, AskBatchId)>,
    /// Asks for which a preemption attempt found no victim, in the current round.
    pub(super) tried: BTreeSet<AllocationId>,
    /// Time at which preemption can become possible, if it depends on time only.
    pub(super) due: Option<Timestamp>,
    /// Whether the ages of its asks are tracked, which begins when it first finds no node.
    pub(super) aging: bool,
    /// Batches with an ask that is old enough for a reservation, each at the position of its first such ask.
    pub(super) old: BTreeSet<(Head, AskBatchId)>,
    /// Position among the reservation candidates. `None` if it is no candidate.
    pub(super) keeps: Option<Box<Head>>,
    /// Entry among the reservation candidates, if the leaf picks users by fair share.
    pub(super) candidate_seat: EntryId,
}

impl Class {
    fn new(key: ClassKey) -> Self {
        Self {
            key,
            batches: FewKeys::default(),
            asks: 0,
            counted: ClassCount::default(),
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

    /// Records that the class is parked for `blocker`, since now or since an earlier park with the same blocker. Calls
    /// `code` only for a new blocker.
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

    /// Adds a batch.
    pub(super) fn insert(&mut self, head: Head, batch: AskBatchId) {
        if matches!(self.key.mode, PlacementMode::MayPreempt(_)) {
            self.ages.insert((head.ask.created(), batch));
        }
        self.batches.insert((head, batch), ());
    }

    /// Changes the position of a batch.
    pub(super) fn rename(&mut self, before: Head, after: Head, batch: AskBatchId) {
        if before.ask.created() != after.ask.created()
            && matches!(self.key.mode, PlacementMode::MayPreempt(_))
        {
            self.ages.remove(&(before.ask.created(), batch));
            self.ages.insert((after.ask.created(), batch));
        }
        self.batches.rename(&(before, batch), (after, batch), ());
    }

    /// Removes a batch.
    pub(super) fn remove(&mut self, head: Head, batch: AskBatchId) {
        self.ages.remove(&(head.ask.created(), batch));
        self.batches.remove(&(head, batch));
    }

    /// Returns the creation time of the oldest ask, in a class that can preempt.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.ages.first().map(|(created, _)| *created)
    }

    /// Returns the group of the class: of a parked class, or of a class that waits for the fair-share pick of its user.
    pub(super) fn group(&self) -> Option<GroupKey> {
        let ClassKey { leaf, shape, .. } = self.key;
        let (pass, shared) = (self.key.mode.pass(), self.key.sharer().is_some());
        let blocker = self.wait.map(|wait| wait.blocker);
        let is_permanent = blocker.is_some_and(|blocker| blocker.row().is_permanent);
        // These blockers compare with the needs of the whole gang.
        let behind = |blocker| matches!(blocker, Blocker::BehindGang(..) | Blocker::BehindHead(..));
        let is_as_one = is_permanent || blocker.is_some_and(behind);
        let (members, mixed_gang) =
            if is_as_one { self.key.as_one() } else { (self.key.members(), None) };
        // Tasks of several members can also use other nodes than the one that gained capacity. With back-off, each
        // wake-up counts for the application.
        let is_for_one_node = matches!(blocker, Some(Blocker::Nodes(_)))
            && members == 1
            && self.key.backoff_application.is_none();
        let opens_in_turn = Some(pass).filter(|pass| is_for_one_node && pass.waiting().is_some());
        let of = |blocker, shape, lined| {
            let group = GroupKey {
                blocker,
                opens_in_turn,
                shape,
                members,
                mixed_gang,
                leaf,
                pass,
                shared,
                lined,
            };
            Some(group)
        };
        let Some(Wait { blocker, .. }) = self.wait else {
            return if shared { of(None, shape, false) } else { None };
        };
        // An impossible ask is never the head of line.
        let lined = self.key.counts_toward_head()
            && !matches!(blocker, Blocker::BehindHead(..))
            && !is_permanent;
        // For limits on the number of applications, the shape matters only for the fair-share pick or for the needs of
        // the head of line.
        let counts = matches!(blocker.compared(), Compared::RunningIn(_) | Compared::RunningAt(..));
        let shape = if counts && !shared && !lined { ShapeId::FIRST } else { shape };
        of(Some(blocker), shape, lined)
    }
}

/// Reasons for which a class was parked.
#[derive(Clone, Debug, Default)]
pub(super) struct Waited {
    /// Last blocker, and since when.
    pub(super) since: Option<(Blocker, Timestamp)>,
    /// Wait history, limited by what is stored.
    pub(super) marks: WaitHistory,
}

/// All batches and classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    pub(super) batches: SlotMap<AskBatchId, AskBatch>,
    pub(super) rows: SlotMap<ClassId, Class>,
    /// Classes of each leaf by charge state.
    by_leaf: Vec<Few<ChargeState, Known>>,
}

/// Largest number of applications whose classes are searched one by one. Most leaves have two or three applications per
/// charge state, and a search of each is cheap.
const FEW_APPLICATIONS: usize = 4;

/// Classes of one leaf and charge state.
#[derive(Clone, Debug)]
enum Known {
    /// Few applications, whose batches lead to the classes, and the number of classes.
    Of(SmallVec<[ApplicationId; FEW_APPLICATIONS]>, usize),
    /// Classes by the rest of their key.
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

/// Rest of the key of a class after leaf and charge state, in the order of the key.
type WantKey =
    (ShapeId, PlacementMode, (Option<GangSize>, GangPart), bool, Option<ApplicationId>, bool, bool);

impl ClassKey {
    const fn want(&self) -> WantKey {
        let Self { shape, mode, gang, gang_part, has_hold, shared, .. } = *self;
        let (alone, lined) = (self.backoff_application, self.in_head_of_line_queue);
        (shape, mode, (gang, gang_part), has_hold, alone, shared, lined)
    }

    /// Returns the key of its batch in an application.
    const fn of_batch(&self) -> BatchKey {
        let Self { shape, mode, gang_part, has_hold, .. } = *self;
        BatchKey { shape, mode, in_gang: gang_part.is_placeholder(), has_hold }
    }
}

impl Classes {
    /// Returns the wait histories of all classes, for the same classes of rebuilt indexes.
    pub(super) fn take_waited(&mut self) -> BTreeMap<ClassKey, Waited> {
        let all = self.rows.values_mut().filter(|row| row.waited.since.is_some());
        all.map(|row| (row.key, core::mem::take(&mut row.waited))).collect()
    }

    /// Restores the wait histories of classes.
    pub(super) fn restore_waited(&mut self, mut all: BTreeMap<ClassKey, Waited>) {
        for row in self.rows.values_mut() {
            row.waited = all.remove(&row.key).unwrap_or_default();
        }
    }

    /// Returns the class with this key for a batch of an application, and creates it if it is missing.
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

    /// Returns the class with this key.
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

    /// Returns the classes of a user in a leaf.
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

    /// Returns the classes of these applications with this leaf and charge state, by the rest of their key.
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

    /// Moves `count` classes of an application to another charge state of its leaf.
    ///
    /// Returns whether that was possible: they are all classes of the old charge state, and the new one has no class.
    /// The caller changes the keys in the rows.
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

    /// Changes the key of a class of one application, unless another class has that key. Returns whether the key
    /// changed.
    pub(super) fn rekey(
        &mut self,
        applications: &[PendingApplication],
        (class, application): (ClassId, ApplicationId),
        key: ClassKey,
    ) -> bool {
        let charges = self.by_leaf.get(key.leaf.index());
        let is_alone = match charges.and_then(|charges| charges.get(&key.charge)) {
            None => true,
            // The application has at most one batch with this key, and that batch is in the class itself.
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

    /// Removes a class without batches.
    pub(super) fn forget(&mut self, class: ClassId) {
        if let Some(gone) = self.rows.remove(class) {
            self.forget_key(&gone.key);
        }
    }

    /// Adds the key of a class. No other class must have this key.
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

    /// Records that an application has a class with this leaf and charge state. With many applications, classes are
    /// indexed by the rest of their key.
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
