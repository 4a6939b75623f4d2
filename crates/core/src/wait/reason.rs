//! Table of wait reasons: one row for each check that an ask can fail.
//!
//! A row has the code, the subject, the compared values, who can see its figures, how it is counted, and its sentence.
//! Scheduling, explanations, what-if, metrics, REST, and reports read the row. A column that a row omits has the value
//! of [`Row::CLOSED`], which hides everything from users without a role that reads everything.
//!
//! A new reason needs a row here, a row in `wait/code.rs`, and a sentence.

use alloc::string::String;

use crate::books::Books;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};

use super::about::About;
use super::compared::Compared;
use super::{
    NodeReason, Wait, WaitCode, activation, amount, figure, impossible, later, nodes, questions,
    room, standstill, state, tenant,
};

/// Kind of a reason. The kind indicates what could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// State of a queue.
    State,
    /// Number of applications.
    Number,
    /// Amount of resources.
    Amount,
    /// Precedence of other asks.
    Policy,
    /// Answer of the RM.
    Rm,
    /// Availability of a node.
    Node,
}

/// Users who can see a part of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenBy {
    /// Every user who can see the ask.
    Everybody,
    /// Users who can see the usage of the subject: the queue, or the user or group at a queue.
    WhoSeesUse,
    /// Users who can see the number of nodes.
    WhoSeesCounts,
    /// Users with a role that reads everything.
    WhoSeesAll,
}

/// Group in which waiting asks are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountedAs {
    /// Asks that wait for the same subject, which can block many asks.
    Subject,
    /// Asks that wait for placeholders of their own application.
    Placeholders,
    /// Asks that wait for answers of the RM about themselves.
    Answers,
    /// Asks that wait for nodes that the RM does not reject for them.
    OtherNodes,
    /// Asks that wait for the end of a pause of their own application.
    Pause,
}

/// Source of the code of a reason.
#[derive(Clone, Copy)]
pub(super) enum Code {
    /// One fixed code.
    Always(WaitCode),
    /// By the state of its subject, for asks of a leaf.
    By(fn(&Books, Blocker, QueueId) -> WaitCode),
}

/// Properties of a reason.
#[derive(Clone, Copy)]
pub struct Row {
    pub(super) code: Code,
    /// Kind of the reason.
    pub kind: Kind,
    /// Users who can see the figures, and the sentence that contains them.
    pub figures: SeenBy,
    /// Users who can see the name of the subject. Names of users and groups follow their own rule.
    pub subject: SeenBy,
    /// Group in which waiting asks are counted.
    pub counted_as: CountedAs,
    /// Whether an explanation lists the reason of each node.
    pub lists_nodes: bool,
    /// Check that the nodes fail. `None` if the reason is not about one kind of node failure.
    pub node_reason: Option<NodeReason>,
    /// Whether no release can remove the reason, which makes the ask impossible.
    pub is_permanent: bool,
    /// Returns the figure in the first line of an explanation if the reason compares nothing.
    pub(super) figure: fn(&Books, Blocker) -> String,
    pub(super) sentence: fn(&Wait, &Books, AllocationId) -> String,
}

