//! Why something waits: the first check that it fails, with both sides of the comparison.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use core::cmp::Reverse;

use crate::books::tracker::TrackerKind;
use crate::books::{Books, QuestionMode, QuestionSubject};
use crate::config::ApplicationOrder;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Quantity, Resources, Shortfall, figures};
use crate::time::Told;

mod code;
mod later;
mod looked;
mod nodes;
mod room;
mod standstill;
mod state;
mod tenant;

pub use code::{WaitCode, WaitCounts};
pub(crate) use later::questions;
pub use looked::Looked;
pub(crate) use standstill::{of_absence, of_no_nodes, standstill};
pub use tenant::{TenantCode, TenantReason, TenantShort};

/// What holds an ask back. When it gives way, the ask is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blocker {
    /// This queue offers no room: it is stopped, its tenant is suspended, it became a parent with applications
    /// in it, or a leaf with queues below.
    QueueState(QueueId),
    /// The maximum of this queue; for a root queue, the size of the cluster.
    QueueMax(QueueId),
    /// The number of applications that may run in this queue.
    QueueApplications(QueueId),
    /// The resources that a user or group may use at this level.
    Limit(PartitionId, LevelId),
    /// The most that one user may have of a leaf with user limits, at his level there.
    UserCap(PartitionId, LevelId),
    /// His share of a leaf with user limits, at his level there: others are below theirs, or it is
    /// strict.
    UserShare(PartitionId, LevelId),
    /// The number of applications that a user or group may run at this level.
    LimitApplications(PartitionId, LevelId),
    /// The number of applications that may have been activated in this queue and below.
    ParallelApplications(QueueId),
    /// The number of a user's applications that may have been activated in the partition; his level at
    /// the leaf.
    ParallelOfUser(PartitionId, LevelId),
    /// What the drivers of this leaf may have.
    DriverQueue(QueueId),
    /// What the drivers of a user may have of a leaf, at his level there.
    DriverUser(PartitionId, LevelId),
    /// No node in use has room for it.
    Nodes(PartitionId),
    /// Every node in use that has room for it is kept for others.
    NodesReserved(PartitionId),
    /// Every node with room is one that it may not have.
    NodeBlocked(PartitionId),
    /// No node has the label that it wishes for.
    NoSuchLabel(PartitionId),
    /// This node is kept for it, and has no room yet; nor has any other.
    KeptNode(NodeId),
    /// The same, and others were asked to stop there for it: their room comes when they have.
    Preempting(NodeId),
    /// The only node that it may run on has no room.
    RequiredNode(NodeId),
    /// The only node that it may run on is too small for it, however empty.
    RequiredNodeSize(NodeId),
    /// The only node that it may run on is not there.
    NodeAbsent(PartitionId),
    /// Its task group, at this position of its application, has placeholders left, and none of
    /// them is to be had now.
    Placeholders(ApplicationId, u32),
    /// The RM was asked about this ask, and has not answered yet.
    AwaitingRm(AllocationId),
    /// The RM has so many questions to answer that it is asked nothing more for now: whoever waits
    /// in this partition and was not looked at is looked at then. Or not all of its nodes have reported.
    RmBusy(PartitionId),
    /// The resource manager of this partition is away: nobody would carry out what is decided.
    RmAway(PartitionId),
    /// No node of this partition has a size.
    NoNodes(PartitionId),
    /// The RM refused this ask every node that has room for it.
    NodeConstraint(AllocationId),
    /// Too many asks of its application found no node; it is left alone for a while.
    BackOff(ApplicationId),
    /// The head of the line of this leaf needs what it would take; who that is, where it is known.
    BehindHead(QueueId, Option<AllocationId>),
    /// Nothing but that others are looked at first, at this queue and by this. Only who explains something says so: the
    /// scheduler comes to it.
    Order(QueueId, Precedence),
}

/// By what one is looked at before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precedence {
    /// It is more urgent.
    Priority,
    /// It uses less of its share.
    Share,
    /// It came earlier, asks for more, or its path is first: what the policy goes by where the others are alike.
    Order,
}

/// Why an ask waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What holds it back.
    pub blocker: Blocker,
    /// What there is too little of; none where applications are counted, and where each type
    /// would do by itself but no single node has all.
    pub shortfall: Option<Shortfall>,
}

