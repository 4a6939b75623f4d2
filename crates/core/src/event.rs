//! Facts: what happened. The books change by these alone, and replaying them rebuilds the books.
//!
//! An event that makes a row carries names; one that changes a row carries its id. Ids depend
//! only on the history, so a replay gives every row the same one.

mod cause;
mod drift;
mod task;
mod traits;
mod tried;
pub use cause::{PreemptionCause, Termination};
pub use drift::TenantDrift;
pub use task::{TaskStep, Throttled, ThrottledType};
pub use traits::AskTraits;

use alloc::vec::Vec;

use crate::books::{
    ApplicationState, Away, GangSettings, LimitSettings, NodeAttributes, NodeVerdict,
    PartitionSettings, QuestionSubject, Questions, QueueSettings, QueueState, TaskSettings,
};
use crate::config::{TenantDefaults, TenantSettings};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, QueueId};
use crate::name::Name;
use crate::resource::Amounts;
use crate::time::{Millis, Timestamp};

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A partition exists, with a queue `root`.
    PartitionAdded {
        /// Name, unique in lower case.
        partition: Name,
        /// Its policies.
        settings: PartitionSettings,
        /// Settings of its root queue.
        root: QueueSettings,
    },
    /// A partition has other policies.
    PartitionChanged {
        /// Which.
        partition: PartitionId,
        /// Its policies from now on.
        settings: PartitionSettings,
    },
    /// A partition is gone; nothing is left in it.
    PartitionRemoved {
        /// Which.
        partition: PartitionId,
    },
    /// A queue file is in force.
    Configured {
        /// Identifies its text; empty if there was none.
        checksum: Name,
    },
    /// A queue exists below another.
    QueueAdded {
        /// In which partition.
        partition: PartitionId,
        /// Path of its parent, lower case.
        parent: Name,
        /// Its own name, lower case.
        name: Name,
        /// Whether it holds applications.
        leaf: bool,
        /// Whether it comes from the queue file, and not from a placement rule.
        managed: bool,
        /// Its settings.
        settings: QueueSettings,
    },
    /// A queue has other settings.
    QueueChanged {
        /// In which partition.
        partition: PartitionId,
        /// Its path, lower case.
        queue: Name,
        /// Whether it holds applications.
        leaf: bool,
        /// Whether it comes from the queue file.
        managed: bool,
        /// Its settings from now on.
        settings: QueueSettings,
    },
    /// A queue takes in applications from now on, or does not.
    QueueMoved {
        /// In which partition.
        partition: PartitionId,
        /// Its path, lower case.
        queue: Name,
        /// To which state.
        state: QueueState,
    },
    /// A queue is gone; it had no queue below and no application.
    QueueRemoved {
        /// Which.
        queue: QueueId,
    },
    /// These are all limits of users and groups in a queue and below; groups are looked for in this order.
    LimitsChanged {
        /// In which partition.
        partition: PartitionId,
        /// Path of the queue, lower case.
        queue: Name,
        /// Who is limited to what, each at most once.
        limits: Vec<LimitSettings>,
    },
    /// A node joined.
    NodeAdded {
        /// In which partition.
        partition: PartitionId,
        /// Node id.
        node: Name,
        /// Its size.
        capacity: Amounts,
        /// Whether asks may be placed on it.
        schedulable: bool,
        /// What else is known of it.
        attributes: NodeAttributes,
    },
    /// A node has another size.
    NodeResized {
        /// Which.
        node: NodeId,
        /// Its size.
        capacity: Amounts,
    },
    /// A node was drained, or taken back into use.
    NodeScheduling {
        /// Which.
        node: NodeId,
        /// Whether asks may be placed on it.
        schedulable: bool,
    },
    /// A node left; nothing is allocated on it any more.
    NodeRemoved {
        /// Which.
        node: NodeId,
    },
    /// An application was accepted into a queue.
    ApplicationAdded {
        /// In which partition.
        partition: PartitionId,
        /// Path of its leaf queue, lower case.
        queue: Name,
        /// Application id.
        application: Name,
        /// Who is charged.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
        /// How it waits for its gang, if it has one.
        gang: GangSettings,
    },
    /// An application was refused; it is remembered for a while.
    ApplicationRejected {
        /// In which partition.
        partition: PartitionId,
        /// The queue that was asked for.
        queue: Name,
        /// Application id.
        application: Name,
        /// Who submitted it.
        user: Name,
        /// The groups of the user at submission.
        groups: Vec<Name>,
        /// Which rule, by a short code that does not change.
        code: Name,
        /// Why, in a sentence.
        message: Name,
    },
    /// An application that was just added is a task of a tenant. Its asks follow.
    TaskAdded {
        /// Which.
        application: ApplicationId,
        /// Its settings.
        settings: TaskSettings,
    },
    /// A task has to wait, for a reason that differs from the last reported one, if any.
    TaskThrottled {
        /// Which.
        application: ApplicationId,
        /// For which.
        reason: Throttled,
    },
    /// A task took a step.
    TaskMoved {
        /// Which.
        application: ApplicationId,
        /// Which step.
        step: TaskStep,
    },
    /// An application counts for its user and at most one group until [`Event::ApplicationUnlinked`].
    ApplicationLinked {
        /// Which.
        application: ApplicationId,
        /// The group that is charged, `*` for the common group of all others; none if no limit concerns the user.
        group: Option<Name>,
    },
    /// The limit is gone by which an application was charged to its group. What it has is taken off the group; the next
    /// look at it chooses a group again, which is charged with what it gets from then on.
    GroupUnlinked {
        /// Which.
        application: ApplicationId,
    },
    /// An application holds nothing, and counts in no tracker any more.
    ApplicationUnlinked {
        /// Which.
        application: ApplicationId,
    },
    /// An application that was just added asks for a lifetime, or was made before a restart.
    LifetimeSet {
        /// Which.
        application: ApplicationId,
        /// From when its lifetime counts.
        since: Timestamp,
        /// What it asks for; none if it does not.
        asked: Option<Millis>,
    },
    /// The lifetime of an application is over: it asks for nothing any more, and what it has is given back.
    LifetimeOver {
        /// Which.
        application: ApplicationId,
    },
    /// An application says when it is to be done.
    DeadlineSet {
        /// Which.
        application: ApplicationId,
        /// When; none if it does not matter any more.
        deadline: Option<Timestamp>,
        /// How long it takes.
        estimate: Millis,
    },
    /// Another took what the head of a line waits for.
    Overtaken {
        /// Which application was passed.
        application: ApplicationId,
    },
    /// An application changed its state.
    ApplicationMoved {
        /// Which.
        application: ApplicationId,
        /// To which state.
        state: ApplicationState,
        /// When the timer of the new state fires, if it has one.
        timer: Option<Timestamp>,
    },
    /// An application was activated: its asks are looked at from now on.
    ApplicationActivated {
        /// Which.
        application: ApplicationId,
        /// What its driver counts as until it ends.
        driver: Amounts,
    },
    /// A placeholder was placed for an Accepted application: its queues count it as running until its state changes.
    ApplicationAllocating {
        /// Which.
        application: ApplicationId,
    },
    /// An application left the books.
    ApplicationRemoved {
        /// Which; it has no ask and no allocation.
        application: ApplicationId,
    },
    /// An application asks for room on one node.
    AskAdded {
        /// Which.
        application: ApplicationId,
        /// Allocation key.
        key: Name,
        /// What is needed.
        resources: Amounts,
        /// Higher goes first.
        priority: i32,
        /// When it was made.
        created: Timestamp,
        /// What else is special about it.
        traits: AskTraits,
    },
    /// A waiting ask was withdrawn.
    AskRemoved {
        /// Which.
        ask: AllocationId,
        /// Why.
        termination: Termination,
    },
    /// An ask was given room on a node, and is an allocation now.
    Placed {
        /// Which.
        ask: AllocationId,
        /// Where.
        node: NodeId,
    },
    /// An ask wants another amount, or an allocation has another amount, whatever fits.
    Resized {
        /// Which.
        allocation: AllocationId,
        /// What it wants or has from now on.
        resources: Amounts,
    },
    /// An allocation gave its room back.
    Released {
        /// Which.
        allocation: AllocationId,
        /// Why.
        termination: Termination,
    },
    /// A node is reserved for an ask, so that others cannot use it.
    Reserved {
        /// For which ask.
        ask: AllocationId,
        /// Which node.
        node: NodeId,
    },
    /// The node reserved for an ask is free for others again.
    Unreserved {
        /// For which ask it was reserved.
        ask: AllocationId,
    },
    /// A member takes the place of a placeholder once the RM has stopped that. Until then queues, users and groups count
    /// the placeholder; so does the node if it is the same, and another counts the member.
    SwapStarted {
        /// The member; it waits no more.
        ask: AllocationId,
        /// Whose place it takes.
        placeholder: AllocationId,
        /// Where it will run.
        node: NodeId,
    },
    /// The RM has stopped the placeholder: the member is an allocation, and counts instead.
    SwapConfirmed {
        /// The placeholder, which is gone.
        placeholder: AllocationId,
    },
    /// A member does not take the place of its placeholder after all, and waits again.
    SwapDropped {
        /// The member.
        ask: AllocationId,
    },
    /// The RM is asked to stop a placeholder that nothing takes the place of. It counts until the RM has.
    ReleaseAsked {
        /// Which.
        allocation: AllocationId,
        /// Why.
        termination: Termination,
    },
    /// The RM is asked to stop an allocation for the sake of others. It counts until the RM has.
    Preempted {
        /// Which.
        victim: AllocationId,
        /// For whom.
        cause: PreemptionCause,
    },
    /// An allocation would be asked to stop, where this is only observed. Changes nothing.
    PreemptionObserved {
        /// Which.
        victim: AllocationId,
        /// For whom.
        cause: PreemptionCause,
    },
    /// Others were asked to stop for an ask; this happens once to each.
    PreemptionTriggered {
        /// Which ask.
        ask: AllocationId,
    },
    /// Nothing could be stopped for an ask; it is tried again after a while.
    PreemptionTried {
        /// Which ask.
        ask: AllocationId,
    },
    /// The clock of quota preemption of a queue is stopped: it is within its maximum, or room was asked back.
    QuotaClockStopped {
        /// Which queue.
        queue: QueueId,
    },
    /// Too many asks of an application found no node; none is looked at for a while.
    BackedOff {
        /// Which.
        application: ApplicationId,
        /// Until when.
        until: Timestamp,
    },
    /// The placeholders of an application have waited long enough for the rest of their gang, or for their members.
    PlaceholdersExpired {
        /// Which.
        application: ApplicationId,
    },
    /// The timer of the state of an application has fired and starts nothing: something else will end the state.
    TimerStopped {
        /// Which.
        application: ApplicationId,
    },
    /// The RM was informed that more nodes would help an ask; this happens once for each.
    ScaleUpAsked {
        /// Which ask.
        ask: AllocationId,
    },
    /// Something that the core does not schedule takes this much of a node from now on.
    ForeignSet {
        /// In which partition.
        partition: PartitionId,
        /// Its key.
        key: Name,
        /// On which node.
        node: NodeId,
        /// How much.
        resources: Amounts,
        /// Whether it may be taken back.
        preemptable: bool,
    },
    /// Something that the core does not schedule is gone.
    ForeignRemoved {
        /// In which partition.
        partition: PartitionId,
        /// Its key.
        key: Name,
    },
    /// The RM of a partition answers these questions from now on, and no others.
    QuestionsSet {
        /// Which partition.
        partition: PartitionId,
        /// What it answers; none if nothing.
        questions: Option<Questions>,
    },
    /// The RM is asked about nodes and an ask, which waits for the answer.
    Asked {
        /// Which ask.
        ask: AllocationId,
        /// What is asked: about [`crate::books::Question::NODES_MAX`] nodes or fewer, or removals.
        subject: QuestionSubject,
    },
    /// The RM has answered the question about an ask.
    Answered {
        /// Which ask.
        ask: AllocationId,
        /// The nodes that it was asked about and that still exist, each with its verdict.
        verdicts: Vec<(NodeId, NodeVerdict)>,
    },
    /// The verdicts of the RM on a node no longer hold.
    VerdictsVoid {
        /// Which node.
        node: NodeId,
    },
    /// A tenant is new, or its settings have changed; other events carry the effects on queues and
    /// limits.
    TenantSet {
        /// In which partition.
        partition: PartitionId,
        /// Its name.
        tenant: Name,
        /// All of its settings.
        settings: TenantSettings,
    },
    /// A tenant takes in nothing any more, and goes with its last task.
    TenantDraining {
        /// In which partition.
        partition: PartitionId,
        /// Its name.
        tenant: Name,
    },
    /// A tenant is gone; it had no tenant below it and no task.
    TenantRemoved {
        /// In which partition.
        partition: PartitionId,
        /// Its name.
        tenant: Name,
    },
    /// This holds for tenants that do not say otherwise.
    TenantDefaultsSet {
        /// In which partition.
        partition: PartitionId,
        /// All that holds.
        defaults: TenantDefaults,
    },
    /// Nothing starts in a partition before all nodes that it has now have reported; or it may again.
    RecoverySet {
        /// Which.
        partition: PartitionId,
        /// When that is over in any case; none if it is over.
        until: Option<Timestamp>,
    },
    /// The resource manager of a partition is away, or is back.
    ManagerAway {
        /// Which partition.
        partition: PartitionId,
        /// Who is away; none if it is back.
        away: Option<Away>,
    },
    /// A node has reported that is there already.
    NodeReported {
        /// Which.
        node: NodeId,
    },
    /// What is counted of tenants is not what their tasks have. Nothing is mended by that: it is to be known.
    DriftFound {
        /// In which partition.
        partition: PartitionId,
        /// All of it, by tenant and type.
        drift: Vec<TenantDrift>,
    },
}