impl Row {
    /// Values of the columns that a row omits.
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

/// Declares the reasons: subject, compared values, and row.
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
        /// Bound that an ask fails. The scheduler checks the ask again when the bound changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Blocker {
            $($(#[$doc])* $name($($type),+),)+
        }

        impl Blocker {
            /// Returns the row of the reason.
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

            /// Returns the subject that sets the bound.
            #[allow(unused_variables, reason = "most reasons have subjects of fewer parts")]
            pub const fn about(self) -> About {
                match self {
                    $(Self::$name($($field),+) => About::$about($($of),*),)+
                }
            }

            /// Returns the values that are compared with the amounts of the ask.
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
    /// State of this queue: it is stopped, its tenant is suspended, it became a parent that still has applications, or
    /// it became a leaf that still has child queues.
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
    /// Maximum of this queue. For a root queue, the capacity of the cluster.
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
    /// Maximum of this queue, which is lower than the request of the ask. No release helps.
    QueueTooSmall(queue: QueueId) about Queue(queue) compares Queue(queue) {
        code: Always(WaitCode::Impossible),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_queue,
    }
    /// Limit of a user or group at this level, which is lower than the request of the ask. No release helps.
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
    /// User cap of a leaf, which is lower than the request of the ask, with the level of the user there. No release
    /// helps.
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
    /// Size of the nodes: no usable node in use is large enough when it is empty, or too few are for a task or gang.
    NodesTooSmall(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::Impossible),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        is_permanent: true,
        sentence: impossible::of_nodes,
    }
    /// Size of the required node, which is too small even when it is empty. No release helps.
    RequiredNodeTooSmall(node: NodeId) about Node(node) compares Size(node) {
        code: Always(WaitCode::Impossible),
        kind: Node,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_required_node,
    }
    /// Absence of the required node, which is not registered. No release helps.
    RequiredNodeMissing(partition: PartitionId) about RequiredNode(partition) compares Nothing {
        code: Always(WaitCode::Impossible),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        is_permanent: true,
        sentence: impossible::of_missing_node,
    }
    /// Limit on running applications of this queue.
    QueueApplications(queue: QueueId) about Queue(queue) compares RunningIn(queue) {
        code: Always(WaitCode::MaxApps),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_running,
    }
    /// Limit on the resources of a user or group at this level.
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
    /// User cap of a leaf with user limits, with the level of the user there.
    UserCap(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Cap(partition, level)
    {
        code: Always(WaitCode::UserHardCap),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_cap,
    }
    /// Fair share of a user in a leaf with user limits, with the level of the user there. Other users are below their
    /// shares, or the leaf enforces shares strictly.
    UserShare(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares Share(partition, level)
    {
        code: Always(WaitCode::UserShare),
        kind: Policy,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: amount::of_share,
    }
    /// Limit on running applications of a user or group at this level.
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
    /// Limit on active applications in this queue and its descendants.
    ParallelApplications(queue: QueueId) about Queue(queue) compares ActivatedIn(queue) {
        code: Always(WaitCode::ParallelLimit),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_number,
    }
    /// Limit on active applications of a user in the partition, with the level of the user at the leaf.
    ParallelOfUser(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares ActivatedOf(partition, level)
    {
        code: Always(WaitCode::ParallelLimit),
        kind: Number,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_number,
    }
    /// Limit on the drivers of this leaf.
    DriverQueue(leaf: QueueId) about Queue(leaf) compares DriversIn(leaf) {
        code: Always(WaitCode::DriverLimitQueue),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_drivers,
    }
    /// Limit on the drivers of a user in a leaf, with the level of the user there.
    DriverUser(partition: PartitionId, level: LevelId)
        about Level(partition, level) compares DriversOf(partition, level)
    {
        code: Always(WaitCode::DriverLimitUser),
        kind: Amount,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: activation::of_drivers,
    }
    /// Free capacity: no node in use has enough for the ask.
    Nodes(partition: PartitionId) about AnyNode(partition) compares MostFree(partition) {
        code: Always(WaitCode::NoNodeFits),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        sentence: room::of_nodes,
    }
    /// Reservations: every node in use with enough free capacity is reserved for other asks.
    NodesReserved(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::NodeReserved),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        node_reason: Some(NodeReason::Reserved),
        sentence: nodes::of_reserved,
    }
    /// Block list of the ask: it has every node with enough free capacity.
    NodeBlocked(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::NodeBlocked),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        node_reason: Some(NodeReason::Blocked),
        sentence: nodes::of_blocked,
    }
    /// Label: no node has the label that the ask selects.
    NoSuchLabel(partition: PartitionId) about AnyNode(partition) compares Nothing {
        code: Always(WaitCode::NoPartitionAccess),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        lists_nodes: true,
        node_reason: Some(NodeReason::Label),
        sentence: nodes::of_labels,
    }
    /// Reserved node without enough free capacity. No other node has enough either.
    ReservedNodeFull(node: NodeId) about Node(node) compares Free(node) {
        code: Always(WaitCode::NodeResources),
        kind: Node,
        lists_nodes: true,
        sentence: room::of_reserved_node,
    }
    /// Reserved node on which allocations were preempted for the ask. Their capacity becomes free when they stop.
    PreemptionPending(node: NodeId) about Node(node) compares Free(node) {
        code: Always(WaitCode::PreemptionPending),
        kind: Node,
        lists_nodes: true,
        sentence: room::of_stopping,
    }
    /// Required node without enough free capacity.
    RequiredNode(node: NodeId) about Node(node) compares Free(node) {
        code: Always(WaitCode::RequiredNodeFull),
        kind: Node,
        subject: SeenBy::Everybody,
        sentence: room::of_required_node,
    }
    /// Required node that is too small even when it is empty.
    RequiredNodeSize(node: NodeId) about Node(node) compares Size(node) {
        code: Always(WaitCode::RequiredNodeSize),
        kind: Node,
        subject: SeenBy::Everybody,
        sentence: room::of_required_size,
    }
    /// Required node that is not registered.
    NodeAbsent(partition: PartitionId) about RequiredNode(partition) compares Nothing {
        code: Always(WaitCode::RequiredNodeAbsent),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        sentence: room::of_absent_node,
    }
    /// Placeholders of the task group at this position of the application. Some are left, and the ask can replace none
    /// of them now.
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
    /// Question to the RM about this ask, which has no answer yet.
    AwaitingRm(ask: AllocationId) about Answer(ask) compares Nothing {
        code: Always(WaitCode::AwaitingRm),
        kind: Rm,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Answers,
        figure: figure::of_question,
        sentence: questions::of_question,
    }
    /// Open questions of this partition: the RM has so many that the scheduler asks nothing more for now. Waiting asks
    /// that were not checked are checked when the RM answers.
    ///
    /// During recovery: not all nodes of the partition have reported.
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
    /// Disconnected resource manager of this partition. Without it, no decision can be carried out.
    RmAway(partition: PartitionId) about AbsentManager(partition) compares Nothing {
        code: Always(WaitCode::RmAway),
        kind: Rm,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        figure: figure::of_absence,
        sentence: standstill::of_absence,
    }
    /// Lack of nodes: no node of this partition has a size.
    NoNodes(partition: PartitionId) about Partition(partition) compares Nothing {
        code: Always(WaitCode::NoNodes),
        kind: Node,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        figure: figure::of_no_nodes,
        sentence: standstill::of_no_nodes,
    }
    /// Answer of the RM about this ask, which rejects every node with enough free capacity.
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
    /// Back-off of the application: too many of its asks found no node, so its asks are not checked for a while.
    BackOff(application: ApplicationId) about Application(application) compares Nothing {
        code: Always(WaitCode::Backoff),
        kind: Policy,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Pause,
        figure: figure::of_pause,
        sentence: later::of_back_off,
    }
    /// Head of line of this leaf, which needs the capacity that the ask would use. `None` if the head is not known.
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
    /// Capacity of this queue that is held for another ask that waited too long. There is not enough for both asks.
    Held(queue: QueueId) about Queue(queue) compares Nothing {
        code: Always(WaitCode::Held),
        kind: Policy,
        figures: SeenBy::WhoSeesUse,
        subject: SeenBy::Everybody,
        sentence: later::of_hold,
    }
    /// Other gang of the partition that reserves capacity until it is complete. There is not enough free capacity to
    /// place all placeholders of the waiting gang at once.
    BehindGang(partition: PartitionId, gang: ApplicationId) about Gang(gang) compares Nothing {
        code: Always(WaitCode::BehindGang),
        kind: Policy,
        figures: SeenBy::WhoSeesCounts,
        subject: SeenBy::WhoSeesCounts,
        sentence: later::of_gang,
    }
    /// Missing placeholders: the partition places gangs as a whole, and the gang has not requested all its
    /// placeholders.
    GangAsks(application: ApplicationId) about Application(application) compares Nothing {
        code: Always(WaitCode::GangIncomplete),
        kind: Rm,
        figures: SeenBy::Everybody,
        subject: SeenBy::Everybody,
        counted_as: CountedAs::Placeholders,
        sentence: later::of_gang_asks,
    }
    /// Precedence of other asks at this queue. Only explanations use this reason: the scheduler checks the ask later in
    /// the same pass.
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

/// Criterion by which one ask is checked before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precedence {
    /// Higher priority.
    Priority,
    /// Less used of the share.
    Share,
    /// Sort policy of the queue among equals: an earlier submission, a larger request, or the order of the paths.
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