impl Blocker {
    /// A short code that does not change, for programs, logs and the error pages.
    pub fn code(self, books: &Books) -> &'static str {
        self.wait_code(books).as_str()
    }

    /// Which of all codes it is.
    pub fn wait_code(self, books: &Books) -> WaitCode {
        let of = |partition: PartitionId, level, user, group| {
            let trackers = &books.partition(partition).trackers;
            match trackers.tracker(trackers.level(level).tracker).kind {
                TrackerKind::User => user,
                TrackerKind::Group => group,
            }
        };
        match self {
            Self::QueueState(queue) if books.queue(queue).is_suspended() => {
                WaitCode::TenantSuspended
            }
            Self::QueueState(_) => WaitCode::QueueState,
            Self::QueueMax(queue) if books.queue(queue).parent.is_none() => WaitCode::RootCapacity,
            Self::QueueMax(_) => WaitCode::QueueMax,
            Self::QueueApplications(_) => WaitCode::MaxApps,
            Self::Limit(partition, level) => {
                of(partition, level, WaitCode::AbsUserLimit, WaitCode::AbsGroupLimit)
            }
            Self::UserCap(..) => WaitCode::UserHardCap,
            Self::UserShare(..) => WaitCode::UserShare,
            Self::LimitApplications(partition, level) => {
                of(partition, level, WaitCode::UserApps, WaitCode::GroupApps)
            }
            Self::ParallelApplications(_) | Self::ParallelOfUser(..) => WaitCode::ParallelLimit,
            Self::DriverQueue(_) => WaitCode::DriverLimitQueue,
            Self::DriverUser(..) => WaitCode::DriverLimitUser,
            Self::Nodes(_) => WaitCode::NoNodeFits,
            Self::NodesReserved(_) => WaitCode::NodeReserved,
            Self::NodeBlocked(_) => WaitCode::NodeBlocked,
            Self::NoSuchLabel(_) => WaitCode::NoPartitionAccess,
            Self::KeptNode(_) => WaitCode::NodeResources,
            Self::Preempting(_) => WaitCode::PreemptionPending,
            Self::Order(_, Precedence::Priority) => WaitCode::PriorityBehind,
            Self::Order(_, Precedence::Share) => WaitCode::ShareBehind,
            Self::Order(_, Precedence::Order) => WaitCode::OrderBehind,
            Self::RequiredNode(_) => WaitCode::RequiredNodeFull,
            Self::RequiredNodeSize(_) => WaitCode::RequiredNodeSize,
            Self::NodeAbsent(_) => WaitCode::RequiredNodeAbsent,
            Self::Placeholders(..) => WaitCode::GangIncomplete,
            Self::RmBusy(partition) if books.is_recovering(partition) => WaitCode::Recovering,
            Self::AwaitingRm(_) | Self::RmBusy(_) => WaitCode::AwaitingRm,
            Self::RmAway(_) => WaitCode::RmAway,
            Self::NoNodes(_) => WaitCode::NoNodes,
            Self::NodeConstraint(_) => WaitCode::NodeConstraint,
            Self::BackOff(_) => WaitCode::Backoff,
            Self::BehindHead(leaf, _) => {
                let order = books.queue(leaf).settings.values.application_order;
                if order == ApplicationOrder::FifoStrict {
                    WaitCode::BehindHead
                } else {
                    WaitCode::HeldForHead
                }
            }
        }
    }

    /// What sets the bound: the path of a queue, a user or group at a queue, the nodes.
    pub fn subject(self, books: &Books) -> String {
        match self {
            Self::QueueState(queue)
            | Self::QueueMax(queue)
            | Self::QueueApplications(queue)
            | Self::ParallelApplications(queue)
            | Self::DriverQueue(queue)
            | Self::BehindHead(queue, _)
            | Self::Order(queue, _) => books.queue(queue).path.to_string(),
            Self::Limit(partition, level)
            | Self::LimitApplications(partition, level)
            | Self::UserCap(partition, level)
            | Self::UserShare(partition, level)
            | Self::ParallelOfUser(partition, level)
            | Self::DriverUser(partition, level) => {
                let trackers = &books.partition(partition).trackers;
                let level = trackers.level(level);
                let tracker = trackers.tracker(level.tracker);
                let kind = match tracker.kind {
                    TrackerKind::User => "user",
                    TrackerKind::Group => "group",
                };
                format!("{kind} {} at {}", tracker.name, books.queue(level.queue).path)
            }
            Self::Nodes(_)
            | Self::NodesReserved(_)
            | Self::NodeBlocked(_)
            | Self::NoSuchLabel(_) => "every node".into(),
            Self::KeptNode(node)
            | Self::Preempting(node)
            | Self::RequiredNode(node)
            | Self::RequiredNodeSize(node) => format!("node {}", books.node(node).name),
            Self::NodeAbsent(_) => "the required node".into(),
            Self::RmBusy(id) if books.is_recovering(id) => later::its_nodes(books, id),
            Self::RmAway(id) => standstill::manager(books, id),
            Self::NoNodes(id) => format!("partition {}", books.partition(id).name),
            Self::AwaitingRm(_) | Self::NodeConstraint(_) | Self::RmBusy(_) => "the RM".into(),
            Self::Placeholders(application, _) | Self::BackOff(application) => {
                format!("application {}", books.application(application).name)
            }
        }
    }
}

