//! The table of reasons: everything that can hold an ask back, one row each.
//!
//! A row names the code, what the reason is about, what it compares, who may see its figures, what it counts as, and
//! which function writes its sentence. Placing, explaining, what-if, metrics, REST, and reports read the row. A column
//! that a row leaves out has the value of [`Row::CLOSED`], which shows nothing to anybody without a right to it.
//!
//! A new reason is a row here, a row in `wait/code.rs`, and a sentence.

use alloc::string::String;

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};

use super::about::About;
use super::compared::Compared;
use super::{
    NodeReason, Wait, WaitCode, activation, amount, figure, impossible, later, nodes, questions,
    room, standstill, state, tenant,
};

/// What a reason is about, in one word that says what could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whether the queue is open.
    State,
    /// How many applications there may be.
    Number,
    /// How much may be used.
    Amount,
    /// Whether others go first.
    Policy,
    /// Whether the RM has answered.
    Rm,
    /// Whether there is a node.
    Node,
}

/// Who may see something of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenBy {
    /// Everybody who may see the ask.
    Everybody,
    /// Those who see what the subject uses: the queue, or the user or group at it.
    WhoSeesUse,
    /// Those who see how many nodes there are.
    WhoSeesCounts,
    /// Those who see everything.
    WhoSeesAll,
}

/// As what waiting asks are counted that wait for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountedAs {
    /// For this subject, which may hold back many.
    Subject,
    /// For placeholders, each application for its own.
    Placeholders,
    /// For answers of the RM, each ask for its own.
    Answers,
    /// For nodes that the RM does not refuse, each ask for its own.
    OtherNodes,
    /// For the end of a pause, each application for its own.
    Pause,
}

/// The code of a reason.
#[derive(Clone, Copy)]
pub(super) enum Code {
    /// Always this.
    Always(WaitCode),
    /// By the state of its subject, for asks of a leaf.
    By(fn(&Books, Blocker, QueueId) -> WaitCode),
}

/// What is known of a reason.
#[derive(Clone, Copy)]
pub struct Row {
    pub(super) code: Code,
    /// What could help.
    pub kind: Kind,
    /// Who may see its figures, and its sentence, which has them.
    pub figures: SeenBy,
    /// Who may see the name of its subject. Users and groups hide their names by their own rule.
    pub subject: SeenBy,
    /// As what it is counted.
    pub counted_as: CountedAs,
    /// Whether an explanation lists what is wrong with each node.
    pub lists_nodes: bool,
    /// What is wrong with the nodes that the reason is about.
    pub node_reason: Option<NodeReason>,
    /// Whether nothing that ends or is released makes way for it: the ask is impossible.
    pub is_permanent: bool,
    /// What the first line says where nothing is compared.
    pub(super) figure: fn(&Books, Blocker) -> String,
    pub(super) sentence: fn(&Wait, &Books, AllocationId) -> String,
}

impl Row {
    /// What a row has that says nothing else.
    pub(super) const CLOSED: Self = Self {
        code: Always(WaitCode::QueueState),
        kind: Kind::State,
        figures: SeenBy::WhoSeesAll,
        subject: SeenBy::WhoSeesAll,
        counted_as: CountedAs::Subject,
        lists_nodes: false,
        node_reason: None,
        is_permanent: false,
        figure: |_, _| String::new(),
        sentence: |wait, books, ask| String::from(wait.code(books, ask).as_str()),
    };
}