impl Wait {
    /// The reason in one sentence: what holds the ask back, both sides of the comparison, and
    /// what would help. Costs the nodes where these are counted.
    pub fn sentence(&self, books: &Books, ask: AllocationId) -> String {
        let wanted = books.on_node(ask);
        let subject = match self.blocker {
            Blocker::QueueMax(queue) if books.queue(queue).parent.is_none() => "the cluster".into(),
            Blocker::QueueState(_)
            | Blocker::QueueMax(_)
            | Blocker::QueueApplications(_)
            | Blocker::ParallelApplications(_)
            | Blocker::DriverQueue(_) => format!("queue {}", self.blocker.subject(books)),
            _ => self.blocker.subject(books),
        };
        match self.blocker {
            Blocker::QueueState(queue) => state::sentence(&subject, books.queue(queue)),
            Blocker::QueueMax(queue) => {
                let max = books.queue(queue).max.as_ref();
                let cure = if books.queue(queue).parent.is_none() {
                    "wait for a release, or add nodes"
                } else {
                    "wait for a release, or raise the maximum"
                };
                self.of_amount(books, &subject, "maximum", max, cure)
            }
            Blocker::Limit(partition, level) => {
                let level = books.partition(partition).trackers.level(level);
                let cure = "wait for a release, or raise the limit";
                self.of_amount(books, &subject, "limit", level.max(), cure)
            }
            Blocker::UserCap(partition, level) | Blocker::UserShare(partition, level) => {
                self.of_share(books, (partition, level))
            }
            Blocker::QueueApplications(queue) => {
                let queue = books.queue(queue);
                let max = queue.settings.max_applications;
                of_count(&subject, (queue.running, queue.allocating), max)
            }
            Blocker::LimitApplications(partition, level) => {
                let level = books.partition(partition).trackers.level(level);
                of_count(&subject, (level.running, 0), level.max_applications())
            }
            Blocker::ParallelApplications(_)
            | Blocker::ParallelOfUser(..)
            | Blocker::DriverQueue(_)
            | Blocker::DriverUser(..) => self.of_activation(books, &subject),
            Blocker::KeptNode(node)
            | Blocker::Preempting(node)
            | Blocker::RequiredNode(node)
            | Blocker::RequiredNodeSize(node) => room::of_one_node(self, books, node, wanted),
            Blocker::NodesReserved(partition)
            | Blocker::NodeBlocked(partition)
            | Blocker::NoSuchLabel(partition) => {
                nodes::sentence(self.blocker, books, partition, ask)
            }
            Blocker::NodeAbsent(_) => room::of_absent_node(books, ask),
            Blocker::Placeholders(application, group) => {
                later::of_placeholders(books, &subject, (application, group))
            }
            Blocker::BehindHead(leaf, head) => later::sentence(self, books, (leaf, head)),
            Blocker::Order(queue, by) => later::of_order(&books.queue(queue).path, by),
            Blocker::BackOff(application) => later::of_back_off(books, &subject, application),
            Blocker::Nodes(_) => room::of_nodes(self, books, ask),
            Blocker::AwaitingRm(one) => of_question(books, one),
            Blocker::NodeConstraint(one) => of_refusals(books, one),
            Blocker::RmBusy(partition) => later::of_open_questions(books, partition),
            Blocker::RmAway(id) | Blocker::NoNodes(id) => standstill::sentence(books, id),
        }
    }

    /// About what keeps an application from being activated.
    fn of_activation(&self, books: &Books, subject: &str) -> String {
        let drivers = |used: &Resources, whose: &str, key: &str| {
            let Some(short) = self.shortfall else {
                return format!(
                    "the drivers of {subject} have all that they may; wait for an application {whose}to end, or raise `{key}`"
                );
            };
            let used = used.get_or_zero(short.resource);
            let amounts = [used, used.plus(short.available), short.needed];
            let (name, [used, most, needed]) = figures_of(books, short, amounts);
            format!(
                "the drivers of {subject} have {used} {name} and may have {most}, that of the application needs {needed}; wait for an application {whose}to end, or raise `{key}`"
            )
        };
        match self.blocker {
            Blocker::ParallelApplications(queue) => {
                let queue = books.queue(queue);
                let limits = queue.settings.application_limits.as_ref();
                let max = limits.and_then(|limits| limits.max_parallel).unwrap_or_default();
                let key = "maxparallelapps";
                of_activated(subject, queue.activated, max, key)
            }
            Blocker::ParallelOfUser(partition, level) => {
                let trackers = &books.partition(partition).trackers;
                let level = trackers.level(level);
                let user = &trackers.tracker(level.tracker).name;
                let limits = books.queue(level.queue).settings.application_limits.as_ref();
                let max = limits.and_then(|limits| limits.parallel_of(user)).unwrap_or_default();
                let named = limits.is_some_and(|limits| limits.names(user));
                let key = if named { "maxparallelappsbyuser" } else { "maxparallelappsperuser" };
                let activated = books.activated_of(partition, user);
                of_activated(&format!("user {user}"), activated, max, key)
            }
            Blocker::DriverQueue(leaf) => {
                let used = books.drivers_of(leaf).map(|one| &one.used);
                drivers(used.unwrap_or(&Resources::new()), "", "maximumdriverresourcepercent")
            }
            Blocker::DriverUser(partition, level) => {
                let trackers = &books.partition(partition).trackers;
                let level = trackers.level(level);
                let user = &trackers.tracker(level.tracker).name;
                let used = books.drivers_of(level.queue).and_then(|leaf| leaf.user(user));
                let nothing = Resources::new();
                let used = used.map_or(&nothing, |user| &user.used);
                drivers(used, "of this user ", "maximumdriverresourcepercent")
            }
            _ => String::new(),
        }
    }

    /// About a bound that is worked out anew at every look: it is what is used and what is left.
    fn of_share(&self, books: &Books, (partition, level): (PartitionId, LevelId)) -> String {
        let (bound, cure) = match self.blocker {
            Blocker::UserCap(..) => (
                "he may have at most",
                "wait for a release of this user, or raise `userlimitfactor`",
            ),
            _ => (
                "his share of the queue is",
                "wait for a release of this user, or until others have theirs",
            ),
        };
        let subject = self.blocker.subject(books);
        let Some(short) = self.shortfall else {
            return format!("{subject} has nothing left of what {bound}; {cure}");
        };
        let used = books.partition(partition).trackers.level(level).used();
        let used = used.get_or_zero(short.resource);
        let amounts = [used, used.plus(short.available), short.needed];
        let (name, [used, most, needed]) = figures_of(books, short, amounts);
        format!("{subject} uses {used} {name}, {bound} {most}, the ask needs {needed}; {cure}")
    }

    fn of_amount(
        &self,
        books: &Books,
        subject: &str,
        bound: &str,
        max: Option<&Resources>,
        cure: &str,
    ) -> String {
        let Some(short) = self.shortfall else {
            return format!("{subject} has nothing left of its {bound}; {cure}");
        };
        let most = max.map_or(Quantity::ZERO, |max| max.get_or_zero(short.resource));
        let amounts = [short.available, most, short.needed];
        let (name, [left, most, needed]) = figures_of(books, short, amounts);
        format!(
            "{subject} has {left} {name} left of its {bound} of {most}, the ask needs {needed}; {cure}"
        )
    }
}