/// Declares the reasons: each with its subject, what it compares, and its row.
macro_rules! reasons {
    ($(
        $(#[$doc:meta])*
        $name:ident($($field:ident: $type:ty),+)
            about $about:ident($($of:ident),*)
            compares $compared:ident $(($($side:ident),+))?
        {
            code: $code:expr,
            kind: $kind:ident,
            $($column:ident: $value:expr,)*
        }
    )+) => {
        /// What holds an ask back. When it gives way, the ask is looked at again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Blocker {
            $($(#[$doc])* $name($($type),+),)+
        }

        impl Blocker {
            /// Returns what is known of the reason.
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Self::$name(..) => const {
                        &Row {
                            code: $code,
                            kind: Kind::$kind,
                            $($column: $value,)*
                            ..Row::CLOSED
                        }
                    },)+
                }
            }

            /// Returns what sets the bound.
            #[allow(unused_variables, reason = "most reasons have subjects of fewer parts")]
            pub const fn about(self) -> About {
                match self {
                    $(Self::$name($($field),+) => About::$about($($of),*),)+
                }
            }

            /// Returns what is compared with what the ask needs.
            #[allow(unused_variables, reason = "not every reason compares all of its parts")]
            pub const fn compared(self) -> Compared {
                match self {
                    $(Self::$name($($field),+) => Compared::$compared $(($($side),+))?,)+
                }
            }
        }
    };
}

use Code::{Always, By};