/// About how many nodes the RM was asked, and since when.
fn of_question(books: &Books, ask: AllocationId) -> String {
    let Some(question) = books.question_of(ask) else { return String::new() };
    let (count, since) = (question.nodes().count(), Told(question.since));
    let nodes = if count == 1 { "node suits" } else { "nodes suit" };
    let once = match question.subject {
        QuestionSubject::Nodes(QuestionMode::Allocate, _) => "",
        QuestionSubject::Nodes(QuestionMode::Reserve, _) => " once there is room",
        QuestionSubject::Removals(_) => " once others are stopped there",
    };
    format!(
        "the RM was asked at {since} whether {count} {nodes} the ask{once}, and has not answered; wait for the answer to question {}, or see to the RM",
        question.number
    )
}

/// Whether an ask waits for the place of a placeholder.
fn is_member(books: &Books, ask: AllocationId) -> bool {
    let row = books.allocation(ask);
    let waits = |group: &Name| books.application(row.application).waits_for_place(group);
    !row.placeholder && row.reservation().is_none() && row.task_group().is_some_and(waits)
}

/// For which reasons the RM refuses an ask the nodes that it might have, and how many for each; the
/// most frequent first, of equals the first by the alphabet.
pub(crate) fn refusals(books: &Books, ask: AllocationId) -> Vec<(&str, usize)> {
    let (row, wanted) = (books.allocation(ask), books.on_node(ask));
    let required = row.required_node();
    let has_room = |node: NodeId| {
        let on = books.node(node);
        let kept = row.reservation().is_some_and(|kept| kept.node == node);
        (kept || on.is_open()) && on.available.fits(wanted)
    };
    let allocate = books.verdicts_of(ask, QuestionMode::Allocate);
    let allocate = allocate.filter(|(node, _)| required.is_some() || has_room(*node));
    // For its only node, and for the nodes of placeholders, room may not have been asked for.
    let any = required.is_some() || is_member(books, ask);
    let reserve = books.verdicts_of(ask, QuestionMode::Reserve).filter(|_| any);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, verdict) in allocate.chain(reserve) {
        if let Some(reason) = &verdict.refusal {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let mut sorted: Vec<(&str, usize)> = reasons.into_iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(*count));
    sorted
}

/// How many nodes the RM refused, and the reason that it gave most often.
fn of_refusals(books: &Books, ask: AllocationId) -> String {
    let reasons = refusals(books, ask);
    let refused: usize = reasons.iter().map(|(_, count)| count).sum();
    let (reason, count) = reasons.first().copied().unwrap_or_default();
    if let Some(name) = books.allocation(ask).required_node() {
        return format!(
            "node {name} is the only one that the ask may run on, and the RM refuses it with: {reason}; change what the ask needs of a node, or withdraw it"
        );
    }
    if is_member(books, ask) {
        return format!(
            "the ask can take the place of no placeholder: every node that has one of its task group, or room, is refused by the RM, {count} of {refused} with: {reason}; change what the ask needs of a node, or add nodes that suit it"
        );
    }
    format!(
        "every node that has room for the ask is refused by the RM, {count} of {refused} with: {reason}; change what the ask needs of a node, or add nodes that suit it"
    )
}

/// What there is too little of, and amounts of it as people write them.
fn figures_of<const N: usize>(
    books: &Books,
    short: Shortfall,
    amounts: [Quantity; N],
) -> (&str, [String; N]) {
    let name = books.types().name(short.resource).as_str();
    (name, figures(name, amounts))
}

/// About how many applications were activated, and how many may be.
fn of_activated(subject: &str, activated: u64, max: u64, key: &str) -> String {
    let applications =
        if activated == 1 { "application that was" } else { "applications that were" };
    format!(
        "{subject} has {activated} {applications} activated and may have {max} at once; wait for one to end, or raise `{key}`"
    )
}

/// Applications that start, with placeholders or kept nodes only, take their places already.
fn of_count(subject: &str, (running, starting): (u64, u64), max: u64) -> String {
    let applications = if running == 1 { "application" } else { "applications" };
    let starting = if starting == 0 { String::new() } else { format!(", starts {starting}") };
    format!(
        "{subject} runs {running} {applications}{starting} and may run {max}; wait for one to end, or raise the number"
    )
}