reasons! {
    /// This queue offers no room: it is stopped, its tenant is suspended, it became a parent with applications
    /// in it, or a leaf with queues below.
    QueueState(queue: QueueId) about Queue(queue) compares Nothing {
        code: By(|books, blocker, _| match blocker.about().queue() {
            Some(queue) if books.queue(queue).is_suspended() => WaitCode::TenantSuspended,
            Some(_) | None => WaitCode::QueueState,
        }),
        kind: State,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        sentence: state::sentence,
    }
    /// The maximum of this queue; for a root queue, the size of the cluster.
    QueueMax(queue: QueueId) about Queue(queue) compares Queue(queue) {
        code: By(|books, blocker, leaf| match blocker.about().queue() {
            Some(queue) if books.queue(queue).parent.is_none() => WaitCode::RootCapacity,
            Some(_) | None => tenant::code(books, blocker, leaf).unwrap_or(WaitCode::QueueMax),
        }),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_queue,
    }
    /// The maximum of this queue is lower than what the ask needs, whatever is released.
    QueueTooSmall(queue: QueueId) about Queue(queue) compares Queue(queue) {
        code: Always(WaitCode::Impossible),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_queue,
    }
    /// The limit of a user or group at this level is lower than what the ask needs, whatever is released.
    LimitTooSmall(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Limit(partition, level)
    {
        code: Always(WaitCode::Impossible),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_limit,
    }
    /// The most that one user may have of a leaf is lower than what the ask needs; their level there.
    CapTooSmall(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Cap(partition, level)
    {
        code: Always(WaitCode::Impossible),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_cap,
    }
    /// No node in use that it may have would be large enough if it were empty, or not for all that starts together.
    NodesTooSmall(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::Impossible),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        is_permanent: true,
        sentence: impossible::of_nodes,
    }
    /// The only node that it may run on would be too small if it were empty.
    RequiredNodeTooSmall(node: NodeId) about Node(node) compares Size(node) {
        code: Always(WaitCode::Impossible),
        kind: Node,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_required_node,
    }
    /// The only node that it may run on is not there.
    RequiredNodeMissing(partition: PartitionId) about RequiredNode(partition) compares Nothing {
        code: Always(WaitCode::Impossible),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_missing_node,
    }
    /// The number of applications that may run in this queue.
    QueueApplications(queue: QueueId) about Queue(queue) compares RunningIn(queue) {
        code: Always(WaitCode::MaxApps),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_running,
    }
    /// The resources that a user or group may use at this level.
    Limit(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Limit(partition, level)
    {
        code: By(|books, blocker, leaf| {
            let of_others =
                || blocker.user_or_group(books, WaitCode::AbsUserLimit, WaitCode::AbsGroupLimit);
            tenant::code(books, blocker, leaf).unwrap_or_else(of_others)
        }),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_limit,
    }
    /// The most that one user may have of a leaf with user limits, at their level there.
    UserCap(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Cap(partition, level)
    {
        code: Always(WaitCode::UserHardCap),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_cap,
    }
    /// A user's share of a leaf with user limits, at their level there: others are below theirs, or it is
    /// strict.
    UserShare(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Share(partition, level)
    {
        code: Always(WaitCode::UserShare),
        kind: Policy,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_share,
    }
    /// The number of applications that a user or group may run at this level.
    LimitApplications(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares RunningAt(partition, level)
    {
        code: By(|books, blocker, _| {
            blocker.user_or_group(books, WaitCode::UserApps, WaitCode::GroupApps)
        }),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_running,
    }
    /// The number of applications that may have been activated in this queue and below.
    ParallelApplications(queue: QueueId) about Queue(queue) compares ActivatedIn(queue) {
        code: Always(WaitCode::ParallelLimit),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_number,
    }
    /// The number of a user's applications that may have been activated in the partition; their level at
    /// the leaf.
    ParallelOfUser(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares ActivatedOf(partition, level)
    {
        code: Always(WaitCode::ParallelLimit),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_number,
    }
    /// What the drivers of this leaf may have.
    DriverQueue(leaf: QueueId) about Queue(leaf) compares DriversIn(leaf) {
        code: Always(WaitCode::DriverLimitQueue),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_drivers,
    }
    /// What the drivers of a user may have of a leaf, at their level there.
    DriverUser(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares DriversOf(partition, level)
    {
        code: Always(WaitCode::DriverLimitUser),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_drivers,
    }
    /// No node in use has room for it.
    Nodes(partition: PartitionId) about AnyNode(partition) compares MostFree(partition) {
        code: Always(WaitCode::NoNodeFits),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        sentence: room::of_nodes,
    }
    /// Every node in use that has room for it is reserved for others.
    NodesReserved(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::NodeReserved),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        node_reason: Some(NodeReason::Reserved),
        sentence: nodes::of_reserved,
    }
    /// Every node with room is one that it may not have.
    NodeBlocked(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::NodeBlocked),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        node_reason: Some(NodeReason::Blocked),
        sentence: nodes::of_blocked,
    }
    /// No node has the label that it selects.
    NoSuchLabel(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::NoPartitionAccess),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        node_reason: Some(NodeReason::Label),
        sentence: nodes::of_labels,
    }
    /// This node is reserved for it, and has no room yet; nor has any other.
    ReservedNodeFull(node: NodeId) about Node(node) compares Free(node) {
        code: Always(WaitCode::NodeResources),
        kind: Node,
        lists_nodes: true,
        sentence: room::of_reserved_node,
    }
    /// The same, and others were asked to stop there for it: their room comes when they have.
    PreemptionPending(node: NodeId) about Node(node) compares Free(node) {
        code: Always(WaitCode::PreemptionPending),
        kind: Node,
        lists_nodes: true,
        sentence: room::of_stopping,
    }
    /// The only node that it may run on has no room.
    RequiredNode(node: NodeId) about Node(node) compares Free(node) {
        code: Always(WaitCode::RequiredNodeFull),
        kind: Node,
        subject: SeenBy::Everybody,
        sentence: room::of_required_node,
    }
    /// The only node that it may run on is too small for it, however empty.
    RequiredNodeSize(node: NodeId) about Node(node) compares Size(node) {
        code: Always(WaitCode::RequiredNodeSize),
        kind: Node,
        subject: SeenBy::Everybody,
        sentence: room::of_required_size,
    }
    /// The only node that it may run on is not there.
    NodeAbsent(partition: PartitionId) about RequiredNode(partition) compares Nothing {
        code: Always(WaitCode::RequiredNodeAbsent),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        sentence: room::of_absent_node,
    }
    /// Its task group, at this position of its application, has placeholders left, and none of
    /// them can be replaced now.
    Placeholders(application: ApplicationId, group: u32)
        about Application(application) compares Nothing
    {
        code: Always(WaitCode::GangIncomplete),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Placeholders,
        sentence: later::of_placeholders,
    }
    /// The RM was asked about this ask, and has not answered yet.
    AwaitingRm(ask: AllocationId) about Answer(ask) compares Nothing {
        code: Always(WaitCode::AwaitingRm),
        kind: Rm,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Answers,
        figure: figure::of_question,
        sentence: questions::of_question,
    }
    /// The RM has so many questions to answer that it is asked nothing more for now: an ask that
    /// waits in this partition and was not looked at is looked at then. Or not all of its nodes
    /// have reported.
    PartitionPaused(partition: PartitionId) about Manager(partition) compares Nothing {
        code: By(|books, blocker, _| {
            if let About::Manager(partition) = blocker.about()
                && books.is_recovering(partition)
            {
                return WaitCode::Recovering;
            }
            WaitCode::AwaitingRm
        }),
        kind: Rm,
        figures: SeenBy::WhoSeesCounts,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Answers,
        figure: figure::of_busy,
        sentence: questions::of_busy,
    }
    /// The resource manager of this partition is away: nobody would carry out what is decided.
    RmAway(partition: PartitionId) about AbsentManager(partition) compares Nothing {
        code: Always(WaitCode::RmAway),
        kind: Rm,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        figure: figure::of_absence,
        sentence: standstill::of_absence,
    }
    /// No node of this partition has a size.
    NoNodes(partition: PartitionId) about Partition(partition) compares Nothing {
        code: Always(WaitCode::NoNodes),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        figure: figure::of_no_nodes,
        sentence: standstill::of_no_nodes,
    }
    /// The RM refused this ask every node that has room for it.
    NodeConstraint(ask: AllocationId) about Answer(ask) compares Nothing {
        code: Always(WaitCode::NodeConstraint),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::OtherNodes,
        lists_nodes: true,
        node_reason: Some(NodeReason::Refused),
        sentence: questions::of_refusals,
    }
    /// Too many asks of its application found no node; it is left alone for a while.
    BackOff(application: ApplicationId) about Application(application) compares Nothing {
        code: Always(WaitCode::Backoff),
        kind: Policy,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Pause,
        figure: figure::of_pause,
        sentence: later::of_back_off,
    }
    /// The head of the line of this leaf needs what it would take; who that is, where it is known.
    BehindHead(leaf: QueueId, head: Option<AllocationId>) about Queue(leaf) compares LeftByHead(leaf) {
        code: By(|books, blocker, _| match blocker.about().queue() {
            Some(leaf) if later::is_strict(books, leaf) => WaitCode::BehindHead,
            Some(_) | None => WaitCode::HeldForHead,
        }),
        kind: Policy,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: later::of_head,
    }
    /// This queue holds room for another ask that has waited too long, and there is not enough for both.
    Held(queue: QueueId) about Queue(queue) compares Nothing {
        code: Always(WaitCode::Held),
        kind: Policy,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: later::of_hold,
    }
    /// Another gang of the partition takes room as it comes, and there is no room for all placeholders of its own gang at
    /// once.
    BehindGang(partition: PartitionId, gang: ApplicationId) about Gang(gang) compares Nothing {
        code: Always(WaitCode::BehindGang),
        kind: Policy,
        figures: SeenBy::WhoSeesCounts,
        subject: SeenBy::WhoSeesCounts,
        sentence: later::of_gang,
    }
    /// Not all placeholders of its gang have been requested, and its partition places gangs as a whole.
    GangAsks(application: ApplicationId) about Application(application) compares Nothing {
        code: Always(WaitCode::GangIncomplete),
        kind: Rm,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Placeholders,
        sentence: later::of_gang_asks,
    }
    /// Nothing but that others are looked at first, at this queue and by this. Only who explains something says so: the
    /// scheduler comes to it.
    Order(queue: QueueId, by: Precedence) about Queue(queue) compares Nothing {
        code: By(|_, blocker, _| {
            let Blocker::Order(_, by) = blocker else { return WaitCode::OrderBehind };
            match by {
                Precedence::Priority => WaitCode::PriorityBehind,
                Precedence::Share => WaitCode::ShareBehind,
                Precedence::Order => WaitCode::OrderBehind,
            }
        }),
        kind: Policy,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: later::of_order,
    }
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

#[cfg(test)]
mod tests {
    use super::{Row, SeenBy};

    #[test]
    fn what_a_row_leaves_out_is_hidden() {
        assert_eq!(Row::CLOSED.figures, SeenBy::WhoSeesAll);
        assert_eq!(Row::CLOSED.subject, SeenBy::WhoSeesAll);
        const { assert!(!Row::CLOSED.lists_nodes && !Row::CLOSED.is_permanent) };
    }
}
